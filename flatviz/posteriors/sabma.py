"""SA-BMA, also FP-BMA: a Gaussian posterior that is good even at the worst one near it.

    min over q of  max over q' with KL(q' || q) <= radius^2 / 2 of  E_q'[mean NLL]  +
        (kl_weight / N) KL(q || prior)

The inner maximum is one step in closed form (`perturb`), with the Fisher matrix of q, a Gaussian:
see `SABMA`. Weights that are not treated stay at their source value; the authors' code samples them
as well, we do not.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Unpack

from torch import Tensor

from flatviz.checks import Radius, Seed
from flatviz.core import Data, Net
from flatviz.gaussian import Buffers, Gaussian
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import History
from flatviz.training.driver import Diverged
from flatviz.training.gradient import Batch, Gradient, Noises, NoisyNLL, TrainingLoss
from flatviz.training.keywords import Perturbed, Run, defaults
from flatviz.training.perturb import Mode, Perturbation, reach_of
from flatviz.training.variational import (
    TEMPERED,
    TEMPERED_BATCHNORM,
    GaussianFit,
    GaussianState,
    fit_gaussian,
    fit_gaussians,
)


@dataclass(frozen=True, eq=False)
class SABMA(GaussianFit):
    """The step of SA-BMA on theta = (mean, log_std, factor).

    1. ascend     g = grad_theta E_q[NLL],  theta' = theta + Delta,
        Delta = radius F^-1 g / sqrt(g . F^-1 g)
    2. there      g' = grad_theta E_q'[NLL] at theta', of the same noise and the same minibatch
    3. step back and descend     the natural gradient of g' + kl_weight / N KL(q || prior),
        from theta: see `Descent`

    Args:
        descent: How q moves.
        draws: Draws of q in a step.
        radius: Radius of the ascent, (), or (B,) of members; None, without ascent, is VI.
        perturbation: How Delta is computed.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> loss = fv.training.training_loss(net, fv.Data(torch.randn(12, 2), torch.arange(12) % 3))
        >>> prior = fv.Gaussian(net.w, torch.full_like(net.w, -1.0), factor=torch.full((1, net.dim), 0.1))
        >>> descent = fv.training.Descent(prior, n=12, rates=torch.full((100,), 0.5))
        >>> sabma = fv.posteriors.SABMA(descent, radius=torch.tensor(0.5))
        >>> state = sabma.init(prior)
        >>> for step in range(100):
        ...     state, record = sabma.update(state, loss, None, noise=prior.noise(1, seed=step))
        >>> sabma.result(state), bool(record.sharpness > 0)
        (Gaussian(dim=9, rank=1), True)
    """

    radius: Tensor | None = None
    perturbation: Perturbation = Perturbation()

    @property
    def biased(self) -> bool:
        """Whether z2 is drawn about 1, as the released code draws it.

        q is then learnt with its mean at mean + the factor's rows.
        """
        return (
            self.perturbation.mode == "authors_code" and "z2_mean_bug" in self.perturbation.switches
        )

    def gradient(self, q: Gaussian, loss: TrainingLoss, batch: Batch, noise: Noises) -> Gradient:
        """Loss at q, its gradient at the worst posterior near q, the loss gained there and how far that is."""
        nll = NoisyNLL(loss, batch, (noise[0], noise[1] + 1) if self.biased else noise)
        if self.radius is None:
            return nll(q)
        here = nll(q, blocks=self.perturbation.moved)
        worst = q.moved(self.perturbation(q, here.grad, self.radius, noise=nll.first))
        there = nll(worst, again=True)
        known = (
            self.perturbation.mode == "kl_exact" and self.perturbation.radius_unit == "mode"
        )  # the radius, by construction
        return Gradient(
            here.loss, there.grad, there.loss - here.loss, None if known else reach_of(worst, q)
        )

    def result(
        self, state: GaussianState, history: History | None = None, buffers: Buffers = None
    ) -> Gaussian:
        """The posterior of one member, with the BatchNorm statistics that it trained along."""
        q = super().result(state, history, buffers)
        return replace(q, mean=q.mean + q.factor.sum(0)) if self.biased else q


def sabma_of(prior: Gaussian, n: int, *, radius: float | Sequence[float], **how: Any) -> SABMA:
    """The algorithm of `fit_sabma` with these keywords, on n examples.

    of a list of radii that of one member each.
    """
    perturbation = Perturbation(
        **{f.name: how[f.name] for f in fields(Perturbation) if f.name in how}
    )
    still = perturbation.moved == 0 or not any(radius if isinstance(radius, Sequence) else [radius])
    size = None if still else prior.mean.new_tensor(radius)
    return SABMA.of(prior, n, how, size, perturbation)


@defaults(TEMPERED, TEMPERED_BATCHNORM)
def fit_sabma(
    net: Net, data: Data, prior: Gaussian, *, radius: Radius, seed: Seed, **how: Unpack[Perturbed]
) -> Gaussian:
    """Fit a flat q = N(mean, diag(exp(2 log_std)) + factor^T factor) over the net's D treated weights.

        min over q of  max over q' with KL(q' || q) <= radius^2 / 2 of  E_q'[mean NLL]  +
            (kl_weight / N) KL(q || prior)

    One step on theta = (mean, log_std, factor), all with the same noise and minibatch:
        ascend     g = grad E_q[NLL],  theta' = theta + Delta,
            Delta = radius F^-1 g / sqrt(g . F^-1 g)
        there      g' = grad E_q'[NLL] at theta'
        descend    by the natural gradient of g' + (kl_weight / N) KL(q || prior), from theta,
            as `fit_vi` does
    F is the Fisher matrix of q: see `perturb`.  A step costs two gradients and O(D K^2).

    `result.history` holds `loss` at q, `kl` to the prior, `sharpness`, the loss gained by the
    ascent, and `reach`, the exact sqrt(2 KL(q' || q)) of its end q', (steps,) each; None for
    `kl_exact`, whose radius it is.

    Args:
        net: The network over whose D treated weights q is.
        data: The N training examples.
        prior: Gaussian over the D weights, as `transfer` returns.
        radius: 0 is VI.  For `kl_exact` it is sqrt(2 KL in nats): start at 0.5.  Most of what it
            changes a lower kl_weight of VI changes too: `flatviz run frontier --stored`. `rank1_*`
            have the same unit in name, and `history.reach` says what they reach.  For `sam_mu`,
            `sam_theta` and `authors_code` it is Euclidean: 0.05 to 0.5.  With radius_unit="kl" it
            is the exact sqrt(2 KL) in every mode.
        seed: Fixes noise and minibatches.
        **how: How it is fitted.

    Raises:
        ValueError: For a negative radius, a prior that does not cover the treated weights, or bad
            data.
        Diverged: If the loss or q becomes NaN or inf.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> prior = fv.Gaussian(net.w, torch.full_like(net.w, -1.0), factor=torch.full((1, net.dim), 0.1))
        >>> flat = fv.fit_sabma(net, data, prior, radius=0.5, steps=20, lr=0.1, seed=0)
        >>> flat, flat.history.sharpness.shape
        (Gaussian(dim=9, rank=1), torch.Size([20]))
    """
    build = partial(sabma_of, prior, len(data), radius=radius)
    return fit_gaussian(build, net, data, prior, Run.of("SA-BMA", seed, how), how)


@defaults(TEMPERED, TEMPERED_BATCHNORM)
def fit_sabma_grid(
    net: Net,
    data: Data,
    prior: Gaussian,
    *,
    radius: Sequence[Radius],
    seed: Sequence[Seed],
    **how: Unpack[Perturbed],
) -> dict[tuple[float, int], Gaussian]:
    """Fit every radius with every seed at once by `fit_sabma`.

    (radius, seed) -> posterior, each equal to its single fit, to rounding.

    Chains of small layers, and any network on a GPU, run all members in one pass; other networks
    run member by member.  A member that diverges is left out of the result, and a warning names it.

    Args:
        net: The network over whose D treated weights the posteriors are.
        data: The N training examples.
        prior: Gaussian over the D weights, as `transfer` returns.
        radius: As in `fit_sabma`, each.
        seed: Fixes noise and minibatches, each.
        **how: How they are fitted.

    Raises:
        ValueError: As `fit_sabma`.
        Diverged: If each member diverges.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> prior = fv.Gaussian(net.w, torch.full_like(net.w, -1.0))
        >>> list(fv.fit_sabma_grid(net, data, prior, radius=[0, 0.5], seed=[0, 1], steps=5))
        [(0.0, 0), (0.0, 1), (0.5, 0), (0.5, 1)]
    """
    members = [(float(r), s) for r in radius for s in seed]
    radii = [r for r, _ in members]
    seeds = [s for _, s in members]
    run = Run.of(f"{len(members)} members of SA-BMA", seeds[0], how)
    build = partial(sabma_of, prior, len(data), radius=radii if len(radii) > 1 else radii[0])
    fits = fit_gaussians(build, net, data, prior, run, how, seeds)
    finite = {m: fit for m, fit in zip(members, fits) if isinstance(fit, Gaussian)}
    lost = [f"radius {r:g} with seed {s}" for r, s in members if (r, s) not in finite]
    if not finite:
        raise Diverged(f"all {len(members)} members diverged, {', '.join(lost)}: {fits[0]}")
    if lost:
        warnings.warn(
            f"{len(lost)} of {len(members)} members diverged and are left out: {', '.join(lost)}",
            stacklevel=2,
        )
    return finite


METHOD = Method(
    fit=fit_sabma,
    fit_grid=fit_sabma_grid,
    algorithm=sabma_of,
    plain=Tuned(
        TEMPERED,
        1.0,
        5.0,
        tour=(0.0, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0),
        lab=(0.0, 0.5, 1.0, 2.0),
    ),
    batchnorm=Tuned(
        TEMPERED_BATCHNORM,
        0.5,
        2.0,
        tour=(0.0, 0.18, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0),
        lab=(0.0, 0.25, 0.5, 1.0),
    ),
    at_zero="vi",
    needs_prior=True,
    gradients=2,
)
OVER_T = METHOD.over_temperature(lab=(0.01, 0.03, 0.1))


def _in_mode(mode: Mode) -> dict[str, Any]:
    """The functions of the record with this perturbation."""
    return {
        name: partial(getattr(METHOD, name), mode=mode) for name in ("fit", "fit_grid", "algorithm")
    }


SAM_ON_MEAN = replace(
    METHOD,
    **_in_mode("sam_mu"),
    plain=Tuned(
        TEMPERED, radius=0.1, largest=1.0, tour=(0.0, 0.05, 0.1, 0.2, 0.5), lab=(0.0, 0.05, 0.2)
    ),
    batchnorm=Tuned(
        TEMPERED_BATCHNORM,
        radius=0.1,
        largest=0.2,
        tour=(0.0, 0.02, 0.05, 0.1, 0.2),
        lab=(0.0, 0.02, 0.1),
    ),
)

OTHER = replace(
    METHOD, plain=Tuned(TEMPERED, 1.0, 5.0), batchnorm=Tuned(TEMPERED_BATCHNORM, 0.5, 2.0)
)
RANK_ONE = replace(OTHER, **_in_mode("rank1_pinv"))
RELEASED = replace(OTHER, **_in_mode("authors_code"), plain=Tuned(TEMPERED, 0.5, 2.0))
