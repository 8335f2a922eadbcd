"""Jacobians of a network's outputs in its weights, and the GGN that they give as a matrix."""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor
from torch.func import jacrev, vmap

from flatviz.core import (
    Data,
    Fields,
    Net,
    Progress,
    differentiable,
    generator,
    track,
    twice,
)
from flatviz.engine.determinism import same_to_rounding
from flatviz.engine.trunk import cut_of
from flatviz.likelihood import CategoricalLikelihood
from flatviz.objectives.outputs import output_curvature
from flatviz.objectives.problem import Problem

CHUNK_NUMBERS = 2**24  # most numbers in one chunk of Jacobians: 64 MB in float32
MOST_NUMBERS = 2**30  # most numbers in the Jacobian of one example: 4 GiB in float32
SPEED = 5e9  # multiply-adds of Jacobians a second, about, on a core
LONG_WORK = 60 * SPEED  # multiply-adds of a minute, beyond which a user is warned
# Advice of both messages of `check_jacobians`
FEWER = "label_draws=10 estimates it from that many backward passes an example; "


def jacobians(
    net: Net,
    w: Tensor,
    x: Tensor | Fields,
    part: slice = slice(None),
    read: Callable[..., Tensor] = torch.flatten,
    more: Sequence[Tensor] = (),
) -> tuple[Tensor, Tensor]:
    """Compute outputs (N, C) and J = d outputs / d w[part] (N, C, P) at `w` (D,).

    The inputs `x` (N, ...) must fit in memory.

    read: function of the outputs of one example and its row of each of `more`; its result (C,)
        takes the place of the outputs.
    more: further tensors (N, ...) with a row for each example.
    """
    w = w.detach()
    start, stop, _ = part.indices(len(w))

    def outputs(v: Tensor, example: Tensor, *extras: Tensor) -> tuple[Tensor, Tensor]:
        full = torch.cat([w[:start], v, w[stop:]])
        out = read(net(full, example[None])[0], *extras)
        return out, out  # to differentiate, and to return beside the derivative

    def without_vmap(i: int, along: Tensor | None = None) -> tuple[Tensor, Tensor]:
        extras = [t[i] for t in more]
        return jacobian_rows(net, w, x[i : i + 1], part, along, lambda out: read(out, *extras))

    in_dims = (None, 0, *[0] * len(more))
    jacobian = vmap(jacrev(outputs, has_aux=True), in_dims=in_dims)
    try:
        with twice():  # vmap has no rule for fused attention, and takes its rows one by one
            J, out = jacobian(w[part], x, *more)
        # vmap gives wrong derivatives of EmbeddingBag, of every example: the first one, summed
        # over C, is compared
        ones = J.new_ones(1, J.shape[1])
        row_sum, _ = without_vmap(0, ones)
        is_right = same_to_rounding(J[:1].sum(1), row_sum)
    except RuntimeError:
        # Function transforms refuse some modules: an embedding with max_norm, hooks, an
        # autograd.Function
        is_right = False
    if not is_right:
        pairs = [without_vmap(i) for i in range(len(x))]
        J, out = map(torch.stack, zip(*pairs))
    return out.detach(), J.detach()


def jacobian_rows(
    net: Net,
    w: Tensor,
    x: Tensor | Fields,
    part: slice,
    along: Tensor | None = None,
    read: Callable[[Tensor], Tensor] = torch.flatten,
) -> tuple[Tensor, Tensor]:
    """Compute J (C, P), or along @ J, and outputs (C,) of one example, `x` (1, ...).

    Each row takes a backward pass.
    """
    with differentiable(), twice():
        point = w.clone().requires_grad_(True)
        out = read(net(point, x)[0])
        if along is None:
            along = torch.eye(len(out)).to(out)
        rows = []
        for u in along:
            (row,) = torch.autograd.grad(out, point, u, retain_graph=True)
            rows.append(row[part])
    return torch.stack(rows), out


