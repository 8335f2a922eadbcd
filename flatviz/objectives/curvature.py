"""Curvature of a network's loss: products with Hessian, GGN and empirical Fisher; Jacobians."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import get_args

import torch
from torch import Tensor
from torch.func import jacrev, vmap

from flatviz.core import (
    Curvature,
    Data,
    Fields,
    Net,
    Product,
    Progress,
    differentiable,
    hessian_operator,
    threads,
    track,
    twice,
)
from flatviz.engine.cost import Sizes
from flatviz.engine.determinism import same_to_rounding
from flatviz.objectives.outputs import output_curvature
from flatviz.objectives.problem import Problem
from flatviz.words import check_choice

# Bytes of all results behind kept graphs, about half of which are kept; other batches are computed
# again for each product
GRAPH_BYTES = 2**32


def curvature_product(
    problem: Problem, w: Tensor, curvature: str, *, max_batch: int | None = None
) -> Product:
    """Return the function v -> M v at one `w`, both (D,).

    M is the mean over the data of the Hessian, of J^T L'' J ("ggn") or of g g^T ("fisher").  J
    (C, D) is the Jacobian of an example's outputs, L'' (C, C) the second derivative of its loss in
    the outputs, g its gradient in w.

    max_batch: examples a batch, at most.  The graphs of batches are kept while they fit in
        GRAPH_BYTES; those of other batches are computed again for each product.
    """
    check_choice(curvature, get_args(Curvature), "curvature")
    make = _hessian if curvature == "hessian" else _outer
    data = problem.data
    count = problem.likelihood.count(data.y)
    fits = batch_that_fits(problem, w)
    size = min(fits, max_batch or fits)

    def products(first: int, stop: int | None) -> Iterator[Product]:
        """Iterate over the products of batches of these numbers."""
        for x, y in islice(data.batches(size), first, stop):
            yield make(problem._replace(data=Data(x, y)), w, curvature, count)

    work = problem.work.layer * min(size, len(data))
    with threads(work):
        stored = list(products(0, fits // size))

    @threads(work)
    def product(v: Tensor) -> Tensor:
        total = sum((part(v) for part in stored), torch.zeros_like(v))
        if len(stored) * size < len(data):
            total = sum((part(v) for part in products(len(stored), None)), total)
        return total

    return product


def batch_that_fits(problem: Problem, w: Tensor) -> int:
    """Count the examples whose results fit in GRAPH_BYTES, by those of four and of two."""
    net, data, likelihood, _ = problem

    def results(n: int) -> int:
        few = data.subset(torch.arange(n) % len(data))
        with differentiable(), twice(), Sizes() as seen:
            point = w.detach().clone().requires_grad_(True)
            loss = likelihood.nll(net(point, few.batch(None)[0]), few.y)
            _ = torch.autograd.grad(loss, point, create_graph=True)
        return sum(seen.sizes)

    two_more = results(4) - results(2)
    return max(1, 2 * GRAPH_BYTES // max(two_more, 1))


def _hessian(problem: Problem, w: Tensor, _: str, n: float) -> Product:
    net, data, likelihood, _work = problem

    def loss(w: Tensor) -> Tensor:
        return likelihood.nll(net(w, data.batch(None)[0]), data.y, "sum") / n

    product = hessian_operator(loss, w)

    def product_or_reason(v: Tensor) -> Tensor:
        try:
            return product(v)
        except RuntimeError as error:
            if (operation := _without_derivative(error)) is None:
                raise
            raise ValueError(
                f"the Hessian needs second derivatives of every layer, got {operation}, for which"
                " PyTorch has none: use curvature='ggn' or 'fisher', or another activation"
            ) from error

    return product_or_reason


def _without_derivative(error: RuntimeError) -> str | None:
    """Name the operation that, by torch's error, has no second derivative, or return None."""
    if "storage_offset divisible by 2" in str(error):  # of numbers that begin at an odd place of w
        return "view_as_complex"
    named = re.search(
        r"derivative for (?:aten::|')(\w+?)(?:_for_cpu)?(?:_backward)?'? is not implemented",
        str(error),
    )
    return named[1].strip("_") if named else None


def _outer(problem: Problem, w: Tensor, kind: str, n: float) -> Product:
    """Return v -> J^T A J v, with A (C, C) an example's L'', or e e^T.

    e is the derivative of the loss in the outputs.
    """
    net, data, likelihood, _ = problem
    out, point, moved_along = linear(net, w, data)
    value = out.detach()
    if kind == "ggn":
        inner = output_curvature(value, likelihood, data.y)
    else:
        inner = _outer_product(likelihood.gradient(value, data.y))

    def product(v: Tensor) -> Tensor:
        (back,) = torch.autograd.grad(out, point, inner(moved_along(v)) / n, retain_graph=True)
        return back

    return product


def linear(net: Net, w: Tensor, data: Data) -> tuple[Tensor, Tensor, Product]:
    """Return outputs at `w` (D,), the copy of w that they depend on, and v (D,) -> J v."""
    with differentiable(), twice():
        point = w.detach().clone().requires_grad_(True)
        out = net(point, data.batch(None)[0])
        dummy = torch.zeros_like(out, requires_grad=True)
        (pulled,) = torch.autograd.grad(out, point, dummy, create_graph=True)  # J^T u, linear in u

    def moved_along(v: Tensor) -> Tensor:
        """Compute J v (N, C), by the transpose of u -> J^T u, or where it fails by rows of J."""
        try:
            return torch.autograd.grad(pulled, dummy, v, retain_graph=True)[0]
        except RuntimeError as error:
            if _without_derivative(error) is None:
                raise
        return torch.cat([J @ v for _, J in jacobian_chunks(net, w, data)]).view_as(out)

    return out, point, moved_along


