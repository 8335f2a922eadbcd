"""Packing of a family for the front end: one figure for each view, and each member's values.

A family holds posteriors, its members, by method and radius; a view is one kind of figure.  A page
draws each view's figure once, and puts the values of the selected member into its live properties.
Numbers are in the buffer, in one record for each member; the index says which goes where (here with
one view of one array, and one text):

    {"members": [{"method": "vi", "radius": 0.0, "words": {"surface/1": "VI"}, ...}, ...],
     "record": 1681,  # numbers in a record
     "fields": {"surface/0": {"offset": 0, "shape": [41, 41]}},  # where in a record
     "figures": [{"name": "surface", "data": [...], "layout": {...},  # as plotly has them
                  "binds": [{"path": "data.0.z", "field": "surface/0", "rows": "all"},
                            {"path": "data.0.name", "field": "surface/1", "rows": "all"}]}]}
"""

from __future__ import annotations

import copy
import dataclasses
import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from flatviz.catalog import KL_BALL
from flatviz.checks import computed
from flatviz.pages import views
from flatviz.pages.document import Json
from flatviz.pages.scene import Scene, member_images, pixels_of
from flatviz.pages.story import Section
from flatviz.pages.views import View
from flatviz.plots.color import true_losses
from flatviz.plots.ground import mean_lambda1
from flatviz.plots.live import Live
from flatviz.plots.radius import columns_of, values_of
from flatviz.plots.theme import CONFIG, Figure, dark_colors, numbers, short, style
from flatviz.results import SHOWN, Family, Gaussian, Member

# Fields of a `View` that say where and how its figure is shown
PLACED = (
    "name",
    "span",
    "height",
    "group",
    "slot",
    "option",
    "link",
    "kind",
    "least",
)
NEAR = 0.05  # relative difference from the radius, below which `_reach` is not written
Arrays = dict[str, Live]  # by name of the field in a record
Fields = dict[str, dict[str, Json]]  # place and shape of each array in a record
ViewNames = Collection[str] | None


@dataclass(frozen=True)
class Packed:
    """One member: its texts, its figures by view, its arrays by field."""

    meta: dict[str, Json]
    figures: dict[str, Figure]
    arrays: Arrays


@dataclass(frozen=True)
class Bundle:
    """A packed family: `index` (plain data) says where things are in `buffer`.

    `buffer` holds the records of the members, one after the other in the order of
    `index["members"]`.  A record is `index["record"]` numbers, each a little-endian float32.
    """

    index: dict[str, Json]
    buffer: bytes

    @property
    def text(self) -> str:
        """Return the index as JSON."""
        return json.dumps(
            self.index,
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
        )

    def with_members(self, added: Bundle) -> Bundle:
        """Add the members and the changes of figures of `added`, a bundle from `pack_members`.

        A member replaces the one of the same method and radius.
        """
        n_bytes = 4 * self.index["record"]
        metas = {}
        records = {}
        for bundle in (self, added):
            for i, meta in enumerate(bundle.index["members"]):
                key = meta["method"], meta["radius"]
                start = i * n_bytes
                metas[key] = meta
                records[key] = bundle.buffer[start : start + n_bytes]
        figures = {entry["name"]: entry for entry in self.index["figures"]}
        for changes in added.index["figures"]:
            name = changes["name"]
            figures[name] = figures[name] | changes
        index = dict(self.index)
        index["members"] = list(metas.values())
        index["figures"] = list(figures.values())
        return Bundle(index, b"".join(records.values()))


