"""Uncertainty in input space: what a posterior predicts over a plane of inputs, beside HMC, and a regression with a gap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from flatviz.checks import Count, Radius, Seed, check_count
from flatviz.core.boundary import public
from flatviz.core.data import Data, Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.core.seeds import generator, saved_rng
from flatviz.families.members import once, with_maps
from flatviz.metrics.prediction import predict
from flatviz.posteriors.hmc import fit_hmc
from flatviz.posteriors.sabma import fit_sabma
from flatviz.posteriors.vi import fit_vi
from flatviz.results import Family, Gaussian, Member, Posterior, Prediction

MARGIN = 0.8  # beyond the data, in their unit, that a map shows
NOISE, HIDDEN, WIDTH = 0.1, 24, 1.0  # of the regression: standard deviation of targets, hidden units, prior's on the weights
REFERENCE_DRAWS = 100  # of HMC, that its map averages
GAP = (-1.0, 0.8)  # inputs between which the regression has no data


def has_input_maps(task: Task) -> bool:
    """Whether the task's inputs are points of a plane, in two classes."""
    return task.train.x.ndim == 2 and task.train.x.shape[1] == 2 and task.n_classes == 2


def input_maps(
    net: Net, task: Task, family: Family, *, seed: int, reference: Posterior | None = None, resolution: int = 17
) -> Family:
    """The family with the probability of class 1 over a grid of inputs, of every member at every ensemble size.

    `inputs`: ticks a, b (G,) of the grid; x, y: the training points; reference (G, G): of all draws of a reference posterior,
    HMC.  A member's "probs" (S, G, G): of ensemble size, b, a.
    """
    x = torch.cat([task.train.x, task.test.x]).cpu()
    lo, hi = x.amin(0) - MARGIN, x.amax(0) + MARGIN
    a, b = (torch.linspace(float(lo[k]), float(hi[k]), resolution) for k in (0, 1))
    shared = family.inputs | dict(a=a, b=b, x=task.train.x.cpu(), y=task.train.y.cpu())
    if reference is not None:
        shared["reference"] = _maps(net, task, reference, a, b, REFERENCE_DRAWS, seed=seed)[-1]
    family = replace(family, inputs=shared)
    return with_maps(family, once(family, lambda m: input_row(net, task, family, m, seed=seed)))


def input_row(net: Net, task: Task, family: Family, member: Member, *, seed: int) -> dict[str, Tensor]:
    """What one member predicts ("probs"), on the grid that the family has; {} where it has none."""
    if "a" not in family.inputs:
        return {}
    a, b = family.inputs["a"], family.inputs["b"]
    return {"probs": _maps(net, task, member.posterior, a, b, member.prediction.n_draws, family.n_draws, seed)}


def _maps(net: Net, task: Task, q: Posterior, a: Tensor, b: Tensor, n: int, size: int = 0, seed: int = 0) -> Tensor:
    """Probability of class 1 of ensembles of 1, 2 .. n draws, (n, G, G); up to `size` the largest of them is repeated."""
    grid = torch.stack(torch.meshgrid(a, b, indexing="xy"), -1).reshape(-1, 2).to(task.train.x)
    probs = predict(net, q, grid, n, seed=seed).probs[..., 1]
    maps = (probs.cumsum(0) / torch.arange(1, n + 1).to(probs)[:, None]).reshape(n, len(b), len(a)).cpu()
    return torch.cat([maps, maps[-1:].expand(max(size - n, 0), -1, -1)])  # a point is every ensemble


def reference_posterior(net: Net, task: Task, prior: Gaussian, *, seed: int, progress: Progress = False) -> Posterior:
    """HMC on the family's own posterior, at the settings of its record."""
    return fit_hmc(net, task.train, prior, seed=seed, progress=progress)


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

    A network 1-24-1 of tanh, all weights treated, prior N(0, 1 / fan-in) on each layer; the likelihood is that of the data.
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
    prior = gap_prior(net)
    settings = dict(seed=seed, likelihood=NOISE, kl_weight=1.0, start_scale=1.0, steps=steps, progress=progress)
    start = Gaussian(net.w, torch.full_like(net.w, math.log(0.02)), prior.factor)
    posteriors: dict[str, Posterior] = {"vi": fit_vi(net, data, prior, start=start, **settings)}
    for r in radii:
        posteriors[f"sabma, radius {r:g}"] = fit_sabma(net, data, prior, radius=float(r), start=start, **settings)
    if hmc:
        chains = dict(kl_weight=1.0, chains=4, burn_in=150, n_draws=max(120, 4 * n_draws), most_steps=64)
        posteriors["hmc"] = fit_hmc(net, data, prior, seed=seed, likelihood=NOISE, progress=progress, **chains)
    return {name: predict(net, q, x, n_draws, seed=seed + 1, likelihood=NOISE) for name, q in posteriors.items()}


def gap_prior(net: Net) -> Gaussian:
    """The regression's: N(0, 1) on the first layer and on biases, N(0, 1 / hidden units) on the last layer's weights."""
    std = torch.full_like(net.w, 1.5 * WIDTH)
    std[2 * HIDDEN : 3 * HIDDEN] = 1.5 * WIDTH / math.sqrt(HIDDEN)
    return Gaussian(torch.zeros_like(net.w), std.log())
