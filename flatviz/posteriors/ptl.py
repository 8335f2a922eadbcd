"""Pre-train your loss: the source task's posterior, made wider, is the prior of the target task (Shwartz-Ziv et al. 2022).

    p(w) = N(m, scale Sigma + floor^2 I),   q = fit(net, data, prior=p)

m and Sigma are those that SWAG left on the source task, as `transfer` returns them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Unpack

from flatviz.checks import NonNegative, Seed
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.posteriors.method import Method, Tuned, callable_of
from flatviz.results import Gaussian, Posterior
from flatviz.training.keywords import Resumed, defaults

SETTINGS = dict(scale=1.0, floor=0.3)


@defaults(SETTINGS)
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
    **how: Unpack[Resumed],
) -> Posterior:
    """`fit(net, data, prior=the wider prior, seed=seed)`, from the prior's mean.

    Args:
        net: Which weights are treated; it starts at the prior's mean.
        data: The N training examples.
        prior: Over the D treated weights, as `transfer` returns.
        fit: A method that takes `prior=`: `fit_csgld` as in the paper, whose draws are colder than the posterior,
            `fit_sgld`, `fit_vi`, or a record of `fv.METHODS`.
        seed: Of `fit`.
        settings: Keywords of `fit`.
        scale: Factor on the covariance, 1e5 to 1e6 in the paper, for SWAG's is narrow; 1, because what `transfer` widened
            needs no more.
        floor: Standard deviation added everywhere, without which a weight that never moved could never move again, and
            its curvature would ask for tiny steps.
        **how: How it is run.

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
    return callable_of(fit)(start, data, prior=wide, seed=seed, **how, **(settings or {}))


def widened(prior: Gaussian, scale: float, floor: float) -> Gaussian:
    """The Gaussian with covariance scale Sigma + floor^2 I."""
    log_std = 0.5 * (scale * (2 * prior.log_std).exp() + floor**2).log()
    return Gaussian(prior.mean, log_std, prior.factor * scale**0.5)


METHOD = Method(fit=fit_ptl, inner="csgld", plain=Tuned(SETTINGS), needs_prior=True)
