"""A radius that nobody fitted, shown before its whole fit: a short fit from the nearest member, what is in sight first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flatviz.core.data import Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.families.family import SURFACES, complete, extend
from flatviz.families.members import fit_near
from flatviz.pages.views import View, views_of
from flatviz.results import Family, Gaussian
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


def show_preview(
    net: Net,
    task: Task,
    prior: Gaussian,
    family: Family,
    method: str,
    radius: float,
    show: Show,
    *,
    look: Mapping[str, Any],
    seed: int,
    progress: Progress,
    **settings: Any,
) -> None:
    """Fit `STEPS` steps from the nearest member, measure and show what is in sight, then the rest, said to be a preview.

    settings: fit and tuned of `fit_near`.  Nothing is shown for a method that cannot start at a posterior.
    """
    near = family.index(method, radius)
    q = fit_near(net, task, prior, method, radius, family[near].posterior, STEPS, seed=seed, progress=progress, **settings)
    if q is None:
        return
    note = f", preview: {STEPS} steps from radius {family[near].radius:.3g}"
    sight, how = views_in_sight(family, look), dict(seed=seed + 1, progress=progress)
    first = [name for name in SURFACES if any(name in view.needs for view in sight)]
    part = extend(net, task, family, method, radius, q, surfaces=first, **how)
    show(part, note, [view.name for view in sight])
    rest = [name for name in SURFACES if name not in first]
    if "maps" in first:  # on planes of others so far, where any are missing
        show(complete(net, task, part, [*rest, "maps"] if rest else [], **how), note, None)
        return
    quick = [view.name for view in views_of(family) if "maps" not in view.needs]  # the rest waits for the whole fit
    missing = [name for name in rest if name != "maps"]
    show(complete(net, task, part, missing, **how), note, quick if family.maps else None)
