"""Negative log likelihood of outputs, its derivatives in them, and the check of labels, for every likelihood."""

import math

import torch
from torch import Tensor
from torch.distributions import kl_divergence

from flatviz.core.seeds import saved_rng
from flatviz.likelihood import AnyLikelihood as Likelihood
from flatviz.likelihood import Likelihood as Distributed
from flatviz.likelihood import Product, as_likelihood

DRAWS = 512  # of y for a Fisher matrix that has no closed form
LOOKED = 32  # examples on which one from a closed form is compared with draws
DENSE = 256  # outputs of an example whose Fisher matrix is kept


def mean_nll(outputs: Tensor, y: Tensor, likelihood: Likelihood, *, reduction: str = "mean") -> Tensor:
    """Mean over what counts (or sum over examples, reduction="sum") of -log p(y | outputs), in nats; outputs (N, ...)."""
    return as_likelihood(likelihood).nll(outputs, y, reduction)


def mean_nll_rows(outputs: Tensor, y: Tensor, likelihood: Likelihood) -> Tensor:
    """`mean_nll` of each member: outputs (B, N, ...), y (B, N, ...) -> (B,)."""
    return as_likelihood(likelihood).nll_rows(outputs, y)


def output_gradient(outputs: Tensor, y: Tensor, likelihood: Likelihood) -> Tensor:
    """Derivative of each example's loss in the outputs, of their shape (N, ...)."""
    return as_likelihood(likelihood).gradient(outputs, y)


def output_curvature(outputs: Tensor, likelihood: Likelihood, y: Tensor | None = None) -> Product:
    """U -> Lambda u, Lambda the curvature of each example's loss in its outputs: diag(p) - p p^T for classes, 1 / noise^2, or Fisher.

    u has the shape of outputs (N, ...), or with dimensions after the first.  y: labels, where weights or ignored places need them.
    """
    likelihood = as_likelihood(likelihood)
    closed = likelihood.curvature(outputs, y)
    if closed is not None:
        return closed
    fisher = _of_divergence(likelihood, outputs, y)
    few = outputs[:LOOKED]
    if fisher is not None:  # torch's derivatives of |.| are 0 at 0, so of Laplace's distribution it is wrong
        probe = torch.ones_like(few)
        got, want = (
            float((probe * f(probe)).sum()) for f in (_of_divergence(likelihood, few, None), _of_draws(likelihood, few, None))
        )
        fisher = fisher if abs(got - want) <= 0.5 * abs(want) else None
    fisher = fisher or _of_draws(likelihood, outputs, y)
    size = math.prod(outputs.shape[1:])
    if size > DENSE:
        return lambda u: (
            torch.stack([fisher(v) for v in u.flatten(1, u.ndim - outputs.ndim).unbind(1)], 1).view(u.shape)
            if (u.ndim > outputs.ndim)
            else fisher(u)
        )
    basis = torch.eye(size).to(outputs)
    matrix = torch.stack(
        [fisher(e.expand(len(outputs), -1).reshape(outputs.shape)).reshape(len(outputs), -1) for e in basis], -1
    )
    return lambda u: torch.einsum("ncd,nkd->nkc", matrix, u.reshape(len(outputs), -1, size)).reshape(u.shape)


def _shares(entries: Tensor, likelihood: Distributed, y: Tensor | None) -> Tensor:
    """Entries of places as shares of their example's mean, 0 where they do not count."""
    if y is not None and (counts := likelihood.counts(y)) is not None:
        entries = entries * counts.reshape(entries.shape)
    return entries * (len(entries) / entries.numel())


def _of_divergence(likelihood: Distributed, outputs: Tensor, y: Tensor | None) -> Product | None:
    """Fisher as the second derivative of KL(p(o) || p(o')) in o' at o; None where torch has no such divergence."""
    with torch.enable_grad():
        at = outputs.detach().clone().requires_grad_(True)
        try:
            divergence = _shares(kl_divergence(likelihood.of(outputs.detach()), likelihood.of(at)), likelihood, y).sum()
            (slope,) = torch.autograd.grad(divergence, at, create_graph=True)
        except (NotImplementedError, RuntimeError):
            return None
    return lambda u: torch.autograd.grad(slope, at, u, retain_graph=True)[0]


def _of_draws(likelihood: Distributed, outputs: Tensor, y: Tensor | None) -> Product:
    """Fisher as the mean of s s^T over draws of y, s the derivative of log p(y) in the outputs."""
    with torch.enable_grad(), saved_rng(0):
        at = outputs.detach().clone().requires_grad_(True)
        p = likelihood.of(at)
        draws = p.sample((DRAWS,))
        log_p = [p.log_prob(draw) for draw in draws]
        shares = [_shares(row, likelihood, y).sum() for row in log_p]
        s = torch.stack([torch.autograd.grad(row, at, retain_graph=True)[0] for row in shares]).flatten(2)
    places = log_p[0].numel() / len(outputs)  # s s^T is then over places squared, of which the mean over places has one

    def product(u: Tensor) -> Tensor:
        along = torch.einsum("snc,nc->sn", s, u.reshape(len(outputs), -1))
        return (torch.einsum("snc,sn->nc", s, along) * (places / DRAWS)).reshape(u.shape)

    return product


def check_labels(y: Tensor, outputs: Tensor, likelihood: Likelihood) -> Tensor:
    """Labels or targets `y` of all examples, once outputs (n, ...) of any n of them can be scored on such.

    Raises:
        ValueError: For labels out of range, of another shape, and for probabilities in place of logits.
        TypeError: For another kind.
    """
    return as_likelihood(likelihood).check(y, outputs)
