"""Tasks, networks and their pre-training, by name or by the user.

Also networks without the source, and scores on corrupted images, for comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from typing import Literal

import torch
from torch import Tensor, nn

from flatviz.checks import Count, Seed, check_count, check_is, computed
from flatviz.core import Data, Inputs, Likelihood, Net, Progress, Task, public, saved_rng, track
from flatviz.datasets.corruptions import CORRUPTIONS, corrupt
from flatviz.datasets.tasks import named_task
from flatviz.families.members import predicted
from flatviz.likelihood import CategoricalLikelihood, as_likelihood
from flatviz.metrics.prediction import predict
from flatviz.models.networks import convnet, mlp, resnet20
from flatviz.objectives.network import nll
from flatviz.results import Prediction, Shift, interval
from flatviz.training.driver import Diverged
from flatviz.training.points import pretrain
from flatviz.weight_space import AnyPosterior
from flatviz.words import NETWORKS, check_choice

Model = str | Callable[[Task], nn.Module]  # a key of MODELS, or a function of the task
# A name, a task for all seeds, or a function of the seed
TaskOf = str | Task | Callable[[int], Task]
MODELS: dict[str, Callable[..., nn.Module]] = dict(
    zip(NETWORKS, (mlp, convnet, resnet20), strict=True)
)
MAX_CHECKED = 2048  # examples in the check that a network learned
MIN_GAIN = 0.05  # share of the way from the largest class's frequency to 1
SURE = 3  # standard errors by which a trained network must be better than constant outputs


@dataclass(frozen=True)
class Recipe:
    """Settings of the source's training, and of its SWAG prior: SGD's tail and scale."""

    epochs: int = 60
    lr: float = 0.1
    last_lr: float = 0.05
    swag_lr: float = 0.05
    snapshots: int = 20
    # Factor on SWAG's covariance, a tenth of whose standard deviation radius and ensemble size need
    scale: float = 64.0

    def with_epochs(self, epochs: int | None) -> Recipe:
        """Return the recipe with another number of epochs; None keeps it."""
        return self if epochs is None else replace(self, epochs=epochs)

    def __str__(self) -> str:
        """Write all of it as text."""
        return ", ".join(
            f"{name.replace('_', ' ')} {value:g}" for name, value in asdict(self).items()
        )


PLAIN = Recipe()
# swag_lr: at 0.05 the conv net, early in training, diverges with its BatchNorm frozen.  scale: its
# BatchNorm layers are few and move far from the source; of 64, 256, 1024, 4096 and 16384 the
# validation splits of seeds 1000 to 1002 prefer 4096: at 64 VI predicts no better than MAP, at
# 16384 SA-BMA does not.
BATCHNORM = Recipe(swag_lr=0.02, scale=4096.0)


def recipe_for(net: Net) -> Recipe:
    """Choose settings at which a network of this kind learns the tasks of this package."""
    return BATCHNORM if net.has_batchnorm else PLAIN


def build_model(model: Model, task: Task, *, seed: int) -> nn.Module:
    """Build a new network for the task, by its name in `MODELS` or a function run under `seed`."""
    if isinstance(model, str):
        return MODELS[check_choice(model, tuple(MODELS), "model")](task, seed=seed)
    with saved_rng(seed):
        module = model(task)
    check_is(
        module,
        nn.Module,
        "what model(task) returns",
        "return a torch.nn.Module that gives task.n_classes logits",
    )
    return module


def task_for(task: TaskOf, seed: int, *, shots: int | None = None) -> Task:
    """Build the task of one seed, by name or function; a `Task` is the same for all."""
    if isinstance(task, str):
        return named_task(task, shots=shots, seed=seed)
    task = task if isinstance(task, Task) else task(seed)
    check_is(task, Task, "task", "give a name such as 'digits', a Task, or a function seed -> Task")
    return task


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
        checked = as_likelihood(likelihood)
        if y.ndim == 1 and isinstance(checked, CategoricalLikelihood):
            wrong = torch.where(
                outputs.isfinite().all(1), (outputs.argmax(1) != y).double(), torch.nan
            )
            return cls(wrong, (y != y.mode().values).to(wrong), True)
        level = outputs.mean(0, keepdim=True).requires_grad_(True)
        lbfgs = torch.optim.LBFGS([level], max_iter=100, line_search_fn="strong_wolfe")

        def closure() -> Tensor:
            lbfgs.zero_grad()
            loss = checked.nll(level.expand_as(outputs), y)
            loss.backward()
            return loss

        if bool(outputs.isfinite().all()):
            lbfgs.step(closure)
        with torch.no_grad():
            return cls(
                checked.losses(outputs, y), checked.losses(level.expand_as(outputs), y), False
            )

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
        possible = self.constant.mean()
        if self.classes:  # with few examples the noise alone exceeds the possible gain
            least = torch.minimum(torch.maximum(least, MIN_GAIN * possible), possible / 2)
        return bool(self.gain > least) or (self.classes and not possible)

    def described(self, losses: Tensor) -> str:
        """Write accuracy or NLL of these losses as text."""
        return (
            f"accuracy {1 - float(losses.mean()):.3f}"
            if self.classes
            else f"NLL {float(losses.mean()):.3f}"
        )

    def __str__(self) -> str:
        return self.described(self.losses)


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
        if len(data) <= MAX_CHECKED
        else data.subset(torch.arange(0, len(data), -(-len(data) // MAX_CHECKED)))
    )
    now = Standing.of(net, w, part, likelihood, progress)
    if not now.learned:
        raise Diverged(
            f"{stage} must leave a network that learned, got {now} on {len(part)} of its own"
            f" examples, where the best constant outputs have {now.described(now.constant)}: {do}"
        )


# scikit-learn's C; the first is used without a validation split
STRENGTHS = (
    1.0,
    0.01,
    0.1,
    10.0,
    100.0,
)
EPOCHS = (60, 240)
SCORES = ("accuracy", "nll", "ece")
# one kind of each of four families
KINDS = ("gaussian_noise", "defocus_blur", "fog", "pixelate")
SEVERITIES = (1, 3, 5)


def without_source(task: Task, model: Model = "mlp", *, seed: int) -> dict[str, Net]:
    """Fit networks on `task.train` alone, at the settings with the lowest validation NLL, by name.

    They are logistic regression on the inputs (five strengths of its L2 penalty), and the network
    with all weights trained from a random start (60 and 240 epochs).  The weights of each network,
    `net.w`, are its solution.
    """
    # `pretrain` trains a copy
    started = build_model(model, task, seed=seed).to(task.train.y.device)
    scratch = [pretrain(started, task.train, seed=seed, epochs=epochs) for epochs in EPOCHS]
    candidates = {
        "logistic regression": [_logistic(task, c) for c in STRENGTHS],
        "from scratch": scratch,
    }
    if (validation := task.validation) is None:
        return {name: nets[0] for name, nets in candidates.items()}
    return {
        name: min(nets, key=lambda net: float(nll(net, validation)(net.w)))
        for name, nets in candidates.items()
    }


def _logistic(task: Task, strength: float) -> Net:
    """Fit logistic regression as a network of one layer."""
    x = task.train.whole()
    y = task.train.y
    with saved_rng():
        # imported here, as tensors need no scikit-learn
        from sklearn.linear_model import (
            LogisticRegression,
        )

        fitted = LogisticRegression(C=strength, max_iter=2000).fit(
            x.flatten(1).cpu().numpy(), y.cpu().numpy()
        )
        layer = nn.Linear(x[0].numel(), task.n_classes)
    weight = torch.as_tensor(fitted.coef_)
    bias = torch.as_tensor(fitted.intercept_)
    if len(weight) == 1:  # of two classes: the logit of the second
        weight = torch.cat([0 * weight, weight])
        bias = torch.cat([0 * bias, bias])
    layer.weight.data = weight.float()
    layer.bias.data = bias.float()
    return Net.from_module(nn.Sequential(nn.Flatten(), layer)).to(x.device)


def at_solution(net: Net, data: Data) -> Prediction:
    """Predict by a network of `without_source`."""
    return predicted(net, net.w[None], data, 1, seed=0)


def worth_of_transfer(mine: Prediction, others: Mapping[str, Prediction]) -> str:
    """Describe whether transfer helps or harms, by `mine` against the most accurate of `others`.

    It helps or harms where the 95 % interval of the difference in accuracy over the test examples
    is on one side of 0.
    """
    right = {
        n: (p.bma().argmax(1) == computed(p.y)).double() for n, p in [*others.items(), ("", mine)]
    }
    share = {n: 100 * float(r.mean()) for n, r in right.items()}
    name = max(others, key=share.__getitem__)
    gain, half = interval(right[""] - right[name])
    word = "helps" if gain > half else "harms" if -gain > half else "makes no clear difference"
    shares = (
        f"accuracy {share['']:.1f} % after transfer, {share[name]:.1f} % without the source"
        f" ({name})"
    )
    return (
        f"Here transfer {word}: {shares}, difference {100 * gain:+.1f} ± {100 * half:.1f} points on"
        " one seed"
    )


@public
def shifted_scores(
    net: Net,
    posterior: AnyPosterior,
    data: Data,
    *,
    seed: Seed,
    kinds: Sequence[str] = KINDS,
    severities: Sequence[Count] = SEVERITIES,
    n_draws: Count = 30,
    batchnorm: Literal["frozen"] | Data | None = None,
    progress: Progress = False,
) -> Shift:
    """Compute accuracy, NLL and ECE of `n_draws` draws' average on `data` and corrupted copies.

    Args:
        net: The network.
        posterior: Posterior over its treated weights.
        data: Labelled images (N, C, H, W) from 0 to 1.
        kinds: Keys of `fv.datasets.CORRUPTIONS`; by default one each of noise, blur, weather and
            digital.
        severities: 1 to 5; severity 0, the images as they are, comes first in the result.
        n_draws: Ensemble size; the same draws for every corruption.
        batchnorm: As in `predict`: "frozen", or a Data that re-estimates the statistics for each
            draw.
        seed: Fixes the draws and the corruptions; the corruptions are the same for every posterior.
        progress: True, None (where a terminal watches) or a function.

    Raises:
        ValueError: For an unknown kind or severity, or data that are no such images.

    Example:
        >>> import torch, flatviz as fv
        >>> nn = torch.nn
        >>> net = fv.Net.from_module(nn.Sequential(nn.Flatten(), nn.Linear(64, 2)))
        >>> data = fv.Data(torch.rand(6, 1, 8, 8), torch.arange(6) % 2)
        >>> q = fv.Gaussian(net.w, torch.full_like(net.w, -2.0))
        >>> how = dict(kinds=["fog"], severities=[2, 4], n_draws=3, seed=0)
        >>> shift = fv.families.shifted_scores(net, q, data, **how)
        >>> shift.severities, shift.scores["nll"].shape
        ((0, 2, 4), torch.Size([1, 3]))
    """
    for kind in kinds:
        check_choice(kind, tuple(CORRUPTIONS), "a kind")
    if any(check_count(s, "a severity") > 5 for s in severities) or list(severities) != sorted(
        set(severities)
    ):
        raise ValueError(f"severities must rise, from 1 to 5, got {list(severities)}")
    predictor = partial(predict, net, posterior, n_draws=n_draws, seed=seed, batchnorm=batchnorm)
    clean = predictor(data)
    rows: dict[str, list[float]] = {name: [] for name in SCORES}
    for kind, severity in track(
        list(product(kinds, (0, *severities))), "shifted test sets", progress
    ):
        scores = (predictor(corrupt(data, kind, severity, seed=seed)) if severity else clean).scores
        for name in SCORES:
            rows[name].append(float(scores[name][-1]))
    table = {
        name: torch.tensor(values, dtype=torch.float64).view(len(kinds), -1)
        for name, values in rows.items()
    }
    return Shift(
        tuple(kinds),
        (0, *severities),
        table,
        len(data),
        clean.n_draws,
        clean.batchnorm,
        clean.trunk,
    )
