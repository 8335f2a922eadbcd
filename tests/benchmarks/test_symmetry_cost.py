"""Batched symmetry verbs against the same work done one network after the other.

Processor time of one thread, the least of a few tries: what else runs on the machine hardly counts.
"""

import time
from functools import partial

import nets
import timing
import torch
from symmetric_networks import cvxpy_mass

import flatviz as fv
from flatviz.training.gradient import gradient
from flatviz.training.losses import training_loss
from flatviz.training.optimize import minibatches
from flatviz.training.run import Run

least = partial(timing.least, clock=time.process_time)


def perceptrons(n):
    torch.manual_seed(0)
    net = fv.Net.from_module(nets.mlp(64, 16, 16, 10).double())
    return net, fv.symmetry.units_of(net), net.w * (1 + 0.5 * torch.randn(n, net.dim, dtype=torch.float64))


def test_least_mass_of_256_networks_over_cvxpy_one_by_one():
    net, units, W = perceptrons(256)
    some = [cvxpy_mass(net, w) for w in W[:4]]
    torch.testing.assert_close(fv.symmetry.min_mass(units, W).after[:4], torch.tensor(some), rtol=1e-6, atol=0)
    ours, theirs = least(lambda: fv.symmetry.min_mass(units, W), lambda: [cvxpy_mass(net, w) for w in W[:4]])
    print(f"least mass: {256 / 4 * theirs / ours:.0f}x, {1e6 * ours / 256:.0f} us a network against {1e3 * theirs / 4:.0f} ms")
    assert 256 / 4 * theirs / ours > 50


def test_a_pool_of_1000_optunets_over_one_after_the_other():
    """20 steps of SGD on 8 x 8 digits, minibatches of 16: all at once, and for 20 networks in turn."""
    train = fv.datasets.digits_transfer(shots=10, seed=0).source
    task = fv.Task(train, train, train, n_classes=10)
    net = fv.Net.from_module(fv.models.optunet(task))
    assert net.dim == 168
    W = net.w + 0.1 * torch.randn(1000, net.dim)
    loss = training_loss(net, train, Run(0), 1000)
    batches = [index for _, index in zip(range(4), minibatches(len(train), 16, list(range(1000)), net.device))]
    one = training_loss(net, train, Run(0))
    ours, theirs = least(
        lambda: [gradient(loss, W, index) for index in batches],
        lambda: [gradient(one, W[i], index[i]) for index in batches for i in range(20)],
    )
    print(f"pool of 1,000 OptuNets: {50 * theirs / ours:.1f}x, {1e6 * ours / 4000:.0f} us a step of a network")
    assert 50 * theirs / ours > 10


def test_aligning_1000_networks_to_one_reference():
    net, units, W = perceptrons(1000)
    (seconds,) = least(lambda: fv.symmetry.align(units, W, net.w), repeats=1)
    print(f"alignment: {1e3 * seconds / 1000:.2f} ms a network, 5 starts")
    assert seconds / 1000 < 0.05
