"""What every fit gives: the table of its calls, and the numbers that are stored of each.

`python tests/golden/freeze_fits.py` writes them to fits.safetensors; tests/posteriors/
test_golden_fits.py compares.  The calls may be written anew; names and numbers stay.
"""

from __future__ import annotations

import json
import platform
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor, nn

import flatviz as fv
from flatviz.families.members import Fitting
from flatviz.posteriors.vi import fit_vi_grid

FILE = Path(__file__).with_suffix(".safetensors")
HISTORY = ("loss", "kl", "sharpness", "reach", "validation")
Results = fv.Posterior | Mapping[object, fv.Posterior] | None
Numbers = dict[str, Tensor]
Batch = int | None  # examples a minibatch; None: all of them


# Grounds ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ground:
    """A small network with data, a prior of rank 2 over its weights, and another Gaussian."""

    net: fv.Net
    data: fv.Data
    held_out: fv.Data
    prior: fv.Gaussian
    near: fv.Gaussian

    @property
    def task(self) -> fv.Task:
        classes = int(self.data.y.max()) + 1
        return fv.Task(self.data, self.data, self.held_out, classes, validation=self.held_out)

    def fitting(self, **settings: Any) -> Fitting:
        return Fitting(self.net, self.task, self.prior, seed=0, **settings)


def normals(seed: int, *shape: int) -> Tensor:
    """Normal numbers in float64, rounded to float32: the same on every machine."""
    # a generator of its own: tests shift torch.manual_seed
    source = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=source, dtype=torch.float64).float()


def filled(module: nn.Module) -> nn.Module:
    """The module with weights that no initialisation of torch decides."""
    for i, (name, weight) in enumerate(module.named_parameters()):
        scale = 0.1 if weight.ndim == 1 else weight.shape[1] ** -0.5
        shift = 1.0 if weight.ndim == 1 and "weight" in name else 0.0
        weight.data = shift + scale * normals(100 + i, *weight.shape)
    return module


def examples(seed: int, n: int) -> tuple[Tensor, Tensor]:
    """Inputs (n, 2) of three classes around three points, and their labels (n,)."""
    y = torch.arange(n) % 3
    centers = torch.tensor([[1.0, 0.0], [-1.0, 0.5], [0.0, -1.0]])
    return centers[y] + 0.7 * normals(seed, n, 2), y


def plain_module() -> nn.Module:
    return filled(nn.Sequential(nn.Linear(2, 5), nn.Tanh(), nn.Linear(5, 3)))


def norm_module() -> nn.Module:
    layers = nn.Linear(2, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 3)
    module = filled(nn.Sequential(*layers))
    module.train()(examples(1, 24)[0])
    return module.eval()


def ground_of(net: fv.Net, targets: Callable[[Tensor, Tensor], Tensor] | None = None) -> Ground:
    parts = []
    for seed, n in ((1, 24), (2, 12)):
        x, y = examples(seed, n)
        parts.append(fv.Data(x, y if targets is None else targets(x, y)))
    dim = net.dim
    prior = fv.Gaussian(
        net.w + 0.1 * normals(3, dim), 0.1 * normals(4, dim) - 1.5, 0.2 * normals(5, 2, dim)
    )
    near = fv.Gaussian(net.w + 0.2 * normals(6, dim), 0.1 * normals(7, dim) - 2.0)
    return Ground(net, *parts, prior, near)


def ground(name: str) -> Ground:
    """A ground by the beginning of a case's name, new each time: cases share nothing."""
    if name == "plain":
        return ground_of(fv.Net.from_module(plain_module()))
    if name == "norm":  # BatchNorm layer and head are treated
        return ground_of(fv.Net.from_module(norm_module(), "norm+head"))
    if name == "whole":  # all weights of the BatchNorm net: SGD collects statistics
        return ground_of(fv.Net.from_module(norm_module()))
    if name == "sampled":  # the first layer is drawn from the source's posterior
        source = fv.Net.from_module(norm_module())
        q = fv.Gaussian(source.w, torch.full_like(source.w, -2.0), 0.1 * normals(8, 2, source.dim))
        net, prior = fv.transfer(source, q, trunk="sampled", scale=4.0)
        made = ground_of(net)
        return Ground(net, made.data, made.held_out, prior, made.near)
    if name == "numbers":  # targets are numbers
        net = fv.Net.from_module(filled(nn.Sequential(nn.Linear(2, 5), nn.Tanh(), nn.Linear(5, 1))))
        return ground_of(net, lambda x, y: x.sum(1, keepdim=True))
    raise ValueError(f"a ground must be one of the five, got {name}")


