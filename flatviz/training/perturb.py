"""The ascent step of SA-BMA, from a Gaussian q to the worst one near it, as `perturb` states it.

F is the Fisher matrix of q itself, so neither data nor the network enter it.  With
Sigma = diag(d) + factor^T factor, A = Sigma^-1 and G = factor A factor^T, its blocks are

    mean     A                           solved by Sigma g
    log_std  2 (d_i A_ii)^2 (diagonal)   exact where factor = 0
    factor   A (x) G (Kronecker part)    solved by (G + damping)^-1 g Sigma

F itself is singular, as rotations factor -> Q factor do not change q.  Everything here takes
leading dimensions: B members are one Gaussian with mean (B, D), and `radius` is then (B,).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, get_args

import torch
from torch import Tensor

from flatviz.catalog import EUCLIDEAN, KL_BALL, Mode
from flatviz.checks import Numbers, Positive, Radius
from flatviz.core import public
from flatviz.gaussian import Gaussian
from flatviz.noun import VALUES, Noun

Theta = tuple[Numbers, Numbers, Numbers]  # mean (..., D), log_std (..., D), factor (..., K, D)

Blocks = Literal["mean", "mean+std", "mean+std+factor"]
Switch = Literal["z2_mean_bug", "v_as_std", "total_derivative"]
MODES = get_args(Mode)
QUIRKS: tuple[Switch, ...] = ("v_as_std", "total_derivative")  # of the released code, by default
IN_KL = ("kl_exact", "rank1_pinv", "rank1_damped")
UNITS = {mode: KL_BALL if mode in IN_KL else EUCLIDEAN for mode in MODES}
Unit = Literal["mode", "kl"]
BLOCKS = {"mean": 1, "mean+std": 2, "mean+std+factor": 3}
# Smallest d_i A_ii; below it the factor has all of a weight's variance, and log_std hardly matters
LEVERAGE_FLOOR = 0.1
KL_STEPS = 4  # of the search for the length with the requested exact KL
FACTOR_DAMPING = 1e-3  # compared with the eigenvalues of G, which lie in [0, 1)


Draw = tuple[Tensor, Tensor]  # noise z1 (..., D), z2 (..., K)


class Perturbation(Noun, made_by="make one, fv.Perturbation(mode)", eq=True):
    """How SA-BMA's ascent goes up: `fv.SABMA(prior, perturbation=Perturbation(...))`.

    Args:
        mode: The perturbation, see `perturb`; it is never of a reduced precision.
        blocks: Which parts of q it moves: means, widths, factor.
        joint: Whether blocks share one normaliser.
        damping: Added to the Fisher matrix before it is inverted; None: see `perturb`.
        switches: Quirks of the released code.
        radius_unit: "mode", that of `mode`; "kl", the exact sqrt(2 KL) in every mode.

    Example:
        >>> import torch, flatviz as fv
        >>> prior = fv.Gaussian(torch.zeros(3), torch.zeros(3))
        >>> fv.SABMA(prior, radius=0.1, perturbation=fv.Perturbation("sam_mu")).perturbation.mode
        'sam_mu'
    """

    mode: Mode = "kl_exact"
    blocks: Blocks = "mean+std"
    joint: bool = True
    damping: Positive | None = None
    switches: tuple[Switch, ...] = QUIRKS
    radius_unit: Unit = "mode"

    @property
    def moved(self) -> int:
        """Number of blocks of (mean, log_std, factor) that move."""
        fixed = {"none": 0, "sam_mu": 1, "authors_code": 3}
        return fixed.get(self.mode, BLOCKS[self.blocks])

    def __call__(
        self,
        q: Gaussian,
        grad: Sequence[Tensor],
        radius: Tensor,
        noise: Draw | None = None,
    ) -> list[Tensor]:
        """Compute Delta of the blocks that move, from the first `moved` blocks of the gradient.

        radius has the leading dimensions of q.
        """
        steps = self._steps(q, grad, radius, noise)
        if self.radius_unit == "kl" and steps:
            return _onto_ball(q, steps, radius, 3 * KL_STEPS)
        return steps

    def _steps(
        self,
        q: Gaussian,
        grad: Sequence[Tensor],
        radius: Tensor,
        noise: Draw | None,
    ) -> list[Tensor]:
        if self.mode == "none":
            return []
        if self.mode in ("sam_mu", "sam_theta"):
            steps = [_of_length(radius, q, block) for block in grad]
            if len(steps) == 3:
                steps[2] = steps[2] / fold(q)
            return steps
        if self.mode == "kl_exact":
            natural = fisher_solve(q, grad, self.damping)
            steps = _along(q, grad, natural, radius, self.joint)
            if self.joint and len(steps) == 3:
                return _onto_ball(q, steps, radius)
            return steps
        if noise is None:
            raise ValueError(
                f"mode {self.mode!r} needs the noise of the draw, got noise=None: give (z1 (D,),"
                " z2 (K,))"
            )
        if self.mode == "authors_code":
            return _authors_code(q, radius, noise, self.switches)
        score = q.score(_draw(q, *noise))[: len(grad)]
        if self.joint:
            return self._rank1(q, grad, score, radius)
        steps = []
        for g, s in zip(grad, score):
            steps += self._rank1(q, [g], [s], radius)
        return steps

    def _rank1(
        self,
        q: Gaussian,
        grad: Sequence[Tensor],
        score: Sequence[Tensor],
        radius: Tensor,
    ) -> list[Tensor]:
        """Compute the step for F = s s^T, pseudo-inverted or damped.

        Pseudo-inverted it is radius sign(s.g) s/|s|^2; plus damping I it is inverted by
        Sherman-Morrison.
        """
        dot = _inner(q, score, grad)
        squared = _inner(q, score, score)
        if self.mode == "rank1_pinv":
            scale = radius * dot.sign() / _positive(squared)
            return [s * _spread(scale, s) for s in score]
        if self.damping is None:
            numbers = sum(s.numel() for s in score) // squared.numel()  # of one member
            damping = squared / max(numbers, 1)
        else:
            damping = torch.full_like(squared, self.damping)
        share = dot / (damping + squared)
        natural = []
        for s, g in zip(score, grad):
            rest = g - s * _spread(share, s)
            natural.append(rest / _spread(damping, s))
        return _along(q, grad, natural, radius, True)


@public
def perturb(
    q: Gaussian,
    grad: Theta,
    *,
    radius: Radius,
    mode: Mode = "kl_exact",
    blocks: Blocks = "mean+std",
    joint: bool = True,
    noise: tuple[Numbers, Numbers] | None = None,
    damping: Positive | None = None,
    switches: tuple[Switch, ...] = QUIRKS,
    radius_unit: Unit = "mode",
) -> Theta:
    """Compute the step Delta of length `radius` from `q` that raises the loss most.

        Delta = radius F^-1 g / sqrt(g^T F^-1 g)

    with g = `grad`, the loss gradient in (mean, log_std, factor), and F the Fisher matrix of q,
    block by block.  It maximises g^T Delta where KL(q + Delta || q) <= radius^2 / 2, to first
    order.

    With `kl_exact` and `joint` the exact sqrt(2 KL(q + Delta || q)) is the radius for "mean"; for
    "mean+std" it is to second order (on the digits 1.01 times the radius at 1, 1.05 at 4; with only
    a few weights it can be several times the radius); for "mean+std+factor", where the Fisher
    blocks alone would give up to 30 times the radius, the step is rescaled until it is (within
    1 %). `sam_theta` and `authors_code` measure log_std and factor before folding: sigma, C with
    Sigma = 1/2 (sigma^2 + C^T C / (K - 1)).

    Source: arXiv 2406.15664.

    Args:
        q: Gaussian over D weights, of rank K.
        grad: Gradient g of the loss in (mean, log_std, factor): (D,), (D,), (K, D).
        radius: Length of the step: sqrt(2 KL in nats) for `kl_exact` and `rank1_*`, Euclidean for
            the rest.  Never carry one to the other.
        mode: `kl_exact` (this formula); `rank1_pinv`, `rank1_damped` (F replaced by s s^T of one
            draw's score s, pseudo-inverted, or plus damping I); `sam_mu` (radius g/|g| on the
            mean); `sam_theta` (the same for each block); `authors_code` (as the released code:
            along the score, without the loss gradient); `none`. `rank1_pinv` moves weight i by
            about z_i / std_i^2 standard deviations, up to one common factor: the narrowest weights
            take nearly all of the step; where all are equally wide, its length is 1 / sqrt(D) of
            the radius.  So it hardly raises the loss, and the fit is that of VI.
        blocks: Blocks that `kl_exact`, `rank1_*` and `sam_theta` move.
        joint: One normaliser for all blocks (`kl_exact`, `rank1_*`), or one each.
        noise: z1 (D,), z2 (K,) of the draw, for `rank1_*` and `authors_code`.
        damping: lambda of `rank1_damped` (default |s|^2 / dim s, its mean eigenvalue) and of the
            factor block (1e-3).
        switches: Deviations of the released code to reproduce in `authors_code`.
        radius_unit: "mode", as above; "kl": in every mode the step is rescaled until the exact
            sqrt(2 KL(q + Delta || q)) is the radius (within 1 %, unless that takes a width below
            e^-17 of itself), so that modes can be compared.

    Returns:
        Delta in (mean, log_std, factor): (D,), (D,), (K, D).

    Raises:
        ValueError: For a negative radius or an unknown word.

    Example:
        >>> import torch, flatviz as fv
        >>> q = fv.Gaussian(torch.zeros(2), torch.tensor([0.0, -1.0]))
        >>> grad = (torch.tensor([3.0, 4.0]), torch.zeros(2), q.factor)
        >>> delta = fv.perturb(q, grad, radius=0.1, blocks="mean")  # along Sigma g
        >>> round(float((delta[0] / q.std).norm()), 4)  # in units of q's standard deviations
        0.1
    """
    theta = (q.mean, q.log_std, q.factor)
    if [g.shape for g in grad] != [t.shape for t in theta]:
        shapes = [tuple(g.shape) for g in grad]
        raise ValueError(
            f"grad must have the shapes of q's mean, log_std and factor, got {shapes} for {q!r}"
        )
    perturbation = Perturbation(mode, blocks, joint, damping, tuple(switches), radius_unit)
    steps = []
    if radius > 0:
        moved = grad[: perturbation.moved]
        steps = perturbation(q, moved, q.mean.new_tensor(radius), noise)
    rest = [torch.zeros_like(g) for g in grad[len(steps) :]]
    mean, log_std, factor = [*steps, *rest]
    return mean, log_std, factor


def fisher_solve(
    q: Gaussian,
    grad: Sequence[Tensor],
    damping: float | None = None,
) -> list[Tensor]:
    """Solve F x = g, block by block, for as many blocks as `grad` has; O(D K^2)."""
    natural = [q.cov_mul(grad[0])]
    if len(grad) > 1:
        leverage = q.leverage.clamp_min(LEVERAGE_FLOOR)
        natural.append(grad[1] / (2 * leverage * leverage))
    if len(grad) > 2:
        gram = q.factor_precision @ q.factor.mT
        if damping is None:
            damping = FACTOR_DAMPING
        eye = torch.eye(q.rank, dtype=gram.dtype, device=gram.device)
        wide = q.cov_mul(grad[2])
        # torch solves no half precision
        precise = torch.promote_types(gram.dtype, torch.float32)
        solved = torch.linalg.solve_ex((gram + damping * eye).to(precise), wide.to(precise))
        natural.append(solved.result.to(gram.dtype))
    return natural


def squared_length(
    q: Gaussian,
    grad: Sequence[Tensor],
    damping: float | None = None,
) -> Tensor:
    """Compute g^T F^-1 g, (...)."""
    return _inner(q, grad, fisher_solve(q, grad, damping))


def _along(
    q: Gaussian,
    grad: Sequence[Tensor],
    natural: Sequence[Tensor],
    radius: Tensor,
    joint: bool,
) -> list[Tensor]:
    """Compute radius * natural / sqrt(g . natural), with one normaliser or one a block."""
    squares = [_dot(q, g, v) for g, v in zip(grad, natural)]
    if joint:
        total = sum(squares[1:], squares[0])
        squares = [total] * len(squares)
    scales = [radius * _positive(square).rsqrt() for square in squares]
    return [v * _spread(scale, v) for v, scale in zip(natural, scales)]


def _onto_ball(
    q: Gaussian,
    steps: list[Tensor],
    radius: Tensor,
    most: int = KL_STEPS,
) -> list[Tensor]:
    """Scale steps to an exact KL(q + Delta || q) of radius^2 / 2 (within 1 %); steps of 0 stay.

    F's factor block ignores curvature: with a factor far below std, sqrt(2 KL) would be 30 times
    the radius.  Secant steps act on log sqrt(2 KL) over log length, a line of slope 1 where the
    Fisher matrix is exact.
    """
    wide = _double(q)
    steps = [step.double() for step in steps]
    target = radius.double().clamp_min(1e-300).log()
    x = torch.zeros_like(target)
    slope = torch.ones_like(target)
    last: tuple[Tensor, Tensor] | None = None
    low = torch.full_like(x, -math.inf)
    high = torch.full_like(x, math.inf)
    for _ in range(most):
        scaled = [step * _spread(x.exp(), step) for step in steps]
        kl = wide.moved(scaled).kl(wide)
        # Finite where the gradient is 0
        log_reach = 0.5 * (2 * kl).clamp_min(1e-300).log()
        y = (log_reach - target).nan_to_num(10.0).clamp(-10, 10)
        if last is not None:
            last_x, last_y = last
            secant = (y - last_y) / (x - last_x)
            slope = torch.where(x == last_x, slope, secant)
            slope = slope.clamp(0.5, 4.0)
        low = torch.where(y < 0, x, low)
        high = torch.where(y > 0, x, high)
        last = (x, y)
        x = x - y / slope
        # A secant step that leaves the bracket of the root
        outside = (x < low) | (x > high)
        x = torch.where(outside, (low + high) / 2, x)
    factor = torch.where(radius > 0, x.exp(), 0.0)
    scaled = [step * _spread(factor, step) for step in steps]
    return [step.to(q.mean.dtype) for step in scaled]


def _double(q: Gaussian) -> Gaussian:
    theta = (q.mean, q.log_std, q.factor)
    return Gaussian.unchecked(*(part.double() for part in theta))


def reach_of(worst: Gaussian, q: Gaussian) -> Tensor:
    """Compute the exact sqrt(2 KL(worst || q)), (...): the radius of any mode in this unit."""
    kl = _double(worst).kl(_double(q))
    reach = (2 * kl.clamp_min(0)).sqrt()
    return reach.to(q.mean.dtype)


def _authors_code(
    q: Gaussian,
    radius: Tensor,
    noise: tuple[Tensor, Tensor],
    switches: tuple[str, ...],
) -> list[Tensor]:
    """Compute radius s_b / (|s_b| + 1e-12) a block, with the released code's `score` s.

    It uses that code's sigma and C.
    """
    unfold = fold(q)
    half = 0.5 * math.log(2)
    mean = q.mean.detach()
    s = (q.log_std + half).detach().requires_grad_(True)
    c = (q.factor * unfold).detach().requires_grad_(True)
    with torch.enable_grad():
        released = Gaussian.unchecked(mean, s - half, c / unfold)
        draw = _draw(released, *noise)
        if "total_derivative" not in switches:
            draw = draw.detach()
        # exp(log std) read as a variance, C^T C without its 1/2 and 1/(K - 1)
        if "v_as_std" in switches:
            log_std = 0.5 * (s.exp() + 1e-10).log()
            released = Gaussian.unchecked(mean, log_std, c)
        log_prob = released.log_prob(draw).sum()
        a_s, a_c = torch.autograd.grad(log_prob, (s, c), materialize_grads=True)
        a_mean = released.precision_mul(draw - mean).detach()
    mean_step = _of_length(radius, q, a_mean)
    s_step = _of_length(radius, q, a_s)
    c_step = _of_length(radius, q, a_c)
    return [mean_step, s_step, c_step / unfold]


def _draw(q: Gaussian, z1: Tensor, z2: Tensor) -> Tensor:
    """Return the draw of each member for this noise, (..., D)."""
    draws = q.at(z1.unsqueeze(-2), z2.unsqueeze(-2))
    return draws.squeeze(-2)


def fold(q: Gaussian) -> float:
    """Compute C / factor, by which SWAG's halves and 1/(K - 1) scale the deviations."""
    return math.sqrt(2 * max(q.rank - 1, 1))


