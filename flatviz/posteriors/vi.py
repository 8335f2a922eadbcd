"""Variational inference by natural gradients, with a low-rank Gaussian or mean-field.

`fit_vi` states the objective.  SA-BMA with radius 0 is `VI`, bit for bit.

Mean-field, also Bayes by Backprop (Blundell et al. 2015), has a diagonal q and the prior
N(m0, prior_std^2),

    KL = sum_i log(s0 / s_i) + (s_i^2 + (m_i - m0_i)^2) / (2 s0^2) - 1/2

summed over all weights, never averaged.  With MOPED (Krishnan et al. 2020) q starts at the trained
weights, which are m0 too, and each std at a share of its weight: std_i = moped |w_i|.

Source: Graves 2011; Kingma and Welling 2014; kl_weight below 1: Wenzel et al. 2020.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from flatviz.checks import Count, Momentum, NonNegative, Positive, Rate, Seed, Statistics
from flatviz.core import Data, Likelihood, Net, Progress, public
from flatviz.gaussian import Gaussian
from flatviz.objectives.problem import examined
from flatviz.posteriors.method import Method, Setting, Tuned, settings_of
from flatviz.training.gradient import (
    PLAIN,
    Ascent,
    Batch,
    Expected,
    Gradient,
    Noises,
    Training,
    expected,
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
    fit_gaussian,
    fit_members,
)

STD_FLOOR = 1e-4  # a weight that is 0 would have std 0 under MOPED


@dataclass(frozen=True, eq=False)
class VI(GaussianMethod):
    """The step of variational inference on theta = (mean, log_std, factor).

    It is a step along the natural gradient of g + (kl_weight / N) KL(q || prior), g = grad_theta
    E_q[NLL]: see `Descent`.

    Args:
        descent: Step of q along a gradient.
        ascent: `SAM(radius)` or similar: each draw's gradient is taken at w + e.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> loss = fv.training.training_loss(net, fv.Data(torch.randn(12, 2), torch.arange(12) % 3))
        >>> prior = fv.Gaussian(net.w, torch.full_like(net.w, -1.0))
        >>> vi = fv.posteriors.VI(fv.training.Descent(prior, n=12, rates=0.5))
        >>> state, record = vi.update(vi.init(prior), loss, None, noise=prior.noise(1, seed=0))
        >>> vi.result(state), float(record.kl)
        (Gaussian(dim=9, rank=0), 0.0)
    """

    descent: Descent
    ascent: Ascent | None = None

    def gradient(
        self,
        q: Gaussian,
        gradient: Gradient,
        batch: Batch,
        noise: Noises,
    ) -> Expected:
        """Compute the loss, its gradient in theta, and the gain of the ascent."""
        return expected(gradient, q, batch, noise, ascent=self.ascent)


def vi_of(prior: Gaussian, n: int, *, ascent: Ascent | None = None, **settings: Setting) -> VI:
    """Build the algorithm of `fit_vi` with these keywords, on n examples."""
    return VI(Descent.of(Vi.of(settings), prior, n), ascent)


@public
def fit_vi(
    net: Net,
    data: Data,
    prior: Gaussian,
    *,
    seed: Seed,
    ascent: Ascent | None = None,
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
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Gaussian:
    """Fit q = N(mean, diag(exp(2 log_std)) + factor^T factor) over the net's D treated weights.

        min over q of  E_q[mean NLL] + (kl_weight / N) KL(q || prior)

    `fv.training.Descent` is one step, averaged over `mc_samples` draws.  Every second step has the
    negative noise of the one before.  At the optimum sigma^2 = leverage / (E_q[diag H] / tau +
    diag P), with H the Hessian, P the prior's precision and tau = kl_weight / N; the experiment
    `gaps` measures how near fits are.

    The best q of all is the tempered posterior exp(-N L(w) / T) prior(w), T = kl_weight: 1 is
    Bayes, below it is colder.  The KL is in nats, N = len(data).  With batchnorm="train" running
    statistics are in `result.buffers`, which `predict` uses; for other verbs take
    `net.with_buffers(result.buffers)`.  `result.history` holds `loss` and `kl` of each step,
    (steps,) each.

    Args:
        net: The network over whose D treated weights q is.
        data: The N training examples.
        prior: Gaussian over the D weights, as `transfer` returns.
        seed: Fixes noise and minibatches.
        ascent: `SAM(radius)` and the like make it F-VI: each draw's gradient is taken at w + e, the
            KL's where q is.
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
        checkpoint: Path to save to and resume from.
        progress: True, None (where a terminal watches) or a function(done, total, label).

    Raises:
        ValueError: If prior or start do not cover the treated weights, on bad data, or on
            divergence.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> prior = fv.Gaussian(net.w, torch.full((9,), -1.0), factor=torch.full((1, 9), 0.1))
        >>> q = fv.fit_vi(net, data, prior, steps=20, lr=0.1, seed=0)
        >>> q, q.history.loss.shape, q.sample(3, seed=1).shape
        (Gaussian(dim=9, rank=1), torch.Size([20]), torch.Size([3, 9]))
    """
    run = Run("VI", seed, checkpoint, progress, batch_size, training)
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
    return fit_gaussian(lambda d: VI(d, ascent), problem, prior, vi, batchnorm, run)


def fit_vi_grid(
    net: Net,
    data: Data,
    prior: Gaussian,
    *,
    radius: Sequence[float],
    seed: Sequence[int],
    batch_size: int | None = None,
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    progress: Progress = False,
    **settings: Setting,
) -> dict[tuple[float, int], Gaussian]:
    """Fit every temperature with every seed at once by `fit_vi`: (temperature, seed) -> posterior.

    Args:
        net: As in `fit_vi`.
        data: The training examples.
        prior: Over the D treated weights.
        radius: Temperatures, by the name that `Method.fit_grid` has for them; 0: `kl_weight`.
        seed: Seeds of noise and minibatches.
        batch_size: Examples a minibatch; None, all of them.
        likelihood: As in `nll`.
        training: `Training(...)`: precision, accumulation, early stopping.
        progress: True, None (where a terminal watches) or a function.
        **settings: Others of the method's record, in place of its own.

    Raises:
        ValueError: As `fit_vi`.
        Diverged: If each member diverges.
    """
    vi = Vi.of({**METHOD.tuned(net).settings, **settings})
    members = [(float(t), s) for t in radius for s in seed]
    weights = [t or vi.kl_weight for t, _ in members]
    varied = prior.mean.new_tensor(weights) if len(set(weights)) > 1 else weights[0]
    label = f"{len(members)} members of VI"
    run = Run(label, members[0][1], None, progress, batch_size, training)
    problem = examined(net, data, likelihood)
    build = lambda d: VI(replace(d, kl_weight=varied))  # noqa: E731
    return fit_members(build, problem, prior, vi, "frozen", run, members)


@public
def fit_mfvi(
    net: Net,
    data: Data,
    prior: Gaussian | None = None,
    *,
    seed: Seed,
    prior_std: Positive = 1.0,
    first_std: Positive = 0.02,
    moped: Positive | None = None,
    ascent: Ascent | None = None,
    lr: Rate = 1.0,
    weight_decay: NonNegative = 0.0,
    batch_size: Count | None = None,
    steps: Count = 600,
    momentum: Momentum = 0.9,
    kl_weight: NonNegative = 1.0,
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    batchnorm: Statistics = "frozen",
    mc_samples: Count | None = 1,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Gaussian:
    """Fit q = N(mean, diag(std^2)) over the D treated weights, from the net's weights.

        min over mean, std of  E_q[mean NLL] + (kl_weight / N) KL(q || prior)

    Args:
        net: Its D treated weights are q's mean at the start.
        data: The N training examples.
        prior: A Gaussian, of any rank; without one, N(0, prior_std^2), or N(net.w, prior_std^2)
            with MOPED.
        seed: Fixes noise and minibatches.
        prior_std: Width of the prior, where none is given; 1, for the gains of LayerNorms are 1,
            and its mean 0.
        first_std: Standard deviation of every weight at the start; small, so that the first draws
            predict better than chance.
        moped: Standard deviation of each weight at the start over its size, 0.05 to 0.5, in place
            of first_std.
        ascent: As in `fit_vi`.
        lr: Of natural gradients, falling along half a cosine: 1 to 2; beyond, fits can diverge.
        weight_decay: Acts on the mean only.
        batch_size: Examples a minibatch; None, all of them.
        steps: Number of minibatches.
        momentum: Share of the previous step that is added to the next.
        kl_weight: T of exp(-N L(w) / T) prior(w); 1 is Bayes, 0 removes the prior.
        likelihood: As in `nll`: of classes, labels of 0 or 1, targets with noise.
        training: `Training(...)`: precision, accumulation, early stopping.
        batchnorm: "frozen" uses the net's BatchNorm statistics; "train" those of each batch, and
            leaves statistics of the data at each draw (of VI: those collected in training) in
            `result.buffers`, which `predict` uses.
        mc_samples: Draws of q a step, each of all its examples; None: as many as were tuned; for a
            large network they take an equal part of the examples each, or there is one, at a lower
            rate (`result.history.notes` says so).
        checkpoint: Path to save to and resume from.
        progress: True, None (where a terminal watches) or a function(done, total, label).

    Raises:
        ValueError: For a width of 0, a prior of other weights, bad data, or divergence.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> fv.fit_mfvi(net, data, steps=5, seed=0)
        Gaussian(dim=9, rank=0)
    """
    if prior is None:
        center = torch.zeros_like(net.w) if moped is None else net.w.detach().clone()
        prior = Gaussian(center, torch.full_like(center, math.log(prior_std)))
    if moped is None:
        first = torch.full_like(net.w, first_std)
    else:
        first = (moped * net.w.abs()).clamp_min(STD_FLOOR)
    run = Run("mean-field VI", seed, checkpoint, progress, batch_size, training)
    start = Gaussian(net.w.detach(), first.log())
    vi = Vi(steps, lr, kl_weight, mc_samples, momentum, weight_decay, start=start)
    problem = examined(net, data, likelihood)
    return fit_gaussian(lambda d: VI(d, ascent), problem, prior, vi, batchnorm, run)


_NAMES = "kl_weight start_scale weight_decay steps lr momentum batch_size mc_samples"


def _tuned(tempered: Tempered) -> dict[str, Setting]:
    return settings_of(fit_vi, _NAMES, **tempered._asdict(), mc_samples=None)


METHOD = Method(
    fit=fit_vi,
    fit_grid=fit_vi_grid,
    algorithm=vi_of,
    plain=Tuned(_tuned(TEMPERED), tour=(0.0,), lab=(0.0,)),
    batchnorm=Tuned(_tuned(TEMPERED_BATCHNORM), tour=(0.0,), lab=(0.0,)),
    needs_prior=True,
)

OVER_T = replace(
    METHOD.over_temperature(tour=(0.003, 0.01, 0.02, 0.05, 0.1), lab=(0.003, 0.01, 0.1)),
    fit_grid=fit_vi_grid,
)
_REST = "kl_weight weight_decay steps lr momentum batch_size"
MEAN_FIELD_METHOD = Method(
    fit=fit_mfvi, plain=Tuned(settings_of(fit_mfvi, f"first_std prior_std {_REST}"))
)
MOPED = Method(
    fit=fit_mfvi,
    plain=Tuned(settings_of(fit_mfvi, f"moped prior_std {_REST}", moped=0.1, prior_std=0.3)),
)
