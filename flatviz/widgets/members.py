"""State of a lab: the members that it fits first, their names, and the views in sight."""

import math
from collections.abc import Mapping, Sequence

from flatviz.catalog import NO_UNIT
from flatviz.checks import check_count, check_is, check_radius, kind, values
from flatviz.core import Net
from flatviz.pages.document import Json
from flatviz.pages.views import VIEWS, View, views_of
from flatviz.plots.theme import style
from flatviz.posteriors import METHODS
from flatviz.results import Family
from flatviz.words import check_choice

STEPS_PER_DECADE = 10
ALL = "All"  # the tab of all views
LOOK: dict[str, Json] = {
    "tab": "",
    "compare": None,
    "picked": None,
    "chosen": {},
    "step": -1,
}


def first_radii(net: Net) -> dict[str, tuple[float, ...]]:
    """List the methods and radii that a lab fits before a slider moves.

    Each method's default radius is among them.
    """
    radii = {}
    for name, method in METHODS.items():
        tuned = method.tuned(net)
        default = () if method.unit == NO_UNIT else (tuned.radius,)
        if tuned.lab:
            radii[name] = tuple(sorted({*tuned.lab, *default}))
    return radii


def coarse_radii(net: Net) -> dict[str, tuple[float, ...]]:
    """List the few members that a quick lab fits first: VI, and SA-BMA at its default radius."""
    radius = METHODS["sabma"].tuned(net).radius
    return {"vi": (0.0,), "sabma": (0.0, radius)}


def log_stops(radii: Sequence[float], largest: float = 0.0) -> list[float]:
    """List the radii of a slider beside these fitted ones: 0, then log steps up to `largest`.

    largest: 0: twice the largest fitted.
    """
    first = sorted(r for r in radii if r > 0)
    top = largest or 2 * first[-1]
    low = math.floor(STEPS_PER_DECADE * math.log10(first[0] / 4))
    high = math.floor(STEPS_PER_DECADE * math.log10(top))
    stops = [0.0]
    for i in range(low, high + 1):
        step = float(f"{10 ** (i / STEPS_PER_DECADE):.2g}")
        if all(abs(step / r - 1) > 0.06 for r in first):
            stops.append(step)
    return stops


def member_name(method: str, radius: float) -> str:
    """Return method and radius as text."""
    label = style(method).label
    return label if METHODS[method].unit == NO_UNIT else f"{label}, radius {radius:.3g}"


def check_look(look: Json, methods: Sequence[str]) -> dict:
    """Check a dict with names of `LOOK` only, which a page may have sent.

    Its `compare` is None or names one of `methods` and a radius; picked counts from 0.

    Raises:
        TypeError: See above.
        ValueError: Otherwise.
    """
    check_is(look, dict, "look", f"its names are {', '.join(LOOK)}")
    for name in look:
        check_choice(name, tuple(LOOK), "a name of look")
    if (other := look.get("compare")) is not None:
        check_is(other, dict, "compare", '{"method": "vi", "radius": 0.0}')
        check_choice(other.get("method"), tuple(methods), "method of compare")
        check_radius(other.get("radius"), "radius")
    for name, least in (("picked", 0), ("step", -1)):
        if look.get(name) is not None:
            check_count(look[name], name, least=least)
    tabs = ("", ALL, *{view.group for view in VIEWS})
    check_choice(look.get("tab", ""), tabs, "tab")
    check_texts = values(kind(str, "a text"), "texts")
    check_texts(look.get("chosen", {}), "chosen")
    return look


def views_in_sight(family: Family, look: Mapping[str, Json]) -> list[View]:
    """List the views of the tab in `look`, one of each slot."""
    views = views_of(family)
    tab = look.get("tab") or views[0].group
    in_tab = [view for view in views if view.group == tab]
    if not in_tab:
        return list(views)
    chosen = dict(look.get("chosen", {}))
    for view in views:
        chosen.setdefault(view.slot, view.chosen)  # the first of a slot
    in_sight = []
    for view in in_tab:
        if not view.slot or view.chosen == chosen[view.slot]:
            in_sight.append(view)
    return in_sight
