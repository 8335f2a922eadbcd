"""SGD: one point, the maximum a posteriori (MAP); and deep ensembles.

    v <- m v + grad L(w) + wd w,   w <- w - lr_t v,   lr_t = lr / 2 (1 + cos(pi t / steps))

L is the mean NLL; weight decay wd is a prior N(0, 1 / (N wd)).  Every Bayesian method is compared
with SGD.

Deep ensembles average the probabilities of several networks (Lakshminarayanan et al. 2017):

    W = (w_1, ..., w_M),  w_m = SGD from start m

The members are trained at once, a row each, which is faster and changes nothing.
"""

from flatviz.checks import Count, Rate
from flatviz.objectives.problem import Problem
from flatviz.results import Draws
from flatviz.training.losses import loss_of
from flatviz.training.points import SGD as SGD
from flatviz.training.points import Descending, train_members
from flatviz.training.settings import Run


class Ensemble(Descending[Draws]):
    """Train `members` networks over the treated weights by SGD: (members, D).

    Each starts at new draws of all of them, or of the head where not all are treated; member m has
    seed + 1000 m.  With batchnorm="train" `q.buffers`, which `predict` uses, has the statistics of
    the data at each member.

    Source: Lakshminarayanan et al. 2017.

    Args:
        lr: The first learning rate; it falls to 0 along half a cosine.
        members: M; 5 as in the paper.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit(net, task.train, fv.Ensemble(members=3), seed=0, steps=20).W.shape
        torch.Size([3, 58])
    """

    label = "ensemble"
    lr: Rate = 0.05
    members: Count = 5

    def fitted(self, problem: Problem, run: Run) -> Draws:
        """Train the members, all at once."""
        loss = loss_of(problem, run.batchnorm, run.training, members=self.members)
        seeds = [run.seed + 1000 * member for member in range(self.members)]
        return train_members(loss, seeds, run, self.sgd)
