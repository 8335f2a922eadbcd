"""Whether a network learned: its losses beside those of constant or of trained outputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from flatviz.core import Data, Inputs, Likelihood, Net, Progress, track
from flatviz.likelihood import CategoricalLikelihood, as_likelihood
from flatviz.training.driver import Diverged, judged_by_score

MOST_LOOKED_AT = 2048  # examples in the check that a network learned
LEAST_GAIN = 0.05  # of the way from the largest class's share to 1
SURE = 3  # standard errors by which a network that learned is better than constant outputs
# Of accuracy, or of how far the trained network's NLL lies below that of constant outputs, or of
# one nat where that is less, beside twice the standard error: more of it and the posteriors are not
# those of the trained network.
LOST = 0.05
ADVICE = (
    "check inputs and labels, train the module first, or call the steps yourself: pretrain,"
    " fit_swag, transfer"
)


@dataclass(frozen=True)
class Standing:
    """Standing of a network on N examples: its losses and those of the best constant outputs, (N,).

    The latter are NaN where there are none.  classes: the losses are 1 for a wrong class and 0 for
    a right one; otherwise they are NLLs.
    """

    losses: Tensor
    constant: Tensor
    classes: bool

    @classmethod
    def of(
        cls, net: Net, w: Tensor, data: Data, likelihood: Likelihood, progress: Progress = False
    ) -> Standing:
        """Measure the network at `w` on `data`."""
        outputs = outputs_of(net, w, data.x, progress).double()
        y = data.y
        known = as_likelihood(likelihood)
        if y.ndim == 1 and isinstance(known, CategoricalLikelihood):
            wrong = torch.where(
                outputs.isfinite().all(1), (outputs.argmax(1) != y).double(), torch.nan
            )
            return cls(wrong, (y != y.mode().values).to(wrong), True)
        level = outputs.mean(0, keepdim=True).requires_grad_(True)
        lbfgs = torch.optim.LBFGS([level], max_iter=100, line_search_fn="strong_wolfe")

        def closure() -> Tensor:
            lbfgs.zero_grad()
            loss = known.nll(level.expand_as(outputs), y)
            loss.backward()
            return loss

        if bool(outputs.isfinite().all()):
            lbfgs.step(closure)
        with torch.no_grad():
            return cls(known.losses(outputs, y), known.losses(level.expand_as(outputs), y), False)

    @property
    def gain(self) -> Tensor:
        """Mean loss of constant outputs minus that of the network, ()."""
        return (self.constant - self.losses).mean()

    @property
    def learned(self) -> bool:
        """Whether the gain is above three standard errors.

        With classes it must also exceed a share of the possible gain, at most half of it.
        """
        least = SURE * error_of_mean(self.constant - self.losses)
        whole = self.constant.mean()
        if self.classes:  # of a handful of examples the noise alone passes all that there is
            least = torch.minimum(torch.maximum(least, LEAST_GAIN * whole), whole / 2)
        return bool(self.gain > least) or (self.classes and not whole)

    def said(self, losses: Tensor) -> str:
        """Write accuracy or NLL of these losses as text."""
        return (
            f"accuracy {1 - float(losses.mean()):.3f}"
            if self.classes
            else f"NLL {float(losses.mean()):.3f}"
        )

    def __str__(self) -> str:
        return self.said(self.losses)


def error_of_mean(values: Tensor) -> Tensor:
    """Compute the standard error of the mean of values (N,), ()."""
    return values.std() / math.sqrt(len(values))


def outputs_of(net: Net, w: Tensor, x: Tensor | Inputs, progress: Progress = False) -> Tensor:
    """Compute outputs (N, C) at `w`, one block of inputs after the other."""
    with torch.no_grad():
        blocks = track(x.split(256), "checking", progress, total=-(-len(x) // 256))
        return torch.cat([net(w, block) for block in blocks])


def check_learned(
    net: Net,
    w: Tensor,
    data: Data,
    stage: str,
    do: str,
    progress: Progress = False,
    likelihood: Likelihood = "categorical",
) -> None:
    """Check that a network at `w` is better on `data` than the best constant outputs.

    It needs more right answers, or a lower NLL.

    Raises:
        Diverged: With advice, `do`.
    """
    part = (
        data
        if len(data) <= MOST_LOOKED_AT
        else data.subset(torch.arange(0, len(data), -(-len(data) // MOST_LOOKED_AT)))
    )
    now = Standing.of(net, w, part, likelihood, progress)
    if not now.learned:
        raise Diverged(
            f"{stage} must leave a network that learned, got {now} on {len(part)} of its own"
            f" examples, where the best constant outputs have {now.said(now.constant)}: {do}"
        )


def check_kept(label: str, now: Standing, before: Standing) -> None:
    """Refuse a network far below the trained one."""
    least = LOST * max(float(before.gain), 1.0) + 2 * float(
        error_of_mean(now.losses - before.losses)
    )
    if not float((now.losses - before.losses).mean()) <= least:
        raise Diverged(
            f"{label} must be about as good as the trained network, {before}, got {now}: {ADVICE}"
        )


def first_to_learn(values: Sequence[float], attempt: Callable[[float], object]) -> Any:
    """Return `attempt(value)` for the first of the values at which it learns.

    Raises the last Diverged where none does.
    """
    for value in values:
        try:
            with judged_by_score():
                return attempt(value)
        except Diverged as error:
            failed = error
    raise failed
