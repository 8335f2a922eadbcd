"""From a pre-trained network to a Bayesian one: the transfer scheme of SA-BMA, and its priors.

source prior      SWAG on the source task: `transfer(source, fit(source, data, SWAG(), seed=0))`
MOPED prior       without a second training: `transfer(source, moped_prior(source))`
downstream prior  (F-)SWAG on few target examples: `transfer(net, swag, keep_head=True)`
"""

import math
import warnings
from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor, nn

from flatviz.checks import Count, Positive, Seed
from flatviz.core import (
    Data,
    Net,
    RandomTrunk,
    Treated,
    classes_of,
    find_head,
    public,
    replace_head,
)
from flatviz.core.net import Block
from flatviz.engine.batchnorm import with_trained_buffers
from flatviz.gaussian import Gaussian
from flatviz.posteriors.width import HeadInputs, change_text

HEAD_STD = 0.1  # of a new head's weights
SHARE = 0.05  # standard deviation of a weight over its size
STD_FLOOR = 1e-4  # a weight that is 0 would have std 0 under MOPED
LOG_ZERO = -1000.0  # whose exponential, a standard deviation, is 0 in float64 too


@public
def transfer(
    net: Net,
    prior: Gaussian,
    *,
    n_classes: Count | None = None,
    treated: Treated = "norm+head",
    head: str | None = None,
    head_std: Positive | None = None,
    head_start: Literal["zero", "random"] = "zero",
    keep_head: bool = False,
    scale: Positive = 1.0,
    trunk: Literal["fixed", "sampled"] = "fixed",
    data: Data | None = None,
    seed: Seed = 0,
) -> tuple[Net, Gaussian]:
    """Restrict a net to a few weights, and its source posterior to a prior on them: (net, prior).

    The new net is at the prior's mean, both over the D treated weights.

    Args:
        net: Trained on the source, all weights treated.
        prior: Gaussian over those, as `fit` of `SWAG` returns.
        n_classes: Classes of the target task: where the source had others, the net gets a new head
            of so many outputs.  None: the same.
        treated: "norm+head" (normalisation layers by type, those of shortcuts included, and head),
            "head", "authors" (by parts of the name, as SA-BMA's released code: without the
            shortcuts' BatchNorm), or a function name -> bool; the others stay at `prior.mean`.  The
            first three leave out weights that the user's module has frozen.
        head: The head's module by name (default: the last Linear that runs).  The target task does
            not share it, so it is re-initialised.
        head_std: Standard deviation of the new head's weights (the square root of the released
            code's alpha), without covariance.  None: 0.1, or with `data` 3 / (root mean square
            length of what the head reads), so that outputs have a deviation of 3.
        head_start: "zero": mean 0; "random": torch's initial values for `seed`.  With treated="all"
            or a function, a head that is neither new nor named here is taken from the prior like
            the rest.
        keep_head: The prior knows the target's head, as one fitted on target data does: the head is
            taken from it like the rest.
        scale: Multiplies the covariance of all other treated weights: SWAG's is narrow, and radius
            and ensemble size only matter for a posterior that is wide enough (the digits use 64).
        trunk: "fixed" keeps the weights that are not treated at `prior.mean`; "sampled", as the
            released code does, draws them from the prior with every pass of training and every draw
            of a prediction.  Objectives, spectra and figures are of the network with the trunk at
            its mean either way.  HMC and Laplace, which need a function of w, refuse such a net.
        data: Examples of the target, whose labels are not read: they give the head's width, and
            there is a warning if draws of the other treated weights change what the head reads by
            more than 0.3 of its size, so that features do not survive.
        seed: Fixes a random head, and the draws of a sampled trunk in training.

    Raises:
        ValueError: If prior and net differ in length, `treated` finds nothing, or a new head is not
            treated.

    Example:
        >>> import torch, flatviz as fv
        >>> nn = torch.nn
        >>> module = nn.Sequential(nn.Linear(2, 4), nn.LayerNorm(4), nn.Linear(4, 3))
        >>> source = fv.Net.from_module(module)
        >>> swag = fv.Gaussian(source.w, torch.full_like(source.w, -4.0))
        >>> net, prior = fv.transfer(source, swag)  # 8 weights of the LayerNorm, 15 of the head
        >>> prior, net.dim
        (Gaussian(dim=23, rank=0), 23)
        >>> fv.transfer(source, swag, n_classes=5)[0]  # 25 of the head
        Net(Sequential, dim=33: 8 norm, 25 head)
    """
    if prior.dim != net.dim:
        raise ValueError(
            f"prior must cover the net's {net.dim} weights, got {prior.dim}: fit it on the same net"
        )
    trained = with_trained_buffers(net, prior.buffers).at(prior.mean.to(net.w))
    redrawn = head_start == "random" and not keep_head
    at_mean, new_head = _with_classes(trained, n_classes, head, redrawn, seed)
    if new_head is not None and keep_head:
        raise ValueError(
            "keep_head=True takes the head from the prior, got n_classes of a new one: leave one of"
            " them out"
        )
    narrow = at_mean.restrict(treated, head=new_head or head)
    names = [b.name for b in narrow.blocks]
    if new_head is not None and not any(name.startswith(f"{new_head}.") for name in names):
        raise ValueError(f"treated must choose the new head {new_head!r}, got {names[:3]}, ...")
    shared = [b.name for b in narrow.blocks if b.kind == "head" and b.name in narrow.tied]
    if shared and not keep_head:
        raise ValueError(
            f"a head that starts anew must have its own weights, got {narrow.tied[shared[0]][0]},"
            f" which is {shared[0]}: give keep_head=True, or n_classes of a new head"
        )
    sources = {b.name: b for b in net.blocks}
    reads = None if data is None else HeadInputs(narrow, data, new_head or head)
    if head_std is None:
        head_std = HEAD_STD if reads is None else reads.head_std()
    parts = []
    for b in narrow.blocks:
        if b.kind == "head" and not keep_head:
            start = narrow.w[b.slice].to(prior.mean)
            if head_start != "random":
                start = torch.zeros_like(start)
            parts.append(_independent(start, math.log(head_std), prior))
        elif b.name in sources:
            parts.append(_part_of(prior, sources[b.name], scale))
        else:
            raise ValueError(
                f"the prior must cover every treated weight, got none for {b.name}: pre-train all"
                " weights"
            )
    task_prior = _joined(parts)
    if reads is not None:
        if text := change_text(reads.change(task_prior.log_std.exp(), task_prior.factor)):
            warnings.warn(text, stacklevel=3)
    narrow = narrow.at(task_prior.mean.to(narrow.w))
    if trunk == "sampled":
        narrow = _with_random_trunk(narrow, sources, prior, scale, seed)
    return narrow, task_prior


