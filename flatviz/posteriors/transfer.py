"""From a pre-trained network to a Bayesian one: the transfer scheme of SA-BMA."""

from __future__ import annotations

import math

import torch

from flatviz.checks import check_nonnegative
from flatviz.core.net import Net
from flatviz.core.treated import Treated
from flatviz.results import Gaussian


def transfer(
    net: Net,
    prior: Gaussian,
    *,
    treated: Treated = "norm+head",
    head: str | None = None,
    head_std: float = 0.1,
    scale: float = 1.0,
) -> tuple[Net, Gaussian]:
    """A net restricted to a few weights, and the prior on them that the source task left.

    net: trained on the source, all weights treated; prior: a Gaussian over those, `fit_swag(net, source)`, say.
    treated: "norm+head" (default), or a function of the name; the others stay at `prior.mean`, their source value.
    The head, which the target task does not share, is re-initialised: mean 0, standard deviation `head_std`, no
    covariance.  `scale` multiplies the covariance of all other treated weights: SWAG's is narrow, and radius and
    ensemble size only matter for a posterior that is wide enough.
    Returns (net, prior): the net stands at the prior's mean, both over the D treated weights.
    Raises ValueError where prior and net differ in length, or `treated` finds nothing.
    """
    if prior.dim != net.dim:
        raise ValueError(f"prior must cover the net's {net.dim} weights, got {prior.dim}: fit it on the same net")
    for name, value in (("head_std", head_std), ("scale", scale)):
        if check_nonnegative(value, name) == 0:
            raise ValueError(f"{name} must be > 0, got 0: a prior without width never moves")
    narrow = net.at(prior.mean.to(net.w)).restrict(treated, head=head)
    source = {b.name: b for b in net.blocks}
    missing = [b.name for b in narrow.blocks if b.name not in source]
    if missing:
        raise ValueError(f"the prior must cover every treated weight, got none for {missing[0]}: pre-train all weights")
    keep = torch.cat([torch.arange(source[b.name].start, source[b.name].stop) for b in narrow.blocks]).to(prior.mean.device)
    mean = prior.mean[keep].clone()
    log_std = prior.log_std[keep] + 0.5 * math.log(scale)
    factor = prior.factor[:, keep] * math.sqrt(scale)
    for b in narrow.blocks:
        if b.kind == "head":
            mean[b.slice], log_std[b.slice], factor[:, b.slice] = 0.0, math.log(head_std), 0.0
    return narrow.at(mean), Gaussian(mean, log_std, factor)
