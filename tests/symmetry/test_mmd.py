"""Sets of networks: MMD against its sums written out; pools of networks trained alone; pairs of
equal functions have 0."""

import itertools
import math
from functools import partial
from itertools import combinations

import torch
from cases import rng
from oracles import equal, one_by_one, stopping_at
from pytest import approx, mark, raises
from symmetric_networks import mlp, network, optunet
from torch import allclose, float64, nn, stack

import flatviz as fv
from flatviz import symmetry
from flatviz.symmetry.discrepancy import bandwidths


def randn(*shape, seed=0):
    return torch.randn(*shape, generator=rng(seed), dtype=float64)


def written_out(A, B, norms):
    """Average unbiased MMD^2 over kernels, one pair and one kernel at a time."""
    values = []
    for p, h in [(norm, h) for norm in norms for h in bandwidths(A)[norm]]:
        k = lambda x, y, p=p, h=h: torch.exp(-(((x - y).norm(p=p) / h) ** p))
        inside = [
            sum(k(*pair) for pair in itertools.permutations(S, 2)) / (len(S) * (len(S) - 1))
            for S in (A, B)
        ]
        values.append(sum(inside) - 2 * sum(k(a, b) for a in A for b in B) / (len(A) * len(B)))
    return float(stack(values).mean())


@mark.parametrize("block", [3, 7, 512])
@mark.parametrize(
    "kernel, norms", [("both", (1.0, 2.0)), ("laplace", (1.0,)), ("gaussian", (2.0,))]
)
def test_the_value_is_that_of_the_sums_written_out_whatever_the_block(
    block, kernel, norms, monkeypatch
):
    A = randn(9, 3)
    B = 0.5 + randn(5, 3, seed=1)
    monkeypatch.setattr("flatviz.symmetry.discrepancy.BLOCK", block)
    value = symmetry.mmd(A, {"b": B}, kernel=kernel, permutations=0)["b"].value
    assert value[0] == approx(written_out(A, B, norms), rel=1e-12)


def test_bandwidths_follow_the_formula_and_look_at_the_target_alone():
    A = 3 * randn(40, 5)
    grid = bandwidths(A)
    for p, hs in grid.items():
        d = stack([(a - b).norm(p=p) for a in A[:20] for b in A[20:]])
        assert hs[0] == approx(float(d.min()) / 2)
        assert hs[-1] == approx(2 * float(d.max()))
        assert allclose(hs[1:] / hs[:-1], hs[1] / hs[0])
    # All distances below the floors of the released code
    near = stack(list(bandwidths(1e-4 * A).values()))
    assert allclose(near[:, 0], torch.full((2,), 0.05, dtype=near.dtype))
    assert allclose(near[:, -1], torch.full((2,), 0.6, dtype=near.dtype))


def test_one_law_gives_values_about_zero_and_p_values_that_are_uniform():
    sets = [
        (randn(40, 3, seed=2 * seed), {"b": randn(20, 3, seed=2 * seed + 1)}) for seed in range(40)
    ]
    found = [symmetry.mmd(*both, permutations=60)["b"] for both in sets]
    values = torch.cat([f.value for f in found])
    p = [f.p_value(f.names[0]) for f in found]
    # unbiased, within three standard errors
    assert abs(values.mean()) < 3 * float(values.std()) / 40**0.5
    # Mean of 40 uniforms: 0.5 with standard error 0.046
    assert 0.3 < sum(p) / 40 < 0.7
    assert min(p) > 0


def test_each_layer_has_its_value_and_the_median_is_over_layers_only():
    net = fv.Net.from_module(nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 2)))
    layers = symmetry.layers_of(net)
    assert list(layers)[:2] == ["0", "2"]
    assert [len(i) for i in layers.values()] == [8, 6, 14]
    A = randn(30, 14)
    B = randn(15, 14, seed=1)
    B[:, layers["2"]] += 2.0
    found = symmetry.mmd(A, {"b": B}, layers=layers)["b"]
    alone = symmetry.mmd(A[:, layers["2"]], {"b": B[:, layers["2"]]})["b"]
    assert found.value[1] == approx(float(alone.value[0]), rel=1e-12)
    assert found.of() == approx(float(found.value[:2].mean()))  # the median of two
    assert found.p_value("0") > 0.02
    assert found.p_value("2") == 1 / 201
    assert found.of("2") > 0


