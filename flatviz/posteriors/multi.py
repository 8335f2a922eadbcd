"""One posterior around each of several modes: MultiSWAG, and the same of any other method (Wilson & Izmailov 2020).

q(w) = 1/M sum_m q_m(w),   q_m = fit(the m-th network of an ensemble)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from flatviz.checks import Count, Momentum, NonNegative, Rate, Seed
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.posteriors.method import Method, Tuned, callable_of
from flatviz.results import Mixture, Posterior
from flatviz.training.gradient import Ascent
from flatviz.training.run import Checkpoint, Optim, Run, Training
from flatviz.training.starts import train_members


@public
def fit_multi(
    net: Net,
    data: Data,
    *,
    fit: Method | Callable[..., Posterior],
    seed: Seed,
    settings: Mapping[str, Any] | None = None,
    members: Count = 3,
    start: str = "auto",
    steps: Count = 150,
    lr: Rate = 0.05,
    momentum: Momentum = 0.9,
    weight_decay: NonNegative = 5e-4,
    batch_size: Count | None = 64,
    likelihood: Likelihood = "categorical",
    ascent: Ascent | None = None,
    training: Training | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Mixture:
    """Train an ensemble of `members` networks together, then `fit(net, data, seed=...)` at each; a mixture, equal weights.

    Args:
        fit: a record of `fv.METHODS`, as `METHODS["swag"]` for MultiSWAG, or a function that is called as `fit(net, data,
            seed=...)`.  A record that has `fit_members` trains all members at once.
        settings: keywords of each `fit`.
        members: modes; 3, beyond which few-shot networks differ little.
        start, steps, lr: of the ensemble, as in `fit_ensemble`.
        momentum, weight_decay, batch_size, likelihood, ascent: of the ensemble, and of each `fit` that is a record, takes
            them, and has none in `settings`.  BatchNorm statistics are the net's own.
        training: `Training(...)`, of the ensemble; without its validation also of each `fit` that is a record.
        checkpoint: first part of the paths to save to and resume from.  progress: True, None (where a terminal watches)
            or a function.

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> swags = dict(fit=fv.METHODS["swag"], settings=dict(rank=2, snapshots=3))
        >>> fv.fit_multi(net, task.train, **swags, seed=0, members=2, steps=20).sample(4, seed=1).shape
        torch.Size([4, 58])
    """
    run, part = Run.of(locals(), "members"), callable_of(fit)
    optim = Optim(steps, lr, momentum, weight_decay, batch_size)
    seeds = [seed + 1000 * member for member in range(members)]
    W, _ = train_members(net, data, seeds, start, optim, run, likelihood=likelihood, batchnorm="frozen", ascent=ascent)
    shared = dict(momentum=momentum, weight_decay=weight_decay, batch_size=batch_size, likelihood=likelihood, ascent=ascent)
    inner = _taken(fit, shared) if isinstance(fit, Method) else {}
    if training is not None and isinstance(fit, Method):
        inner["training"] = replace(training, validation=None)
    inner |= dict(settings or {})
    seeds = [s + 1 for s in seeds]
    if isinstance(fit, Method) and fit.fit_members is not None:
        path = None if checkpoint is None else f"{checkpoint}.parts"
        return Mixture(tuple(fit.fit_members(net, data, W, seeds=seeds, checkpoint=path, progress=progress, **inner)))
    parts = []
    for i, w in enumerate(track(W, "posteriors", progress)):
        if checkpoint is not None:
            inner["checkpoint"] = f"{checkpoint}.{i}"
        parts.append(part(net.at(w), data, seed=seeds[i], **inner))
    return Mixture(tuple(parts))


def _taken(method: Method, shared: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the ensemble's keywords that the method has; each fit of one network has a likelihood."""
    names = {*method.plain.settings, "likelihood", *(["ascent"] if method.look.flat else [])}
    return {name: value for name, value in shared.items() if name in names}


METHOD = Method(
    fit=fit_multi,
    inner="swag",
    plain=Tuned(dict(members=3, steps=300, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=None)),
)
