"""The curvature that a Laplace approximation keeps, and the prior precision, one or one a layer, that explains the data best.

log Z(delta) = const - 1/2 (sum_i delta_i w_i^2 + logdet(H + diag delta) - sum_i log delta_i)      (MacKay 1992)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from flatviz.core.net import Net

LEAST, MOST = 1e-6, 1e8  # of a precision: beyond them nothing changes
ON_VALIDATION = torch.logspace(-4, 4, 33, dtype=torch.float64).tolist()
FACTORS = (0.1, 0.32, 3.2, 10.0)  # tried of each layer's precision, beside 1
SWEEPS = 2


@dataclass(frozen=True, eq=False)
class KeptCurvature:
    """What a structure keeps of H on the weights `part`, P of them: eigenvalues, and eigenvectors in columns.

    values (P,) with vectors None (diagonal), pairs of matrices (Kronecker; values in their order) or (P, P); values (R,) with
    vectors (P, R) where only R pairs are kept.  layers: name -> indices into the part.
    """

    part: slice
    values: Tensor
    vectors: Tensor | tuple | None
    layers: dict[str, Tensor]

    def of_weights(self, delta: Tensor) -> Tensor:
        """Precision of each weight (P,) from one, (1,), or one a layer, (L,)."""
        if len(delta) == 1:
            return delta.expand(self.part.stop - self.part.start)
        which = torch.zeros(self.part.stop - self.part.start, dtype=torch.long)
        for layer, index in enumerate(self.layers.values()):
            which[index] = layer
        return delta[which]

    def logdet(self, delta: Tensor) -> Tensor:
        """Of the evidence: log det (H + diag delta) - sum log delta, for one precision (1,) or one a layer (L,), float64."""
        values = self.values.double().cpu()
        if len(delta) == 1 or not isinstance(self.vectors, Tensor):
            return torch.log1p(values / (delta if len(delta) == 1 else self.of_weights(delta))).sum()
        half = self.vectors.double().cpu() * values.sqrt() / self.of_weights(delta).sqrt()[:, None]
        return torch.linalg.slogdet(torch.eye(len(values), dtype=values.dtype) + half.T @ half)[1]

    def occam(self, w: Tensor, delta: Tensor) -> Tensor:
        """-1/2 (sum delta w^2 + logdet) of the part's weights w (P,): what log Z gains over the fit."""
        squared = w.double().cpu().square()
        return -0.5 * ((self.of_weights(delta) * squared).sum() + self.logdet(delta))


def layers_in(net: Net, part: slice) -> dict[str, Tensor]:
    """Name of each layer with weights in a stretch of w -> their places in it."""
    places: dict[str, list[Tensor]] = {}
    for block in net.blocks:
        if part.start <= block.start and block.stop <= part.stop:
            layer = block.name.rpartition(".")[0]
            places.setdefault(layer, []).append(torch.arange(block.start, block.stop) - part.start)
    return {name: torch.cat(pieces) for name, pieces in places.items()}


def head_of(net: Net) -> slice:
    """Where the head stands in w, one stretch."""
    head = [b for b in net.blocks if b.kind == "head"]
    if not head and net.treats_all:
        head = [b for b in net.restrict("all", head=_last_linear(net)).blocks if b.kind == "head"]
    if not head:
        raise ValueError("structure='last_layer' needs a treated head, got none: use treated='norm+head' or 'all'")
    return slice(head[0].start, head[-1].stop)


def _last_linear(net: Net) -> str:
    """Name of the module that holds the last matrix of the network."""
    return next(b.name.rpartition(".")[0] for b in reversed(net.blocks) if len(b.shape) > 1)


def marginal_precision(kept: KeptCurvature, w: Tensor, *, per_layer: bool = False) -> Tensor:
    """The precision (1,), or precisions (L,), of largest evidence at the centre w (P,) of the part, in float64.

    One by a grid made finer three times, from which L-BFGS on the logarithms goes on to one a layer.
    """
    lo, hi = math.log(LEAST), math.log(MOST)
    for _ in range(4):
        grid = torch.linspace(lo, hi, 61, dtype=torch.float64)
        best = float(grid[torch.stack([kept.occam(w, d.exp()[None]) for d in grid]).argmax()])
        lo, hi = best - (hi - lo) / 60, best + (hi - lo) / 60
    if not per_layer or len(kept.layers) < 2:
        return torch.tensor([math.exp(best)], dtype=torch.float64)
    with torch.enable_grad():
        logs = torch.full((len(kept.layers),), best, dtype=torch.float64, requires_grad=True)
        search = torch.optim.LBFGS(
            [logs], max_iter=200, tolerance_grad=1e-9, tolerance_change=1e-12, line_search_fn="strong_wolfe"
        )

        def loss() -> Tensor:
            search.zero_grad()
            value = -kept.occam(w, _bounded(logs).exp())
            value.backward()
            return value

        search.step(loss)
    return _bounded(logs).detach().exp()


def _bounded(logs: Tensor) -> Tensor:
    return logs.clamp(math.log(LEAST), math.log(MOST))


def validated_precision(score: Callable[[Tensor], float], n_layers: int, *, per_layer: bool = False) -> Tensor:
    """The precision (1,) of least `score`, a validation NLL, on a grid; per_layer: then each layer's by itself, in two sweeps."""
    best = min((score(torch.tensor([d], dtype=torch.float64)), d) for d in ON_VALIDATION)
    delta, least = torch.tensor([best[1]], dtype=torch.float64), best[0]
    if not per_layer or n_layers < 2:
        return delta
    delta = delta.repeat(n_layers)
    for layer in range(SWEEPS * n_layers):
        start = delta.clone()
        for factor in FACTORS:
            trial = start.clone()
            trial[layer % n_layers] *= factor
            if (value := score(trial)) < least:
                delta, least = trial, value
    return delta
