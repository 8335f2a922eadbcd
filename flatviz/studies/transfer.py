"""Transfer on images: pre-train on some classes, learn a few shots of others, judge clean, shifted and left-out images.

One network is pre-trained; the seeds draw the few shots and all noise.  Every method takes the same number of gradients: a
method of two gradients a step gets half the steps, and SWAG's snapshots count as steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor

from flatviz.checks import check_count
from flatviz.core.data import Data
from flatviz.core.progress import Progress, track
from flatviz.families.choice import Choices
from flatviz.posteriors import METHODS
from flatviz.posteriors.method import Method
from flatviz.results import Shift
from flatviz.storage.cache import cached
from flatviz.studies.transfer_seed import QUANTITIES, Row, TargetSeed
from flatviz.studies.transfer_setting import Classes, Make, Scheme, Sizes, method_of
from flatviz.studies.transfer_source import source_network


@dataclass(frozen=True)
class TransferStudy:
    """What `study_transfer` found: method -> a row a seed, and how it was made; `tuned`: settings in place of the records'."""

    rows: dict[str, tuple[Row, ...]]
    classes: Classes
    sizes: Sizes
    scheme: Scheme
    source_accuracy: float
    tuned: Choices = field(default_factory=dict)

    def of(self, method: str, quantity: str) -> Tensor:
        """One quantity of a method, (seeds,)."""
        return torch.tensor([row.values[quantity] for row in self.rows[method]], dtype=torch.float64)

    def shifts(self) -> dict[str, list[Shift]]:
        """Method -> shifts of the seeds that did not diverge."""
        kept = {m: [r.shift for r in rows if r.shift is not None] for m, rows in self.rows.items()}
        return {m: shifts for m, shifts in kept.items() if shifts}

    def risks(self) -> dict[str, Tensor]:
        """Method -> risks (seeds, N) of those."""
        kept = {m: [r.risk for r in rows if r.risk is not None] for m, rows in self.rows.items()}
        return {m: torch.stack(risks) for m, risks in kept.items() if risks}

    @property
    def outside(self) -> list[str]:
        """Names of the sets of images outside, the left-out classes first."""
        return list(dict.fromkeys(name for rows in self.rows.values() for row in rows for name in row.ood))

    def ood(self, method: str, outside: str, score: str) -> Tensor:
        """One score of `ood_scores` of a method for a set of images outside, (seeds,), NaN where it diverged."""
        values = [row.ood[outside][score] if row.ood else float("nan") for row in self.rows[method]]
        return torch.tensor(values, dtype=torch.float64)

    def risks_with(self, outside: str) -> dict[str, Tensor]:
        """Method -> risks (seeds, N + M) of the test images and a set outside together, of the seeds that did not diverge."""
        kept = {m: [r.risks[outside] for r in rows if r.risks] for m, rows in self.rows.items()}
        return {m: torch.stack(risks) for m, risks in kept.items() if risks}


def study_transfer(
    data: Data,
    classes: Classes,
    make: Make,
    *,
    methods: Sequence[str],
    seeds: int,
    pretrained: bool = False,
    sizes: Sizes | None = None,
    scheme: Scheme | None = None,
    tuned: Choices | None = None,
    outside: Mapping[str, Data] | None = None,
    progress: Progress = False,
    say: Callable[[str], None] = lambda text: None,
) -> TransferStudy:
    """Pre-train on the source classes, fit each method on few shots of the target classes for seeds 0..seeds-1, measure.

    data: images of all classes; make: task -> module; pretrained: `make` loads weights, so that nothing is pre-trained, which
    leaves the priors "moped" and "downstream".  tuned: what `tune_transfer` chose.  outside: by name, other images of the same
    shape, of which the network should be unsure, as it should of the classes left out.
    The pre-trained network, and each method of each seed, are kept in the cache folder: a stopped study resumes there.
    """
    sizes, scheme = sizes or Sizes(), scheme or Scheme()
    check_count(seeds, "seeds"), check_count(sizes.gradients, "gradients", least=2)
    names = [method_of(m) for m in methods]
    source = source_network(data, classes, make, pretrained=pretrained, sizes=sizes, scheme=scheme, progress=progress, say=say)
    about = dict(sizes=sizes, scheme=scheme, outside=outside, **source.about)
    rows: dict[str, list[Row]] = {name: [] for name in names}
    for seed in range(seeds):
        prepared: list[TargetSeed] = []  # made once, and not where every method is in the cache

        def row(method: Method, seed: int = seed, prepared: list[TargetSeed] = prepared) -> dict[str, Any]:
            if not prepared:
                prepared.append(TargetSeed.of(data, classes, source.net, source.prior, sizes, scheme, seed, outside))
            return prepared[0].row(method, say, (tuned or {}).get(method.name))

        for name in track(names, f"seed {seed}", progress):
            compute, choice = partial(row, METHODS[name]), (tuned or {}).get(name)
            found, _ = cached("transfer", compute, say=say, seed=seed, method=METHODS[name], choice=choice, **about)
            rows[name].append(Row(**found))
            say(f"seed {seed}: {METHODS[name].label}: " + ", ".join(f"{q} {found['values'][q]:.3g}" for q in QUANTITIES))
    used = {name: tuned[name] for name in names if name in (tuned or {})}
    return TransferStudy({m: tuple(r) for m, r in rows.items()}, classes, sizes, scheme, source.accuracy, used)
