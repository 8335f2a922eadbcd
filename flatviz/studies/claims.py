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

from torch import Tensor

from flatviz.results import interval

LEVEL = 0.05
BETTER = {  # the sign of a gain
    "lambda1": -1, "nll": -1, "accuracy": 1, "ece": -1,
    "shifted_nll": -1, "shifted_accuracy": 1, "shifted_ece": -1, "agreement": 1, "tv": -1, "mmd": -1,
}  # fmt: skip


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


def judge(compared: Sequence[Difference], level: float = LEVEL) -> list[Verdict]:
    """A verdict on each, corrected for their number."""
    corrected = holm([d.p_value for d in compared])
    return [Verdict(d, p, word_for(BETTER[d.quantity] * d.mean, p, level)) for d, p in zip(compared, corrected)]


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


NAMES = {
    "lambda1": "λ1", "nll": "NLL", "accuracy": "accuracy %", "ece": "ECE", "shifted_nll": "shifted NLL",
    "shifted_accuracy": "shifted accuracy %", "shifted_ece": "shifted ECE", "agreement": "agreement %", "tv": "TV",
    "train": "training loss", "mmd": "100 MMD²",
}  # fmt: skip
