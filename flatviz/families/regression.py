"""A regression with a gap in its data: what methods predict there, and each member of a family of another task at its radius."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from flatviz.checks import Count, Radius, Seed, check_count
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.core.seeds import generator, saved_rng
from flatviz.families.members import count, with_maps
from flatviz.metrics.prediction import predict
from flatviz.posteriors import METHODS
from flatviz.posteriors.hmc import fit_hmc
from flatviz.posteriors.sabma import fit_sabma
from flatviz.posteriors.sgd import fit_sgd
from flatviz.posteriors.vi import fit_vi
from flatviz.results import Draws, Family, Gaussian, Member, Posterior, Prediction

NOISE, HIDDEN, WIDTH = 0.1, 24, 1.5  # standard deviation of targets, hidden units, standard deviation of the prior
GAP = (-1.0, 0.8)  # inputs between which there are no data
POINTS = 64  # inputs at which each draw of a member is kept
REFERENCE_DRAWS = 100  # of HMC
STEPS = 1000  # of every fit of a member
CHAINS = dict(kl_weight=1.0, chains=4, burn_in=150, n_draws=120, most_steps=64)


@public
def gap_regression(*, seed: Seed = 0, n: Count = 40) -> tuple[Data, Tensor]:
    """A curve with a gap in its data, and inputs (200, 1) at which to predict it.

        y = sin(2 x) / 2 + x / 3 + 0.1 e,   x in [-2.5, -1] and [0.8, 2.5],   e standard normal

    Args:
        seed: draws inputs and noise.
        n: points, half of them on each side of the gap.

    Raises:
        ValueError: For n below 2.

    Example:
        >>> data, x = fv.families.gap_regression(seed=0)
        >>> data.x.shape, x.shape, bool(((data.x > -1.0) & (data.x < 0.8)).any())
        (torch.Size([40, 1]), torch.Size([200, 1]), False)
    """
    check_count(n, "n", least=2)
    noise, half = generator(seed), n // 2
    left = -2.5 + (GAP[0] + 2.5) * torch.rand(half, generator=noise)
    right = GAP[1] + (2.5 - GAP[1]) * torch.rand(n - half, generator=noise)
    x = torch.cat([left, right])[:, None]
    y = (2 * x).sin() / 2 + x / 3 + NOISE * torch.randn(n, 1, generator=noise)
    return Data(x, y), torch.linspace(-3.2, 3.2, 200)[:, None]


@public
def predict_gap(
    *,
    radii: Sequence[Radius] = (1.0,),
    seed: Seed = 0,
    n_draws: Count = 30,
    steps: Count = 1000,
    hmc: bool = True,
    progress: Progress = False,
) -> dict[str, Prediction]:
    """VI, SA-BMA at each of `radii`, and HMC, the exact answer, on `gap_regression`: what each predicts at its inputs.

    A network 1-24-1 of tanh, all weights treated, with the prior N(0, 1.5^2), on the last layer's weights N(0, 1.5^2 / 24); the
    likelihood is that of the data.
    n_draws: draws a method; steps: of VI and SA-BMA; hmc: whether HMC runs too, a few seconds.

    Returns name -> Prediction with outputs (S, 200, 1).

    Raises:
        ValueError: For a radius below 0.

    Example:
        >>> predictions = fv.families.predict_gap(radii=[0.5], n_draws=3, steps=5, hmc=False)
        >>> {name: tuple(p.outputs.shape) for name, p in predictions.items()}
        {'vi': (3, 200, 1), 'sabma, radius 0.5': (3, 200, 1)}
    """
    net, data, prior, _ = _setting(seed)
    settings = dict(seed=seed, steps=steps, progress=progress, **_settings(net, prior))
    posteriors: dict[str, Posterior] = {"vi": fit_vi(net, data, prior, **settings)}
    for r in radii:
        posteriors[f"sabma, radius {r:g}"] = fit_sabma(net, data, prior, radius=float(r), **settings)
    if hmc:
        chains = CHAINS | dict(n_draws=max(CHAINS["n_draws"], 4 * n_draws))
        posteriors["hmc"] = fit_hmc(net, data, prior, seed=seed, likelihood=NOISE, progress=progress, **chains)
    x = gap_regression(seed=seed)[1]
    return {name: predict(net, q, x, n_draws, seed=seed + 1, likelihood=NOISE) for name, q in posteriors.items()}


def _setting(seed: int) -> tuple[Net, Data, Gaussian, Tensor]:
    """Network, data, prior, and the inputs (G, 1) at which members are drawn."""
    data, x = gap_regression(seed=seed)
    with saved_rng(seed):
        net = Net.from_module(nn.Sequential(nn.Linear(1, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1)))
    std = torch.full_like(net.w, WIDTH)
    std[2 * HIDDEN : 3 * HIDDEN] = WIDTH / math.sqrt(HIDDEN)  # the last layer's weights
    prior = Gaussian(torch.zeros_like(net.w), std.log())
    return net, data, prior, torch.linspace(float(x.min()), float(x.max()), POINTS)[:, None]


def _settings(net: Net, prior: Gaussian) -> dict[str, Any]:
    """Settings of every fit of a Gaussian."""
    start = Gaussian(net.w, torch.full_like(net.w, math.log(0.02)), prior.factor)
    return dict(likelihood=NOISE, kl_weight=1.0, start=start, start_scale=1.0)


def gap_curves(family: Family, *, seed: int, progress: Progress = False) -> Family:
    """The family with what draws of each member's method, at its radius, predict on `gap_regression`.

    A member's "curves" (S, G): of its draws, NaN where it has fewer or its fit diverged.  `inputs`: curve x (G,); curve data
    (N, 2): inputs and targets; curve reference (R, G): draws of HMC; curve noise (1,): standard deviation of the likelihood.
    A network 1-24-1 of tanh, all weights treated; methods with a perturbation are `fit_sabma` at that radius, in their mode.
    """
    net, data, prior, x = _setting(seed)
    exact = fit_hmc(net, data, prior, seed=seed, likelihood=NOISE, progress=progress, **CHAINS)
    shared = {
        "curve x": x[:, 0],
        "curve data": torch.cat([data.x, data.y], 1),
        "curve reference": _curves(net, exact, x, REFERENCE_DRAWS, seed),
        "curve noise": torch.tensor([NOISE]),
    }
    family = replace(family, inputs=family.inputs | shared)
    return with_maps(family, curve_rows(family, family, family.n_draws, seed=seed, progress=progress))


def curve_rows(
    family: Family, members: Iterable[Member], n_draws: int, *, seed: int, progress: Progress = False
) -> list[dict[str, Tensor]]:
    """What draws of each of these members' methods predict ("curves"); {} where the family has no such curves.

    Radius 0 of every method with one is VI.  The radii of a method are fitted together.
    """
    cells = [(m.method, m.radius) if m.method == "sgd" or m.radius > 0 else ("vi", 0.0) for m in members]
    if "curve x" not in family.inputs:
        return [{} for _ in cells]
    net, data, prior, x = _setting(seed)
    settings, fitted = dict(steps=STEPS, progress=progress), {}
    for method in dict.fromkeys(m for m, _ in cells):
        if method == "sgd":
            point = fit_sgd(net, data, seed=seed, likelihood=NOISE, weight_decay=0.0, lr=0.002, **settings).center
            fitted["sgd", 0.0] = Draws(point[None])
            continue
        radii = list(dict.fromkeys(r for m, r in cells if m == method))
        asked = dict(radius=radii, seed=[seed], mode=METHODS[method].look.perturbation or "kl_exact")
        grid = fit_sabma(net, data, prior, **asked, **settings, **_settings(net, prior))
        fitted |= {(method, radius): q for (radius, _), q in grid.items()}
    return [{"curves": _curves(net, fitted.get(cell), x, n_draws, seed)} for cell in cells]  # without those that diverged


def _curves(net: Net, q: Posterior | None, x: Tensor, n: int, seed: int) -> Tensor:
    """Outputs (n, G) of n draws; the rest is NaN."""
    if q is None:
        return torch.full((n, len(x)), torch.nan)
    have = count(q, n)
    outputs = predict(net, q, x, have, seed=seed + 1, likelihood=NOISE).outputs[..., 0].float().cpu()
    return pad(outputs, (0, 0, 0, n - have), value=torch.nan)
