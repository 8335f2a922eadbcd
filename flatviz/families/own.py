"""From a user's network to the net, task and prior of a lab, and what a quick one leaves out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import torch
from torch import nn

from flatviz.checks import Count
from flatviz.core import Likelihood, Net, Progress, Task, Treated, copied, find_head
from flatviz.engine.cost import work_of
from flatviz.families.examples import MAX_EXAMPLES, Examples, examples, first_of, task_of
from flatviz.families.members import Fitting
from flatviz.families.preparation import recipe_for
from flatviz.families.standing import (
    ADVICE,
    Standing,
    check_as_good,
    check_learned,
    first_to_learn,
    outputs_of,
)
from flatviz.families.tour import HEAD_STD, RANK
from flatviz.families.trials import TUNED, best_trial
from flatviz.gaussian import Gaussian
from flatviz.likelihood import GaussianLikelihood, as_likelihood
from flatviz.posteriors.fit import fit
from flatviz.posteriors.swag import SWAG
from flatviz.posteriors.transfer import transfer
from flatviz.results import Prediction
from flatviz.training.driver import Diverged
from flatviz.training.gradient import PLAIN, Training
from flatviz.training.points import pretrain
from flatviz.training.settings import DRAWS
from flatviz.training.streams import steps_per_epoch

Say = Callable[[str], None]  # called with a line of text after each step
Effort = Literal["quick", "full"] | Count  # or so many trials of a full one
RATES = (0.1, 0.03, 0.01, 0.003, 0.001)
EPOCHS = 30
# Smallest number for a regression, as a curve through few points takes longer than a class
STEPS = 500
BATCH = 64  # of the same
FAR_OFF = 1.5  # of errors beside the given noise; then 95 % intervals hold about 80 %
FEW = 20  # held-out examples, below which no training stops by them
TRIALS = 6  # of a full one
FIT_WORK = 8.0  # of a fit of VI, beside that of pre-training
# A quick one whose step of a fit, with all its draws, takes more multiply-adds than these has
# smaller steps: one draw is noisier, and needs a lower rate.
LARGE_STEP = 500_000_000
SMALL_STEPS = {"mc_samples": 1, "lr": 1.0, "batch_size": 128, "steps": 300}
# Multiply-adds of a pass over the fitted examples, beyond which "quick" treats the head alone
LARGE_PASS = 125_000_000


@dataclass(frozen=True)
class Prepared:
    """Hold what the fits of a lab share, and how good they are.

    before, after: of the trained network and of VI, its center, on the first test examples;
    trusted: VI is about as good as the network on held-out examples.
    """

    fits: Fitting
    before: Standing
    after: Standing
    trusted: bool

    def __str__(self) -> str:
        label = TUNED.label
        both = f"on test examples: {self.after} of {label}, {self.before} of the trained network"
        return both if self.trusted else f"do not trust these pictures; {both}: {ADVICE}"


def trials_of(effort: Effort) -> int:
    """Give the number of trials of settings."""
    if isinstance(effort, int):
        return effort
    return 1 if effort == "quick" else TRIALS


def work_of_preparation(effort: Effort) -> dict[str, list[float]]:
    """Expected work of the parts of `prepare_own`, by the labels under which they report."""
    n_trials = trials_of(effort)
    return {
        "pre-training": [1.0],
        "SWAG": [1.0],
        "trials of settings": [FIT_WORK] * (n_trials if n_trials > 1 else 0),
        TUNED.label: [FIT_WORK],
    }


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
) -> Prepared:
    """Build net, task, prior and settings for a lab over normalisation layers and head.

    Over the head alone, where the network has no such layers.

    The treated weights are normalisation layers and head, or the head alone.  A module that has
    not learned `train` is trained first, to its lowest loss on a validation split.  The prior of
    the normalisation layers is SWAG's on `train`, the head's is wide and about 0; each rate is
    the first at which the network learns.  Settings of the fits are those of the best of several
    trials by NLL on a validation split, a fifth of `train`.  If no trial stays finite, learns and
    is about as good as the trained network, rates and widths of the prior decrease along
    `SHRINK`, and finally the head alone is treated.  The computation follows from the arguments
    alone, never from the time that it takes.

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

    Raises:
        Diverged: If a step leaves a network that is no better than its largest class, or than the
            best constant outputs.
    """
    train = examples(train, "train", likelihood=likelihood)
    test = examples(test, "test", train.class_names, likelihood)
    if isinstance(module, Net):
        net = module
    else:
        evaluated = copied(module).eval()
        net = Net.from_module(evaluated, example=train.x[:2])
    task = task_of(net, train, test, likelihood, seed)
    quick = effort == "quick"
    fixed: dict[str, float] = {}
    work = work_of(net, task.train.x)
    macs = work.macs * len(task.train)
    learned = _learned(net, task, seed, progress, say)
    net = _untied(learned, say)
    if quick and 3 * macs * DRAWS > LARGE_STEP:
        fixed = SMALL_STEPS
        say(
            "left out, for effort is 'quick': all draws of a step but one, all of its examples but"
            " 128, half of the steps"
        )
    held_out = task.parts()["validation"]
    before = Standing.of(net, net.w, held_out, likelihood, progress)
    _compare_noise(net, task, say)

    def chosen(fits: Fitting, last: bool) -> Prepared:
        trial = best_trial(
            fits,
            trials_of(effort),
            fixed=fixed,
            before=before,
            last=last,
            report=lambda trial: say(str(trial)),
        )
        center = trial.posterior.center
        return Prepared(
            trial.fits,
            before=Standing.of(net, net.w, first_of(task.test), likelihood),
            after=Standing.of(fits.net, center, first_of(fits.task.test), likelihood),
            trusted=trial.good,
        )

    if quick and macs > LARGE_PASS:
        say("left out, for effort is 'quick': normalisation layers, SWAG, images")
    else:
        late = _late(net, task, before, seed, progress, say)
        norm = _has_norm(late.net)
        try:
            return chosen(late, last=not norm)
        except Diverged as error:
            if not norm:
                raise
            say(f"left out, for no trial learned: normalisation layers ({error})")
    head = _head_alone(net, task, seed, progress, say)
    return chosen(head, last=True)


def _has_norm(net: Net) -> bool:
    """Tell whether normalisation layers are among the treated weights."""
    return any(block.kind == "norm" for block in net.blocks)


def _late(
    net: Net,
    task: Task,
    before: Standing,
    seed: int,
    progress: Progress,
    say: Say,
) -> Fitting:
    """Normalisation layers, where there are such, and head, with the prior of SWAG.

    Its rate is the first at which its center is about as good as the trained network.
    """
    held_out = task.parts()["validation"]
    likelihood = task.likelihood
    recipe = recipe_for(net)

    def fitted(lr: float) -> Gaussian:
        swag = fit(
            net,
            task.train,
            SWAG(lr=lr, rank=RANK),
            likelihood=likelihood,
            seed=seed,
            progress=progress,
        )
        draw = swag.sample(1, seed=seed)[0]
        check_learned(net, draw, task.train, "SWAG", ADVICE, progress, likelihood)
        now = Standing.of(net, swag.mean, held_out, likelihood, progress)
        check_as_good("SWAG", now, before)
        say(f"SWAG at rate {lr:g}")
        return swag

    lower = [rate for rate in RATES if rate < recipe.swag_lr]
    swag = first_to_learn([recipe.swag_lr, *lower], fitted)
    norm = _has_norm(net)
    treated: Treated = "norm+head" if norm else "head"
    late, prior = transfer(
        net,
        swag,
        treated=treated,
        head_std=HEAD_STD,
        scale=recipe.scale,
    )
    say(f"treated: {'normalisation layers and head' if norm else 'head'}, {late.dim} weights")
    return Fitting(late, task, prior, seed, progress=progress)


def _compare_noise(net: Net, task: Task, say: Say) -> None:
    """Say where a given noise is far from the errors on held-out examples."""
    likelihood = as_likelihood(task.likelihood)
    if not isinstance(likelihood, GaussianLikelihood):
        return
    data = task.parts()["validation"]
    outputs = outputs_of(net, net.w, data.x)
    noise = torch.as_tensor(likelihood.noise).to(outputs)
    errors = (outputs - data.y.view_as(outputs)) / noise
    ratio = float(errors.square().mean().sqrt())
    if not 1 / FAR_OFF < ratio < FAR_OFF:
        way = "narrow" if ratio > 1 else "wide"
        say(
            f"intervals of targets will be too {way}: errors on held-out examples are {ratio:.2g}"
            f" times the noise of {likelihood!r}: give their size, or outputs of mean and noise"
        )


def _head_alone(
    net: Net,
    task: Task,
    seed: int,
    progress: Progress,
    say: Say,
) -> Fitting:
    """The head of a net that stays as it is."""
    test = first_of(task.test)
    if len(test) < len(task.test):
        say(f"left out: all test examples but the first {MAX_EXAMPLES}")
    zeros = torch.zeros_like(net.w)
    everything = Gaussian(net.w, zeros, zeros[None])
    net, prior = transfer(net, everything, treated="head", head_std=HEAD_STD)
    say(f"treated: head, {net.dim} weights")
    task = replace(
        task,
        source=task.train,
        validation=task.parts()["validation"],
        test=test,
    )
    return Fitting(net, task, prior, seed, progress=progress)


def _untied(net: Net, say: Say) -> Net:
    """Give a head that shares its weight, as a language model's with the embedding, a copy."""
    if not net.tied:
        return net
    module = net.to_module().eval()
    name = find_head(module, net.example)
    layer = module.get_submodule(name)
    weight = module.get_parameter(f"{name}.weight")
    shared = [first for first in net.tied if module.get_parameter(first) is weight]
    if not shared:
        return net
    layer.weight = nn.Parameter(weight.detach().clone())
    say(f"the head {name} has a copy of the weight that it shared with {shared[0]}")
    return Net.from_module(module, example=net.example)


