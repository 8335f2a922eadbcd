"""Sentences made from figures by rule: paired differences over seeds, their intervals, and a verdict on each claim.

A claim says that one quantity of a method is better than VI's.  Differences are taken within each seed; the two-sided p of
Student's t is corrected by Holm for the number of claims judged together:
    holds           the corrected p is below the level, and the difference has the claimed sign
    does not hold   the corrected p is below the level, and the difference has the other sign
    cannot tell     else
Source: Holm, Scand. J. Statist. 6 (1979).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from flatviz.posteriors import METHODS
from flatviz.results import interval
from flatviz.studies.evidence import QUANTITIES, Cell, Evidence

LEVEL = 0.05
BETTER = {  # the sign of a gain
    "lambda1": -1, "nll": -1, "accuracy": 1, "ece": -1,
    "shifted_nll": -1, "shifted_accuracy": 1, "shifted_ece": -1, "agreement": 1, "tv": -1, "mmd": -1,
}  # fmt: skip
CLAIMED = {"sabma": (1.0, 2.0), "sam_mu": (0.2,)}  # method -> radii of which the verdicts speak; of the tuned, all
OF = ("lambda1", "nll", "accuracy", "ece", "shifted_nll", "tv", "mmd")
BASELINES = ("equal steps", "equal gradients", "equal training loss")
AS_TUNED = ("equal trials", "equal gradients", "equal training loss")  # of the setting in which every method is tuned


def baselines_of(setting: str) -> tuple[str, ...]:
    """What a setting's methods are compared with."""
    return AS_TUNED if setting == "tuned" else BASELINES


@dataclass(frozen=True)
class Difference:
    """A cell's quantity less a baseline's, seed by seed (n,); of lambda1 the logarithms are compared.  Studies have cells of their own."""

    cell: Hashable
    baseline: str
    quantity: str
    values: Tensor

    @property
    def mean(self) -> float:
        """The mean difference; of lambda1 the mean log ratio."""
        return interval(self.values)[0]

    @property
    def half(self) -> float:
        """Half of its 95 % interval, NaN for one seed."""
        return interval(self.values)[1]

    @property
    def n_better(self) -> int:
        """Seeds with a gain."""
        return int((BETTER[self.quantity] * self.values > 0).sum())

    @property
    def p_value(self) -> float:
        """Two-sided p of Student's t for no difference; NaN for fewer than two seeds."""
        return p_of(self.values)


@dataclass(frozen=True)
class Verdict:
    """A claim, "better than VI", with its corrected p and the word for it."""

    difference: Difference
    corrected: float
    word: str


def differences(evidence: Evidence, baseline: str) -> list[Difference]:
    """Every cell but VI's against VI of its setting, every quantity that has a better side and was measured."""
    compared = []
    for cell in evidence.values:
        if cell.method == "vi" or baseline not in baselines_of(cell.setting):
            continue
        for quantity in BETTER:
            mine, theirs = evidence.of(cell, quantity), _baseline(evidence, cell, quantity, baseline)
            if bool(mine.isnan().all()):
                continue
            values = (mine / theirs).log() if quantity == "lambda1" else mine - theirs
            compared.append(Difference(cell, baseline, quantity, values))
    return compared


def judge(compared: Sequence[Difference], level: float = LEVEL) -> list[Verdict]:
    """A verdict on each, corrected for their number."""
    corrected = holm([d.p_value for d in compared])
    return [Verdict(d, p, word_for(BETTER[d.quantity] * d.mean, p, level)) for d, p in zip(compared, corrected)]


def verdicts_on(compared: Sequence[Difference]) -> list[Verdict]:
    """On the claims of one baseline and setting."""
    told = [d for d in compared if d.cell.setting == "tuned" or d.cell.radius in CLAIMED.get(d.cell.method, ())]
    return judge([d for d in told if d.cell.method in CLAIMED and d.quantity in OF])


def p_of(values: Tensor) -> float:
    """Two-sided p of Student's t that the mean of `values` (n,) is 0; NaN for fewer than two, or one that is not finite."""
    from scipy.stats import t  # comes with scikit-learn

    n = len(values)
    if n < 2 or not bool(values.isfinite().all()):
        return math.nan
    mean, spread = float(values.mean()), float(values.std()) / math.sqrt(n)
    if spread == 0:
        return 1.0 if mean == 0 else 0.0
    return 2 * float(t.sf(abs(mean) / spread, n - 1))


