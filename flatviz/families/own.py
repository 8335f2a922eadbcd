"""From a user's classifier to the net, task and prior of a lab: trials, checks, and what a time budget leaves out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from flatviz.checks import anything
from flatviz.core.data import Data, Task
from flatviz.core.modules import copied
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.core.seeds import generator
from flatviz.datasets.given import data_from
from flatviz.engine.trunk import cache_trunk
from flatviz.families.choice import with_head_std
from flatviz.families.members import Fitting
from flatviz.families.preparation import check_learned, recipe_for
from flatviz.families.tour import HEAD_STD, RANK
from flatviz.families.tune import choices_of, tried
from flatviz.gaussian import Gaussian
from flatviz.posteriors import METHODS
from flatviz.posteriors.swag import fit_swag
from flatviz.posteriors.transfer import transfer
from flatviz.training.gradient import value_and_grad
from flatviz.training.losses import training_loss
from flatviz.training.optimize import Diverged
from flatviz.training.pretrain import pretrain
from flatviz.training.run import Run

Given = Data | Dataset | DataLoader | Sequence  # examples, as a lab takes them
Say = Callable[[str], None]  # hears a line of text for each step that is done
Examples = Annotated[Given, anything]
RATES = (0.1, 0.03, 0.01, 0.003, 0.001)  # of pre-training and of SWAG: the first at which the network learns is taken
EPOCHS = 30
MOST = 2000  # examples that are fitted
HELD_OUT = 0.2  # of the training examples: settings are chosen on them
TUNED = "vi"  # whose settings the variational methods share
SHRINK = (1.0, 0.3, 0.1, 0.03)  # of rates and of the prior's widths: the first at which a trial is finite and learns is taken
# Gradients over all fitted examples that the first family of a lab takes: in steps of its variational fits, and for its figures.
FIT_STEPS, FIGURES = 8_000, 12_000
# Settings where eight draws a step take too long: one is noisier, and needs a lower rate.
ONE_DRAW = {"mc_samples": 1, "lr": 1.0}
TRAINING_SHARE = 0.025  # of the time budget, where it does not suffice for everything: the first picture comes soon
SHORT = 200  # steps of a fit then
TIMED = 32  # examples of the gradient that is timed
DO = "check inputs and labels, train the module first, or call the steps yourself: pretrain, fit_swag, transfer"


def examples(given: Examples, name: str, classes: Sequence[str] = ()) -> Data:
    """Inputs and class labels as a `Data`, by `data_from`; of a data set or a loader the first that a lab fits.

    Raises:
        ValueError: Where labels are no whole numbers.
    """
    most = MOST if isinstance(given, (Dataset, DataLoader)) else None
    try:
        given = data_from(given, most, classes=classes or None)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} must be (inputs, labels), a data set or a loader: {error}") from error
    y = given.y[:, 0] if given.y.ndim == 2 and given.y.shape[1] == 1 else given.y
    if y.is_floating_point() and bool((y == y.round()).all()):
        y = y.long()
    if y.is_floating_point() or y.ndim != 1:
        raise ValueError(f"{name} must have whole numbers as labels, (N,), got {given.y.dtype} of shape {tuple(given.y.shape)}")
    return replace(given, x=given.x.float() if given.x.dtype == torch.float64 else given.x, y=y)


def _as_taken(net: Net, data: Data) -> Data:
    """Whole numbers as floats where the net does not take them as they are."""
    if isinstance(data.x, Tensor) and not data.x.is_floating_point():
        try:
            net(net.w, data.x[:2])
        except RuntimeError:
            return replace(data, x=data.x.float())
    return data


def prepare_own(
    module: nn.Module | Net,
    train: Examples,
    test: Examples,
    *,
    trials: int = 6,
    minutes: float | None = None,
    seed: int = 0,
    progress: Progress = False,
    say: Say = lambda text: None,
) -> tuple[Fitting, bool]:
    """Net, task, prior and settings for a lab over normalisation layers and head of a classifier (head alone: without any).

    A module that has not learned `train` is trained first.  The prior of the normalisation layers is SWAG's on `train`, the
    head's is wide and about 0; each rate is the first at which the network learns.  Settings of the fits are those of the
    best of `trials` on a validation split, a fifth of `train`, by NLL; where none stays finite and learns, rates and widths of
    the prior fall along `SHRINK`, and at last the head alone is treated.

    Args:
        module: The classifier, inputs (N, ...) -> logits (N, C).
        train: Its training data.
        test: Its test data.
        trials: Settings that are tried.
        minutes: Time that this and the first family of a lab may take, estimated from timed gradients.  Where it does not
            suffice: one draw a step; else one trial too; else the head alone is treated, on activations that are computed once,
            after a short training.  None: everything, whatever it takes.
        seed: Of all random numbers.
        progress: True, None (where somebody watches) or a function.
        say: Called with a line of text for each step that is done.

    Returns:
        What the fits of a lab share, and whether time is short, so that it fits a few members first and measures few points.

    Raises:
        Diverged: Where a step leaves a network that is no better than its largest class.
    """
    train = examples(train, "train")
    given = train, examples(test, "test", train.class_names)
    net = module if isinstance(module, Net) else Net.from_module(copied(module).eval(), example=train)
    task, how = _task(*(_as_taken(net, data) for data in given), seed), dict(seed=seed, progress=progress)
    _check_logits(net, task)
    seconds, settings = math.inf if minutes is None else 60 * minutes, METHODS[TUNED].tuned(net).settings
    one, many = _seconds(net, task.train), _seconds(net, task.train, settings["mc_samples"])

    def work(step: float, n: int) -> float:
        """Seconds of everything, with `n` trials and so many seconds a step of a variational fit."""
        return one * (2 * EPOCHS + FIGURES) + step * ((n + 1) * settings["steps"] + FIT_STEPS)

    if work(one, 1) > seconds:
        net = _learned(net, task.train, how, say, max(1, min(EPOCHS, int(TRAINING_SHARE * seconds / one))), check=False)
        say(
            f"left out, for it would take about {work(one, 1) / 60:.0f} of {minutes:g} minutes: normalisation layers, SWAG, images, "
            f"all trials but one, all steps of a fit but {SHORT}, most radii, most points of the pictures"
        )
        return _head_alone(net, task, how, say, 1, {"steps": SHORT}), True
    fixed = {}
    if (late := work(many, trials)) > seconds:
        left, fixed = "all draws of a step but one", ONE_DRAW
        if work(one, trials) > seconds:
            left, trials = f"{left}, all trials but one", 1
        say(f"left out, for it would take about {late / 60:.0f} of {minutes:g} minutes: {left}")
    net = _learned(net, task.train, how, say)

    def fitted(lr: float) -> Gaussian:
        swag = fit_swag(net, task.train, rank=RANK, lr=lr, **how)
        check_learned(net, swag.sample(1, seed=seed)[0], task.train, "SWAG", DO)
        say(f"SWAG at rate {lr:g}")
        return swag

    swag = _first(RATES, fitted)
    norm = any(b.kind == "norm" for b in net.blocks)
    treated, what = ("norm+head", "normalisation layers and head") if norm else ("head", "head")
    late, prior = transfer(net, swag, treated=treated, head_std=HEAD_STD, scale=recipe_for(net).scale)
    say(f"treated: {what}, {late.dim} weights")
    try:
        return _with_settings(Fitting(late, task, prior, **how), trials, say, fixed), False
    except Diverged as error:
        if not norm:
            raise
        say(f"left out, for no trial learned: normalisation layers ({error})")
        return _head_alone(net, task, how, say, trials, fixed), False


def _task(train: Data, test: Data, seed: int) -> Task:
    """The training examples in random order, at most `MOST`, a share of them set aside as validation split; source and train are one."""
    n_classes = int(max(train.y.max(), test.y.max())) + 1
    if not test.class_names and len(train.class_names) >= n_classes:
        test = replace(test, class_names=train.class_names)
    if test.x.shape[1:] != train.x.shape[1:]:
        raise ValueError(f"test must have inputs as train has, {tuple(train.x.shape[1:])}, got {tuple(test.x.shape[1:])}")
    order = torch.randperm(len(train), generator=generator(seed))[:MOST]
    validation, fitted = (train.subset(part) for part in order.tensor_split([max(1, round(HELD_OUT * len(order)))]))
    return Task(fitted, fitted, test, n_classes, "your data", validation)


def _check_logits(net: Net, task: Task) -> None:
    """That the net takes the inputs and gives a logit for each class."""
    x = task.train.x[:2]
    try:
        outputs = tuple(net(net.w, x).shape)
    except RuntimeError as error:
        raise ValueError(f"train must have inputs that the module takes, got {tuple(x.shape[1:])} each: {error}") from error
    if len(outputs) != 2 or outputs[1] < task.n_classes:
        raise ValueError(f"the module must give logits (N, C) for {task.n_classes} classes, got {outputs} for 2 inputs")


def _head_alone(net: Net, task: Task, how: dict, say: Say, trials: int, fixed: Mapping[str, Any]) -> Fitting:
    """The head of a net that stays as it is, on the activations before it where `torch.fx` can follow the net."""
    test = task.test.subset(torch.arange(min(len(task.test), MOST)))
    if len(test) < len(task.test):
        say(f"left out: all test examples but the first {MOST}")
    everything = Gaussian(net.w, torch.zeros_like(net.w), torch.zeros_like(net.w)[None])
    net, prior = transfer(net, everything, treated="head", head_std=HEAD_STD)
    parts = {"train": task.train, "test": test, "validation": task.validation}
    try:
        cached = {name: cache_trunk(net, data, progress=how["progress"]) for name, data in parts.items()}
        net = cached["train"][0]
        parts = {name: replace(features, class_names=parts[name].class_names) for name, (_, features) in cached.items()}
    except ValueError as error:
        say(f"activations are not kept: {error}")
    say(f"treated: head, {net.dim} weights")
    return _with_settings(Fitting(net, replace(task, source=parts["train"], **parts), prior, **how), trials, say, fixed)


def _with_settings(fits: Fitting, trials: int, say: Say, fixed: Mapping[str, Any]) -> Fitting:
    """With the best of the trials, at the first of `SHRINK` at which that is finite and learns; raises the last Diverged."""
    method, net, task = METHODS[TUNED], fits.net, fits.task
    record = method.tuned(net).settings["lr"]
    rate = fixed.get("lr", record)

    def chosen(shrink: float) -> Fitting:
        narrow = replace(fits.prior, log_std=fits.prior.log_std + math.log(shrink), factor=shrink * fits.prior.factor)
        given = dict(fixed={**fixed, **({} if shrink == 1 else {"lr": shrink * rate})}, head_std=shrink * HEAD_STD)
        choice, nll = choices_of(method, net, 1, **given)[0], 0.0
        if trials > 1:
            case = net, task, task.validation, narrow
            rows = tried(method, [case], [fits.seed], trials, progress=fits.progress, **given)
            choice, (nll,) = min(rows, key=lambda row: row[1])
        if not math.isfinite(nll):
            raise Diverged(f"one of {trials} trials of {method.label} must stay finite, got none: {DO}")
        settings = {name: value for name, value in choice.settings.items() if name != "lr"}
        settings["lr_scale"] = choice.settings["lr"] / record
        best = replace(fits, prior=with_head_std(net, narrow, choice.head_std), fit=settings)
        q = replace(best, fit=choice.settings).member(TUNED)
        check_learned(net, q.center, task.train, f"{method.label} with the best of {trials} trials", DO)
        accuracy, at = _accuracy(net, q.center, task.validation), "" if shrink == 1 else f", at {shrink:g} of rate and widths"
        say(f"settings of the best of {trials} trials{at}: {choice}; accuracy {accuracy:.3f} on held-out examples")
        return best

    return _first(SHRINK, chosen)


def _seconds(net: Net, data: Data, draws: int = 1) -> float:
    """Seconds of a gradient over all examples at `draws` weight vectors, estimated from the second of two over a few examples."""
    few = data.subset(torch.arange(min(TIMED, len(data))))
    loss = training_loss(net, few, Run(0), None, draws)
    w = net.w if draws == 1 else net.w.expand(draws, -1)
    for _ in range(2):
        start = time.perf_counter()
        value_and_grad(loss, w, None)
        taken = time.perf_counter() - start
    return taken * len(data) / len(few)


def _learned(net: Net, data: Data, how: dict, say: Say, epochs: int = EPOCHS, check: bool = True) -> Net:
    """The net as it is where its accuracy is in the upper half of what there is above its largest class, else trained.

    check: whether it must learn; else it must stay finite.
    """
    share, accuracy = float(torch.bincount(data.y).max()) / len(data), _accuracy(net, net.w, data)
    if accuracy >= (1 + share) / 2:
        say(f"the module has learned already: accuracy {accuracy:.3f} on its training examples")
        return net
    stage = "training" if epochs == EPOCHS else f"training for {epochs} of {EPOCHS} epochs"

    def trained(lr: float) -> Net:
        late = pretrain(net, data, epochs=epochs, lr=lr, last_lr=lr / 2, **how)
        if check:
            check_learned(late, late.w, data, "training", DO)
        say(f"{stage} at rate {lr:g}")
        return late

    return _first(RATES, trained)


def _first(values: Sequence[float], attempt: Callable[[float], Any]) -> Any:
    """What `attempt(value)` gives for the first of the values at which it learns.  Raises the last Diverged else."""
    for value in values:
        try:
            return attempt(value)
        except Diverged as error:
            failed = error
    raise failed


def _accuracy(net: Net, w: Tensor, data: Data) -> float:
    with torch.no_grad():
        return float((net(w, data.x).argmax(1) == data.y).double().mean())
