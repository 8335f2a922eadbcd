"""Settings of a fit, built once from its keywords.

`Run` is for every fit, `Optim` for descent, `Vi` for Gaussians.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import torch

from flatviz.checks import NewFile, Statistics
from flatviz.core import Net, Progress
from flatviz.engine.cost import Work
from flatviz.gaussian import Gaussian
from flatviz.training.gradient import PLAIN, Ascent, Training
from flatviz.training.streams import rates

Setting = Any  # value of a keyword of any method's fit
Checkpoint = NewFile | None

# mc_samples=None takes DRAWS draws a step.  With them, 600 steps bring the mean objective to within
# 1 % of that after 2,400 on digits-near, of the MLP and of the conv net (data/gaps.csv).
DRAWS = 8
# If a step with DRAWS draws needs over MAX_WORK multiply-adds, the draws share its examples, and it
# costs one pass; if they have over MAX_NUMBERS numbers, there is one draw.  Both are noisier, so
# their rate is at most NOISY_LR: see `flatviz run draws`.
MAX_WORK = 2_000_000_000
MAX_NUMBERS = 2_000_000
NOISY_LR = 1.0


@dataclass(frozen=True)
class Run:
    """Settings of one fit as its driver reads them.

    Args:
        label: Shown beside its progress, and in errors.
        seed: Fixes minibatches and noise.
        checkpoint: Path to save to and resume from.
        progress: True, None (where a terminal watches) or a function.
        batch_size: Examples a minibatch; None, all of them.
        training: How minibatches pass, and when it stops early.
    """

    label: str = "training"
    seed: int = 0
    checkpoint: str | Path | None = None
    progress: Progress = False
    batch_size: int | None = None
    training: Training = PLAIN

    def check_no_validation(self, why: str) -> None:
        """Refuse validation data; `why` says why it is of no use."""
        if self.training.validation is not None:
            n = len(self.training.validation)
            raise ValueError(
                f"training.validation must be None for {self.label}, got {n} examples: {why}"
            )


@dataclass(frozen=True, eq=False)
class Optim:
    """SGD with momentum: number of minibatches, first rate, momentum, weight decay, perturbation.

    Gradients are taken at the end of the perturbation `ascent`.
    """

    steps: int
    lr: float
    momentum: float = 0.9
    weight_decay: float = 0.0
    ascent: Ascent | None = None


class Tempered(NamedTuple):
    """Temperature, width of the start and first rate, tuned together."""

    kl_weight: float
    start_scale: float
    lr: float


# By default VI and SA-BMA approximate the tempered posterior exp(-N L / T) prior, and T, their
# kl_weight, is 0.03.  On validation splits of digits-near VI's NLL is lower there than at 0.1, 0.3
# and 1, and does not differ significantly from that at 0.01 (`flatviz run tasks`).
TEMPERED = Tempered(0.03, 0.3, 2.0)
# T = 0.1 has the lowest validation NLL of VI with the conv net on the digits, of 0.03, 0.1, 0.3
# and 1 (seeds 1000 and 1001).
TEMPERED_BATCHNORM = Tempered(0.1, 0.01, 1.0)
GROWTH = 0.1  # largest growth of log_std in a step, over its rate


def preset(net: Net, batchnorm: Statistics) -> Tempered:
    """Return the values that None of a fit's keywords stands for.

    A net with frozen statistics is a function of its weights, whatever layers it has.
    """
    return TEMPERED_BATCHNORM if batchnorm == "train" and net.has_batchnorm else TEMPERED


@dataclass(frozen=True, eq=False)
class Vi:
    """Settings of a fit of a Gaussian q, as `fit_vi` describes them."""

    steps: int
    lr: float
    kl_weight: float
    mc_samples: int | None = None
    momentum: float = 0.9
    weight_decay: float = 0.0
    start_scale: float = 1.0
    start: Gaussian | None = None
    shared: bool = False  # whether the draws of a step share its examples

    @classmethod
    def of(cls, keywords: Mapping[str, Setting]) -> Self:
        """Build it from the keywords of a fit, which may have others as well."""
        names = keywords.keys() & {f.name for f in fields(cls)}
        return cls(**{name: keywords[name] for name in names})

    @classmethod
    def tuned(
        cls,
        net: Net,
        steps: int,
        lr: float | None,
        kl_weight: float | None,
        mc_samples: int | None,
        momentum: float,
        weight_decay: float,
        start_scale: float | None,
        start: Gaussian | None = None,
        batchnorm: Statistics = "frozen",
    ) -> Self:
        """Build it from a fit's keywords; None of some stands for that of `preset`."""
        usual = preset(net, batchnorm)
        lr = usual.lr if lr is None else lr
        kl_weight = usual.kl_weight if kl_weight is None else kl_weight
        start_scale = usual.start_scale if start_scale is None else start_scale
        return cls(steps, lr, kl_weight, mc_samples, momentum, weight_decay, start_scale, start)

    def sized(
        self,
        examples: int,
        work: Work,
        dim: int,
        may_share: bool,
    ) -> Self:
        """Fill in mc_samples where it is None, by the multiply-adds of a step on `examples`.

        A single draw, and draws that share the examples, have a lower rate.

        may_share: whether draws can share the examples.
        """
        if self.mc_samples is not None:
            return self
        forward_and_backward = 3 * work.macs
        if forward_and_backward * examples * DRAWS <= MAX_WORK:
            return replace(self, mc_samples=DRAWS)
        draws = 1
        if may_share and DRAWS * dim <= MAX_NUMBERS:
            draws = max(d for d in range(1, DRAWS + 1) if examples % d == 0)  # equal parts
        return replace(
            self,
            mc_samples=draws,
            lr=min(self.lr, NOISY_LR),
            shared=draws > 1,
        )

    def widening_notes(self) -> tuple[str, ...]:
        """Note steps that are too few for q to become as wide as it was before `start_scale`."""
        reach = GROWTH * float(rates(self.lr, self.steps, torch.zeros(())).sum())
        if self.start_scale >= 1 or reach >= -math.log(self.start_scale):
            return ()
        return (
            f"in {self.steps} steps at rate {self.lr:g} a width grows by a factor of"
            f" {math.exp(reach):.3g} at most, and start_scale={self.start_scale:g} is further below"
            " 1: take more steps, or start wider",
        )

    def started(self, prior: Gaussian) -> Gaussian:
        """Return `start` or the prior, with standard deviations times `start_scale`."""
        start = prior if self.start is None else self.start
        scale = self.start_scale
        if scale == 1:
            return start
        log_std = start.log_std + math.log(scale)
        return replace(start, log_std=log_std, factor=scale * start.factor)
