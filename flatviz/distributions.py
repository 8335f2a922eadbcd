"""Moments and distribution functions, with those that `torch.distributions` lacks."""

import torch
from torch import Tensor
from torch.distributions import Cauchy, Distribution, HalfCauchy, Independent, StudentT


def entrywise(p: Distribution) -> Distribution:
    """Return `p` without `Independent`: each target separately."""
    while isinstance(p, Independent):
        p = p.base_dist
    return p


def mean(p: Distribution) -> Tensor:
    """Compute the mean of each target; a ValueError where it has none, or none in closed form."""
    return _moment(entrywise(p), "mean")


def variance(p: Distribution) -> Tensor:
    """Compute the variance of each target; a ValueError as in `mean`."""
    return _moment(entrywise(p), "variance")


def _moment(q: Distribution, name: str) -> Tensor:
    try:
        value: Tensor | None = None if isinstance(q, (Cauchy, HalfCauchy)) else getattr(q, name)
    except NotImplementedError:
        value = None
    if value is not None:
        parameters = [t for t in vars(q).values() if isinstance(t, Tensor)]
        # NaN of a diverged draw is in its parameters too, and stays
        if not bool(value.isnan().any()) or any(bool(t.isnan().any()) for t in parameters):
            return value
    raise ValueError(
        f"a {name} needs a distribution that has one in closed form, got {q}: read quantile(0.5)"
        " and other quantiles, or sample"
    )


def cdf(p: Distribution, y: Tensor) -> Tensor:
    """Compute P(Y <= y) of each target; a NotImplementedError where it has no closed form."""
    q = entrywise(p)
    if not isinstance(q, StudentT):
        return q.cdf(y)
    from scipy.special import stdtr  # imported here, as predictions need no scipy

    return _by_scipy(stdtr, q.df, (y - q.loc) / q.scale)


def icdf(p: Distribution, level: Tensor) -> Tensor:
    """Compute the quantile at `level`; a NotImplementedError where it has no closed form."""
    q = entrywise(p)
    if not isinstance(q, StudentT):
        return q.icdf(level)
    from scipy.special import stdtrit

    return q.loc + q.scale * _by_scipy(stdtrit, q.df, level)


def _by_scipy(function, df: Tensor, at: Tensor) -> Tensor:
    values = function(df.detach().double().cpu(), at.detach().double().cpu())
    return torch.as_tensor(values).to(at)


def softplus_inverse(value: Tensor) -> Tensor:
    """Compute s with softplus(s) = value > 0."""
    smallest = torch.finfo(value.dtype).tiny
    return value + torch.log(-torch.expm1(-value.clamp_min(smallest)))
