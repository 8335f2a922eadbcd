"""Settings chosen by one rule for every method: equal trials, scored on a small validation split.

The split is as small as the shots; the scores of the test split are not used.  Trial 0 has the
settings of the method's record, so that a choice is never worse on the validation splits than the
record.
"""

import math
from collections.abc import Collection, Mapping, Sequence

from torch.quasirandom import SobolEngine

from flatviz.catalog import NO_UNIT
from flatviz.core import Data, Likelihood, Net, Progress, Task, track
from flatviz.families.members import Choice, Fitting, predicted, unless_diverged
from flatviz.families.tour import HEAD_STD as RECORD_HEAD_STD
from flatviz.gaussian import Gaussian
from flatviz.metrics.averaging import averaged
from flatviz.metrics.prediction import predict_linearised
from flatviz.posteriors.entries import Entry, Setting
from flatviz.results import Posterior, Prediction
from flatviz.weight_space import OutputPosterior

# Settings that are tuned in methods that have them: the ends of a log scale, or a list of values
Range = tuple[float, float] | list[int]
SPACE: dict[str, Range] = {
    "lr": (0.004, 0.2),
    "steps": [150, 300, 600, 1200],
    "kl_weight": (1e-3, 1.0),
    "temperature": (1e-2, 1.0),
    "weight_decay": (1e-5, 1e-2),
    "snapshots": [10, 20, 40],
}
NATURAL_LR = (0.2, 2.0)  # of methods with a KL weight, which take natural-gradient steps
HEAD_STD = (0.1, 1.0)  # of the prior, for methods with one
MIN_RADIUS = 0.05  # of the largest
ZEROS = 1 / 8  # share of trials with radius 0
N_DRAWS = 30  # averaged for a score
DIMENSIONS = (*SPACE, "radius", "head_std")  # of the one list of trials that all methods share


def value_at(name: str, place: Range, u: float) -> float:
    """Return the value at u, 0..1; on a log scale in three digits.

    A share `ZEROS` of the radii are 0.
    """
    if isinstance(place, list):
        i = int(u * len(place))
        return place[min(i, len(place) - 1)]
    if name == "radius":
        if u < ZEROS:
            return 0.0
        u = (u - ZEROS) / (1 - ZEROS)
    low, high = place
    return float(f"{low * (high / low) ** u:.3g}")


def space_of(method: Entry, net: Net, fixed: Collection[str] = ()) -> dict[str, Range]:
    """List the tuned parts of a method: settings in `SPACE`, radius, prior's width."""
    tuned = method.tuned(net)
    names = tuned.settings.keys() & SPACE.keys() - set(fixed)
    space = {name: place for name, place in SPACE.items() if name in names}
    if "lr" in space and "kl_weight" in tuned.settings:
        space["lr"] = NATURAL_LR
    if method.unit != NO_UNIT or method.ascent is not None:
        largest = tuned.largest or 5 * tuned.radius
        space["radius"] = (MIN_RADIUS * largest, largest)
    if method.needs_prior:
        space["head_std"] = HEAD_STD
    return space


def scored(
    net: Net,
    method: Entry,
    q: Posterior,
    data: Data,
    *,
    seed: int,
    n_draws: int = N_DRAWS,
    likelihood: Likelihood = "categorical",
) -> Prediction:
    """Predict as a method is judged: linearised for Laplace, all draws of an ensemble."""
    if method.linearised and isinstance(q, (Gaussian, OutputPosterior)):
        return predict_linearised(
            net,
            q,
            data,
            link="mc",
            n_draws=n_draws,
            seed=seed,
            likelihood=likelihood,
        )
    return predicted(net, q, data, n_draws, seed=seed, likelihood=likelihood)


def choices_of(
    method: Entry,
    net: Net,
    trials: int,
    *,
    fixed: Mapping[str, Setting] | None = None,
    head_std: float = RECORD_HEAD_STD,
) -> list[Choice]:
    """List the choices to try: the record's, then points of one Sobol sequence on log scales.

    All methods share these points, so that two methods with a common setting try the same values of
    it, in the same trials.

    Args:
        method: Key in `fv.METHODS`.
        net: The network; the record has other settings for nets with BatchNorm.
        trials: Number of choices.
        fixed: Settings of all trials, such as the steps for a number of gradients.
        head_std: Standard deviation of the head's prior in the first trial.
    """
    fixed = fixed or {}
    space = space_of(method, net, fixed)
    tuned = method.tuned(net)
    radius = tuned.radius if "radius" in space else None
    width = head_std if "head_std" in space else None
    # Written in full, as the record may change
    settings = {**tuned.settings, **fixed}
    choices = [Choice(settings, radius, width)]
    if not space or trials <= 1:
        return choices
    points = SobolEngine(len(DIMENSIONS), scramble=True, seed=0).draw(trials - 1)
    for point in points.tolist():
        values = {}
        for name, u in zip(DIMENSIONS, point):
            if name in space:
                values[name] = value_at(name, space[name], u)
        radius = values.pop("radius", None)
        width = values.pop("head_std", None)
        choices.append(Choice({**settings, **values}, radius, width))
    return choices


def tried(
    method: Entry,
    cases: Sequence[tuple[Net, Task, Data, Gaussian]],
    seeds: Sequence[int],
    trials: int,
    *,
    fixed: Mapping[str, Setting] | None = None,
    head_std: float = RECORD_HEAD_STD,
    progress: Progress = False,
) -> list[tuple[Choice, tuple[float, ...]]]:
    """Score each of `choices_of` by its NLL on the cases (net, task, validation, prior)."""
    net = cases[0][0]
    choices = choices_of(method, net, trials, fixed=fixed, head_std=head_std)
    rows = []
    for choice in track(choices, "trials of settings", progress):
        nlls: list[float] = []
        for case, seed in zip(cases, seeds):
            net, task, validation, prior = case
            nlls += nlls_of(method, choice, net, task, [validation], prior, seed=seed)
        rows.append((choice, tuple(nlls)))
    return rows


def nlls_of(
    method: Entry,
    choice: Choice,
    net: Net,
    task: Task,
    splits: Sequence[Data],
    prior: Gaussian,
    *,
    seed: int,
) -> list[float]:
    """Compute the NLL of one fit on each of the splits; inf where it diverged."""
    fits = Fitting(net, task, prior, seed=seed, tuned={method.name: choice})
    q = unless_diverged(fits.member, method.name)
    if q is None:
        return [math.inf] * len(splits)
    likelihood = task.likelihood
    draw_seed = seed + 1
    nlls = []
    for data in splits:
        if method.linearised or likelihood != "categorical" or data.y.ndim > 1:
            prediction = scored(net, method, q, data, seed=draw_seed, likelihood=likelihood)
        else:  # without the scores of smaller ensembles, which take most of the time
            unscored = predicted(net, q, data.x, N_DRAWS, seed=draw_seed)
            prediction = averaged(unscored, data.y)
        nll = float(prediction.scores["nll"][-1])
        nlls.append(nll if math.isfinite(nll) else math.inf)
    return nlls
