"""Valleys of a surface: its minima, their depths, and where each joins a deeper one."""

import math

import torch
from scipy.cluster.hierarchy import DisjointSet
from torch import Tensor
from torch.nn.functional import pad

from flatviz.core import public
from flatviz.results import Persistence, Surface


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
    above = [-width - 1, -width, -width + 1, -1]
    steps = [*above, *(-step for step in above)]
    sets = DisjointSet()  # cells under water
    eldest: dict[int, int] = {}  # root of a set -> its deepest minimum
    rank: dict[int, int] = {}  # minimum -> its number, by rising birth
    died: dict[int, tuple[float, int, int]] = {}
    for cell in order[flat[order].isfinite()].tolist():
        around = [cell + step for step in steps]
        near = [n for n in around if n in sets]
        meeting = {eldest[sets[n]] for n in near}
        tops = sorted(meeting, key=rank.__getitem__)
        sets.add(cell)
        for n in near:
            sets.merge(cell, n)
        if not tops:
            rank[cell] = len(rank)
        eldest[sets[cell]] = tops[0] if tops else cell
        for younger in tops[1:]:
            died[younger] = (height[cell], cell, tops[0])
    deaths = {m: died.get(m, (math.inf, -1, -1)) for m in rank}
    kept = [m for m in rank if deaths[m][0] > height[m]]
    place = {m: i for i, m in enumerate(kept)}
    levels = [deaths[m][0] for m in kept]
    saddles = [deaths[m][1] for m in kept]

    def parent(m: int) -> int:
        """Return the valley that it joined, skipping valleys of depth 0."""
        while m in died:
            m = died[m][2]
            if m in place:
                return place[m]
        return -1

    def index(cells: list[int]) -> Tensor:
        """Return grid indices (M, 2), -1 where there is no cell."""
        at = torch.tensor(cells).clamp_min(0)
        places = torch.unravel_index(at, values.shape)
        return torch.stack(places, 1) - 1

    births = [height[m] for m in kept]
    return Persistence(
        surface,
        birth=torch.tensor(births, dtype=torch.float64),
        death=torch.tensor(levels, dtype=torch.float64),
        minimum=index(kept),
        saddle=index(saddles),
        parent=torch.tensor([parent(m) for m in kept]),
    )
