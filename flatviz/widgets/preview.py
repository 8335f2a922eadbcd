"""A radius that nobody fitted, shown before its whole fit: a short fit from the nearest member, of what is in sight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flatviz.families.family import extend
from flatviz.families.members import Fitting
from flatviz.pages.views import View, views_of
from flatviz.results import Family
from flatviz.widgets.look import ALL

STEPS = 20  # of a preview: a tenth of a whole fit or less
Show = Callable[[Family, str, list[str]], None]  # family with the preview as its last member, note, views


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
    """Fit `STEPS` steps from the nearest member, measure and show what is in sight, said to be a preview.

    The rest waits for the whole fit.  Nothing is shown for a method that cannot start at a posterior.
    """
    near = family[family.index(method, radius)]
    q = fits.preview(method, radius, near.posterior, STEPS)
    if q is not None:
        sight = views_in_sight(family, look)
        part = extend(fits, family, method, radius, q, [name for view in sight for name in view.needs])
        show(part, f", preview: {STEPS} steps from radius {near.radius:.3g}", [view.name for view in sight])
