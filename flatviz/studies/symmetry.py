"""Posteriors compared with a pool of independent trainings, once as they are and once with equal networks counted once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from flatviz.core.progress import Progress, track
from flatviz.landscape.slices import slice_line
from flatviz.metrics.ood import ood_scores
from flatviz.metrics.predict import predict
from flatviz.metrics.uncertainty import mutual_information
from flatviz.objectives.nll import nll
from flatviz.results import Curve, interval
from flatviz.studies.symmetric_draws import RECIPE, Draws, Sizes, digits, make_draws, network
from flatviz.studies.symmetry_sides import side_figures
from flatviz.studies.symmetry_trends import Trend, trends
from flatviz.symmetry.alignment import align
from flatviz.symmetry.flatness import Orbit, rescaled_orbit
from flatviz.symmetry.hidden import units_of
from flatviz.symmetry.minmass import min_mass
from flatviz.symmetry.mmd import WHOLE, layers_of, mmd
from flatviz.symmetry.pool import train_pool
from flatviz.symmetry.removal import sort_units, unit_norm
from flatviz.symmetry.units import Units

VARIANTS = {
    "raw": "as trained",
    "first": "unit norm, sorted by first weight",
    "max": "unit norm, sorted by largest weight",
    "aligned": "least mass, aligned",
}
SCORES = ("accuracy", "ece", "brier", "mi", "ood_mi", "auroc", "aupr_out", "aupr_in", "fpr95")


@dataclass(frozen=True, eq=False)
class SymmetryStudy:
    """What `flatviz symmetry` computed.

    mmd[variant][set] (R, 2): 100 MMD^2 from the target, median over layers and of all weights, a row a replicate;
    p_value[variant][set] (R,), of the median; scores[set] (R, 9), in the order of `SCORES`.
    `trends` T1 to T9 with their figures in words; `figures` what the plots need; `line` the loss between two networks
    before and after alignment.
    """

    mmd: dict[str, dict[str, Tensor]]
    p_value: dict[str, dict[str, Tensor]]
    scores: dict[str, Tensor]
    trends: tuple[Trend, ...]
    figures: dict[str, dict[str, Tensor]]
    line: tuple[Curve, ...]
    n_target: int
    n_diverged: int

    def cell(self, variant: str, name: str, which: int = 0) -> tuple[float, float]:
        """Mean over replicates of 100 MMD^2 (which 0: median over layers, 1: all weights) and half of its 95 % interval."""
        return interval(self.mmd[variant][name][:, which].double())


def study_symmetry(
    sizes: Sizes | None = None,
    *,
    seed: int = 0,
    progress: Progress = False,
    say: Callable[[str], None] = lambda text: None,
) -> SymmetryStudy:
    """Train the pool and the methods on the digits, compare them in weight space and in what they predict, test T1 to T9.

    sizes: how much is computed (`Sizes()`).  All intervals are over replicates: sets of starting networks that share no
    network, each with a reference of its own; the target is one.
    """
    sizes = sizes or Sizes()
    draws = make_draws(sizes, seed=seed, progress=progress, say=say)
    units = units_of(draws.net)
    say("distances between sets of weights")
    distances = {v: _distances(draws, units, v, sizes, progress) for v in VARIANTS}
    say("predictions")
    scores = {
        name: torch.stack([_scores(draws, W) for W in sets])
        for name, sets in track(list(draws.sets.items()), "scores", progress)
    }
    say("toy network, mass, pairs, orders over epochs")
    figures = side_figures(draws, units, sizes, seed=seed, progress=progress)
    line = _line(draws, units, sizes)
    values = {v: pair[0] for v, pair in distances.items()}
    p = {v: pair[1] for v, pair in distances.items()}
    return SymmetryStudy(
        values, p, scores, trends(values, p, scores, figures), figures, line, len(draws.target), draws.n_diverged
    )


def removed(units: Units, W: Tensor, variant: str, reference: Tensor, starts: int) -> Tensor:
    """The rows of W (S, D) with symmetries removed as the variant says."""
    if variant == "raw":
        return W
    if variant == "aligned":
        return align(units, min_mass(units, W).W, reference, starts=starts).W
    return sort_units(units, unit_norm(units, W)[0], rule=variant)[0]


def _distances(draws: Draws, units: Units, variant: str, sizes: Sizes, progress: Progress) -> tuple[dict, dict]:
    """100 MMD^2 (R, 2) and p-values (R,) of every set."""
    layers = layers_of(draws.net)
    values: dict[str, list] = {name: [] for name in draws.sets}
    p_values: dict[str, list] = {name: [] for name in draws.sets}
    for r in track(range(sizes.replicates), f"MMD, {VARIANTS[variant]}", progress):
        reference = min_mass(units, draws.reference[r : r + 1]).W[0]
        remove = lambda W, to=reference: removed(units, W, variant, to, sizes.starts)  # noqa: E731
        sets = {name: remove(W[r]) for name, W in draws.sets.items()}
        runs = {name: run for name in sets if (run := draws.runs(name, sizes.modes)) is not None}
        distances = mmd(remove(draws.target), sets, layers=layers, runs=runs, resamples=0, permutations=sizes.permutations)
        for name, one in distances.items():
            values[name].append(torch.tensor([one.interval()[0], one.interval(WHOLE)[0]]) * 100)
            p_values[name].append(one.p_value())
    return {k: torch.stack(v) for k, v in values.items()}, {k: torch.tensor(v) for k, v in p_values.items()}


def _scores(draws: Draws, W: Tensor) -> Tensor:
    """`SCORES` of one set; out of distribution is the positive, its score 1 - largest probability of the average."""
    distinct = W.unique(dim=0)
    shown = W if len(distinct) == len(W) else distinct  # copies predict alike
    inside = predict(draws.net, shown, draws.test, len(shown), seed=0)
    outside = predict(draws.net, shown, draws.outside.x, len(shown), seed=0)
    ood = ood_scores(1 - inside.bma().amax(1), 1 - outside.bma().amax(1))
    scores = [float(inside.scores[k][-1]) for k in ("accuracy", "ece", "brier")]
    mi = [float(mutual_information(p).mean()) for p in (inside, outside)]
    return torch.tensor([*scores, *mi, ood["auroc"], ood["aupr_out"], ood["aupr_in"], ood["fpr95_out"]])


def _line(draws: Draws, units: Units, sizes: Sizes) -> tuple[Curve, ...]:
    """Test loss along straight lines between two networks of the target: as trained, sorted, aligned."""
    f, pair = nll(draws.net, draws.test), draws.target[:2]
    least = min_mass(units, pair).W
    ends = {
        "as trained": pair,
        "unit norm, sorted": removed(units, pair, "max", pair[0], 1),
        "least mass, aligned": torch.stack([least[0], align(units, least[1:], least[0], starts=20).W[0]]),
    }
    return tuple(replace(slice_line(f, *W, resolution=31), name=name) for name, W in ends.items())


def orbit_of_digits(seed: int = 0, *, progress: Progress = False) -> Orbit:
    """One perceptron of the digits, trained, with its hidden units rescaled: its flatness along the way."""
    train, _, _ = digits(seed)
    net = network()
    W = train_pool(net, train, 4, seed=seed, epochs=10, progress=progress, **RECIPE).W
    few = train.subset(torch.arange(200))
    return rescaled_orbit(net.to(dtype=torch.float64), few.to(dtype=torch.float64), W[0].double(), resolution=13)