def _learned(
    net: Net,
    task: Task,
    seed: int,
    progress: Progress,
    say: Say,
) -> Net:
    """Return the net as it is where it has learned, otherwise trained.

    It has learned where its loss is clearly below that of the best constant outputs, and below half
    of it; of a regression, where half of the variance is explained.
    """
    data = task.train
    likelihood = task.likelihood
    now = Standing.of(net, net.w, data, likelihood, progress)
    error = now.losses.mean()
    spread = now.constant.mean()
    if not now.classes:
        outputs = outputs_of(net, net.w, data.x)
        scores = Prediction(outputs[None], data.y, likelihood).scores
        if "rmse" in scores:
            error = scores["rmse"][0] ** 2
            spread = data.y.double().var()
    if now.learned and bool(2 * error <= spread):
        say(
            f"the module has learned already: {now} on its training examples; it may have seen"
            " those held out here"
        )
        return net
    epochs = EPOCHS
    if not task.one_label:
        of_epoch = steps_per_epoch(len(data), BATCH)
        epochs = max(epochs, math.ceil(STEPS / of_epoch))
    held_out = task.parts()["validation"]
    ends = [PLAIN]
    if len(held_out) >= FEW:
        ends.insert(0, Training(validation=held_out))

    def trained(case: tuple[float, Training]) -> Net:
        lr, training = case
        late = pretrain(
            net,
            data,
            epochs=epochs,
            lr=lr,
            last_lr=lr / 2,
            likelihood=likelihood,
            batch_size=BATCH,
            training=training,
            seed=seed,
            progress=progress,
        )
        check_learned(late, late.w, data, "training", ADVICE, progress, likelihood)
        say(f"training at rate {lr:g}")
        return late

    return first_to_learn(list(product(RATES, ends)), trained)