def pack(
    family: Family,
    *,
    stops: Mapping[str, Sequence[float]] | None = None,
    live: bool = False,
    story: Sequence[Section] = (),
    code: Sequence[str] = (),
    defaults: Mapping[str, float] | None = None,
    note: str = "",
) -> Bundle:
    """Pack a measured family as figures and numbers, a figure for each of `VIEWS`.

    Args:
        family: The family, as `measure` returns it.
        stops: Radii that the slider of each method offers beside the fitted ones.
        live: Whether a kernel runs that can fit the stops.
        story: Sections of the article.
        code: Lines of Python that make `family`, for a reader who wants the same picture.
        defaults: Radius at which each method is shown first; by default its middle one.
        note: Text beside the members' names, which says that other members will replace them.

    Raises:
        ValueError: For a family that was not measured.
    """
    check_measured(family)
    scene = Scene(family)
    packed = [_member(scene, i) for i in range(len(family))]
    fields = _fields([member.arrays for member in packed])
    sizes_of = [_sizes(member) for member in family]
    # The figures of the page are those of the member with most draws, so that they have all traces
    largest = max(range(len(family)), key=lambda i: (sizes_of[i], i))
    drawn = packed[largest].figures
    entries = []
    for view in views.views_of(family):
        fig = drawn.get(view.name) or view.draw(scene, largest)  # none of a view `like` another
        entries.append(_entry(scene, view, fig))
    noted = {"note": note} if note else {}
    record_size = sum(math.prod(field["shape"]) for field in fields.values())
    n_seeds = 0
    if columns_of(family):
        n_seeds = values_of(family, "lambda1").shape[1]
    index = {
        "n_max": family.n_draws,
        "record": record_size,
        "fields": fields,
        "members": [member.meta | noted for member in packed],
        "figures": entries,
        "stops": dict(stops or {}),
        "live": live,
        "seeds": n_seeds,
        "story": [dataclasses.asdict(step) for step in story],
        "code": list(code),
        "defaults": dict(defaults or {}),
        "dark": dark_colors(),
        # the 42 buttons of the mode bars would all be tab stops; one menu above the figures
        # replaces them
        "config": CONFIG | {"displayModeBar": False},
    }
    if family.images:
        index["images"] = pixels_of(family, family.images["index"])
    return Bundle(index, _buffer(packed, fields))


def _sizes(member: Member) -> tuple[int, int]:
    """Return the numbers of a member's draws and spectra."""
    return computed(member.prediction).n_draws, len(member.spectrum)


def _fields(arrays: Sequence[Arrays]) -> Fields:
    """Return the place and shape of each array in a record, so that every member's array fits.

    arrays: those of each member, of the same names.
    """
    fields: Fields = {}
    offset = 0
    for name in arrays[0]:
        shapes = [np.shape(of_member[name].values) for of_member in arrays]
        shape = np.max(shapes, axis=0).tolist()
        fields[name] = {"offset": offset, "shape": shape}
        offset += math.prod(shape)
    return fields


def check_measured(family: Family) -> None:
    """Raise ValueError for a family that `measure` did not return."""
    if not family.measured:
        raise ValueError(
            "the family must be measured before it is shown, got posteriors only: use"
            " fv.families.measure"
        )


def pack_members(
    bundle: Bundle,
    family: Family,
    members: Sequence[int],
    *,
    note: str = "",
    only: ViewNames = None,
) -> Bundle:
    """Pack only these members of `family`, with the curves, scales and captions that they change.

    Args:
        bundle: The bundle that the front end has.
        family: The family of which these are members.
        members: Their places in `family`.
        note: Text beside their names.  Members with a note are previews: curves, scales and
            captions stay as they are.
        only: Names of the views to draw, as drawing takes most of the time; the other views of
            these members wait for a later bundle.
    """
    scene = Scene(family)
    packed = [_member(scene, i, only) for i in members]
    if family.images:
        rows_there = set(bundle.index["images"]["rows"])
        for member in packed:
            images = member.meta["images"]
            missing = sorted(set(images["pool"]) - rows_there)
            if missing:
                images |= pixels_of(family, torch.tensor(missing))
    figures: list[dict[str, Json]] = []
    if note:
        for member in packed:
            member.meta["note"] = note
    else:
        drawn = packed[-1].figures  # the parts that change are those of all members
        figures = list(_changed(bundle, scene, members[-1], drawn))
        moved = [i for i in _moved(bundle, family) if i not in members]
        packed += [_member(scene, i) for i in moved]
    index = {
        "record": bundle.index["record"],
        "members": [member.meta for member in packed],
        "figures": figures,
    }
    return Bundle(index, _buffer(packed, bundle.index["fields"]))


def _moved(bundle: Bundle, family: Family) -> list[int]:
    """List the members at radius 0 if their place on the axis of the radius has changed.

    This axis is logarithmic and shows radius 0 left of the smallest positive radius, so a new
    smallest radius moves them.
    """
    whole = [meta for meta in bundle.index["members"] if "note" not in meta]  # no previews
    there = {(meta["method"], meta["radius"]) for meta in whole}
    for method in family.methods:
        positive = [r for r in family.radii(method) if r > 0]
        smallest = min(positive, default=0.0)
        if (method, smallest) not in there:
            return [i for i, radius in enumerate(family.radius) if radius == 0]
    return []