def _outer_product(e: Tensor) -> Product:
    """Return u -> e e^T u for each example of e (N, ...)."""
    e = e.flatten(1)
    return lambda u: (e * (e * u.reshape(e.shape)).sum(-1, keepdim=True)).reshape(u.shape)


CHUNK_NUMBERS = 2**24  # of one chunk of Jacobians: 64 MB in float32
MOST_NUMBERS = 2**30  # of the Jacobian of one example: 4 GiB in float32


def jacobians(
    net: Net, w: Tensor, x: Tensor | Fields, part: slice = slice(None)
) -> tuple[Tensor, Tensor]:
    """Compute outputs (N, C) and J = d outputs / d w[part] (N, C, P) at `w` (D,).

    The inputs `x` (N, ...) must fit in memory.
    """
    w = w.detach()
    start, stop, _ = part.indices(len(w))

    def outputs(v: Tensor, one: Tensor) -> tuple[Tensor, Tensor]:
        full = torch.cat([w[:start], v, w[stop:]])
        out = net(full, one[None])[0].flatten()
        return out, out

    jacobian = vmap(jacrev(outputs, has_aux=True), in_dims=(None, 0))
    try:
        with twice():  # vmap has no rule for fused attention, and takes its rows one by one
            J, out = jacobian(w[part], x)
        # vmap gives wrong derivatives of EmbeddingBag
        first, _ = jacobian_rows(net, w, x[:1], part, J.new_ones(1, J.shape[1]))
        right = same_to_rounding(J[:1].sum(1), first)
    # what function transforms do not take, as an embedding with max_norm, hooks, an
    # autograd.Function
    except RuntimeError:
        right = False
    if not right:
        rows = [jacobian_rows(net, w, one, part) for one in x.split(1)]
        J, out = map(torch.stack, zip(*rows))
    return out.detach(), J.detach()


def jacobian_rows(
    net: Net, w: Tensor, x: Tensor | Fields, part: slice, along: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Compute J (C, P), or along @ J, and outputs (C,) of one example, by rows."""
    with differentiable(), twice():
        point = w.clone().requires_grad_(True)
        out = net(point, x)[0].flatten()
        along = torch.eye(len(out)).to(out) if along is None else along
        rows = [torch.autograd.grad(out, point, row, retain_graph=True)[0] for row in along]
    return torch.stack([row[part] for row in rows]), out


def jacobian_chunks(
    net: Net, w: Tensor, data: Data, part: slice = slice(None), progress: Progress = False
) -> Iterator[tuple[Tensor, Tensor]]:
    """Iterate over (outputs, Jacobians) of `data`, a bounded number of examples at a time."""
    with torch.no_grad():
        n_outputs = net(w, data.x[:1]).numel()
    size = max(1, CHUNK_NUMBERS // (n_outputs * w[part].numel()))
    for start in track(range(0, len(data), size), "curvature", progress):
        index = torch.arange(start, min(start + size, len(data)), device=w.device)
        yield jacobians(net, w, data.subset(index).batch(None)[0], part)


def ggn(
    problem: Problem,
    w: Tensor,
    *,
    part: slice = slice(None),
    diagonal: bool = False,
    progress: Progress = False,
) -> Tensor:
    """Compute H = sum_n J_n^T Lambda_n J_n (P, P), or its diagonal (P,): a sum, not a mean."""
    net, data, likelihood, _ = problem
    total = torch.zeros(())
    with torch.no_grad():
        shape = net(w, data.x[:1]).shape[1:]
    done = 0
    scale = len(data) / likelihood.count(data.y)
    for flat, J in jacobian_chunks(net, w, data, part, progress):
        n = len(J)
        outputs = flat.view(n, *shape)
        y = data.y[done : done + n]
        done = done + n
        product = output_curvature(outputs, likelihood, y)
        columns = J.transpose(1, 2)  # (n, P, C)
        curved = product(columns.reshape(n, columns.shape[1], *shape))
        curved = scale * curved.reshape(columns.shape).transpose(1, 2)
        if diagonal:
            total = total + (J * curved).sum((0, 1))
        else:
            total = total + torch.einsum("ncp,ncq->pq", J, curved)
    return total


def check_jacobians(problem: Problem, size: int) -> None:
    """Raise ValueError for a Jacobian of one example in `size` weights beyond MOST_NUMBERS."""
    net, data, *_ = problem
    with torch.no_grad():
        n_outputs = net(net.w, data.x[:1]).numel()
    numbers = n_outputs * size
    if numbers > MOST_NUMBERS:
        raise ValueError(
            f"the curvature needs the Jacobian of {n_outputs:,} outputs of an example in"
            f" {size:,} weights, got {numbers * net.w.element_size() / 2**30:,.0f} GiB and"
            f" {n_outputs * len(data):,} backward passes in all: treat the head alone,"
            " with structure='diagonal', which has a closed form for a linear head of classes;"
            " untie one that shares its weight (head.weight = nn.Parameter(head.weight.clone()))"
        )
