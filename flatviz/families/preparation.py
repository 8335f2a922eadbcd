"""Tasks, networks and their pre-training, by name or by the user.

Also networks without the source, and scores on corrupted images, for comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from typing import Literal

import torch
from torch import nn

from flatviz.checks import Count, Seed, check_count, check_is, computed
from flatviz.core import Data, Net, Progress, Task, public, saved_rng, track
from flatviz.datasets.corruptions import CORRUPTIONS, corrupt
from flatviz.datasets.tasks import named_task
from flatviz.families.members import predicted
from flatviz.metrics.prediction import predict
from flatviz.models.networks import convnet, mlp, resnet20
from flatviz.objectives.network import nll
from flatviz.results import Prediction, Shift, interval
from flatviz.training.points import pretrain
from flatviz.weight_space import AnyPosterior
from flatviz.words import NETWORKS, check_choice

Model = str | Callable[[Task], nn.Module]  # a key of MODELS, or a function of the task
# a name, a task for all seeds, or a function of the seed
TaskOf = str | Task | Callable[[int], Task]
MODELS: dict[str, Callable[..., nn.Module]] = dict(
    zip(NETWORKS, (mlp, convnet, resnet20), strict=True)
)


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
        values = asdict(self).items()
        return ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in values)


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
        build = MODELS[check_choice(model, tuple(MODELS), "model")]
        return build(task, seed=seed)
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


STRENGTHS = (1.0, 0.01, 0.1, 10.0, 100.0)
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
    candidates = {
        "logistic regression": [_logistic(task, c) for c in STRENGTHS],
        "from scratch": [pretrain(started, task.train, seed=seed, epochs=n) for n in EPOCHS],
    }
    validation = task.validation
    if validation is None:
        return {name: nets[0] for name, nets in candidates.items()}

    def validation_nll(net: Net) -> float:
        return float(nll(net, validation)(net.w))

    return {name: min(nets, key=validation_nll) for name, nets in candidates.items()}


def _logistic(task: Task, strength: float) -> Net:
    """Fit logistic regression as a network of one layer."""
    from sklearn.linear_model import LogisticRegression  # optional: nothing else here needs it

    x = task.train.tensor().flatten(1)
    y = task.train.y
    with saved_rng():
        model = LogisticRegression(C=strength, max_iter=2000)
        fitted = model.fit(x.cpu().numpy(), y.cpu().numpy())
        layer = nn.Linear(x.shape[1], task.n_classes, dtype=torch.float32)
    weight = torch.as_tensor(fitted.coef_)
    bias = torch.as_tensor(fitted.intercept_)
    if len(weight) == 1:  # of two classes: the logit of the second
        weight = torch.cat([0 * weight, weight])
        bias = torch.cat([0 * bias, bias])
    layer.weight.data = weight.float()
    layer.bias.data = bias.float()
    module = nn.Sequential(nn.Flatten(), layer)
    return Net.from_module(module).to(x.device)


def at_solution(net: Net, data: Data) -> Prediction:
    """Predict by a network of `without_source`."""
    return predicted(net, net.w[None], data, 1, seed=0)


def worth_of_transfer(mine: Prediction, others: Mapping[str, Prediction]) -> str:
    """Describe whether transfer helps or harms, by `mine` against the most accurate of `others`.

    It helps or harms where the 95 % interval of the difference in accuracy over the test examples
    is on one side of 0.
    """
    right = {}
    share = {}
    for name, prediction in {**others, "": mine}.items():
        hits = prediction.bma().argmax(1) == computed(prediction.y)
        right[name] = hits.double()
        share[name] = 100 * float(right[name].mean())
    best = max(others, key=share.__getitem__)
    gain, half = interval(right[""] - right[best])
    word = "makes no clear difference"
    if abs(gain) > half:
        word = "helps" if gain > 0 else "harms"
    return (
        f"Here transfer {word}: accuracy {share['']:.1f} % after transfer, {share[best]:.1f} %"
        f" without the source ({best}), difference {100 * gain:+.1f} ± {100 * half:.1f} points on"
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
    for severity in severities:
        check_count(severity, "a severity")
    if list(severities) != sorted(set(severities) & {1, 2, 3, 4, 5}):
        raise ValueError(f"severities must rise, from 1 to 5, got {list(severities)}")
    predictor = partial(
        predict,
        net,
        posterior,
        n_draws=n_draws,
        seed=seed,
        batchnorm=batchnorm,
    )
    clean = predictor(data)
    rows = []
    cases = list(product(kinds, (0, *severities)))
    for kind, severity in track(cases, "shifted test sets", progress):
        prediction = clean
        if severity:
            prediction = predictor(corrupt(data, kind, severity, seed=seed))
        rows.append([float(prediction.scores[name][-1]) for name in SCORES])
    values = torch.tensor(rows, dtype=torch.float64)
    by_kind = values.view(len(kinds), -1, len(SCORES))
    table = dict(zip(SCORES, by_kind.unbind(-1)))
    return Shift(
        tuple(kinds),
        (0, *severities),
        table,
        len(data),
        clean.n_draws,
        clean.batchnorm,
        clean.trunk,
    )
