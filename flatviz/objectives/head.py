"""Curvature of a linear head over classes, in closed form, and the diagonal of a network's.

The rest of a diagonal takes Jacobians, as in `curvature.py`.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from flatviz.core import Progress, track
from flatviz.engine.determinism import same_to_rounding
from flatviz.likelihood import CategoricalLikelihood
from flatviz.objectives.curvature import CHUNK_NUMBERS, batch_that_fits, ggn, jacobian_rows
from flatviz.objectives.problem import Problem


def ggn_diagonal(
    problem: Problem,
    w: Tensor,
    progress: Progress = False,
    rest: Callable[..., Tensor] | None = None,
) -> Tensor:
    """Compute the diagonal (D,) of H.

    A linear head over classes has a closed form; other weights need a backward pass for
    each output and example, or what `rest` takes in place of `ggn`.
    """
    rest = rest or partial(ggn, problem, w)
    head, values = softmax_head(problem, w, progress) or (slice(0, 0), w[:0])
    parts = [slice(0, head.start), slice(head.stop, len(w))]
    before, after = (
        rest(part=s, diagonal=True, progress=progress) if s.start < s.stop else w[:0] for s in parts
    )
    return torch.cat([before, values, after])


@torch.no_grad()
def softmax_head(
    problem: Problem, w: Tensor, progress: Progress = False, *, dense: bool = False
) -> tuple[slice, Tensor] | None:
    """Find the last linear layer in `w`, and its diagonal of H, or its block (P, P) if `dense`.

        H[cf, dg] = sum_n s_n p_nc (1[c = d] - p_nd) h_nf h_ng

    over examples and their places (tokens), for its bias with h = 1.  Return None where the outputs
    are not this layer's, which one backward pass shows, or the loss is not that of classes.
    """
    net, data, likelihood, _ = problem
    name = next((b.name.rpartition(".")[0] for b in reversed(net.blocks) if len(b.shape) > 1), "")
    layer = net.module.get_submodule(name)
    blocks = [b for b in net.blocks if b.name.rpartition(".")[0] == name]
    if (
        not isinstance(likelihood, CategoricalLikelihood)
        or likelihood.dim not in (None, -1)
        or not isinstance(layer, nn.Linear)
        or len(layer._forward_pre_hooks)
    ):
        return None
    inputs: list[Tensor] = []
    values = [w.new_zeros(b.shape) for b in blocks]
    block = w.new_zeros(0)
    count = likelihood.count(data.y)
    scale = len(data) / count if count else 0.0
    hook = layer.register_forward_pre_hook(lambda _, given: inputs.append(given[0]))
    size = batch_that_fits(problem, w)
    try:
        for x, y in track(data.batches(size), "curvature", progress, -(-len(data) // size)):
            inputs.clear()
            outputs = net(w, x)
            if outputs.ndim > 3 or outputs.shape[:-1] != y.shape:  # classes at another place
                return None
            if layer.out_features != outputs.shape[-1]:
                return None
            if len(inputs) != 1 or inputs[0].shape[:-1] != y.shape:
                return None
            h = inputs[0].flatten(0, -2)
            p = outputs.softmax(-1)
            share = likelihood.shares(outputs, y)
            s = scale * (torch.ones_like(p[..., :1]) if share is None else share[..., None])
            p = p.flatten(0, -2)
            s = s.flatten(0, -2).to(p)
            if dense:
                h = h if len(blocks) == 1 else torch.cat([h, torch.ones_like(h[:, :1])], 1)
                block = _block(h, p, s) + (block if len(block) else 0)
                continue
            curved = s * p * (1 - p)
            for value in values:
                value += curved.T @ h**2 if value.ndim > 1 else curved.sum(0)
    finally:
        hook.remove()
    head = slice(blocks[0].start, blocks[-1].stop)
    # a J of the last batch's first example, by autograd and by the layer's inputs
    along = torch.linspace(-1, 1, outputs[0].numel()).to(outputs)
    got, _ = jacobian_rows(net, w, x[:1], head, along[None])
    along = along.view(-1, outputs.shape[-1])
    first = inputs[0][0].view(len(along), -1)
    want = [along.T @ first if value.ndim > 1 else along.sum(0) for value in values]
    if got.shape[1] != sum(map(torch.numel, want)) or not same_to_rounding(
        got[0], torch.cat([t.flatten() for t in want])
    ):
        return None
    if not dense:
        return head, torch.cat([value.flatten() for value in values])
    at = torch.arange(len(block), device=w.device).view(outputs.shape[-1], -1)
    features = layer.in_features
    order = [at[:, :features] if value.ndim > 1 else at[:, features] for value in values]
    index = torch.cat([places.flatten() for places in order])
    return head, block[index[:, None], index]


def _block(h: Tensor, p: Tensor, s: Tensor) -> Tensor:
    """Compute sum_m s_m (diag(p_m) - p_m p_m^T) (x) h_m h_m^T, (C F, C F), some places at once."""
    n_classes = p.shape[1]
    size = n_classes * h.shape[1]
    total = h.new_zeros(size, size)
    blocks = total.view(n_classes, h.shape[1], n_classes, h.shape[1])
    each = torch.arange(n_classes, device=h.device)
    for part in torch.arange(len(h), device=h.device).split(max(1, CHUNK_NUMBERS // size)):
        u = p[part][:, :, None] * h[part][:, None]
        weighted = s[part][:, :, None] * u
        blocks[each, :, each] += torch.einsum("mcf,mg->cfg", weighted, h[part])
        total -= weighted.flatten(1).T @ u.flatten(1)
    return total