@mark.parametrize(
    "target, draws, text",
    [
        (randn(3, 2), randn(5, 2), "vectors of target must be a whole number >= 4"),
        (randn(9, 2), randn(1, 2), "draws of b must be a whole number >= 2"),
        (randn(9, 2), randn(5, 3), r"b must have shape \(S, 2\)"),
    ],
)
def test_sets_that_cannot_be_compared_are_refused(target, draws, text):
    with raises(ValueError, match=text):
        symmetry.mmd(target, {"b": draws})


RECIPE = dict(epochs=3, lr=0.3, weight_decay=1e-3, batch_size=8)


def problem(build=mlp, shape=(6,)):
    x = torch.randn(60, *shape, dtype=float64)
    y = torch.arange(60) % 3
    torch.manual_seed(1)
    return fv.Net.from_module(build().double()), fv.Data(
        0.5 * x + (y - 1.0).view(-1, *[1] * len(shape)), y
    )


@mark.parametrize("build, shape", [(mlp, (6,)), (optunet, (1, 8, 8))])
def test_a_member_of_the_pool_is_the_network_trained_alone(build, shape):
    net, data = problem(build, shape)
    pool = symmetry.train_pool(net, data, n=4, seed=5, keep_epochs=True, **RECIPE)
    assert len(pool) >= 2
    alone = one_by_one(net, data, pool.epochs[0], pool.seeds.tolist(), **RECIPE)
    torch.testing.assert_close(pool.W, alone, rtol=1e-9, atol=1e-9)


def test_diverged_members_are_counted_and_left_out():
    net, data = problem()
    # On inputs this large many a network never learns, and some overflow
    far = fv.Data(data.x * 1e3, data.y)
    pool = symmetry.train_pool(net, far, n=30, **RECIPE | dict(lr=0.05))
    assert 0 < pool.n_diverged < 30
    assert len(pool) + pool.n_diverged == 30
    assert torch.isfinite(pool.W).all()
    assert pool.loss.max() < math.log(3)
    with raises(
        ValueError, match="must hold a network that converged, got 4 that did not: lower lr"
    ):
        symmetry.train_pool(net, fv.Data(data.x * 1e6, data.y), n=4, **RECIPE | dict(lr=1e3))


def test_a_stopped_pool_resumes_and_ends_as_if_it_had_never_stopped(tmp_path):
    net, data = problem()
    train = partial(symmetry.train_pool, net, data, n=3, keep_epochs=True, **RECIPE)
    whole = train()
    assert whole.epochs.shape == (4, 3, net.dim)
    assert torch.equal(whole.epochs[-1], whole.W)
    with raises(KeyboardInterrupt):
        train(checkpoint=tmp_path / "pool.ckpt", progress=stopping_at(11))
    assert equal(train(checkpoint=tmp_path / "pool.ckpt"), whole)


def test_rates_fall_to_a_tenth_at_each_drop():
    net, data = problem()
    first, plain = (
        symmetry.train_pool(net, data, n=2, keep_epochs=True, drops=d, **RECIPE).epochs
        for d in ((2,), ())
    )
    assert torch.equal(first[2], plain[2])
    assert (first[3] - first[2]).norm() < 0.2 * (plain[3] - plain[2]).norm()


def test_batchnorm_networks_are_refused():
    net, _, x = network("batchnorm")
    with raises(ValueError, match="a pool needs a network without BatchNorm"):
        symmetry.train_pool(net, fv.Data(x, torch.arange(20) % 3), n=2, **RECIPE)


def test_pairs_written_out(monkeypatch):
    net, data = problem()
    W = torch.randn(7, net.dim, dtype=float64, generator=rng(3))
    for block in (2, 100):
        monkeypatch.setattr("flatviz.symmetry.pool.BLOCK", block)
        found = symmetry.pair_diversity(net, W, data.x)
        assert len(found.information) == 21
        for at, (p, q) in enumerate(combinations((net(w, data.x).softmax(-1) for w in W), 2)):
            m = (p + q) / 2
            js = 0.5 * ((p * (p / m).log()).sum(1) + (q * (q / m).log()).sum(1)).mean()
            assert found.information[at] == approx(float(js), rel=1e-9)
            assert found.disagreement[at] == (p.argmax(1) != q.argmax(1)).double().mean()
