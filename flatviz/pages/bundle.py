"""Packing of a family for the front end: one figure a view, and each member's live properties."""

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

PLACED = "name span height group slot option link kind least".split()  # of a `View`
NEAR = 0.05  # relative difference from the radius, below which the reach is not written


Arrays = dict[str, Live]
Fields = dict[str, dict[str, Json]]  # place and shape of each array in a record
Only = Collection[str] | None  # names of views


@dataclass(frozen=True)
class Packed:
    """One member: its texts, its figures by view, its arrays by field."""

    meta: dict[str, Json]
    figures: dict[str, Figure]
    arrays: Arrays


@dataclass(frozen=True)
class Bundle:
    """A packed family: `index` (plain data) says where things are in `buffer`.

    `buffer` has the members' records of little-endian float32.
    """

    index: dict[str, Json]
    buffer: bytes

    @property
    def text(self) -> str:
        """Return the index as JSON."""
        return json.dumps(self.index, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    def with_members(self, others: Bundle) -> Bundle:
        """Add the members of `others`, from `pack_members`; those fitted again replace the old."""
        size = 4 * self.index["record"]
        metas = {}
        records = {}
        for bundle in (self, others):
            for i, meta in enumerate(bundle.index["members"]):
                cell = meta["method"], meta["radius"]
                metas[cell] = meta
                records[cell] = bundle.buffer[i * size : (i + 1) * size]
        figures = {entry["name"]: entry for entry in self.index["figures"]}
        for entry in others.index["figures"]:
            figures[entry["name"]] = figures[entry["name"]] | entry
        members = {"members": list(metas.values()), "figures": list(figures.values())}
        return Bundle(self.index | members, b"".join(records.values()))


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

    stops: radii that the slider of each method offers beside the fitted ones; live: a kernel can
    fit those; story: sections of the article; code: lines of Python that make `family`, for the
    reader who wants the same picture; defaults: the radius at which each method is shown first,
    else the middle one; note: beside the names of members that others will replace.

    Raises:
        ValueError: For a family that was not measured.
    """
    check_measured(family)
    scene = Scene(family)
    packed = [_member(scene, i) for i in range(len(family))]
    fields = _fields([member.arrays for member in packed])
    sizes_of = [_sizes(member) for member in family]
    largest = max(range(len(family)), key=lambda i: (sizes_of[i], i))
    drawn = packed[largest].figures
    entries = []
    for view in views.views_of(family):
        fig = drawn.get(view.name) or view.draw(scene, largest)
        entries.append(_entry(scene, view, fig))
    noted = {"note": note} if note else {}
    sizes = [math.prod(field["shape"]) for field in fields.values()]
    index = {
        "n_max": family.n_draws,
        "record": sum(sizes),
        "fields": fields,
        "members": [member.meta | noted for member in packed],
        "figures": entries,
        "stops": dict(stops or {}),
        "live": live,
        "seeds": values_of(family, "lambda1").shape[1] if columns_of(family) else 0,
        "story": [dataclasses.asdict(step) for step in story],
        "code": list(code),
        "defaults": dict(defaults or {}),
        "dark": dark_colors(),
        # its 42 buttons would all be tab stops; one menu above the figures replaces them
        "config": CONFIG | {"displayModeBar": False},
    }
    if family.images:
        index["images"] = pixels_of(family, family.images["index"])
    records = [_record(member.arrays, fields) for member in packed]
    return Bundle(index, b"".join(records))


def _sizes(member: Member) -> tuple[int, int]:
    """Return the numbers of a member's draws and spectra."""
    return computed(member.prediction).n_draws, len(member.spectrum)


def _fields(arrays: Sequence[Arrays]) -> Fields:
    """Return the place of each array in a record, with room for that of every member."""
    fields: Fields = {}
    offset = 0
    for name in arrays[0]:
        shapes = [np.shape(row[name].values) for row in arrays]
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
    only: Only = None,
) -> Bundle:
    """Pack only these members of `family`, with the curves, scales and captions that they change.

    They are for a front end that has `bundle`.  note: text beside their names; members with a note
    are previews, which change no scales, curves and captions.  only: names of views; the others are
    not drawn, which takes most of the time, and wait for a later record.
    """
    scene = Scene(family)
    packed = [_member(scene, i, only) for i in members]
    if family.images:
        there = set(bundle.index["images"]["rows"])
        for member in packed:
            images = member.meta["images"]
            missing = sorted(set(images["pool"]) - there)
            if missing:
                images |= pixels_of(family, torch.tensor(missing))
    figures: list[dict[str, Json]] = []
    if note:
        for member in packed:
            member.meta["note"] = note
    else:
        figures = list(_changed(bundle, scene, members[-1], packed[-1].figures))
        moved = [i for i in _moved(bundle, family) if i not in members]
        packed += [_member(scene, i) for i in moved]
    index = {
        "record": bundle.index["record"],
        "members": [member.meta for member in packed],
        "figures": figures,
    }
    records = [_record(member.arrays, bundle.index["fields"]) for member in packed]
    return Bundle(index, b"".join(records))


def _moved(bundle: Bundle, family: Family) -> list[int]:
    """List members at radius 0 whose place against the radius has changed.

    It is left of the smallest positive radius.
    """
    whole = [meta for meta in bundle.index["members"] if "note" not in meta]
    there = {(meta["method"], meta["radius"]) for meta in whole}
    for method in family.methods:
        positive = [r for r in family.radii(method) if r > 0]
        if (method, min(positive, default=0.0)) not in there:
            return [i for i, radius in enumerate(family.radius) if radius == 0]
    return []


