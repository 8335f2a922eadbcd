"""Distance between two sets of weight vectors: unbiased maximum mean discrepancy, with intervals and p-values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from flatviz.checks import Count, Seed, Vectors, Whole, check_count, check_many_weights
from flatviz.core.boundary import public
from flatviz.core.net import Net
from flatviz.core.seeds import generator
from flatviz.symmetry.kernels import bandwidths, mean_kernel

WHOLE = "all weights"


@dataclass(frozen=True, eq=False)
class Mmd:
    """MMD^2 of one set of draws from the target, for each layer and for `all weights`: `names` (L,), `value` (L,).

    `resampled` (R, L) are bootstrap values, `permuted` (P, L) those of permuted labels; `n` draws, in `n_runs` runs.
    """

    names: tuple[str, ...]
    value: Tensor
    resampled: Tensor
    permuted: Tensor
    n: int
    n_runs: int

    def interval(self, name: str | None = None, level: float = 0.95) -> tuple[float, float, float]:
        """(value, low, high) of a layer, or of the median over layers: percentiles of the bootstrap."""
        tail = (1 - level) / 2
        resampled = self._of(self.resampled, name)
        if not len(resampled):
            return float(self._of(self.value, name)), float("nan"), float("nan")
        low, high = resampled.quantile(torch.tensor([tail, 1 - tail], dtype=resampled.dtype))
        return float(self._of(self.value, name)), float(low), float(high)

    def p_value(self, name: str | None = None) -> float:
        """Share of permuted labels with a value at least as large, the true one counted among them; NaN without any."""
        permuted = self._of(self.permuted, name)
        above = int((permuted >= self._of(self.value, name)).sum())
        return (above + 1) / (len(permuted) + 1) if len(permuted) else float("nan")

    def _of(self, values: Tensor, name: str | None) -> Tensor:
        if name is not None:
            return values[..., self.names.index(name)]
        layers = values[..., [i for i, n in enumerate(self.names) if n != WHOLE]]
        return layers.quantile(0.5, dim=-1) if layers.numel() else layers.new_zeros(0)


@public
def layers_of(net: Net) -> dict[str, Tensor]:
    """Name of each layer -> indices of its weights and shifts in w: one vector a layer; and last, all weights.

    Example:
        >>> import flatviz as fv
        >>> from torch import nn
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
        >>> {name: len(index) for name, index in fv.symmetry.layers_of(net).items()}
        {'0': 15, '2': 8, 'all weights': 23}
    """
    layers: dict[str, list[Tensor]] = {}
    for block in net.blocks:
        layers.setdefault(block.name.rpartition(".")[0], []).append(torch.arange(block.start, block.stop))
    return {name: torch.cat(parts) for name, parts in layers.items()} | {WHOLE: torch.arange(net.dim)}


@public
def mmd(
    target: Vectors,
    sets: Mapping[str, Vectors],
    *,
    layers: Mapping[str, Tensor] | None = None,
    runs: Mapping[str, Tensor] | None = None,
    resamples: Whole = 200,
    permutations: Whole = 200,
    block: Count = 512,
    seed: Seed = 0,
) -> dict[str, Mmd]:
    """Unbiased MMD^2 of each set of draws (n, D) from `target` (m, D), averaged over 20 kernels; it can be below 0.

    MMD^2 = mean_{i != j} k(a_i, a_j) + mean_{i != j} k(b_i, b_j) - 2 mean k(a_i, b_j).  Bandwidths come from the target
    alone, so all sets are measured with the same kernels.
    layers: name -> indices of weights, each with a value of its own (`layers_of(net)`); without it, all weights.
    runs: name -> (n,) which independent run each draw is of.  The bootstrap then draws whole runs (pairs inside a run
        stay pairs inside a run), for draws of one run say nothing of the next; else, and with one run, it draws vectors.
    permutations: labels of target and draws are exchanged so many times; the p-value takes draws to be independent.
    block: rows of a kernel matrix held at a time, so memory is of order block (m + n), whatever m.
    Source of the estimator: Gretton et al. 2012; of the kernels, Schrab et al. 2023 (MMDAgg).

    Raises:
        ValueError: For sets of unlike width, or fewer than two vectors.

    Example:
        >>> import torch, flatviz as fv
        >>> g = torch.Generator().manual_seed(0)
        >>> a, b = torch.randn(60, 2, generator=g), torch.randn(30, 2, generator=g)
        >>> distance = fv.symmetry.mmd(a, {"same": b, "moved": b + 2.0})
        >>> distance["same"].p_value("all weights") > 0.05, distance["moved"].p_value("all weights") < 0.01
        (True, True)
    """
    check_many_weights(target, None, "target")
    check_count(len(target), "vectors of target", least=4)
    layers = layers or {WHOLE: torch.arange(target.shape[1])}
    for name, draws in sets.items():
        check_many_weights(draws, target.shape[1], name)
        check_count(len(draws), f"draws of {name}", least=2)
    labels = {name: _runs(len(draws), (runs or {}).get(name)) for name, draws in sets.items()}
    columns: dict[str, list[tuple[Tensor, Tensor, Tensor]]] = {name: [] for name in sets}
    for index in layers.values():
        A = target[:, index.to(target.device)].double()
        among = _Target(A, bandwidths(A), resamples, block, seed)
        for name, draws in sets.items():
            B = draws[:, index.to(draws.device)].to(A)
            columns[name].append(among.against(B, labels[name], permutations))
    return {
        name: Mmd(tuple(layers), *(torch.stack(x, -1) for x in zip(*found)), len(sets[name]), int(labels[name].max()) + 1)
        for name, found in columns.items()
    }


def _runs(n: int, runs: Tensor | None) -> Tensor:
    """Which group the bootstrap draws each vector with: its run, or itself where there is but one."""
    if runs is None:
        return torch.arange(n)
    if runs.shape != (n,):
        raise ValueError(f"runs must hold one number for each of the {n} draws, got shape {tuple(runs.shape)}")
    numbers = runs.unique(return_inverse=True)[1]
    return numbers if int(numbers.max()) else torch.arange(n)


class _Target:
    """The target's side of every comparison: its kernel sums, for the bootstrap and for permuted labels, made once."""

    def __init__(self, A: Tensor, grid: Tensor, resamples: int, block: int, seed: int) -> None:
        self.A, self.grid, self.block, self.seed = A, grid, block, seed
        m, source = len(A), generator(seed)
        drawn = torch.randint(m, (resamples, m), generator=source)
        counts = torch.zeros(resamples, m, dtype=A.dtype).scatter_add_(1, drawn, torch.ones(resamples, m, dtype=A.dtype))
        self.counts = torch.cat([torch.ones(1, m, dtype=A.dtype), counts]).to(A)  # row 0: the sample itself
        self.forms: dict[tuple[int, int], tuple[Tensor, Tensor]] = {}
        self.aa, self.row_sums = self._forms(self.counts)
        self.aa = self.aa / (self.counts.sum(1).square() - self.counts.square().sum(1))

    def _forms(self, Z: Tensor) -> tuple[Tensor, Tensor]:
        """z^T K z of each row of Z (R, m), and K 1 (m,); K has a zero diagonal."""
        total, sums = Z.new_zeros(len(Z)), Z.new_zeros(len(self.A))
        for rows, K in self._blocks(self.A, self.A, same=True):
            total += ((Z[:, rows] @ K) * Z).sum(1)
            sums[rows] = K.sum(1)
        return total, sums

    def _blocks(self, X: Tensor, Y: Tensor, same: bool = False) -> Iterator[tuple[slice, Tensor]]:
        for start in range(0, len(X), self.block):
            rows = slice(start, min(start + self.block, len(X)))
            K = mean_kernel(X[rows], Y, self.grid)
            if same:
                K[torch.arange(rows.stop - start), torch.arange(start, rows.stop)] = 0.0
            yield rows, K

    def _labels(self, n: int, permutations: int) -> tuple[Tensor, Tensor]:
        """Permuted labels (P, m + n), 1 for those taken as target, and z^T K z of their part in the target."""
        if (n, permutations) not in self.forms:
            source = generator(self.seed + 1)
            order = torch.rand(permutations, len(self.A) + n, generator=source, dtype=torch.float64).argsort(1)
            Z = (order < len(self.A)).to(self.A)
            self.forms[(n, permutations)] = Z, self._forms(Z[:, : len(self.A)])[0] if permutations else Z.new_zeros(0)
        return self.forms[(n, permutations)]

    def against(self, B: Tensor, run: Tensor, permutations: int) -> tuple[Tensor, Tensor, Tensor]:
        """MMD^2 (), bootstrap values (R,) and values of permuted labels (P,)."""
        m, n, M = len(self.A), len(B), int(run.max()) + 1
        source = generator(self.seed + 2)
        drawn = torch.randint(M, (len(self.counts) - 1, M), generator=source)
        C = torch.zeros(len(drawn), M, dtype=B.dtype).scatter_add_(1, drawn, torch.ones(len(drawn), M, dtype=B.dtype))
        C = torch.cat([torch.ones(1, M, dtype=B.dtype), C]).to(B)
        hot = torch.nn.functional.one_hot(run, M).to(B)  # (n, M)
        Z, z_aa = self._labels(n, permutations)
        ab, z_ab, sums_a, sums_b = B.new_zeros(len(C)), B.new_zeros(len(Z)), self.row_sums.clone(), B.new_zeros(n)
        for rows, K in self._blocks(self.A, B):
            ab += ((self.counts[:, rows] @ K) * (C @ hot.T)).sum(1)
            z_ab += ((Z[:, rows] @ K) * Z[:, m:]).sum(1)
            sums_a[rows] += K.sum(1)
            sums_b += K.sum(0)
        within, z_bb = B.new_zeros(M, M), B.new_zeros(len(Z))
        for rows, K in self._blocks(B, B, same=True):
            within += hot[rows].T @ K @ hot
            z_bb += ((Z[:, m + rows.start : m + rows.stop] @ K) * Z[:, m:]).sum(1)
            sums_b[rows] += K.sum(1)
        sizes = hot.sum(0)
        values = self.aa + _among(within, sizes, C) - 2 * ab / (self.counts.sum(1) * (C @ sizes))
        rho, z_k_z = torch.cat([sums_a, sums_b]), z_aa + 2 * z_ab + z_bb
        z_rho = Z @ rho
        cross, rest = z_rho - z_k_z, rho.sum() - 2 * z_rho + z_k_z
        permuted = z_k_z / (m * (m - 1)) + rest / (n * (n - 1)) - 2 * cross / (m * n)
        return values[0], values[1:], permuted


def _among(within: Tensor, sizes: Tensor, C: Tensor) -> Tensor:
    """Mean kernel over pairs i != j of draws, for counts C (R, M) of runs; within (M, M) holds sums over pairs of runs.

    Two copies of one run are no pair of runs: they are left out and the rest takes their weight, else every bootstrap
    value would count more pairs inside a run than the sample has.
    """
    n = C @ sizes
    inside = (C * within.diagonal()).sum(1)
    inside_pairs = (C * sizes * (sizes - 1)).sum(1)
    off, off_sizes = (x - torch.diag(x.diagonal()) for x in (within, torch.outer(sizes, sizes)))
    cross, cross_pairs = ((C @ off) * C).sum(1), ((C @ off_sizes) * C).sum(1)
    wanted = n * (n - 1) - inside_pairs  # pairs of unlike runs among n draws
    mean_cross = torch.where(cross_pairs > 0, cross / cross_pairs.clamp_min(1), 0.0)
    return (inside + wanted * mean_cross) / (inside_pairs + wanted)
