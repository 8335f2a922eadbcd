"""Curvature of a loss in the network's outputs: in closed form, by a divergence, or from draws."""

import torch
from torch import Tensor
from torch.distributions import kl_divergence

from flatviz.core import Product, generator, saved_rng
from flatviz.likelihood import AnyLikelihood, Likelihood, as_likelihood

DRAWS = 512  # draws of y for a Fisher matrix without a closed form
CHECKED = 32  # examples on which a closed form is compared with draws


def output_curvature(
    outputs: Tensor,
    likelihood: AnyLikelihood,
    y: Tensor | None = None,
) -> Product:
    """Return u -> Lambda u, with Lambda the curvature of each example's loss in its outputs.

    Lambda is diag(p) - p p^T for classes, 1 / noise^2 for Gaussian noise, otherwise the Fisher
    matrix. u has the shape of outputs (N, ...), or one more dimension after the first.  y: labels,
    where weights or ignored places need them.
    """
    likelihood = as_likelihood(likelihood)
    closed = likelihood.curvature(outputs, y)
    if closed is not None:
        return closed
    fisher = None
    few = outputs[:CHECKED]
    by_divergence = _of_divergence(likelihood, few, None)
    if by_divergence is not None:
        # In a random direction, as logits of classes have no curvature along that of ones
        u = torch.randn(few.shape, generator=generator(0)).to(few)
        got = float((u * by_divergence(u)).sum())
        want = float((u * _of_draws(likelihood, few, None)(u)).sum())
        # Not so of Laplace's distribution, as torch's derivatives of |.| are 0 at 0
        if abs(got - want) <= 0.5 * abs(want):
            fisher = _of_divergence(likelihood, outputs, y)
    fisher = fisher or _of_draws(likelihood, outputs, y)

    def product(u: Tensor) -> Tensor:
        if u.ndim == outputs.ndim:
            return fisher(u)
        basis = torch.eye(outputs[0].numel()).to(outputs)
        basis = basis.view(-1, *outputs.shape[1:])
        columns = [fisher(e.expand_as(outputs)).flatten(1) for e in basis]
        matrix = torch.stack(columns, -1)
        curved = torch.einsum("ncd,nkd->nkc", matrix, u.flatten(2))
        return curved.reshape(u.shape)

    return product


def _shares(entries: Tensor, likelihood: Likelihood, y: Tensor | None) -> Tensor:
    """Weight entries of places by their share in the example's mean, 0 if they do not count."""
    counts = None if y is None else likelihood.mask(y)
    if counts is not None:
        entries = entries * counts.reshape(entries.shape)
    places = entries.numel() / len(entries)
    return entries / places


def _of_divergence(likelihood: Likelihood, outputs: Tensor, y: Tensor | None) -> Product | None:
    """Return the Fisher matrix as the second derivative of KL(p(o) || p(o')) in o' at o.

    None where torch has no such divergence.
    """
    with torch.enable_grad():
        at = outputs.detach().clone().requires_grad_(True)
        try:
            here = likelihood.of(outputs.detach())
            kl = kl_divergence(here, likelihood.of(at))
            total = _shares(kl, likelihood, y).sum()
            (slope,) = torch.autograd.grad(total, at, create_graph=True)
        except (NotImplementedError, RuntimeError):
            return None

    def product(u: Tensor) -> Tensor:
        return torch.autograd.grad(slope, at, u, retain_graph=True)[0]

    return product


def _of_draws(likelihood: Likelihood, outputs: Tensor, y: Tensor | None) -> Product:
    """Return the Fisher matrix, the mean of s s^T over draws of y, s = d log p(y) / d outputs."""
    with torch.enable_grad(), saved_rng(0):
        at = outputs.detach().clone().requires_grad_(True)
        p = likelihood.of(at)
        draws = p.sample((DRAWS,))
        rows: list[Tensor] = []
        for draw in draws:
            log_p = p.log_prob(draw)
            total = _shares(log_p, likelihood, y).sum()
            rows += torch.autograd.grad(total, at, retain_graph=True)
    s = torch.stack(rows).flatten(2)
    # s s^T divides by the number of places twice, the mean over places once
    places = log_p.numel() / len(outputs)

    def product(u: Tensor) -> Tensor:
        flat = u.reshape(len(outputs), -1)
        along = torch.einsum("snc,nc->sn", s, flat)
        total = torch.einsum("snc,sn->nc", s, along)
        return (total * (places / DRAWS)).reshape(u.shape)

    return product
