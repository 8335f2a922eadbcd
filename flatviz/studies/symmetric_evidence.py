"""Which conclusions of the evidence on flatness survive when every draw is first brought to its lightest equal network."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from flatviz.core.progress import Progress, track
from flatviz.experiments.settings import SETTINGS
from flatviz.families.choice import with_head_std
from flatviz.families.members import fit_member
from flatviz.families.tour import prepare
from flatviz.metrics.sharpness import sharpness
from flatviz.objectives.nll import nll
from flatviz.results import interval
from flatviz.storage.cache import cached
from flatviz.symmetry.hidden import units_of
from flatviz.symmetry.minmass import min_mass

CELLS = {"sam_mu": 0.2, "sabma": 1.0, "authors_code": 0.5}  # one radius of the evidence's grid each, against VI
MEASURED = tuple(name for name in SETTINGS if name != "tuned")  # there each method has a radius and a prior of its own
MEASURES = ("lambda1", "trace", "sam", "adaptive")
BELOW, ABOVE, OPEN = "below VI", "above VI", "open"


@dataclass(frozen=True, eq=False)
class Survival:
    """values[(setting, method)] (seeds, 2, 4): means over draws of `MEASURES`, as drawn and at least mass.

    `moved` (seeds,) is how far least mass moved VI's draws, relative to their norm; `gap` the largest change of a logit.
    """

    values: dict[tuple[str, str], Tensor]
    moved: Tensor
    gap: float

    def ratio(self, setting: str, method: str, measure: str, least: bool) -> tuple[float, float, float]:
        """Geometric mean over seeds of the method's measure over VI's, and the ends of its 95 % interval, paired by seed."""
        at = (slice(None), int(least), MEASURES.index(measure))
        logs = (self.values[(setting, method)][at] / self.values[(setting, "vi")][at]).double().clamp_min(1e-12).log()
        mean, half = interval(logs)
        return math.exp(mean), math.exp(mean - half), math.exp(mean + half)

    def conclusion(self, setting: str, method: str, measure: str, least: bool) -> str:
        """Whether the interval of the ratio lies below 1, above it, or holds it."""
        _, low, high = self.ratio(setting, method, measure, least)
        return BELOW if high < 1 else ABOVE if low > 1 else OPEN


def survival(
    seeds: int = 5,
    *,
    n_draws: int = 8,
    epochs: int = 60,
    steps: int | None = None,
    progress: Progress = False,
    say: Callable[[str], None] = lambda text: None,
) -> Survival:
    """Fit VI, SAM, SA-BMA and the released code for seeds 0..seeds-1 and measure flatness at draws and at their lightest.

    The evidence's network treats norm layers and head; of its equal networks those are told apart that scale the last
    hidden units (gain and shift of the norm layer against columns of the head), the only scaling of treated weights
    alone.  steps: of each fit, in place of the method's own.  Each seed is kept in the cache folder.
    """
    survived = []
    for seed in range(seeds):
        about = dict(seed=seed, n_draws=n_draws, epochs=epochs, steps=steps, cells=CELLS)
        compute = partial(_one_seed, seed, n_draws, epochs, steps, progress)
        survived.append(cached("survival", compute, label=f"evidence, seed {seed}", say=say, **about)[0])
    cells = [(setting, m) for setting in MEASURED for m in ("vi", *CELLS)]
    values = {(setting, m): torch.stack([f[f"{setting}/{m}"] for f in survived]) for setting, m in cells}
    return Survival(values, torch.stack([f["moved"] for f in survived]), max(float(f["gap"]) for f in survived))


def _one_seed(seed: int, n_draws: int, epochs: int, steps: int | None, progress: Progress) -> dict[str, Tensor]:
    net, task, prior = prepare("mlp", seed=seed, epochs=epochs, progress=progress)
    f, units, results, gaps = nll(net, task.train), units_of(net), {}, []
    cells = [(setting, m, r) for setting in MEASURED for m, r in (("vi", None), *CELLS.items())]
    for setting, method, radius in track(cells, f"seed {seed}", progress):
        chosen = SETTINGS[setting]
        fit, wide = chosen.fit | ({} if steps is None else {"steps": steps}), with_head_std(net, prior, chosen.head_std)
        W = fit_member(net, task, wide, method, radius, seed=seed, fit=fit).sample(n_draws, seed=seed + 1)
        least = min_mass(units, W).W
        measured = [sharpness(f, V, k=2, probes=5, iters=25, eta=1e-6, seed=seed) for V in (W, least)]
        results[f"{setting}/{method}"] = torch.stack([torch.stack([getattr(s, m).mean() for m in MEASURES]) for s in measured])
        gaps.append(max(float((net(a, task.train.x) - net(b, task.train.x)).abs().max()) for a, b in zip(W, least)))
        if method == "vi":
            results["moved"] = ((least - W).norm(dim=1) / W.norm(dim=1)).mean()
    return results | {"gap": torch.tensor(max(gaps))}
