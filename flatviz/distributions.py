"""Moments and distribution functions that `torch.distributions` lacks, and other deviations."""

from typing import cast

import torch
from torch import Tensor
from torch.distributions import (
    AffineTransform,
    Cauchy,
    Distribution,
    HalfCauchy,
    Independent,
    Normal,
    StudentT,
    TransformedDistribution,
)
from torch.distributions.constraints import Constraint


def entrywise(p: Distribution) -> Distribution:
    """Return `p` without `Independent`: each target separately."""
    while isinstance(p, Independent):
        p = p.base_dist
    return p


def _standard(p: Distribution) -> tuple[Distribution, Tensor | float, Tensor | float]:
    """Return (q, shift, scale) such that p is the distribution of shift + scale y with y ~ q.

    scale > 0.  q is p itself where no such form is known.
    """
    if type(p) is not TransformedDistribution:
        return p, 0.0, 1.0
    q, shift, scale = _standard(p.base_dist)
    for map_ in p.transforms:
        if not isinstance(map_, AffineTransform):
            return p, 0.0, 1.0
        if bool((torch.as_tensor(map_.scale) <= 0).any()):
            return p, 0.0, 1.0
        shift = map_.loc + map_.scale * shift
        scale = map_.scale * scale
    return q, shift, scale


def mean(p: Distribution) -> Tensor:
    """Compute the mean of each target; a ValueError where it has none, or none in closed form."""
    q, shift, scale = _standard(entrywise(p))
    return shift + scale * _moment(q, "mean")


def variance(p: Distribution) -> Tensor:
    """Compute the variance of each target; a ValueError as in `mean`."""
    q, _, scale = _standard(entrywise(p))
    return scale * scale * _moment(q, "variance")


def _moment(q: Distribution, name: str) -> Tensor:
    undefined = f"a {name} needs a distribution that has one in closed form, got {q}"
    way_out = "read quantile(0.5) and other quantiles, or sample"
    if isinstance(q, (Cauchy, HalfCauchy)):
        raise ValueError(f"{undefined}: {way_out}")
    try:
        value = getattr(q, name)
    except NotImplementedError:
        raise ValueError(f"{undefined}: {way_out}") from None
    lost = int(value.isnan().sum())
    parameters = [t for t in vars(q).values() if isinstance(t, Tensor)]
    diverged = any(bool(t.isnan().any()) for t in parameters)
    # NaN of a diverged draw is in its parameters too, and stays
    if lost and parameters and not diverged:
        raise ValueError(
            f"{undefined}, of which {lost} of {value.numel()} have no {name} (one of StudentT needs"
            f" df > 1): {way_out}"
        )
    return value


def cdf(p: Distribution, y: Tensor) -> Tensor:
    """Compute P(Y <= y) of each target; a NotImplementedError where it has no closed form."""
    q, shift, scale = _standard(entrywise(p))
    y = (y - shift) / scale
    if not isinstance(q, StudentT):
        return _bounded_cdf(q, y)
    from scipy.special import stdtr  # imported here, as predictions need no scipy

    return _by_scipy(stdtr, q.df, (y - q.loc) / q.scale)


def _bounded_cdf(q: Distribution, y: Tensor) -> Tensor:
    """Compute P(Y <= y), which is 0 below the support and 1 above it, where torch refuses y."""
    if type(q).cdf is not TransformedDistribution.cdf:
        return q.cdf(_within(cast(Constraint, q.support), y))
    q = cast(TransformedDistribution, q)
    rises: Tensor | int = 1
    for map_ in reversed(q.transforms):
        y = map_.inv(_within(map_.codomain, y))
        rises = rises * map_.sign
    below = _bounded_cdf(q.base_dist, y)
    return torch.where(torch.as_tensor(rises) > 0, below, 1 - below)


def _within(support: Constraint, y: Tensor) -> Tensor:
    """Move numbers beyond an interval to its nearest end."""
    for end, nearest in (("lower_bound", torch.maximum), ("upper_bound", torch.minimum)):
        bound = getattr(support, end, None)
        if bound is not None:
            y = nearest(y, torch.as_tensor(bound).to(y))
    return y


def icdf(p: Distribution, level: Tensor) -> Tensor:
    """Compute the quantile at `level`; a NotImplementedError where it has no closed form."""
    q, shift, scale = _standard(entrywise(p))
    if not isinstance(q, StudentT):
        return shift + scale * q.icdf(level)
    from scipy.special import stdtrit

    at = _by_scipy(stdtrit, q.df, level)
    return shift + scale * (q.loc + q.scale * at)


def _by_scipy(function, df: Tensor, at: Tensor) -> Tensor:
    numbers = [t.detach().double().cpu().numpy() for t in (df, at)]
    return torch.as_tensor(function(*numbers)).to(at)


def stretched(p: Distribution, center: Tensor, scale: float) -> Distribution:
    """Return the distribution of center + scale (Y - center), with the event shape of `p`."""
    if isinstance(p, Independent):
        inner = stretched(p.base_dist, center, scale)
        return Independent(inner, p.reinterpreted_batch_ndims)
    moved = AffineTransform(center * (1 - scale), scale)
    if isinstance(p, Normal):
        return Normal(moved(p.loc), scale * p.scale)
    return TransformedDistribution(p, [moved])


def softplus_inverse(value: Tensor) -> Tensor:
    """Compute s with softplus(s) = value > 0."""
    positive = value.clamp_min(torch.finfo(value.dtype).tiny)
    return value + torch.log(-torch.expm1(-positive))
