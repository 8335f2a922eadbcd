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

PLACED = ("name", "span", "height", "shared", "group", "slot", "option", "link", "kind", "least")
NEAR = 0.05  # relative difference from the radius, below which the reach is not written


# texts, figures by view, arrays by field
Packed = tuple[dict[str, Json], dict[str, Figure], dict[str, Live]]


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
        """Add the members of `others`, from `pack_members`."""
        size = 4 * self.index["record"]
        records = {}  # by method and radius, so that a member fitted again replaces the old one
        for bundle in (self, others):
            for i, meta in enumerate(bundle.index["members"]):
                records[meta["method"], meta["radius"]] = (
                    meta,
                    bundle.buffer[i * size : (i + 1) * size],
                )
        members = [meta for meta, _ in records.values()]
        newer = {entry["name"]: entry for entry in others.index.get("figures", ())}
        figures = [entry | newer.get(entry["name"], {}) for entry in self.index.get("figures", ())]
        return Bundle(
            self.index | {"members": members, "figures": figures},
            b"".join(record for _, record in records.values()),
        )


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
    metas, drawn, arrays = zip(*(_member(scene, i) for i in range(len(family))))
    shapes = {
        name: np.max([row[name].values.shape for row in arrays], axis=0) for name in arrays[0]
    }
    sizes = [int(np.prod(shape)) for shape in shapes.values()]
    offsets = np.cumsum([0, *sizes]).tolist()
    largest = max(
        range(len(family)),
        key=lambda i: (computed(family[i].prediction).n_draws, len(family[i].spectrum), i),
    )
    every = views.views_of(family)
    figures = {v.name: drawn[largest].get(v.name) or v.draw(scene, largest) for v in every}
    fields = {
        name: {"offset": offset, "shape": shape.tolist()}
        for offset, (name, shape) in zip(offsets, shapes.items())
    }
    index = {
        "n_max": scene.family.n_draws,
        "record": sum(sizes),
        "fields": fields,
        "members": [meta | ({"note": note} if note else {}) for meta in metas],
        "figures": [_entry(scene, view, figures[view.name]) for view in every],
        "stops": {m: list(r) for m, r in (stops or {}).items()},
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
    return Bundle(index, b"".join(_record(row, fields) for row in arrays))


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
    only: Collection[str] | None = None,
) -> Bundle:
    """Pack only these members of `family`, with the curves, scales and captions that they change.

    They are for a front end that has `bundle`.  note: text beside their names; members with a note
    are previews, which change no scales, curves and captions.  only: names of views; the others are
    not drawn, which takes most of the time, and wait for a later record.
    """
    scene = Scene(family)
    packed = [_member(scene, i, only) for i in members]
    there = set(bundle.index.get("images", {}).get("rows", ()))
    for meta, _, _ in packed:
        meta |= {"note": note} if note else {}
        if missing := sorted(set(meta.get("images", {}).get("pool", ())) - there):
            meta["images"] |= pixels_of(family, torch.tensor(missing))
    figures = [] if note else list(_changed(bundle, scene, members[-1], packed[-1][1]))
    packed += [
        _member(scene, i) for i in ([] if note else _moved(bundle, family)) if i not in members
    ]
    index = {
        "record": bundle.index["record"],
        "members": [meta for meta, _, _ in packed],
        "figures": figures,
    }
    return Bundle(index, b"".join(_record(row, bundle.index["fields"]) for *_, row in packed))


def _moved(bundle: Bundle, family: Family) -> list[int]:
    """List members at radius 0 whose place against the radius has changed.

    It is left of the smallest positive radius.
    """
    there = {
        (meta["method"], meta["radius"]) for meta in bundle.index["members"] if "note" not in meta
    }
    least = {
        (method, min((r for r in family.radii(method) if r > 0), default=0.0))
        for method in family.methods
    }
    return [] if least <= there else [i for i, radius in enumerate(family.radius) if radius == 0]


def _changed(
    bundle: Bundle, scene: Scene, i: int, drawn: Mapping[str, Figure]
) -> Iterator[dict[str, object]]:
    """Iterate over changes of each figure (data, layout, caption), of those drawn and like them."""
    every = {view.name: view for view in views.views_of(scene.family)}
    other = set()
    for before in sorted(
        bundle.index.get("figures", ()), key=lambda entry: bool(every[entry["name"]].like)
    ):
        view = every[before["name"]]
        fig = drawn.get(before["name"])
        if view.like in other:
            fig = view.draw(scene, i)
        now = (
            {"caption": view.caption.format(**scene.words)}
            if fig is None
            else _entry(scene, view, fig)
        )
        if fig is not None and _fixed_parts(now) == _fixed_parts(before):
            now = {"caption": now["caption"]}
        elif fig is not None:
            other.add(view.name)
        if changes := {
            k: now[k] for k in ("data", "layout", "caption") if k in now and now[k] != before[k]
        }:
            yield {"name": view.name, **changes}


def _fixed_parts(entry: Mapping[str, Json]) -> dict[str, object]:
    """Return a figure without the parts that its members set.

    These are live properties, and axes whose range holds every member's.
    """
    copied = copy.deepcopy({"data": entry["data"], "layout": entry["layout"]})
    for path in [
        *(bind["path"] for bind in entry["binds"]),
        *(f"layout.{axis}.range" for axis in entry["shared"]),
    ]:
        assign(copied, path, [])
    return copied


