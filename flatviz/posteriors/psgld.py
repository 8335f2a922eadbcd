"""SGLD with RMSprop's preconditioner: small steps where gradients are large.

    V <- b V + (1 - b) g^2,   G = 1 / (floor + sqrt(V)),   g = grad L(w) + wd w
    w <- w - lr G g + sqrt(2 lr T G / N) xi,   xi ~ N(0, I)

The paper's term with the derivative of G is omitted, as in its experiments: V changes slowly.

Source: Li et al. 2016 (arXiv 1512.07666).
"""

from flatviz.checks import Positive, Rate, Share
from flatviz.training.driver import Record
from flatviz.training.gradient import Batch, Gradient, Noises, check_noise
from flatviz.training.points import Chain, PointState


class PSGLD(Chain[PointState]):
    """Langevin chains with RMSprop's preconditioner from the net's weights; draws (n_draws, D).

        V <- b V + (1 - b) g^2,   G = 1 / (floor + sqrt(V)),   g = grad L(w) + wd w
        w <- w - lr G g + sqrt(2 lr T G / N) xi,   xi ~ N(0, I)

    V is the state's second quantity, and begins as the first g^2.

    Source: Li et al. 2016 (arXiv 1512.07666).

    Args:
        lr: The step over the running size of the gradient, as RMSprop's.
        memory: b, of the squared gradients; nearer to 1, less bias, for V moves more slowly.
        floor: Added to their root: where gradients are smaller than it, the step is lr / floor.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> psgld = fv.PSGLD(n_draws=4, burn_in=10, thin=5)
        >>> fv.fit(net, task.train, psgld, seed=0).W.shape
        torch.Size([4, 58])
    """

    label = "pSGLD"
    lr: Rate = 5e-4
    memory: Share = 0.99
    floor: Positive = 1e-3

    def update(
        self, s: PointState, gradient: Gradient, batch: Batch, noise: Noises
    ) -> tuple[PointState, Record]:
        """Take one step."""
        g, record = self.energy.gradient(s.w, gradient, batch)
        memory = self.memory * (s.step > 0).to(s.v)
        v = memory * s.v + (1 - memory) * g.square()
        rate = self.lr / (self.floor + v.sqrt())
        check_noise(noise, s.w.shape)
        w = s.w - rate * g + self.energy.scale(2 * rate) * noise[0]
        return PointState(w, v, s.step + 1), record
