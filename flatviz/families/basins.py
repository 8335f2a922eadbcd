"""Basins of posteriors along their own sharpest directions, all as wide as suits the flattest."""

from __future__ import annotations

import math
from collections.abc import Sequence

from flatviz.landscape.lanczos import top_eigenpairs
from flatviz.landscape.slices import slice_plane
from flatviz.objectives.nll import MeanNLL
from flatviz.planes.along import plane_eigen
from flatviz.results import Posterior, Spectrum, Surface

RISE = 2.0  # nats, of the quadratic model of the flattest posterior, at the edge of the plane of its sharpest directions


def sharpest_surfaces(f: MeanNLL, posteriors: Sequence[Posterior], resolution: int, seed: int) -> list[Surface]:
    """The surface of each on the plane of the two sharpest directions at its center, all as wide as suits the flattest."""
    spectra = [top_eigenpairs(f, q.center, 2, seed=seed) for q in posteriors]
    flattest = min(float(s.values[0]) for s in spectra)
    reach = math.sqrt(2 * RISE / flattest) if flattest > 0 else 1.0
    return [sharpest_surface(f, q, resolution, reach, seed, s) for q, s in zip(posteriors, spectra)]


def sharpest_surface(
    f: MeanNLL, q: Posterior, resolution: int, reach: float, seed: int, spectrum: Spectrum | None = None
) -> Surface:
    """The surface of one, as far as `reach` in weight space."""
    spectrum = spectrum or top_eigenpairs(f, q.center, 2, seed=seed)
    return slice_plane(f, plane_eigen(q.center, spectrum), extent=reach, resolution=resolution)
