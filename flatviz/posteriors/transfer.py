"""From a pre-trained network to a Bayesian one: the transfer scheme of SA-BMA."""

from __future__ import annotations

import math

import torch

from flatviz.core.boundary import public
from flatviz.core.net import Net
from flatviz.core.treated import Treated
from flatviz.gaussian import Gaussian


@public
def transfer(
    net: Net,
    prior: Gaussian,
    *,
    treated: Treated = "norm+head",
    head: str | None = None,
    head_std: float = 0.1,
    scale: float = 1.0,
) -> tuple[Net, Gaussian]:
    """A net restricted to a few weights, and the prior on them that the source task left: (net, prior).

    net: trained on the source, all weights treated; prior: a Gaussian over those, `fit_swag(net, source)`, say.
    treated: "norm+head" (normalisation layers and head), or a function name -> bool; the others stay at `prior.mean`.
    head: the head's module by name (default: the last Linear that runs).  The target task does not share it, so it is
        re-initialised: mean 0, standard deviation `head_std`, no covariance.
    scale: multiplies the covariance of all other treated weights: SWAG's is narrow, and radius and ensemble size only
        matter for a posterior that is wide enough (the digits use 64).
    The net that is returned stands at the prior's mean, both over the D treated weights.
    Raises ValueError where prior and net differ in length, or `treated` finds nothing.

    Example:
        >>> import torch, flatviz as fv
        >>> module = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.LayerNorm(4), torch.nn.Linear(4, 3))
        >>> source = fv.Net.from_module(module)
        >>> swag = fv.Gaussian(source.w, torch.full_like(source.w, -4.0))
        >>> net, prior = fv.transfer(source, swag)  # 8 weights of the LayerNorm, 15 of the head
        >>> prior, net.dim
        (Gaussian(dim=23, rank=0), 23)
    """
    if prior.dim != net.dim:
        raise ValueError(f"prior must cover the net's {net.dim} weights, got {prior.dim}: fit it on the same net")
    if scale == 0:
        raise ValueError("scale must be > 0, got 0: a prior without width never moves")
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
