"""Curvature of a network's loss: products with Hessian, GGN and empirical Fisher; Jacobians."""

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
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
    generator,
    hessian_operator,
    threads,
    track,
    twice,
)
from flatviz.engine.cost import Sizes
from flatviz.engine.determinism import same_to_rounding
from flatviz.likelihood import CategoricalLikelihood
from flatviz.objectives.outputs import output_curvature
from flatviz.objectives.problem import Problem
from flatviz.words import check_choice

# Bytes of all results behind kept graphs, about half of which are kept; other batches are computed
# again for each product
GRAPH_BYTES = 2**32


def curvature_product(
    problem: Problem,
    w: Tensor,
    curvature: str,
    *,
    max_batch: int | None = None,
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
        total = torch.zeros_like(v)
        for part in stored:
            total = total + part(v)
        if len(stored) * size < len(data):
            for part in products(len(stored), None):
                total = total + part(v)
        return total

    return product


def batch_that_fits(problem: Problem, w: Tensor) -> int:
    """Count the examples whose results fit in GRAPH_BYTES, by those of four and of two."""
    net, data, likelihood, _ = problem

    def results(n: int) -> int:
        with differentiable(), twice(), Sizes() as seen:
            point = w.detach().clone().requires_grad_(True)
            x, y = data.batch(torch.arange(n) % len(data))
            loss = likelihood.nll(net(point, x), y)
            _ = torch.autograd.grad(loss, point, create_graph=True)
        return sum(seen.sizes)

    two_more = results(4) - results(2)
    return max(1, 2 * GRAPH_BYTES // max(two_more, 1))


def _hessian(problem: Problem, w: Tensor, _: str, n: float) -> Product:
    net, data, likelihood, _work = problem
    x, y = data.batch(None)

    def loss(w: Tensor) -> Tensor:
        return likelihood.nll(net(w, x), y, "sum") / n

    product = hessian_operator(loss, w)

    def product_or_reason(v: Tensor) -> Tensor:
        try:
            return product(v)
        except RuntimeError as error:
            if (operation := _without_derivative(error)) is None:
                raise
            alike = operation.replace("_", "")
            layers = net.module.named_modules()
            named = [repr(name) for name, part in layers if type(part).__name__.lower() == alike]
            where = f" in {', '.join(named[:3])}" if named else ""
            raise ValueError(
                f"the Hessian needs second derivatives of every layer, got {operation}{where}, for"
                " which PyTorch has none: use curvature='ggn' or 'fisher', or another activation"
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
        u = inner(moved_along(v)) / n
        (back,) = torch.autograd.grad(out, point, u, retain_graph=True)
        return back

    return product


def linear(net: Net, w: Tensor, data: Data) -> tuple[Tensor, Tensor, Product]:
    """Return outputs at `w` (D,), the copy of w that they depend on, and v (D,) -> J v."""
    x, _ = data.batch(None)
    with differentiable(), twice():
        point = w.detach().clone().requires_grad_(True)
        out = net(point, x)
        dummy = torch.zeros_like(out, requires_grad=True)
        (pulled,) = torch.autograd.grad(out, point, dummy, create_graph=True)  # J^T u, linear in u

    def moved_along(v: Tensor) -> Tensor:
        """Compute J v (N, C), by the transpose of u -> J^T u, forward derivatives or rows of J."""
        try:
            return torch.autograd.grad(pulled, dummy, v, retain_graph=True)[0]
        except RuntimeError as error:
            if _without_derivative(error) is None:
                raise
        try:
            with torch.no_grad(), twice():
                return torch.func.jvp(lambda p: net(p, x), (w.detach(),), (v,))[1]
        except RuntimeError:
            rows = [J @ v for _, J in jacobian_chunks(net, w, data)]
            return torch.cat(rows).view_as(out)

    return out, point, moved_along


def _outer_product(e: Tensor) -> Product:
    """Return u -> e e^T u for each example of e (N, ...)."""
    e = e.flatten(1)

    def product(u: Tensor) -> Tensor:
        along = (e * u.reshape(e.shape)).sum(-1, keepdim=True)
        return (e * along).reshape(u.shape)

    return product


CHUNK_NUMBERS = 2**24  # of one chunk of Jacobians: 64 MB in float32
MOST_NUMBERS = 2**30  # of the Jacobian of one example: 4 GiB in float32
SPEED = 5e9  # multiply-adds of them a second, about, on a core
LONG_WORK = 60 * SPEED
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

    read: what to differentiate, (C,), of the outputs of an example and its row of each of `more`.
    """
    w = w.detach()
    start, stop, _ = part.indices(len(w))

    def outputs(v: Tensor, one: Tensor, *its: Tensor) -> tuple[Tensor, Tensor]:
        full = torch.cat([w[:start], v, w[stop:]])
        out = read(net(full, one[None])[0], *its)
        return out, out

    def rows(i: int, along: Tensor | None = None) -> tuple[Tensor, Tensor]:
        its = [t[i] for t in more]
        return jacobian_rows(net, w, x[i : i + 1], part, along, lambda out: read(out, *its))

    in_dims = (None, 0, *[0] * len(more))
    jacobian = vmap(jacrev(outputs, has_aux=True), in_dims=in_dims)
    try:
        with twice():  # vmap has no rule for fused attention, and takes its rows one by one
            J, out = jacobian(w[part], x, *more)
        # vmap gives wrong derivatives of EmbeddingBag
        first, _ = rows(0, J.new_ones(1, J.shape[1]))
        right = same_to_rounding(J[:1].sum(1), first)
    # what function transforms do not take, as an embedding with max_norm, hooks, an
    # autograd.Function
    except RuntimeError:
        right = False
    if not right:
        each = [rows(i) for i in range(len(x))]
        J, out = map(torch.stack, zip(*each))
    return out.detach(), J.detach()


def jacobian_rows(
    net: Net,
    w: Tensor,
    x: Tensor | Fields,
    part: slice,
    along: Tensor | None = None,
    read: Callable[[Tensor], Tensor] = torch.flatten,
) -> tuple[Tensor, Tensor]:
    """Compute J (C, P), or along @ J, and outputs (C,) of one example, by rows."""
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
    """Iterate over (outputs, Jacobians) of `data`, a bounded number of examples at a time."""
    with torch.no_grad():
        n_outputs = net(w, data.x[:1]).numel()
    numbers = n_outputs * w[part].numel()
    parts = torch.arange(len(data), device=w.device).split(max(1, CHUNK_NUMBERS // numbers))
    for index in track(parts, "curvature", progress):
        x, _ = data.batch(index)
        yield jacobians(net, w, x, part)


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
        curved = product(columns.reshape(*columns.shape[:2], *shape))
        curved = scale * curved.reshape(columns.shape).transpose(1, 2)
        if diagonal:
            total = total + (J * curved).sum((0, 1))
        else:
            total = total + torch.einsum("ncp,ncq->pq", J, curved)
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

    It takes `draws` backward passes an example, whatever the number of outputs.

    Raises:
        ValueError: For a likelihood that is not of classes.
    """
    net, data, p, _ = problem
    if not isinstance(p, CategoricalLikelihood):
        raise ValueError(f"label_draws needs likelihood='categorical', got {p!r}")
    source = generator(seed)
    scale = len(data) / p.count(data.y)
    total = torch.zeros(())

    def read(out: Tensor, labels: Tensor, root: Tensor) -> Tensor:
        log_p = p.log_probs(out[None])[0]  # (places, C)
        return (root * log_p.gather(-1, labels)).sum(0)

    size = max(1, CHUNK_NUMBERS // (draws * w[part].numel()))
    n_batches = -(-len(data) // size)
    for x, y in track(data.batches(size), "curvature", progress, n_batches):
        with torch.no_grad():
            outputs = net(w, x)
            probs = p.log_probs(outputs).exp()
            places = probs.shape[:2]
            labels = probs.flatten(0, 1).cpu().multinomial(draws, True, generator=source)
            share = p.shares(outputs, y)
            s = scale * (probs.new_ones(places) if share is None else share.flatten(1))
        labels = labels.view(*places, draws).to(y.device)
        _, g = jacobians(net, w, x, part, read, (labels, s.sqrt()[..., None]))
        g = g.flatten(0, 1)
        total = total + (g.square().sum(0) if diagonal else g.T @ g) / draws
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

    warn: Warn with an estimate of the work where all of them take more than LONG_WORK.

    Raises:
        ValueError: For a Jacobian of one example that is beyond MOST_NUMBERS.
    """
    net, data, _, cost = problem
    with torch.no_grad():
        n_outputs = draws or net(net.w, data.x[:1]).numel()
    work = n_outputs * len(data) * (2 * cost.macs + size * (size if dense else 1))
    if warn and work > LONG_WORK:
        warnings.warn(
            f"the curvature takes {work:.0e} multiply-adds, about {work / SPEED / 60:,.0f} minutes"
            f" on a core, for {n_outputs:,} outputs of {len(data):,} examples in {size:,} weights:"
            f" {FEWER}progress=True shows the time left; fewer examples, data.subset(index), or an"
            " untied head of classes take less",
            stacklevel=5,  # the caller of the public verb
        )
    if (numbers := n_outputs * size) > MOST_NUMBERS:
        raise ValueError(
            f"the curvature needs the Jacobian of {n_outputs:,} outputs of an example in"
            f" {size:,} weights, got {numbers * net.w.element_size() / 2**30:,.0f} GiB and"
            f" {n_outputs * len(data):,} backward passes in all: {FEWER}or treat the head alone,"
            " with structure='diagonal', which has a closed form for a linear head of classes;"
            " untie one that shares its weight (head.weight = nn.Parameter(head.weight.clone()))"
        )
