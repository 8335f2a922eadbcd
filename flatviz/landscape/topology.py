"""Valleys of a surface: its minima, their depths, and where each joins a deeper one."""

import math
from typing import NamedTuple

import torch
from scipy.cluster.hierarchy import DisjointSet
from torch import Tensor
from torch.nn.functional import pad

from flatviz.core import public
from flatviz.results import Persistence, Surface


class Death(NamedTuple):
    """Join of a valley with a deeper one: level, cell, and the deeper one's minimum."""

    level: float
    saddle: int
    elder: int


PADDING = 0  # a cell of the frame around the grid


@public
def persistence(surface: Surface) -> Persistence:
    """Compute the merge tree and 0-dimensional persistence of a surface's sublevel sets.

    As water rises, a valley is born at a minimum and dies where it meets a deeper one (the elder
    rule); the deepest never dies (death = inf).  Neighbours of a cell are all that touch it, also
    at corners. Diverged cells are walls.  Valleys of depth 0 (plateaus cut by the order of equal
    cells) are left out.

    Args:
        surface: Values (U, V) on a grid, as `slice_plane` returns.

    Raises:
        ValueError: For scattered values, or none finite.

    Source: Edelsbrunner & Harer, Computational Topology, ch. VII; union-find over sorted cells.

    Example:
        >>> import torch, flatviz as fv
        >>> plane = fv.Plane(torch.zeros(2), torch.eye(2), "distance")
        >>> wells = lambda w: (w[0] ** 2 - 1) ** 2 + w[1] ** 2 + 0.1 * w[0]
        >>> valleys = fv.landscape.persistence(fv.slice_plane(wells, plane, extent=2.0))
        >>> valleys.count(0.5), [round(d, 1) for d in valleys.depth.tolist()]
        (2, [inf, 0.9])
    """
    if surface.scattered:
        raise ValueError("persistence needs values on a grid, got scattered ones: slice a plane")
    if surface.n_diverged == surface.values.numel():
        raise ValueError(
            f"the surface must have a finite value, got {surface.n_diverged} diverged cells: shrink"
            " the extent"
        )
    # walls around, so that no neighbour is outside
    values = surface.values.detach().double().cpu()
    values = pad(values, (1, 1, 1, 1), value=math.inf)
    flat = values.flatten()
    order = flat.argsort(stable=True)
    height = flat.tolist()
    width = values.shape[1]
    before = [-width - 1, -width, -width + 1, -1]
    steps = [*before, *(-step for step in before)]  # to the eight neighbours
    sets = DisjointSet()  # cells under water
    eldest: dict[int, int] = {}  # root of a set -> its deepest minimum
    rank: dict[int, int] = {}  # minimum -> its number, by rising birth
    deaths: dict[int, Death] = {}  # minimum -> where its valley joins a deeper one
    for cell in order[flat[order].isfinite()].tolist():
        around = [cell + step for step in steps]
        near = [n for n in around if n in sets]
        meeting = {eldest[sets[n]] for n in near}
        minima = sorted(meeting, key=rank.__getitem__)
        sets.add(cell)
        for n in near:
            sets.merge(cell, n)
        if not minima:
            rank[cell] = len(rank)
            minima = [cell]
        elder, *others = minima
        eldest[sets[cell]] = elder
        for younger in others:
            deaths[younger] = Death(height[cell], cell, elder)
    alive = Death(math.inf, PADDING, PADDING)
    ends = {m: deaths.get(m, alive) for m in rank}
    kept = [m for m in rank if ends[m].level > height[m]]
    row_of = {m: i for i, m in enumerate(kept)}

    def parent(m: int) -> int:
        """Return the row of the valley that it joined, skipping those of depth 0; -1 for none."""
        while m in deaths:
            m = deaths[m].elder
            if m in row_of:
                return row_of[m]
        return -1

    def index(cells: list[int]) -> Tensor:
        """Return grid indices (M, 2) without the padding, whose first cell becomes (-1, -1)."""
        padded = torch.unravel_index(torch.tensor(cells), values.shape)
        return torch.stack(padded, 1) - 1

    births = [height[m] for m in kept]
    levels = [ends[m].level for m in kept]
    saddles = [ends[m].saddle for m in kept]
    return Persistence(
        surface,
        birth=torch.tensor(births, dtype=torch.float64),
        death=torch.tensor(levels, dtype=torch.float64),
        minimum=index(kept),
        saddle=index(saddles),
        parent=torch.tensor([parent(m) for m in kept]),
    )
