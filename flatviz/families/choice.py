"""Settings that `tune` chose for a method, in place of those of its record: what every study and the lab take as `tuned=`."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from flatviz.core import Net
from flatviz.posteriors.method import Tuned
from flatviz.results import Gaussian


@dataclass(frozen=True)
class Choice:
    """Settings in place of a record's, radius, and standard deviation of the prior on the head; None leaves what there is."""

    made_by = "flatviz.families.choice.read_choices reads a file of them"

    settings: Mapping[str, Any] = field(default_factory=dict)
    radius: float | None = None
    head_std: float | None = None

    def __str__(self) -> str:
        """What is set, as text."""
        return str(Tuned({**self.settings, "radius": self.radius, "head_std": self.head_std})) or "as in the record"


Choices = Mapping[str, Choice]


def with_head_std(net: Net, prior: Gaussian, head_std: float | None) -> Gaussian:
    """The prior with another standard deviation on the head's weights; None leaves it."""
    if head_std is None:
        return prior
    log_std = prior.log_std.clone()
    for block in net.blocks:
        if block.kind == "head":
            log_std[block.slice] = math.log(head_std)
    return replace(prior, log_std=log_std)


def read_choices(path: str | Path) -> dict[str, Choice]:
    """The choices of a file that `flatviz run tune` wrote, by method.  Raises ValueError for any other file."""
    try:
        methods = json.loads(Path(path).read_text(encoding="utf-8"))["methods"]
        return {name: Choice(entry["settings"], entry["radius"], entry["head_std"]) for name, entry in methods.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"a tuning must be a file that flatviz run tune wrote, got {path}: {error}: run it again") from error
