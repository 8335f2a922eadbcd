"""Methods that take another one.

a posterior around each of several modes, and a prior from the source task's posterior.

One posterior around each of several modes: MultiSWAG, and the same of any other method (Wilson &
Izmailov 2020).

q(w) = 1/M sum_m q_m(w),   q_m = fit(the m-th network of an ensemble)

Pre-train your loss: the source task's posterior, widened, is the prior of the target task
(Shwartz-Ziv et al. 2022).

    p(w) = N(m, scale Sigma + floor^2 I),   q = fit(net, data, prior=p)

m and Sigma are those that SWAG left on the source task, as `transfer` returns them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Unpack

from flatviz.checks import Count, NonNegative, Seed
from flatviz.core import Data, Net, track
from flatviz.posteriors.method import Method, Tuned, callable_of
from flatviz.results import Gaussian, Mixture, Posterior
from flatviz.training.keywords import Judged, Run, Trained, defaults
from flatviz.training.points import train_members

SHARED = ("momentum", "weight_decay", "batch_size", "likelihood", "ascent")  # with the fit inside
SETTINGS = dict(members=3, steps=300, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=None)

WIDER = dict(scale=1.0, floor=0.3)


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
    """Train an ensemble of `members` networks together, then call `fit(net, data, seed=...)` at each; returns a mixture of equal weights.

    momentum, weight_decay, batch_size, likelihood and ascent are of the ensemble, and of each `fit`
    that is a record, takes them, and has none in `settings`; so is `training`, without its
    validation.  BatchNorm statistics are those of the net.

    Args:
        net: Gives the architecture, and what is not drawn anew.
        data: The N training examples.
        fit: A record of `fv.METHODS`, as `METHODS["swag"]` for MultiSWAG, or a function that is
            called as `fit(net, data, seed=...)`.
        seed: Fixes starts, minibatches and each `fit`.
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
    run = Run.of("members", seed, how)
    part = callable_of(fit)
    modes = train_members(
        net, data, [seed + 1000 * member for member in range(members)], run, how, "frozen"
    )
    inner: dict[str, Any] = {}
    if isinstance(
        fit, Method
    ):  # the ensemble's keywords that this method has; every fit takes a likelihood
        names = {
            *fit.plain.settings,
            "likelihood",
            *(["ascent"] if fit.look.flat else []),
        }.intersection(SHARED)
        inner = {name: value for name, value in how.items() if name in names}
        inner |= (
            {"training": replace(run.training, validation=None)}
            if how["training"] is not None
            else {}
        )
    inner |= dict(settings or {})
    parts = []
    for i, w in enumerate(track(modes.W, "posteriors", run.progress)):
        if run.checkpoint is not None:
            inner["checkpoint"] = f"{run.checkpoint}.{i}"
        parts.append(part(net.at(w), data, seed=seed + 1000 * i + 1, **inner))
    return Mixture(tuple(parts))


@defaults(WIDER)
def fit_ptl(
    net: Net,
    data: Data,
    prior: Gaussian,
    *,
    fit: Method | Callable[..., Posterior],
    seed: Seed,
    settings: Mapping[str, Any] | None = None,
    scale: NonNegative,
    floor: NonNegative,
    **how: Unpack[Judged],
) -> Posterior:
    """Run `fit(net, data, prior=the wider prior, seed=seed)` from the prior's mean.

    Args:
        net: Network over whose treated weights q is; it starts at the prior's mean.
        data: The N training examples.
        prior: Over the D treated weights, as `transfer` returns.
        fit: A method that takes `prior=`: `fit_csgld` as in the paper, whose draws are colder than
            the posterior, `fit_sgld`, `fit_vi`, or a record of `fv.METHODS`; it is given the
            keywords below too.
        seed: Fixes `fit`.
        settings: Keywords of `fit`.
        scale: Factor on the covariance, 1e5 to 1e6 in the paper, for SWAG's is narrow; 1, because
            what `transfer` widened needs no more.
        floor: Standard deviation added everywhere, without which a weight that never moved could
            never move again, and its curvature would ask for tiny steps.
        **how: How `fit` is run.

    Raises:
        ValueError: For a scale or floor below 0, or both 0.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> prior = fv.fit_swag(net, task.source, seed=0, snapshots=5)
        >>> fv.fit_ptl(net, task.train, prior, fit=fv.fit_sgld, settings=dict(n_draws=2, burn_in=5), seed=0).W.shape
        torch.Size([2, 58])
    """
    if scale == 0 and floor == 0:
        raise ValueError("the prior must have a width, got scale=0 and floor=0: raise one of them")
    wide = widened(prior, scale, floor)
    start = net.at(wide.mean.to(net.w))
    return callable_of(fit)(start, data, prior=wide, seed=seed, **{**how, **(settings or {})})


def widened(prior: Gaussian, scale: float, floor: float) -> Gaussian:
    """The Gaussian with covariance scale Sigma + floor^2 I."""
    log_std = 0.5 * (scale * (2 * prior.log_std).exp() + floor**2).log()
    return Gaussian(prior.mean, log_std, prior.factor * scale**0.5)


METHOD = Method(fit=fit_multi, inner="swag", plain=Tuned(SETTINGS))
PTL = Method(fit=fit_ptl, inner="csgld", plain=Tuned(WIDER), needs_prior=True)