# Calls --------------------------------------------------------------------------------------------

# With minibatches of 7 and with all examples, on the plain and the BatchNorm net
CALLS: dict[str, Callable[[Ground, Batch], Results]] = {
    "sgd": lambda g, b: fv.fit_sgd(g.net, g.data, seed=0, steps=12, batch_size=b),
    "sgd-settings": lambda g, b: fv.fit_sgd(
        g.net, g.data, seed=3, steps=12, batch_size=b, lr=0.2, momentum=0.5, weight_decay=0.01
    ),
    "sgd-sam": lambda g, b: fv.fit_sgd(
        g.net, g.data, seed=0, steps=12, batch_size=b, ascent=fv.SAM(0.1)
    ),
    "sgd-asam": lambda g, b: fv.fit_sgd(
        g.net, g.data, seed=0, steps=12, batch_size=b, ascent=fv.ASAM(0.5)
    ),
    "sgd-fisher": lambda g, b: fv.fit_sgd(
        g.net, g.data, seed=0, steps=12, batch_size=b, ascent=fv.FisherSAM(0.1)
    ),
    "ensemble": lambda g, b: fv.fit_ensemble(
        g.net, g.data, seed=0, steps=12, members=3, batch_size=b
    ),
    "ensemble-sam": lambda g, b: fv.fit_ensemble(
        g.net, g.data, seed=0, steps=12, members=3, batch_size=b, lr=0.1, ascent=fv.SAM(0.1)
    ),
    "swa": lambda g, b: fv.fit_swa(g.net, g.data, seed=0, snapshots=6, batch_size=b or len(g.data)),
    "swag_diag": lambda g, b: fv.fit_swag_diag(
        g.net, g.data, seed=0, snapshots=6, batch_size=b or len(g.data)
    ),
    "swag": lambda g, b: fv.fit_swag(
        g.net, g.data, seed=0, snapshots=6, batch_size=b or len(g.data)
    ),
    "swag-settings": lambda g, b: fv.fit_swag(
        g.net,
        g.data,
        seed=0,
        snapshots=6,
        batch_size=b or len(g.data),
        rank=3,
        scale=2.0,
        lr=0.1,
        momentum=0.5,
    ),
    "swag-sam": lambda g, b: fv.fit_swag(
        g.net, g.data, seed=0, snapshots=6, batch_size=b or len(g.data), ascent=fv.SAM(0.1)
    ),
    "vi": lambda g, b: fv.fit_vi(g.net, g.data, g.prior, seed=0, steps=12, batch_size=b),
    "vi-settings": lambda g, b: fv.fit_vi(
        g.net,
        g.data,
        g.prior,
        seed=3,
        steps=12,
        batch_size=b,
        lr=0.5,
        momentum=0.5,
        weight_decay=0.01,
        kl_weight=1.0,
        mc_samples=2,
        start_scale=0.7,
    ),
    "vi-start": lambda g, b: fv.fit_vi(
        g.net, g.data, g.prior, seed=0, steps=12, batch_size=b, start=g.near, start_scale=1.0
    ),
    "vi-sam": lambda g, b: fv.fit_vi(
        g.net, g.data, g.prior, seed=0, steps=12, batch_size=b, ascent=fv.SAM(0.1)
    ),
    "vi_grid": lambda g, b: fit_vi_grid(
        g.net, g.data, g.prior, radius=[0.02, 0.1], seed=[0, 1], steps=8, batch_size=b
    ),
    "mfvi": lambda g, b: fv.fit_mfvi(g.net, g.data, seed=0, steps=12, batch_size=b),
    "mfvi-moped": lambda g, b: fv.fit_mfvi(
        g.net, g.data, seed=0, steps=12, batch_size=b, moped=0.1
    ),
    "mfvi-settings": lambda g, b: fv.fit_mfvi(
        g.net, g.data, seed=0, steps=12, batch_size=b, prior_std=0.5, first_std=0.1, kl_weight=0.1
    ),
    "mfvi-prior": lambda g, b: fv.fit_mfvi(
        g.net, g.data, g.near, seed=0, steps=12, batch_size=b, mc_samples=None, ascent=fv.SAM(0.1)
    ),
    "sabma": lambda g, b: fv.fit_sabma(
        g.net, g.data, g.prior, radius=0.5, seed=0, steps=12, batch_size=b
    ),
    "sabma-zero": lambda g, b: fv.fit_sabma(
        g.net, g.data, g.prior, radius=0.0, seed=0, steps=12, batch_size=b
    ),
    "sabma-settings": lambda g, b: fv.fit_sabma(
        g.net,
        g.data,
        g.prior,
        radius=0.3,
        seed=3,
        steps=12,
        batch_size=b,
        lr=0.5,
        momentum=0.5,
        weight_decay=0.01,
        kl_weight=1.0,
        mc_samples=2,
        start_scale=0.7,
    ),
    "sabma-start": lambda g, b: fv.fit_sabma(
        g.net,
        g.data,
        g.prior,
        radius=0.5,
        seed=0,
        steps=12,
        batch_size=b,
        start=g.near,
        start_scale=1.0,
    ),
    "sabma_grid": lambda g, b: fv.fit_sabma_grid(
        g.net, g.data, g.prior, radius=[0.0, 0.3, 1.0], seed=[0, 1], steps=8, batch_size=b
    ),
    "sabma_grid-sam_mu": lambda g, b: fv.fit_sabma_grid(
        g.net, g.data, g.prior, radius=[0.05, 0.1], seed=[0], mode="sam_mu", steps=8, batch_size=b
    ),
    "bsam": lambda g, b: fv.fit_bsam(g.net, g.data, seed=0, steps=12, batch_size=b),
    "bsam-settings": lambda g, b: fv.fit_bsam(
        g.net,
        g.data,
        seed=0,
        steps=12,
        batch_size=b,
        radius=0.05,
        lr=0.05,
        b1=0.8,
        b2=0.95,
        damping=0.2,
        first_precision=2.0,
    ),
    "ivon": lambda g, b: fv.fit_ivon(g.net, g.data, seed=0, steps=12, batch_size=b),
    "ivon-settings": lambda g, b: fv.fit_ivon(
        g.net,
        g.data,
        seed=0,
        steps=12,
        batch_size=b,
        lr=0.05,
        temperature=0.5,
        b1=0.8,
        b2=0.9,
        first_hessian=0.2,
        mc_samples=2,
    ),
    "laplace": lambda g, b: fv.fit_laplace(g.net, g.data, seed=0, steps=12, batch_size=b),
    "laplace-sam": lambda g, b: fv.fit_laplace(
        g.net, g.data, seed=0, steps=12, batch_size=b, ascent=fv.SAM(0.1), temperature=0.5
    ),
    "sgld": lambda g, b: fv.fit_sgld(
        g.net, g.data, seed=0, n_draws=4, burn_in=4, thin=2, batch_size=b
    ),
    "sgld-chains": lambda g, b: fv.fit_sgld(
        g.net, g.data, seed=0, n_draws=6, chains=2, burn_in=4, thin=2, batch_size=b, temperature=0.5
    ),
    "sgld-prior": lambda g, b: fv.fit_sgld(
        g.net,
        g.data,
        seed=0,
        n_draws=4,
        burn_in=4,
        thin=2,
        batch_size=b,
        prior=g.prior,
        ascent=fv.SAM(0.1),
    ),
    "sghmc": lambda g, b: fv.fit_sghmc(
        g.net, g.data, seed=0, n_draws=4, burn_in=4, thin=2, batch_size=b
    ),
    "sghmc-settings": lambda g, b: fv.fit_sghmc(
        g.net, g.data, seed=0, n_draws=4, chains=2, burn_in=4, thin=2, batch_size=b, friction=0.5
    ),
    "psgld": lambda g, b: fv.fit_psgld(
        g.net, g.data, seed=0, n_draws=4, burn_in=4, thin=2, batch_size=b
    ),
    "psgld-settings": lambda g, b: fv.fit_psgld(
        g.net,
        g.data,
        seed=0,
        n_draws=4,
        chains=2,
        burn_in=4,
        thin=2,
        batch_size=b,
        memory=0.9,
        floor=0.01,
    ),
    "sgnht": lambda g, b: fv.fit_sgnht(
        g.net, g.data, seed=0, n_draws=4, burn_in=4, thin=2, batch_size=b
    ),
    "sgnht-settings": lambda g, b: fv.fit_sgnht(
        g.net,
        g.data,
        seed=0,
        n_draws=4,
        chains=2,
        burn_in=4,
        thin=2,
        batch_size=b,
        friction=0.3,
        gain=0.1,
    ),
    "emcmc": lambda g, b: fv.fit_emcmc(
        g.net, g.data, seed=0, n_draws=4, burn_in=4, thin=2, batch_size=b
    ),
    "emcmc-settings": lambda g, b: fv.fit_emcmc(
        g.net, g.data, seed=0, n_draws=4, burn_in=4, thin=2, batch_size=b, eta=0.1, lr=0.02
    ),
    "csgld": lambda g, b: fv.fit_csgld(
        g.net, g.data, seed=0, n_draws=4, cycles=2, cycle_steps=8, batch_size=b
    ),
    "csgld-settings": lambda g, b: fv.fit_csgld(
        g.net,
        g.data,
        seed=0,
        n_draws=4,
        chains=2,
        cycles=2,
        cycle_steps=8,
        noisy_share=0.5,
        friction=0.1,
        lr=0.01,
        batch_size=b,
    ),
    "svgd": lambda g, b: fv.fit_svgd(g.net, g.data, seed=0, steps=12, n_draws=4, batch_size=b),
    "svgd-prior": lambda g, b: fv.fit_svgd(
        g.net, g.data, seed=0, steps=12, n_draws=4, batch_size=b, prior=g.prior, ascent=fv.SAM(0.1)
    ),
    "dropout": lambda g, b: fv.fit_dropout(
        g.net, g.data, seed=0, steps=12, n_draws=4, batch_size=b
    ),
    "dropout-settings": lambda g, b: fv.fit_dropout(
        g.net, g.data, seed=0, steps=12, n_draws=4, batch_size=b, rate=0.3, ascent=fv.SAM(0.1)
    ),
    "multi": lambda g, b: fv.fit_multi(
        g.net,
        g.data,
        fit=fv.METHODS["swag"],
        settings=dict(rank=2, snapshots=4),
        seed=0,
        members=2,
        steps=8,
        batch_size=b,
    ),
    "multi-sam": lambda g, b: fv.fit_multi(
        g.net,
        g.data,
        fit=fv.METHODS["swag"],
        settings=dict(rank=2, snapshots=4),
        seed=0,
        members=2,
        steps=8,
        batch_size=b,
        ascent=fv.SAM(0.1),
    ),
    "multi-laplace": lambda g, b: fv.fit_multi(
        g.net,
        g.data,
        fit=fv.fit_laplace,
        settings=dict(steps=5, batch_size=b),
        seed=0,
        members=2,
        steps=8,
        batch_size=b,
    ),
    "ptl": lambda g, b: fv.fit_ptl(
        g.net,
        g.data,
        g.prior,
        fit=fv.fit_csgld,
        settings=dict(n_draws=4, cycles=2, cycle_steps=8, batch_size=b),
        seed=0,
    ),
    "ptl-vi": lambda g, b: fv.fit_ptl(
        g.net,
        g.data,
        g.prior,
        fit=fv.fit_vi,
        settings=dict(steps=8, batch_size=b),
        seed=0,
        scale=2.0,
        floor=0.1,
    ),
    "training-parts": lambda g, b: fv.fit_sgd(
        g.net, g.data, seed=0, steps=8, batch_size=b, training=fv.Training(accumulate=2)
    ),
    "stopped-sgd": lambda g, b: fv.fit_sgd(
        g.net, g.data, seed=0, steps=60, batch_size=b, lr=0.5, training=stopping(g)
    ),
    "stopped-vi": lambda g, b: fv.fit_vi(
        g.net, g.data, g.prior, seed=0, steps=60, batch_size=b, training=stopping(g)
    ),
    "stopped-sabma_grid": lambda g, b: fv.fit_sabma_grid(
        g.net,
        g.data,
        g.prior,
        radius=[0.3, 1.0],
        seed=[0],
        steps=60,
        batch_size=b,
        training=stopping(g),
    ),
    "resumed-sgd": lambda g, b: resumed(
        lambda path, stop: fv.fit_sgd(
            g.net, g.data, seed=0, steps=12, batch_size=b, checkpoint=path, progress=stop
        )
    ),
    "resumed-swag": lambda g, b: resumed(
        lambda path, stop: fv.fit_swag(
            g.net,
            g.data,
            seed=0,
            snapshots=8,
            batch_size=b or len(g.data),
            checkpoint=path,
            progress=stop,
        )
    ),
    "resumed-sabma": lambda g, b: resumed(
        lambda path, stop: fv.fit_sabma(
            g.net,
            g.data,
            g.prior,
            radius=0.5,
            seed=0,
            steps=12,
            batch_size=b,
            checkpoint=path,
            progress=stop,
        )
    ),
    "resumed-sgld": lambda g, b: resumed(
        lambda path, stop: fv.fit_sgld(
            g.net,
            g.data,
            seed=0,
            n_draws=4,
            burn_in=4,
            thin=2,
            batch_size=b,
            checkpoint=path,
            progress=stop,
        )
    ),
}

