"""MC dropout, its masks written as weight vectors (Gal & Ghahramani 2016).

    w_s = w with column j of each masked layer times z_j / (1 - rate),   z_j ~ Bernoulli(1 - rate)

A dropped input of a Linear or convolution is a column of zeros in its weight.  So a draw with one mask for all inputs *is*
a weight vector, and everything that reads weight vectors reads it.  Training masks each example anew, as dropout does.
"""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd

from flatviz.checks import Count, Seed, Share
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.seeds import generator
from flatviz.objectives.network import check_data
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws
from flatviz.training.keywords import SGD, defaults
from flatviz.training.masked import DropoutLoss, in_order
from flatviz.training.optimize import minibatches, sgd
from flatviz.training.run import Run

SETTINGS = dict(rate=0.1, n_draws=30, steps=300, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=None)


@defaults(SETTINGS)
def fit_dropout(net: Net, data: Data, *, seed: Seed, rate: Share, n_draws: Count, **how: Unpack[SGD]) -> Draws:
    """Train with dropout from where the net stands, then draw `n_draws` masked weight vectors, (n_draws, D).

    BatchNorm statistics are the net's own; with an `ascent` both passes have the same masks; of `training` precision and early
    stopping, by the loss with nothing dropped.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Of masks and minibatches.
        rate: Share of the inputs dropped at every treated Linear and convolution but the first of the network, which reads
            the data; channels, not pixels, of a convolution.  Dropout layers of the network's own are off, as everywhere here.
        n_draws: Masks drawn after training; 30 is what the largest ensembles of the studies take.
        **how: How it is trained.

    Raises:
        ValueError: For a rate of 0 or 1, nothing to mask, bad data, or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_dropout(net, task.train, rate=0.2, seed=0, steps=20, n_draws=3).W.shape
        torch.Size([3, 58])
    """
    run = Run.of(locals(), "dropout")
    if not run.training.whole:
        raise ValueError(
            f"dropout takes of fv.Training precision and validation alone, got {run.training}: "
            "its masks are drawn for a whole minibatch"
        )
    check_data(net, data, run.likelihood)
    rates = rates_of(net, data.x[:8], rate)
    loss = DropoutLoss(net, data, run.likelihood, rates, seed, run.training)
    w, history = sgd(loss, net.w, minibatches(len(data), run.optim.batch_size, seed + 1, net.device), run)
    source = generator(seed + 2)
    return Draws(torch.stack([w * weight_mask(net, rates, source) for _ in range(n_draws)]), history)


def rates_of(net: Net, x: Tensor, rate: float) -> dict[str, float]:
    """Name of each layer whose inputs are dropped, with the rate."""
    if not 0 < rate < 1:
        raise ValueError(f"rate must be above 0 and below 1, got {rate!r}")
    linear = [n for n, p in net.module.named_modules() if isinstance(p, nn.Linear) or _plain_convolution(p)]
    layers, treated = in_order(net, x, linear), {b.name for b in net.blocks}
    maskable = [n for n in layers if f"{n}.weight".lstrip(".") in treated]
    if not maskable:
        raise ValueError("dropout needs a treated Linear or convolution, got none: use treated='all' or 'norm+head'")
    later = [n for n in maskable if n != layers[0]]  # the first reads the data, and is masked where it stands alone
    return dict.fromkeys(later or maskable, rate)


def _plain_convolution(part: nn.Module) -> bool:
    """A convolution whose weight has a column for each input channel."""
    return isinstance(part, _ConvNd) and part.groups == 1 and not part.transposed


def weight_mask(net: Net, rates: dict[str, float], source: torch.Generator) -> Tensor:
    """One mask as a factor on the weights, (D,): 0 or 1 / (1 - rate) on the columns of the masked layers, else 1."""
    mask = torch.ones(net.dim, dtype=net.w.dtype)
    for b in net.blocks:
        owner, _, kind = b.name.rpartition(".")
        if kind == "weight" and owner in rates:
            keep = 1 - rates[owner]
            column = (torch.rand(b.shape[1], generator=source, dtype=mask.dtype) < keep) / keep
            shaped = mask[b.slice].view(b.shape)
            shaped.mul_(column.view(1, -1, *[1] * (len(b.shape) - 2)))
    return mask.to(net.device)


METHOD = Method(fit=fit_dropout, plain=Tuned(SETTINGS))
