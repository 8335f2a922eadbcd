"""Basins of posteriors along their own sharpest directions, all as wide as suits the widest."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from flatviz.core.objective import Objective
from flatviz.landscape.lanczos import top_eigenpairs
from flatviz.landscape.slices import slice_plane
from flatviz.objectives.nll import MeanNLL
from flatviz.planes.along import plane_eigen
from flatviz.results import Posterior, Spectrum, Surface

RISE = 2.0  # nats above the center, at the edge of the plane
TICKS = 64  # distances at which the rise is looked for, along each half of an axis


def sharpest_surfaces(f: MeanNLL, posteriors: Sequence[Posterior], resolution: int, seed: int) -> list[Surface]:
    """The surface of each on the plane of the two sharpest directions at its center, all as wide as the widest basin."""
    spectra = [top_eigenpairs(f, q.center, 2, seed=seed) for q in posteriors]
    reach = max(rise_distance(f, q.center, s) for q, s in zip(posteriors, spectra))
    return [sharpest_surface(f, q, resolution, reach, seed, s) for q, s in zip(posteriors, spectra)]


def sharpest_surface(
    f: MeanNLL, q: Posterior, resolution: int, reach: float, seed: int, spectrum: Spectrum | None = None
) -> Surface:
    """The surface of one, as far as `reach` in weight space."""
    spectrum = spectrum or top_eigenpairs(f, q.center, 2, seed=seed)
    return slice_plane(f, plane_eigen(q.center, spectrum), extent=reach, resolution=resolution)


def rise_distance(f: Objective, center: Tensor, spectrum: Spectrum) -> float:
    """How far along the first two axes of `spectrum` f has risen by `RISE`, the farthest of the four directions.

    At most the distance at which the quadratic model has: a confident network has hardly any curvature at its center, and
    its loss grows all the same.
    """
    largest = float(spectrum.values[0])
    model = math.sqrt(2 * RISE / largest) if largest > 0 else 1.0
    far = torch.linspace(0, model, TICKS + 1, dtype=center.dtype, device=center.device)[1:]
    least, reached = float(f(center)) + RISE, []
    for axis in (sign * vector for vector in spectrum.vectors[:2].to(center) for sign in (1, -1)):
        risen = (~(f.many(center + far[:, None] * axis) < least)).nonzero()
        reached.append(float(far[risen[0]]) if len(risen) else model)
    return max(reached)
