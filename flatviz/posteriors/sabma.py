"""SA-BMA, also FP-BMA: a Gaussian posterior that is good even at the worst one near it.

`SABMA` states the objective and its step; the inner maximum is one step in closed form, `perturb`,
with the Fisher matrix of the Gaussian q.  Weights that are not treated stay at their source value;
the authors' code samples them too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Self

import torch
from torch import Tensor

from flatviz.checks import Radius
from flatviz.gaussian import Gaussian
from flatviz.objectives.problem import Problem
from flatviz.posteriors.vi import VI
from flatviz.results import History
from flatviz.training.gradient import Batch, Expected, Gradient, Noises, expected
from flatviz.training.method import BY_NET, Method
from flatviz.training.perturb import Perturbation, reach_of, squared_length
from flatviz.training.settings import Run
from flatviz.training.variational import GaussianState, Variational

# Of each mode of the perturbation, for nets without and with BatchNorm; units differ, so the others
# have no usual radius
RADII = {
    "kl_exact": (1.0, 0.5),
    "rank1_pinv": (1.0, 0.5),
    "sam_mu": (0.1, 0.1),
    "authors_code": (0.5, 0.5),
}


class SABMA(Variational):
    """Fit a flat q = N(mean, diag(exp(2 log_std)) + factor^T factor) over D treated weights.

        min over q of  max over q' with KL(q' || q) <= radius^2 / 2 of  E_q'[mean NLL]
                       + (kl_weight / N) KL(q || prior)

    Its step on theta = (mean, log_std, factor) takes two gradients and O(D K^2):

        1. ascend    g = grad_theta E_q[NLL],  theta' = theta + Delta, with Delta by `perturb`
        2. there     g' = grad_theta E_q'[NLL] at theta', with the same noise and minibatch
        3. descend   from theta along the natural gradient of g' + kl_weight / N KL(q || prior),
                     see `fv.training.Descent`

    `q.history` holds `loss` at q, `kl` to the prior, `sharpness`, the loss gained by the ascent,
    and `reach`, the exact sqrt(2 KL(q' || q)) of its end q', (steps,) each; None for `kl_exact`,
    whose radius it is.  `notes` say how much of the ascent is noise of the draws, which acts as a
    penalty on curvature: more `mc_samples`, less noise.

    Source: arXiv 2406.15664.

    Args:
        radius: 0 is VI.  For `kl_exact` it is sqrt(2 KL in nats): start at 0.5.  Most of what it
            changes a lower kl_weight of VI changes too: `flatviz run frontier --stored`. `rank1_*`
            have the same unit in name, and `history.reach` says what they reach.  For `sam_mu`,
            `sam_theta` and `authors_code` it is Euclidean: 0.05 to 0.5.  With radius_unit="kl" it
            is the exact sqrt(2 KL) in every mode.  None: 1 for `kl_exact` and `rank1_pinv`, of a
            net with BatchNorm 0.5; 0.1 for `sam_mu`; 0.5 for `authors_code`.
        perturbation: `Perturbation(mode, ...)`: another way up, and parts of it.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> prior = fv.Gaussian(net.w, torch.full((9,), -1.0), factor=torch.full((1, 9), 0.1))
        >>> flat = fv.fit(net, data, fv.SABMA(prior, radius=0.5, lr=0.1), steps=20, seed=0)
        >>> flat.rank, flat.history.sharpness.shape
        (1, torch.Size([20]))
        >>> loss = fv.training.training_loss(net, data)  # steps by hand
        >>> sabma = fv.SABMA(prior, radius=0.5, lr=0.5, kl_weight=1, n=12)
        >>> state = sabma.init()
        >>> for step in range(100):
        ...     state, record = sabma.update(state, loss, None, noise=prior.noise(1, seed=step))
        >>> bool(record.sharpness > 0)
        True
    """

    together = ("kl_weight", "radius")
    label = "SA-BMA"
    radius: Radius = BY_NET
    perturbation: Perturbation = Perturbation()

    def completed(self, problem: Problem, run: Run) -> Self:
        """Fill in the radius too, by mode and network."""
        ready = super().completed(problem, run)
        if ready.radius is not None:
            return ready
        mode = ready.perturbation.mode
        if mode not in RADII or ready.perturbation.radius_unit != "mode":
            raise ValueError(
                f"radius must be given for {ready.perturbation}, got None: its unit is another"
            )
        return replace(ready, radius=RADII[mode][problem.net.has_batchnorm])

    def reduced(self) -> Method:
        """Return VI for a radius of 0."""
        if self.radius != 0:
            return self
        shared = {name: value for name, value in vars(self).items() if name in VI_FIELDS}
        return VI(**shared)

    @property
    def biased(self) -> bool:
        """Whether z2 is drawn about 1, as in the released code.

        q is then fitted with its mean at mean + the factor's rows.
        """
        p = self.perturbation
        return p.mode == "authors_code" and "z2_mean_bug" in p.switches

    def gradient(
        self,
        q: Gaussian,
        gradient: Gradient,
        batch: Batch,
        noise: Noises,
    ) -> Expected:
        """Compute the loss at q, the gradient at the worst q' near it, gain and reach."""
        z1, z2 = noise
        if self.biased:
            z2 = z2 + 1
        nll = partial(expected, gradient, batch=batch, noise=(z1, z2))
        perturbation = self.perturbation
        radius: Tensor | float = self.radius  # (B,) of members
        is_zero = not isinstance(radius, Tensor) and radius == 0
        if perturbation.moved == 0 or is_zero:
            return nll(q)
        size = radius if isinstance(radius, Tensor) else q.mean.new_full((), radius)
        here = nll(q, blocks=perturbation.moved)
        first = z1[..., 0, :], z2[..., 0, :]
        delta = perturbation(q, here.grad, size, noise=first)
        worst = q.moved(delta)
        there = nll(worst)
        gain = there.loss - here.loss
        # of an exact ascent the reach is the radius, by construction
        is_radius = perturbation.mode == "kl_exact" and perturbation.radius_unit == "mode"
        reach = None if is_radius else reach_of(worst, q)
        return Expected(here.loss, there.grad, gain, reach)

    def noise_share(
        self, q: Gaussian, gradient: Gradient, batch: Batch, noises: Iterable[Noises]
    ) -> Tensor | None:
        """Estimate c / S over s^2 + c / S, the mean squared length of an ascent's gradient.

        The gradient g of S draws has g^T F^-1 g of mean s^2 + c / S, s that of the exact gradient.
        Products of two gradients with independent noise have mean s^2.

        noises: Independent noise of R >= 2 steps.

        Returns:
            Shares of the members, (...), NaN at radius 0; None of a mode without this ascent.
        """
        radius = torch.as_tensor(self.radius, device=q.mean.device)
        if self.perturbation.mode != "kl_exact" or not (radius > 0).any():
            return None
        moved = self.perturbation.moved
        damping = self.perturbation.damping
        theta = (q.mean, q.log_std, q.factor)
        total = [torch.zeros_like(block) for block in theta[:moved]]
        squares = torch.zeros_like(q.mean[..., 0])
        R = 0
        for noise in noises:
            g = expected(gradient, q, batch, noise, blocks=moved).grad
            total = [block + part for block, part in zip(total, g)]
            squares = squares + squared_length(q, g, damping)
            R += 1
        products = (squared_length(q, total, damping) - squares) / (R - 1)
        share = (1 - products / squares).clamp(0, 1)
        return torch.where(radius > 0, share, torch.nan)

    def result(
        self, s: GaussianState, history: History | None = None, kept: Sequence[Tensor] = ()
    ) -> Gaussian:
        """Return the posterior of one member."""
        q = super().result(s, history)
        if self.biased:
            return replace(q, mean=q.mean + q.factor.sum(0))
        return q


VI_FIELDS = {f.name for f in fields(VI)}
