"""A figure in a notebook that is redrawn whenever it changes.

plotly's FigureWidget opens its connection before it has data and sends them after it, as an update; anywidget, on which it
is built, refuses every update for good where a module took more than two seconds to load, as one of 5 MB does on a busy page.
The picture is then empty.  This one asks for its data when it can draw them, and shares one plotly.js with all views of a page.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from flatviz.plots.theme import CONFIG, Figure
from flatviz.widgets.front import FrontView, module

_CONFIG = json.dumps(CONFIG)


class LiveFigure(Figure):
    """A figure that tells of every change, a batch of changes once."""

    _changed: Callable[[], None] = staticmethod(lambda: None)

    def _send_addTraces_msg(self, *args: Any, **kwargs: Any) -> None:
        self._changed()

    _send_deleteTraces_msg = _send_moveTraces_msg = _send_restyle_msg = _send_addTraces_msg
    _send_relayout_msg = _send_update_msg = _send_animate_msg = _send_addTraces_msg


class FigureView(FrontView):
    """`figure` in a notebook; what changes in it is drawn at once, in every view."""

    _esm = module("figure.js")

    def __init__(self, base: Figure) -> None:
        super().__init__()
        self.figure = LiveFigure(base)
        self.figure._changed = self.redraw

    def redraw(self) -> None:
        """Send the figure as it is to every page."""
        text = f'{self.figure.to_json()[:-1]},"config":{_CONFIG}}}'
        self.channel.send({"kind": "figure", "figure": text})

    def _answer(self, _: object, content: dict, buffers: list) -> None:
        super()._answer(_, content, buffers)
        if content.get("want") == "figure":
            self.redraw()
