"""Distance between two sets of weight vectors: unbiased maximum mean discrepancy, with p-values."""

from collections.abc import Mapping
from itertools import groupby
from typing import Literal

import torch
from torch import Tensor

from flatviz.checks import Seed, Vectors, Whole, check_count, check_many_weights
from flatviz.core import Net, generator, public
from flatviz.noun import Noun

WHOLE = "all weights"
Grid = Mapping[float, Tensor]  # norm of a kind of kernel -> its bandwidths
NORMS = {"laplace": 1.0, "gaussian": 2.0}
N_BANDWIDTHS = 10
BLOCK = 512  # rows
MAX_FOR_GRID = 500  # vectors of each half of the target used for bandwidths


class Mmd(Noun):
    """MMD^2 of one set of draws from the target, for each layer and for `all weights`.

    `names` and `value` are (L,); `permuted` (P, L) are the values for permuted labels.
    """

    names: tuple[str, ...]
    value: Tensor
    permuted: Tensor

    def of(self, name: str | None = None) -> float:
        """Return the value of a layer, or the median over layers."""
        return float(self._of(self.value, name))

    def p_value(self, name: str | None = None) -> float:
        """Compute the share of permutations, the identity included, with a value at least as large.

        NaN without any.
        """
        permuted = self._of(self.permuted, name)
        if not len(permuted):
            return float("nan")
        value = self._of(self.value, name)
        above = int((permuted >= value).sum())
        return (above + 1) / (len(permuted) + 1)

    def _of(self, values: Tensor, name: str | None) -> Tensor:
        if name is not None:
            return values[..., self.names.index(name)]
        layers = values[..., [n != WHOLE for n in self.names]]
        if not layers.numel():
            return layers.new_zeros(0)
        return layers.quantile(0.5, dim=-1)


@public
def layers_of(net: Net) -> dict[str, Tensor]:
    """List each layer's weights and shifts by their places in w.

    Args:
        net: The network.

    Returns:
        Name -> indices, one vector a layer, and last "all weights".

    Example:
        >>> import flatviz as fv
        >>> from torch import nn
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
        >>> {name: len(index) for name, index in fv.symmetry.layers_of(net).items()}
        {'0': 15, '2': 8, 'all weights': 23}
    """
    layers = {}
    for name, blocks in groupby(net.blocks, lambda block: block.layer):
        parts = [torch.arange(block.start, block.stop) for block in blocks]
        layers[name] = torch.cat(parts)
    layers[WHOLE] = torch.arange(net.dim)
    return layers


@public
def mmd(
    target: Vectors,
    sets: Mapping[str, Vectors],
    *,
    layers: Mapping[str, Tensor] | None = None,
    kernel: Literal["both", "laplace", "gaussian"] = "both",
    permutations: Whole = 200,
    seed: Seed = 0,
) -> dict[str, Mmd]:
    """Estimate MMD^2 between each set of draws (n, D) and `target` (m, D), over twenty kernels.

        MMD^2 = mean_{i != j} k(a_i, a_j) + mean_{i != j} k(b_i, b_j) - 2 mean k(a_i, b_j)

    It is unbiased, and so may be negative.  k is the mean of ten kernels of each kind; their
    bandwidths come from the target alone, so that all sets are measured with the same kernels.
    BLOCK rows of a kernel matrix are computed at a time, so memory is of order BLOCK (m + n).

    Args:
        target: Weight vectors (m, D).
        sets: Name -> weight vectors (n, D).
        layers: Name -> indices of weights, one value each (`layers_of(net)`); without it, all
            weights.
        kernel: Kind of the kernels, exp(-|x - y|_1 / h) or exp(-|x - y|_2^2 / h^2), or both.
        permutations: Number of exchanges of labels between target and draws; the p-value takes
            draws to be independent.
        seed: Fixes the exchanges.

    Raises:
        ValueError: For sets of unlike width, or fewer than two vectors.

    Source: Gretton et al. 2012 (estimator); Schrab et al. 2023, MMDAgg (kernels).

    Example:
        >>> import torch, flatviz as fv
        >>> g = torch.Generator().manual_seed(0)
        >>> a, b = torch.randn(60, 2, generator=g), torch.randn(30, 2, generator=g)
        >>> distance = fv.symmetry.mmd(a, {"same": b, "moved": b + 2.0})
        >>> distance["same"].p_value("all weights") > 0.05
        True
        >>> distance["moved"].p_value("all weights") < 0.01
        True
    """
    check_many_weights(target, None, "target")
    check_count(len(target), "vectors of target", least=4)
    if layers is None:
        layers = {WHOLE: torch.arange(target.shape[1])}
    for name, draws in sets.items():
        check_many_weights(draws, target.shape[1], name)
        check_count(len(draws), f"draws of {name}", least=2)
    columns: dict[str, list[Tensor]] = {name: [] for name in sets}
    for index in layers.values():
        A = target[:, index.to(target.device)].double()
        grid = bandwidths(A)
        if kernel != "both":
            norm = NORMS[kernel]
            grid = {norm: grid[norm]}
        for name, draws in sets.items():
            B = draws[:, index.to(draws.device)].to(A)
            both = torch.cat([A, B])
            source = generator(seed + 1)
            shape = (permutations, len(both))
            keys = torch.rand(shape, generator=source, dtype=torch.float64)
            unchanged = torch.arange(len(both))
            order = torch.cat([unchanged[None], keys.argsort(1)])
            labels = (order < len(A)).to(A)
            columns[name].append(_values(both, labels, grid))
    names = tuple(layers)
    result = {}
    for name, values in columns.items():
        table = torch.stack(values, -1)
        result[name] = Mmd(names, table[0], table[1:])
    return result


