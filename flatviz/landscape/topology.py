"""Valleys of a surface: which minima there are, how deep, and where each joins a deeper one."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from flatviz.core.boundary import public
from flatviz.results import Persistence, Surface


@public
def persistence(surface: Surface) -> Persistence:
    """Merge tree and 0-dimensional persistence of the sublevel sets of a surface or volume on a grid.

    Water rises: a valley is born at a minimum and dies where it meets a deeper one (the elder rule); the deepest never
    dies (death = inf).  Neighbours of a cell are all that touch it, corners too.  Diverged cells are walls.  Valleys
    of depth 0 (plateaus cut by the order of equal cells) are left out.

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
    values = surface.values.detach().double().cpu()
    flat = values.reshape(-1)
    order = flat.argsort(stable=True)
    order = order[torch.isfinite(flat[order])].tolist()
    if not order:
        raise ValueError(f"the surface must have a finite value, got {surface.n_diverged} diverged cells: shrink the extent")
    near, height = _neighbours(values.shape), flat.tolist()
    root: dict[int, int] = {}
    born: list[int] = []
    died: dict[int, tuple[float, int, int]] = {}

    def find(cell: int) -> int:
        top = cell
        while root[top] != top:
            top = root[top]
        while root[cell] != top:
            root[cell], cell = top, root[cell]
        return top

    rank = {}
    for cell in order:
        tops = sorted({find(n) for n in near(cell) if n in root}, key=rank.__getitem__)
        root[cell] = tops[0] if tops else cell
        if not tops:
            rank[cell] = len(born)
            born.append(cell)
        for younger in tops[1:]:
            root[younger] = tops[0]
            died[younger] = (height[cell], cell, tops[0])
    kept = [m for m in born if m not in died or died[m][0] > height[m]]
    place = {m: i for i, m in enumerate(kept)}
    deaths = [died.get(m, (math.inf, -1, -1)) for m in kept]

    def parent(m: int) -> int:
        """The valley it joined, or the one that valley of depth 0 joined in turn."""
        while m in died:
            m = died[m][2]
            if m in place:
                return place[m]
        return -1

    return Persistence(
        surface,
        birth=torch.tensor([height[m] for m in kept], dtype=torch.float64),
        death=torch.tensor([d[0] for d in deaths], dtype=torch.float64),
        minimum=_unravel([m for m in kept], values.shape),
        saddle=_unravel([d[1] for d in deaths], values.shape),
        parent=torch.tensor([parent(m) for m in kept]),
    )


def _neighbours(shape: tuple[int, ...]):
    """Cell -> all cells that touch it."""
    steps = torch.cartesian_prod(*[torch.tensor([-1, 0, 1])] * len(shape)).view(-1, len(shape)).tolist()
    steps = [s for s in steps if any(s)]
    strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]

    def near(cell: int) -> list[int]:
        where = [cell // stride % n for stride, n in zip(strides, shape)]
        cells = []
        for step in steps:
            at = [w + s for w, s in zip(where, step)]
            if all(0 <= i < n for i, n in zip(at, shape)):
                cells.append(sum(i * stride for i, stride in zip(at, strides)))
        return cells

    return near


def _unravel(cells: list[int], shape: tuple[int, ...]) -> Tensor:
    """Grid indices (M, K); -1 where there is no cell."""
    strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    rows = [[-1] * len(shape) if c < 0 else [c // s % n for s, n in zip(strides, shape)] for c in cells]
    return torch.tensor(rows, dtype=torch.long).view(-1, len(shape))
