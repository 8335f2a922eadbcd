"""What a study runs on: a task, a network and how it is pre-trained, each given by name or by the user; a check that it learned."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from flatviz.checks import check_choice, check_is
from flatviz.core import Data, Likelihood, Net, Progress, Task, saved_rng, track
from flatviz.datasets.tasks import named_task
from flatviz.likelihood import CategoricalLikelihood, as_likelihood
from flatviz.models.networks import convnet, mlp, resnet20
from flatviz.training.driver import Diverged

Model = str | Callable[[Task], nn.Module]  # a key of MODELS, or a function of the task
TaskOf = str | Task | Callable[[int], Task]  # a name, a task for all seeds, or a function of the seed
MODELS = {"mlp": mlp, "conv": convnet, "resnet20": resnet20}
MOST_LOOKED_AT = 2048  # examples in the check that a network learned
LEAST_GAIN = 0.05  # of the way from the largest class's share to 1


@dataclass(frozen=True)
class Recipe:
    """How the source network is trained, the SGD tail that gives its SWAG prior, and the width of that prior."""

    epochs: int = 60
    lr: float = 0.1
    last_lr: float = 0.05
    swag_lr: float = 0.05
    snapshots: int = 20
    scale: float = 64.0  # of SWAG's covariance, whose own width is a tenth of what makes radius and ensemble size matter

    def with_epochs(self, epochs: int | None) -> Recipe:
        """With another number of epochs; None leaves it."""
        return self if epochs is None else replace(self, epochs=epochs)

    def __str__(self) -> str:
        """All of it as text."""
        return ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in asdict(self).items())


PLAIN = Recipe()
# swag_lr: at 0.05 the conv net, early in training, diverges with its BatchNorm frozen.  scale: its BatchNorm layers are few and
# move far from the source; of 64, 256, 1024, 4096 and 16384 the validation splits of seeds 1000 to 1002 prefer 4096: at 64 VI
# predicts no better than MAP, at 16384 SA-BMA does not.
BATCHNORM = Recipe(swag_lr=0.02, scale=4096.0)


def recipe_for(net: Net) -> Recipe:
    """Settings at which a network of this kind learns the tasks of this package."""
    return BATCHNORM if net.has_batchnorm else PLAIN


def build_model(model: Model, task: Task, *, seed: int) -> nn.Module:
    """A fresh network for the task: by its name in `MODELS`, or by a function of the task, run under `seed`."""
    if isinstance(model, str):
        return MODELS[check_choice(model, tuple(MODELS), "model")](task, seed=seed)
    with saved_rng(seed):
        module = model(task)
    check_is(module, nn.Module, "what model(task) returns", "return a torch.nn.Module that gives task.n_classes logits")
    return module


def task_for(task: TaskOf, seed: int, *, shots: int | None = None) -> Task:
    """The task of one seed: by name, drawn by the seed; a `Task` is the same for all; a function is called with the seed."""
    if isinstance(task, str):
        return named_task(task, shots=shots, seed=seed)
    task = task if isinstance(task, Task) else task(seed)
    check_is(task, Task, "task", "give a name such as 'digits', a Task, or a function seed -> Task")
    return task


def outputs_of(net: Net, w: Tensor, x: Tensor, progress: Progress = False) -> Tensor:
    """Outputs (N, C) at `w`, a block of inputs after the other."""
    with torch.no_grad():
        return torch.cat([net(w, block) for block in track(x.split(256), "checking", progress)])


def losses_of(net: Net, w: Tensor, data: Data, likelihood: Likelihood, progress: Progress = False) -> tuple[Tensor, Tensor]:
    """Loss of each example at `w`, and under the constant outputs of the smallest mean loss, (N,) each; NaN where these are."""
    outputs, likelihood = outputs_of(net, w, data.x, progress).double(), as_likelihood(likelihood)
    level = outputs.mean(0, keepdim=True).requires_grad_(True)
    lbfgs = torch.optim.LBFGS([level], max_iter=100, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        lbfgs.zero_grad()
        loss = likelihood.nll(level.expand_as(outputs), data.y)
        loss.backward()
        return loss

    if bool(outputs.isfinite().all()):
        lbfgs.step(closure)
    with torch.no_grad():
        return likelihood.losses(outputs, data.y), likelihood.losses(level.expand_as(outputs), data.y)


def below(losses: Tensor, constant: Tensor) -> bool:
    """Whether losses (N,) are smaller than those of constant outputs, by twice the standard error of the mean difference."""
    gain = constant - losses
    return bool(gain.mean() > 2 * gain.std() / math.sqrt(len(gain)))


def check_learned(
    net: Net, w: Tensor, data: Data, stage: str, do: str, progress: Progress = False, likelihood: Likelihood = "categorical"
) -> None:
    """That a network at `w` is no dead one: finite outputs, and more right answers on `data` than its largest class gives.

    Under another likelihood than that of one class an example: a smaller NLL than the best constant outputs have.

    Raises:
        Diverged: With what to do, `do`.
    """
    part = data if len(data) <= MOST_LOOKED_AT else data.subset(torch.arange(0, len(data), -(-len(data) // MOST_LOOKED_AT)))
    x, y = part.batch(None)
    if y.ndim > 1 or not isinstance(as_likelihood(likelihood), CategoricalLikelihood):
        losses, constant = losses_of(net, w, part, likelihood, progress)
        if not below(losses, constant):
            least, nll = (float(t.mean()) for t in (constant, losses))
            raise Diverged(
                f"{stage} must leave a network that learned, got NLL {nll:.3g} on {len(y)} of its own examples, where the best "
                f"constant outputs have {least:.3g}: {do}"
            )
        return
    outputs = outputs_of(net, w, x, progress)
    nll, accuracy = float(cross_entropy(outputs, y)), float((outputs.argmax(1) == y).double().mean())
    share = float(torch.bincount(y).max()) / len(y)
    noise = 3 * math.sqrt(share * (1 - share) / len(y))
    gain = min(max(noise, LEAST_GAIN * (1 - share)), (1 - share) / 2)  # of a handful of examples the noise alone passes 1
    if share < 1 and not (math.isfinite(nll) and accuracy > share + gain):
        raise Diverged(
            f"{stage} must leave a network that learned, got accuracy {accuracy:.3f} and NLL {nll:.3g} on {len(y)} of its own "
            f"examples, where the largest class alone gives {share:.3f}: {do}"
        )
