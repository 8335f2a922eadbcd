"""Settings of a lab's fits: trials on held-out examples, at rates that fall until one is good."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from flatviz.families.members import Choice, Fitting, with_head_std
from flatviz.families.standing import (
    ADVICE,
    Standing,
    check_as_good,
    check_learned,
    first_to_learn,
)
from flatviz.families.tour import HEAD_STD
from flatviz.families.tune import choices_of, tried
from flatviz.posteriors import METHODS
from flatviz.posteriors.entries import Setting
from flatviz.results import Posterior
from flatviz.training.driver import Diverged

TUNED = METHODS["vi"]  # whose settings the variational methods share
# Factors of rates and of the prior's widths: the first at which a trial is finite and learns
SHRINK = (1.0, 0.3, 0.1, 0.03)


@dataclass(frozen=True)
class Trial:
    """The best of several trials at one factor of `SHRINK`.

    Args:
        fits: The fits, with the trial's settings and prior.
        choice: Its settings.
        posterior: Its posterior.
        standing: Standing of the posterior's center on held-out examples.
        n_trials: Number of trials that it is the best of.
        shrink: The factor.
        good: Whether it is about as good as the trained network.
    """

    fits: Fitting
    choice: Choice
    posterior: Posterior
    standing: Standing
    n_trials: int
    shrink: float
    good: bool = True

    def __str__(self) -> str:
        at = "" if self.shrink == 1 else f", at {self.shrink:g} of rate and widths"
        best = f" of the best of {self.n_trials} trials" if self.n_trials > 1 else ""
        return f"settings{best}{at}: {self.choice}; {self.standing} on held-out examples"


def best_trial(
    fits: Fitting,
    n_trials: int,
    *,
    fixed: Mapping[str, Setting],
    before: Standing,
    last: bool,
    report: Callable[[Trial], None],
) -> Trial:
    """Take the best of the trials, at the first of `SHRINK` at which it is good enough.

    It must be finite, have learned, and be about as good as the trained network.

    fixed: settings that no trial changes.
    before: standing of the trained network.
    last: take the best trial, even where all fail.
    report: called with each trial that learned.

    Raises:
        Diverged: If all fail, and it is not the last.
    """
    learned: list[Trial] = []

    def attempt(shrink: float) -> Trial:
        trial = _best(fits, n_trials, fixed, shrink)
        learned.append(trial)
        report(trial)
        check_as_good(TUNED.label, trial.standing, before)
        return trial

    try:
        return first_to_learn(SHRINK, attempt)
    except Diverged:
        if not (learned and last):
            raise
    return replace(min(learned, key=_loss), good=False)


def _loss(trial: Trial) -> float:
    """Return the mean loss on held-out examples, inf in place of NaN."""
    mean = trial.standing.losses.mean()
    return float(mean.nan_to_num(nan=math.inf))


def _best(
    fits: Fitting,
    n_trials: int,
    fixed: Mapping[str, Setting],
    shrink: float,
) -> Trial:
    """Return the best of the trials at one factor of `SHRINK`, fitted."""
    net = fits.net
    task = fits.task
    held_out = task.parts()["validation"]
    usual_lr = TUNED.tuned(net).settings["lr"]
    log_std = fits.prior.log_std + math.log(shrink)
    factor = shrink * fits.prior.factor
    narrow = replace(fits.prior, log_std=log_std, factor=factor)
    head_std = shrink * HEAD_STD
    if shrink != 1:
        fixed = {**fixed, "lr": shrink * fixed.get("lr", usual_lr)}
    (choice,) = choices_of(TUNED, net, 1, fixed=fixed, head_std=head_std)
    if n_trials > 1:
        rows = tried(
            TUNED,
            [(net, task, held_out, narrow)],
            [fits.seed],
            n_trials,
            fixed=fixed,
            head_std=head_std,
            progress=fits.progress,
        )
        choice, (nll,) = min(rows, key=lambda row: row[1])
        if not math.isfinite(nll):
            raise Diverged(
                f"one of {n_trials} trials of {TUNED.label} must stay finite, got none: {ADVICE}"
            )
    prior = with_head_std(net, narrow, choice.head_std)
    q = replace(
        fits,
        prior=prior,
        fit=choice.settings,
        lr_scale=1.0,
    ).member(TUNED.name)
    stage = f"{TUNED.label} with the best of {n_trials} trials"
    likelihood = task.likelihood
    check_learned(net, q.center, task.train, stage, ADVICE, likelihood=likelihood)
    standing = Standing.of(net, q.center, held_out, likelihood)
    # Other methods have rates of their own, so that the chosen rate becomes a factor of theirs
    others = dict(choice.settings)
    lr = others.pop("lr")
    best = replace(
        fits,
        prior=prior,
        fit=others,
        lr_scale=lr / usual_lr,
    )
    return Trial(best, choice, q, standing, n_trials, shrink)
