"""SGLD: gradient descent with the noise that makes its path a sample of the posterior (Welling & Teh 2011).

    w <- w - lr_t g + sqrt(2 lr_t T / N) xi,   g = grad L(w) + wd w,   xi ~ N(0, I)
    lr_t = lr (1 + t / b)^-gamma,   the paper's a (b + t)^-gamma with a = lr b^gamma;  gamma = 0 keeps it constant

lr is the rate on the mean loss L of N examples.  The bias of a finite constant step on a direction of curvature h is the
factor 1 / (1 - lr h / 2) on its variance; for gamma in (1/2, 1] it vanishes with t, and the chain slows down.
"""

from __future__ import annotations

from torch import Tensor

from flatviz.checks import Count, NonNegative, Positive, Rate, Seed, Statistics, Whole
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.gaussian import Gaussian
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws
from flatviz.training.gradient import Ascent
from flatviz.training.langevin import Energy, Noisy, run_chains, starting_points, thinned
from flatviz.training.run import Checkpoint, Run, Training


@public
def fit_sgld(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    n_draws: Count = 30,
    burn_in: Whole = 300,
    thin: Count = 20,
    lr: Rate = 0.01,
    lr_power: NonNegative = 0.0,
    lr_delay: Positive = 100.0,
    temperature: NonNegative = 1.0,
    weight_decay: NonNegative = 5e-4,
    prior: Gaussian | None = None,
    chains: Count = 1,
    batch_size: Count | None = None,
    likelihood: Likelihood = "categorical",
    batchnorm: Statistics = "frozen",
    ascent: Ascent | None = None,
    training: Training | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Draws:
    """Chains w <- w - lr g + sqrt(2 lr T / N) xi from where the net stands; draws (n_draws, D).

    Args:
        n_draws: over all chains, a multiple of `chains`; 30 is what the largest ensembles of the studies take.
        burn_in, thin: steps before the first draw, and from one draw to the next; at lr 0.01, 300 is 3 units of lr x steps.
        lr: the first step; above 2 / curvature the chain diverges, and a narrow prior is curvature.
        lr_power, lr_delay: gamma and b of lr_t = lr (1 + t / b)^-gamma; 0 is a constant step.  0.55 is usual; b, in steps,
            is how long the step stays near lr.  Draws are weighted alike, not by their step.
        temperature: T of exp(-U / T), printed beside the progress; 1 is Bayes, less is colder, 0 leaves the noise out.
        weight_decay, prior: the prior N(0, 1 / (N weight_decay)), 5e-4 as the usual decay of SGD; or a Gaussian over the D
            treated weights, as `transfer` returns, in its place.
        batch_size: examples a minibatch; None (all) because the noise of small ones heats the chain further.
        likelihood: "categorical", or the standard deviation of Gaussian noise on floating targets.
        batchnorm: "frozen" keeps the net's statistics, so that U is a function of w; "train" takes those of each batch.
        ascent: `SAM(radius)` and the like make it F-SGLD; with one ascent step its drift is no gradient, so that the
            sharpness-aware posterior is met approximately only.
        training: `Training(...)`: precision, accumulation, several processes.
        checkpoint: path to save to and resume from.  progress: True, None (where a terminal watches) or a function.

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_sgld(net, task.train, seed=0, n_draws=4, burn_in=10, thin=5).W.shape
        torch.Size([4, 58])
    """
    run = Run.of(locals(), "SGLD")
    steps, keep = thinned(n_draws, chains, burn_in, thin)
    energy = Energy(net, data, likelihood, batchnorm, prior, weight_decay, temperature, ascent)

    def step(t: int, w: Tensor, g: Tensor, noisy: Noisy) -> None:
        lr_t = lr * (1 + t / lr_delay) ** -lr_power
        w.add_(noisy(-lr_t * g, 2 * lr_t))

    return run_chains(energy, step, starting_points(net, chains), run, steps=steps, keep=keep, batch_size=batch_size)


METHOD = Method(
    fit=fit_sgld,
    plain=Tuned(dict(n_draws=30, burn_in=300, thin=20, lr=0.01, temperature=1.0, weight_decay=5e-4, batch_size=None)),
    warm_start=True,
)
