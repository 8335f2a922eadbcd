"""The mean NLL as a function of the inputs, at fixed weights."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from flatviz.checks import check_many_weights
from flatviz.core import Data, Likelihood, Net, Objective, Progress, public, track
from flatviz.core.arithmetic import arithmetic, threads
from flatviz.engine.cost import Work
from flatviz.likelihood import Likelihood as OutputLikelihood
from flatviz.objectives.problem import examined
from flatviz.storage.digest import net_digest, value_digest


@dataclass(frozen=True, eq=False)
class InputNLL(Objective):
    """Mean NLL f(x) of the flattened inputs x (D,) at the weights of a net; `input_nll` makes one.

    start: The inputs of the data as a vector (D,), where slices and curvature begin.
    """

    network: Net = field()
    inputs: Tensor = field(repr=False)
    y: Tensor = field(repr=False)
    likelihood: OutputLikelihood = field()
    cost: Work = field(repr=False)

    label = "mean NLL (nats)"
    together = True

    def __post_init__(self) -> None:
        batchnorm = "frozen" if self.network.has_batchnorm else None
        work = self.cost.layer * len(self.y)
        about = dict(
            dim=self.inputs.numel(),
            n=len(self.y),
            batchnorm=batchnorm,
            work=work,
        )
        self.__dict__.update(about)

    @property
    def start(self) -> Tensor:
        """The inputs of the data as a vector (D,)."""
        return self.inputs.flatten()

    @property
    def key(self) -> str:
        """Hash of the net, its weights, the shape of inputs, labels and likelihood."""
        about = [type(self), self.network.w, self.inputs.shape, self.y, self.likelihood]
        return f"{net_digest(self.network)}/{value_digest(about)}"

    def __call__(self, x: Tensor) -> Tensor:
        """Compute the mean loss () at inputs `x` (D,), differentiable."""
        net = self.network
        outputs = net(net.w.to(x.dtype), x.view_as(self.inputs))
        return self.likelihood.nll(outputs, self.y)

    @arithmetic()
    def many(self, X: Tensor, *, progress: Progress = False) -> Tensor:
        """Compute values (S,) at the rows of `X` (S, D), several in one batch."""
        check_many_weights(X, self.dim, "X")
        net = self.network
        n = len(self.y)
        rows = max(1, self.cost.chunk(X.device) // n)
        values = []
        with torch.no_grad(), threads(self.cost.layer * rows * n):
            for part in track(X.split(rows), self.label, progress):
                joined = part.reshape(-1, *self.inputs.shape[1:])
                outputs = net(net.w.to(X.dtype), joined)
                values += [self.likelihood.nll(out, self.y) for out in outputs.split(n)]
        return torch.stack(values)


@public
def input_nll(net: Net, data: Data, *, likelihood: Likelihood = "categorical") -> InputNLL:
    """Build the mean NLL as an objective of the inputs, at the weights `net.w`.

    Its vector x (D,) holds the inputs of `data` one after the other, `f.start`: one image of C
    channels has D = C H W.  Slices, planes, paths and curvature take it as a loss of weights.  For
    another function of the inputs, write it: `lambda x: net(net.w, x.view(shape))[0, 3]`.

    Args:
        net: The network; `net.at(w)` is the one at other weights.
        data: The inputs, one tensor, and their labels.
        likelihood: As in `nll`.

    Raises:
        TypeError: For inputs of several tensors, or of whole numbers (tokens).
        ValueError: For what `nll` refuses.

    Source: Moosavi-Dezfooli et al. 2019 (arXiv 1811.09716): curvature of the loss in the inputs.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> f = fv.input_nll(net, fv.Data(torch.ones(1, 2), torch.tensor([2])))
        >>> plane = fv.Plane(f.start, torch.eye(2), "one feature")
        >>> fv.slice_plane(f, plane, extent=1.0, resolution=3).values.shape
        torch.Size([3, 3])
        >>> fv.top_eigenpairs(f, f.start, 1).vectors.shape
        torch.Size([1, 2])
    """
    inputs = data.tensor()
    if not inputs.is_floating_point():
        raise TypeError(
            f"inputs must be floating to be varied, got {inputs.dtype}: give the embedded inputs to"
            " the layers after the embedding"
        )
    net, data, likelihood, work = examined(net, data, likelihood)
    return InputNLL(net, inputs.clone(), data.y.clone(), likelihood, work)
