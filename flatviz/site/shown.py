"""What stands in a page for a figure or a widget: an element with its data, which `fv-site.js` draws without a kernel."""

from __future__ import annotations

import base64
import html
import itertools
import json
from collections.abc import Callable
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
from flatviz.widgets.lab import Lab

PLAIN = "A picture of the notebook; it is drawn by JavaScript."
LIVE = '<div class="fv-live"'  # how the element of an `interact` begins
MOST = 40  # pictures of one `interact`, over all its controls
PATIENCE = 900  # seconds for what a lab fits behind its page


def register(formatter: DisplayFormatter, failed: list[Exception], most: Callable[[], int] = lambda: MOST) -> None:
    """Figures and widgets are shown as elements of a page from now on.

    failed: takes the errors met on the way, which IPython would only print.  most: pictures of one `interact`, asked each time.
    """

    def widget_bundle(widget: ipywidgets.Widget, **_: Any) -> dict[str, str]:
        try:
            return _bundle(widget_html(widget, most()), widget)
        except Exception as error:
            failed.append(error)
            raise

    formatter.ipython_display_formatter.for_type(BaseFigure, lambda fig: display(_bundle(figure_html(fig), fig), raw=True))
    formatter.mimebundle_formatter.for_type(ipywidgets.Widget, widget_bundle)


def _bundle(text: str, value: object) -> dict[str, str]:
    return {"text/html": text, "text/plain": f"<{type(value).__name__}>"}


def figure_html(fig: BaseFigure) -> str:
    """The element of a figure: its alt text, which the picture replaces, and its JSON."""
    drawn = json.loads(fig.to_json())
    meta = drawn["layout"].pop("meta", None) or {}
    drawn["config"] = CONFIG
    title = (drawn["layout"].get("title") or {}).get("text")  # of a figure by plotly.express
    return _element("fv-figure", meta.get("alt") or title or PLAIN, drawn, height=drawn["layout"].get("height") or 460)


def widget_html(widget: ipywidgets.Widget, most: int = MOST) -> str:
    """The element of a widget: the lab as its live page, `interact` as its pictures, a box as the figures in it."""
    if isinstance(widget, Lab):
        return _lab_html(widget)
    if isinstance(widget, ipywidgets.interactive):
        return _interact_html(widget, most)
    figures = [figure_html(w) for w in _inside(widget) if isinstance(w, BaseFigure)]
    note = "In JupyterLab controls stand here." if figures else f"{type(widget).__name__}: shown in JupyterLab."
    return "\n".join([*figures, f'<p class="fv-note">{html.escape(note)}</p>'])


def _interact_html(widget: ipywidgets.interactive, most: int) -> str:
    """The pictures of an `interact` at values of its controls, all made now; sliders have as many stops as `most` allows.

    Raises what the function raises, and TypeError where it returns no figure.
    """
    controls = widget.kwargs_widgets
    lists = [_choices(w) for w in controls]
    n_sliders = max(1, sum(c is None for c in lists))
    for c in lists:
        most //= len(c) if c else 1
    stops = max(2, int(most ** (1 / n_sliders) + 1e-9))
    values = [c or _stops(w, stops) for c, w in zip(lists, controls)]
    figures = [widget.f(**dict(zip([w._kwarg for w in controls], chosen))) for chosen in itertools.product(*values)]
    if not all(isinstance(fig, BaseFigure) for fig in figures):
        raise TypeError(f"what interact calls must return a figure, got {type(figures[0]).__name__}")
    about = [
        dict(
            name=w.description,
            list=c is not None,
            labels=[_label(v) for v in vs],
            start=vs.index(w.value) if w.value in vs else 0,
        )
        for w, c, vs in zip(controls, lists, values)
    ]
    drawn = [json.loads(fig.to_json()) for fig in figures]
    alt = ((drawn[0]["layout"].get("meta") or {}).get("alt")) or PLAIN
    height = max(d["layout"].get("height") or 460 for d in drawn)
    return _element("fv-live", alt, dict(controls=about, figures=drawn, config=CONFIG), height=height + 40 * len(about))


def _choices(control: ipywidgets.Widget) -> list[Any] | None:
    """All values of a control that offers a list, None of a slider."""
    if isinstance(control, ipywidgets.Checkbox):
        return [True, False]
    return list(control.options) if isinstance(control, ipywidgets.Dropdown) else None


def _stops(slider: ipywidgets.IntSlider | ipywidgets.FloatSlider, most: int) -> list[float]:
    """At most `most` of a slider's values, both ends and the one where it stands among them."""
    n = round((slider.max - slider.min) / slider.step)
    here = round((slider.value - slider.min) / slider.step)
    count = min(most, n + 1)
    index = sorted({*(round(i * n / (count - 1)) for i in range(count)), here})
    return [type(slider.value)(round(slider.min + i * slider.step, 10)) if i != here else slider.value for i in index]


def _label(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _inside(widget: ipywidgets.Widget) -> list[ipywidgets.Widget]:
    if isinstance(widget, ipywidgets.Box):
        return [inner for child in widget.children for inner in _inside(child)]
    return [widget]


def _lab_html(lab: Lab) -> str:
    """What the lab has fitted once it is idle, with sliders that need no kernel."""
    if not lab.wait(PATIENCE):
        raise RuntimeError(f"the lab must be idle within {PATIENCE} s to be shown in a page, it says: {lab.status}")
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
