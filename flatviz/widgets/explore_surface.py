"""Simple views of one's own surface, with samples or a path on it, and a few controls: no network, no family."""

from __future__ import annotations

from collections.abc import Sequence

import ipywidgets

from flatviz.checks import Whole
from flatviz.core.boundary import public
from flatviz.plots.color import first_draws
from flatviz.plots.nouns import check_on
from flatviz.plots.surface import plot_surface
from flatviz.plots.theme import INK, scatter, short
from flatviz.results import Projection, Surface
from flatviz.widgets.controlled import box_of, keep_first, redraw_as
from flatviz.widgets.figure import FigureView

PLAY_MS = 120  # between two points of a path that plays


@public
def explore_surface(surface: Surface, projection: Projection | None = None) -> ipywidgets.VBox:
    """`plot_surface` with controls: how many samples, linear or logarithmic colours, where the colours end.

    Args:
        surface: values on a grid (A, B), from `slice_plane`.
        projection: samples (S, 2) on the same plane, from `project`; None: the surface alone.

    Returns the box; `.figure` is its figure, `.controls` are its controls by name.

    Raises:
        ValueError: If projection and surface lie in different planes.

    Example:
        >>> plane = fv.plane_through(torch.zeros(3), torch.eye(3)[0], torch.eye(3)[1])
        >>> view = fv.explore(fv.slice_plane(lambda w: (w ** 2).sum() + 1, plane, resolution=5))
        >>> sorted(view.controls)
        ['ceiling', 'log', 'samples']
    """
    view = FigureView(plot_surface(surface, projection))
    figure = view.figure
    finite = surface.values[surface.values.isfinite()]
    low, high = float(finite.min()), float(finite.max())
    n = 0 if projection is None else len(projection.coords)
    draws = ipywidgets.IntSlider(n, 0 if n == 0 else 1, max(n, 1), description="samples", disabled=n == 0)
    ceiling = ipywidgets.FloatSlider(1.0, min=0.05, max=1.0, step=0.05, description="colours to", readout_format=".0%")
    log = ipywidgets.Checkbox(low > 0 and high / low > 10, description="logarithmic", disabled=low <= 0)

    def redraw(_: object = None) -> None:
        top = low * (high / low) ** ceiling.value if log.value else low + (high - low) * ceiling.value
        shown = None if projection is None else first_draws(projection, draws.value)
        redraw_as(figure, plot_surface(surface, shown, color_range=(low, top), log=log.value))

    for control in (draws, ceiling, log):
        control.observe(redraw, names="value")
    return box_of(view, {"samples": draws, "ceiling": ceiling, "log": log})


@public
def explore_path(surface: Surface, projection: Projection, *, steps: Sequence[Whole] | None = None) -> ipywidgets.VBox:
    """A path over a surface with a slider over time: where the weights went up to now, and the loss where they are.

    Args:
        surface: values on a grid (A, B), from `slice_plane`, as on a `plane_path`.
        projection: points (S, 2) of the path on the same plane, in their order, from `project(path.W, plane, f)`.
        steps: after which step each point was, (S,), as `record_path` gives it; default: 0, 1 ...

    Returns the box; `.figure` is its figure, `.controls` are the slider "time", an index into the points, and "play";
    `.text` says step, loss and distance from the plane.

    Raises:
        ValueError: If projection and surface lie in different planes, for a path of one point, or steps of another
            number.

    Example:
        >>> def f(w): return (w ** 2).sum()
        >>> W = torch.linspace(1, 0, 6)[:, None] * torch.tensor([1.0, 2.0, 0.0]) + 0.1 * torch.eye(6, 3)
        >>> plane = fv.planes.plane_path(W)
        >>> view = fv.explore(fv.slice_plane(f, plane, resolution=5), fv.project(W, plane, f), steps=range(0, 60, 10))
        >>> view.controls["time"].value = 3
        >>> view.text.value
        'step 30: f(w) 0.8, 0.014 off the plane'
    """
    check_on(surface, projection)
    n = len(projection.coords)
    if n < 2:
        raise ValueError(f"a path needs at least two points, got {n}: project path.W, the weights of all steps")
    at = range(n) if steps is None else list(steps)
    if len(at) != n:
        raise ValueError(f"steps must say when each of the path's {n} points was, got {len(at)}: use path.steps")
    base = plot_surface(surface, projection, path=True)
    for name, wide, color in (("now, rim", 5, INK), ("now", 2.5, "#fefefe")):
        ring = dict(size=18, color="rgba(0,0,0,0)", line=dict(color=color, width=wide))
        base.add_trace(scatter(*projection.coords[-1:].T, "markers", name, marker=ring))
    view, said = FigureView(base), ipywidgets.HTML()
    figure = view.figure
    time = ipywidgets.IntSlider(n - 1, 0, n - 1, description="time", layout=ipywidgets.Layout(width="60%"))
    play = ipywidgets.Play(value=n - 1, min=0, max=n - 1, interval=PLAY_MS, repeat=True, show_repeat=False)
    ipywidgets.jslink((play, "value"), (time, "value"))

    def redraw(_: object = None) -> None:
        i = time.value
        keep_first(figure, base, i + 1)
        x, y = ([float(value)] for value in projection.coords[i])
        with figure.batch_update():
            for trace in figure.data[-2:]:
                trace.update(x=x, y=y)
        loss = "" if projection.values is None else f"{projection.label} {short(float(projection.values[i]))}, "
        said.value = f"step {at[i]}: {loss}{short(float(projection.distance[i]))} off the plane"

    time.observe(redraw, names="value")
    redraw()
    return box_of(view, {"play": play, "time": time}, said)
