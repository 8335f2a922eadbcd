"""A family under other noise: the same members fitted again with other seeds, and four numbers of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from flatviz.checks import Seed
from flatviz.core.boundary import public
from flatviz.core.data import Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.families.choice import Choices
from flatviz.families.family import QUANTITIES, member_values
from flatviz.families.members import count, fit_all, predicted, same_member
from flatviz.landscape.lanczos import top_eigenpairs
from flatviz.objectives.nll import nll
from flatviz.results import Family, Gaussian, Posterior

ITERS = 30  # Hessian products for one eigenvalue


@public
def repeat_family(
    net: Net,
    task: Task,
    prior: Gaussian,
    family: Family,
    *,
    seeds: Sequence[Seed],
    fit: Mapping[str, Any] | None = None,
    tuned: Choices | None = None,
    progress: Progress = False,
) -> Family:
    """The measured family with `over_seeds`: each member fitted again with every one of `seeds`, and measured.

    Data, pre-trained network and prior stay; the noise of fit and draws changes, so what spreads over seeds is what that
    noise does.  The radii of a method are trained together, with all seeds at once, where the network allows it.
    over_seeds of a member: "lambda1", the mean over as many draws as the family has spectra; "accuracy", "nll" and "ece" of the
    test split at the family's largest ensemble; (1 + seeds,) each, the value of the member itself first, NaN where a fit diverged.

    Args:
        net: as for `fit_family`.
        task: as for `fit_family`.
        prior: as for `fit_family`.
        family: what `measure` returned.
        seeds: those of the noise, without that of the family.
        fit: as in `fit_family`.
        tuned: as in `fit_family`.
        progress: True, None (where a terminal watches) or a function.

    Raises:
        ValueError: For a family that was not measured.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> source = fv.pretrain(fv.models.mlp(task, hidden=(8,)), task.source, seed=0, epochs=3)
        >>> net, prior = fv.transfer(source, fv.fit_swag(source, task.source, seed=0), treated="norm+head")
        >>> family = fv.families.fit_family(net, task, prior, radii={"vi": (0.0,), "sabma": (0.0, 0.5)}, seed=0, fit={"steps": 2})
        >>> small = dict(n_draws=3, n_spectra=1, k=2, resolution=5, around_resolution=3)
        >>> measured = fv.families.measure(net, task, family, seed=0, **small)
        >>> repeated = fv.families.repeat_family(net, task, prior, measured, seeds=[1, 2], fit={"steps": 2})
        >>> repeated[2].over_seeds["nll"].shape
        torch.Size([3])
    """
    if not family.measured:
        raise ValueError("the family must be measured before it is repeated, got posteriors only: use fv.families.measure")
    keys = [same_member(m.method, m.radius, tuned) for m in family]
    sizes = family.n_draws, max(map(len, family.spectrum))
    columns = [torch.stack([member_values(m.spectrum, m.prediction) for m in family])]
    fitted = fit_all(net, task, prior, dict.fromkeys(keys), seeds, fit=fit, tuned=tuned, progress=progress)
    for seed in track(list(seeds), "seeds", progress):
        rows = {key: _values(net, task, fitted.get((*key, seed)), *sizes, seed + 1) for key in dict.fromkeys(keys)}
        columns.append(torch.stack([rows[key] for key in keys]))
    table = torch.stack(columns, -1)  # (M, 4, 1 + seeds)
    return family.each(over_seeds=[dict(zip(QUANTITIES, rows)) for rows in table])


def _values(net: Net, task: Task, q: Posterior | None, n_draws: int, n_spectra: int, seed: int) -> Tensor:
    """`member_values` of one posterior; NaN where its fit diverged."""
    if q is None:
        return torch.full((len(QUANTITIES),), torch.nan)
    W, f = q.sample(count(q, n_draws), seed=seed), nll(net, task.train)
    spectra = [top_eigenpairs(f, w, 1, iters=ITERS, seed=seed) for w in W[:n_spectra]]
    return member_values(spectra, predicted(net, q, task.test, n_draws, seed=seed))
