"""SA-BMA, also FP-BMA: a Gaussian posterior that is good even at the worst one near it.

`fit_sabma` states the objective and `SABMA` its step; the inner maximum is one step in closed form,
`perturb`, with the Fisher matrix of the Gaussian q.  Weights that are not treated stay at their
source value; the authors' code samples them too.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial

import torch
from torch import Tensor

from flatviz.checks import Count, Momentum, NonNegative, Positive, Radius, Rate, Seed, Statistics
from flatviz.core import Data, Likelihood, Net, Progress, public
from flatviz.gaussian import Gaussian
from flatviz.objectives.problem import examined
from flatviz.posteriors.method import Method, Setting, Tuned, settings_of
from flatviz.results import History
from flatviz.training.gradient import (
    PLAIN,
    Batch,
    Expected,
    Gradient,
    Noises,
    Training,
    expected,
)
from flatviz.training.perturb import (
    QUIRKS,
    Blocks,
    Mode,
    Perturbation,
    Switch,
    Unit,
    reach_of,
    squared_length,
)
from flatviz.training.settings import (
    TEMPERED,
    TEMPERED_BATCHNORM,
    Checkpoint,
    Run,
    Tempered,
    Vi,
)
from flatviz.training.variational import (
    Descent,
    GaussianMethod,
    GaussianState,
    fit_gaussian,
    fit_members,
)


@dataclass(frozen=True, eq=False)
class SABMA(GaussianMethod):
    """The step of SA-BMA (`fit_sabma`) on theta = (mean, log_std, factor).

        1. ascend    g = grad_theta E_q[NLL],  theta' = theta + Delta, with Delta by `perturb`
        2. there     g' = grad_theta E_q'[NLL] at theta', with the same noise and minibatch
        3. descend   from theta along the natural gradient of g' + kl_weight / N KL(q || prior),
                     see `Descent`

    Args:
        descent: Step of q along a gradient.
        radius: Radius of the ascent; (B,) of members.  0, without ascent, is VI.
        perturbation: Settings of Delta.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> loss = fv.training.training_loss(net, fv.Data(torch.randn(12, 2), torch.arange(12) % 3))
        >>> prior = fv.Gaussian(net.w, torch.full((9,), -1.0), factor=torch.full((1, 9), 0.1))
        >>> descent = fv.training.Descent(prior, n=12, rates=0.5)
        >>> sabma = fv.posteriors.SABMA(descent, radius=0.5)
        >>> state = sabma.init(prior)
        >>> for step in range(100):
        ...     state, record = sabma.update(state, loss, None, noise=prior.noise(1, seed=step))
        >>> sabma.result(state), bool(record.sharpness > 0)
        (Gaussian(dim=9, rank=1), True)
    """

    descent: Descent
    radius: Tensor | float = 0.0
    perturbation: Perturbation = Perturbation()

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
        radius = self.radius
        is_zero = not isinstance(radius, Tensor) and radius == 0
        if perturbation.moved == 0 or is_zero:
            return nll(q)
        if not isinstance(radius, Tensor):
            radius = q.mean.new_full((), radius)
        here = nll(q, blocks=perturbation.moved)
        first = z1[..., 0, :], z2[..., 0, :]
        delta = perturbation(q, here.grad, radius, noise=first)
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


def sabma_of(prior: Gaussian, n: int, *, radius: float, **settings: Setting) -> SABMA:
    """Build the algorithm of `fit_sabma` with these keywords, on n examples."""
    names = [f.name for f in fields(Perturbation) if f.name in settings]
    perturbation = Perturbation(**{name: settings[name] for name in names})
    descent = Descent.of(Vi.of(settings), prior, n)
    return SABMA(descent, radius, perturbation)


@public
def fit_sabma(
    net: Net,
    data: Data,
    prior: Gaussian,
    *,
    radius: Radius,
    seed: Seed,
    lr: Rate | None = None,
    weight_decay: NonNegative = 0.0,
    batch_size: Count | None = None,
    steps: Count = 600,
    momentum: Momentum = 0.9,
    kl_weight: NonNegative | None = None,
    mc_samples: Count | None = None,
    start_scale: Positive | None = None,
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    batchnorm: Statistics = "frozen",
    start: Gaussian | None = None,
    mode: Mode = "kl_exact",
    blocks: Blocks = "mean+std",
    joint: bool = True,
    damping: Positive | None = None,
    switches: tuple[Switch, ...] = QUIRKS,
    radius_unit: Unit = "mode",
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Gaussian:
    """Fit a flat q = N(mean, diag(exp(2 log_std)) + factor^T factor) over D treated weights.

        min over q of  max over q' with KL(q' || q) <= radius^2 / 2 of  E_q'[mean NLL]
                       + (kl_weight / N) KL(q || prior)

    `fv.posteriors.SABMA` is one step.  It costs two gradients and O(D K^2).

    `result.history` holds `loss` at q, `kl` to the prior, `sharpness`, the loss gained by the
    ascent, and `reach`, the exact sqrt(2 KL(q' || q)) of its end q', (steps,) each; None for
    `kl_exact`, whose radius it is.  `notes` say how much of the ascent is noise of the draws, which
    acts as a penalty on curvature: more `mc_samples`, less noise.

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
        lr: Of natural gradients, falling along half a cosine: 1 to 2; beyond, fits can diverge.
            None: 2, or 1 with BatchNorm and batchnorm="train".
        weight_decay: Acts on the mean only.
        batch_size: Examples a minibatch; None, all of them.
        steps: Number of minibatches.
        momentum: Share of the previous step that is added to the next.
        kl_weight: T of exp(-N L(w) / T) prior(w); 1 is Bayes, 0 removes the prior. None:
            0.03, or 0.1 with BatchNorm and batchnorm="train".
        mc_samples: Draws of q a step, each of all its examples; None: as many as were tuned; for a
            large network they take an equal part of the examples each, or there is one, at a lower
            rate (`result.history.notes` says so).
        start_scale: Factor on its standard deviations: from a wide start gradients are mostly
            noise. None: 0.3, or 0.01 with BatchNorm and batchnorm="train".
        likelihood: As in `nll`: of classes, labels of 0 or 1, targets with noise.
        training: `Training(...)`: precision, accumulation, early stopping.
        batchnorm: "frozen" uses the net's BatchNorm statistics; "train" those of each batch, and
            leaves statistics of the data at each draw (of VI: those collected in training) in
            `result.buffers`, which `predict` uses.
        start: Where q starts, a Gaussian of any rank; None: the prior.
        mode: The perturbation, see `perturb`; it is never of a reduced precision.
        blocks: Which parts of q the perturbation moves: means, widths, factor.
        joint: Whether blocks share one normaliser.
        damping: Added to the Fisher matrix before it is inverted; None: see `perturb`.
        switches: Quirks of the released code.
        radius_unit: "mode", that of `mode`; "kl", the exact sqrt(2 KL) in every mode.
        checkpoint: Path to save to and resume from.
        progress: True, None (where a terminal watches) or a function(done, total, label).

    Raises:
        ValueError: For a negative radius, a prior that does not cover the treated weights, or bad
            data.
        Diverged: If the loss or q becomes NaN or inf.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> prior = fv.Gaussian(net.w, torch.full((9,), -1.0), factor=torch.full((1, 9), 0.1))
        >>> flat = fv.fit_sabma(net, data, prior, radius=0.5, steps=20, lr=0.1, seed=0)
        >>> flat, flat.history.sharpness.shape
        (Gaussian(dim=9, rank=1), torch.Size([20]))
    """
    run = Run("SA-BMA", seed, checkpoint, progress, batch_size, training)
    perturbation = Perturbation(mode, blocks, joint, damping, switches, radius_unit)
    vi = Vi.tuned(
        net,
        steps,
        lr,
        kl_weight,
        mc_samples,
        momentum,
        weight_decay,
        start_scale,
        start,
        batchnorm,
    )
    problem = examined(net, data, likelihood)
    build = partial(SABMA, radius=radius, perturbation=perturbation)
    return fit_gaussian(build, problem, prior, vi, batchnorm, run)


@public
def fit_sabma_grid(
    net: Net,
    data: Data,
    prior: Gaussian,
    *,
    radius: Sequence[Radius],
    seed: Sequence[Seed],
    lr: Rate | None = None,
    weight_decay: NonNegative = 0.0,
    batch_size: Count | None = None,
    steps: Count = 600,
    momentum: Momentum = 0.9,
    kl_weight: NonNegative | None = None,
    mc_samples: Count | None = None,
    start_scale: Positive | None = None,
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    batchnorm: Statistics = "frozen",
    start: Gaussian | None = None,
    mode: Mode = "kl_exact",
    blocks: Blocks = "mean+std",
    joint: bool = True,
    damping: Positive | None = None,
    switches: tuple[Switch, ...] = QUIRKS,
    radius_unit: Unit = "mode",
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> dict[tuple[float, int], Gaussian]:
    """Fit every radius with every seed at once by `fit_sabma`: (radius, seed) -> posterior.

    Each equals its single fit to rounding.  Chains of small layers, and any network on a GPU, run
    all members in one pass; other networks run member by member.  A member that diverges is left
    out of the result, and a warning names it.

    Args:
        net: The network over whose D treated weights the posteriors are.
        data: The N training examples.
        prior: Gaussian over the D weights, as `transfer` returns.
        radius: As in `fit_sabma`, each.
        seed: Fixes noise and minibatches, each.
        lr: Of natural gradients, falling along half a cosine: 1 to 2; beyond, fits can diverge.
            None: 2, or 1 with BatchNorm and batchnorm="train".
        weight_decay: Acts on the mean only.
        batch_size: Examples a minibatch; None, all of them.
        steps: Number of minibatches.
        momentum: Share of the previous step that is added to the next.
        kl_weight: T of exp(-N L(w) / T) prior(w); 1 is Bayes, 0 removes the prior. None:
            0.03, or 0.1 with BatchNorm and batchnorm="train".
        mc_samples: Draws of q a step, each of all its examples; None: as many as were tuned; for a
            large network they take an equal part of the examples each, or there is one, at a lower
            rate (`result.history.notes` says so).
        start_scale: Factor on its standard deviations: from a wide start gradients are mostly
            noise. None: 0.3, or 0.01 with BatchNorm and batchnorm="train".
        likelihood: As in `nll`: of classes, labels of 0 or 1, targets with noise.
        training: `Training(...)`: precision, accumulation, early stopping.
        batchnorm: "frozen" uses the net's BatchNorm statistics; "train" those of each batch, and
            leaves statistics of the data at each draw (of VI: those collected in training) in
            `result.buffers`, which `predict` uses.
        start: Where q starts, a Gaussian of any rank; None: the prior.
        mode: The perturbation, see `perturb`; it is never of a reduced precision.
        blocks: Which parts of q the perturbation moves: means, widths, factor.
        joint: Whether blocks share one normaliser.
        damping: Added to the Fisher matrix before it is inverted; None: see `perturb`.
        switches: Quirks of the released code.
        radius_unit: "mode", that of `mode`; "kl", the exact sqrt(2 KL) in every mode.
        checkpoint: Path to save to and resume from.
        progress: True, None (where a terminal watches) or a function(done, total, label).

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
    radii = [float(r) for r in radius]
    members = list(itertools.product(radii, seed))
    label = f"{len(members)} members of SA-BMA"
    _, first_seed = members[0]
    run = Run(label, first_seed, checkpoint, progress, batch_size, training)
    perturbation = Perturbation(mode, blocks, joint, damping, switches, radius_unit)
    vi = Vi.tuned(
        net,
        steps,
        lr,
        kl_weight,
        mc_samples,
        momentum,
        weight_decay,
        start_scale,
        start,
        batchnorm,
    )
    problem = examined(net, data, likelihood)
    radii = [r for r, _ in members] if any(radii) else [0.0]
    size = prior.mean.new_tensor(radii) if len(radii) > 1 else radii[0]
    build = partial(SABMA, radius=size, perturbation=perturbation)
    return fit_members(build, problem, prior, vi, batchnorm, run, members)


_NAMES = "kl_weight start_scale weight_decay steps lr momentum batch_size mc_samples"


def _settings(tempered: Tempered) -> dict[str, Setting]:
    return settings_of(fit_sabma, _NAMES, **tempered._asdict(), mc_samples=None)


_PLAIN = _settings(TEMPERED)
_BATCHNORM = _settings(TEMPERED_BATCHNORM)
METHOD = Method(
    fit=fit_sabma,
    fit_grid=fit_sabma_grid,
    algorithm=sabma_of,
    plain=Tuned(
        _PLAIN,
        1.0,
        5.0,
        tour=(0.0, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0),
        lab=(0.0, 0.5, 1.0, 2.0),
    ),
    batchnorm=Tuned(
        _BATCHNORM,
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


def _in_mode(mode: Mode, plain: Tuned, batchnorm: Tuned) -> Method:
    """Return the record of the same method with this perturbation."""
    return replace(
        METHOD,
        fit=partial(fit_sabma, mode=mode),
        fit_grid=partial(fit_sabma_grid, mode=mode),
        algorithm=partial(sabma_of, mode=mode),
        plain=plain,
        batchnorm=batchnorm,
    )


SAM_ON_MEAN = _in_mode(
    "sam_mu",
    plain=Tuned(
        _PLAIN, radius=0.1, largest=1.0, tour=(0.0, 0.05, 0.1, 0.2, 0.5), lab=(0.0, 0.05, 0.2)
    ),
    batchnorm=Tuned(
        _BATCHNORM,
        radius=0.1,
        largest=0.2,
        tour=(0.0, 0.02, 0.05, 0.1, 0.2),
        lab=(0.0, 0.02, 0.1),
    ),
)

_OTHER = Tuned(_BATCHNORM, 0.5, 2.0)
RANK_ONE = _in_mode("rank1_pinv", Tuned(_PLAIN, 1.0, 5.0), _OTHER)
RELEASED = _in_mode("authors_code", Tuned(_PLAIN, 0.5, 2.0), _OTHER)
