"""Parts shared by figures: contours, diverged cells, titles, axes with units, small print."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import plotly.graph_objects as go
import torch
from torch import Tensor

from flatviz.noun import Noun
from flatviz.plots.color import ColorScale
from flatviz.plots.theme import (
    HEIGHT,
    LOSS_SCALE,
    MARGIN,
    MUTED,
    Figure,
    Properties,
    figure,
    numbers,
    scatter,
    short,
    span_of,
)
from flatviz.results import Curve, Plane, Projection, Spectrum, Surface

T = TypeVar("T", bound=Noun | Tensor)
RING = 48  # number of points of an ellipse
VALUE = "(%{x:.3g}, %{y:.3g}): %{customdata:.3g}"  # text at the point under the pointer


def ground(
    surface: Surface,
    scale: ColorScale,
    title: str,
    alt: str,
) -> Figure:
    """Build a figure of a surface: filled contours, with diverged cells marked, to draw on."""
    axes = plane_axes(surface.plane, small_print(surface))
    fig = figure(title, alt, **axes, width=width_of(surface, title))
    if surface.scattered:
        marker = scale.marker(surface.values)
        marker |= dict(
            showscale=True,
            colorbar=scale.bar(surface.label),
            size=8,
            symbol="square",
        )
        squares = scatter(
            surface.a,
            surface.b,
            "markers",
            "surface",
            marker=marker,
            customdata=surface.values,
            hover=VALUE,
        )
        fig.add_trace(squares)
    else:
        add_contour(fig, surface, scale)
    if surface.n_diverged:
        fig.add_trace(diverged(surface))
    return fig


def add_contour(fig: Figure, surface: Surface, scale: ColorScale) -> None:
    """Add filled contours, which follow the controls, with gaps at diverged cells."""
    start, end = scale.ends
    finite = surface.finite.T
    step = max((end - start) / 18, 1e-9)
    contour = go.Contour(
        x=numbers(surface.a),
        y=numbers(surface.b),
        z=numbers(scale(finite)),
        customdata=numbers(finite),
        contours=dict(start=start, end=end, size=step),
        zmin=start,
        zmax=end,
        colorscale=LOSS_SCALE,
        colorbar=scale.bar(surface.label),
        line=dict(width=0.6, color="rgba(255,255,255,0.45)"),
        hovertemplate=f"{VALUE}<extra></extra>",
        name="surface",
    )
    fig.add_live(contour, "z", "customdata", keys=keys_of(scale))


def keys_of(scale: ColorScale) -> dict[str, str]:
    """Name the arrays that map and relief share: "ground" on the scale, "values" in their unit.

    On a linear scale both are one array.
    """
    in_unit = "values" if scale.log or scale.root else "ground"
    return {"z": "ground", "customdata": in_unit}


def diverged(surface: Surface) -> go.Scatter:
    """Draw a small cross on each cell without a finite value."""
    a = surface.a
    b = surface.b
    if not surface.scattered:
        a, b = torch.meshgrid(a, b, indexing="ij")
    bad = ~torch.isfinite(surface.values)
    cross = dict(symbol="x-thin", size=6, line=dict(color=MUTED, width=1))
    return scatter(a[bad], b[bad], "markers", "diverged", marker=cross)


def check_on(surface: Surface, projection: Projection | None) -> None:
    """Check that a projection is on the surface's plane, or on an equal one, as from a file."""
    if projection is None or projection.plane is surface.plane:
        return
    here = surface.plane
    there = projection.plane
    are_equal = torch.equal(here.origin, there.origin) and torch.equal(here.axes, there.axes)
    if not are_equal:
        raise ValueError(
            "projection and surface live in different planes: project onto surface.plane"
        )


def plane_axes(plane: Plane, below: str = "") -> dict:
    """Describe axes whose titles say what a step is, with `below` under them.

    They have equal aspect only where distance in the figure is distance in weight space.
    """
    first, second = axis_titles(plane)
    x = dict(title=with_print(first, axis_note(plane), below), constrain="domain")
    y: Properties = dict(title=second, constrain="domain")
    if plane.orthonormal:
        y |= dict(scaleanchor="x", scaleratio=1)
    return dict(xaxis=x, yaxis=y)


def width_of(surface: Surface, title: str = "") -> int:
    """Compute the width in px at which a plot of default height is as wide as its plane.

    The colour bar is then beside it.  Pages, which place a figure in columns, ignore it.
    """
    aspect = 1.0
    if surface.plane.orthonormal:
        across = float(surface.a.max() - surface.a.min())
        upward = float(surface.b.max() - surface.b.min())
        aspect = across / max(upward, 1e-12)
    tall = HEIGHT - MARGIN["t"] - 88  # px: axis title with two lines of small print
    plane = round(min(max(tall * aspect, 320), 900))
    beside = 190  # px, of the axis and the colour bar with its title
    return max(plane + beside, 80 + 8 * len(title))


