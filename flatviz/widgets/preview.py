"""A radius that nobody fitted, shown before its whole fit: a short fit from the nearest member, what is in sight first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flatviz.families.family import SURFACES, complete, extend
from flatviz.families.members import Fitting
from flatviz.pages.views import View, views_of
from flatviz.results import Family
from flatviz.widgets.look import ALL

STEPS = 20  # of a preview: a tenth of a whole fit or less
Show = Callable[[Family, str, list[str] | None], None]  # family with the preview as its last member, note, views (None: all)


def views_in_sight(family: Family, look: Mapping[str, Any]) -> list[View]:
    """The views of the tab that `look` names, one of each slot."""
    shown = views_of(family)
    tab = look.get("tab") or shown[0].group
    if tab == ALL or tab not in {view.group for view in shown}:
        return list(shown)
    chosen = dict(look.get("chosen", {}))
    for view in shown:
        chosen.setdefault(view.slot, view.chosen)  # the first of a slot
    return [view for view in shown if view.group == tab and (not view.slot or view.chosen == chosen[view.slot])]


def show_preview(fits: Fitting, family: Family, method: str, radius: float, show: Show, look: Mapping[str, Any]) -> None:
    """Fit `STEPS` steps from the nearest member, measure and show what is in sight, then the rest, said to be a preview.

    Nothing is shown for a method that cannot start at a posterior.
    """
    near = family[family.index(method, radius)]
    q = fits.preview(method, radius, near.posterior, STEPS)
    if q is None:
        return
    note = f", preview: {STEPS} steps from radius {near.radius:.3g}"
    sight = views_in_sight(family, look)
    first = [name for name in SURFACES if any(name in view.needs for view in sight)]
    part = extend(fits, family, method, radius, q, first)
    show(part, note, [view.name for view in sight])
    rest = [name for name in SURFACES if name not in first]
    if "maps" in first:  # on planes of others so far, where any are missing
        show(complete(fits, part, [*rest, "maps"] if rest else []), note, None)
        return
    quick = [view.name for view in views_of(family) if "maps" not in view.needs]  # the rest waits for the whole fit
    missing = [name for name in rest if name != "maps"]
    show(complete(fits, part, missing), note, quick if family.maps else None)