# Once, on the plain and the BatchNorm net
ONCE: dict[str, Callable[[Ground], Results]] = {
    "hmc": lambda g: fv.fit_hmc(
        g.net, g.data, seed=0, n_draws=4, chains=2, burn_in=6, most_steps=20
    ),
    "hmc-prior": lambda g: fv.fit_hmc(
        g.net,
        g.data,
        g.prior,
        seed=0,
        n_draws=4,
        chains=2,
        burn_in=6,
        thin=2,
        kl_weight=0.1,
        most_steps=20,
    ),
    "swag-usual": lambda g: fv.fit_swag(g.net, g.data, seed=0, snapshots=6),
    "laplace-diagonal": lambda g: fv.fit_laplace(
        g.net, g.data, seed=0, steps=12, structure="diagonal"
    ),
    "laplace-full": lambda g: fv.fit_laplace(
        g.net, g.data, seed=0, steps=12, structure="full", prior_precision=2.0
    ),
    "laplace-none": lambda g: fv.fit_laplace(
        g.net, g.data, seed=0, steps=0, label_draws=3, prior_precision=None
    ),
    "sabma-kl_exact": lambda g: fv.fit_sabma(
        g.net, g.data, g.prior, radius=0.5, seed=0, steps=8, blocks="mean", joint=False
    ),
    "sabma-factor": lambda g: fv.fit_sabma(
        g.net,
        g.data,
        g.prior,
        radius=0.5,
        seed=0,
        steps=8,
        blocks="mean+std+factor",
    ),
    "sabma-rank1_pinv": lambda g: fv.fit_sabma(
        g.net, g.data, g.prior, radius=0.5, seed=0, steps=8, mode="rank1_pinv"
    ),
    "sabma-rank1_damped": lambda g: fv.fit_sabma(
        g.net, g.data, g.prior, radius=0.5, seed=0, steps=8, mode="rank1_damped", damping=0.1
    ),
    "sabma-sam_mu": lambda g: fv.fit_sabma(
        g.net, g.data, g.prior, radius=0.1, seed=0, steps=8, mode="sam_mu"
    ),
    "sabma-sam_theta": lambda g: fv.fit_sabma(
        g.net, g.data, g.prior, radius=0.1, seed=0, steps=8, mode="sam_theta"
    ),
    "sabma-authors_code": lambda g: fv.fit_sabma(
        g.net, g.data, g.prior, radius=0.5, seed=0, steps=8, mode="authors_code"
    ),
    "sabma-switches": lambda g: fv.fit_sabma(
        g.net,
        g.data,
        g.prior,
        radius=0.5,
        seed=0,
        steps=8,
        mode="authors_code",
        switches=("z2_mean_bug",),
        joint=False,
    ),
    "sabma-none": lambda g: fv.fit_sabma(
        g.net, g.data, g.prior, radius=0.5, seed=0, steps=8, mode="none"
    ),
    "sabma-kl": lambda g: fv.fit_sabma(
        g.net, g.data, g.prior, radius=0.5, seed=0, steps=8, mode="sam_mu", radius_unit="kl"
    ),
    "training-bfloat16": lambda g: fv.fit_sabma(
        g.net,
        g.data,
        g.prior,
        radius=0.5,
        seed=0,
        steps=8,
        batch_size=7,
        training=fv.Training(precision="bfloat16"),
    ),
    "vi_grid-zero": lambda g: fit_vi_grid(
        g.net, g.data, g.prior, radius=[0.0, 0.1], seed=[0], steps=8, mc_samples=2
    ),
    "resumed-sabma_grid": lambda g: resumed(
        lambda path, stop: fv.fit_sabma_grid(
            g.net,
            g.data,
            g.prior,
            radius=[0.3, 1.0],
            seed=[0, 1],
            steps=8,
            batch_size=7,
            checkpoint=path,
            progress=stop,
        )
    ),
    "resumed-multi": lambda g: resumed(
        lambda path, stop: fv.fit_multi(
            g.net,
            g.data,
            fit=fv.METHODS["swag"],
            settings=dict(rank=2, snapshots=4),
            seed=0,
            members=2,
            steps=8,
            checkpoint=path,
            progress=stop,
        )
    ),
    "resumed-hmc": lambda g: resumed(
        lambda path, stop: fv.fit_hmc(
            g.net,
            g.data,
            seed=0,
            n_draws=4,
            chains=2,
            burn_in=6,
            most_steps=20,
            checkpoint=path,
            progress=stop,
        )
    ),
}