def _changed(
    bundle: Bundle,
    scene: Scene,
    i: int,
    drawn: Mapping[str, Figure],
) -> Iterator[dict[str, object]]:
    """Yield the name of each figure that differs from the bundle's, with its new parts.

    The parts are data and layout, the caption, or both.

    drawn: figures of member i.  It has none of a view that is `like` another; that is drawn here if
        the figure of the other has changed.
    """
    old_entries = {entry["name"]: entry for entry in bundle.index["figures"]}
    redrawn = set()
    there = [view for view in views.views_of(scene.family) if view.name in old_entries]
    for view in sorted(there, key=lambda view: bool(view.like)):  # views like another come last
        entry = old_entries[view.name]
        fig = drawn.get(view.name)
        if view.like in redrawn:
            fig = view.draw(scene, i)
        changes: dict[str, object] = {}
        caption = view.caption.format(**scene.words)
        if caption != entry["caption"]:
            changes["caption"] = caption
        if fig is not None:
            new = _entry(scene, view, fig)
            if _fixed_parts(new) != _fixed_parts(entry):
                redrawn.add(view.name)
                changes |= {"data": new["data"], "layout": new["layout"]}
        if changes:
            yield {"name": view.name, **changes}


def _fixed_parts(entry: Mapping[str, Json]) -> dict[str, object]:
    """Return data and layout of a figure without the parts that the members fill in.

    These parts are the live properties, and the ranges of axes that hold every member.
    """
    parts = copy.deepcopy({"data": entry["data"], "layout": entry["layout"]})
    live_paths = [bind["path"] for bind in entry["binds"]]
    ranges = [f"layout.{axis}.range" for axis in entry["shared"]]
    for path in live_paths + ranges:
        assign(parts, path, [])
    return parts


def _member(scene: Scene, i: int, only: ViewNames = None) -> Packed:
    """Pack member i: its figures, its texts and its arrays.

    A view that is `like` another has no figure here; the figure of the other stands for it.
    only: names of the views that are shown; the others are listed as waiting.
    """
    family = scene.family
    member = family[i]
    every = views.views_of(family)
    shown = [view for view in every if only is None or view.name in only]
    names_drawn = {view.like or view.name for view in shown}
    drawn = [view for view in every if view.name in names_drawn]
    arrays = _numbers(member)
    words = {}  # live properties that are texts, which a record of numbers cannot hold
    figures = {}
    ranges = {}
    for view in drawn:
        fig = view.draw(scene, i)
        figures[view.name] = fig
        ranges[view.name] = ranges_of(view, fig)
        for k, live in enumerate(_follows(view, fig)):
            name = _field(view, k, live)
            if live.words:
                words[name] = np.asarray(live.values).tolist()
            else:
                arrays[name] = live
    alts = {}
    for view in shown:
        alts[view.name] = _alt(view, figures[view.like or view.name])
    twin = family.first[i]  # first member with the same posterior, often i itself
    n_draws, n_spectra = _sizes(member)
    meta = {
        "method": member.method,
        "radius": member.radius,
        "unit": member.unit,
        "label": style(member.method).label,
        "words": words,
        "n_spectra": n_spectra,
        "n_draws": n_draws,
        "reach": _reach(member),
        "equals": style(family[twin].method).label if twin != i else "",
        "waiting": [view.name for view in every if view not in shown],
        "alts": alts,
        "ranges": ranges,
    }
    if family.images:
        meta["images"] = member_images(family, i)
    return Packed(meta, figures, arrays)


def _numbers(member: Member) -> Arrays:
    """Return the arrays that belong to no figure: scores, losses and distances of draws, λ₁."""
    projection = computed(member.projection)
    arrays = {}
    for name, values in computed(member.prediction).scores.items():
        if name in SHOWN:
            arrays[name] = Live("", "", numbers(values), "size")
    losses = numbers(true_losses(projection))
    arrays["draw loss"] = Live("", "", losses, "draws")
    arrays["draw distance"] = Live("", "", numbers(projection.distance), "draws")
    lambda1 = mean_lambda1(member.spectrum)
    arrays["lambda1"] = Live("", "", np.array([lambda1]))
    return arrays


