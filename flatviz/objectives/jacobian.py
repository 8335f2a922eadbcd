"""Derivatives of the outputs in the weights, and the generalised Gauss-Newton matrix they make."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.func import jacrev, vmap

from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood, output_curvature
from flatviz.core.net import Net

CHUNK_NUMBERS = 2**24  # of one chunk of Jacobians: 64 MB in float32


def jacobians(net: Net, w: Tensor, x: Tensor, part: slice = slice(None)) -> tuple[Tensor, Tensor]:
    """Outputs (N, C) and J = d outputs / d w[part] (N, C, P) at `w` (D,), for inputs `x` (N, ...) that fit in memory."""
    w = w.detach()

    def outputs(v: Tensor, one: Tensor) -> tuple[Tensor, Tensor]:
        whole = v if part == slice(None) else torch.cat([w[: part.start], v, w[part.stop :]])
        out = net(whole, one[None])[0].reshape(-1)
        return out, out

    jacobian = jacrev(outputs, has_aux=True)
    try:
        J, out = vmap(jacobian, in_dims=(None, 0))(w[part], x)
    except RuntimeError:  # an operation that vmap has no rule for, such as an embedding with max_norm
        J, out = map(torch.stack, zip(*(jacobian(w[part], one) for one in x)))
    return out.detach(), J.detach()


def jacobian_chunks(net: Net, w: Tensor, data: Data, part: slice = slice(None)) -> Iterator[tuple[Tensor, Tensor]]:
    """(outputs, Jacobians) over `data`, a bounded number of examples at a time."""
    with torch.no_grad():
        n_outputs = net(w, data.x[:1]).numel()
    size = max(1, CHUNK_NUMBERS // (n_outputs * w[part].numel()))
    for start in range(0, len(data), size):
        index = torch.arange(start, min(start + size, len(data)), device=w.device)
        yield jacobians(net, w, data.subset(index).batch(None)[0], part)


def ggn(
    net: Net,
    w: Tensor,
    data: Data,
    likelihood: Likelihood = "categorical",
    *,
    part: slice = slice(None),
    diagonal: bool = False,
) -> Tensor:
    """H = sum_n J_n^T Lambda_n J_n, a sum over examples, not a mean; (P, P), or its diagonal (P,)."""
    total: Tensor | float = 0.0
    for outputs, J in jacobian_chunks(net, w, data, part):
        curved = output_curvature(outputs, likelihood)(J.transpose(1, 2)).transpose(1, 2)
        total = total + ((J * curved).sum((0, 1)) if diagonal else torch.einsum("ncp,ncq->pq", J, curved))
    return total
