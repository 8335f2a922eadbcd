"""MC dropout, with its masks as weight vectors (Gal & Ghahramani 2016).

    w_s = w with column j of each masked layer times z_j / (1 - rate),   z_j ~ Bernoulli(1 - rate)

A dropped input of a Linear or convolution is a column of zeros in its weight.  So a draw with one
mask for all inputs *is* a weight vector, and all verbs on weight vectors apply.  Training draws a
mask for each example, as dropout does.
"""

import warnings
from collections.abc import Mapping, Sequence
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd
from torch.nn.modules.dropout import _DropoutNd

from flatviz.checks import Count, Rate, Share
from flatviz.core import Fields, Net, generator
from flatviz.core import run as run_module
from flatviz.objectives.problem import Problem
from flatviz.results import Draws
from flatviz.storage.files import State
from flatviz.training.losses import NetworkLoss, Pass, refuse_random_trunk
from flatviz.training.points import Descending, descend
from flatviz.training.settings import Run
from flatviz.words import first_few

RATE = 0.1  # where neither the user nor a dropout layer of the network gives a rate
ZEROING = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)  # others put other values


class Dropout(Descending[Draws]):
    """Train by SGD with dropout, then draw `n_draws` masked weight vectors, (n_draws, D).

    BatchNorm statistics are those of the net.  With an `ascent` both passes of a step have the same
    masks.  Early stopping, which `training` sets, goes by the loss without dropout.

    A dropout layer stays off, with a warning, where what it drops is no input of a treated Linear
    or convolution.

    Source: Gal & Ghahramani 2016.

    Args:
        lr: The first learning rate; it falls to 0 along half a cosine.
        rate: Share of the inputs (a convolution's channels) that is dropped at every treated Linear
            and convolution but the network's first, which reads the data.  None drops where the
            network has dropout layers, at their rates; without such layers the rate is 0.1.
        n_draws: Masks drawn after training; 30 is what the largest ensembles of the studies take.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> dropout = fv.Dropout(rate=0.2, n_draws=3)
        >>> fv.fit(net, task.train, dropout, seed=0, steps=20).W.shape
        torch.Size([3, 58])
    """

    takes = ("steps", "batch_size", "training", "augment")
    lr: Rate = 0.05
    rate: Share | None = None
    n_draws: Count = 30

    @property
    def label(self) -> str:  # type: ignore[override]
        """Its name in texts."""
        return "dropout" if self.rate is None else f"dropout of {self.rate:g}"

    def fitted(self, problem: Problem, run: Run) -> Draws:
        """Train with masks, then draw others."""
        net = problem.net
        data = problem.data
        if run.training.accumulate > 1:
            raise ValueError(
                f"dropout takes no accumulate, got {run.training}: its masks are drawn for a whole"
                " minibatch"
            )
        run.training.check_weights(net.w)
        refuse_random_trunk(net, "dropout")
        rates = rates_of(net, data.x[:8], self.rate)
        # One seed each for the masks of training, the minibatches and the masks of the draws
        masked = Masked(net, data.x[:2], rates, run.seed)
        loss = NetworkLoss(problem, [masked], run.training)
        w, history = descend(loss, net.w, run, self.sgd, shuffle=run.seed + 1)
        source = generator(run.seed + 2)
        masks = [weight_mask(net, rates, source) for _ in range(self.n_draws)]
        return Draws(w * torch.stack(masks), history)


def rates_of(net: Net, x: Tensor | Fields, rate: float | None) -> dict[str, float]:
    """Return the name of each layer whose inputs are dropped, with its rate.

    A `rate` of None stands for the rate of the dropout layer whose result a layer reads, or for
    `RATE` at all layers if no layer reads one.

    Raises:
        ValueError: For a rate of 0 or 1, and for nothing to mask.
    """
    if rate is not None:
        _check_rate(rate)
    module = net.copy().module
    treated = {b.name for b in net.blocks}
    dropouts = {
        name: part
        for name, part in module.named_modules()
        if isinstance(part, _DropoutNd) and part.p > 0
    }
    readers = _readers(module, dropouts, x)
    # The module itself has the name "", and its weight the name "weight"
    maskable = [name for name in readers if f"{name}.weight".lstrip(".") in treated]
    if rate is None:
        dropped = {name: readers[name] for name in maskable if readers[name]}
        if off := [name for name in dropouts if name not in dropped.values()]:
            warnings.warn(
                f"dropout in {first_few(off)} stays off: masks are weights here, and what it drops"
                " is no input of a treated Linear or convolution",
                stacklevel=2,
            )
        if dropped:
            return {name: _check_rate(dropouts[source].p) for name, source in dropped.items()}
    if not maskable:
        raise ValueError(
            "dropout needs a treated Linear or convolution, got none: use treated='all' or"
            " 'norm+head'"
        )
    # The first layer reads the data; it is masked only if there is no other
    first = next(iter(readers))
    later = [name for name in maskable if name != first]
    usual = RATE if rate is None else rate
    return dict.fromkeys(later or maskable, usual)