def ellipse(covariance: Tensor, center: Tensor) -> Tensor:
    """Compute points (RING + 1, 2) with (c - center)^T covariance^-1 (c - center) = 1."""
    angle = torch.linspace(0, 2 * torch.pi, RING + 1, dtype=torch.float64)
    circle = torch.stack([angle.cos(), angle.sin()], 1)
    # A flat ellipse has no Cholesky factor
    values, vectors = torch.linalg.eigh(covariance.double())
    # the symmetric root, so that ellipses in an animation from one to another are ellipses
    root = (vectors * values.clamp_min(0).sqrt()) @ vectors.T
    return center.double() + circle @ root


def axis_titles(plane: Plane) -> list[str]:
    """Name each axis, with its share of the variance of draws, or of a squared distance."""
    titles = ["axis 1", "axis 2"]
    for i, share in enumerate(plane.explained or ()):
        titles[i] += f" ({100 * share:.0f} % of {plane.share_of})"
    return titles


def axis_note(plane: Plane) -> str:
    """Describe the unit, and for oblique or scaled axes their lengths and angle."""
    if plane.orthonormal:
        return f"unit: {plane.unit}"
    first, second = map(short, plane.lengths)
    return f"unit: {plane.unit}<br>axes {first} and {second} long, {plane.angle:.0f}° apart"


def with_print(title: str, *lines: str) -> str:
    """Add small print below an axis title, without empty lines."""
    below = "<br>".join(filter(None, lines))
    if below:
        return f"{title}<br><span style='font-size:11px;color:{MUTED}'>{below}</span>"
    return title


def small_print(*results: Surface | Curve | Spectrum) -> str:
    """Describe examples, BatchNorm statistics, diverged cells and precision of results.

    Facts that several results share are written once.
    """
    facts = dict.fromkeys(" · ".join(_facts(result)) for result in results)  # each once
    lines = [" / ".join(filter(None, facts))]
    lines += [_precision(r) for r in results if isinstance(r, Surface)]
    return "<br>".join(filter(None, lines))


def _facts(result: Surface | Curve | Spectrum) -> list[str]:
    facts = []
    if result.n:
        facts.append(f"mean over {counted(result.n, 'example')}")
    if result.batchnorm:
        facts.append(f"BatchNorm {result.batchnorm}")
    if isinstance(result, Surface) and result.n_diverged:
        facts.append(f"{counted(result.n_diverged, 'cell')} diverged (×)")
    return facts


def _precision(surface: Surface) -> str:
    """Describe a reduced precision and its measured error, on a separate line."""
    if surface.precision is None:
        return ""
    error = "" if surface.error is None else f", off by at most {surface.error:.2g} where checked"
    return f"computed in {surface.precision}{error}"


def title_of(surface: Surface) -> str:
    """Title a surface: its quantity and plane."""
    return f"{capital(surface.label)}, {surface.plane.name}"


def capital(text: str) -> str:
    """Begin a text with a capital, and keep the other letters."""
    return text[0].upper() + text[1:]


def ends_text(surface: Surface) -> str:
    """Write the lowest and the highest finite value."""
    lo, hi = span_of(surface.values)
    return f"from {short(lo)} to {short(hi)}"


def matrix_of(spectrum: Spectrum) -> str:
    """Name the matrix of the eigenvalues."""
    names = {"hessian": "Hessian", "ggn": "Gauss-Newton", "fisher": "empirical Fisher"}
    return names[spectrum.curvature]


def counted(n: int, thing: str) -> str:
    """Join a number and its noun: 1 valley, 2 valleys."""
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def one_or_several(value: T | Sequence[T]) -> list[T]:
    """Return a list of results, from one or a sequence of them."""
    return list(value) if isinstance(value, Sequence) else [value]


def by_method(value: T | Mapping[str, T], wanted: str) -> dict[str | None, T]:
    """Return method -> result, from a mapping, or from one result (of no method: None).

    Raises:
        ValueError: For no result; `wanted` describes it.
    """
    if not isinstance(value, Mapping):
        return {None: value}
    if not value:
        raise ValueError(f"a figure by method needs at least one {wanted}, got none")
    return dict(value.items())


def mean_lambda1(spectra: Sequence[Spectrum]) -> float:
    """Compute the largest eigenvalue, averaged over draws."""
    largest = [float(spectrum.values[0]) for spectrum in spectra]
    return sum(largest) / len(largest)