# Statistics collected in training, all weights of the BatchNorm net treated
TRAINED: dict[str, Callable[[Ground], Results]] = {
    "sgd": lambda g: fv.fit_sgd(g.net, g.data, seed=0, steps=12, batch_size=7),
    "sgd-frozen": lambda g: fv.fit_sgd(g.net, g.data, seed=0, steps=12, batchnorm="frozen"),
    "ensemble": lambda g: fv.fit_ensemble(
        g.net, g.data, seed=0, steps=12, members=3, batch_size=7, batchnorm="train"
    ),
    "swa": lambda g: fv.fit_swa(
        g.net, g.data, seed=0, snapshots=4, batch_size=7, batchnorm="train"
    ),
    "swag_diag": lambda g: fv.fit_swag_diag(
        g.net, g.data, seed=0, snapshots=4, batch_size=7, batchnorm="train"
    ),
    "swag": lambda g: fv.fit_swag(
        g.net, g.data, seed=0, rank=2, snapshots=4, batch_size=7, batchnorm="train"
    ),
    "vi": lambda g: fv.fit_vi(
        g.net, g.data, g.prior, seed=0, steps=12, batch_size=7, batchnorm="train"
    ),
    "mfvi": lambda g: fv.fit_mfvi(g.net, g.data, seed=0, steps=12, batch_size=7, batchnorm="train"),
    "sabma": lambda g: fv.fit_sabma(
        g.net, g.data, g.prior, radius=0.5, seed=0, steps=12, batch_size=7, batchnorm="train"
    ),
    "sabma_grid": lambda g: fv.fit_sabma_grid(
        g.net, g.data, g.prior, radius=[0.3, 1.0], seed=[0], steps=8, batchnorm="train"
    ),
    "bsam": lambda g: fv.fit_bsam(g.net, g.data, seed=0, steps=12, batch_size=7, batchnorm="train"),
    "ivon": lambda g: fv.fit_ivon(g.net, g.data, seed=0, steps=12, batch_size=7, batchnorm="train"),
    "sgld": lambda g: fv.fit_sgld(
        g.net, g.data, seed=0, n_draws=3, burn_in=4, thin=2, batch_size=7, batchnorm="train"
    ),
    "sghmc": lambda g: fv.fit_sghmc(
        g.net, g.data, seed=0, n_draws=3, burn_in=4, thin=2, batch_size=7, batchnorm="train"
    ),
    "psgld": lambda g: fv.fit_psgld(
        g.net, g.data, seed=0, n_draws=3, burn_in=4, thin=2, batch_size=7, batchnorm="train"
    ),
    "sgnht": lambda g: fv.fit_sgnht(
        g.net, g.data, seed=0, n_draws=3, burn_in=4, thin=2, batch_size=7, batchnorm="train"
    ),
    "emcmc": lambda g: fv.fit_emcmc(
        g.net, g.data, seed=0, n_draws=4, burn_in=4, thin=2, batch_size=7, batchnorm="train"
    ),
    "csgld": lambda g: fv.fit_csgld(
        g.net, g.data, seed=0, n_draws=4, cycles=2, cycle_steps=6, batch_size=7, batchnorm="train"
    ),
    "svgd": lambda g: fv.fit_svgd(
        g.net, g.data, seed=0, steps=8, n_draws=3, batch_size=7, batchnorm="train"
    ),
}

