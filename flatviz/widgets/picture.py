"""One figure of page and lab: the call that their menu copies."""

from flatviz.checks import Count, Radius
from flatviz.core import public
from flatviz.pages import views
from flatviz.pages.bundle import assign, check_measured, ranges_of
from flatviz.pages.scene import Scene
from flatviz.pages.views import View
from flatviz.plots.theme import Figure
from flatviz.results import Family
from flatviz.words import check_choice


@public
def plot_view(
    family: Family,
    view: str,
    *,
    method: str | None = None,
    radius: Radius | None = None,
    n_draws: Count | None = None,
) -> Figure:
    """Draw one figure of the page and the lab, at one state of their controls.

    Their menu copies this call.

    Args:
        family: Result of `measure`.
        view: Name of the figure: "surface", "sharpest", "around", "hidden", "spectrum", "metrics",
            "reliability" ...
        method: One of the family's; default: its last.
        radius: In the method's unit; the member whose radius is nearest is drawn; default: its
            first.
        n_draws: Ensemble size, in draws; default: all there are.

    Raises:
        ValueError: For a family that was not measured, and for a view or method that it does not
            have; the images that draws dispute are drawn in page and lab alone.

    Example:
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> source = fv.pretrain(fv.models.mlp(task, hidden=(8,)), task.source, seed=0, epochs=3)
        >>> swag = fv.fit(source, task.source, fv.SWAG(), seed=0)
        >>> net, prior = fv.transfer(source, swag, treated="norm+head")
        >>> radii = {"vi": (0.0,), "sabma": (0.5,)}
        >>> family = fv.families.fit_family(net, task, prior, radii=radii, seed=0, fit={"steps": 2})
        >>> small = dict(n_draws=3, n_spectra=1, k=2, resolution=5, around_resolution=3)
        >>> family = fv.families.measure(net, task, family, seed=0, **small)
        >>> fig = fv.widgets.plot_view(family, "surface", method="sabma", radius=0.5, n_draws=2)
        >>> [len(trace.x) for trace in fig.data if trace.name == "samples"]
        [2]
    """
    check_measured(family)
    drawn_here = [v for v in views.views_of(family) if v.kind == "plotly"]
    by_name = {v.name: v for v in drawn_here}
    chosen = by_name[check_choice(view, tuple(by_name), "view")]
    scene = Scene(family)
    method = family.methods[-1] if method is None else method
    i = family.index(method, radius)
    fig = chosen.draw(scene, i)
    drawn = fig.to_plotly_json()
    size = scene.family.n_draws if n_draws is None else n_draws
    for live in fig.live:
        if live.rows != "all":
            assign(drawn, live.path, live.at(size))
    for axis, ends in _ranges(scene, chosen).items():
        drawn["layout"][axis]["range"] = ends
    return Figure(drawn)


def _ranges(scene: Scene, view: View) -> dict[str, list[float]]:
    """Return ranges of axes that hold every member of the family, as in the page."""
    ends: dict[str, list[float]] = {}
    if not view.shared:
        return ends
    for i in range(len(scene.family)):
        figure = view.draw(scene, i)
        for axis, (lo, hi) in ranges_of(view, figure).items():
            low, high = ends.get(axis, (lo, hi))
            ends[axis] = [min(low, lo), max(high, hi)]
    return ends
