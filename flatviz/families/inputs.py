"""Uncertainty in input space: what each member of a family predicts over a plane of inputs, beside HMC."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from flatviz.core.data import Task
from flatviz.core.net import Net
from flatviz.families.members import once, predicted, with_maps
from flatviz.results import Family, Posterior

MARGIN = 0.8  # beyond the data, in their unit, that a map shows
REFERENCE_DRAWS = 100  # of HMC, that its map averages


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
    family = replace(family, inputs=family.inputs | dict(a=a, b=b, x=task.train.x.cpu(), y=task.train.y.cpu()))
    if reference is not None:
        family.inputs["reference"] = input_row(net, task, family, reference, REFERENCE_DRAWS, seed=seed)["probs"][-1]
    return with_maps(family, once(family, lambda m: input_row(net, task, family, m.posterior, family.n_draws, seed=seed)))


def input_row(net: Net, task: Task, family: Family, q: Posterior, n_draws: int, *, seed: int) -> dict[str, Tensor]:
    """What one member predicts ("probs"), on the grid that the family has; {} where it has none.

    Probability of class 1 of ensembles of 1, 2 .. draws, (n_draws, G, G); of fewer draws the largest ensemble is repeated.
    """
    if "a" not in family.inputs:
        return {}
    a, b = family.inputs["a"], family.inputs["b"]
    grid = torch.stack(torch.meshgrid(a, b, indexing="xy"), -1).reshape(-1, 2).to(task.train.x)
    probs = predicted(net, q, grid, n_draws, seed=seed).probs[..., 1]
    n = len(probs)
    maps = (probs.cumsum(0) / torch.arange(1, n + 1).to(probs)[:, None]).reshape(n, len(b), len(a)).cpu()
    return {"probs": torch.cat([maps, maps[-1:].expand(n_draws - n, -1, -1)])}