# Targets that are numbers, with noise of a known size
NUMBERS: dict[str, Callable[[Ground], Results]] = {
    "sgd": lambda g: fv.fit_sgd(g.net, g.data, seed=0, steps=12, lr=0.01, likelihood=0.5),
    "swag": lambda g: fv.fit_swag(g.net, g.data, seed=0, snapshots=6, lr=0.01, likelihood=0.5),
    "vi": lambda g: fv.fit_vi(g.net, g.data, g.prior, seed=0, steps=12, lr=0.5, likelihood=0.5),
    "sabma": lambda g: fv.fit_sabma(
        g.net, g.data, g.prior, radius=0.5, seed=0, steps=12, lr=0.5, likelihood=0.5
    ),
    "ivon": lambda g: fv.fit_ivon(g.net, g.data, seed=0, steps=12, lr=0.01, likelihood=0.5),
    "sgld": lambda g: fv.fit_sgld(
        g.net, g.data, seed=0, n_draws=3, burn_in=4, thin=2, lr=0.001, likelihood=0.5
    ),
    "multi": lambda g: fv.fit_multi(
        g.net,
        g.data,
        fit=fv.METHODS["swag"],
        settings=dict(rank=2, snapshots=4, lr=0.01),
        seed=0,
        members=2,
        steps=8,
        lr=0.01,
        likelihood=0.5,
    ),
}

