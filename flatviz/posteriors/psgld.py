"""SGLD with RMSprop's preconditioner: small steps where gradients are large.

    V <- b V + (1 - b) g^2,   G = 1 / (floor + sqrt(V)),   g = grad L(w) + wd w
    w <- w - lr G g + sqrt(2 lr T G / N) xi,   xi ~ N(0, I)

The paper's term with the derivative of G is omitted, as in its experiments: V changes slowly.

Source: Li et al. 2016 (arXiv 1512.07666).
"""

from dataclasses import dataclass

from flatviz.checks import Count, NonNegative, Positive, Rate, Seed, Share, Statistics, Whole
from flatviz.core import Data, Likelihood, Net, Progress, public
from flatviz.gaussian import Gaussian
from flatviz.posteriors.method import Method, Tuned, settings_of
from flatviz.results import Draws
from flatviz.training.driver import Record
from flatviz.training.gradient import PLAIN, Ascent, Batch, Gradient, Noises, Training, check_noise
from flatviz.training.losses import training_loss
from flatviz.training.points import Chain, Energy, PointState, run_chains, thinned
from flatviz.training.settings import Checkpoint, Run


@dataclass(frozen=True, eq=False)
class PSGLD(Chain[PointState]):
    """The step of preconditioned SGLD; V is the state's second quantity.

    Args:
        lr: Constant.
        memory: b, of V.
        floor: Added to sqrt(V).
        energy: Energy of the posterior that is sampled; by default the loss is minus its logarithm.
    """

    lr: float
    memory: float = 0.99
    floor: float = 1e-3
    energy: Energy = Energy()

    init = staticmethod(PointState.at)

    def update(
        self, s: PointState, gradient: Gradient, batch: Batch, noise: Noises
    ) -> tuple[PointState, Record]:
        """Take one step; V begins as the first g^2."""
        g, record = self.energy.gradient(s.w, gradient, batch)
        memory = self.memory * (s.step > 0).to(s.v)
        v = memory * s.v + (1 - memory) * g.square()
        rate = self.lr / (self.floor + v.sqrt())
        check_noise(noise, s.w.shape)
        w = s.w - rate * g + self.energy.scale(2 * rate) * noise[0]
        return PointState(w, v, s.step + 1), record


@public
def fit_psgld(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    lr: Rate = 5e-4,
    memory: Share = 0.99,
    floor: Positive = 1e-3,
    n_draws: Count = 30,
    chains: Count = 1,
    burn_in: Whole = 300,
    thin: Count = 20,
    temperature: NonNegative = 1.0,
    weight_decay: NonNegative = 5e-4,
    prior: Gaussian | None = None,
    ascent: Ascent | None = None,
    batch_size: Count | None = None,
    batchnorm: Statistics = "frozen",
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Draws:
    """Run preconditioned SGLD chains from the net's weights; draws (n_draws, D).

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes noise and minibatches.
        lr: The step over the running size of the gradient, as RMSprop's.
        memory: b, of the squared gradients; nearer to 1, less bias, for V moves more slowly.
        floor: Added to their root: where gradients are smaller than it, the step is lr / floor.
        n_draws: Draws over all chains, (n_draws, D).
        chains: All run at once; `n_draws` is a multiple of them.
        burn_in: Steps before the first draw.
        thin: Steps from one draw to the next.
        temperature: T of exp(-U / T); 1 is Bayes, less is colder, 0 removes the noise.
        weight_decay: wd; it stands for the prior N(0, 1 / (N wd)).
        prior: Over the D treated weights, as of `transfer`, in place of weight decay.
        ascent: `SAM(radius)` or similar makes the fit flat-seeking: gradients at w + e, two a step.
        batch_size: Examples a minibatch; None, all, as the noise of small ones heats a chain.
        batchnorm: "frozen": BatchNorm statistics of the net; "train": of each batch;
            `result.buffers`, which `predict` uses, then has those of the data at each draw.
        likelihood: As in `nll`: of classes, labels of 0 or 1, targets with noise.
        training: `Training(...)`: precision, accumulation.
        checkpoint: Path to save to and resume from.
        progress: True, None (where a terminal watches) or a function(done, total, label).

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_psgld(net, task.train, seed=0, n_draws=4, burn_in=10, thin=5).W.shape
        torch.Size([4, 58])
    """
    run = Run("pSGLD", seed, checkpoint, progress, batch_size, training)
    schedule = thinned(n_draws, chains, burn_in, thin)
    loss = training_loss(net, data, likelihood, batchnorm, training, members=chains)
    energy = Energy(len(data), temperature, weight_decay, prior, ascent)
    chain = PSGLD(lr, memory, floor, energy)
    w = net.w.repeat(chains, 1)
    return run_chains(chain, loss, run, w, *schedule)


_NAMES = "n_draws burn_in thin lr temperature weight_decay batch_size"
METHOD = Method(
    fit=fit_psgld,
    plain=Tuned(settings_of(fit_psgld, _NAMES)),
    warm_start=True,
)
