"""Curvature of a linear head over classes, in closed form, and the diagonal of a network's.

The rest of a diagonal takes Jacobians, as in `curvature.py`.
"""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from flatviz.core import (
    Fields,
    Net,
    Progress,
    differentiable,
    generator,
    randn_like,
    track,
    twice,
)
from flatviz.core.net import Block
from flatviz.engine.determinism import same_to_rounding
from flatviz.likelihood import CategoricalLikelihood
from flatviz.objectives.curvature import batch_that_fits
from flatviz.objectives.jacobians import CHUNK_NUMBERS, check_jacobians, ggn
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
    draws = 1 if rest else None
    rest = rest or partial(ggn, problem, w)

    def beside(start: int, stop: int) -> Tensor:
        part = slice(start, stop)
        if start == stop:
            return w[part]
        return rest(part=part, diagonal=True, progress=progress)

    closed = softmax_head(problem, w, progress)
    if closed is None:
        check_jacobians(problem, len(w), dense=False, warn=False, draws=draws)
        return beside(0, len(w))
    head, values = closed
    before = beside(0, head.start)
    after = beside(head.stop, len(w))
    return torch.cat([before, values, after])


def softmax_head(
    problem: Problem,
    w: Tensor,
    progress: Progress = False,
    *,
    dense: bool = False,
) -> tuple[slice, Tensor] | None:
    """Find the last linear layer in `w`, and its diagonal of H, or its block (P, P) if `dense`.

        H[cf, dg] = sum_n s_n p_nc (1[c = d] - p_nd) h_nf h_ng

    over examples and their places (tokens), for its bias with h = 1.  Return None where the outputs
    are not this layer's, which a backward pass of all examples shows, or the loss is not that of
    classes.
    """
    problem = problem.late()
    net, data, likelihood, _ = problem
    if not isinstance(likelihood, CategoricalLikelihood) or likelihood.dim not in (None, -1):
        return None
    head = _linear_head(problem, w)
    if head is None:
        return None
    layer, blocks = head
    count = likelihood.count(data.y)
    scale = len(data) / count if count else 0.0
    size = batch_that_fits(problem, w)
    n_batches = math.ceil(len(data) / size)
    total = torch.zeros(())
    source = generator(0)
    for x, y in track(data.batches(size), "curvature", progress, n_batches):
        with differentiable(), twice():
            point = w.detach().clone().requires_grad_(True)
            graph, inputs = _through(net, layer, point, x)
        outputs = graph.detach()
        if not graph.requires_grad:
            return None
        widths = (layer.in_features, layer.out_features)
        if [t.shape for t in (*inputs, outputs)] != [(*y.shape, width) for width in widths]:
            return None
        h = inputs[0].detach().flatten(0, -2)
        p = outputs.softmax(-1).flatten(0, -2)
        s = torch.full_like(p[:, :1], scale)
        share = likelihood.shares(outputs, y)
        if share is not None:
            s = s * share.view(-1, 1)
        u = randn_like(p, source) * (s != 0)
        (got,) = torch.autograd.grad(graph, point, u.view_as(graph), materialize_grads=True)
        if not _is_of(blocks, got, u, h):
            return None
        if len(blocks) > 1:
            ones = torch.ones_like(h[:, :1])
            h = torch.cat([h, ones], 1)
        if dense:
            total = total + _block(h, p, s)
        else:
            curved = s * p * (1 - p)
            total = total + curved.T @ h**2
    index = _order_in_w(blocks, p.shape[1], h.shape[1]).to(w.device)
    if dense:
        values = total[index[:, None], index]
    else:
        values = total.flatten()[index]
    return slice(blocks[0].start, blocks[-1].stop), values


def _order_in_w(blocks: list[Block], n_classes: int, n_features: int) -> Tensor:
    """Index numbers (C, F), each class with its bias last, in the order of a layer's blocks."""
    numbers = torch.arange(n_classes * n_features).view(n_classes, n_features)
    parts = []
    for block in blocks:
        is_weight = len(block.shape) > 1
        parts.append(numbers[:, : block.shape[1]] if is_weight else numbers[:, -1])
    return torch.cat([part.flatten() for part in parts])


def _linear_head(problem: Problem, w: Tensor) -> tuple[nn.Linear, list[Block]] | None:
    """Find the last layer in `w` with its blocks, where it is linear."""
    net = problem.net
    matrices = [b.layer for b in net.blocks if len(b.shape) > 1]
    if not matrices:  # biases alone
        return None
    name = matrices[-1]
    layer = net.module.get_submodule(name)
    if not isinstance(layer, nn.Linear):
        return None
    blocks = [b for b in net.blocks if b.layer == name]
    n_outputs, n_features = layer.out_features, layer.in_features
    shapes = {(n_outputs, n_features), (n_outputs,)}
    # a Linear of one's own has further weights
    is_plain = len(blocks) <= 2 and {tuple(b.shape) for b in blocks} <= shapes
    return (layer, blocks) if is_plain and problem.data.y.ndim <= 2 else None


def _is_of(blocks: list[Block], gradient: Tensor, u: Tensor, h: Tensor) -> bool:
    """Tell whether J^T u (D,) is that of a layer with inputs `h` (M, F) and outputs as `u` (M, C).

    Whatever changes one place of one example behind the layer, or uses its weights once more,
    changes J^T u for a random u.
    """
    of_weight = (u.T @ h).flatten()
    of_bias = u.sum(0)
    want = torch.cat([of_weight if len(b.shape) > 1 else of_bias for b in blocks])
    got = gradient[blocks[0].start : blocks[-1].stop]
    return same_to_rounding(got, want)


def _through(
    net: Net,
    layer: nn.Module,
    w: Tensor,
    x: Tensor | Fields,
) -> tuple[Tensor, list[Tensor]]:
    """Compute outputs at `w`, and the inputs of each call of a layer."""
    inputs: list[Tensor] = []
    hook = layer.register_forward_pre_hook(lambda _, given: inputs.append(given[0]))
    try:
        return net(w, x), inputs
    finally:
        hook.remove()


def _block(h: Tensor, p: Tensor, s: Tensor) -> Tensor:
    """Compute sum_m s_m (diag(p_m) - p_m p_m^T) (x) h_m h_m^T, (C F, C F), some places at once."""
    n_classes = p.shape[1]
    features = h.shape[1]
    size = n_classes * features
    total = h.new_zeros(size, size)
    blocks = total.view(n_classes, features, n_classes, features)
    each = torch.arange(n_classes, device=h.device)
    many = max(1, CHUNK_NUMBERS // size)
    parts = zip(h.split(many), p.split(many), s.split(many))
    for h_part, p_part, s_part in parts:
        u = p_part[:, :, None] * h_part[:, None]
        weighted = s_part[:, :, None] * u
        blocks[each, :, each] += torch.einsum("mcf,mg->cfg", weighted, h_part)
        total -= weighted.flatten(1).T @ u.flatten(1)
    return total
