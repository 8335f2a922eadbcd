"""What kept activations of the trunk save of a ResNet-20's training step, by where the first treated layer stands.

Processor time of one thread, the least of several tries in turn: what else runs on the machine hardly counts.
"""

import time

import nets
import pytest
import timing

import flatviz as fv


def last_block(name):
    return name.startswith(("blocks.8", "head"))


@pytest.mark.parametrize(
    ("what", "treated", "least"),
    [
        ("head", lambda name: name.startswith("head"), 20.0),
        ("last block and head", last_block, 4.0),
        (
            "norm layers and head",
            "norm+head",
            0.8,
        ),  # the first norm follows the first convolution: nothing to save, nothing to lose
    ],
)
def test_steps_from_kept_activations_over_steps_through_the_whole_network(what, treated, least):
    module, data = nets.settled(nets.ResNet20(), nets.images(64).x), nets.images(40)
    net = fv.Net.from_module(module, treated, example=data.x[:2])
    late, features = fv.engine.cache_trunk(net, data)
    prior = fv.Gaussian(net.w, net.w.new_full((net.dim,), -4.0))
    settings = dict(radius=0.1, steps=4, lr=1e-4, seed=0)
    whole, short = timing.least(
        lambda: fv.fit_sabma(net, data, prior, **settings),
        lambda: fv.fit_sabma(late, features, prior, **settings),
        repeats=4,
        clock=time.process_time,
    )
    print(f"{what}: four SA-BMA steps on 40 images {1e3 * whole:.0f} ms, from kept activations {whole / short:.1f}x faster")
    assert whole / short > least
