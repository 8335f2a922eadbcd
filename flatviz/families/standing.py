"""Did a network learn?  Its losses against those of a constant prediction or a trained network."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor

from flatviz.core import Data, Inputs, Likelihood, Net, Progress, track
from flatviz.likelihood import CategoricalLikelihood, as_likelihood
from flatviz.training.driver import Diverged, judged_by_score

T = TypeVar("T")
V = TypeVar("V")
MAX_CHECKED = 2048  # examples in the check that a network learned
BLOCK = 256  # inputs of a pass
MIN_GAIN = 0.05  # smallest gain in accuracy, as a share of what the largest class leaves to gain
ERRORS = 3  # standard errors by which a network that learned is better than constant outputs
# Largest drop below the trained network: this share of 1, or of that network's gain where it is
# more than 1 (nats).  Two standard errors are added.
MAX_DROP = 0.05
ADVICE = (
    "check inputs and labels, train the module first, or call the steps yourself: pretrain,"
    " SWAG, transfer"
)


@dataclass(frozen=True)
class Standing:
    """Losses of a network on N examples, and those of the best constant outputs, (N,) each.

    classes: the losses are 1 for a wrong class and 0 for a right one; otherwise they are NLLs, NaN
    where outputs are not finite.
    """

    losses: Tensor
    constant: Tensor
    classes: bool

    @classmethod
    def of(
        cls,
        net: Net,
        w: Tensor,
        data: Data,
        likelihood: Likelihood,
        progress: Progress = False,
    ) -> Standing:
        """Measure the network at `w` on `data`."""
        outputs = outputs_of(net, w, data.x, progress).double()
        y = data.y
        p = as_likelihood(likelihood)
        if y.ndim == 1 and isinstance(p, CategoricalLikelihood):
            wrong = (outputs.argmax(1) != y).double()
            wrong[~outputs.isfinite().all(1)] = torch.nan
            most_frequent = y.mode().values
            return cls(wrong, (y != most_frequent).to(wrong), True)
        constant_output = outputs.mean(0, keepdim=True)
        if bool(outputs.isfinite().all()):
            constant_output = p.best_constant(y, constant_output)
        constant = p.losses(constant_output.expand_as(outputs), y)
        return cls(p.losses(outputs, y), constant, False)

    @property
    def gain(self) -> Tensor:
        """Mean loss of constant outputs minus that of the network, ()."""
        return (self.constant - self.losses).mean()

    @property
    def learned(self) -> bool:
        """Whether the gain is above three standard errors.

        With classes it must also exceed a share of the possible gain, at most half of it.
        """
        least = ERRORS * error_of_mean(self.constant - self.losses)
        largest = self.constant.mean()
        if not self.classes:
            return bool(self.gain > least)
        if not largest:  # examples of one class: constant outputs are right everywhere
            return not self.losses.any()
        # With few examples the standard errors exceed the largest possible gain
        least = least.clamp(MIN_GAIN * largest, largest / 2)
        return bool(self.gain > least)

    def score(self, losses: Tensor) -> str:
        """Write accuracy or NLL of these losses as text."""
        mean = float(losses.mean())
        return f"accuracy {1 - mean:.3f}" if self.classes else f"NLL {mean:.3f}"

    def __str__(self) -> str:
        return self.score(self.losses)


def error_of_mean(values: Tensor) -> Tensor:
    """Compute the standard error of the mean of values (N,), (); 0 for one value."""
    if len(values) == 1:
        return torch.zeros_like(values[0])
    return values.std() / math.sqrt(len(values))


def outputs_of(
    net: Net,
    w: Tensor,
    x: Tensor | Inputs,
    progress: Progress = False,
) -> Tensor:
    """Compute outputs (N, C) at `w`, one block of inputs after the other."""
    total = math.ceil(len(x) / BLOCK)
    blocks = track(x.split(BLOCK), "checking", progress, total=total)
    with torch.no_grad():
        return torch.cat([net(w, block) for block in blocks])


def check_learned(
    net: Net,
    w: Tensor,
    data: Data,
    stage: str,
    advice: str,
    progress: Progress = False,
    likelihood: Likelihood = "categorical",
) -> None:
    """Check that a network at `w` is better on `data` than the best constant outputs.

    It needs more right answers, or a lower NLL.

    Raises:
        Diverged: With `advice` on what to do.
    """
    every = math.ceil(len(data) / MAX_CHECKED)
    part = data
    if every > 1:
        evenly_spaced = torch.arange(0, len(data), every)
        part = data.subset(evenly_spaced)
    now = Standing.of(net, w, part, likelihood, progress)
    if not now.learned:
        raise Diverged(
            f"{stage} must leave a network that learned, got {now} on {len(part)} of its own"
            f" examples, where the best constant outputs have {now.score(now.constant)}: {advice}"
        )


def check_as_good(label: str, now: Standing, before: Standing) -> None:
    """Refuse a network far below the trained one.

    Raises:
        Diverged: Also where the losses are NaN.
    """
    drop = now.losses - before.losses
    most = MAX_DROP * before.gain.clamp_min(1.0)
    noise = 2 * error_of_mean(drop)
    if not drop.mean() <= most + noise:
        raise Diverged(
            f"{label} must be about as good as the trained network, {before}, got {now}: {ADVICE}"
        )


def first_to_learn(values: Sequence[V], attempt: Callable[[V], T]) -> T:
    """Return `attempt(value)` for the first of the values at which it learns.

    Raises the last Diverged where none does.
    """
    failed = Diverged("values must hold at least one, got none")
    for value in values:
        try:
            with judged_by_score():
                return attempt(value)
        except Diverged as error:
            failed = error
    raise failed