# A trunk that is drawn with every pass
SAMPLED: dict[str, Callable[[Ground], Results]] = {
    "sgd": lambda g: fv.fit_sgd(g.net, g.data, seed=0, steps=8, batch_size=7),
    "vi": lambda g: fv.fit_vi(g.net, g.data, g.prior, seed=0, steps=8, batch_size=7),
    "sabma": lambda g: fv.fit_sabma(
        g.net, g.data, g.prior, radius=0.5, seed=0, steps=8, batch_size=7
    ),
    "sgld": lambda g: fv.fit_sgld(
        g.net, g.data, seed=0, n_draws=3, burn_in=4, thin=2, batch_size=7
    ),
}

# Few steps and draws in place of the settings of the methods' records
FEW = dict(
    steps=8, n_draws=8, burn_in=6, thin=2, cycle_steps=6, snapshots=6, chains=2, rate=0.2, members=3
)
FEWER = {name: value for name, value in FEW.items() if name not in ("chains", "rate", "members")}

# Methods at the settings of their records, and what families make of them
FITTED: dict[str, Callable[[Ground], Results]] = {
    "sabma-radius": lambda g: g.fitting(fit=FEWER).member("sabma", 0.3),
    "sabma-zero": lambda g: g.fitting(fit=FEWER).member("sabma", 0.0),
    "sam_mu-radius": lambda g: g.fitting(fit=FEWER).member("sam_mu", 0.05),
    "f-swag-radius": lambda g: g.fitting(fit=FEWER).member("f-swag", 0.3),
    "f-swag-zero": lambda g: g.fitting(fit=FEWER).member("f-swag", 0.0),
    "vi_t-radius": lambda g: g.fitting(fit=FEWER).member("vi_t", 0.2),
    "sabma_t-radius": lambda g: g.fitting(fit=FEWER).member("sabma_t", 0.2),
    "bsam-radius": lambda g: g.fitting(fit=FEWER).member("bsam", 0.05),
    "fewer": lambda g: {
        name: g.fitting(fit=FEW).member(name) for name in ("hmc", "dropout", "f-ensemble")
    },
    "lr_scale": lambda g: {
        name: g.fitting(fit=FEWER, lr_scale=0.5).member(name) for name in ("sgd", "swag", "sabma")
    },
    "training": lambda g: {
        name: g.fitting(fit=FEWER, training=fv.Training(accumulate=2)).member(name)
        for name in ("sgd", "sabma", "sgld", "multiswag")
    },
    "preview": lambda g: g.fitting(fit=dict(steps=20)).preview("sabma", 0.7, g.near, 5),
    "members": lambda g: g.fitting(fit=FEWER).members(
        [("vi", 0.0), ("sabma", 0.3), ("sabma", 1.0), ("rank1_pinv", 0.5), ("rank1_pinv", 1.0)],
        seeds=[0, 1],
    ),
}


