"""The look of every figure: template, styles of methods, ticks; no button sends data to a host."""

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from plotly.basedatatypes import BaseTraceType
from torch import Tensor

from flatviz.catalog import LOOKS, Look
from flatviz.plots.live import Live

Property = Any  # of a trace, an axis or a layout, as plotly has it
Properties = dict[str, Property]

INK = "#1f2933"
MUTED = "#6b7780"
GRID = "#e4e7eb"
DARK_PAPER = "#15191e"  # ground of page and lab in dark mode
CONTRAST = 4.5  # least of a line with that ground (WCAG 2)
LOSS_SCALE = "Cividis"
HEIGHT = 520  # px, of a figure outside of a page
MARGIN = dict(l=60, r=20, t=76, b=52)  # px: title and one line of legend above
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
# Colours of lines that belong to no method (Okabe-Ito)
COLORS = (
    INK,
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#8a6d00",
    "#56B4E9",
)
ROUNDING = 1e-5  # relative spread below which values differ by rounding in float32
BUTTONS = {
    "displaylogo": False,
    "showSendToCloud": False,
    "modeBarButtonsToRemove": ["select2d", "lasso2d"],
}
# of pages; JupyterLab resizes a figure itself, and a responsive one collapses at a change of theme
CONFIG = BUTTONS | {"responsive": True}


class Figure(go.Figure):
    """A plotly figure that shows without its upload button.

    `live`: its properties that follow the controls of page and lab, the sliders for method, radius
    and ensemble size, in the order in which they were added.
    """

    live: tuple[Live, ...] = ()

    def add_live(
        self,
        trace: BaseTraceType,
        *paths: str,
        rows: str = "all",
        sizes: Mapping | None = None,
        keys: Mapping | None = None,
    ) -> None:
        """Add a trace whose current values at `paths`, such as "marker.color", follow the controls.

        rows: "all" of each array is drawn, or its first n rows at n draws ("draws").
        sizes: path -> array whose row n - 1 is drawn at ensemble size n.
        keys: path -> a name shared by properties of equal values, which are then stored once.
        """
        prefix = f"data.{len(self.data)}."
        keys = keys or {}
        for path in paths:
            self.follow(
                {prefix + path: trace[path]},
                rows=rows,
                trace=trace.name,
                key=keys.get(path, ""),
            )
        for path, values in (sizes or {}).items():
            self.follow({prefix + path: values}, rows="size", trace=trace.name)
        self.add_trace(trace)

    def follow(
        self,
        properties: Mapping[str, object],
        *,
        rows: str,
        trace: str = "",
        key: str = "",
    ) -> None:
        """Make the properties at these paths of the figure's JSON follow the controls."""
        for path, values in properties.items():
            plain = values if isinstance(values, (str, bool)) else np.asarray(values)
            self.live += (Live(trace, path, plain, rows, key),)

    def add_text(self, text: str, **look: object) -> str:
        """Add an annotation, by default above the left end of the panels; `look` as in plotly.

        Returns its path in the figure.
        """
        place = dict(
            x=0,
            y=1,
            xref="paper",
            yref="paper",
            xanchor="left",
            yanchor="bottom",
            showarrow=False,
        )
        self.add_annotation(text=text, **(place | look))
        number = len(self.layout.annotations) - 1
        return f"layout.annotations.{number}"

    def note(self, text: str, *, x: str = "paper", y: str = "paper") -> None:
        """Write in the middle of the figure, or of the panel of the axes x and y; "": nothing.

        It says why values cannot be drawn.  Notes follow the controls, and are part of the figure's
        description for screen readers.
        """
        shown = bool(text)
        path = self.add_text(
            text,
            visible=shown,
            name="note",
            x=0.5,
            y=0.5,
            xref=x,
            yref=y,
            xanchor="center",
            yanchor="middle",
            font=dict(size=13, color=INK),
            bgcolor="#ffffff",
            opacity=0.9,
        )
        self.follow({f"{path}.text": text, f"{path}.visible": shown}, rows="all")
        notes = [self.layout.meta["note"], text.replace("<br>", " ")]
        self.update_layout(meta={**self.layout.meta, "note": " ".join(filter(None, notes))})

    def _repr_mimebundle_(
        self,
        include: object = None,
        exclude: object = None,
        validate: bool = True,
        *,
        config: Mapping[str, object] | None = None,
        **kwargs: object,
    ) -> dict:
        config = {**BUTTONS, **(config or {})}
        return super()._repr_mimebundle_(include, exclude, validate, config=config, **kwargs)

    def _ipython_display_(self) -> None:
        self.show()

    def show(
        self,
        *args: object,
        config: Mapping[str, object] | None = None,
        **kwargs: object,
    ) -> object:
        """Show with flatviz's settings, but for those in `config`; keywords as in plotly."""
        return super().show(*args, config={**BUTTONS, **(config or {})}, **kwargs)

    def write_image(self, *args: object, **kwargs: object) -> None:
        """Write PNG, SVG or PDF, as in plotly, by kaleido."""
        if find_spec("kaleido") is None:
            raise ImportError(
                "write_image needs kaleido: pip install kaleido, or write_html(path) and use the"
                " page's camera"
            )
        super().write_image(*args, **kwargs)


