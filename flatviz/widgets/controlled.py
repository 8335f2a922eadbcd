"""A figure under a row of controls: what the views of `explore` share."""

from __future__ import annotations

from collections.abc import Mapping

import ipywidgets

from flatviz.plots.theme import Figure
from flatviz.widgets.figure import FigureView, LiveFigure

MARKS = ("rim", "samples", "path")  # traces with a point a draw


def box_of(view: FigureView, controls: Mapping[str, ipywidgets.Widget], *said: ipywidgets.HTML) -> ipywidgets.VBox:
    """Controls above the figure, what is said of it below."""
    box = ipywidgets.VBox([ipywidgets.HBox(list(controls.values())), view, *said])
    box.figure, box.controls, box.text = view.figure, dict(controls), said[0] if said else None
    return box


def count_slider(most: int, name: str) -> ipywidgets.IntSlider:
    """A slider from 1 to `most`, at `most`; off where there is one alone."""
    return ipywidgets.IntSlider(most, 1, max(most, 2), description=name, disabled=most == 1)


def redraw_as(figure: LiveFigure, new: Figure, *parts: str) -> None:
    """The same traces with new values, and these parts of the layout; the others stay, as the reader's zoom does."""
    if [trace.name for trace in figure.data] != [trace.name for trace in new.data]:  # a path of one point has no line
        figure.data = []
        figure.add_traces(new.data)
    with figure.batch_update():
        for mine, its in zip(figure.data, new.data, strict=True):
            mine.update(its.to_plotly_json())  # overwriting would send each property as undefined first
        layout = new.layout.to_plotly_json()
        figure.update_layout({part: layout[part] for part in parts})


def keep_first(figure: LiveFigure, base: Figure, n: int) -> None:
    """The first n points of each trace that has a point a draw."""
    with figure.batch_update():
        for mine, its in zip(figure.data, base.data, strict=True):
            if its.name in MARKS:
                mine.update(x=its.x[:n], y=its.y[:n])
