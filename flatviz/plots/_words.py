"""What a picture shows, in sentences: axes, unit, normalisation, data, BatchNorm mode, what is left out."""

from __future__ import annotations

import torch

from flatviz.results import Curve, Persistence, Plane, Projection, Spectrum, Surface


def words(result: object) -> str:
    """The text of `explain` for one noun."""
    if isinstance(result, Surface):
        return _surface(result)
    if isinstance(result, Curve):
        return _curve(result)
    if isinstance(result, Spectrum):
        return _spectrum(result)
    if isinstance(result, Projection):
        return _projection(result)
    if isinstance(result, Persistence):
        return _persistence(result)
    if isinstance(result, Plane):
        return _plane(result)
    names = "Surface, Curve, Spectrum, Projection, Persistence, Plane"
    raise TypeError(f"explain takes a result ({names}), got {type(result).__name__}")


def title_of(surface: Surface) -> str:
    """What is drawn over which plane."""
    return f"{surface.label[0].upper()}{surface.label[1:]}, {surface.plane.name}"


def words_over(surface: Surface, projection: Projection | None) -> str:
    """The text of a surface with weight vectors on it; their plane is described once."""
    return _surface(surface) + ("" if projection is None else f" {_shadows(projection)}")


def _data(n: int | None, batchnorm: str | None) -> str:
    mean = f"Each value is over {n} examples. " if n else ""
    if batchnorm == "re-estimated":
        return mean + "BatchNorm statistics were re-estimated at every point."
    if batchnorm == "frozen":
        return mean + "BatchNorm statistics are the network's own at every point, frozen."
    return mean + "There is no BatchNorm."


def _plane(p: Plane) -> str:
    size = ", ".join(f"{x:.3g}" for x in p.lengths)
    axes = f"x and y count in: {p.unit}."
    if p.orthonormal:
        axes += " The axes are orthonormal, so distance in the picture is distance in weight space."
    else:
        axes += f" One unit is {size} long in weight space along each axis; the first two stand at {p.angle:.0f} degrees."
    if p.explained:
        axes += f" They hold {100 * sum(p.explained):.0f} % of the variance; the rest is not in the picture."
    return f"{p.name[0].upper()}{p.name[1:]}, {p.origin.numel()} weights. {axes}"


def _surface(s: Surface) -> str:
    finite = s.values[torch.isfinite(s.values)]
    shape = " x ".join(map(str, s.values.shape))
    text = f"{s.label} at {shape} points of a plane. {_plane(s.plane)} {_data(s.n, s.batchnorm)}"
    if len(finite):
        text += f" Values run from {finite.min():.3g} to {finite.max():.3g}."
    if s.n_diverged:
        text += f" {s.n_diverged} cells diverged and are marked, not filled in."
    if s.error is not None:
        text += f" Computed in {s.precision}: off by at most {s.error:.2g} where it was checked."
    return text


def _curve(c: Curve) -> str:
    text = f"{c.y_label} against {c.x_label} at {len(c.t)} points"
    text += f" of a {c.name}. " if c.name else ". "
    if c.W is not None:
        text += f"Both ends stand still, {len(c.W) - 2} control vectors between them were trained. "
    return text + f"The highest rise above the line between the ends is {c.barrier:.3g}. {_data(c.n, c.batchnorm)}"


def _spectrum(s: Spectrum) -> str:
    kind = {"hessian": "Hessian", "ggn": "generalised Gauss-Newton matrix", "fisher": "empirical Fisher matrix"}[s.curvature]
    text = f"The {len(s.values)} eigenvalues of the {kind} nearest its end, from {s.n_products} products with it. "
    text += f"An eigenvalue lies within {float(s.residual.max()):.1e} of each (the residual). "
    if s.nodes is not None:
        text += f"The density is {len(s.nodes)} atoms of stochastic Lanczos: the share of all eigenvalues about each value. "
    return text + _data(s.n, s.batchnorm)


def _projection(p: Projection) -> str:
    return f"{_shadows(p)} {_plane(p.plane)}"


def _shadows(p: Projection) -> str:
    text = f"{len(p.coords)} weight vectors seen on the plane lie {p.distance.min():.3g} to {p.distance.max():.3g} off it; "
    text += "a picture shows their shadows."
    if p.spread is not None:
        text += f" The ellipse is a Gaussian's covariance in the plane; its draws lie {p.spread:.3g} off it (root mean square)."
    return text if p.values is None else f"{text} Colours are {p.label} at the vectors themselves."


def _persistence(p: Persistence) -> str:
    deep = p.depth[torch.isfinite(p.depth)]
    text = f"{len(p.birth)} valleys of {p.surface.label}: each begins at its minimum and ends where it meets a deeper one. "
    text += f"The deepest of those that end is {deep.max():.3g} deep. " if len(deep) else ""
    return text + _surface(p.surface)