def style(method: str | None, name: str = "posterior") -> Look:
    """Return a method's row of the catalog.

    A method that is not there is grey, with its key as label; None, no method, is dark, with `name`
    as label.
    """
    if method is None:
        return Look("", name, INK, "solid", "circle", "")
    return LOOKS.get(method, Look(method, method, MUTED, "solid", "circle", ""))


def styles(names: Iterable[str | None]) -> dict[str | None, Look]:
    """Return the look of each name; those that are no methods differ in colour and dash."""
    looks = {name: style(name) for name in names}
    others = [name for name in looks if name is not None and name not in LOOKS]
    line_styles = zip(itertools.cycle(COLORS[1:]), itertools.cycle(DASHES))
    for name, (color, dash) in zip(others, line_styles):
        looks[name] = replace(looks[name], color=color, dash=dash)
    return looks


def figure(title: str, alt: str, **layout: object) -> Figure:
    """Build an empty figure in the house style; `alt` describes it for screen readers."""
    house = dict(
        template=_template(),
        title=title,
        meta={"alt": alt, "note": ""},
    )
    return Figure(layout=dict(height=HEIGHT) | house | layout)


def scatter(
    x: Tensor | Sequence,
    y: Tensor | Sequence,
    mode: str,
    name: str,
    hover: str = "",
    legend: bool | None = False,
    **look: object,
) -> go.Scatter:
    """Build a trace of points; `mode` and `look` as in plotly.

    hover: the text at a point under the pointer; without one the pointer ignores the trace.
    legend: whether the legend names the trace; None: where the figure has several traces.
    """
    pointer: Properties = dict(hoverinfo="skip")
    if hover:
        pointer = dict(hovertemplate=f"{hover}<extra></extra>")
    look = pointer | look
    values = {part: numbers(value) for part, value in look.items()}
    return go.Scatter(
        x=numbers(x),
        y=numbers(y),
        mode=mode,
        name=name,
        showlegend=legend,
        **values,
    )


def points(at: Tensor, mode: str, name: str, **look: Property) -> go.Scatter:
    """Build a `scatter` of points (N, 2)."""
    return scatter(at[:, 0], at[:, 1], mode, name, **look)


def band(
    x: Tensor,
    lo: Tensor,
    hi: Tensor,
    color: str,
    opacity: float,
    name: str,
    **look: Property,
) -> go.Scatter:
    """Draw the area between two curves over `x`; `look` as in `scatter`."""
    around = torch.cat([x, x.flip(0)])
    outline = torch.cat([lo, hi.flip(0)])
    red, green, blue = _channels(color)
    return scatter(
        around,
        outline,
        "lines",
        name,
        fill="toself",
        fillcolor=f"rgba({red}, {green}, {blue}, {opacity})",
        line=dict(width=0),
        **look,
    )


def diagonal(end: float = 1.0, name: str = "perfect", width: float = 1.5) -> go.Scatter:
    """Draw the dashed line where both axes are equal, from 0 to `end`."""
    line = dict(color=MUTED, dash="dash", width=width)
    return scatter([0, end], [0, end], "lines", name, line=line)


def axes_of(panel: int) -> Properties:
    """Return the axes of a trace in the panel of this number, from 0, as plotly counts them."""
    number = "" if panel == 0 else str(panel + 1)
    return dict(xaxis=f"x{number}", yaxis=f"y{number}")


def layout_of(panel: int, x: Properties, y: Properties) -> Properties:
    """Return the axes of a panel for the layout of its figure, each anchored at the other."""
    on = axes_of(panel)
    return {
        f"xaxis{on['xaxis'][1:]}": x | dict(anchor=on["yaxis"]),
        f"yaxis{on['yaxis'][1:]}": y | dict(anchor=on["xaxis"]),
    }


def panels(n: int, gap: float) -> list[list[float]]:
    """Return n domains of equal length between 0 and 1, `gap` apart.

    In reverse they are those of rows from the top down.
    """
    wide = (1 - gap * (n - 1)) / n
    starts = [i * (wide + gap) for i in range(n)]
    return [[start, min(start + wide, 1.0)] for start in starts]


def rows_of(
    rows: Sequence[Properties],
    x: Properties,
    title: str,
    gap: float,
) -> Properties:
    """Lay out panels one below the other on one x axis, whose title is below the last.

    rows: the y axis of each.
    """
    axes: Properties = {}
    heights = reversed(panels(len(rows), gap))
    for i, (y, height) in enumerate(zip(rows, heights)):
        last = i == len(rows) - 1
        foot = dict(
            title=title if last else "",
            showticklabels=last,
            matches="x" if i else None,
        )
        axes |= layout_of(i, x | foot, y | dict(domain=height))
    return axes


