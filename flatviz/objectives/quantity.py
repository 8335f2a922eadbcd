"""Any number of a network's outputs as an objective: accuracy, calibration, a function of the user."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor

from flatviz.core import Data, Likelihood, Net, public
from flatviz.engine.determinism import check_function
from flatviz.likelihood import as_likelihood
from flatviz.objectives.network import NetworkObjective, check_data


@dataclass(frozen=True)
class Named:
    """A score of outputs under a likelihood: the mean NLL, or the share of labels, of those that count, that are right or wrong."""

    what: str
    likelihood: Likelihood

    def __call__(self, out: Tensor, y: Tensor) -> Tensor:
        """Score outputs (N, ...) and their y, ()."""
        likelihood = as_likelihood(self.likelihood)
        if self.what == "nll":
            return likelihood.nll(out, y)
        if (log_p := likelihood.log_probs(out)) is None:
            raise ValueError(f"{self.what!r} needs a likelihood of classes, got {self.likelihood!r}: use 'nll', or a function")
        right = log_p.argmax(-1).view(y.shape) == y
        share = (right if (counts := likelihood.counts(y)) is None else right[counts]).to(out.dtype).mean()
        return share if self.what == "accuracy" else 1 - share


NAMED = {"accuracy": "accuracy", "error": "error rate", "nll": "mean NLL (nats)"}


@dataclass(frozen=True, eq=False)
class Quantity(NetworkObjective):
    """Any quantity g(w) = function(outputs (N, C), y) of one network at weights `w`; `quantity` builds it.  Values, not gradients."""

    function: Callable[[Tensor, Tensor], Tensor] = field(repr=False)
    label: str = field()
    statistics: Data | None = field(default=None, repr=False)

    def score(self, outputs: Tensor, y: Tensor) -> Tensor:
        """The function's value, (); NaN where an output is NaN or +inf."""
        value = torch.as_tensor(self.function(outputs, y)).detach()
        if value.is_complex():
            raise TypeError(f"a quantity must be a real number, got {value.dtype} of {self.label}: take its abs() or real part")
        if value.numel() != 1:
            raise ValueError(f"a quantity must be one number, got shape {tuple(value.shape)} of {self.label}: take its mean")
        return torch.where(outputs.amax() < math.inf, value.reshape(()), math.nan)  # an argmax of NaN is a number


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
    """Build an objective of any number computed from the outputs, for slices and paths: what(outputs (N, C), y (N,)) -> ().

    Args:
        net: The network; the objective is over its D treated weights.
        data: The N examples.
        what: "accuracy", "error", "nll", or a function; a `Prediction`'s metric is
            `lambda out, y: fv.metrics.ece(fv.Prediction(out[None], y))`.
        label: Name of the values in pictures.
        likelihood: Likelihood under which a name is computed, as in `nll`; accuracy and error need one of classes.
        batchnorm: "frozen", the net's statistics; a `Data`, from which they are re-estimated at every point.

    Raises:
        ValueError: For an unknown name or choice, the accuracy of a regression, and for a net that `nll` would refuse.

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
        raise ValueError(f"what must be one of {', '.join(map(repr, NAMED))}, or a function of outputs and y, got {what!r}")
    function = Named(what, likelihood) if isinstance(what, str) else what
    if isinstance(function, Named):
        named, (net, work) = NAMED[function.what], check_data(net, data, likelihood)
        with torch.no_grad():
            function(net(net.w, data.x[:2]), data.y[:2])
    else:
        named = getattr(what, "__name__", "quantity").replace("<lambda>", "quantity")
        net, work = check_function(net, data.x)
    statistics = batchnorm if isinstance(batchnorm, Data) and net.has_batchnorm else None
    return Quantity(net, data, work, function, label or named, statistics)
