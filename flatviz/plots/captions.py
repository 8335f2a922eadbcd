"""Sentences on what a picture shows: axes, unit, normalisation, data, BatchNorm mode, what is left out."""

from __future__ import annotations

import torch

from flatviz.core.boundary import public
from flatviz.results import Curve, Persistence, Plane, Projection, Spectrum, Surface


@public
def explain(result: object) -> str:
    """What a result or figure shows: x and y, their unit and normalisation, the data, the BatchNorm mode, what is hidden.

    Args:
        result: A Surface, Curve, Spectrum, Projection, Persistence or Plane; or a figure that flatviz drew.

    Raises:
        TypeError: For anything else.

    Example:
        >>> plane = fv.Plane(torch.zeros(3), torch.eye(3)[:2], "distance in weight space", "a plane")
        >>> fv.explain(plane)[:74]
        'A plane, 3 weights. x and y count in: distance in weight space. The axes a'
    """
    meta = getattr(getattr(result, "layout", None), "meta", None)
    if isinstance(meta, dict):
        return meta.get("explain") or meta["alt"]
    return words(result)


def words(result: object) -> str:
    """The text of `explain` for one noun."""
    if type(result) in TEXTS:
        return TEXTS[type(result)](result)
    names = ", ".join(kind.__name__ for kind in TEXTS)
    raise TypeError(f"explain takes a result ({names}), got {type(result).__name__}")


def title_of(surface: Surface) -> str:
    """What is drawn over which plane."""
    return f"{surface.label[0].upper()}{surface.label[1:]}, {surface.plane.name}"


def ends_text(surface: Surface) -> str:
    """The lowest and the highest finite value."""
    finite = surface.values[torch.isfinite(surface.values)]
    return f"from {finite.min():.3g} to {finite.max():.3g}"


def words_over(surface: Surface, projection: Projection | None, *, by: str = "Colours") -> str:
    """The text of a surface with weight vectors on it, whose plane is described once; `by` what shows their values."""
    return _surface(surface) + ("" if projection is None else f" {_shadows(projection, by)}")


def share_of(plane: Plane) -> str:
    """What `explained` is a share of: variance where the origin is the mean (PCA of draws), else squared distance."""
    draws = plane.name.startswith("PCA") and "path" not in plane.name
    return "variance" if draws else "squared distance"


def ends_of(spectrum: Spectrum) -> str:
    """Which end of the spectrum was asked for: the order of the values says it."""
    return "smallest" if spectrum.values[0] < spectrum.values[-1] else "largest"


def matrix_of(spectrum: Spectrum) -> str:
    """Of which matrix the eigenvalues are."""
    return {"hessian": "Hessian", "ggn": "Gauss-Newton", "fisher": "empirical Fisher"}[spectrum.curvature]


def counted(n: int, thing: str) -> str:
    """1 valley, 2 valleys."""
    return f"{n} {thing}{'s' * (n != 1)}"


def _data(n: int | None, batchnorm: str | None) -> str:
    if n is None and batchnorm is None:
        return "The function says nothing of its data or of BatchNorm."
    mean = f"Each value is over {counted(n, 'example')}. " if n else ""
    if batchnorm == "re-estimated":
        return mean + "BatchNorm statistics were re-estimated at every point."
    if batchnorm == "frozen":
        return mean + "BatchNorm statistics are the network's own at every point, frozen."
    return mean + "No BatchNorm statistics are recorded."


def _plane(p: Plane) -> str:
    size = ", ".join(f"{x:.3g}" for x in p.lengths)
    letters = {2: "x and y", 3: "x, y and z"}.get(len(p.axes), f"The {len(p.axes)} axes")
    axes = f"{letters} count in: {p.unit}."
    if p.orthonormal:
        axes += " The axes are orthonormal, so distance in the picture is distance in weight space."
    else:
        axes += f" One unit is {size} long in weight space along each axis; the first two stand at {p.angle:.0f} degrees."
    if p.explained:
        whole = {"variance": "variance", "squared distance": "squared distance from the origin"}[share_of(p)]
        axes += f" They hold {100 * sum(p.explained):.0f} % of the {whole}; the rest is not in the picture."
    return f"{p.name[0].upper()}{p.name[1:]}, {counted(p.origin.numel(), 'weight')}. {axes}"


def _surface(s: Surface, diverged: str | None = None) -> str:
    diverged = diverged or ("marked, and counted as the highest value" if s.more else "marked, not filled in")
    finite = s.values[torch.isfinite(s.values)]
    shape = " x ".join(map(str, s.values.shape)) + " scattered" * s.scattered
    text = f"{s.label} at {shape} points of a {'volume' if s.more else 'plane'}. {_plane(s.plane)} {_data(s.n, s.batchnorm)}"
    if len(finite):
        text += f" Values run {ends_text(s)}."
    if s.n_diverged:
        text += f" {counted(s.n_diverged, 'cell')} diverged: {diverged}."
    if s.precision is not None:
        text += f" Computed in {s.precision}"
        text += "." if s.error is None else f": off by at most {s.error:.2g} where it was checked."
    return text


def _curve(c: Curve) -> str:
    text = f"{c.y_label} against {c.x_label} at {len(c.t)} points"
    text += f" of a {c.name}. " if c.name else ". "
    if c.W is not None:
        text += f"Both ends stand still, with {counted(len(c.W) - 2, 'trained control vector')} between them. "
    return text + f"The highest rise above the line between the ends is {c.barrier:.3g}. {_data(c.n, c.batchnorm)}"


def _spectrum(s: Spectrum) -> str:
    k = len(s.values)
    which = f"The {k} {ends_of(s)} eigenvalues" if k > 1 else "One eigenvalue"
    text = f"{which} of the {matrix_of(s)} matrix, from {counted(s.n_products, 'product')} with it. "
    text += f"An eigenvalue lies within {float(s.residual.max()):.1e} of {'each' if k > 1 else 'it'} (the residual). "
    if s.nodes is not None:
        text += f"The density is {len(s.nodes)} atoms of stochastic Lanczos: the share of all eigenvalues about each value. "
    return text + _data(s.n, s.batchnorm)


def _projection(p: Projection) -> str:
    return f"{_shadows(p)} {_plane(p.plane)}"


def _shadows(p: Projection, by: str = "Colours") -> str:
    one = len(p.coords) == 1
    off = f"{p.distance.max():.3g}" if one else f"{p.distance.min():.3g} to {p.distance.max():.3g}"
    text = f"{counted(len(p.coords), 'weight vector')} seen on the plane {'lies' if one else 'lie'} {off} off it; "
    text += f"a picture shows {'its shadow' if one else 'their shadows'}."
    if p.spread is not None:
        text += f" The ellipse is a Gaussian's covariance in the plane; its draws lie {p.spread:.3g} off it (root mean square)."
    return text if p.values is None else f"{text} {by} are {p.label} at the vectors themselves."


def _persistence(p: Persistence) -> str:
    deep = p.depth[torch.isfinite(p.depth)]
    n = len(p.birth)
    text = f"{counted(n, 'valley')} of {p.surface.label}"
    text += ": each begins at its minimum and ends where it meets a deeper one. " if n > 1 else "; it does not end. "
    text += f"The deepest of those that end is {deep.max():.3g} deep. " if len(deep) else ""
    return text + _surface(p.surface, "no valley spreads there")


TEXTS = {
    Surface: _surface,
    Curve: _curve,
    Spectrum: _spectrum,
    Projection: _projection,
    Persistence: _persistence,
    Plane: _plane,
}
