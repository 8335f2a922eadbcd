"""SA-BMA, also FP-BMA: a Gaussian posterior that is good even at the worst one near it.

    min over q of  max over q' with KL(q' || q) <= radius^2 / 2 of  E_q'[mean NLL]  +  (kl_weight / N) KL(q || prior)

The inner maximum is one step in closed form (`perturb`), with the Fisher matrix of q, a Gaussian: see `sabma_step`.
Weights that are not treated stay at their source value; the authors' code samples them as well, we do not.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from numbers import Real
from typing import Any, Unpack

from torch import Tensor

from flatviz.checks import NonNegative, Radius, Seed
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.gaussian import Gaussian
from flatviz.posteriors.method import Method, Tuned
from flatviz.training.keywords import FromPrior, defaults
from flatviz.training.noisy_nll import NoisyNLL
from flatviz.training.optimize import Diverged
from flatviz.training.perturb import Blocks, Mode, Perturbation, Switch
from flatviz.training.run import Run
from flatviz.training.variational import TEMPERED, TEMPERED_BATCHNORM, Descent, Step, converged, fit_gaussians, vi_step


def sabma_step(
    q: Gaussian, nll: NoisyNLL, descend: Descent, *, perturbation: Perturbation, radius: Tensor
) -> tuple[Tensor, Tensor | None]:
    """One step from q, theta = (mean, log_std, factor).

    1. ascend     g = grad_theta E_q[NLL],  theta' = theta + Delta,  Delta = radius F^-1 g / sqrt(g . F^-1 g)
    2. there      g' = grad_theta E_q'[NLL] at theta', of the same noise and the same minibatch
    3. step back and descend     the natural gradient of g' + kl_weight / N KL(q || prior), from theta: see `Descent`
    """
    value, g, _ = nll(q, blocks=perturbation.moved)
    worst = q.moved(perturbation(q, g, radius, noise=nll.first))
    at_worst, g, _ = nll.again(worst)
    descend(q, g)
    return value, at_worst - value


def _step(radii: Sequence[float], perturbation: Perturbation, like: Tensor) -> Step:
    """The step of members with these radii; of one member `radius` is a number, of several (B,)."""
    step = partial(vi_step, ascent=None)
    if perturbation.moved > 0 and any(radii):
        radius = like.new_tensor(radii[0] if len(radii) == 1 else radii)
        step = partial(sabma_step, perturbation=perturbation, radius=radius)
    return partial(_biased_step, step=step) if _biased(perturbation) else step


def _biased(perturbation: Perturbation) -> bool:
    return perturbation.mode == "authors_code" and "z2_mean_bug" in perturbation.switches


def _biased_step(q: Gaussian, nll: NoisyNLL, descend: Descent, *, step: Step) -> tuple[Tensor, Tensor | None]:
    """The released code draws z2 about 1: what it learns is q with its mean at mean + sum of the factor's rows."""
    nll.noise = nll.noise[0], nll.noise[1] + 1
    return step(q, nll, descend)


def _posterior(q: Gaussian, perturbation: Perturbation) -> Gaussian:
    return replace(q, mean=q.mean + q.factor.sum(0)) if _biased(perturbation) else q


