"""Products of a network's Hessian, GGN and empirical Fisher matrix with a vector."""

import re
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import get_args

import torch
from torch import Tensor, nn

from flatviz.core import (
    Curvature,
    Data,
    Net,
    Product,
    differentiable,
    hessian_operator,
    threads,
    twice,
)
from flatviz.engine.cost import Sizes
from flatviz.objectives.jacobians import jacobian_chunks
from flatviz.objectives.outputs import output_curvature
from flatviz.objectives.problem import Problem
from flatviz.words import check_choice

# Bytes of all results of the passes whose graphs are kept; a graph holds about half of them.  The
# graphs of further batches are built again for each product
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

    max_batch: largest batch size.  The graphs of the first batches are kept, within GRAPH_BYTES;
        those of the others are built again for each product.
    """
    check_choice(curvature, get_args(Curvature), "curvature")
    make_product = _hessian
    if curvature != "hessian":
        make_product = partial(_through_outputs, empirical=curvature == "fisher")
    data = problem.data
    divisor = problem.likelihood.count(data.y)
    examples_that_fit = batch_that_fits(problem, w)
    size = min(examples_that_fit, max_batch or examples_that_fit)

    def products_of_batches(data: Data) -> Iterator[Product]:
        for x, y in data.batches(size):
            batch = problem._replace(data=Data(x, y))
            yield make_product(batch, w, divisor)

    work = problem.work.layer * min(size, len(data))
    with threads(work):
        kept = list(islice(products_of_batches(data), examples_that_fit // size))
    n_kept = len(kept) * size
    rest = data.subset(slice(n_kept, None)) if n_kept < len(data) else None

    @threads(work)
    def product(v: Tensor) -> Tensor:
        total = torch.zeros_like(v)
        for batch_product in kept:
            total = total + batch_product(v)
        if rest is not None:
            for batch_product in products_of_batches(rest):
                total = total + batch_product(v)
        return total

    return product


def batch_that_fits(problem: Problem, w: Tensor) -> int:
    """Count the examples of which a gradient's graph fits in GRAPH_BYTES.

    The bytes of an example follow from gradients of two and of four: what does not grow with the
    number of examples drops out of their difference.
    """
    net = problem.net
    data = problem.data
    likelihood = problem.likelihood

    def bytes_of(n: int) -> int:
        with differentiable(), twice(), Sizes() as seen:
            point = w.detach().clone().requires_grad_(True)
            x, y = data.batch(torch.arange(n) % len(data))
            loss = likelihood.nll(net(point, x), y)
            _ = torch.autograd.grad(loss, point, create_graph=True)
        return sum(seen.sizes)

    bytes_of_two = bytes_of(4) - bytes_of(2)
    return max(1, 2 * GRAPH_BYTES // max(bytes_of_two, 1))


def _hessian(problem: Problem, w: Tensor, divisor: float) -> Product:
    """Return v -> H v, with H the Hessian of the sum of losses, divided by `divisor`.

    Raises:
        ValueError: For a layer without second derivatives, by name; torch's error has no names.
    """
    net = problem.net
    likelihood = problem.likelihood
    x, y = problem.data.batch(None)

    def loss(w: Tensor) -> Tensor:
        return likelihood.nll(net(w, x), y, "sum") / divisor

    product = hessian_operator(loss, w)

    def product_or_reason(v: Tensor) -> Tensor:
        try:
            return product(v)
        except RuntimeError as error:
            if (operation := _without_derivative(error)) is None:
                raise
            raise ValueError(
                "the Hessian needs second derivatives of every layer, got"
                f" {operation}{_layers_of(operation, net.module)}, for which PyTorch has none: use"
                " curvature='ggn' or 'fisher', or another activation"
            ) from error

    return product_or_reason


def _layers_of(operation: str, module: nn.Module) -> str:
    """Name the layers whose class is called as an operation of torch: " in '0', '2'", or ""."""
    name_of_class = operation.replace("_", "")
    layers = []
    for name, part in module.named_modules():
        if type(part).__name__.lower() == name_of_class:
            layers.append(repr(name))
    return f" in {', '.join(layers[:3])}" if layers else ""


def _without_derivative(error: RuntimeError) -> str | None:
    """Name the operation that, by torch's error, has no derivative; None for another error."""
    # Of torch.view_as_complex: "Tensor must have a storage_offset divisible by 2", for complex
    # weights at an odd position of w
    if "storage_offset divisible by 2" in str(error):
        return "view_as_complex"
    named = re.search(
        r"derivative for (?:aten::|')(\w+?)(?:_for_cpu)?(?:_backward)?'? is not implemented",
        str(error),
    )
    return named[1].strip("_") if named else None


