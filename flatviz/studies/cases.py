"""The declared grids of the search: the published scripts' setting, one factor changed at a time, KL weight together with head std."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from flatviz.experiments.measures import SEVERITY, SHIFTS
from flatviz.experiments.settings import SETTINGS
from flatviz.families.tour import RANK

QUANTITIES = ("nll", "accuracy", "ece", "shifted_nll")


@dataclass(frozen=True)
class Case:
    """A setting: that of the published scripts, but for what is named.

    scale: of SWAG's covariance in the prior, 0 for that of the network's recipe.  shift: "" for the mean of five kinds at
    severity 3, or one kind.
    """

    steps: int = 300
    head_std: float = SETTINGS["plain"].head_std
    kl_weight: float = 0.0
    rank: int = RANK
    scale: float = 0.0
    shots: int = 10
    degrees: float = 90.0
    shift: str = ""
    severity: int = SEVERITY

    def __str__(self) -> str:
        """What differs from the published scripts."""
        if self.shift:
            return f"{self.shift.replace('_', ' ')}, severity {self.severity}"
        changed = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return ", ".join(f"{NAMES[name]} {value:g}" for name, value in changed.items()) or "the published scripts' setting"

    @property
    def trained(self) -> Case:
        """The case without its shift, which changes the test split alone."""
        return replace(self, shift="", severity=SEVERITY)

    @property
    def quantities(self) -> tuple[str, ...]:
        """What is told of it; of a case of shift the clean scores stand with the first case."""
        return ("shifted_nll",) if self.shift else QUANTITIES


NAMES = {
    "steps": "steps", "head_std": "head std", "kl_weight": "KL weight", "rank": "rank", "scale": "SWAG scale",
    "shots": "shots", "degrees": "source turned by",
}  # fmt: skip
ALONE: dict[str, tuple] = {
    "steps": (150, 600),
    "head_std": (0.3, 1.0),
    "kl_weight": (0.03, 1.0),
    "rank": (2, 20),
    "shots": (2, 5, 50),
    "degrees": (0.0, 45.0),
}
TOGETHER = [(kl, std) for kl in ALONE["kl_weight"] for std in ALONE["head_std"]]
# of the conv net, whose fits take ten times as long: one other value of most, in the order in which they are run; its prior is
# wide by SWAG's scale, in the norm layers as well
CONV = (
    Case(scale=64.0),
    Case(shots=5),
    Case(kl_weight=0.03),
    Case(steps=600),
    Case(shots=2),
    Case(degrees=45.0),
    Case(rank=20),
    Case(shots=50),
)
SEVERITIES = (1, 5)


def grid(model: str = "mlp") -> tuple[Case, ...]:
    """The declared cases: the published scripts', kinds of shift, one factor changed at a time, and pairs for the perceptron."""
    shifted = (Case(shift=kind, severity=s) for kind in SHIFTS for s in SEVERITIES)
    if model == "conv":
        return (Case(), *shifted, *CONV)
    alone = (Case(**{name: value}) for name, values in ALONE.items() for value in values)
    return (Case(), *shifted, *alone, *(Case(kl_weight=kl, head_std=std) for kl, std in TOGETHER))
