"""The curvature that a Laplace approximation keeps, and the prior precision that explains the data best.

log Z(delta) = const - 1/2 (delta |w|^2 + logdet(H + delta I) - P log delta)      (MacKay 1992)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from flatviz.core.net import Net

LEAST, MOST = 1e-6, 1e8  # of a precision: beyond them nothing changes


@dataclass(frozen=True, eq=False)
class KeptCurvature:
    """What a structure keeps of H on the weights `part`, P of them: eigenvalues (P,), and eigenvectors in columns (P, P).

    Vectors are None where H is diagonal.
    """

    part: slice
    values: Tensor
    vectors: Tensor | None

    def occam(self, w: Tensor, delta: float) -> float:
        """What log Z gains over the fit at the weights w (D,): -1/2 (delta |w|^2 + logdet (H + delta I) - P log delta)."""
        w = w[self.part].double()
        return float(-0.5 * (delta * w.dot(w) + torch.log1p(self.values.double() / delta).sum()))

    def marginal_precision(self, w: Tensor) -> float:
        """The precision of largest evidence at the weights w (D,), by a grid of its logarithm, made finer three times."""
        lo, hi = math.log(LEAST), math.log(MOST)
        for _ in range(4):
            grid = torch.linspace(lo, hi, 61, dtype=torch.float64).tolist()
            best = max(grid, key=lambda log: self.occam(w, math.exp(log)))
            lo, hi = best - (hi - lo) / 60, best + (hi - lo) / 60
        return math.exp(best)


def head_of(net: Net) -> slice:
    """Where the head stands in w, one stretch."""
    head = [b for b in net.blocks if b.kind == "head"]
    if not head and net.treats_all:
        treated = {b.name for b in net.blocks}
        head = [b for b in net.restrict(treated.__contains__, head=_last_linear(net)).blocks if b.kind == "head"]
    if not head:
        raise ValueError("structure='last_layer' needs a treated head, got none: use treated='norm+head' or 'all'")
    return slice(head[0].start, head[-1].stop)


def _last_linear(net: Net) -> str:
    """Name of the module that holds the last matrix of the network."""
    return next(b.name.rpartition(".")[0] for b in reversed(net.blocks) if len(b.shape) > 1)
