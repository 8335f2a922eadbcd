"""What a flat-seeking step costs over a plain one, many networks at once over one after the other,
kept activations over all layers.

Steps by the median of single ones, all else in processor time of one thread, the least of several
tries in turn: what else runs on the machine hardly counts.
"""

import time
from functools import partial

import nets
import timing
import torch
from pytest import mark
from symmetric_networks import optunet

import flatviz as fv
from flatviz.training import SGD, Run, training_loss
from flatviz.training.driver import drive
from flatviz.training.gradient import ascended
from flatviz.training.streams import minibatches

least = partial(timing.least, repeats=8, clock=time.process_time)


def plain(net, data, n, **settings):
    """n steps of SGD or SAM, as a function of `progress`."""
    loss = training_loss(net, data)
    sgd = SGD(torch.full((n,), 0.01), **settings)
    return lambda progress: drive(sgd, sgd.init(net.w), loss, Run(progress=progress), steps=n)


def problem(model, task):
    """(module, data): the digits' networks on digits, ResNet-20 on images; 100 examples for the
    MLP, 128 else."""
    if model == "resnet20":
        return nets.settled(nets.resnet20(), nets.images(64).x), nets.images(128)
    return getattr(fv.models, model)(task), task.test.subset(
        torch.arange(100 if model == "mlp" else 128)
    )


@mark.parametrize("model, n, most", [("mlp", 50, 3.0), ("convnet", 20, 2.3), ("resnet20", 4, 2.3)])
def test_sam_and_sabma_steps_over_an_sgd_step_on_the_same_weights(model, n, most, task):
    module, data = problem(model, task)
    net = fv.Net.from_module(module).with_example(data.x).restrict("norm+head")
    prior = fv.Gaussian(net.w, torch.full_like(net.w, -3.0), 0.05 * torch.randn(5, net.dim))
    flat = partial(fv.fit_sabma, net, data, prior, radius=0.5, steps=n, seed=0)
    fits = [
        partial(flat, kl_weight=k, mc_samples=draws) for k, draws in ((0.0, 1), (1.0, 1), (1.0, 8))
    ]
    runs = [lambda progress, fit=f: fit(progress=progress) for f in fits]
    plainly = plain(net, data, n), plain(net, data, n, ascent=fv.SAM(0.1))
    once, (sam, sabma, with_kl, eight) = timing.step(*plainly, *runs)
    print(
        f"{model}: SGD step {1e3 * once:.2f} ms, SAM {sam:.2f}x,"
        f" SA-BMA of one draw {sabma:.2f}x, with its KL {with_kl:.2f}x, "
        f"of eight draws {eight:.2f}x"
    )
    assert sam < most
    assert sabma < most
    assert eight < 8 * with_kl


def batched(W, net, data, *ascent, minibatches_of=None):
    """How many times longer gradients at all of W take one after the other than together."""
    together = training_loss(net, data, members=len(W))
    alone = training_loss(net, data)
    batches = [None]
    if minibatches_of:
        batches = [
            index
            for _, index in zip(
                range(3), minibatches(len(data), minibatches_of, list(range(len(W))), net.device)
            )
        ]
    fast, slow = least(
        *(lambda f=f: [ascended(f, W, i, *ascent) for i in batches] for f in (together, alone))
    )
    return slow / fast


def test_members_together_over_one_after_the_other_on_the_digits_mlp(task):
    """32 members: 8 radii x 4 seeds of SAM."""
    net = fv.Net.from_module(fv.models.mlp(task)).with_example(task.train.x).restrict("norm+head")
    W = net.w + 0.01 * torch.randn(32, net.dim, generator=torch.Generator().manual_seed(0))
    whole = batched(W, net, task.train, fv.SAM(0.1))
    mini = batched(W, net, task.train, minibatches_of=32)
    print(f"full batch {whole:.1f}x, minibatches {mini:.1f}x")
    assert whole > 1.5
    assert mini > 1.5


@mark.parametrize(
    "widths, n", [((64, 64, 10), 1000), ((784, 512, 512, 10), 64), ((784, 1024, 1024, 10), 8)]
)
def test_members_of_a_wide_network_cost_no_more_than_one_after_the_other(widths, n):
    data = fv.Data(torch.randn(n, widths[0]), torch.randint(0, 10, (n,)))
    net = fv.Net.from_module(nets.mlp(*widths))
    ratio = batched(net.w.expand(5, -1).clone(), net, data)
    print(f"MLP {widths}, {n} examples, 5 members: {ratio:.2f}x")
    assert ratio > 0.95


def test_steps_from_kept_activations_over_steps_through_the_whole_network():
    module = nets.settled(nets.resnet20(), nets.images(64).x)
    data = nets.images(40)
    net = fv.Net.from_module(module, "head", example=data.x[:2])
    late, features = fv.engine.cache_trunk(net, data)
    prior = fv.Gaussian(net.w, net.w.new_full((net.dim,), -4.0))
    fits = [
        partial(fv.fit_sabma, *on, prior, radius=0.1, steps=4, lr=1e-4, seed=0)
        for on in ((net, data), (late, features))
    ]
    whole, short = timing.least(*fits, repeats=4, clock=time.process_time)
    print(
        f"head: four SA-BMA steps on 40 images {1e3 * whole:.0f} ms, from kept activations"
        f" {whole / short:.1f}x faster"
    )
    assert whole / short > 20


def test_a_pool_of_1000_optunets_over_one_after_the_other(task):
    net = fv.Net.from_module(optunet())
    ratio = batched(net.w + 0.1 * torch.randn(1000, net.dim), net, task.source, minibatches_of=16)
    print(f"pool of 1,000 OptuNets: {ratio:.1f}x")
    assert ratio > 10