def stopping(g: Ground) -> fv.Training:
    """Early stopping by the data held out."""
    return fv.Training(validation=g.held_out, patience=2)


def resumed(fit: Callable[[Path, Any], Results]) -> Results:
    """What `fit` returns after it was stopped at the fifth step and called again."""

    def stop(done: int, total: int, label: str) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run")
        try:
            fit(path, stop)
        except KeyboardInterrupt:
            return fit(path, False)
    raise AssertionError("the run must be stopped at its fifth step, got one that ended before")


def method_of(name: str) -> Callable[[Ground], Results]:
    """A method's fit at the settings of its record."""
    return lambda g: g.fitting(fit=FEWER).member(name)


def cases() -> Iterator[tuple[str, Callable[[], Results]]]:
    """(name, its fit without arguments) of every case: ground, then the call's name."""
    for on in ("plain", "norm"):
        for name, call in CALLS.items():
            for size, batch in (("all", None), ("7", 7)):
                yield f"{on}/{name}/{size}", lambda call=call, on=on, b=batch: call(ground(on), b)
        methods = {f"METHODS/{name}": method_of(name) for name in fv.METHODS}
        fitted = {f"Fitting/{name}": call for name, call in FITTED.items()}
        for name, one in (ONCE | methods | fitted).items():
            yield f"{on}/{name}", lambda one=one, on=on: one(ground(on))
    for on, table in (("whole", TRAINED), ("numbers", NUMBERS), ("sampled", SAMPLED)):
        for name, one in table.items():
            yield f"{on}/{name}", lambda one=one, on=on: one(ground(on))