def numbers(values: object) -> Property:
    """Convert a tensor for plotly; lists and None stay."""
    if not isinstance(values, Tensor):
        return values
    values = values.detach().cpu()
    if values.dtype == torch.bfloat16:  # which numpy does not have
        values = values.float()
    return values.numpy()


def short(value: float) -> str:
    """Write a number in three digits."""
    return f"{value:.3g}"


def _channels(color: str) -> tuple[int, ...]:
    """Return red, green and blue of a colour (hex), 0 to 255."""
    return tuple(bytes.fromhex(color.removeprefix("#")))


def dark_colors() -> dict[str, str]:
    """Map the colour of each method to its colour on a dark ground."""
    return {m.color.lower(): on_dark(m.color) for m in LOOKS.values()}


def on_dark(color: str) -> str:
    """Lighten a colour (hex) to a contrast of 4.5 with the ground of a dark page."""
    ground = _luminance(DARK_PAPER)
    for white in range(0, 100, 2):
        mixed = [round(c * (1 - white / 100) + 2.55 * white) for c in _channels(color)]
        lighter = f"#{bytes(mixed).hex()}"
        if (_luminance(lighter) + 0.05) / (ground + 0.05) >= CONTRAST:
            return lighter
    return "#ffffff"


def _luminance(color: str) -> float:
    """Compute the relative luminance of WCAG 2, 0 to 1."""
    luminance = 0.0
    for channel, weight in zip(_channels(color), (0.2126, 0.7152, 0.0722)):
        c = channel / 255
        linear = c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        luminance += weight * linear
    return luminance


def span_of(values: Tensor) -> tuple[float, float]:
    """Return the lowest and the highest finite value; NaN where none is finite."""
    finite = values[values.isfinite()].double()
    if not len(finite):
        return math.nan, math.nan
    lo, hi = finite.aminmax()
    return float(lo), float(hi)


def room(values: Tensor, margin: float = 0.06) -> list[float]:
    """Return a range for an axis that holds the finite values.

    Values that differ by rounding alone appear as a flat line.
    """
    lo, hi = span_of(values)
    if math.isnan(lo):
        return [-margin, 1 + margin]
    largest = max(abs(lo), abs(hi))
    if hi == lo == 0:
        beside = 1.0
    elif hi - lo <= ROUNDING * largest:
        beside = 0.1 * largest
    else:
        beside = margin * (hi - lo)
    return [lo - beside, hi + beside]


def log_ticks(lo: float, hi: float) -> list[float]:
    """List steps of 1, 2, 5 between lo > 0 and hi, or powers of ten where those are many."""
    first = math.floor(math.log10(lo))
    last = math.ceil(math.log10(hi))
    exponents = range(first, last + 1)
    for multiples in ((1, 2, 5), (1,)):
        steps = [m * 10.0**e for e in exponents for m in multiples]
        inside = [s for s in steps if lo * 0.999 <= s <= hi * 1.001]
        if len(inside) <= 9:
            break
    return inside or [lo, hi]


def even_ticks(lo: float, hi: float) -> list[float]:
    """List about five round positions between lo and hi."""
    if not hi > lo:
        return [lo]
    rough = (hi - lo) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    steps = [m * power for m in (1, 2, 2.5, 5, 10)]
    step = next(step for step in steps if step >= rough * 0.999)
    first = math.ceil(lo / step - 1e-9)
    last = math.floor(hi / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def in_house_style(fig: go.Figure) -> go.Figure:
    """Return a figure of plotly.express on the house's ground, with its fonts and axes.

    Legend and margins stay where they are; a facet's title "column=value" becomes "value".
    """
    template = go.layout.Template(_template())
    template.layout.legend = None
    template.layout.margin = None
    housed = go.Figure(fig, layout_template=template)
    for note in housed.layout.annotations:
        note.text = re.sub(r"^\w+( \w+)*=", "", note.text or "")
    return housed


@lru_cache(maxsize=1)
def _template() -> go.layout.Template:
    line = dict(
        showline=True,
        linecolor=MUTED,
        linewidth=1,
        gridcolor=GRID,
        zeroline=False,
    )
    axis = line | dict(
        ticks="outside",
        tickcolor=MUTED,
        automargin=True,
        title=dict(standoff=8),
    )
    return go.layout.Template(
        layout=dict(
            font=dict(
                family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif",
                size=13,
                color=INK,
            ),
            title=dict(
                x=0,
                xref="paper",
                xanchor="left",
                y=1,
                yanchor="top",
                pad=dict(t=14),
                font=dict(size=15),
            ),
            paper_bgcolor="#ffffff",
            plot_bgcolor="#ffffff",
            margin=MARGIN,
            xaxis=axis,
            yaxis=axis,
            hoverlabel=dict(bgcolor="#ffffff", font=dict(color=INK)),
            legend=dict(
                orientation="h",
                x=0,
                xanchor="left",
                y=1.0,
                yanchor="bottom",
                bgcolor="rgba(255,255,255,0)",
            ),
            colorway=COLORS,
        )
    )
