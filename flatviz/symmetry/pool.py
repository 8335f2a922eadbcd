"""Pools of independently trained networks, and differences between their predictions.

A pool stands for the posterior.
"""

import torch
from torch import Tensor
from torch.special import entr

from flatviz.checks import (
    Count,
    Momentum,
    NonNegative,
    Positive,
    Seed,
    Vectors,
    Whole,
    check_count,
    check_many_weights,
)
from flatviz.core import Data, Net, Progress, public
from flatviz.engine.stacked import forward
from flatviz.metrics.prediction import check_inputs
from flatviz.noun import Noun
from flatviz.training.driver import drive
from flatviz.training.gradient import PLAIN, Training
from flatviz.training.losses import training_loss
from flatviz.training.points import SGD, starts
from flatviz.training.settings import Checkpoint, Run
from flatviz.training.streams import steps_per_epoch

DROP = 0.1  # of the learning rate, at each epoch in `drops`
# Share of the labels' entropy; with a larger loss a network knows the class frequencies at most
LEARNED = 0.99


class Pool(Noun):
    """Networks W (S, D) that converged, with seeds (S,) and final training losses (S,), in nats.

    A loss is the mean of the last epoch.  `n_diverged` others were left out: NaN or inf, or a loss
    no better than the labels' frequencies.  `epochs` (T, S, D) are the weights from the start on
    and after each epoch, where those were kept (T = epochs + 1).
    """

    W: Tensor
    seeds: Tensor
    loss: Tensor
    n_diverged: int
    epochs: Tensor | None = None

    def __repr__(self) -> str:
        return (
            f"Pool({len(self)} networks, D={self.W.shape[1]}, {self.n_diverged} diverged and left"
            " out)"
        )

    def __len__(self) -> int:
        return len(self.W)


