"""What stands in a page for a figure or a widget: an element with its data, which `fv-site.js` draws without a kernel."""

from __future__ import annotations

import base64
import html
import json
from typing import Any

import ipywidgets
from IPython.core.formatters import DisplayFormatter
from IPython.display import display
from plotly.basedatatypes import BaseFigure

from flatviz.pages.bundle import pack
from flatviz.pages.document import json_for_html
from flatviz.pages.story import tour_story
from flatviz.plots.theme import CONFIG
from flatviz.results import Family
from flatviz.widgets.lab import FlatnessLab

PLAIN = "A picture of the notebook; it is drawn by JavaScript."


def register(formatter: DisplayFormatter) -> None:
    """Figures and widgets are shown as elements of a page from now on."""
    formatter.ipython_display_formatter.for_type(BaseFigure, lambda fig: display(_bundle(figure_html(fig), fig), raw=True))
    formatter.mimebundle_formatter.for_type(ipywidgets.Widget, lambda widget, **_: _bundle(widget_html(widget), widget))


def _bundle(text: str, value: object) -> dict[str, str]:
    return {"text/html": text, "text/plain": f"<{type(value).__name__}>"}


def figure_html(fig: BaseFigure) -> str:
    """The element of a figure: its alt text, which the picture replaces, and its JSON."""
    drawn = json.loads(fig.to_json())
    meta = drawn["layout"].pop("meta", None) or {}
    drawn["config"] = CONFIG
    return _element("fv-figure", meta.get("alt", PLAIN), drawn, height=drawn["layout"].get("height") or 460)


def widget_html(widget: ipywidgets.Widget) -> str:
    """The element of a widget: the lab as its live page, a box as the figures in it, another by its text."""
    if isinstance(widget, FlatnessLab):
        return _lab_html(widget)
    figures = [figure_html(w) for w in _inside(widget) if isinstance(w, BaseFigure)]
    note = "In JupyterLab controls stand here." if figures else f"{type(widget).__name__}: shown in JupyterLab."
    return "\n".join([*figures, f'<p class="fv-note">{html.escape(note)}</p>'])


def _inside(widget: ipywidgets.Widget) -> list[ipywidgets.Widget]:
    if isinstance(widget, ipywidgets.Box):
        return [inner for child in widget.children for inner in _inside(child)]
    return [widget]


def _lab_html(lab: FlatnessLab) -> str:
    """What the lab has fitted once it is idle, with sliders that need no kernel."""
    lab.wait()
    if lab.family is None:
        raise RuntimeError(f"the lab must have a family to be shown in a page, got none: {lab.status}")
    return family_html(lab.family, start=(lab.method, lab.radius, lab.n_draws))


def family_html(family: Family, *, start: tuple[str, float, int]) -> str:
    """The element of a measured family; start: method, radius and ensemble size at which the controls stand first."""
    bundle = pack(family, story=tour_story(family))
    data = {
        "index": bundle.index,
        "records": base64.b64encode(bundle.buffer).decode(),
        "start": dict(zip(("method", "radius", "n_draws"), start)) | {"look": {"step": -1}},
    }
    return _element("fv-lab", "The laboratory: method, radius and ensemble size move every picture.", data)


def _element(kind: str, alt: str, data: dict[str, Any], height: int | None = None) -> str:
    text = html.escape(alt)
    style = f' style="min-height:{height}px"' if height else ""
    inside = f'<p class="fv-alt">{text}</p>\n<script type="application/json">{json_for_html(data)}</script>'
    return f'<div class="{kind}" role="group" aria-label="{text}"{style}>\n{inside}\n</div>'
