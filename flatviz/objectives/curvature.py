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

# Most bytes that the operations behind kept graphs may have written, about half of which the graphs
# keep; the graphs of further batches are built again for each product
GRAPH_BYTES = 2**32


def curvature_product(
    problem: Problem,
    w: Tensor,
    curvature: str,
    *,
    max_batch: int | None = None,
) -> Product:
    """Return the function v -> M v at one `w`; v and w are (D,).

    M is the mean over the data of the Hessian, of J^T L'' J ("ggn") or of g g^T ("fisher").  J
    (C, D) is the Jacobian of an example's outputs, L'' (C, C) the second derivative of its loss in
    the outputs, g its gradient in w.

    max_batch: most examples a batch.  The graphs of the first batches are kept, as many as fit in
        GRAPH_BYTES; those of the others are built again for each product.
    """
    check_choice(curvature, get_args(Curvature), "curvature")
    make_product = _hessian if curvature == "hessian" else _outer
    data = problem.data
    divisor = problem.likelihood.count(data.y)
    n_kept = batch_that_fits(problem, w)
    size = min(n_kept, max_batch or n_kept)

    def batch_products(first: int, stop: int | None) -> Iterator[Product]:
        """Build the products of the batches from number `first` to before `stop`."""
        for x, y in islice(data.batches(size), first, stop):
            batch = problem._replace(data=Data(x, y))
            yield make_product(batch, w, curvature, divisor)

    work = problem.work.layer * min(size, len(data))
    with threads(work):
        kept = list(batch_products(0, n_kept // size))

    @threads(work)
    def product(v: Tensor) -> Tensor:
        total = torch.zeros_like(v)
        for of_batch in kept:
            total = total + of_batch(v)
        if len(kept) * size < len(data):
            for of_batch in batch_products(len(kept), None):
                total = total + of_batch(v)
        return total

    return product


def batch_that_fits(problem: Problem, w: Tensor) -> int:
    """Count the examples whose gradient, with its graph, fits in GRAPH_BYTES.

    The bytes of an example follow from gradients of two and of four: what does not grow with the
    number of examples drops out of their difference.
    """
    net, data, likelihood, _ = problem

    def bytes_of(n: int) -> int:
        with differentiable(), twice(), Sizes() as seen:
            point = w.detach().clone().requires_grad_(True)
            x, y = data.batch(torch.arange(n) % len(data))
            loss = likelihood.nll(net(point, x), y)
            _ = torch.autograd.grad(loss, point, create_graph=True)
        return sum(seen.sizes)

    bytes_of_two = bytes_of(4) - bytes_of(2)
    return max(1, 2 * GRAPH_BYTES // max(bytes_of_two, 1))


def _hessian(problem: Problem, w: Tensor, _: str, n: float) -> Product:
    """Return v -> H v, with H the Hessian of the summed losses over `n`.

    Its error for a layer without second derivatives names the layer, which torch's does not.
    """
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
            kind = operation.replace("_", "")  # as the class of a layer in lower case
            layers = net.module.named_modules()
            named = [repr(name) for name, part in layers if type(part).__name__.lower() == kind]
            where = f" in {', '.join(named[:3])}" if named else ""
            raise ValueError(
                f"the Hessian needs second derivatives of every layer, got {operation}{where}, for"
                " which PyTorch has none: use curvature='ggn' or 'fisher', or another activation"
            ) from error

    return product_or_reason


def _without_derivative(error: RuntimeError) -> str | None:
    """Name the operation that, by torch's error, has no derivative; None for another error."""
    if "storage_offset divisible by 2" in str(error):  # complex weights at an odd position of w
        return "view_as_complex"
    named = re.search(
        r"derivative for (?:aten::|')(\w+?)(?:_for_cpu)?(?:_backward)?'? is not implemented",
        str(error),
    )
    return named[1].strip("_") if named else None


def _outer(problem: Problem, w: Tensor, kind: str, n: float) -> Product:
    """Return v -> sum over examples of J^T A J v, over `n`.

    A (C, C) is an example's L'' for the `kind` "ggn", otherwise e e^T, where e is the derivative of
    its loss in its outputs: J^T e = g.
    """
    net, data, likelihood, _ = problem
    out, point, times_J = linear(net, w, data)
    value = out.detach()
    if kind == "ggn":
        times_A = output_curvature(value, likelihood, data.y)
    else:
        times_A = _outer_product(likelihood.gradient(value, data.y))

    def product(v: Tensor) -> Tensor:
        u = times_A(times_J(v)) / n
        (pulled_back,) = torch.autograd.grad(out, point, u, retain_graph=True)  # J^T u
        return pulled_back

    return product


def linear(net: Net, w: Tensor, data: Data) -> tuple[Tensor, Tensor, Product]:
    """Return outputs (N, C) at `w` (D,), the copy of w that they depend on, and v (D,) -> J v.

    The graph from the copy to the outputs stays, for products J^T u of the caller.
    """
    x, _ = data.batch(None)
    with differentiable(), twice():
        point = w.detach().clone().requires_grad_(True)
        out = net(point, x)
        dummy = torch.zeros_like(out, requires_grad=True)
        (pulled,) = torch.autograd.grad(out, point, dummy, create_graph=True)  # J^T u, linear in u

    def times_J(v: Tensor) -> Tensor:
        """Compute J v (N, C) in the first of three ways that all layers of the network allow."""
        try:  # the transpose of u -> J^T u, which needs second derivatives
            return torch.autograd.grad(pulled, dummy, v, retain_graph=True)[0]
        except RuntimeError as error:
            if _without_derivative(error) is None:
                raise
        try:  # forward derivatives
            with torch.no_grad(), twice():
                return torch.func.jvp(lambda p: net(p, x), (w.detach(),), (v,))[1]
        except RuntimeError:  # J itself, by first derivatives
            products = [J @ v for _, J in jacobian_chunks(net, w, data)]
            return torch.cat(products).view_as(out)

    return out, point, times_J


def _outer_product(e: Tensor) -> Product:
    """Return u -> e e^T u for each example of e (N, ...)."""
    e = e.flatten(1)

    def product(u: Tensor) -> Tensor:
        dot = (e * u.reshape(e.shape)).sum(-1, keepdim=True)
        return (e * dot).reshape(u.shape)

    return product


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
        # vmap gives wrong derivatives of EmbeddingBag: compare the sum over C of the first example
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
    for index in track(chunks, "curvature", progress):
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
    """Compute H = sum_n J_n^T Lambda_n J_n (P, P), or its diagonal (P,).

    It is a sum, not a mean.  If some places do not count, it is N times the mean over the others.
    """
    net, data, likelihood, _ = problem
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
    net, data, likelihood, _ = problem
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
    n_batches = -(-len(data) // size)  # rounded up
    for x, y in track(data.batches(size), "curvature", progress, n_batches):
        with torch.no_grad():
            outputs = net(w, x)
            probs = likelihood.log_probs(outputs).exp()
            places = probs.shape[:2]  # (n, places an example)
            labels = probs.flatten(0, 1).cpu().multinomial(draws, True, generator=source)
            shares = likelihood.shares(outputs, y)
            s = scale * (probs.new_ones(places) if shares is None else shares.flatten(1))
        labels = labels.view(*places, draws).to(y.device)
        root_s = s.sqrt()[..., None]
        _, g = jacobians(net, w, x, part, weighted_log_p, (labels, root_s))
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

    dense: the curvature is a matrix, not a diagonal.
    warn: warn with an estimate of the work if it is more than LONG_WORK.
    draws: number of drawn labels, each a row in place of those of the outputs (`sampled_ggn`).

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
