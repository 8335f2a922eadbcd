"""Pools: a member is the network trained alone; diverged ones are counted and left out; pairs of equal functions have 0."""

import math
from functools import partial
from itertools import combinations

import pytest
import torch
from oracles import equal, one_by_one, stopping_at
from symmetric_networks import mlp, network, optunet

import flatviz as fv
from flatviz.symmetry import pool as pools

RECIPE = dict(epochs=3, lr=0.3, weight_decay=1e-3, batch_size=8)


def problem(build=mlp, shape=(6,)):
    x, y = torch.randn(60, *shape, dtype=torch.float64), torch.arange(60) % 3
    torch.manual_seed(1)
    return fv.Net.from_module(build().double()), fv.Data(0.5 * x + (y - 1.0).view(-1, *[1] * len(shape)), y)


@pytest.mark.parametrize(("build", "shape"), [(mlp, (6,)), (optunet, (1, 8, 8))])
def test_a_member_of_the_pool_is_the_network_trained_alone(build, shape):
    net, data = problem(build, shape)
    pool = fv.symmetry.train_pool(net, data, n=4, seed=5, **RECIPE)
    assert len(pool) >= 2
    torch.testing.assert_close(pool.W, one_by_one(net, data, pool.seeds.tolist(), **RECIPE), rtol=1e-9, atol=1e-9)


def test_diverged_members_are_counted_and_left_out():
    net, data = problem()
    far = fv.Data(data.x * 1e3, data.y)  # on inputs this large many a network never learns, and some overflow
    pool = fv.symmetry.train_pool(net, far, n=30, **RECIPE | dict(lr=0.05))
    assert 0 < pool.n_diverged < 30 and len(pool) + pool.n_diverged == 30
    assert bool(torch.isfinite(pool.W).all()) and float(pool.loss.max()) < math.log(3)
    with pytest.raises(ValueError, match="must hold a network that converged, got 4 that did not: lower lr"):
        fv.symmetry.train_pool(net, fv.Data(data.x * 1e6, data.y), n=4, **RECIPE | dict(lr=1e3))


def test_a_stopped_pool_resumes_and_ends_as_if_it_had_never_stopped(tmp_path):
    net, data = problem()
    train = partial(fv.symmetry.train_pool, net, data, n=3, keep_epochs=True, **RECIPE)
    whole = train()
    assert whole.epochs.shape == (4, 3, net.dim) and torch.equal(whole.epochs[-1], whole.W)
    with pytest.raises(KeyboardInterrupt):
        train(checkpoint=tmp_path / "pool.ckpt", progress=stopping_at(11))
    assert equal(train(checkpoint=tmp_path / "pool.ckpt"), whole)


def test_rates_fall_to_a_tenth_at_each_drop():
    net, data = problem()
    first, plain = (fv.symmetry.train_pool(net, data, n=2, keep_epochs=True, drops=d, **RECIPE).epochs for d in ((2,), ()))
    assert torch.equal(first[2], plain[2]) and float((first[3] - first[2]).norm()) < 0.2 * float((plain[3] - plain[2]).norm())


def test_batchnorm_networks_are_refused():
    net, _, x = network("batchnorm")
    with pytest.raises(ValueError, match="a pool needs a network without BatchNorm"):
        fv.symmetry.train_pool(net, fv.Data(x, torch.arange(20) % 3), n=2, **RECIPE)


def test_pairs_written_out(monkeypatch):
    net, data = problem()
    W = torch.randn(7, net.dim, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    for block in (2, 100):
        monkeypatch.setattr(pools, "BLOCK", block)
        found = fv.symmetry.pair_diversity(net, W, data.x)
        assert len(found.information) == 21
        for at, (p, q) in enumerate(combinations((net(w, data.x).softmax(-1) for w in W), 2)):
            m = (p + q) / 2
            js = 0.5 * ((p * (p / m).log()).sum(1) + (q * (q / m).log()).sum(1)).mean()
            assert float(found.information[at]) == pytest.approx(float(js), rel=1e-9)
            assert float(found.disagreement[at]) == float((p.argmax(1) != q.argmax(1)).double().mean())


def test_symmetric_networks_have_no_information_and_answers_that_never_meet_have_ln_2():
    net, units, x = network("mlp")
    scaled = fv.symmetry.rescale(units, net.w[None], fv.symmetry.random_factor(units, 1, seed=0))
    moved = fv.symmetry.permute(units, scaled, fv.symmetry.random_order(units, 1, seed=1))
    found = fv.symmetry.pair_diversity(net, torch.cat([net.w[None], moved]), x)
    assert float(found.information) < 1e-12 and float(found.disagreement) == 0.0
    sure = torch.zeros(2, net.dim, dtype=torch.float64)
    sure[0, -3], sure[1, -1] = 1e3, 1e3  # the head's shifts alone
    found = fv.symmetry.pair_diversity(net, sure, x)
    assert float(found.information) == pytest.approx(math.log(2)) and float(found.disagreement) == 1.0