CASES: dict[str, Callable[[], Results]] = dict(cases())


# Numbers ------------------------------------------------------------------------------------------


def numbers_of(name: str) -> tuple[Numbers, tuple[str, ...]]:
    """Run a case: its numbers by name, and the notes of its fits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of short fits; their notes are kept
        result = CASES[name]()
    if result is None:
        raise AssertionError(f"{name} must return a posterior, got None")
    found = result if isinstance(result, Mapping) else {"": result}
    numbers: Numbers = {}
    notes: list[str] = []
    for i, (key, q) in enumerate(found.items()):
        if isinstance(key, tuple) and not isinstance(key[0], str):
            key = i  # a grid's keys are no numbers to keep; its order is
        add(numbers, notes, f"{name}|{key}" if key != "" else name, q)
    return numbers, tuple(notes)


def add(numbers: Numbers, notes: list[str], name: str, q: Any) -> None:
    """Add parameters, three draws, the history's ends and length, and buffers."""
    if isinstance(q, fv.Mixture):
        for i, part in enumerate(q.parts):
            add(numbers, notes, f"{name}|part {i}", part)
    else:
        for part in ("mean", "log_std", "factor", "W"):
            if isinstance(value := getattr(q, part, None), Tensor):
                numbers[f"{name}:{part}"] = value
        for key, value in (q.buffers or {}).items():
            numbers[f"{name}:buffer {key}"] = value
        history = q.history
        for part in HISTORY if history is not None else ():
            value = getattr(history, part)
            if value is not None:
                numbers[f"{name}:{part}"] = torch.stack([value[0], value[-1]])
        if history is not None:
            numbers[f"{name}:length"] = torch.tensor(len(history.loss))
            notes += history.notes
    numbers[f"{name}:draws"] = q.sample(3, seed=1)


def plain(numbers: Numbers) -> Numbers:
    """As a file holds them."""
    return {name: value.detach().contiguous().clone() for name, value in numbers.items()}


def machine() -> str:
    """What decides the last bits of a number: torch, the processor and its instructions."""
    cpu = ""
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text(encoding="utf-8").splitlines()
        cpu = next((line.split(":")[1].strip() for line in lines if "model name" in line), "")
    capability = torch.backends.cpu.get_cpu_capability()
    return f"torch {torch.__version__}, {platform.machine()} {cpu}, {capability}"


@cache
def stored() -> tuple[str, dict[str, Numbers], dict[str, tuple[str, ...]]]:
    """Machine, numbers and notes of every case, as the file holds them."""
    numbers: dict[str, Numbers] = {}
    with safe_open(FILE, "pt") as file:
        about = file.metadata()
        for name in file.keys():
            case = name.split(":")[0].split("|")[0]
            numbers.setdefault(case, {})[name] = file.get_tensor(name)
    notes = {name: tuple(texts) for name, texts in json.loads(about["notes"]).items()}
    return about["machine"], numbers, notes