@defaults(TEMPERED, TEMPERED_BATCHNORM)
def fit_sabma(
    net: Net,
    data: Data,
    prior: Gaussian,
    *,
    radius: Radius | Sequence[Radius],
    seed: Seed | Sequence[Seed],
    mode: Mode = "kl_exact",
    blocks: Blocks = "mean+std",
    joint: bool = True,
    damping: NonNegative | None = None,
    switches: tuple[Switch, ...] = ("v_as_std", "total_derivative"),
    **how: Unpack[FromPrior],
) -> Gaussian | dict[tuple[float, int], Gaussian]:
    """Fit a flat q = N(mean, diag(exp(2 log_std)) + factor^T factor) over the net's D treated weights.

        min over q of  max over q' with KL(q' || q) <= radius^2 / 2 of  E_q'[mean NLL]  +  (kl_weight / N) KL(q || prior)

    One step on theta = (mean, log_std, factor), all with the same noise and minibatch:
        ascend     g = grad E_q[NLL],  theta' = theta + Delta,  Delta = radius F^-1 g / sqrt(g . F^-1 g)
        there      g' = grad E_q'[NLL] at theta'
        descend    by the natural gradient of g' + (kl_weight / N) KL(q || prior), from theta, as `fit_vi` does
    F is the Fisher matrix of q: see `perturb`.  A step costs two gradients and O(D K^2).

    Lists of radii or seeds are fitted at once, every radius with every seed: (radius, seed) -> posterior, each what it is alone,
    to rounding.  Chains of small layers, and any network on a GPU, run all members in one pass; other networks run member by
    member.  A member that diverges is left out of the result, and a warning names it.

    `result.history` holds `loss` at q, `kl` to the prior and `sharpness`, the loss gained by the ascent, (steps,) each.

    Args:
        net: The network over whose D treated weights q is.
        data: The N training examples.
        prior: Gaussian over the D weights, as `transfer` returns.
        radius: 0 is VI.  For `kl_exact` it is sqrt(2 KL in nats): start at 0.5.  Over 40 seeds at equal steps the largest
            Hessian eigenvalue is 0.90 (radius 0.5), 0.81 (1) and 0.67 (2) of VI's on digits-near at KL weight 0.03; on the
            digits no radius lowers it significantly at KL weights from 0.03 to 1, and 2 raises it at 0.1 and 1: see
            `flatviz run evidence`.
            `rank1_*` have the same unit.  For `sam_mu`, `sam_theta` and `authors_code` it is Euclidean: 0.05 to 0.5.
        seed: Of noise and minibatches.
        mode: The perturbation, see `perturb`; it is never of a reduced precision.
        blocks: Which parts of q the perturbation moves: means, widths, factor.
        joint: Whether blocks share one normaliser.
        damping: Lambda that is added to the Fisher matrix before it is inverted (`rank1_damped`: its mean eigenvalue; the factor: 1e-3).
        switches: Quirks of the released code.
        **how: How it is fitted.

    Raises:
        ValueError: For a negative radius, a prior that does not cover the treated weights, or bad data.
        Diverged: Where the fit, or each of its members, diverges.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> prior = fv.Gaussian(net.w, torch.full_like(net.w, -1.0), factor=torch.full((1, net.dim), 0.1))
        >>> flat = fv.fit_sabma(net, data, prior, radius=0.5, steps=20, lr=0.1, seed=0)
        >>> flat, flat.history.sharpness.shape
        (Gaussian(dim=9, rank=1), torch.Size([20]))
        >>> list(fv.fit_sabma(net, data, prior, radius=[0, 0.5], seed=[0, 1], steps=5))
        [(0.0, 0), (0.0, 1), (0.5, 0), (0.5, 1)]
    """
    radii, seeds = ([value] if isinstance(value, Real) else value for value in (radius, seed))
    members = [(float(r), s) for r in radii for s in seeds]
    perturbation = Perturbation(mode, blocks, joint, damping, tuple(switches))
    run = Run.of(locals(), "SA-BMA" if len(members) == 1 else f"{len(members)} members of SA-BMA")
    step = _step([r for r, _ in members], perturbation, net.w)
    fits = fit_gaussians(net, data, prior, step, run, how, [s for _, s in members])
    if isinstance(radius, Real) and isinstance(seed, Real):
        return _posterior(converged(*fits), perturbation)
    finite = {m: _posterior(fit, perturbation) for m, fit in zip(members, fits) if isinstance(fit, Gaussian)}
    lost = [f"radius {r:g} with seed {s}" for r, s in members if (r, s) not in finite]
    if not finite:
        raise Diverged(f"all {len(members)} members diverged, {', '.join(lost)}: {fits[0]}")
    if lost:
        warnings.warn(f"{len(lost)} of {len(members)} members diverged and are left out: {', '.join(lost)}", stacklevel=2)
    return finite


def sabma_stages(
    net: Net,
    data: Data,
    prior: Gaussian,
    *,
    radius: float,
    seed: int,
    at: Sequence[int],
    settings: Mapping[str, Any],
    likelihood: Likelihood = "categorical",
    progress: Progress = False,
) -> list[Gaussian]:
    """Posteriors after each number of steps in `at`, all of one fit by `fit_sabma` with `settings`.

    A shorter fit is another one: the learning rate depends on the step's share of all steps.
    settings: values for all of kl_weight, start_scale, mc_samples and the fields of `Optim`.
    """
    how = {**settings, "start": None}
    run = Run.of(locals(), "SA-BMA")
    inner, taken, kept = _step([radius], Perturbation(), net.w), count(), {}

    def noted(q: Gaussian, nll: NoisyNLL, descend: Descent) -> tuple[Tensor, Tensor | None]:
        done = next(taken)
        if done in at:
            kept[done] = Gaussian(q.mean.clone(), q.log_std.clone(), q.factor.clone())
        return inner(q, nll, descend)

    kept[run.optim.steps] = converged(*fit_gaussians(net, data, prior, noted, run, how, [seed]))
    return [kept[done] for done in at]


METHOD = Method(
    fit=fit_sabma,
    at_once=True,
    plain=Tuned(
        TEMPERED, radius=1.0, largest=5.0, tour=(0.0, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0), lab=(0.0, 0.5, 1.0, 2.0)
    ),
    batchnorm=Tuned(
        TEMPERED_BATCHNORM,
        radius=0.5,
        largest=2.0,
        tour=(0.0, 0.18, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0),
        lab=(0.0, 0.25, 0.5, 1.0),
    ),
    evidence=(0.25, 0.5, 1.0, 2.0, 4.0),
    at_zero="vi",
    needs_prior=True,
    gradients=2,
)

SAM_ON_MEAN = replace(
    METHOD,
    fit=partial(fit_sabma, mode="sam_mu"),
    plain=Tuned(TEMPERED, radius=0.1, largest=1.0, tour=(0.0, 0.05, 0.1, 0.2, 0.5), lab=(0.0, 0.05, 0.2)),
    batchnorm=Tuned(TEMPERED_BATCHNORM, radius=0.1, largest=0.2, tour=(0.0, 0.02, 0.05, 0.1, 0.2), lab=(0.0, 0.02, 0.1)),
    evidence=(0.05, 0.1, 0.2, 0.5),
)

RELEASED_CODE = replace(
    METHOD,
    fit=partial(fit_sabma, mode="authors_code"),
    plain=Tuned(TEMPERED, radius=0.5, largest=2.0),
    batchnorm=Tuned(TEMPERED_BATCHNORM, radius=0.5, largest=2.0),
    evidence=(0.1, 0.5, 2.0),
)