def _check_rate(rate: float) -> float:
    if not 0 < rate < 1:
        raise ValueError(f"rate must be above 0 and below 1, got {rate!r}")
    return rate


def _readers(
    module: nn.Module, dropouts: Mapping[str, nn.Module], x: Tensor | Fields
) -> dict[str, str]:
    """Find the dropout layer that each Linear and convolution reads, in one pass of `x`.

    The result is layer -> dropout layer, by name and in execution order; "" is no dropout layer.  A
    layer reads the one of `dropouts` whose result is its input, as it is or reshaped.  Reshaping
    makes a view, so the address of the memory tells.  The module keeps the hooks: pass a copy.
    """
    results: dict[int, tuple[str, Tensor]] = {}  # address -> dropout layer, and its result
    readers: dict[str, str] = {}

    def keep_result(
        name: str,
        part: nn.Module,
        inputs: tuple,
        out: Tensor,
    ) -> Tensor:
        out = out.clone()  # memory of its own: a layer that drops nothing returns its input
        results[out.untyped_storage().data_ptr()] = name, out  # alive, so its address stays taken
        return out

    def find_source(name: str, part: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        address = inputs[0].untyped_storage().data_ptr()
        source, result = results.get(address, ("", None))
        unchanged = result is not None and result._version == 0  # nothing was written into it
        # Dropout1d to Dropout3d drop channels, which are columns of a convolution's weight alone
        drop = dropouts.get(source)
        drops_channels = isinstance(part, _ConvNd) and isinstance(drop, ZEROING)
        drops_columns = type(drop) is nn.Dropout or drops_channels
        # A layer that runs again keeps the source of an earlier run
        readers[name] = source if unchanged and drops_columns else readers.get(name, "")

    for name, part in module.named_modules():
        if name in dropouts:
            part.register_forward_hook(partial(keep_result, name))
        elif _has_columns(part):
            part.register_forward_pre_hook(partial(find_source, name))
    with torch.no_grad():
        run_module(module, x.clone())
    return readers


def _has_columns(part: nn.Module) -> bool:
    """Tell whether a layer's weight has one column for each input feature or channel."""
    if isinstance(part, _ConvNd):
        return part.groups == 1 and not part.transposed
    return isinstance(part, nn.Linear)


def weight_mask(net: Net, rates: dict[str, float], source: torch.Generator) -> Tensor:
    """Draw one mask as a factor on the weights, (D,).

    It is 0 or 1 / (1 - rate) on the columns of the masked layers, 1 elsewhere.
    """
    mask = torch.ones(net.dim, dtype=net.w.dtype)
    for b in net.blocks:
        layer, _, parameter = b.name.rpartition(".")
        if parameter == "weight" and layer in rates:
            keep = 1 - rates[layer]
            n_inputs = b.shape[1]
            uniform = torch.rand(n_inputs, generator=source, dtype=mask.dtype)
            factor = (uniform < keep).to(mask) / keep
            columns = mask[b.slice].view(b.shape[0], n_inputs, -1)  # a view: this changes `mask`
            columns *= factor[:, None]
    return mask.to(net.device)


def mask_shape(part: nn.Module, shape: Sequence[int]) -> list[int]:
    """Return the shape of a mask for the inputs, of `shape` (N, ...), of a Linear or convolution.

    A column of the weight reads one channel or feature at all positions, so these share its mask.
    """
    one_a_position = [1] * (len(shape) - 2)
    if isinstance(part, _ConvNd):
        return [*shape[:2], *one_a_position]
    return [shape[0], *one_a_position, shape[-1]]


class Masked(Pass):
    """Passes with dropout, a mask for each example; all calls of one step have the same masks."""

    def __init__(
        self,
        net: Net,
        x: Tensor | Fields,
        rates: dict[str, float],
        seed: int,
    ) -> None:
        super().__init__(net)
        self.source = generator(seed)
        self.masked = net.copy()
        self.masked.look(x)  # now: once the hooks are there, its pass would draw masks
        for name, rate in rates.items():
            self.masked.module.get_submodule(name).register_forward_pre_hook(
                partial(self._masked, rate)
            )

    def _masked(
        self,
        rate: float,
        part: nn.Module,
        inputs: tuple[Tensor, ...],
    ) -> tuple[Tensor]:
        """Multiply the inputs of a layer by a new mask for each example."""
        x, *_ = inputs
        keep = 1 - rate
        shape = mask_shape(part, x.shape)
        uniform = torch.rand(shape, generator=self.source, dtype=torch.float32, device="cpu")
        is_kept = uniform < keep
        return (x * is_kept.to(x) / keep,)

    @property
    def state(self) -> State:
        """Return the generator of the masks, which a checkpoint must save."""
        return {"masks": self.source}

    def __call__(self, w: Tensor, x: Tensor | Fields, first: bool) -> Tensor:
        """Compute outputs (n, C), with new masks in the first call of a step."""
        if first:
            self._step_start = self.source.get_state()
        else:  # draw the same masks again
            self.source.set_state(self._step_start)
        return self.masked(w, x)
