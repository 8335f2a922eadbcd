"""Whether independently trained networks are one function: how much each pair differs in what it predicts."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.special import entr

from flatviz.checks import Vectors, check_count, check_many_weights
from flatviz.core.boundary import public
from flatviz.core.net import Net
from flatviz.engine.stacked import forward
from flatviz.metrics.prediction import check_inputs

BLOCK = 8  # networks


@dataclass(frozen=True, eq=False)
class PairDiversity:
    """How much each pair s < t of S networks differs in what it predicts, P = S (S - 1) / 2 pairs.

    `information` (P,) is the mutual information of label and network in nats, for two networks their Jensen-Shannon divergence
    (from 0 to ln 2 = 0.693); `disagreement` (P,) is the share of inputs with different answers.
    """

    information: Tensor
    disagreement: Tensor


@public
def pair_diversity(net: Net, W: Vectors, x: Tensor) -> PairDiversity:
    """Mutual information and disagreement of every pair of rows of `W` (S, D) on inputs `x` (N, ...).

    MI = mean_x [H((p_s + p_t) / 2) - (H(p_s) + H(p_t)) / 2].  Equal functions have 0 exactly, answers that never meet ln 2.
    BLOCK networks meet all others at a time, so memory is of order BLOCK S N C.

    Example:
        >>> import torch, flatviz as fv
        >>> from torch import nn
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
        >>> W = torch.stack([net.w, fv.symmetry.permute(fv.symmetry.units_of(net), net.w[None], torch.tensor([2, 0, 1]))[0]])
        >>> float(fv.symmetry.pair_diversity(net, W, torch.randn(5, 4)).disagreement)
        0.0
    """
    check_many_weights(W, net.dim)
    check_count(len(W), "networks", least=2)
    check_inputs(net, x)
    probs = forward(net, W, x).softmax(-1)
    entropies, answers = entr(probs).sum(-1), probs.argmax(-1)  # (S, N)
    information, apart = [], []
    for start in range(0, len(W), BLOCK):
        rows, later = slice(start, start + BLOCK), slice(start, None)  # a pair is met once, from its first network
        mixed = entr((probs[rows, None] + probs[None, later]) / 2).sum(-1)
        information.append(_upper((mixed - (entropies[rows, None] + entropies[None, later]) / 2).mean(-1)))
        apart.append(_upper((answers[rows, None] != answers[None, later]).to(probs.dtype).mean(-1)))
    return PairDiversity(torch.cat(information).clamp_min(0), torch.cat(apart))


def _upper(table: Tensor) -> Tensor:
    """Entries right of the diagonal, row by row."""
    rows, columns = torch.triu_indices(*table.shape, offset=1)
    return table[rows, columns]
