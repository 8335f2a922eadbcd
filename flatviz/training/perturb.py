"""The ascent step of SA-BMA: from a Gaussian q to the worst one near it.

    Delta = radius * F^-1 g / sqrt(g^T F^-1 g)

maximises g^T Delta inside the ball KL(q + Delta || q) <= radius^2 / 2, to first order: g is the gradient of the loss
in theta = (mean, log_std, factor), F the Fisher matrix of q itself, a Gaussian, so no data and no network enter F.
Blocks of F in our convention, Sigma = diag(d) + F^T F, A = Sigma^-1, G = F A F^T:
    mean     A                          solved by Sigma g
    log_std  2 (d_i A_ii)^2 (diagonal)   exact where factor = 0
    factor   A (x) G (Kronecker part)    solved by (G + damping)^-1 g Sigma; F itself is singular (factor -> Q factor)
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from flatviz.checks import check_choice, check_radius
from flatviz.results import Gaussian

Theta = tuple[Tensor, Tensor, Tensor]  # mean (D,), log_std (D,), factor (K, D)

MODES = ("none", "kl_exact", "rank1_pinv", "rank1_damped", "sam_mu", "sam_theta", "authors_code")
UNITS = {m: "√(2 KL in nats)" if m.startswith(("kl", "rank1")) else "Euclidean" for m in MODES}
BLOCKS = {"mean": 1, "mean+std": 2, "mean+std+factor": 3}
SWITCHES = ("z2_mean_bug", "v_as_std", "total_derivative")
LEVERAGE_FLOOR = 0.1  # of d_i A_ii: a weight all of whose variance is in the factor has a log_std that hardly matters
FACTOR_DAMPING = 1e-3  # beside the eigenvalues of G, which lie in [0, 1)


def perturb(
    q: Gaussian,
    grad: Theta,
    *,
    radius: float,
    mode: str = "kl_exact",
    blocks: str = "mean+std",
    joint: bool = True,
    noise: tuple[Tensor, Tensor] | None = None,
    damping: float | None = None,
    switches: tuple[str, ...] = ("v_as_std", "total_derivative"),
) -> Theta:
    """Delta in (mean, log_std, factor), shapes (D,), (D,), (K, D), for the loss gradient `grad` at `q`.

    mode: `kl_exact` (the formula above); `rank1_pinv`, `rank1_damped` (F replaced by s s^T of one draw's score s,
        pseudo-inverted, or plus damping I); `sam_mu` (radius g/|g| on the mean); `sam_theta` (the same for each
        block); `authors_code` (what the released code does: along the score, no loss gradient at all); `none`.
    radius: sqrt(2 KL in nats) for `kl_exact` and `rank1_*`, Euclidean for the rest.  Never carry one to the other.
    blocks: what `kl_exact`, `rank1_*` and `sam_theta` move.  joint: one normaliser for all blocks (`kl_exact`,
        `rank1_*`), or one each.
    noise: z1 (D,), z2 (K,) of the draw, for `rank1_*` and `authors_code`.
    damping: lambda of `rank1_damped` (default |s|^2 / dim s, its mean eigenvalue) and of the factor block (1e-3).
    switches: quirks of the released code to reproduce in `authors_code`.
    `sam_theta` and `authors_code` measure log_std and factor before folding: sigma, C with Sigma = 1/2 (sigma^2 +
    C^T C / (K - 1)).  Source: arXiv 2406.15664; the modes are compared in the README of the method's notebook.
    Raises ValueError for a negative radius or an unknown word.
    """
    check_choice(mode, MODES, "mode")
    check_choice(blocks, tuple(BLOCKS), "blocks")
    if check_radius(radius) == 0 or mode == "none":
        return tuple(torch.zeros_like(g) for g in grad)
    n = blocks_moved(mode, blocks)
    steps = ascent_step(q, grad[:n], radius=radius, mode=mode, joint=joint, noise=noise, damping=damping, switches=switches)
    return tuple([*steps, *(torch.zeros_like(g) for g in grad[n:])])


def blocks_moved(mode: str, blocks: str) -> int:
    """How many of (mean, log_std, factor) a mode moves."""
    return {"sam_mu": 1, "authors_code": 3}.get(mode, BLOCKS[blocks])


def ascent_step(
    q: Gaussian,
    grad: tuple[Tensor, ...],
    *,
    radius: float,
    mode: str,
    joint: bool,
    noise: tuple[Tensor, Tensor] | None,
    damping: float | None,
    switches: tuple[str, ...],
) -> list[Tensor]:
    """What `perturb` says, of the blocks that move and no more: `grad` has `blocks_moved` of them; nothing is checked."""
    if mode == "authors_code":
        return _authors_code(q, radius, _needed(noise, mode), switches)
    if mode in ("sam_mu", "sam_theta"):
        steps = [radius * g / _norm(g) for g in grad]
        if len(grad) == 3:
            steps[2] = steps[2] / fold(q)
        return steps
    if mode == "kl_exact":
        return _along(grad, fisher_solve(q, grad, damping=damping), radius, joint)
    z1, z2 = _needed(noise, mode)
    score = q.score(q.at(z1[None], z2[None])[0])[: len(grad)]
    return _rank1(grad, score, radius, joint, None if mode == "rank1_pinv" else (damping,))


def fisher_solve(q: Gaussian, grad: tuple[Tensor, ...], *, damping: float | None = None) -> tuple[Tensor, ...]:
    """F^-1 g, block by block, for as many blocks as `grad` has; O(D K^2)."""
    found = [q.cov_mul(grad[0])]
    if len(grad) > 1:
        found.append(grad[1] / q.leverage.clamp_min(LEVERAGE_FLOOR).square().mul_(2))
    if len(grad) > 2:
        factor = grad[2]
        if q.rank:
            factor = torch.linalg.solve(_gram(q, FACTOR_DAMPING if damping is None else damping), q.cov_mul(factor))
        found.append(factor)
    return tuple(found)


def fisher_quadratic(q: Gaussian, delta: Theta, *, damping: float | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Delta^T F Delta of each block, with the same F as `fisher_solve`: about twice the KL that each block moves q."""
    leverage = q.leverage.clamp_min(LEVERAGE_FLOOR)
    factor = delta[2].new_zeros(())
    if q.rank:
        small = _gram(q, FACTOR_DAMPING if damping is None else damping)
        factor = ((small @ delta[2]) * q.precision_mul(delta[2])).sum()
    return (delta[0] * q.precision_mul(delta[0])).sum(), (2 * (leverage * delta[1]).square()).sum(), factor


