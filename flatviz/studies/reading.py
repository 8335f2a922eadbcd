"""What the evidence says in short: by setting, method and baseline, in what a method is told better, worse, or neither."""

from __future__ import annotations

from dataclasses import dataclass

from flatviz.posteriors import METHODS
from flatviz.studies.claims import NAMES, baselines_of, differences, verdicts_on
from flatviz.studies.evidence import SETTINGS, Evidence

WORDS = {"better": "holds", "worse": "does not hold", "cannot tell": "cannot tell"}


@dataclass(frozen=True)
class Reading:
    """The quantities in which one method at one radius was told better than VI, worse, or neither."""

    setting: str
    method: str
    radius: float
    baseline: str
    better: tuple[str, ...]
    worse: tuple[str, ...]
    open: tuple[str, ...]

    def __str__(self) -> str:
        """One line."""
        parts = (("better in", self.better), ("worse in", self.worse), ("cannot tell", self.open))
        told = "; ".join(f"{word} {', '.join(quantities)}" for word, quantities in parts if quantities)
        return f"{METHODS[self.method].label} at radius {self.radius:.3g} against VI, {self.baseline}: {told}"


def read_verdicts(evidence: Evidence) -> list[Reading]:
    """One reading for each setting, baseline, and method of which claims are made; the verdicts are those of the tables."""
    readings = []
    for setting in SETTINGS:
        for baseline in baselines_of(setting):
            verdicts = verdicts_on([d for d in differences(evidence, baseline) if d.cell.setting == setting])
            for cell in dict.fromkeys(v.difference.cell for v in verdicts):
                told = {
                    name: tuple(NAMES[v.difference.quantity] for v in verdicts if v.difference.cell == cell and v.word == word)
                    for name, word in WORDS.items()
                }
                readings.append(Reading(setting, cell.method, cell.radius, baseline, *told.values()))
    return readings