def _values(X: Tensor, Z: Tensor, grid: Grid) -> Tensor:
    """Compute MMD^2 between the rows of X (m + n, d) with label 1 and with label 0.

    Z (P, m + n) holds the labellings.
    """
    # z^T K z, and K 1; K has a zero diagonal
    within = Z.new_zeros(len(Z))
    sums = Z.new_zeros(len(X))
    for start in range(0, len(X), BLOCK):
        rows = torch.arange(start, min(start + BLOCK, len(X)))
        K = mean_kernel(X[rows], X, grid)
        K[rows - start, rows] = 0.0
        products = Z[:, rows] @ K
        within += (products * Z).sum(1)
        sums[rows] = K.sum(1)
    m = Z[0].sum()
    n = len(X) - m
    of_ones = Z @ sums
    cross = of_ones - within
    rest = sums.sum() - 2 * of_ones + within
    within = within / (m * (m - 1))
    rest = rest / (n * (n - 1))
    return within + rest - 2 * cross / (m * n)


def bandwidths(target: Tensor) -> Grid:
    """Compute ten bandwidths of the Laplace and ten of the Gaussian kernel from `target` (m, d).

        h_i = (lo / 2) (2 hi / (lo / 2))^(i/9)

    lo and hi are the smallest and largest distance between its first and second half, in the 1-norm
    and the 2-norm; a lo below 0.1 is replaced by the 5 % quantile, at least 0.1; hi is at least
    0.3.

    Source: released code of Laurent et al. 2024, which uses distances between the two sets
    compared.
    """
    half = min(len(target) // 2, MAX_FOR_GRID)
    grids = {}
    for p in NORMS.values():
        first = target[:half].double()
        second = target[half : 2 * half].double()
        d = torch.cdist(first, second, p=p).flatten()
        lo = d.min()
        if lo < 0.1:
            k = max(1, round(0.05 * len(d)))
            lo = d.kthvalue(k).values.clamp_min(0.1)
        hi = d.max().clamp_min(0.3)
        steps = torch.arange(N_BANDWIDTHS).to(d) / (N_BANDWIDTHS - 1)
        grids[p] = lo / 2 * (4 * hi / lo) ** steps
    return grids


def mean_kernel(X: Tensor, Y: Tensor, grid: Grid) -> Tensor:
    """Compute the mean of the kernels of a grid between rows of X and Y: (n, m).

    They are exp(-|x - y|_1 / h) (Laplace) and exp(-|x - y|_2^2 / h^2) (Gaussian).
    """
    total = torch.zeros(())
    for p, hs in grid.items():
        d = torch.cdist(X, Y, p=p)
        for h in hs:
            z = (d / h) ** p
            total = total + (-z).exp()
    return total / sum(map(len, grid.values()))
