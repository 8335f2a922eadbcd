"""From a classifier of the user's and two sets of examples to what a lab needs: settings by trials, accuracy after every step."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from flatviz.checks import anything, check_is
from flatviz.core.data import Data, Task
from flatviz.core.modules import copied
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.core.seeds import generator
from flatviz.core.treated import find_head
from flatviz.datasets.stream import class_names_of
from flatviz.families.choice import Choice, with_head_std
from flatviz.families.family import fit_member
from flatviz.families.preparation import check_learned, recipe_for
from flatviz.families.tour import HEAD_STD, RANK
from flatviz.families.tune import tried
from flatviz.gaussian import Gaussian
from flatviz.posteriors import METHODS
from flatviz.posteriors.swag import fit_swag
from flatviz.posteriors.transfer import transfer
from flatviz.training.pretrain import pretrain

Examples = Annotated[Data | Dataset | DataLoader | Sequence, anything]
RATES = (0.1, 0.03, 0.01, 0.003, 0.001)  # of pre-training and of SWAG: the first at which the network learns is taken
EPOCHS = 30
MOST = 2000  # examples that are fitted
HELD_OUT = 0.2  # of the training examples: settings are chosen on them
TUNED = "vi"  # whose settings the variational methods share
DO = "check inputs and labels, train the module first, or call the steps yourself: pretrain, fit_swag, transfer"


@dataclass(frozen=True)
class Prepared:
    """What `Lab` takes, and how it was made: `fit`, the settings that the trials chose; `steps`, a line each."""

    net: Net
    task: Task
    prior: Gaussian
    fit: Mapping[str, Any]
    steps: tuple[str, ...]


def examples(given: Examples, name: str) -> Data:
    """Inputs and labels as a `Data`: of a pair of arrays or tensors, a Dataset, or a DataLoader.

    Raises:
        TypeError: For anything else.
        ValueError: Where labels are no whole numbers.
    """
    if isinstance(given, Dataset):
        given = DataLoader(given, batch_size=256)
    if isinstance(given, DataLoader):
        read = Data.from_batches(((x, torch.as_tensor(y)) for x, y in given), MOST)
        given = replace(read, class_names=class_names_of(given, read.y))
    if not isinstance(given, Data):
        pair = isinstance(given, (tuple, list)) and len(given) == 2
        check_is(given if pair else None, (tuple, list), name, "give (inputs, labels), a Dataset or a DataLoader")
        x, y = (torch.as_tensor(part) for part in given)
        given = Data(x if x.is_floating_point() else x.float(), y)
    x = given.x.float() if given.x.dtype == torch.float64 else given.x
    if given.y.is_floating_point() or given.y.ndim != 1:
        raise ValueError(f"{name} must have whole numbers as labels, (N,), got {given.y.dtype} of shape {tuple(given.y.shape)}")
    return replace(given, x=x)


def prepare_own(
    module: nn.Module | Net,
    train: Examples,
    test: Examples,
    *,
    trials: int = 6,
    seed: int = 0,
    progress: Progress = False,
    say: Callable[[str], None] = lambda text: None,
) -> Prepared:
    """Net, task, prior and settings for a lab over normalisation layers and head of a classifier (head alone: without any).

    A module that has not learned `train` is trained first.  The prior of the normalisation layers is SWAG's on `train`, the
    head's is wide and about 0; each rate is the first at which the network learns.  Settings of the fits are those of the
    best of `trials` on a fifth of `train` that is held out, by NLL.

    Raises:
        ValueError: Where a step leaves a network that is no better than its largest class.
    """
    train, test = examples(train, "train"), examples(test, "test")
    done: list[str] = []

    def note(text: str) -> None:
        done.append(text)
        say(text)

    n_classes = int(max(train.y.max(), test.y.max())) + 1
    if not test.class_names and len(train.class_names) >= n_classes:
        test = replace(test, class_names=train.class_names)
    order = torch.randperm(len(train), generator=generator(seed))[:MOST]
    cut = max(1, round(HELD_OUT * len(order)))
    task = Task(train.subset(order[cut:]), train.subset(order[cut:]), test, n_classes, "your data", train.subset(order[:cut]))
    if test.x.shape[1:] != train.x.shape[1:]:
        raise ValueError(f"test must have inputs as train has, {tuple(train.x.shape[1:])}, got {tuple(test.x.shape[1:])}")
    net = module if isinstance(module, Net) else Net.from_module(copied(module).eval(), example=train.x[:2])
    try:
        outputs = tuple(net(net.w, train.x[:2]).shape)
    except RuntimeError as error:
        raise ValueError(
            f"train must have inputs that the module takes, got {tuple(train.x.shape[1:])} each: {error}"
        ) from error
    if len(outputs) != 2 or outputs[1] < n_classes:
        raise ValueError(f"the module must give logits (N, C) for {n_classes} classes, got {outputs} for 2 inputs")
    net = _learned(net, task.train, seed, progress, note)
    prior_of = _first_that_learns(
        lambda lr: fit_swag(net, task.train, rank=RANK, seed=seed, lr=lr, progress=progress),
        lambda swag: check_learned(net, swag.sample(1, seed=seed)[0], task.train, "SWAG", DO),
        "SWAG",
        note,
    )
    treated, what = (
        ("norm+head", "normalisation layers and head") if any(b.kind == "norm" for b in net.blocks) else (_of_head(net), "head")
    )
    net, prior = transfer(net, prior_of, treated=treated, head_std=HEAD_STD, scale=recipe_for(net).scale)
    note(f"treated: {what}, {net.dim} weights")
    choice = _chosen(net, task, prior, trials, seed)
    prior = with_head_std(net, prior, choice.head_std)
    q = fit_member(net, task, prior, TUNED, seed=seed, fit=choice.settings)
    check_learned(net, q.center, task.train, f"{METHODS[TUNED].label} with the best of {trials} trials", DO)
    accuracy = _accuracy(net, q.center, task.validation)
    note(f"settings of the best of {trials} trials: {choice}; accuracy {accuracy:.3f} on held-out examples")
    return Prepared(net, task, prior, dict(choice.settings), tuple(done))


def _learned(net: Net, data: Data, seed: int, progress: Progress, note: Callable[[str], None]) -> Net:
    """The net as it is where its accuracy is in the upper half of what there is above its largest class, else trained."""
    share = float(torch.bincount(data.y).max()) / len(data)
    if _accuracy(net, net.w, data) < (1 + share) / 2:
        return _first_that_learns(
            lambda lr: pretrain(net, data, seed=seed, epochs=EPOCHS, lr=lr, last_lr=lr / 2, progress=progress),
            lambda trained: check_learned(trained, trained.w, data, "training", DO),
            "training",
            note,
        )
    note(f"the module has learned already: accuracy {_accuracy(net, net.w, data):.3f} on its training examples")
    return net


def _first_that_learns(
    fit: Callable[[float], Any], check: Callable[[Any], None], stage: str, note: Callable[[str], None]
) -> Any:
    """What `fit(rate)` gives at the first of `RATES` that `check` passes.  Raises the last ValueError where none does."""
    failed = None
    for rate in RATES:
        try:
            result = fit(rate)
            check(result)
        except ValueError as error:
            failed = error
            continue
        note(f"{stage} at rate {rate:g}")
        return result
    raise failed


def _chosen(net: Net, task: Task, prior: Gaussian, trials: int, seed: int) -> Choice:
    """The trial with the lowest NLL on the held-out examples."""
    rows = tried(METHODS[TUNED], [(net, task, task.validation, prior)], [seed], trials)
    choice, (nll,) = min(rows, key=lambda row: row[1])
    if not math.isfinite(nll):
        raise ValueError(f"one of {trials} trials of {METHODS[TUNED].label} must stay finite, got none: {DO}")
    return choice


def _of_head(net: Net) -> Callable[[str], bool]:
    """Whether a parameter of this name belongs to the head."""
    head = find_head(net.module, net.example)
    return lambda name: name.rpartition(".")[0] == head


def _accuracy(net: Net, w: Tensor, data: Data) -> float:
    with torch.no_grad():
        return float((net(w, data.x).argmax(1) == data.y).double().mean())