def _through_outputs(
    problem: Problem,
    w: Tensor,
    divisor: float,
    *,
    empirical: bool,
) -> Product:
    """Return v -> the sum over examples of J^T A J v, divided by `divisor`.

    A (C, C) is an example's L''; if `empirical` it is e e^T, where e is the derivative of its loss
    in its outputs, so that J^T e is its gradient.
    """
    likelihood = problem.likelihood
    y = problem.data.y
    linearised = Linearised(problem.net, w, problem.data)
    outputs = linearised.outputs.detach()
    if empirical:
        times_A = _outer_product(likelihood.gradient(outputs, y))
    else:
        times_A = output_curvature(outputs, likelihood, y)

    def product(v: Tensor) -> Tensor:
        return linearised.transposed_times(times_A(linearised.times(v)) / divisor)

    return product


class Linearised:
    """A network's outputs on `data` at `w`, with products of their Jacobian J (N C, D)."""

    def __init__(self, net: Net, w: Tensor, data: Data) -> None:
        self.net = net
        self.w = w
        self.data = data
        x, _ = data.batch(None)
        self._x = x
        with differentiable(), twice():
            self._point = w.detach().clone().requires_grad_(True)
            self.outputs = net(self._point, x)  # (N, C), with the graph that leads to them
            # J^T u at u = 0.  It is linear in u, so that its derivative along v is J v
            self._zero = torch.zeros_like(self.outputs, requires_grad=True)
            (self._transposed,) = torch.autograd.grad(
                self.outputs, self._point, self._zero, create_graph=True
            )

    def transposed_times(self, u: Tensor) -> Tensor:
        """Compute J^T u (D,) of u (N, C)."""
        (product,) = torch.autograd.grad(self.outputs, self._point, u, retain_graph=True)
        return product

    def times(self, v: Tensor) -> Tensor:
        """Compute J v (N, C): twice backward, else forward, else by J itself, as layers allow."""
        try:  # needs second derivatives
            return torch.autograd.grad(self._transposed, self._zero, v, retain_graph=True)[0]
        except RuntimeError as error:
            if _without_derivative(error) is None:
                raise
        try:
            return self._forward_times(v)
        except RuntimeError:  # a layer without forward derivatives; J needs first ones alone
            products = [J @ v for _, J in jacobian_chunks(self.net, self.w, self.data)]
            return torch.cat(products).view_as(self.outputs)

    def _forward_times(self, v: Tensor) -> Tensor:
        """Compute J v by forward derivatives."""

        def outputs(w: Tensor) -> Tensor:
            return self.net(w, self._x)

        with torch.no_grad(), twice():
            along_v = torch.func.jvp(outputs, (self.w.detach(),), (v,))
        return along_v[1]


def _outer_product(e: Tensor) -> Product:
    """Return u -> e e^T u for each example of e (N, ...)."""
    e = e.flatten(1)

    def product(u: Tensor) -> Tensor:
        dot = (e * u.reshape(e.shape)).sum(-1, keepdim=True)
        return (e * dot).reshape(u.shape)

    return product