def _changed(
    bundle: Bundle, scene: Scene, i: int, drawn: Mapping[str, Figure]
) -> Iterator[dict[str, object]]:
    """Iterate over changes of each figure (data, layout, caption), of those drawn and like them."""
    before = {entry["name"]: entry for entry in bundle.index["figures"]}
    redrawn = set()
    there = [view for view in views.views_of(scene.family) if view.name in before]
    for view in sorted(there, key=lambda view: bool(view.like)):
        entry = before[view.name]
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
    """Return a figure without the parts that its members set.

    These are live properties, and axes whose range holds every member's.
    """
    parts = copy.deepcopy({"data": entry["data"], "layout": entry["layout"]})
    moving = [bind["path"] for bind in entry["binds"]]
    ranges = [f"layout.{axis}.range" for axis in entry["shared"]]
    for path in moving + ranges:
        assign(parts, path, [])
    return parts


def _member(scene: Scene, i: int, only: Only = None) -> Packed:
    """Pack one member.

    Figures of views that are `like` another are left out.
    """
    family = scene.family
    member = family[i]
    every = views.views_of(family)
    shown = [view for view in every if only is None or view.name in only]
    drawn_as = {view.like or view.name for view in shown}
    drawn = [view for view in every if view.name in drawn_as]
    figures = {view.name: view.draw(scene, i) for view in drawn}
    arrays = _numbers(member)
    words = {}
    for view in drawn:
        for k, p in enumerate(_follows(view, figures[view.name])):
            name = _field(view, k, p)
            if p.words:
                words[name] = np.asarray(p.values).tolist()
            else:
                arrays[name] = p
    first = family.first[i]
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
        "equals": style(family[first].method).label if first != i else "",
        "waiting": [view.name for view in every if view not in shown],
        "alts": {view.name: _alt(view, figures[view.like or view.name]) for view in shown},
        "ranges": {view.name: ranges_of(view, figures[view.name]) for view in drawn},
    }
    if family.images:
        meta["images"] = member_images(family, i)
    return Packed(meta, figures, arrays)


def _numbers(member: Member) -> Arrays:
    """Return the arrays that no figure has: scores, losses and distances of draws, λ₁."""
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
    """Describe the reach of the ascent at the end of the fit, where it differs from the radius."""
    history = member.posterior.history if isinstance(member.posterior, Gaussian) else None
    if history is None or history.reach is None:
        return ""
    last_tenth = max(1, len(history.reach) // 10)
    reach = float(history.reach[-last_tenth:].median())
    near = member.unit == KL_BALL and abs(reach / member.radius - 1) < NEAR
    return "" if near else f", which moves q by {short(reach)} × its width"


def _alt(view: View, fig: Figure) -> str:
    """Describe a member's figure, and the parts of it that cannot be drawn."""
    meta = fig.layout.meta
    parts = [view.alt or meta["alt"], meta["note"]]
    return ". ".join(filter(None, parts))


def _follows(view: View, fig: Figure) -> list[Live]:
    """Select the live properties of a figure for the records.

    The front end builds views of `Family.images`, which have none.
    """
    if view.kind != "plotly":
        return []
    return [p for p in fig.live if p.trace not in view.fixed]


def _field(view: View, k: int, p: Live) -> str:
    """Name a property's place: those of one key, in a view and those `like` it, share one."""
    return f"{view.like or view.name}/{p.key}" if p.key else f"{view.name}/{k}"


def _shared(view: View, fig: Figure) -> list[str]:
    """List those of the shared axes that a figure has; a regression has a score less."""
    return [axis for axis in view.shared if axis in fig.layout]


def ranges_of(view: View, fig: Figure) -> dict[str, list[float]]:
    """Return the finite ranges of the axes that hold every member."""
    ranges = {}
    for axis in _shared(view, fig):
        ends = [float(end) for end in fig.layout[axis].range]
        if all(map(math.isfinite, ends)):
            ranges[axis] = ends
    return ranges


def _record(arrays: Arrays, fields: Fields) -> bytes:
    """Pack the arrays in the order of the fields, as float32.

    With fewer draws (MAP has one) scores repeat and the rest is NaN.
    """
    record = b""
    for name, field in fields.items():
        record += _filled(arrays.get(name), field["shape"]).tobytes()
    return record


def _filled(live: Live | None, shape: Sequence[int]) -> np.ndarray:
    values = np.asarray([] if live is None else live.values, "<f4")
    if live is None or not values.size:
        return np.full(shape, math.nan, "<f4")
    padding = [(0, wanted - got) for wanted, got in zip(shape, values.shape)]
    if live.rows == "size":
        return np.pad(values, padding, mode="edge")
    return np.pad(values, padding, constant_values=math.nan)


def assign(drawn: Json, path: str, value: object) -> None:
    """Put a value at a path of a figure's JSON, as `Live.path` has it."""
    *way, last = path.split(".")
    for key in way:
        drawn = drawn[int(key) if key.isdigit() else key]
    drawn[last] = value


def _entry(scene: Scene, view: View, fig: Figure) -> dict[str, object]:
    drawn: dict[str, Json] = {"data": [], "layout": {}}
    if view.kind == "plotly":
        drawn = json.loads(fig.to_json())
    binds = []
    for k, p in enumerate(_follows(view, fig)):
        bind = {"path": p.path, "field": _field(view, k, p), "rows": p.rows}
        binds.append(bind)
        if p.path.startswith("data.") and not p.words:
            assign(drawn, p.path, [])  # it is in the members' records
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
