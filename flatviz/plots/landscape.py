"""A loss along a line, and the distance of samples from a plane."""

from collections.abc import Sequence

import plotly.graph_objects as go
import torch

from flatviz.checks import Number
from flatviz.core import public
from flatviz.plots.color import ColorScale, add_color_bar, add_key, add_samples, true_losses
from flatviz.plots.ground import capital, one_or_several, small_print, with_print
from flatviz.plots.theme import (
    COLORS,
    DASHES,
    INK,
    MUTED,
    ROUNDING,
    Figure,
    diagonal,
    figure,
    room,
    scatter,
    short,
    span_of,
    style,
)
from flatviz.results import Curve, Projection


@public
def plot_curve(
    curve: Curve | Sequence[Curve],
    *,
    barrier: bool = True,
    log: bool = False,
    title: str | None = None,
) -> Figure:
    """Draw one or more curves over t, with the barrier: the largest rise above the ends' line.

    Args:
        curve: Result of `slice_line` or `slice_path`, or several of them, on common axes.
        barrier: Whether each curve's barrier is drawn where it is highest.
        log: Whether the values' axis is logarithmic.
        title: Default: the first curve's value and name.

    Raises:
        ValueError: For no curve.

    Example:
        >>> f = lambda w: 1 - (w ** 2).sum()
        >>> curve = fv.slice_line(f, -torch.ones(3), torch.ones(3), resolution=5)
        >>> fig = fv.plot_curve(curve)
        >>> fig.data[1].text[1]
        'barrier 3'
    """
    curves = one_or_several(curve)
    first = curves[0]
    alt = "; ".join(f"{c.name or c.y_label}: barrier {short(c.barrier)}" for c in curves)
    title = title or f"{capital(first.y_label)} along {first.name or 'the line'}"
    x_title = with_print(first.x_label, small_print(*curves))
    y = dict(title=first.y_label, type="log" if log else "linear")
    fig = figure(title, alt, xaxis_title=x_title, yaxis=y)
    values = torch.cat([c.values for c in curves])
    lo, hi = span_of(values)
    if not log and hi - lo <= ROUNDING * max(abs(lo), abs(hi)):
        fig.update_yaxes(range=room(values))  # so that rounding does not look like a landscape
    for i, c in enumerate(curves):
        color = COLORS[(i + 1) % len(COLORS)]
        name = c.name or f"curve {i + 1}"
        dash = DASHES[(i + i // len(COLORS)) % len(DASHES)]
        line = dict(color=color, width=2, dash=dash)
        hover = f"{name}<br>{c.x_label} %{{x:.3g}}: %{{y:.4g}}"
        fig.add_trace(
            scatter(
                c.t,
                c.values,
                "lines+markers",
                name,
                legend=len(curves) > 1,
                hover=hover,
                marker=dict(size=4, color=color),
                line=line,
            )
        )
        if barrier and c.barrier > ROUNDING * float(c.values.abs().max()):
            fig.add_trace(_barrier(c))
    return fig


def _barrier(c: Curve) -> go.Scatter:
    """Draw an upright line from the ends' line to the curve, where the gap is largest."""
    gap = (c.values - c.line).nan_to_num(-torch.inf)
    top = int(gap.argmax())
    t = float(c.t[top])
    return scatter(
        [t, t],
        [float(c.line[top]), float(c.values[top])],
        "lines+text",
        "barrier",
        line=dict(color=MUTED, width=1.5, dash="dot"),
        text=["", f"barrier {short(c.barrier)}"],
        textposition="top center",
        textfont=dict(color=INK, size=12),
    )


# px
SIZE = 9.0
WIDTH = 640


@public
def plot_projection(
    projection: Projection,
    *,
    method: str | None = None,
    color_range: tuple[Number, Number] | None = None,
    log: bool | None = None,
    color_bar: bool = True,
    title: str = "Distance in the plane and off it",
) -> Figure:
    """Draw the distance of each sample from the plane's origin, in the plane and off it.

    Samples are filled by method and ringed by true loss.  Above the dashed line they are further
    off the plane than from the origin in it.

    Args:
        projection: Samples (S, 2) on a plane, from `project`; both axes have its unit of distance
            in weight space.
        method: Key in `fv.METHODS` that gives the samples their fill and the legend its entry;
            None: ink.
        color_range: (lowest, highest) loss that the colours show, to share them with other figures;
            default: the samples'.
        log: Whether colours count in powers of ten; default: where all values are positive and span
            a decade.
        color_bar: Whether the bar is drawn; a figure beside another one with the same colours needs
            none.
        title: Title of the figure.

    Example:
        >>> plane = fv.plane_through(torch.zeros(3), torch.eye(3)[0], torch.eye(3)[1])
        >>> fig = fv.plot_projection(fv.project(torch.tensor([[3.0, 4.0, 2.0]]), plane))
        >>> fig.data[-1].y.tolist()  # off the plane
        [2.0]
    """
    inside = (projection.coords @ projection.plane.axes).norm(dim=1)
    farthest = torch.maximum(inside.max(), projection.distance.max())
    reach = 1.08 * float(farthest)
    alt = (
        f"median distance off the plane {projection.distance.median():.3g}, within it"
        f" {inside.median():.3g}"
    )
    x = dict(
        title=with_print("in the plane", "both axes: distance in weight space"),
        range=[0, reach],
        constrain="domain",
    )
    y = dict(title="off the plane", range=[0, reach], scaleanchor="x")
    fig = figure(title, alt, xaxis=x, yaxis=y)
    fig.add_trace(diagonal(reach, "equal", width=1))
    values = true_losses(projection)
    scale = None
    if bool(values.isfinite().any()):
        scale = ColorScale.over(values, color_range, log)
    if method is not None:
        add_key(fig, style(method))
    if scale is not None and color_bar:
        add_color_bar(fig, scale, f"{projection.label}, rings")
    hover = "in %{x:.3g}, off %{y:.3g}<br>true loss %{customdata:.3g}"
    where = torch.stack([inside, projection.distance], 1)
    add_samples(fig, where, SIZE, values, scale, style(method), customdata=values, hover=hover)
    return fig.update_layout(width=WIDTH)
