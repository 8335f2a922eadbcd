"""Which posterior to approximate: VI, SA-BMA and HMC over temperatures, prior widths and starts, for the tour's setting.

    exp(-N L(w) / T) p(w),  T the KL weight, p the prior with standard deviation `head_std` on the head

T = 0 is training without a prior, as in the published scripts: there is no such posterior, so no HMC.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from flatviz.core.data import Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.families.choice import with_head_std
from flatviz.families.members import fit_member
from flatviz.families.tour import HEAD_STD, prepare
from flatviz.gaussian import Gaussian
from flatviz.landscape.lanczos import top_eigenpairs
from flatviz.metrics.predict import predict
from flatviz.objectives.nll import nll
from flatviz.posteriors import METHODS
from flatviz.posteriors.hmc import fit_hmc
from flatviz.results import Draws, Posterior
from flatviz.storage.cache import cached
from flatviz.studies.evidence import PUBLISHED, SETTINGS, TEMPERED

QUANTITIES = ("nll", "accuracy", "ece", "nll of one draw", "lambda1", "kl")
RADIUS, N_DRAWS, N_SPECTRA = 2.0, 30, 3
CHAINS = dict(n_draws=200, chains=8, burn_in=100)
SEEDS = (20, 21, 22, 23)  # not those of the evidence


class Alternative(NamedTuple):
    """A prior width on the head, a KL weight T, how q starts, and the weight decay of the mean."""

    head_std: float
    kl_weight: float
    start_scale: float
    weight_decay: float = 0.0

    def __str__(self) -> str:
        """As a table names it."""
        decay = f", weight decay {self.weight_decay:g}" if self.weight_decay else ""
        return f"head {self.head_std:g}, T {self.kl_weight:g}, start {self.start_scale:g}{decay}"


DEFAULT = Alternative(HEAD_STD, **TEMPERED)
ALTERNATIVES = (
    DEFAULT,
    Alternative(SETTINGS["plain"].head_std, **PUBLISHED),
    *(DEFAULT._replace(start_scale=scale) for scale in (1.0, 0.1)),
    *(DEFAULT._replace(kl_weight=t) for t in (0.1, 0.3, 1.0)),
    *(DEFAULT._replace(head_std=std) for std in (0.1, 1.0)),
    *(DEFAULT._replace(head_std=std, kl_weight=1.0) for std in (0.1, 1.0)),
)
MEMBERS = ("VI", "VI, equal gradients", "SA-BMA", "HMC")


@dataclass(frozen=True)
class Temperatures:
    """Values (seeds, 6) of `QUANTITIES` for each alternative and member of `MEMBERS`; NaN where there is none."""

    values: dict[tuple[Alternative, str], Tensor]
    seeds: tuple[int, ...]


def measure_temperatures(
    seeds: Sequence[int] = SEEDS,
    *,
    alternatives: Sequence[Alternative] = ALTERNATIVES,
    epochs: int = 60,
    progress: Progress = False,
    say: Callable[[str], None] = lambda text: None,
) -> Temperatures:
    """Fit and measure every alternative for every seed; SA-BMA at radius 2, VI at its steps and at twice as many.

    lambda1: mean over draws of the largest Hessian eigenvalue of the training loss over the treated weights.  Scores are of the test split
    with 30 draws; HMC's of all its draws.  Each seed is kept in the cache folder.
    """
    kept = []
    for seed in track(tuple(seeds), "seeds", progress):
        compute = partial(_one_seed, seed, tuple(alternatives), epochs)
        about = dict(
            seed=seed, alternatives=[tuple(a) for a in alternatives], epochs=epochs, chains=CHAINS, methods=METHODS["sabma"]
        )
        kept.append(cached("temperature", compute, label=f"seed {seed}", say=say, **about)[0])
    keys = [(a, m) for a in alternatives for m in MEMBERS]
    return Temperatures({key: torch.stack([of[f"{key[0]}/{key[1]}"] for of in kept]) for key in keys}, tuple(seeds))


def _one_seed(seed: int, alternatives: Sequence[Alternative], epochs: int) -> dict[str, Tensor]:
    net, task, prior = prepare("mlp", seed=seed, epochs=epochs)
    exact: dict[tuple[float, float], Tensor] = {}
    values = {}
    for chosen in alternatives:
        wide = with_head_std(net, prior, chosen.head_std)
        for name, q in _fits(net, task, wide, chosen, seed):
            values[f"{chosen}/{name}"] = _measured(net, task, q, seed)
        posterior = chosen.head_std, chosen.kl_weight
        if posterior not in exact:
            exact[posterior] = _exact(net, task, wide, chosen, seed)
        values[f"{chosen}/HMC"] = exact[posterior]
    return values


def _fits(net: Net, task: Task, prior: Gaussian, chosen: Alternative, seed: int):
    """(member, posterior or None where it diverged)."""
    settings = {name: value for name, value in chosen._asdict().items() if name != "head_std"}
    steps = METHODS["vi"].keywords(net)["steps"]
    for name, method, radius, length in (
        ("VI", "vi", None, steps),
        ("VI, equal gradients", "vi", None, 2 * steps),
        ("SA-BMA", "sabma", RADIUS, steps),
    ):
        try:
            yield name, fit_member(net, task, prior, method, radius, seed=seed, fit=settings | {"steps": length})
        except ValueError as error:
            if "finite" not in str(error):
                raise
            yield name, None


def _exact(net: Net, task: Task, prior: Gaussian, chosen: Alternative, seed: int) -> Tensor:
    """HMC's values; NaN at T = 0, which has no posterior."""
    if chosen.kl_weight == 0:
        return torch.full((len(QUANTITIES),), torch.nan, dtype=torch.float64)
    q = fit_hmc(net, task.train, prior, seed=seed, kl_weight=chosen.kl_weight, **CHAINS)
    return _measured(net, task, q, seed)


def _measured(net: Net, task: Task, q: Posterior | None, seed: int) -> Tensor:
    """Values (6,) of `QUANTITIES`."""
    if q is None:
        return torch.full((len(QUANTITIES),), torch.nan, dtype=torch.float64)
    draws = q.W if isinstance(q, Draws) else q.sample(N_DRAWS, seed=seed + 1)
    scores = predict(net, draws, task.test, len(draws), seed=seed + 1).scores
    f = nll(net, task.train)
    apart = draws[:: max(1, len(draws) // N_SPECTRA)][:N_SPECTRA]
    sharp = torch.stack([top_eigenpairs(f, w, 1, iters=40, seed=seed).values[0] for w in apart]).mean()
    kl = (
        q.history.kl[-1]
        if isinstance(q, Gaussian) and q.history is not None and q.history.kl is not None
        else torch.tensor(torch.nan)
    )
    last = [scores[name][-1] for name in ("nll", "accuracy", "ece")]
    return torch.stack([torch.as_tensor(v).double().cpu() for v in (*last, scores["nll"][0], sharp, kl)])
