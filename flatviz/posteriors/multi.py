"""One posterior around each of several modes: MultiSWAG, and the same of any other method (Wilson & Izmailov 2020).

q(w) = 1/M sum_m q_m(w),   q_m = fit(the m-th network of an ensemble)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial

from flatviz.checks import check_count
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.results import Mixture, Posterior
from flatviz.storage.digest import arguments_digest
from flatviz.training.gradient import Ascent
from flatviz.training.loop import Checkpoint
from flatviz.training.starts import train_members


def fit_multi(
    net: Net,
    data: Data,
    *,
    fit: Callable[..., Posterior],
    seed: int,
    members: int = 3,
    start: str = "auto",
    steps: int = 150,
    lr: float = 0.05,
    momentum: float = 0.9,
    weight_decay: float = 5e-4,
    batch_size: int | None = 64,
    likelihood: Likelihood = "categorical",
    ascent: Ascent | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Mixture:
    """Train an ensemble of `members` networks together, then `fit(net, data, seed=...)` at each; a mixture, equal weights.

    fit: `fit_swag` gives MultiSWAG; `functools.partial(fit_swag, rank=3, ascent=SAM(0.1))` sets what it takes.  One that
    has `fit.together(net, data, W, seeds=...)`, as `fit_swag` has, is run for all members at once.
    start, steps, lr: of the ensemble, as in `fit_ensemble`.  momentum, weight_decay, batch_size, likelihood, ascent: of the
    ensemble and of each `fit` that takes them and does not set its own.  BatchNorm statistics are the net's own.
    checkpoint: the first part of the names of the files from which a stopped run goes on.
    Raises ValueError on bad data or divergence.
    """
    run = arguments_digest(locals())
    inner, own = (fit.func, dict(fit.keywords)) if isinstance(fit, partial) and not fit.args else (fit, {})
    shared = dict(momentum=momentum, weight_decay=weight_decay, batch_size=batch_size, likelihood=likelihood, ascent=ascent)
    own = {k: v for k, v in shared.items() if k in inspect.signature(inner).parameters} | own
    seeds = [seed + 1000 * member for member in range(check_count(members, "members"))]
    W, _ = train_members(
        net,
        data,
        seeds,
        start,
        steps=steps,
        lr=lr,
        batchnorm="frozen",
        **shared,
        checkpoint=checkpoint,
        run=run,
        progress=progress,
        label="members",
    )
    seeds = [s + 1 for s in seeds]
    if hasattr(inner, "together"):
        files = {} if checkpoint is None else {"checkpoint": f"{checkpoint}.parts"}
        return Mixture(tuple(inner.together(net, data, W, seeds=seeds, **{"progress": progress} | own | files)))
    parts = []
    for i, w in enumerate(track(W, "posteriors", progress)):
        files = {} if checkpoint is None else {"checkpoint": f"{checkpoint}.{i}"}
        parts.append(inner(net.at(w), data, seed=seeds[i], **own | files))
    return Mixture(tuple(parts))
