"""A figure in a notebook that is drawn again when it changes.

plotly's FigureWidget opens its connection before it has data and sends them after it, as an update; anywidget, on which it
is built, refuses every update for good where a module took more than two seconds to load, as one of 5 MB does on a busy page.
The picture is then empty.  This one asks for its data when it can draw them, and shares one plotly.js with all views of a page.
"""

from __future__ import annotations

import json

from flatviz.pages.page import bundled
from flatviz.plots.theme import CONFIG, Figure
from flatviz.widgets.front import FrontView

_CONFIG = json.dumps(CONFIG)


class FigureView(FrontView):
    """`figure` in a notebook, drawn again in every view when another is shown."""

    _esm = bundled("figure")

    def __init__(self) -> None:
        super().__init__()
        self.figure = Figure()

    def show(self, figure: Figure) -> None:
        """Send another figure to every page; the reader's zoom stays."""
        self.figure = figure
        text = f'{figure.to_json()[:-1]},"config":{_CONFIG}}}'
        self.channel.send({"kind": "figure", "figure": text})

    def _answer(self, _: object, content: dict, buffers: list) -> None:
        super()._answer(_, content, buffers)
        if content.get("want") == "figure":
            self.show(self.figure)
