"""Predictions of a posterior, from its draws or from the linearised network.

    f(x; w) ~ f(x; m) + J(x) (w - m),   so f ~ N(f(x; m), V),   V = J Sigma J^T  (C, C)

is the prediction for which Laplace's curvature is exact.  It serves any `Gaussian`: SWAG, VI,
SA-BMA, and posteriors with `outputs`.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Literal

import torch
from torch import Tensor

from flatviz.checks import Count, Seed, check_many_weights, check_weights, kind, shown
from flatviz.core import (
    Data,
    Inputs,
    Likelihood,
    Net,
    Progress,
    generator,
    public,
    randn_like,
    saved_rng,
    track,
)
from flatviz.core.data import inputs_of
from flatviz.core.inputs import warn_of_bytes
from flatviz.engine.batchnorm import check_batchnorm, refresh_batchnorm, with_trained_buffers
from flatviz.engine.determinism import RANDOM, check_logits, passing
from flatviz.engine.stacked import forward
from flatviz.gaussian import Buffers, Gaussian
from flatviz.likelihood import CategoricalLikelihood, as_likelihood
from flatviz.objectives.curvature import Linearised
from flatviz.objectives.jacobians import jacobian_chunks
from flatviz.objectives.network import in_precision
from flatviz.objectives.problem import examined
from flatviz.results import Prediction
from flatviz.weight_space import (
    AnyPosterior,
    OutputPosterior,
    Posterior,
    center_buffers,
    drawn_buffers,
)

Examples = Annotated[
    Tensor | Inputs | Data | Mapping | tuple,
    kind(
        (Tensor, Inputs, Data, Mapping, tuple),
        "a tensor of inputs (N, ...), a dict or tuple of tensors, or fv.Data(x, y)",
    ),
]
Linearisable = Annotated[
    Gaussian | OutputPosterior,
    kind(
        (Gaussian, OutputPosterior),
        "a Gaussian",
        "fv.transfer and fv.SWAG return one, else use predict",
    ),
]


@public
def predict(
    net: Net,
    posterior: AnyPosterior,
    x: Examples,
    n_draws: Count,
    *,
    seed: Seed,
    batchnorm: Literal["frozen"] | Data | None = None,
    likelihood: Likelihood = "categorical",
    linearised: bool | None = None,
    progress: Progress = False,
) -> Prediction:
    """Compute the outputs (S, N, C) of S = `n_draws` draws on `x` (N, ...).

    With a `Data`, also compute the scores of every ensemble size.  A net with a sampled trunk
    (`transfer(trunk="sampled")`) gets another trunk with each draw.

    Args:
        net: The network.
        posterior: A posterior, or weight vectors (S, D), of which the first `n_draws` are used in
            order, whatever the seed.
        x: Inputs (N, ...) alone, a tensor, a dict or a tuple of tensors; or a `Data`.
        n_draws: S, the ensemble size; scores are for 1..S.
        seed: Fixes the draws.
        batchnorm: Needed only by a net with BatchNorm: "frozen" uses the net's statistics, or those
            that a fit with batchnorm="train" stored in the posterior; a `Data` re-estimates them
            for each draw.
        likelihood: "categorical", the standard deviation of Gaussian noise, or a `Likelihood`.
        linearised: Whether a draw w predicts by the network linearised at the center m, f(m) + J (w
            - m); None: for Laplace's posteriors alone, whose curvature is that network's.  Their
            draws are too wide for the network itself, most of all for outputs of mean and variance.
        progress: True for a bar, or a function (done, total, label) that is called before each
            step.

    Raises:
        ValueError: For n_draws < 1, more draws than there are, a posterior of another length,
            inputs the net cannot take, a net that draws random numbers, or a net with BatchNorm and
            no choice.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.ones(4, 2), torch.tensor([0, 1, 2, 2]))
        >>> q = fv.Gaussian(net.w, torch.full_like(net.w, -1.0))
        >>> prediction = fv.predict(net, q, data, 5, seed=0)
        >>> prediction.outputs.shape, prediction.scores["nll"].shape
        (torch.Size([5, 4, 3]), torch.Size([5]))
    """
    mode = check_batchnorm(net, batchnorm)
    inputs = inputs_of(x)
    check_inputs(net, inputs)
    if isinstance(posterior, Tensor) and n_draws > len(posterior):
        raise ValueError(
            f"asked for {n_draws} draws, got {len(posterior)} weight vectors: lower n_draws, or"
            " give more"
        )
    if isinstance(posterior, Tensor):
        W = posterior[:n_draws]
    else:
        W = posterior.sample(n_draws, seed=seed)
    in_precision(check_many_weights(W, net.dim, "draws"), net)
    trunk = "fixed" if net.trunk is None else "sampled"
    if net.trunk is not None:
        W = net.trunk.joined(W, seed=seed)
        net = net.restrict("all")
    buffers = drawn_buffers(posterior, n_draws, seed)
    fresh = batchnorm if isinstance(batchnorm, Data) and net.has_batchnorm else None

    def there(w: Tensor, trained: Buffers) -> Net:
        """Return the net with the BatchNorm statistics of a draw."""
        if fresh is None:
            return with_trained_buffers(net, trained)
        return refresh_batchnorm(net, w, fresh)

    if linearised is None:
        linearised = isinstance(posterior, OutputPosterior) or (
            isinstance(posterior, Gaussian) and posterior.linearised
        )
    if linearised:
        if isinstance(posterior, Tensor) or trunk == "sampled":
            raise ValueError(
                "linearised=True needs a posterior with a center, and a fixed trunk, got"
                f" {shown(posterior)}: use linearised=False"
            )
        center = posterior.center.to(W)
        outputs = _linear(there(center, center_buffers(posterior)), center, W, inputs)
    elif fresh is None and all(b is buffers[0] for b in buffers):
        outputs = forward(with_trained_buffers(net, buffers[0]), W, inputs, progress=progress)
    else:
        rows = []
        for w, trained in track(list(zip(W, buffers)), "predicting", progress):
            rows.append(forward(there(w, trained), w[None], inputs))
        outputs = torch.cat(rows)
    if not isinstance(x, Data):
        return Prediction(outputs, None, likelihood, mode, trunk=trunk)
    if likelihood == "categorical":
        check_logits(net, inputs[:2])
    labels = as_likelihood(likelihood).check(x.y, outputs[0])
    return Prediction(outputs, labels, likelihood, mode, trunk=trunk, class_names=x.class_names)


EXAMPLES = 256  # at once through the linearised network


def _without_labels(x: Tensor | Inputs) -> Data:
    """Return inputs as a `Data` whose labels nobody reads."""
    return Data(x, torch.zeros(len(x), dtype=torch.long, device=x.device))


def _linear(net: Net, center: Tensor, W: Tensor, x: Tensor | Inputs) -> Tensor:
    """f(center) + J (w - center) for each row of W (S, D), (S, N, ...)."""
    data = _without_labels(x)
    parts = []
    for start in range(0, len(x), EXAMPLES):
        index = torch.arange(start, min(start + EXAMPLES, len(x)), device=W.device)
        at_center = Linearised(net, center, data.subset(index))
        shifts = torch.stack([at_center.times(w - center).detach() for w in W])
        parts.append(at_center.outputs.detach() + shifts)
    return torch.cat(parts, 1)


def check_inputs(net: Net, x: Tensor | Inputs) -> None:
    """Check that the net runs on one of these inputs, without random numbers."""
    if x.ndim == 0 or len(x) == 0:
        raise ValueError(f"x must hold at least one input of {net!r}, got shape {tuple(x.shape)}")
    with torch.inference_mode(False), torch.no_grad(), saved_rng(), passing(net, x):
        net(net.w, x[:1].clone())  # a first layer may work in place
    warn_of_bytes(x)
    if net.look(x).draws:
        raise ValueError(RANDOM)


@public
def predict_linearised(
    net: Net,
    posterior: Linearisable,
    x: Examples,
    *,
    link: Literal["probit", "mc"] = "probit",
    n_draws: Count = 100,
    likelihood: Likelihood = "categorical",
    seed: Seed = 0,
) -> Prediction:
    """Predict by the linearised network on `x` (N, ...); with a `Data`, also compute scores.

    Args:
        net: The network.
        posterior: A Gaussian over its D treated weights, or a posterior with `outputs`.
        x: Inputs (N, ...) alone, or a `Data`, as in `predict`.
        link: "probit", softmax(f / sqrt(1 + pi/8 diag V)), is one draw, whose outputs are log p;
            "mc" is `n_draws` draws of the logits from N(f, V), (S, N, C), so that
            `mutual_information` and every ensemble size have a meaning.
        n_draws: S of link="mc".
        likelihood: As in `nll`; link="probit" needs classes.
        seed: Fixes the draws of link="mc".

    Raises:
        ValueError: For a posterior of another length, an unknown link, or one that the likelihood
            does not have.
        TypeError: For labels of another kind.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.ones(4, 2), torch.tensor([0, 1, 2, 2]))
        >>> mean = torch.tensor([0.0] * 8 + [2.0])  # a bias of 2 for class 2
        >>> for log_std in (-9.0, 2.0):
        ...     q = fv.Gaussian(mean, torch.full_like(mean, log_std))
        ...     round(float(fv.metrics.predict_linearised(net, q, data).probs.max()), 2)
        0.79
        0.39
    """
    if link != "mc" and not isinstance(as_likelihood(likelihood), CategoricalLikelihood):
        raise ValueError(
            f"a regression must have link='mc', draws of its means, got {shown(link)}, which makes"
            " class probabilities"
        )
    if isinstance(x, Data):
        data = x
        examined(net, data, likelihood)
    else:
        inputs = inputs_of(x)
        check_inputs(net, inputs)
        data = _without_labels(inputs)
    mean, cov = linearised(net, posterior, data)
    if link == "probit":
        width = (1 + math.pi / 8 * cov.diagonal(dim1=1, dim2=2)).sqrt()
        outputs = (mean / width).log_softmax(-1)[None]
    else:
        outputs = _mc(mean, cov, n_draws, seed)
    statistics = "frozen" if net.has_batchnorm else None
    with torch.no_grad():
        shape = net(net.w, data.x[:1]).shape[1:]
    outputs = outputs.unflatten(-1, shape or (1,))
    if not isinstance(x, Data):
        return Prediction(outputs, None, likelihood, statistics)
    return Prediction(outputs, x.y, likelihood, statistics, class_names=x.class_names)


def linearised(
    net: Net,
    posterior: Gaussian | OutputPosterior,
    data: Data,
) -> tuple[Tensor, Tensor]:
    """Compute mean f (N, C) and covariance V (N, C, C) of the outputs."""
    if isinstance(posterior, Posterior):
        check_weights(posterior.center, net.dim, "posterior.center")
    if isinstance(posterior, OutputPosterior):
        return posterior.outputs(data)
    means = []
    covs = []
    there = with_trained_buffers(net, posterior.buffers)
    for f, J in jacobian_chunks(there, posterior.mean, data):
        means.append(f)
        covs.append(posterior.cov_mul(J) @ J.transpose(1, 2))
    return torch.cat(means), torch.cat(covs)


def _mc(mean: Tensor, cov: Tensor, n_draws: int, seed: int) -> Tensor:
    """Draw logits (S, N, C) from N(mean, cov).

    Covariances of rank below C are common, and rounding gives them eigenvalues of either sign: none
    is used below what the dtype can distinguish from zero.
    """
    wide = cov.double()
    values, vectors = torch.linalg.eigh((wide + wide.mT) / 2)
    eps = torch.finfo(cov.dtype).eps
    floor = cov.shape[1] * eps * values[:, -1:]
    values = torch.maximum(values, floor.clamp_min(1e-100))
    # the symmetric root, which does not depend on the choice of eigenvectors
    root = (vectors * values.sqrt()[:, None]) @ vectors.mT
    z = randn_like(root, generator(seed), n_draws, *mean.shape)
    noise = (root @ z[..., None])[..., 0]
    return (mean.double() + noise).to(mean.dtype)
