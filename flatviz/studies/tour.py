"""The main job: from a pre-trained network to a live flat posterior, on scanned digits."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch

from flatviz.checks import check_choice
from flatviz.core.data import Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.datasets.digits import digits_transfer
from flatviz.models.convnet import convnet
from flatviz.models.mlp import mlp
from flatviz.posteriors import METHODS
from flatviz.posteriors.swag import fit_swag
from flatviz.posteriors.transfer import transfer
from flatviz.results import Family, Gaussian, Posterior
from flatviz.storage.cache import cached
from flatviz.studies.family import check_settings, family_radii, fit_family, measure, same_member
from flatviz.training.pretrain import pretrain

MODELS = {"mlp": mlp, "conv": convnet}
SWAG_LR = {"mlp": 0.05, "conv": 0.02}  # at 0.05 the conv net, early in training, diverges with its BatchNorm frozen
HEAD_STD, SCALE, RANK = 0.3, 64.0, 5  # SWAG's own width is a tenth of what makes radius and ensemble size matter


@dataclass(frozen=True)
class Tour:
    """Everything the tour computed, and which steps it found in the cache."""

    net: Net
    task: Task
    prior: Gaussian
    family: Family
    cached: tuple[str, ...]
    seconds: float


def prepare(
    model: str = "mlp",
    *,
    seed: int = 0,
    shots: int = 10,
    degrees: float = 90.0,
    rank: int = RANK,
    epochs: int = 60,
    device: torch.device | str = "cpu",
    progress: Progress = False,
) -> tuple[Net, Task, Gaussian]:
    """Task, pre-trained network restricted to norm layers and head, and the prior of that rank that SWAG on the source gives."""
    check_choice(model, tuple(MODELS), "model")
    task = digits_transfer(shots=shots, seed=seed, degrees=degrees).to(device)
    source = pretrain(
        Net.from_module(MODELS[model](task, seed=seed)).to(device), task.source, seed=seed, epochs=epochs, progress=progress
    )
    swag = fit_swag(source, task.source, rank=rank, seed=seed, lr=SWAG_LR[model], progress=progress)
    net, prior = transfer(source, swag, treated="norm+head", head_std=HEAD_STD, scale=SCALE)
    return net, task, prior


def run_tour(
    model: str = "mlp",
    *,
    seed: int = 0,
    device: torch.device | str = "cpu",
    radii: Mapping[str, Sequence[float]] | None = None,
    epochs: int = 60,
    fit: Mapping | None = None,
    measured: Mapping | None = None,
    progress: Progress = False,
    say: Callable[[str], None] = lambda text: None,
) -> Tour:
    """Pre-train, transfer, fit the family, measure it; each of the three steps is kept in the cache folder.

    epochs: of pre-training; fit and measured: what `fit_family` and `measure` take beside their defaults.
    """
    started, reused = time.perf_counter(), []
    check_choice(model, tuple(MODELS), "model")
    check_settings(fit)
    fit, measured = dict(fit or {}), dict(measured or {})
    about = dict(model=model, seed=seed, device=str(device), epochs=epochs)

    def step(name: str, compute: Callable, **settings: object):
        result, was_cached = cached("tour", compute, label=name, say=say, step=name, **about, **settings)
        reused.extend([name] if was_cached else [])
        return result

    def prepared() -> tuple:
        net, _, prior = prepare(model, seed=seed, epochs=epochs, device=device, progress=progress)
        return net.to_module().state_dict(), prior

    state, prior = step("pre-trained network and prior", prepared)
    task = digits_transfer(seed=seed).to(device)
    module = MODELS[model](task, seed=seed)
    module.load_state_dict(state)
    net = Net.from_module(module.eval(), "norm+head", example=task.source.x[:2].cpu()).to(device)
    prior = _moved(prior, device)
    radii = {m: tuple(r) for m, r in (radii or family_radii(net)).items()}
    methods = {name: METHODS[name] for name in radii}
    family = step(
        "family of posteriors",
        lambda: fit_family(net, task, prior, radii=radii, seed=seed, fit=fit, progress=progress),
        radii=radii,
        fit=fit,
        methods=methods,
    )
    family = dataclasses.replace(family, posterior=_shared(family, device))
    family = step(
        "surface, samples, spectra and scores",
        lambda: measure(net, task, family, seed=seed + 1, progress=progress, **measured),
        radii=radii,
        fit=fit,
        methods=methods,
        measured=measured,
    )
    return Tour(net, task, prior, family, tuple(reused), time.perf_counter() - started)


def _moved(q, device: torch.device | str):
    """A posterior with its tensors on a device."""
    fields = {f.name: getattr(q, f.name) for f in dataclasses.fields(q)}
    return type(q)(**{k: v.to(device) if isinstance(v, torch.Tensor) else v for k, v in fields.items()})


def _shared(family: Family, device: torch.device | str) -> tuple[Posterior, ...]:
    """Its posteriors on a device, radius 0 of every method being one object again after a reading from disk."""
    keys = [same_member(m, r) for m, r in zip(family.method, family.radius)]
    moved = {key: _moved(q, device) for key, q in zip(keys, family.posterior)}
    return tuple(moved[key] for key in keys)
