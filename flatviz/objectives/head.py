"""Curvature of a linear head over classes, in closed form, and the diagonal of a network's.

The rest of a diagonal takes Jacobians, as in `curvature.py`.
"""

import torch
from torch import Tensor, nn

from flatviz.core import Fields, Net, Progress, track
from flatviz.core.net import Block
from flatviz.engine.determinism import same_to_rounding
from flatviz.likelihood import CategoricalLikelihood
from flatviz.objectives.curvature import CHUNK_NUMBERS, batch_that_fits, ggn, jacobian_rows
from flatviz.objectives.problem import Problem


def ggn_diagonal(problem: Problem, w: Tensor, progress: Progress = False) -> Tensor:
    """Compute the diagonal (D,) of H.

    A linear head over classes has a closed form; other weights need a backward pass for
    each output and example.
    """

    def rest(start: int, stop: int) -> Tensor:
        part = slice(start, stop)
        if start == stop:
            return w[part]
        return ggn(problem, w, part=part, diagonal=True, progress=progress)

    closed = softmax_head(problem, w, progress)
    if closed is None:
        return rest(0, len(w))
    head, values = closed
    return torch.cat([rest(0, head.start), values, rest(head.stop, len(w))])


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
    if not isinstance(likelihood, CategoricalLikelihood) or likelihood.dim not in (None, -1):
        return None
    head = _linear_head(problem, w)
    if head is None:
        return None
    layer, blocks = head
    count = likelihood.count(data.y)
    scale = len(data) / count if count else 0.0
    size = batch_that_fits(problem, w)
    total = torch.zeros(())
    for x, y in track(data.batches(size), "curvature", progress, -(-len(data) // size)):
        outputs, (h,) = _through(net, layer, w, x)
        h = h.flatten(0, -2)
        p = outputs.softmax(-1).flatten(0, -2)
        s = torch.full_like(p[:, :1], scale)
        share = likelihood.shares(outputs, y)
        if share is not None:
            s = s * share.view(-1, 1)
        if len(blocks) > 1:
            h = torch.cat([h, torch.ones_like(h[:, :1])], 1)
        total = total + (_block(h, p, s) if dense else (s * p * (1 - p)).T @ h**2)
    # from (C, F + 1), each class with its bias, to the order of w
    features = layer.in_features
    at = torch.arange(layer.out_features * h.shape[1], device=w.device)
    at = at.view(layer.out_features, -1)
    places = [at[:, :features] if len(b.shape) > 1 else at[:, features] for b in blocks]
    index = torch.cat([place.flatten() for place in places])
    values = total[index[:, None], index] if dense else total.flatten()[index]
    return slice(blocks[0].start, blocks[-1].stop), values


def _linear_head(problem: Problem, w: Tensor) -> tuple[nn.Linear, list[Block]] | None:
    """Find the last layer in `w` with its blocks, where it is linear and makes the outputs."""
    net = problem.net
    matrices = [b.name for b in net.blocks if len(b.shape) > 1]
    name = matrices[-1].rpartition(".")[0] if matrices else ""
    layer = net.module.get_submodule(name)
    if not isinstance(layer, nn.Linear):
        return None
    x, y = problem.data.subset(torch.arange(1)).batch(None)
    outputs, inputs = _through(net, layer, w, x)
    if len(inputs) != 1 or inputs[0].shape[:-1] != y.shape:
        return None
    if outputs.shape != (*y.shape, layer.out_features) or outputs.ndim > 3:
        return None
    blocks = [b for b in net.blocks if b.name.rpartition(".")[0] == name]
    part = slice(blocks[0].start, blocks[-1].stop)
    # a J of this example, by autograd and by the layer's inputs
    along = torch.linspace(-1, 1, outputs.numel()).to(outputs)
    got, _ = jacobian_rows(net, w, x, part, along[None])
    along = along.view(-1, layer.out_features)
    h = inputs[0].flatten(0, -2)
    want = [along.T @ h if len(b.shape) > 1 else along.sum(0) for b in blocks]
    rows = torch.cat([t.flatten() for t in want])
    same = got.shape[1] == len(rows) and same_to_rounding(got[0], rows)
    return (layer, blocks) if same else None


def _through(
    net: Net, layer: nn.Module, w: Tensor, x: Tensor | Fields
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
    size = n_classes * h.shape[1]
    total = h.new_zeros(size, size)
    blocks = total.view(n_classes, h.shape[1], n_classes, h.shape[1])
    each = torch.arange(n_classes, device=h.device)
    many = max(1, CHUNK_NUMBERS // size)
    for h_part, p_part, s_part in zip(h.split(many), p.split(many), s.split(many)):
        u = p_part[:, :, None] * h_part[:, None]
        weighted = s_part[:, :, None] * u
        blocks[each, :, each] += torch.einsum("mcf,mg->cfg", weighted, h_part)
        total -= weighted.flatten(1).T @ u.flatten(1)
    return total