def _member(scene: Scene, i: int, only: Collection[str] | None = None) -> Packed:
    """Pack one member: its texts, its figures by view, its arrays by field.

    Figures of views that are `like` another are left out.
    """
    family = scene.family
    every = views.views_of(family)
    shown = [view for view in every if only is None or view.name in only]
    drawn_as = {view.like or view.name for view in shown}
    figures = {view.name: view.draw(scene, i) for view in every if view.name in drawn_as}
    drawn = [(view, figures[view.name]) for view in every if view.name in drawn_as]
    live = {_field(view, k, p): p for view, fig in drawn for k, p in enumerate(_follows(view, fig))}
    prediction = computed(family[i].prediction)
    projection = computed(family[i].projection)
    scores = {
        name: Live("", "", values.cpu().numpy(), "size")
        for name, values in prediction.scores.items()
        if name in SHOWN
    }
    lambda1 = np.array([mean_lambda1(family[i].spectrum)])
    meta = {
        "method": family[i].method,
        "radius": family[i].radius,
        "unit": family[i].unit,
        "label": style(family[i].method).label,
        "words": {name: np.asarray(p.values).tolist() for name, p in live.items() if p.words},
        "n_spectra": len(family[i].spectrum),
        "n_draws": prediction.n_draws,
        "reach": _reach(family[i]),
        "equals": style(family[first].method).label if (first := family.first[i]) != i else "",
        "waiting": [view.name for view in every if view not in shown],
        "alts": {view.name: _alt(view, figures[view.like or view.name]) for view in shown},
        "ranges": {view.name: ranges_of(view, fig) for view, fig in drawn},
    }
    if family.images:
        meta["images"] = member_images(family, i)
    arrays = {name: p for name, p in live.items() if not p.words}
    draws = {"draw loss": true_losses(projection), "draw distance": projection.distance}
    of_draws = {name: Live("", "", numbers(values), "draws") for name, values in draws.items()}
    return meta, figures, arrays | scores | of_draws | {"lambda1": Live("", "", lambda1)}


def _reach(member: Member) -> str:
    """Describe the reach of the ascent at the end of the fit, where it differs from the radius."""
    history = member.posterior.history if isinstance(member.posterior, Gaussian) else None
    if history is None or history.reach is None:
        return ""
    reach = float(history.reach[-max(1, len(history.reach) // 10) :].median())
    near = member.unit == KL_BALL and abs(reach / member.radius - 1) < NEAR
    return "" if near else f", which moves q by {short(reach)} × its width"


def _alt(view: View, fig: Figure) -> str:
    """Describe a member's figure, and the parts of it that cannot be drawn."""
    meta = fig.layout.meta
    return ". ".join(filter(None, (view.alt or meta["alt"], meta["note"])))


def _follows(view: View, fig: Figure) -> list[Live]:
    """Select the live properties of a figure for the records.

    The front end builds views of `Family.images`, which have none.
    """
    return [p for p in fig.live if p.trace not in view.fixed] if view.kind == "plotly" else []


def _field(view: View, k: int, p: Live) -> str:
    """Name a property's place: those of one key, in a view and those `like` it, share one."""
    return f"{view.like or view.name}/{p.key}" if p.key else f"{view.name}/{k}"


def _shared(view: View, fig: Figure) -> list[str]:
    """List those of the shared axes that a figure has; a regression has a score less."""
    return [axis for axis in view.shared if axis in fig.layout]


def ranges_of(view: View, fig: Figure) -> dict[str, list[float]]:
    """Return the finite ranges of the axes that hold every member."""
    ranges = {axis: [*map(float, fig.layout[axis].range)] for axis in _shared(view, fig)}
    return {axis: ends for axis, ends in ranges.items() if all(map(math.isfinite, ends))}


def _record(arrays: Mapping[str, Live], fields: Mapping[str, Mapping]) -> bytes:
    """Pack the arrays in the order of the fields, as float32.

    With fewer draws (MAP has one) scores repeat and the rest is NaN.
    """
    return b"".join(
        _filled(arrays.get(name), field["shape"]).tobytes() for name, field in fields.items()
    )


def _filled(live: Live | None, shape: Sequence[int]) -> np.ndarray:
    values = np.asarray([] if live is None else live.values, "<f4")
    if live is None or not values.size:
        return np.full(shape, math.nan, "<f4")
    padding = [(0, wanted - got) for wanted, got in zip(shape, values.shape)]
    how = dict(mode="edge") if live.rows == "size" else dict(constant_values=math.nan)
    return np.pad(values, padding, **how)


def assign(drawn: Json, path: str, value: object) -> None:
    """Put a value at a path of a figure's JSON, as `Live.path` has it."""
    *way, last = path.split(".")
    for key in way:
        drawn = drawn[int(key) if key.isdigit() else key]
    drawn[last] = value


def _entry(scene: Scene, view: View, fig: Figure) -> dict[str, object]:
    drawn: dict[str, Json] = {"data": [], "layout": {"meta": {}}}
    if view.kind == "plotly":
        drawn = json.loads(fig.to_json())
    layout = drawn["layout"] | {"height": view.height}
    layout.pop("meta")
    placed = {k: v for k, v in dataclasses.asdict(view).items() if k in PLACED}
    placed["shared"] = _shared(view, fig)
    follows = _follows(view, fig)
    binds = [
        {"path": p.path, "field": _field(view, k, p), "rows": p.rows} for k, p in enumerate(follows)
    ]
    for p in follows:
        if p.path.startswith("data.") and not p.words:
            assign(drawn, p.path, [])  # it is in the members' records
    layout.pop("width", None)  # of a notebook's cell; a page has columns
    return placed | {
        "data": drawn["data"],
        "layout": layout,
        "binds": binds,
        "caption": view.caption.format(**scene.words),
    }
