"""The basin around a posterior's center: the rise of the loss above its value there."""

from dataclasses import replace

import plotly.graph_objects as go
import torch

from flatviz.checks import Number
from flatviz.core import public
from flatviz.plots.color import ColorScale
from flatviz.plots.ground import ground
from flatviz.plots.surfaces import plot_relief
from flatviz.plots.theme import INK, Figure, numbers, scatter, short
from flatviz.results import Surface

LEVEL = 0.5  # nats above the center, of the bold contour, whose area is measured


@public
def plot_basin(
    surface: Surface,
    *,
    color_range: tuple[Number, Number] | None = None,
    title: str | None = None,
) -> Figure:
    """Draw the rise of the loss above that of the plane's origin, as filled contours.

    Colours are in square roots of the rise, so that a quadratic bowl is a cone with rings at equal
    distances.  The bold contour is where the loss has risen by `LEVEL`, 0.5; the share of the plane
    inside it is written under the figure, and the loss at the center, which no colour shows.

    Args:
        surface: Values on a grid (A, B) around the plane's origin, which must be a point of the
            grid.
        color_range: (lowest, highest) rise that the colours show, to share them with other figures;
            default: from 0 to the highest, without the highest few where they would take much of
            the scale.
        title: Default: what is drawn over which plane.

    Raises:
        ValueError: For scattered values, or a grid without the origin.

    Example:
        >>> plane = fv.Plane(torch.zeros(3), torch.eye(3)[:2], "distance in weight space")
        >>> f = lambda w: 3 + (w ** 2).sum()
        >>> fig = fv.plots.plot_basin(fv.slice_plane(f, plane, extent=1.0, resolution=5))
        >>> rise = fig.data[0].customdata  # above 3, the value at the origin
        >>> float(rise.min()), float(rise.max())
        (0.0, 2.0)
    """
    rise = above_center(surface)
    scale = scale_of_rises(rise, color_range) if color_range else basin_scale([rise])
    floor = center_of(surface)
    share = basin_share(rise)
    alt = (
        f"{surface.label} above its value at the center, {short(floor)}; {_percent(share)} of the"
        f" plane rise by less than {LEVEL:g}"
    )
    fig = ground(rise, scale, title or f"Rise above the center, {surface.plane.name}", alt)
    _add_level(fig, rise, scale)
    center = dict(
        symbol="cross-thin",
        size=11,
        line=dict(color="#fefefe", width=2),
    )
    fig.add_trace(scatter([0], [0], "markers", "center", marker=center))
    note = (
        f"center at {short(floor)}<br>inside the bold line (+ {LEVEL:g}): {_percent(share)} of the"
        " plane"
    )
    # The end of the colour bar
    path = fig.add_text(note, font=dict(size=12), align="left", yshift=8)
    fig.follow({f"{path}.text": note}, rows="all")
    return fig.update_layout(margin=dict(t=86))


def plot_basin_3d(surface: Surface, *, color_range: tuple[float, float], title: str) -> Figure:
    """Draw `plot_basin` in relief, with heights in square roots of the rise.

    Heights end with the scale, and follow the controls.
    """
    rise = above_center(surface)
    return plot_relief(rise, scale_of_rises(rise, color_range), title)


def above_center(surface: Surface) -> Surface:
    """Subtract the value at the plane's origin from a surface."""
    if surface.scattered:
        raise ValueError(
            f"a basin needs values on a grid of two axes, got shape {tuple(surface.values.shape)}"
        )
    label = f"{surface.label} above the center"
    rise = surface.values - center_of(surface)
    return replace(surface, values=rise, label=label)


def center_of(surface: Surface) -> float:
    """Return the value at the plane's origin; a ValueError where the grid does not have it."""
    i = int(surface.a.abs().argmin())
    j = int(surface.b.abs().argmin())
    for ticks in (surface.a, surface.b):
        step = ticks.diff().abs().max()
        if bool(ticks.abs().min() > 1e-4 * step):
            raise ValueError(
                "the plane's origin must be on the grid, got one beside it: take a symmetric"
                " extent, odd resolution"
            )
    return float(surface.values[i, j])


def basin_share(rise: Surface) -> float:
    """Compute the share of cells with a rise below `LEVEL`; a diverged cell has none."""
    return float((rise.values < LEVEL).double().mean())


def scale_of_rises(rise: Surface, color_range: tuple[float, float]) -> ColorScale:
    """Build the colour scale of `color_range`, which marks rises below or above it."""
    values = rise.values[rise.values.isfinite()]
    lo, hi = color_range
    below = bool((values < lo - 1e-6).any())
    above = bool((values > hi).any())
    return ColorScale(lo, hi, root=True, below=below, above=above)


def basin_scale(rises: list[Surface]) -> ColorScale:
    """Build one scale for several basins, from 0 to where nine cells in ten of all lie.

    Half of each basin lies within it, so that no figure is mostly at the end of the scale.
    """
    finite = []
    for rise in rises:
        values = rise.values[rise.values.isfinite()]
        finite.append(values.double())
    pooled = torch.cat(finite)
    top = float(pooled.max())
    if len(rises) > 1:
        medians = [float(values.median()) for values in finite]
        top = max(float(pooled.quantile(0.9)), *medians)
    everything = replace(rises[0], values=pooled, a=pooled, b=pooled)
    return scale_of_rises(everything, (0.0, top or 1.0))


def _add_level(fig: Figure, rise: Surface, scale: ColorScale) -> None:
    """Add the bold contour, which follows the controls."""
    level = torch.tensor(LEVEL, dtype=torch.float64)
    at = float(scale(level))
    heights = scale(rise.finite.T)
    white = dict(color="#ffffff", width=3)
    dark = dict(color=INK, width=1.5)
    for name, line in (("level rim", white), ("level", dark)):
        contour = go.Contour(
            x=numbers(rise.a),
            y=numbers(rise.b),
            z=numbers(heights),
            contours=dict(start=at, end=at, size=1, coloring="none"),
            name=name,
            line=line,
            showlegend=False,
            showscale=False,
            hoverinfo="skip",
        )
        fig.add_live(contour, "z", keys={"z": "ground"})


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %" if share else "none"