@public
def moped_prior(
    net: Net,
    *,
    share: Positive | None = None,
    floor: Positive = STD_FLOOR,
    data: Data | None = None,
) -> Gaussian:
    """Build a prior without training: mean at the net's weights, deviations share |w|.

    They are at least `floor`, for instance at a bias of 0; the released SA-BMA code gives all
    normalisation weights a standard deviation of 1e-8.

    Source: MOPED, Krishnan et al. 2020 (arXiv 1906.05323).

    Args:
        net: Network whose treated weights (D,) are the mean.
        share: Standard deviation of a weight over its size; 0.05 to 0.5 in the paper.  None: 0.05,
            or by `data`.
        floor: Smallest standard deviation, in units of w.
        data: Examples of the target, whose labels are not read.  With them the head, where it is
            treated, has mean 0 and a width by which outputs have a deviation of 3; and without a
            `share` it is halved from 0.3 until draws of the other treated weights change what the
            head reads by at most 0.3 of its size.  So give a net of the weights to be fitted.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> std = fv.posteriors.moped_prior(net, share=0.1).std
        >>> bool((std <= 0.1 * net.w.abs() + 1e-4).all())
        True
    """
    mean = net.w.detach().clone()
    if data is None:
        std = ((SHARE if share is None else share) * mean.abs()).clamp_min(floor)
        return Gaussian(mean, std.log())
    reads = HeadInputs(net, data)
    share = reads.share(floor) if share is None else share
    std = (share * mean.abs()).clamp_min(floor)
    for block in net.blocks:
        if reads.of_head(block.name):
            mean[block.slice] = 0
            std[block.slice] = reads.head_std()
    return Gaussian(mean, std.log())


def _with_classes(
    net: Net, n_classes: int | None, head: str | None, random: bool, seed: int
) -> tuple[Net, str | None]:
    """Return the net with a head of so many classes, and that head's name.

    Return the net itself and None where it has one already.
    """
    if n_classes is None and not random:
        return net, None
    name = head if head is not None else find_head(net.module, net.example)
    classes = classes_of(net.module, name)
    if n_classes in (None, classes) and not random:
        return net, None
    module: nn.Module = net.to_module().eval()
    replace_head(module, n_classes or classes, head=name, seed=seed)
    return Net.from_module(module, head=name, example=net.example), name


Part = tuple[Tensor, Tensor, Tensor]  # mean, log_std and factor of one tensor of weights


def _part_of(prior: Gaussian, block: Block, scale: float) -> Part:
    """Return the part of a block, its covariance multiplied by `scale`."""
    log_std = prior.log_std[block.slice] + 0.5 * math.log(scale)
    factor = prior.factor[:, block.slice] * math.sqrt(scale)
    return prior.mean[block.slice], log_std, factor


def _independent(mean: Tensor, log_std: float, prior: Gaussian) -> Part:
    """Return a part with one deviation for all its weights, and a factor of 0."""
    factor = prior.factor.new_zeros(prior.rank, len(mean))
    return mean, torch.full_like(mean, log_std), factor


def _joined(parts: list[Part]) -> Gaussian:
    mean, log_std, factor = (torch.cat(part, -1) for part in zip(*parts))
    return Gaussian(mean, log_std, factor)


def _with_random_trunk(
    narrow: Net,
    sources: Mapping[str, Block],
    prior: Gaussian,
    scale: float,
    seed: int,
) -> Net:
    """Return the net with its other weights drawn from the source's prior, where it has them."""
    full = narrow.restrict("all")
    treated = {b.name for b in narrow.blocks}
    parts = []
    for b in full.blocks:
        if b.name in sources and b.name not in treated:
            parts.append(_part_of(prior, sources[b.name], scale))
        else:
            w = full.w[b.slice].to(prior.mean)
            parts.append(_independent(w, LOG_ZERO, prior))
    places = [torch.arange(b.start, b.stop) for b in full.blocks if b.name in treated]
    index = torch.cat(places).to(full.device)
    return narrow.with_trunk(RandomTrunk(_joined(parts), index, seed))
