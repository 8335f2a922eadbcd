"""One posterior around each of several modes: MultiSWAG, and the same of any other method (Wilson & Izmailov 2020).

q(w) = 1/M sum_m q_m(w),   q_m = fit(the m-th network of an ensemble)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Unpack

from flatviz.checks import Count, Seed
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.progress import track
from flatviz.posteriors.method import Method, Tuned, callable_of
from flatviz.results import Mixture, Posterior
from flatviz.training.keywords import Run, Trained, defaults
from flatviz.training.sgd import train_members

SHARED = ("momentum", "weight_decay", "batch_size", "likelihood", "ascent")  # with the fit inside
SETTINGS = dict(members=3, steps=300, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=None)


@defaults(SETTINGS)
def fit_multi(
    net: Net,
    data: Data,
    *,
    fit: Method | Callable[..., Posterior],
    seed: Seed,
    settings: Mapping[str, Any] | None = None,
    members: Count,
    **how: Unpack[Trained],
) -> Mixture:
    """Train an ensemble of `members` networks together, then `fit(net, data, seed=...)` at each; a mixture, equal weights.

    momentum, weight_decay, batch_size, likelihood and ascent are of the ensemble, and of each `fit` that is a record, takes
    them, and has none in `settings`; so is `training`, without its validation.  BatchNorm statistics are the net's own.

    Args:
        net: Gives the architecture, and what is not drawn anew.
        data: The N training examples.
        fit: A record of `fv.METHODS`, as `METHODS["swag"]` for MultiSWAG, or a function that is called as `fit(net, data,
            seed=...)`.  A record that has `fit_members` trains all members at once.
        seed: Of starts, minibatches and each `fit`.
        settings: Keywords of each `fit`.
        members: Modes; 3, beyond which few-shot networks differ little.
        **how: How the ensemble is trained; `checkpoint` is the first part of the paths.

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
    run, part = Run.of("members", seed, how), callable_of(fit)
    W, _ = train_members(net, data, [seed + 1000 * member for member in range(members)], run, how, "frozen")
    seeds, checkpoint = [seed + 1000 * member + 1 for member in range(members)], run.checkpoint
    inner = _taken(fit, how) if isinstance(fit, Method) else {}
    if how["training"] is not None and isinstance(fit, Method):
        inner["training"] = replace(run.training, validation=None)
    inner |= dict(settings or {})
    if isinstance(fit, Method) and fit.fit_members is not None:
        path = None if checkpoint is None else f"{checkpoint}.parts"
        return Mixture(tuple(fit.fit_members(net, data, W, seeds=seeds, checkpoint=path, progress=run.progress, **inner)))
    parts = []
    for i, w in enumerate(track(W, "posteriors", run.progress)):
        if checkpoint is not None:
            inner["checkpoint"] = f"{checkpoint}.{i}"
        parts.append(part(net.at(w), data, seed=seeds[i], **inner))
    return Mixture(tuple(parts))


def _taken(method: Method, how: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the ensemble's keywords that the method has; each fit of one network has a likelihood."""
    names = {*method.plain.settings, "likelihood", *(["ascent"] if method.look.flat else [])}
    return {name: how[name] for name in SHARED if name in names}


METHOD = Method(fit=fit_multi, inner="swag", plain=Tuned(SETTINGS))
