"""A regression with a gap in its data, and what methods predict there."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from flatviz.checks import Count, Radius, Seed, check_count
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.core.seeds import generator, saved_rng
from flatviz.metrics.prediction import predict
from flatviz.posteriors.hmc import fit_hmc
from flatviz.posteriors.sabma import fit_sabma
from flatviz.posteriors.vi import fit_vi
from flatviz.results import Gaussian, Posterior, Prediction

NOISE, HIDDEN, WIDTH = 0.1, 24, 1.5  # standard deviation of targets, hidden units, standard deviation of the prior
GAP = (-1.0, 0.8)  # inputs between which there are no data
CHAINS, LEAST_DRAWS = dict(chains=4, burn_in=150, most_steps=64), 120  # of HMC


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

    Returns name -> Prediction with outputs (S, 200, 1); `fv.plots.plot_predictive` draws it.

    Raises:
        ValueError: For a radius below 0.

    Example:
        >>> predictions = fv.families.predict_gap(radii=[0.5], n_draws=3, steps=5, hmc=False)
        >>> {name: tuple(p.outputs.shape) for name, p in predictions.items()}
        {'vi': (3, 200, 1), 'sabma, radius 0.5': (3, 200, 1)}
    """
    data, x = gap_regression(seed=seed)
    with saved_rng(seed):
        net = Net.from_module(nn.Sequential(nn.Linear(1, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1)))
    std = torch.full_like(net.w, WIDTH)
    std[2 * HIDDEN : 3 * HIDDEN] = WIDTH / math.sqrt(HIDDEN)  # the last layer's weights
    prior = Gaussian(torch.zeros_like(net.w), std.log())
    start = Gaussian(net.w, torch.full_like(net.w, math.log(0.02)), prior.factor)
    how = dict(seed=seed, likelihood=NOISE, kl_weight=1.0, progress=progress)
    settings = how | dict(steps=steps, start=start, start_scale=1.0)
    posteriors: dict[str, Posterior] = {"vi": fit_vi(net, data, prior, **settings)}
    for r in radii:
        posteriors[f"sabma, radius {r:g}"] = fit_sabma(net, data, prior, radius=float(r), **settings)
    if hmc:
        posteriors["hmc"] = fit_hmc(net, data, prior, **how, **CHAINS, n_draws=max(LEAST_DRAWS, 4 * n_draws))
    return {name: predict(net, q, x, n_draws, seed=seed + 1, likelihood=NOISE) for name, q in posteriors.items()}