def _reach(member: Member) -> str:
    """Describe the reach of SA-BMA's ascent at the end of the fit; "" where it is the radius.

    The reach is sqrt(2 KL) of the perturbation, a radius of a KL ball.  A radius in other units
    cannot be compared with it, and the reach is always described.
    """
    history = member.posterior.history if isinstance(member.posterior, Gaussian) else None
    if history is None or history.reach is None or member.radius == 0:
        return ""
    last_tenth = max(1, len(history.reach) // 10)
    reach = float(history.reach[-last_tenth:].median())
    if member.unit == KL_BALL and abs(reach / member.radius - 1) < NEAR:
        return ""
    return f", which moves q by {short(reach)} × its width"


def _alt(view: View, fig: Figure) -> str:
    """Describe a member's figure for screen readers, and the parts of it that cannot be drawn."""
    meta = fig.layout.meta
    parts = [view.alt or meta["alt"], meta["note"]]
    return ". ".join(filter(None, parts))


def _follows(view: View, fig: Figure) -> list[Live]:
    """List the live properties of a figure that differ from member to member.

    Views of `Family.images` have none, as the front end builds them from the images.
    """
    if view.kind != "plotly":
        return []
    return [live for live in fig.live if live.trace not in view.fixed]


def _field(view: View, k: int, live: Live) -> str:
    """Name the field that holds the k-th live property of a view.

    Properties of the same key share one field, in a view and in all views `like` it.
    """
    if live.key:
        return f"{view.like or view.name}/{live.key}"
    return f"{view.name}/{k}"


def _shared(view: View, fig: Figure) -> list[str]:
    """List the shared axes of a view that its figure has; a regression has one score fewer."""
    return [axis for axis in view.shared if axis in fig.layout]


def ranges_of(view: View, fig: Figure) -> dict[str, list[float]]:
    """Return the finite ranges of the axes that hold every member."""
    ranges = {}
    for axis in _shared(view, fig):
        ends = [float(end) for end in fig.layout[axis].range]
        if all(map(math.isfinite, ends)):
            ranges[axis] = ends
    return ranges


def _buffer(members: Sequence[Packed], fields: Fields) -> bytes:
    """Pack the arrays of each member in the order of the fields, as float32."""
    parts = []
    for member in members:
        for name, field in fields.items():
            values = _filled(member.arrays.get(name), field["shape"])
            parts.append(values.tobytes())
    return b"".join(parts)


def _filled(live: Live | None, shape: Sequence[int]) -> np.ndarray:
    """Return the values of a live property, padded to this shape.

    For a member with fewer draws than others (MAP has one) the last score is repeated, and other
    values are followed by NaN.  Without values all are NaN.
    """
    values = np.asarray([] if live is None else live.values, "<f4")
    if live is None or not values.size:
        return np.full(shape, math.nan, "<f4")
    padding = [(0, wanted - got) for wanted, got in zip(shape, values.shape)]
    if live.rows == "size":  # a score for every ensemble size
        return np.pad(values, padding, mode="edge")
    return np.pad(values, padding, constant_values=math.nan)


def assign(drawn: Json, path: str, value: object) -> None:
    """Put a value into a figure's JSON, at a path such as "data.2.marker.color" (`Live.path`)."""
    *outer, last = path.split(".")
    for key in outer:
        drawn = drawn[int(key) if key.isdigit() else key]
    drawn[last] = value


def _entry(scene: Scene, view: View, fig: Figure) -> dict[str, object]:
    """Describe a figure of the page: its place, the parts all members share, and its binds.

    A bind says which field of a record, or which text, goes to which path of the figure.
    """
    drawn: dict[str, Json] = {"data": [], "layout": {}}
    if view.kind == "plotly":
        drawn = json.loads(fig.to_json())
    binds = []
    for k, live in enumerate(_follows(view, fig)):
        field = _field(view, k, live)
        binds.append({"path": live.path, "field": field, "rows": live.rows})
        if live.path.startswith("data.") and not live.words:
            assign(drawn, live.path, [])  # as the members' records hold it
    layout = drawn["layout"] | {"height": view.height}
    for name in ("meta", "width"):  # the width is that of a notebook's cell; a page has columns
        layout.pop(name, None)
    placed = {name: getattr(view, name) for name in PLACED}
    return placed | {
        "shared": _shared(view, fig),
        "data": drawn["data"],
        "layout": layout,
        "binds": binds,
        "caption": view.caption.format(**scene.words),
    }
