"""`explore(result)`: a picture with controls, chosen by the type of what it shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any

import ipywidgets
import torch

from flatviz.checks import check_choice
from flatviz.plots.color import first_draws
from flatviz.plots.metrics import LABELS, plot_metrics
from flatviz.plots.nouns import check_on
from flatviz.plots.projection import plot_projection
from flatviz.plots.reliability import plot_reliability
from flatviz.plots.spectrum import plot_spectrum
from flatviz.plots.surface import plot_surface
from flatviz.plots.theme import INK, Figure, scatter, short
from flatviz.results import Prediction, Projection, Spectrum, Surface
from flatviz.widgets.figure import FigureView, LiveFigure

PLAY_MS = 120  # between two points of a path that plays
MARKS = ("rim", "samples", "path")  # traces with a point a draw


@singledispatch
def explore(result: object, *more: Any, **options: Any) -> ipywidgets.VBox:
    """A result with controls in a notebook, chosen by its type; `.figure`, `.controls` and `.text` are the parts of the box.

    ====================================================  ========================================================
    `explore(surface, projection=None)`                   how many samples, linear or logarithmic colours
    `explore(surface, projection, steps=path.steps)`      a slider over time for a path on a `plane_path`
    `explore(projection, method=None)`                    the first n draws on the plane
    `explore(spectrum, method=None)`, or a list of them   how many draws, how many eigenvalues
    `explore(prediction, view="scores", method=None)`     scores, or "calibration", of the first n draws
    ====================================================  ========================================================

    Args:
        result: What is shown.
        *more: What goes with it, as in the table.
        **options: The keywords of the table; `method` names whose result it is, for label and colour.

    Raises:
        TypeError: For a result of another type.

    Example:
        >>> plane = fv.plane_through(torch.zeros(3), torch.eye(3)[0], torch.eye(3)[1])
        >>> view = fv.explore(fv.slice_plane(lambda w: (w ** 2).sum() + 1, plane, resolution=5))
        >>> sorted(view.controls)
        ['ceiling', 'log', 'samples']
    """
    raise TypeError(
        f"explore takes a Surface, Projection, Prediction or Spectrum (or a list of them), got {type(result).__name__}"
    )


@explore.register
def _surface(surface: Surface, projection: Projection | None = None, *, steps: Sequence[int] | None = None) -> ipywidgets.VBox:
    if steps is not None:
        return _path(surface, projection, list(steps))
    base = plot_surface(surface, projection)
    finite = surface.values[surface.values.isfinite()]
    low, high = float(finite.min()), float(finite.max())
    n = 0 if projection is None else len(projection.coords)
    samples = ipywidgets.IntSlider(n, min(n, 1), max(n, 1), description="samples", disabled=n == 0)
    ceiling = ipywidgets.FloatSlider(1.0, min=0.05, max=1.0, step=0.05, description="colours to", readout_format=".0%")
    log = ipywidgets.Checkbox(low > 0 and high / low > 10, description="logarithmic", disabled=low <= 0)

    def redraw(figure: LiveFigure) -> None:
        top = low * (high / low) ** ceiling.value if log.value else low + (high - low) * ceiling.value
        shown = None if projection is None else first_draws(projection, samples.value)
        _redraw_as(figure, plot_surface(surface, shown, color_range=(low, top), log=log.value))

    return _box(base, {"samples": samples, "ceiling": ceiling, "log": log}, redraw)


def _path(surface: Surface, projection: Projection, steps: list[int]) -> ipywidgets.VBox:
    check_on(surface, projection)
    n = len(projection.coords)
    if n < 2:
        raise ValueError(f"a path needs at least two points, got {n}: project path.W, the weights of all steps")
    if len(steps) != n:
        raise ValueError(f"steps must say when each of the path's {n} points was, got {len(steps)}: use path.steps")
    base = plot_surface(surface, projection, path=True)
    for name, wide, color in (("now, rim", 5, INK), ("now", 2.5, "#fefefe")):
        ring = dict(size=18, color="rgba(0,0,0,0)", line=dict(color=color, width=wide))
        base.add_trace(scatter(*projection.coords[-1:].T, "markers", name, marker=ring))
    time = ipywidgets.IntSlider(n - 1, 0, n - 1, description="time", layout=ipywidgets.Layout(width="60%"))
    play = ipywidgets.Play(value=n - 1, min=0, max=n - 1, interval=PLAY_MS, repeat=True, show_repeat=False)
    ipywidgets.jslink((play, "value"), (time, "value"))

    def redraw(figure: LiveFigure) -> str:
        i = time.value
        _keep_first(figure, base, i + 1)
        x, y = ([float(value)] for value in projection.coords[i])
        with figure.batch_update():
            for trace in figure.data[-2:]:
                trace.update(x=x, y=y)
        loss = "" if projection.values is None else f"{projection.label} {short(float(projection.values[i]))}, "
        return f"step {steps[i]}: {loss}{short(float(projection.distance[i]))} off the plane"

    return _box(base, {"play": play, "time": time}, redraw, watched=[time])


@explore.register
def _projection(projection: Projection, *, method: str | None = None) -> ipywidgets.VBox:
    base, slider = plot_projection(projection, method=method), _count(len(projection.coords), "draws")

    def redraw(figure: LiveFigure) -> str:
        _keep_first(figure, base, slider.value)
        return f"{slider.value} draws: off the plane by {short(float(projection.distance[: slider.value].median()))} (median)"

    return _box(base, {"draws": slider}, redraw)


@explore.register
def _prediction(prediction: Prediction, *, view: str = "scores", method: str | None = None) -> ipywidgets.VBox:
    draw, part = {"scores": (plot_metrics, "shapes"), "calibration": (plot_reliability, "meta")}[
        check_choice(view, ("scores", "calibration"), "view")
    ]
    slider = _count(prediction.n_draws, "draws")

    def redraw(figure: LiveFigure) -> str:
        n = slider.value
        _redraw_as(figure, draw(prediction, n_draws=n, method=method), part)
        values = ", ".join(f"{label} {float(prediction.scores[name][n - 1]):.3f}" for name, label in LABELS.items())
        return f"{n} draw{'s' if n > 1 else ''}: {values}"

    return _box(draw(prediction, n_draws=prediction.n_draws, method=method), {"draws": slider}, redraw)


@explore.register(Spectrum)
@explore.register(list)
@explore.register(tuple)
def _spectra(spectrum: Spectrum | Sequence[Spectrum], *, method: str | None = None) -> ipywidgets.VBox:
    base, spectra = plot_spectrum(spectrum, method=method), [spectrum] if isinstance(spectrum, Spectrum) else list(spectrum)
    draws, largest = _count(len(spectra), "draws"), _count(min(len(s.values) for s in spectra), "largest")
    log = ipywidgets.Checkbox(False, description="logarithmic", disabled=any(float(s.values.min()) <= 0 for s in spectra))

    def redraw(figure: LiveFigure) -> str:
        k = largest.value
        kept = [replace(s, values=s.values[:k], vectors=s.vectors[:k], residual=s.residual[:k]) for s in spectra[: draws.value]]
        new, values = plot_spectrum(kept, method=method), torch.stack([s.values for s in kept])
        ends = [math.log10(0.8 * float(values.min())), math.log10(1.25 * float(values.max()))] if log.value else None
        new.update_yaxes(type="log" if log.value else "linear", **({"range": ends} if ends else {}))
        _redraw_as(figure, new, "title", "meta", "xaxis", "yaxis")
        spread = f", {short(float(values[:, 0].min()))} to {short(float(values[:, 0].max()))}" if len(kept) > 1 else ""
        return f"λ₁ {short(float(values[:, 0].mean()))}, mean of {len(kept)}{spread}"

    return _box(base, {"draws": draws, "largest": largest, "log": log}, redraw)


def _box(
    base: Figure,
    controls: Mapping[str, ipywidgets.Widget],
    redraw: Callable[[LiveFigure], str | None],
    watched: Sequence[ipywidgets.Widget] = (),
) -> ipywidgets.VBox:
    """Controls above the figure; `redraw` runs at each change of those watched (default: all) and returns the text below."""
    view, text = FigureView(base), ipywidgets.HTML()

    def change(_: object = None) -> None:
        text.value = redraw(view.figure) or ""

    for control in watched or controls.values():
        control.observe(change, names="value")
    change()
    box = ipywidgets.VBox([ipywidgets.HBox(list(controls.values())), view, text])
    box.figure, box.controls, box.text = view.figure, dict(controls), text
    return box


def _count(most: int, name: str) -> ipywidgets.IntSlider:
    """A slider from 1 to `most`, at `most`; off where there is one alone."""
    return ipywidgets.IntSlider(most, 1, max(most, 2), description=name, disabled=most == 1)


def _redraw_as(figure: LiveFigure, new: Figure, *parts: str) -> None:
    """The same traces with new values, and these parts of the layout; the others stay, as the reader's zoom does."""
    if [trace.name for trace in figure.data] != [trace.name for trace in new.data]:  # a path of one point has no line
        figure.data = []
        figure.add_traces(new.data)
    with figure.batch_update():
        for mine, its in zip(figure.data, new.data, strict=True):
            mine.update(its.to_plotly_json())  # overwriting would send each property as undefined first
        layout = new.layout.to_plotly_json()
        figure.update_layout({part: layout[part] for part in parts})


def _keep_first(figure: LiveFigure, base: Figure, n: int) -> None:
    """The first n points of each trace that has a point a draw."""
    with figure.batch_update():
        for mine, its in zip(figure.data, base.data, strict=True):
            if its.name in MARKS:
                mine.update(x=its.x[:n], y=its.y[:n])
