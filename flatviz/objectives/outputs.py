"""Curvature of a loss in the outputs of a network.

in closed form, by a divergence of torch, or from draws.
"""

import torch
from torch import Tensor
from torch.distributions import kl_divergence

from flatviz.core import Product, saved_rng
from flatviz.likelihood import AnyLikelihood, Likelihood, as_likelihood

DRAWS = 512  # of y for a Fisher matrix that has no closed form
LOOKED = 32  # examples on which one from a closed form is compared with draws


def output_curvature(
    outputs: Tensor, likelihood: AnyLikelihood, y: Tensor | None = None
) -> Product:
    """U -> Lambda u, Lambda the curvature of each example's loss in its outputs.

    diag(p) - p p^T for classes, 1 / noise^2, or Fisher.

    u has the shape of outputs (N, ...), or with a dimension after the first.  y: labels, where
    weights or ignored places need them.
    """
    likelihood = as_likelihood(likelihood)
    if (closed := likelihood.curvature(outputs, y)) is not None:
        return closed
    few = outputs[:LOOKED]
    looked = _of_divergence(likelihood, few, None)
    if (
        looked is not None
    ):  # torch's derivatives of |.| are 0 at 0, so of Laplace's distribution it is wrong
        got, want = (
            float(tried(torch.ones_like(few)).sum())
            for tried in (looked, _of_draws(likelihood, few, None))
        )
        looked = looked if abs(got - want) <= 0.5 * abs(want) else None
    fisher = (looked and _of_divergence(likelihood, outputs, y)) or _of_draws(
        likelihood, outputs, y
    )

    def product(u: Tensor) -> Tensor:
        if u.ndim == outputs.ndim:
            return fisher(u)
        basis = torch.eye(outputs[0].numel()).to(outputs)
        columns = [
            fisher(e.expand(len(outputs), -1).reshape(outputs.shape)).flatten(1) for e in basis
        ]
        return torch.einsum("ncd,nkd->nkc", torch.stack(columns, -1), u.flatten(2)).reshape(u.shape)

    return product


def _shares(entries: Tensor, likelihood: Likelihood, y: Tensor | None) -> Tensor:
    """Entries of places as shares of their example's mean, 0 where they do not count."""
    if y is not None and (counts := likelihood.counts(y)) is not None:
        entries = entries * counts.reshape(entries.shape)
    return entries * (len(entries) / entries.numel())


def _of_divergence(likelihood: Likelihood, outputs: Tensor, y: Tensor | None) -> Product | None:
    """Fisher as the second derivative of KL(p(o) || p(o')) in o' at o.

    None where torch has no such divergence.
    """
    with torch.enable_grad():
        at = outputs.detach().clone().requires_grad_(True)
        try:
            divergence = _shares(
                kl_divergence(likelihood.of(outputs.detach()), likelihood.of(at)), likelihood, y
            ).sum()
            (slope,) = torch.autograd.grad(divergence, at, create_graph=True)
        except (NotImplementedError, RuntimeError):
            return None
    return lambda u: torch.autograd.grad(slope, at, u, retain_graph=True)[0]


def _of_draws(likelihood: Likelihood, outputs: Tensor, y: Tensor | None) -> Product:
    """Fisher as the mean of s s^T over draws of y, s the derivative of log p(y) in the outputs."""
    with torch.enable_grad(), saved_rng(0):
        at = outputs.detach().clone().requires_grad_(True)
        p = likelihood.of(at)
        draws = p.sample((DRAWS,))
        log_p = [p.log_prob(draw) for draw in draws]
        shares = [_shares(row, likelihood, y).sum() for row in log_p]
        s = torch.stack(
            [torch.autograd.grad(row, at, retain_graph=True)[0] for row in shares]
        ).flatten(2)
    places = log_p[0].numel() / len(
        outputs
    )  # s s^T is then over places squared, of which the mean over places has one

    def product(u: Tensor) -> Tensor:
        along = torch.einsum("snc,nc->sn", s, u.reshape(len(outputs), -1))
        return (torch.einsum("snc,sn->nc", s, along) * (places / DRAWS)).reshape(u.shape)

    return product
