"""What a flat-seeking step costs over a plain one, and a family trained together over one by one.

Steps by the median of single ones, all else in processor time of one thread, the least of several tries: what else runs
on the machine hardly counts.
"""

import time
from functools import partial

import nets
import pytest
import timing
import torch

import flatviz as fv
from flatviz.training.batched import SequentialLoss
from flatviz.training.gradient import gradient
from flatviz.training.losses import FrozenLoss, training_loss
from flatviz.training.optimize import constant, minibatches, sgd
from flatviz.training.run import Optim, Run

least = partial(timing.least, repeats=8, clock=time.process_time)


def plain(net, data, n, **settings):
    """n steps of SGD or SAM, as a function of `progress`."""
    batches = minibatches(len(data), None, 0, net.device)
    loss, how = FrozenLoss(net, data, "categorical"), dict(optim=Optim(n, lr=0.01), **settings)
    return lambda progress: sgd(loss, net.w, batches, Run(0, progress=progress, **how), schedule=constant)


def random_prior(net, rank=5):
    g = torch.Generator().manual_seed(0)
    return fv.Gaussian(net.w, torch.full_like(net.w, -3.0), 0.05 * torch.randn(rank, net.dim, generator=g))


def problem(model, task):
    """(module, data): the digits' networks on digits, ResNet-20 on images; 100 examples for the MLP, 128 else."""
    if model == "resnet20":
        return nets.settled(nets.ResNet20(), nets.images(64).x), nets.images(128)
    return getattr(fv.models, model)(task), task.test.subset(torch.arange(100 if model == "mlp" else 128))


@pytest.mark.parametrize(("model", "n", "most"), [("mlp", 50, 3.0), ("convnet", 20, 2.3), ("resnet20", 4, 2.3)])
def test_sam_and_sabma_steps_over_an_sgd_step_on_the_same_weights(model, n, most, task):
    module, data = problem(model, task)
    net = fv.Net.from_module(module).with_example(data.x).restrict("norm+head")
    prior = random_prior(net)
    once, (sam, flat, with_kl) = timing.step(
        plain(net, data, n),
        plain(net, data, n, ascent=fv.SAM(0.1)),
        *(
            lambda progress, k=k: fv.fit_sabma(net, data, prior, radius=0.5, steps=n, kl_weight=k, seed=0, progress=progress)
            for k in (0.0, 1.0)
        ),
    )
    print(f"{model}: SGD step {1e3 * once:.2f} ms, SAM {sam:.2f}x, SA-BMA {flat:.2f}x, with its KL {with_kl:.2f}x")
    assert sam < most
    assert flat < most


def test_members_together_over_one_after_the_other_on_the_digits_mlp(task):
    """32 members: 8 radii x 4 seeds of SAM."""
    net = fv.Net.from_module(fv.models.mlp(task)).with_example(task.train.x).restrict("norm+head")
    W = net.w + 0.01 * torch.randn(32, net.dim, generator=torch.Generator().manual_seed(0))
    together = training_loss(net, task.train, Run(0), 32)
    alone = SequentialLoss([training_loss(net, task.train, Run(0))] * 32)
    fast, slow = least(*(lambda f=f: [gradient(f, W, None, fv.SAM(0.1)) for _ in range(3)] for f in (together, alone)))
    batches = [list(zip(range(3), minibatches(100, 32, list(range(32)), net.device)))]
    mini, mini_slow = least(*(lambda f=f: [gradient(f, W, i) for _, i in batches[0]] for f in (together, alone)))
    print(f"full batch {slow / fast:.1f}x, minibatches {mini_slow / mini:.1f}x")
    assert slow / fast > 1.5 and mini_slow / mini > 1.5


@pytest.mark.parametrize(("widths", "n"), [((64, 64, 10), 1000), ((784, 512, 512, 10), 64), ((784, 1024, 1024, 10), 8)])
def test_members_of_a_wide_network_cost_no_more_than_one_after_the_other(widths, n):
    data = fv.Data(torch.randn(n, widths[0]), torch.randint(0, 10, (n,)))
    net = fv.Net.from_module(nets.mlp(*widths))
    W = net.w.expand(5, -1).clone()
    together, alone = training_loss(net, data, Run(0), 5), SequentialLoss([training_loss(net, data, Run(0))] * 5)
    fast, slow = least(*(lambda f=f: gradient(f, W, None) for f in (together, alone)))
    print(f"MLP {widths}, {n} examples, 5 members: {slow / fast:.2f}x")
    assert slow / fast > 0.95
