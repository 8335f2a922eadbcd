"""The regression with a gap, for every member of a family of another task: what its method does at its radius, in one dimension."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.core.seeds import saved_rng
from flatviz.families.inputs import HIDDEN, NOISE, gap_prior, gap_regression
from flatviz.families.members import with_maps
from flatviz.metrics.prediction import predict
from flatviz.posteriors import METHODS
from flatviz.posteriors.hmc import fit_hmc
from flatviz.posteriors.sabma import fit_sabma
from flatviz.posteriors.sgd import fit_sgd
from flatviz.results import Draws, Family, Gaussian, Posterior

POINTS = 64  # inputs at which each draw is kept
REFERENCE_DRAWS = 100  # of HMC
STEPS = 1000  # of every fit
CHAINS = dict(kl_weight=1.0, chains=4, burn_in=150, n_draws=120, most_steps=64)


def gap_curves(family: Family, *, seed: int, progress: Progress = False) -> Family:
    """The family with what draws of each member's method, at its radius, predict on `gap_regression`.

    A member's "curves" (S, G): of its draws, NaN where it has fewer or its fit diverged.  `inputs`: curve x (G,); curve data
    (N, 2): inputs and targets; curve reference (R, G): draws of HMC; curve noise (1,): standard deviation of the likelihood.
    A network 1-24-1 of tanh, all weights treated; methods with a perturbation are `fit_sabma` at that radius, in their mode.
    """
    net, data, prior, x = _setting(seed)
    fitted = _fitted(net, data, prior, [(m.method, m.radius) for m in family], seed, progress)
    exact = fit_hmc(net, data, prior, seed=seed, likelihood=NOISE, progress=progress, **CHAINS)
    shared = {
        "curve x": x[:, 0],
        "curve data": torch.cat([data.x, data.y], 1),
        "curve reference": _curves(net, exact, x, REFERENCE_DRAWS, seed),
        "curve noise": torch.tensor([NOISE]),
    }
    rows = [{"curves": _curves(net, fitted.get(_same(m.method, m.radius)), x, family.n_draws, seed)} for m in family]
    return with_maps(replace(family, inputs=family.inputs | shared), rows)


def curves_row(family: Family, method: str, radius: float, *, seed: int) -> dict[str, Tensor]:
    """What draws of a member that joins the family predict ("curves"); {} where that has none."""
    if "curve x" not in family.inputs:
        return {}
    net, data, prior, x = _setting(seed)
    q = _fitted(net, data, prior, [(method, float(radius))], seed, False).get(_same(method, float(radius)))
    return {"curves": _curves(net, q, x, family.n_draws, seed)}


def _setting(seed: int) -> tuple[Net, Data, Gaussian, Tensor]:
    data, x = gap_regression(seed=seed)
    with saved_rng(seed):
        net = Net.from_module(nn.Sequential(nn.Linear(1, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1)))
    return net, data, gap_prior(net), torch.linspace(float(x.min()), float(x.max()), POINTS)[:, None]


def _same(method: str, radius: float) -> tuple[str, float]:
    """Radius 0 of every method with one is VI."""
    return (method, radius) if method == "sgd" or radius > 0 else ("vi", 0.0)


def _fitted(
    net: Net, data: Data, prior: Gaussian, asked: Sequence[tuple[str, float]], seed: int, progress: Progress
) -> dict[tuple[str, float], Posterior]:
    """Posterior by method and radius, the radii of a method together; those that diverge are left out."""
    cells = list(dict.fromkeys(_same(*cell) for cell in asked))
    settings = dict(likelihood=NOISE, steps=STEPS, progress=progress)
    start, found = Gaussian(net.w, torch.full_like(net.w, math.log(0.02)), prior.factor), {}
    for method in dict.fromkeys(m for m, _ in cells):
        radii = [r for m, r in cells if m == method]
        if method == "sgd":
            found["sgd", 0.0] = Draws(fit_sgd(net, data, seed=seed, weight_decay=0.0, lr=0.002, **settings).center[None])
            continue
        mode = METHODS[method].look.perturbation or "kl_exact"
        grid = fit_sabma(
            net, data, prior, radius=radii, seed=[seed], mode=mode, start=start, start_scale=1.0, kl_weight=1.0, **settings
        )
        found |= {(method, radius): q for (radius, _), q in grid.items()}
    return found


def _curves(net: Net, q: Posterior | None, x: Tensor, n: int, seed: int) -> Tensor:
    """Outputs (n, G) of n draws; the rest is NaN."""
    if q is None:
        return torch.full((n, len(x)), torch.nan)
    have = min(n, len(q.W)) if isinstance(q, Draws) else n
    outputs = predict(net, q, x, have, seed=seed + 1, likelihood=NOISE).outputs[..., 0].float().cpu()
    return pad(outputs, (0, 0, 0, n - have), value=torch.nan)