def p_of_interval(mean: float, half: float, n: int) -> float:
    """Two-sided p of Student's t that a mean is 0, from half of its 95 % interval over `n` values: what `p_of` has from these."""
    from scipy.stats import t  # comes with scikit-learn

    if half == 0:
        return 1.0 if mean == 0 else 0.0
    return 2 * float(t.sf(abs(mean) / half * float(t.ppf(0.975, n - 1)), n - 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's corrected p: the k-th smallest of m times m - k + 1, never below the one before, at most 1; NaN stays and counts."""
    order = sorted(range(len(p_values)), key=lambda i: (math.isnan(p_values[i]), p_values[i]))
    corrected, least = [math.nan] * len(p_values), 0.0
    for rank, i in enumerate(order):
        if not math.isnan(p_values[i]):
            least = max(least, min(1.0, (len(p_values) - rank) * p_values[i]))
            corrected[i] = least
    return corrected


def word_for(gain: float, corrected: float, level: float = LEVEL) -> str:
    """The verdict on a claim that `gain` is above 0, given its corrected p."""
    if not corrected < level:
        return "cannot tell"
    return "holds" if gain > 0 else "does not hold"


def _baseline(evidence: Evidence, cell: Cell, quantity: str, baseline: str) -> Tensor:
    """VI's quantity (seeds,) at as many steps, as many gradients, as it was tuned, or at the same training loss as the cell's."""
    shares = {"equal steps": cell.share, "equal gradients": cell.share * METHODS[cell.method].gradients, "equal trials": 1.0}
    if baseline in shares:
        return evidence.of(Cell(cell.setting, "vi", 0.0, shares[baseline]), quantity)
    path = sorted(c for c in evidence.values if c.setting == cell.setting and c.method == "vi")
    losses = torch.stack([evidence.of(c, "train") for c in path], 1).log()
    values = torch.stack([evidence.of(c, quantity) for c in path], 1)
    if quantity == "lambda1":
        return at_loss(losses, values.log(), evidence.of(cell, "train").log()).exp()
    return at_loss(losses, values, evidence.of(cell, "train").log())


def at_loss(losses: Tensor, values: Tensor, wanted: Tensor) -> Tensor:
    """Values (seeds,) at the log loss `wanted` (seeds,), linear between those of VI at its lengths, (seeds, lengths).

    NaN where no length reaches that loss on either side: nothing is extrapolated.
    """
    interpolated = torch.full_like(wanted, math.nan)
    for seed in range(len(wanted)):
        x, order = losses[seed].sort()
        y, at = values[seed][order], wanted[seed]
        if x[0] <= at <= x[-1]:
            i = int(torch.searchsorted(x, at).clamp(1, len(x) - 1))
            interpolated[seed] = torch.lerp(y[i - 1], y[i], ((at - x[i - 1]) / (x[i] - x[i - 1]).clamp_min(1e-12)))
    return interpolated


def sentence(verdict: Verdict) -> str:
    """The claim in words with its figures: who, what, against which VI, by how much, in how many seeds, the verdict."""
    d = verdict.difference
    who = f"{METHODS[d.cell.method].label} at radius {d.cell.radius:g}"
    n = len(d.values)
    if d.quantity == "lambda1":
        ratio, low, high = (math.exp(v) for v in (d.mean, d.mean - d.half, d.mean + d.half))
        amount = f"λ1 {ratio:.2f} of VI's ({low:.2f} to {high:.2f})"
    else:
        factor = 100 if d.quantity in ("accuracy", "shifted_accuracy", "agreement") else 1
        amount = f"{NAMES[d.quantity]} {factor * d.mean:+.2g} ± {factor * d.half:.2g}"
    return f"{who}, {d.baseline}: {amount}, better in {d.n_better} of {n} seeds: {verdict.word}"


NAMES = {
    "lambda1": "λ1", "nll": "NLL", "accuracy": "accuracy %", "ece": "ECE", "shifted_nll": "shifted NLL",
    "shifted_accuracy": "shifted accuracy %", "shifted_ece": "shifted ECE", "agreement": "agreement %", "tv": "TV",
    "train": "training loss", "mmd": "100 MMD²",
}  # fmt: skip
assert set(NAMES) == set(QUANTITIES)