def _dot(q: Gaussian, a: Tensor, b: Tensor) -> Tensor:
    """Compute the inner product of two blocks, member by member: (...)."""
    if a.ndim > q.mean.ndim:  # the factor
        a = a.flatten(-2)
        b = b.flatten(-2)
    return torch.linalg.vecdot(a, b)


def _inner(q: Gaussian, a: Sequence[Tensor], b: Sequence[Tensor]) -> Tensor:
    """Compute the inner product of two vectors of blocks, member by member: (...)."""
    products = [_dot(q, *pair) for pair in zip(a, b)]
    return sum(products[1:], products[0])


def _of_length(radius: Tensor, q: Gaussian, block: Tensor) -> Tensor:
    """Scale a block of each member to the Euclidean length `radius`."""
    flat = block.flatten(q.mean.ndim - 1)
    length = torch.linalg.vector_norm(flat, dim=-1)
    return _spread(radius, block) * block / _spread(length + 1e-12, block)


def _spread(scale: Tensor, block: Tensor) -> Tensor:
    """Reshape one number a member (...) to multiply a block of each."""
    if scale.ndim == 0:
        return scale
    ones = (1,) * (block.ndim - scale.ndim)
    return scale.reshape(*scale.shape, *ones)


def _positive(n: Tensor) -> Tensor:
    return n.clamp_min(torch.finfo(n.dtype).tiny)


VALUES["Perturbation"] = Perturbation
