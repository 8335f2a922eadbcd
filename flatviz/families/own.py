"""From a user's network to the net, task and prior of a lab: trials, checks, and shortcuts.

A quick lab leaves out parts (hence its length).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from flatviz.checks import Count, anything
from flatviz.core import Data, Likelihood, Net, Progress, Task, copied, generator
from flatviz.datasets.given import data_from
from flatviz.engine.determinism import work_of
from flatviz.engine.trunk import cache_trunk
from flatviz.families.members import Fitting, with_head_std
from flatviz.families.preparation import (
    Standing,
    check_learned,
    error_of_mean,
    outputs_of,
    recipe_for,
)
from flatviz.families.tour import HEAD_STD, RANK
from flatviz.families.tune import choices_of, tried
from flatviz.gaussian import Gaussian
from flatviz.likelihood import CategoricalLikelihood, as_likelihood
from flatviz.objectives.network import nll
from flatviz.posteriors import METHODS
from flatviz.posteriors.swag import fit_swag
from flatviz.posteriors.transfer import transfer
from flatviz.results import Prediction
from flatviz.training.driver import Diverged, judged_by_score
from flatviz.training.points import pretrain
from flatviz.training.settings import DRAWS
from flatviz.training.streams import steps_per_epoch

Given = Data | Dataset | DataLoader | Sequence  # forms of examples that a lab takes
Say = Callable[[str], None]  # called with a line of text for each finished step
Examples = Annotated[Given, anything]
Effort = Literal["quick", "full"] | Count  # a number is that of trials, otherwise "full"
# Rates of pre-training and of SWAG; the first at which the network learns is used
RATES = (
    0.1,
    0.03,
    0.01,
    0.003,
    0.001,
)
EPOCHS = 30
# Smallest number for a regression, as a curve through few points takes longer than a class
STEPS = 500
BATCH = 64  # of these steps
MAX_EXAMPLES = 2000  # examples that are fitted
HELD_OUT = 0.2  # share of the training examples on which settings are chosen
TUNED = "vi"  # method whose settings the variational methods share
# Factors on rates and the prior's widths; the first at which a trial is finite and learns is used
SHRINK = (
    1.0,
    0.3,
    0.1,
    0.03,
)
TRIALS = 6  # of effort="full"
# With effort="quick", steps of more multiply-adds, over all draws, are replaced by smaller ones.
# One draw is noisier, and needs a lower rate.
LARGE_STEP = 500_000_000
SMALL_STEPS: dict[str, Any] = {"mc_samples": 1, "lr": 1.0, "batch_size": 128, "steps": 300}
# Multiply-adds of a pass over the fitted examples, beyond which "quick" treats the head alone
LARGE_PASS = 125_000_000
# Largest drop in accuracy, beside twice the standard error, at which posteriors still count as
# those of the trained network.  For an NLL it is a share of the gap to constant outputs, or of one
# nat where that is smaller.
MAX_DROP = 0.05
ADVICE = (
    "check inputs and labels, train the module first, or call the steps yourself: pretrain,"
    " fit_swag, transfer"
)


def examples(
    given: Examples, name: str, classes: Sequence[str] = (), likelihood: Likelihood = "categorical"
) -> Data:
    """Read inputs and labels, or targets of another likelihood, into a `Data`.

    A data set or a loader is read as far as a lab fits it.
    """
    limit = MAX_EXAMPLES if isinstance(given, (Dataset, DataLoader)) else None
    try:
        given = data_from(given, limit, classes=classes or None)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{name} must be (inputs, labels), a data set or a loader: {error}"
        ) from error
    y = given.y
    if isinstance(as_likelihood(likelihood), CategoricalLikelihood):
        y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
        y = y.long() if y.is_floating_point() and bool((y == y.round()).all()) else y
    given = replace(given, y=y)
    return given.to(dtype=torch.float32) if torch.float64 in (given.x.dtype, y.dtype) else given


def _as_taken(net: Net, data: Data) -> Data:
    """Convert integers to floats where the net does not take them as they are."""
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
    likelihood: Likelihood = "categorical",
    effort: Effort = "quick",
    seed: int = 0,
    progress: Progress = False,
    say: Say = lambda text: None,
) -> tuple[Fitting, str]:
    """Build net, task, prior and settings for a lab on a user's network.

    The treated weights are normalisation layers and head, or the head alone.  A module that has not
    learned `train` is trained first.  The prior of the normalisation layers is SWAG's on `train`,
    the head's is wide and about 0; each rate is the first at which the network learns.  Settings of
    the fits are those of the best of several trials by NLL on a validation split, a fifth of
    `train`.  If no trial stays finite, learns and is about as good as the trained network, rates
    and widths of the prior decrease along `SHRINK`, and finally the head alone is treated.  The
    computation follows from the arguments alone, never from the time that it takes.

    Args:
        module: The network, inputs (N, ...) -> outputs (N, ...).
        train: Its training data.
        test: Its test data.
        likelihood: Likelihood of its outputs, as in `fv.nll`.
        effort: "quick": one trial; of a large network small steps, of one draw and 128 examples; of
            a larger one the head alone, on activations that are computed once.  "full": six trials
            and nothing left out.  A number: a full one of so many.
        seed: Fixes all random numbers.
        progress: True, None (where somebody watches) or a function.
        say: Called with a line of text for each finished step.

    Returns:
        The `Fitting` of a lab, and a line on how good the fits are beside the trained network.

    Raises:
        Diverged: If a step leaves a network that is no better than its largest class, or than the
            best constant outputs.
    """
    train = examples(train, "train", likelihood=likelihood)
    test = examples(test, "test", train.class_names, likelihood)
    how: dict[str, Any] = dict(seed=seed, progress=progress)
    net = (
        module
        if isinstance(module, Net)
        else Net.from_module(copied(module).eval(), example=train.x[:2])
    )
    task = _task(_as_taken(net, train), _as_taken(net, test), likelihood, seed)
    for name in ("train", "test"):
        try:  # inputs that the net takes, labels that its outputs can have
            nll(net, task.parts()[name], likelihood=likelihood)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name}: {error}") from error
    quick = effort == "quick"
    trials = effort if isinstance(effort, int) else {"quick": 1, "full": TRIALS}[effort]
    fixed: dict[str, float] = {}
    work = work_of(net, task.train.x).macs * len(task.train)
    net = _learned(net, task, how, say)
    if quick and 3 * work * DRAWS > LARGE_STEP:
        fixed = SMALL_STEPS
        say(
            "left out, for effort is 'quick': all draws of a step but one, all of its examples but"
            " 128, half of the steps"
        )
    held_out = partial(Standing.of, data=task.parts()["validation"], likelihood=likelihood)
    before = held_out(net, net.w, progress=progress)
    settled = partial(_with_settings, trials=trials, say=say, fixed=fixed, before=before)
    if quick and work > LARGE_PASS:
        say("left out, for effort is 'quick': normalisation layers, SWAG, images")
        return _head_alone(net, task, how, say, settled)

    def fitted(lr: float) -> Gaussian:
        swag = fit_swag(net, task.train, rank=RANK, lr=lr, likelihood=likelihood, **how)
        check_learned(
            net, swag.sample(1, seed=seed)[0], task.train, "SWAG", ADVICE, progress, likelihood
        )
        _check_kept("SWAG", held_out(net, swag.mean, progress=progress), before)
        say(f"SWAG at rate {lr:g}")
        return swag

    recipe = recipe_for(net)
    swag = _first((recipe.swag_lr, *(rate for rate in RATES if rate < recipe.swag_lr)), fitted)
    norm = any(b.kind == "norm" for b in net.blocks)
    late, prior = transfer(
        net, swag, treated="norm+head" if norm else "head", head_std=HEAD_STD, scale=recipe.scale
    )
    say(f"treated: {'normalisation layers and head' if norm else 'head'}, {late.dim} weights")
    try:
        return settled(Fitting(late, task, prior, **how), last=not norm)
    except Diverged as error:
        if not norm:
            raise
        say(f"left out, for no trial learned: normalisation layers ({error})")
        return _head_alone(net, task, how, say, settled)


def _task(train: Data, test: Data, likelihood: Likelihood, seed: int) -> Task:
    """Build the task of shuffled training examples, source and train being one; refuse too few."""
    classes = isinstance(as_likelihood(likelihood), CategoricalLikelihood)
    n_classes = int(max(train.y.max(), test.y.max())) + 1 if classes else 1
    if not test.class_names and len(train.class_names) >= n_classes:
        test = replace(test, class_names=train.class_names)
    if test.x.shape[1:] != train.x.shape[1:]:
        raise ValueError(
            f"test must have inputs as train has, {tuple(train.x.shape[1:])}, got"
            f" {tuple(test.x.shape[1:])}"
        )
    order = torch.randperm(len(train), generator=generator(seed))[:MAX_EXAMPLES]
    validation, fitted = (
        train.subset(part) for part in order.tensor_split([max(1, round(HELD_OUT * len(order)))])
    )
    return Task(fitted, fitted, test, n_classes, "your data", validation, likelihood=likelihood)


def _head_alone(
    net: Net, task: Task, how: dict, say: Say, settled: Callable[..., tuple[Fitting, str]]
) -> tuple[Fitting, str]:
    """Build the head on fixed activations, where no layer follows it."""
    test = task.test.subset(torch.arange(min(len(task.test), MAX_EXAMPLES)))
    if len(test) < len(task.test):
        say(f"left out: all test examples but the first {MAX_EXAMPLES}")
    everything = Gaussian(net.w, torch.zeros_like(net.w), torch.zeros_like(net.w)[None])
    net, prior = transfer(net, everything, treated="head", head_std=HEAD_STD)
    parts = {
        name: data for name, data in replace(task, test=test).parts().items() if name != "source"
    }
    try:
        cached = {
            name: cache_trunk(net, data, progress=how["progress"]) for name, data in parts.items()
        }
        net = cached["train"][0]
        parts = {
            name: replace(features, class_names=parts[name].class_names)
            for name, (_, features) in cached.items()
        }
    except ValueError as error:
        say(f"activations are not kept: {error}")
    say(f"treated: head, {net.dim} weights")
    train = parts["train"]
    validation = parts["validation"]
    task = replace(task, source=train, train=train, validation=validation, test=parts["test"])
    return settled(Fitting(net, task, prior, **how), last=True)


def _with_settings(
    fits: Fitting, *, trials: int, say: Say, fixed: Mapping[str, Any], before: Standing, last: bool
) -> tuple[Fitting, str]:
    """Use the best trial at the first of `SHRINK` where it is about as good as the network.

    It must also be finite, and have learned.

    before: standing of the trained network.
    last: take the best trial, even where all fail.

    Raises:
        Diverged: If all fail, and it is not the last.
    """
    method = METHODS[TUNED]
    net = fits.net
    task = fits.task
    record = method.tuned(net).settings["lr"]
    rate = fixed.get("lr", record)
    losing: list[tuple[Standing, Fitting]] = []

    def chosen(shrink: float) -> tuple[Fitting, str]:
        narrow = replace(
            fits.prior,
            log_std=fits.prior.log_std + math.log(shrink),
            factor=shrink * fits.prior.factor,
        )
        given: dict[str, Any] = dict(
            fixed={**fixed, **({} if shrink == 1 else {"lr": shrink * rate})},
            head_std=shrink * HEAD_STD,
        )
        choice = choices_of(method, net, 1, **given)[0]
        nll = 0.0
        if trials > 1:
            case = net, task, task.validation, narrow
            rows = tried(method, [case], [fits.seed], trials, progress=fits.progress, **given)
            choice, (nll,) = min(rows, key=lambda row: row[1])
        if not math.isfinite(nll):
            raise Diverged(
                f"one of {trials} trials of {method.label} must stay finite, got none: {ADVICE}"
            )
        settings = {name: value for name, value in choice.settings.items() if name != "lr"}
        prior = with_head_std(net, narrow, choice.head_std)
        scale = choice.settings["lr"] / record
        best = replace(fits, prior=prior, fit=settings, lr_scale=scale)
        q = replace(best, fit=choice.settings, lr_scale=1.0).member(TUNED)
        stage = f"{method.label} with the best of {trials} trials"
        check_learned(net, q.center, task.train, stage, ADVICE, likelihood=task.likelihood)
        standing = Standing.of(net, q.center, task.parts()["validation"], task.likelihood)
        at = "" if shrink == 1 else f", at {shrink:g} of rate and widths"
        say(
            f"settings of the best of {trials} trials{at}: {choice}; {standing} on held-out"
            " examples"
        )
        losing.append((standing, best))
        _check_kept(method.label, standing, before)
        return (
            best,
            f"on held-out examples: {standing} of {method.label}, {before} of the trained network",
        )

    try:
        return _first(SHRINK, chosen)
    except Diverged:
        if not (losing and last):
            raise
    standing, best = min(
        losing, key=lambda case: float(case[0].losses.mean().nan_to_num(nan=math.inf))
    )
    return (
        best,
        (
            f"do not trust these pictures: {method.label} has {standing} on held-out examples,"
            f" where the trained network has {before}: {ADVICE}"
        ),
    )


def _check_kept(label: str, now: Standing, before: Standing) -> None:
    """Refuse a network far below the trained one."""
    least = MAX_DROP * max(float(before.gain), 1.0) + 2 * float(
        error_of_mean(now.losses - before.losses)
    )
    if not float((now.losses - before.losses).mean()) <= least:
        raise Diverged(
            f"{label} must be about as good as the trained network, {before}, got {now}: {ADVICE}"
        )


def _learned(net: Net, task: Task, how: dict, say: Say) -> Net:
    """Return the net as it is where it has learned, otherwise trained.

    It has learned where its loss is clearly below that of the best constant outputs, and below half
    of it; of a regression, where half of the variance is explained.
    """
    data = task.train
    likelihood = task.likelihood
    progress = how["progress"]
    standing = Standing.of(net, net.w, data, likelihood, progress)
    error = standing.losses.mean()
    spread = standing.constant.mean()
    scores = (
        {}
        if standing.classes
        else Prediction(outputs_of(net, net.w, data.x)[None], data.y, likelihood).scores
    )
    if "rmse" in scores:
        error = scores["rmse"][0] ** 2
        spread = data.y.double().var()
    if standing.learned and bool(2 * error <= spread):
        say(
            f"the module has learned already: {standing} on its training examples; it may have seen"
            " those held out here"
        )
        return net

    epochs = (
        EPOCHS if task.one_label else max(EPOCHS, -(-STEPS // steps_per_epoch(len(data), BATCH)))
    )

    def trained(lr: float) -> Net:
        late = pretrain(
            net,
            data,
            epochs=epochs,
            lr=lr,
            last_lr=lr / 2,
            likelihood=likelihood,
            batch_size=BATCH,
            **how,
        )
        check_learned(late, late.w, data, "training", ADVICE, progress, likelihood)
        say(f"training at rate {lr:g}")
        return late

    return _first(RATES, trained)


def _first(values: Sequence[float], attempt: Callable[[float], Any]) -> Any:
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
