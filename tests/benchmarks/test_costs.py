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
from oracles import one_by_one
from pytest import mark
from symmetric_networks import optunet

import flatviz as fv

least = partial(timing.least, repeats=8, clock=time.process_time)


def problem(model, task):
    """(net, data): the digits' networks on digits, ResNet-20 on images."""
    if model == "resnet20":
        module = nets.settled(nets.resnet20(), nets.images(64).x)
        data = nets.images(128)
    else:
        module = getattr(fv.models, model)(task)
        data = task.test.subset(slice(0, 100))
    net = fv.Net.from_module(module, "norm+head", example=data.x[:2])
    return net, data


@mark.parametrize("model, n, most", [("mlp", 50, 3.0), ("convnet", 20, 2.3), ("resnet20", 4, 2.3)])
def test_sam_and_sabma_steps_over_an_sgd_step_on_the_same_weights(model, n, most, task):
    net, data = problem(model, task)
    factor = 0.05 * torch.randn(5, net.dim)
    prior = fv.Gaussian(net.w, torch.full_like(net.w, -3.0), factor)
    sgd = partial(fv.fit, net, data, fv.SGD(), steps=n, seed=0)
    flat = partial(fv.fit, net, data, fv.SABMA(prior, radius=0.5), steps=n, seed=0)
    fits = (
        sgd,
        partial(sgd, ascent=fv.SAM(0.1)),
        partial(flat, kl_weight=0.0, mc_samples=1),
        partial(flat, kl_weight=1.0, mc_samples=1),
        partial(flat, kl_weight=1.0, mc_samples=8),
    )
    runs = [lambda progress, fit=fit: fit(progress=progress) for fit in fits]
    once, ratios = timing.step(*runs)
    sam, sabma, with_kl, eight = ratios
    print(f"{model}: SGD {1e3 * once:.2f} ms; SAM, SA-BMA, with KL, of 8 draws: {ratios}")
    assert sam < most
    assert sabma < most
    assert eight < 8 * with_kl


@mark.parametrize(
    "widths, n, members, wanted",
    [
        ((64, 64, 10), 100, 32, 1.5),
        ((64, 64, 10), 1000, 5, 0.95),
        ((784, 512, 512, 10), 64, 5, 0.95),
        ((784, 1024, 1024, 10), 8, 5, 0.95),
    ],
)
def test_an_ensemble_costs_no_more_than_its_members_one_after_the_other(widths, n, members, wanted):
    data = fv.Data(torch.randn(n, widths[0]), torch.randint(0, 10, (n,)))
    net = fv.Net.from_module(nets.mlp(*widths))
    together = partial(
        fv.fit,
        net,
        data,
        fv.Ensemble(members=members),
        seed=0,
        steps=10,
    )
    alone = partial(fv.fit, net, data, fv.SGD(), seed=0, steps=10)
    fast, slow = least(together, lambda: [alone() for _ in range(members)])
    print(f"MLP {widths}, {n} examples, {members} members: {slow / fast:.2f}x")
    assert slow / fast > wanted


def test_steps_from_kept_activations_over_steps_through_the_whole_network(monkeypatch):
    module = nets.settled(nets.resnet20(), nets.images(64).x)
    data = nets.images(40)
    net = fv.Net.from_module(module, "head", example=data.x[:2])
    prior = fv.Gaussian(net.w, torch.full_like(net.w, -4.0))
    method = fv.SABMA(prior, radius=0.1, lr=1e-4)

    def fit(bytes_kept):
        monkeypatch.setenv("FLATVIZ_TRUNK", bytes_kept)
        return fv.fit(net, data, method, steps=4, seed=0)

    whole, short = least(partial(fit, "0"), partial(fit, str(2**30)), repeats=4)
    print(f"head: four SA-BMA steps, from kept activations {whole / short:.1f}x faster")
    assert whole / short > 3  # four steps; looks at the whole network are the rest


def test_a_pool_of_1000_optunets_over_one_after_the_other(task):
    net = fv.Net.from_module(optunet())
    data = task.source.subset(slice(0, 64))
    recipe = dict(epochs=1, lr=0.05, weight_decay=0.0, batch_size=16)
    starts = net.w + 0.1 * torch.randn(1000, net.dim)
    fast, slow = least(
        partial(fv.symmetry.train_pool, net, data, 1000, **recipe),
        partial(one_by_one, net, data, starts, range(1000), **recipe),
        repeats=2,
    )
    print(f"pool of 1,000 OptuNets: {slow / fast:.1f}x")
    assert slow / fast > 10
