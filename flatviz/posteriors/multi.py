"""Methods that take another one: MultiSWAG and its relatives, and PTL.

A posterior around each of several modes is MultiSWAG, or the same of any other method (Wilson &
Izmailov 2020):

    q(w) = 1/M sum_m q_m(w),   q_m = fit(the m-th network of an ensemble)

Pre-train your loss (PTL) uses the source task's posterior, widened, as the prior of the target task
(Shwartz-Ziv et al. 2022):

    p(w) = N(m, scale Sigma + floor^2 I),   q = fit(net, data, prior=p)

m and Sigma are SWAG's on the source task, as `transfer` returns them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from flatviz.checks import Count, Momentum, NonNegative, Rate, Seed
from flatviz.core import Data, Likelihood, Net, Progress, public, track
from flatviz.posteriors.method import Method, Setting, Tuned, settings_of
from flatviz.results import Gaussian, Mixture, Posterior
from flatviz.training.gradient import PLAIN, Ascent, Training
from flatviz.training.losses import training_loss
from flatviz.training.points import train_members
from flatviz.training.settings import Checkpoint, Optim, Run


@public
def fit_multi(
    net: Net,
    data: Data,
    *,
    fit: Method | Callable[..., Posterior],
    seed: Seed,
    settings: Mapping[str, Setting] | None = None,
    members: Count = 3,
    lr: Rate = 0.05,
    weight_decay: NonNegative = 0.0005,
    batch_size: Count | None = None,
    steps: Count = 300,
    momentum: Momentum = 0.9,
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    ascent: Ascent | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Mixture:
    """Train an ensemble of `members` networks, then fit a posterior at each: an equal mixture.

    momentum, weight_decay, batch_size, likelihood and ascent are those of the ensemble.  A `fit`
    that is a record runs at the record's settings, radius included.  These settings come from the
    ensemble instead, unless `settings` names them: momentum; weight_decay, if the record's is not
    0; batch_size and ascent, if they are given.  The fit also gets the likelihood, and `training`
    without its validation.  BatchNorm statistics are those of the net.

    Args:
        net: Gives the architecture, and the weights that are not drawn.
        data: The N training examples.
        fit: A record of `fv.METHODS`, as `METHODS["swag"]` for MultiSWAG, or a function that is
            called as `fit(net, data, seed=...)`.
        seed: Fixes starts, minibatches and each `fit`.
        settings: Keywords of each `fit`.
        members: Modes; 3, beyond which few-shot networks differ little.
        lr: The first learning rate; it falls to 0 along half a cosine.
        weight_decay: wd; it stands for the prior N(0, 1 / (N wd)).
        batch_size: Examples a minibatch; None, all of them.
        steps: Number of minibatches.
        momentum: Share of the previous step that is added to the next.
        likelihood: As in `nll`: of classes, labels of 0 or 1, targets with noise.
        training: `Training(...)`: precision, accumulation, early stopping.
        ascent: `SAM(radius)` or similar makes the fit flat-seeking: gradients at w + e, two a step.
        checkpoint: Path to save to and resume from.
        progress: True, None (where a terminal watches) or a function(done, total, label).

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> swags = dict(fit=fv.METHODS["swag"], settings=dict(rank=2, snapshots=3))
        >>> q = fv.fit_multi(net, task.train, **swags, seed=0, members=2, steps=20)
        >>> q.sample(4, seed=1).shape
        torch.Size([4, 58])
    """
    run = Run("members", seed, checkpoint, progress, batch_size, training)
    optim = Optim(steps, lr, momentum, weight_decay, ascent)
    loss = training_loss(net, data, likelihood, training=run.training, members=members)
    seeds = [seed + 1000 * member for member in range(members)]
    modes = train_members(loss, seeds, run, optim)
    inner: dict[str, object] = {}
    if isinstance(fit, Method):
        inner = fit.keywords(net)
        shared: dict[str, object] = dict(momentum=momentum)
        if batch_size is not None:
            shared["batch_size"] = batch_size
        if inner.get("weight_decay"):  # 0 beside a prior in the objective
            shared["weight_decay"] = weight_decay
        inner |= {name: value for name, value in shared.items() if name in inner}
        inner["likelihood"] = likelihood
        inner["training"] = replace(training, validation=None)
        if fit.look.flat and ascent is not None:
            inner["ascent"] = ascent
    inner |= settings or {}
    parts = []
    for i, w in enumerate(track(modes.W, "posteriors", progress)):
        if checkpoint is not None:
            inner["checkpoint"] = f"{checkpoint}.{i}"
        own_seed = (seeds[i] + 1) % 2**63
        q = function_of(fit)(net.at(w), data, seed=own_seed, **inner)
        parts.append(q)
    return Mixture(tuple(parts))


@public
def fit_ptl(
    net: Net,
    data: Data,
    prior: Gaussian,
    *,
    fit: Method | Callable[..., Posterior],
    seed: Seed,
    settings: Mapping[str, Setting] | None = None,
    scale: NonNegative = 1.0,
    floor: NonNegative = 0.3,
    likelihood: Likelihood = "categorical",
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Posterior:
    """Run `fit(net, data, prior=the wider prior, seed=seed)` from the prior's mean.

    Args:
        net: Network over whose treated weights q is; it starts at the prior's mean.
        data: The N training examples.
        prior: Over the D treated weights, as `transfer` returns.
        fit: A method that takes `prior=`: `fit_csgld` as in the paper, whose draws are colder than
            the posterior, `fit_sgld`, `fit_vi`, or a record of `fv.METHODS`; it is given the
            keywords below too.
        seed: Fixes `fit`.
        settings: Keywords of `fit`.
        scale: Factor on the covariance, 1e5 to 1e6 in the paper, for SWAG's is narrow; 1, because
            what `transfer` widened needs no more.
        floor: Standard deviation added everywhere, without which a weight that never moved could
            never move again, and its curvature would ask for tiny steps.
        likelihood: As in `nll`: of classes, labels of 0 or 1, targets with noise.
        checkpoint: Path to save to and resume from.
        progress: True, None (where a terminal watches) or a function(done, total, label).

    Raises:
        ValueError: For a scale or floor below 0, or both 0.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> prior = fv.fit_swag(net, task.source, seed=0, snapshots=5)
        >>> how = dict(fit=fv.fit_sgld, settings=dict(n_draws=2, burn_in=5))
        >>> fv.fit_ptl(net, task.train, prior, **how, seed=0).W.shape
        torch.Size([2, 58])
    """
    if scale == 0 and floor == 0:
        raise ValueError("the prior must have a width, got scale=0 and floor=0: raise one of them")
    wide = widened(prior, scale, floor)
    start = net.at(wide.mean.to(net.w))
    how = fit.keywords(net) if isinstance(fit, Method) else {}
    how |= dict(likelihood=likelihood, checkpoint=checkpoint, progress=progress)
    how |= settings or {}
    return function_of(fit)(start, data, prior=wide, seed=seed, **how)


def function_of(fit: Method | Callable[..., Posterior]) -> Callable[..., Posterior]:
    """Return the function of a record, or `fit` itself."""
    return fit.fit if isinstance(fit, Method) else fit


def widened(prior: Gaussian, scale: float, floor: float) -> Gaussian:
    """Return the Gaussian with covariance scale Sigma + floor^2 I."""
    variance = scale * (2 * prior.log_std).exp() + floor**2
    factor = prior.factor * scale**0.5
    return Gaussian(prior.mean, 0.5 * variance.log(), factor)


_SETTINGS = settings_of(fit_multi, "members steps lr momentum weight_decay batch_size")
METHOD = Method(fit=fit_multi, inner="swag", plain=Tuned(_SETTINGS))
_WIDER = settings_of(fit_ptl, "scale floor")
PTL = Method(fit=fit_ptl, inner="csgld", plain=Tuned(_WIDER), needs_prior=True)