@public
def train_pool(
    net: Net,
    data: Data,
    n: Count = 1000,
    *,
    seed: Seed = 0,
    epochs: Count = 60,
    lr: Positive = 0.05,
    drops: tuple[Whole, ...] = (),
    momentum: Momentum = 0.0,
    weight_decay: NonNegative = 1e-3,
    batch_size: Count | None = 32,
    keep_epochs: bool = False,
    training: Training = PLAIN,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Pool:
    """Train `n` networks by plain SGD in one batch, each with a seed of its own.

    Member i has the seed seed + i, for weights and minibatches, and ends where it would end alone.
    The rate is constant, as in the networks whose spread is studied.  Diverged members are counted
    and left out, before anything is computed.

    Args:
        net: Gives the architecture.
        data: The N training examples.
        n: Number of networks.
        seed: Seed of the first network.
        epochs: Passes over the data.
        lr: Learning rate, constant between drops.
        drops: Epochs at which the rate falls to a tenth.
        momentum: Momentum of SGD, 0 to below 1.
        weight_decay: Factor of |w|^2 / 2.
        batch_size: Examples a minibatch.
        keep_epochs: Keep the weights after each epoch too.
        training: `Training(...)`: precision, accumulation.
        checkpoint: Path to save to and resume from.
        progress: True for a bar, or a function (done, total, label) that is called before each
            step.

    Raises:
        ValueError: If none is left, or the network has BatchNorm, whose statistics each member
            would need.

    Example:
        >>> import torch, flatviz as fv
        >>> from torch import nn
        >>> x = torch.randn(64, 2, generator=torch.Generator().manual_seed(0))
        >>> data = fv.Data(x, (x[:, 0] > 0).long())
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2)))
        >>> pool = fv.symmetry.train_pool(net, data, n=8, epochs=10, lr=0.3)
        >>> pool.W.shape, pool.n_diverged
        (torch.Size([8, 17]), 0)
    """
    run = Run(f"pool of {n} networks", seed, checkpoint, progress, batch_size, training)
    run.check_no_validation("all networks end after the same epochs")
    if net.has_batchnorm:
        raise ValueError(
            "a pool needs a network without BatchNorm, got one with: each member would need other"
            " statistics"
        )
    seeds = [seed + i for i in range(n)]
    epoch = steps_per_epoch(len(data), batch_size)
    steps = epochs * epoch
    loss = training_loss(net, data, training=run.training, members=n)
    W = starts(net, seeds, head_only=False)

    def schedule(step: int, _: int) -> float:
        passed = [epoch * drop <= step for drop in drops]
        return DROP ** sum(passed)

    sgd = SGD(lr=lr, momentum=momentum, weight_decay=weight_decay)
    keep = range(epoch - 1, steps, epoch) if keep_epochs else ()
    start = sgd.init(W)
    driven = drive(
        sgd,
        start,
        loss,
        run,
        steps=steps,
        shuffle=seeds,
        keep=keep,
        check=False,
        schedule=schedule,
    )
    state, history, snapshots = driven
    last = history.loss[-epoch:].mean(0)
    share = torch.bincount(data.y).double() / len(data)
    entropy = float(entr(share).sum())
    finite = state.w.isfinite().all(1)
    good = finite & (last < LEARNED * entropy)
    if not good.any():
        raise ValueError(
            f"the pool must hold a network that converged, got {n} that did not: lower lr"
        )
    kept = torch.stack((W, *snapshots))[:, good] if keep_epochs else None
    n_failed = int((~good).sum())
    good_seeds = torch.tensor(seeds)[good.cpu()]
    return Pool(state.w[good], good_seeds, last[good], n_failed, kept)


BLOCK = 8  # networks


class PairDiversity(Noun):
    """Differences between the predictions of each pair s < t of S networks: P = S (S - 1) / 2.

    `information` (P,) is the mutual information of label and network in nats, which for two
    networks is their Jensen-Shannon divergence (from 0 to ln 2 = 0.693); `disagreement` (P,) is the
    share of inputs with different answers.
    """

    information: Tensor
    disagreement: Tensor


@public
def pair_diversity(net: Net, W: Vectors, x: Tensor) -> PairDiversity:
    """Compute mutual information and disagreement of every pair of rows of `W` (S, D) on `x`.

        MI = mean_x [H((p_s + p_t) / 2) - (H(p_s) + H(p_t)) / 2]

    It is exactly 0 for equal functions, ln 2 for answers that never meet.  BLOCK S pairs are
    compared at a time, so memory is of order BLOCK S N C.

    Args:
        net: The network.
        W: Weight vectors (S, D).
        x: Inputs (N, ...).

    Example:
        >>> import torch, flatviz as fv
        >>> from torch import nn
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
        >>> units = fv.symmetry.units_of(net)
        >>> moved = fv.symmetry.permute(units, net.w[None], torch.tensor([2, 0, 1]))
        >>> W = torch.cat([net.w[None], moved])
        >>> float(fv.symmetry.pair_diversity(net, W, torch.randn(5, 4)).disagreement)
        0.0
    """
    check_many_weights(W, net.dim)
    check_count(len(W), "networks", least=2)
    check_inputs(net, x)
    return diversity_of(forward(net, W, x).softmax(-1))


def diversity_of(probs: Tensor) -> PairDiversity:
    """Compute `pair_diversity` of class probabilities (S, N, C)."""
    # (S, N)
    entropies = entr(probs).sum(-1)
    answers = probs.argmax(-1)
    information = []
    apart = []
    pairs = torch.triu_indices(len(probs), len(probs), offset=1, device=probs.device)
    for s, t in pairs.split(BLOCK * len(probs), dim=1):
        mixture = (probs[s] + probs[t]) / 2
        of_mixture = entr(mixture).sum(-1)
        of_parts = (entropies[s] + entropies[t]) / 2
        information.append((of_mixture - of_parts).mean(-1))
        differ = answers[s] != answers[t]
        apart.append(differ.to(probs.dtype).mean(-1))
    return PairDiversity(torch.cat(information).clamp_min(0), torch.cat(apart))
