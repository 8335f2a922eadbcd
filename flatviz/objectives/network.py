"""Objectives computed from a network's outputs on data: the mean NLL, and any other number."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Literal

import torch
from torch import Tensor

from flatviz.checks import check_many_weights, check_weights, shown
from flatviz.core import (
    Data,
    Fields,
    Likelihood,
    Net,
    Objective,
    PointEvaluator,
    Product,
    Progress,
    differentiable,
    public,
    track,
    twice,
)
from flatviz.core.arithmetic import arithmetic, threads
from flatviz.core.inputs import tensors_of
from flatviz.engine.batchnorm import refresh_batchnorm
from flatviz.engine.cost import Work
from flatviz.engine.determinism import check_function
from flatviz.engine.evaluate import Scored, fast_evaluator
from flatviz.engine.graphs import LAUNCH_BOUND, ReplayedProduct
from flatviz.engine.trunk import cut_of
from flatviz.likelihood import Likelihood as OutputLikelihood
from flatviz.likelihood import as_likelihood
from flatviz.objectives.curvature import curvature_product
from flatviz.objectives.problem import Late, Problem, examined
from flatviz.storage.digest import net_digest, value_digest

# Batch of one gradient's graph, in chunks of a forward pass; larger ones exceed the CPU's cache
SWEEP = 16


@dataclass(frozen=True, eq=False)
class NetworkObjective(Objective):
    """Base class of objectives f(w) = score(outputs on `data`, y); a subclass defines the score.

    additive: scores of batches add up, and f is their sum over n.
    cost: of an example, by which batches are chosen.
    """

    net: Net = field()
    data: Data = field()
    cost: Work = field()
    kept: Late = field(default_factory=Late, init=False, repr=False)

    differentiable = False
    additive = False
    likelihood = (
        OutputLikelihood.categorical()
    )  # of a `Problem`; an objective of losses has its own

    @property
    def statistics(self) -> Data | None:
        """Data from which BatchNorm's statistics are re-estimated at every w, or None."""
        return None

    def __post_init__(self) -> None:
        used = "frozen" if self.statistics is None else "re-estimated"
        work = self.cost.layer * min(self.chunk, len(self.data))
        batchnorm = used if self.net.has_batchnorm else None
        # Properties of every objective, set past the frozen dataclass
        about = dict(
            dim=self.net.dim,
            n=len(self.data),
            batchnorm=batchnorm,
            work=work,
        )
        self.__dict__.update(about)

    def score(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compute the score () of outputs (N, C) and labels."""
        raise NotImplementedError

    @property
    def chunk(self) -> int:
        """Examples a batch."""
        return self.cost.chunk(self.data.x.device)

    @property
    def key(self) -> str:
        """Hash of the net and of all fields but cost, label and graph."""
        left_out = {"net", "cost", "label", "replayed", "kept"}
        names = {f.name for f in fields(self)} - left_out
        about = [getattr(self, name) for name in sorted(names)]
        return f"{net_digest(self.net)}/{value_digest([type(self), *about])}"

    def __call__(self, w: Tensor) -> Tensor:
        """Compute the value at `w` (D,)."""
        return self.many(check_weights(w, self.dim)[None])[0]

    @arithmetic()
    def many(self, W: Tensor, *, progress: Progress = False) -> Tensor:
        """Compute values (S,) at the rows of `W` (S, D), without gradients."""
        in_precision(check_many_weights(W, self.dim), self.net)
        late = self._late()
        with torch.no_grad(), threads(late.work.layer * min(self._size(late), len(self.data))):
            if not late.data.in_memory and self.additive and self.statistics is None:
                values = self._batch_by_batch(W, progress)
            else:
                read = list(late.data.batches(self._size(late))) if late.data.in_memory else None
                rows = [self.value(w, read, late.net) for w in track(W, self.label, progress)]
                values = torch.stack(rows)
            return values.to(W.dtype)

    def _late(self, fill: bool = True) -> Problem:
        """Return network and data on kept activations, or as they are.

        fill: Compute activations where there are none yet.
        """
        whole = Problem(self.net, self.data, self.likelihood, self.cost)
        return whole if self.statistics is not None else self.kept.of(whole, fill)

    def _size(self, late: Problem) -> int:
        """Examples a batch."""
        return late.work.chunk(late.net.device)

    def _batch_by_batch(self, W: Tensor, progress: Progress) -> Tensor:
        """Compute values (S,) with each batch read once, for all w; beyond a cut, once a batch."""
        n_batches = math.ceil(len(self.data) / self.chunk)
        batches = self.data.batches(self.chunk)
        total = W.new_zeros(len(W))
        cut = cut_of(self.net, self.data.x) if len(W) > 1 else None
        net = self.net if cut is None else cut.tail
        for x, y in track(batches, self.label, progress, n_batches):
            if cut is not None and isinstance(x, Tensor):
                x = cut.rows(x)
            scores = [self.score(net(w, x), y) for w in W]
            total = total + torch.stack(scores)
        return total / len(self.data)

    def over(
        self,
        origin: Tensor,
        axes: Tensor,
        *,
        exact: bool = False,
        precision: str | None = None,
        coords: Tensor | None = None,
    ) -> PointEvaluator:
        """Return an evaluator of values at origin + coords @ axes, by the engine where it can.

        Arguments as in `Objective`.

        Raises:
            ValueError: For a precision where the engine cannot follow the network, or beside
                exact=True.
        """
        in_precision(origin, self.net)
        if self.statistics is not None or not self.data.in_memory:
            if precision is not None:
                return super().over(origin, axes, precision=precision)
            # Each batch read once, for all points
            return PointEvaluator(self, origin, axes, together=not self.data.in_memory)
        if exact and precision is not None:
            raise ValueError(
                f"exact=True computes in the net's precision, got precision={precision!r}: leave"
                " one out"
            )
        if exact:
            return PointEvaluator(self, origin, axes)
        late = self._late()
        problem = Scored(late.net, late.data, self.score, self.additive)
        fast = fast_evaluator(problem, origin, axes, precision=precision, coords=coords)
        if fast is None and precision is not None:
            raise ValueError(
                f"precision={precision!r} needs a network that can be traced, got {self.net!r}:"
                " leave it out"
            )
        return fast or PointEvaluator(self, origin, axes)

    def value(
        self,
        w: Tensor,
        read: list[tuple[Tensor | Fields, Tensor]] | None,
        net: Net,
    ) -> Tensor:
        """Compute the value () at `w` (D,), from batches already read or from the data."""
        batches = self.data.batches(self.chunk) if read is None else read
        if self.statistics is not None:
            net = refresh_batchnorm(net, w, self.statistics)
        if self.additive:
            scores = [self.score(net(w, x), y) for x, y in batches]
            return sum(scores[1:], scores[0]) / len(self.data)
        outputs = [net(w, x) for x, _ in batches]
        return self.score(torch.cat(outputs), self.data.y)


@dataclass(frozen=True, eq=False)
class MeanNLL(NetworkObjective):
    """Mean NLL f(w) = -(1/n) sum_i log p(y_i | x_i, w), in nats; `nll` makes one.

    `f(w, index)` is the mean over a minibatch.
    """

    likelihood: OutputLikelihood = field()
    count: float = field()  # of examples, less the places that do not count
    replayed: ReplayedProduct = field(default_factory=ReplayedProduct, init=False, repr=False)

    label = "mean NLL (nats)"
    differentiable = additive = True

    @property
    def problem(self) -> Problem:
        """Network, data, likelihood and cost, for other functions of them."""
        return Problem(self.net, self.data, self.likelihood, self.cost)

    def __call__(self, w: Tensor, index: Tensor | None = None) -> Tensor:
        """Compute the mean loss () at `w` (D,), differentiable."""
        w = in_precision(w, self.net)
        if not self.data.in_memory and index is not None:
            late = self.problem
        else:
            late = self._late(fill=index is None)
        x, y = late.data.batch(index)
        return self.likelihood.nll(late.net(w, x), y)

    def score(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compute the sum () of the losses of a batch.

        Divided by n it is the mean over all labels that count.
        """
        total = self.likelihood.nll(outputs, y, "sum")
        if self.count == self.n:
            return total
        return total * (len(self.data) / self.count)

    def in_float64(self) -> Objective | None:
        """Return the loss of the same net in float64, None where a layer refuses it."""
        net = self.net.to(dtype=torch.float64)
        data = self.data.to(dtype=torch.float64)
        try:
            with torch.no_grad():
                net(net.w, data.x[:1])
        except (RuntimeError, ValueError, TypeError):
            return None
        return replace(self, net=net, data=data)

    def batches(self, size: int) -> list[Objective]:
        """Return the mean loss of each minibatch of `size` examples."""
        index = torch.arange(len(self.data), device=self.data.y.device)
        parts = [self.data.subset(part) for part in index.split(size)]
        return [mean_nll(self.problem._replace(data=part)) for part in parts]

    def operator(self, w: Tensor, curvature: str = "hessian") -> Product:
        """Return v -> M v at one `w`, with M the Hessian, the "ggn" or the empirical "fisher".

        Products share one graph.
        """
        w = in_precision(check_weights(w, self.dim), self.net)
        w = w.detach().clone()  # which the caller may change in place between two products
        late = self._late()
        most = SWEEP * self._size(late)
        product = curvature_product(late, w, curvature, max_batch=most)
        small = late.data.in_memory and late.work.macs * len(self.data) < LAUNCH_BOUND
        if small and curvature == "hessian":
            return partial(self.replayed, self._hvp, product, self._reads, w)
        return product

    def _reads(self) -> list[Tensor]:
        """Tensors that a product reads beside w and v."""
        net, data, *_ = self._late()
        x = data.x
        inputs = tensors_of(x) if isinstance(x, Tensor | Fields) else []
        weights = net.module.parameters()
        return [*weights, *net.buffers().values(), *inputs, data.y]

    def _hvp(self, w: Tensor, v: Tensor) -> Tensor:
        """Compute H(w) v in one pass without reading a value back, as a CUDA graph needs."""
        with differentiable(), twice():
            point = w.detach().requires_grad_(True)
            (gradient,) = torch.autograd.grad(self(point), point, create_graph=True)
            return torch.autograd.grad(gradient @ v, point)[0]


def in_precision(w: Tensor, net: Net) -> Tensor:
    """Check the dtype of `w`: half precision needs a net of the same dtype."""
    half = w.dtype in (torch.float16, torch.bfloat16)
    if half and w.dtype != net.w.dtype:
        raise TypeError(
            f"weights must be in {net.w.dtype} as the net, got {w.dtype}: convert them,"
            f" w.to({net.w.dtype})"
        )
    return w


@public
def nll(net: Net, data: Data, *, likelihood: Likelihood = "categorical") -> MeanNLL:
    """Build the mean negative log likelihood of `data` as an objective of `net`'s treated weights.

    A net that writes into its inputs gets copies of them.

    Args:
        net: The network; f is over its D treated weights.
        data: The n examples.
        likelihood: "categorical", "bernoulli" (labels 0 and 1), the standard deviation of Gaussian
            noise on floating targets, "gaussian" (outputs are mean and noise), or a
            `fv.Likelihood`.

    Raises:
        ValueError: For labels out of range, data that the net cannot take, and a net that is not a
            function of its weights (random numbers from active dropout), whose outputs depend on
            the rest of the batch, or are probabilities.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> f = fv.nll(net, fv.Data(torch.ones(4, 2), torch.tensor([0, 1, 2, 2])))
        >>> f.n, round(float(f(torch.zeros(net.dim))), 4)  # log 3 where all logits are 0
        (4, 1.0986)
    """
    return mean_nll(examined(net, data, likelihood))


def mean_nll(problem: Problem) -> MeanNLL:
    """Build the mean NLL of a problem, with a copy of its labels: changes would be unchecked."""
    net, data, likelihood, work = problem
    data = replace(data, y=data.y.clone())
    return MeanNLL(net, data, work, likelihood, likelihood.count(data.y))


def _named_score(
    out: Tensor,
    y: Tensor,
    what: str,
    likelihood: Likelihood,
) -> Tensor:
    """Compute mean NLL, accuracy or error rate () of outputs over the labels that count."""
    p = as_likelihood(likelihood)
    if what == "nll":
        return p.nll(out, y)
    if (log_p := p.log_probs(out)) is None:
        raise ValueError(
            f"{what!r} needs a likelihood of classes, got {likelihood!r}: use 'nll', or a function"
        )
    right = log_p.argmax(-1).view(y.shape) == y
    if p.weights(y) is not None:
        right = right[p.mask(y)]
    accuracy = right.to(out.dtype).mean()
    return accuracy if what == "accuracy" else 1 - accuracy


NAMED = {"accuracy": "accuracy", "error": "error rate", "nll": "mean NLL (nats)"}


@dataclass(frozen=True, eq=False)
class Quantity(NetworkObjective):
    """Any quantity g(w) = function(outputs (N, C), y) of a network, without gradients.

    `quantity` makes one.
    """

    function: Callable[[Tensor, Tensor], Tensor] = field(repr=False)
    label: str = field()
    statistics: Data | None = field(default=None, repr=False)

    def score(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compute the function's value (), NaN where an output is NaN or +inf."""
        value = torch.as_tensor(self.function(outputs, y)).detach()
        if value.is_complex():
            raise TypeError(
                f"a quantity must be a real number, got {value.dtype} of {self.label}: take its"
                " abs() or real part"
            )
        if value.numel() != 1:
            raise ValueError(
                f"a quantity must be one real number, got shape {tuple(value.shape)} of"
                f" {self.label}: take its mean"
            )
        # The argmax of NaN would be a class
        finite = outputs.amax() < math.inf
        return torch.where(finite, value.reshape(()), math.nan)


@public
def quantity(
    net: Net,
    data: Data,
    what: str | Callable[[Tensor, Tensor], Tensor],
    *,
    label: str | None = None,
    likelihood: Likelihood = "categorical",
    batchnorm: Literal["frozen"] | Data = "frozen",
) -> Quantity:
    """Build an objective from any function of the outputs, for slices and paths.

    Args:
        net: The network; the objective is over its D treated weights.
        data: The N examples.
        what: "accuracy", "error", "nll", or a function of outputs (N, C) and y (N,) that returns a
            scalar; a `Prediction`'s metric is
            `lambda out, y: fv.metrics.ece(fv.Prediction(out[None], y))`.
        label: Name of the values in figures.
        likelihood: Likelihood under which a named quantity is computed, as in `nll`; accuracy and
            error need one of classes.
        batchnorm: "frozen", the net's statistics; or a `Data`, from which they are re-estimated at
            every point.

    Raises:
        ValueError: For an unknown name or choice, the accuracy of a regression, and for a net that
            `nll` would refuse.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.ones(4, 2), torch.tensor([0, 1, 2, 2]))
        >>> W = torch.zeros(2, net.dim)
        >>> W[1, -1] = 1.0  # a bias for class 2
        >>> fv.quantity(net, data, "accuracy").many(W).tolist()
        [0.25, 0.5]
        >>> spread = fv.quantity(net, data, lambda out, y: out.std(), label="spread of the logits")
        >>> fv.slice_line(spread, W[0], W[1], resolution=3).y_label
        'spread of the logits'
    """
    if isinstance(what, str) and what not in NAMED:
        raise ValueError(
            f"what must be one of {', '.join(map(repr, NAMED))}, or a function of outputs and y,"
            f" got {shown(what)}"
        )
    if isinstance(what, str):
        named = NAMED[what]
        work = examined(net, data, likelihood).work
        what = partial(_named_score, what=what, likelihood=likelihood)
        with torch.no_grad():
            outputs = net(net.w, data.x[:2])
            what(outputs, data.y[:2])
    else:
        named = getattr(what, "__name__", "quantity").replace("<lambda>", "quantity")
        net, work = check_function(net, data.x)
    statistics = batchnorm if isinstance(batchnorm, Data) and net.has_batchnorm else None
    return Quantity(net, data, work, what, label or named, statistics)