def _gram(q: Gaussian, damping: float) -> Tensor:
    gram = q.factor_precision @ q.factor.T
    return gram + damping * torch.eye(q.rank, dtype=gram.dtype, device=gram.device)


def _along(grad: tuple[Tensor, ...], natural: tuple[Tensor, ...], radius: float, joint: bool) -> list[Tensor]:
    """radius * natural / sqrt(g . natural), with one normaliser or one a block."""
    dots = [g.flatten().dot(v.flatten()) for g, v in zip(grad, natural)]
    if joint:
        dots = [sum(dots[1:], dots[0])] * len(dots)
    return [v * (radius * _positive(dot).rsqrt()) for v, dot in zip(natural, dots)]


def _rank1(
    grad: tuple[Tensor, ...], score: tuple[Tensor, ...], radius: float, joint: bool, damped: tuple[float | None] | None
) -> list[Tensor]:
    """F = s s^T, pseudo-inverted (damped None: radius sign(s.g) s/|s|^2) or with damping I (Sherman-Morrison)."""
    groups = [range(len(grad))] if joint else [[i] for i in range(len(grad))]
    steps: list[Tensor] = []
    for group in groups:
        dot = sum((score[i] * grad[i]).sum() for i in group)
        squared = sum(score[i].square().sum() for i in group)
        if damped is None:
            steps += [radius * dot.sign() * score[i] / _positive(squared) for i in group]
            continue
        size = sum(score[i].numel() for i in group)
        lam = squared / max(size, 1) if damped[0] is None else squared.new_tensor(damped[0])
        natural = [(grad[i] - score[i] * (dot / (lam + squared))) / lam for i in group]
        steps += _along([grad[i] for i in group], natural, radius, True)
    return steps


def _authors_code(q: Gaussian, radius: float, noise: tuple[Tensor, Tensor], switches: tuple[str, ...]) -> list[Tensor]:
    """radius s_b / (|s_b| + 1e-12) a block, s the 'score' of the released code on its own sigma and C."""
    for switch in switches:
        check_choice(switch, SWITCHES, "switches")
    z1, z2 = noise
    unfold, half = fold(q), math.sqrt(0.5)
    mean = q.mean.detach()
    s = (q.log_std + 0.5 * math.log(2)).detach().requires_grad_(True)
    c = (q.factor * unfold).detach().requires_grad_(True)
    with torch.enable_grad():
        w = mean + half * s.exp() * z1 + (z2 @ c) / unfold
        draw = w if "total_derivative" in switches else w.detach()
        if "v_as_std" in switches:  # exp(log std) read as a variance, C^T C without its 1/2 and 1/(K - 1)
            density = Gaussian(mean, 0.5 * (s.exp() + 1e-10).log(), c)
        else:
            density = Gaussian(mean, s - 0.5 * math.log(2), c / unfold)
        a_s, a_c = torch.autograd.grad(density.log_prob(draw), (s, c), allow_unused=True)
        a_mean = density.precision_mul(draw - mean).detach()
    a_c = torch.zeros_like(c) if a_c is None else a_c
    return [radius * a / (a.norm() + 1e-12) / scale for a, scale in ((a_mean, 1.0), (a_s, 1.0), (a_c, unfold))]


def fold(q: Gaussian) -> float:
    """C / factor: what SWAG's halves and 1/(K - 1) take off the deviations."""
    return math.sqrt(2 * max(q.rank - 1, 1))


def _norm(g: Tensor) -> Tensor:
    return g.norm() + 1e-12


def _positive(n: Tensor) -> Tensor:
    return n.clamp_min(torch.finfo(n.dtype).tiny)


def _needed(noise: tuple[Tensor, Tensor] | None, mode: str) -> tuple[Tensor, Tensor]:
    if noise is None:
        raise ValueError(f"mode {mode!r} needs the noise of the draw, got noise=None: give (z1 (D,), z2 (K,))")
    return noise