def jacobian_chunks(
    net: Net,
    w: Tensor,
    data: Data,
    part: slice = slice(None),
    progress: Progress = False,
) -> Iterator[tuple[Tensor, Tensor]]:
    """Iterate over outputs (n, C) and Jacobians (n, C, P) of `data`, a bounded number at a time."""
    with torch.no_grad():
        n_outputs = net(w, data.x[:1]).numel()
    numbers_of_one = n_outputs * w[part].numel()
    size = max(1, CHUNK_NUMBERS // numbers_of_one)
    chunks = torch.arange(len(data), device=w.device).split(size)
    cut = cut_of(net, data.x)
    for index in track(chunks, "curvature", progress):
        x, _ = data.batch(index)
        if cut is not None and isinstance(x, Tensor):
            yield jacobians(cut.tail, w, cut.rows(x), part)
        else:
            yield jacobians(net, w, x, part)


def ggn(
    problem: Problem,
    w: Tensor,
    *,
    part: slice = slice(None),
    diagonal: bool = False,
    progress: Progress = False,
) -> Tensor:
    """Compute H = sum_n J_n^T Lambda_n J_n (P, P), or its diagonal (P,).

    It is a sum, not a mean.  If some labels do not count, it is N times the mean over those that
    do, with N the number of all examples.
    """
    net, data, likelihood, _ = problem.late()
    total = torch.zeros(())
    with torch.no_grad():
        shape = net(w, data.x[:1]).shape[1:]
    n_done = 0
    scale = len(data) / likelihood.count(data.y)
    for flat_outputs, J in jacobian_chunks(net, w, data, part, progress):
        n = len(J)
        outputs = flat_outputs.view(n, *shape)
        y = data.y[n_done : n_done + n]
        n_done = n_done + n
        times_lambda = output_curvature(outputs, likelihood, y)
        # The P columns of J, of C numbers each, are P further outputs to `times_lambda`
        columns = J.transpose(1, 2)  # (n, P, C)
        lambda_J = times_lambda(columns.reshape(*columns.shape[:2], *shape))
        lambda_J = scale * lambda_J.reshape(columns.shape).transpose(1, 2)  # (n, C, P)
        if diagonal:
            total = total + (J * lambda_J).sum((0, 1))
        else:
            total = total + torch.einsum("ncp,ncq->pq", J, lambda_J)
    return total


def sampled_ggn(
    problem: Problem,
    w: Tensor,
    draws: int,
    *,
    seed: int,
    part: slice = slice(None),
    diagonal: bool = False,
    progress: Progress = False,
) -> Tensor:
    """Estimate `ggn` without bias, by `draws` labels of each place from the network's predictions.

        H = sum_n E[g g^T],   g = d/dw sum_t sqrt(s_nt) log p(y_nt),   y_nt ~ p

    Here s_nt is the weight of place t of example n in the sum of losses.  The estimate takes
    `draws` backward passes an example, whatever the number of outputs.

    Raises:
        ValueError: For a likelihood that is not of classes.
    """
    net, data, likelihood, _ = problem.late()
    if not isinstance(likelihood, CategoricalLikelihood):
        raise ValueError(f"label_draws needs likelihood='categorical', got {likelihood!r}")
    source = generator(seed)
    scale = len(data) / likelihood.count(data.y)
    total = torch.zeros(())

    def weighted_log_p(out: Tensor, labels: Tensor, root_s: Tensor) -> Tensor:
        """Compute sum_t sqrt(s_t) log p(y_t) of one example for each draw of labels, (draws,)."""
        log_p = likelihood.log_probs(out[None])[0]  # (places, C)
        return (root_s * log_p.gather(-1, labels)).sum(0)

    size = max(1, CHUNK_NUMBERS // (draws * w[part].numel()))
    n_batches = math.ceil(len(data) / size)
    for x, y in track(data.batches(size), "curvature", progress, n_batches):
        with torch.no_grad():
            outputs = net(w, x)
            probs = likelihood.log_probs(outputs).exp()
            places = probs.shape[:2]  # (n, places an example)
            flat_probs = probs.flatten(0, 1).cpu()
            labels = flat_probs.multinomial(draws, True, generator=source)
            shares = likelihood.shares(outputs, y)
            if shares is None:
                shares = probs.new_ones(places)
            s = scale * shares.flatten(1)
        labels = labels.view(*places, draws).to(y.device)
        root_s = s.sqrt()[..., None]
        _, g = jacobians(net, w, x, part, weighted_log_p, (labels, root_s))
        g = g.flatten(0, 1)
        squares = g.square().sum(0) if diagonal else g.T @ g
        total = total + squares / draws
    return total


def check_jacobians(
    problem: Problem,
    size: int,
    *,
    dense: bool,
    warn: bool,
    draws: int | None = None,
) -> None:
    """Check the memory and work of the Jacobians in `size` weights.

    dense: the curvature is a matrix, not a diagonal.
    warn: warn with an estimate of the work if it is more than LONG_WORK.
    draws: number of labels that `sampled_ggn` draws, each with a gradient in place of the outputs'.

    Raises:
        ValueError: For a Jacobian of one example that is beyond MOST_NUMBERS.
    """
    net, data, likelihood, cost = problem
    can_draw = draws is None and isinstance(likelihood, CategoricalLikelihood)
    fewer = FEWER if can_draw else ""
    with torch.no_grad():
        n_outputs = draws or net(net.w, data.x[:1]).numel()
    backward_pass = 2 * cost.macs
    sum_of_squares = size * (size if dense else 1)  # adds g g^T, or its diagonal, to the total
    work = n_outputs * len(data) * (backward_pass + sum_of_squares)
    if warn and work > LONG_WORK:
        warnings.warn(
            f"the curvature takes {work:.0e} multiply-adds, about {work / SPEED / 60:,.0f} minutes"
            f" on a core, for {n_outputs:,} outputs of {len(data):,} examples in {size:,} weights:"
            f" {fewer}progress=True shows the time left; fewer examples, data.subset(index), or an"
            " untied head of classes take less",
            stacklevel=5,  # the caller of the public verb
        )
    if (numbers := n_outputs * size) > MOST_NUMBERS:
        raise ValueError(
            f"the curvature needs the Jacobian of {n_outputs:,} outputs of an example in"
            f" {size:,} weights, got {numbers * net.w.element_size() / 2**30:,.0f} GiB and"
            f" {n_outputs * len(data):,} backward passes in all: {fewer}or treat the head alone,"
            " with structure='diagonal', which has a closed form for a linear head of classes;"
            " untie one that shares its weight (head.weight = nn.Parameter(head.weight.clone()))"
        )
