"""What belongs to every run of a fit, and what the defaults of Gaussians depend on."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from flatviz.checks import NewFile, Statistics
from flatviz.core import Net, Progress
from flatviz.engine.cost import Work
from flatviz.training.gradient import PLAIN, Training

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
        steps: Number of steps.
        batchnorm: Statistics of BatchNorm, the net's or each batch's.
        notes: Remarks with which the history begins.
        augment: What varies the inputs of minibatches, once a step.
    """

    label: str = "training"
    seed: int = 0
    checkpoint: str | Path | None = None
    progress: Progress = False
    batch_size: int | None = None
    training: Training = PLAIN
    steps: int = 0
    batchnorm: Statistics = "frozen"
    notes: tuple[str, ...] = ()
    augment: Callable[..., Tensor] | None = None

    def check_no_validation(self, why: str) -> None:
        """Refuse validation data; `why` says why it is of no use."""
        if self.training.validation is not None:
            n = len(self.training.validation)
            raise ValueError(
                f"training.validation must be None for {self.label}, got {n} examples: {why}"
            )


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


def tempered(net: Net, batchnorm: Statistics) -> Tempered:
    """Return temperature, start and rate with which a network of this kind learns.

    A net with frozen statistics is a function of its weights, whatever layers it has.
    """
    return TEMPERED_BATCHNORM if batchnorm == "train" and net.has_batchnorm else TEMPERED


class Sized(NamedTuple):
    """Draws of a step, whether they share its examples, and the largest rate; None: any."""

    draws: int
    share: bool = False
    most_lr: float | None = None


def sized(examples: int, work: Work, dim: int, may_share: bool) -> Sized:
    """Choose the draws of a step by its multiply-adds on `examples`.

    A single draw, and draws that share the examples, have a lower rate.

    may_share: whether draws can share the examples.
    """
    forward_and_backward = 3 * work.macs
    if forward_and_backward * examples * DRAWS <= MAX_WORK:
        return Sized(DRAWS)
    draws = 1
    if may_share and DRAWS * dim <= MAX_NUMBERS:
        draws = max(d for d in range(1, DRAWS + 1) if examples % d == 0)  # equal parts
    return Sized(draws, draws > 1, NOISY_LR)
