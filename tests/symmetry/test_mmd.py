"""Sets of networks: MMD against its sums written out; pools of networks trained alone; pairs of
equal functions have 0."""

import math
from functools import partial
from itertools import combinations

import numpy as np
import torch
from cases import close, net_of, normals, refused
from oracles import equal, one_by_one, stopping_at
from pytest import approx, mark, raises
from symmetric_networks import mlp, network, optunet
from torch import arange, float64, nn

import flatviz as fv
from flatviz import symmetry

NORMS = {"both": (1, 2), "laplace": (1,), "gaussian": (2,)}


def randn(*shape, seed=0):
    return normals(*shape, source=seed)


def distances(A, B, p):
    """The norms of all differences (n, m)."""
    return (A[:, None] - B).norm(p=p, dim=-1)


def bandwidths(A, p):
    """Ten, in equal ratios, from the distances between the halves of the target."""
    d = distances(*A.chunk(2), p)
    low = float(d.min())
    if low < 0.1:
        low = max(0.1, float(d.flatten().quantile(0.05)))
    high = max(0.3, float(d.max()))
    return np.geomspace(low / 2, 2 * high, 10)


def unequal_pairs(K):
    """The mean of a matrix without its diagonal."""
    return (K.sum() - K.trace()) / (K.numel() - len(K))


def written_out(A, B, norms):
    """Average unbiased MMD^2 over kernels, one kernel at a time."""
    values = []
    for p in norms:
        for h in bandwidths(A, p):
            kernel = lambda X, Y: torch.exp(-((distances(X, Y, p) / h) ** p))  # noqa: B023
            inside = unequal_pairs(kernel(A, A)) + unequal_pairs(kernel(B, B))
            across = kernel(A, B).mean()
            values.append(float(inside - 2 * across))
    return np.mean(values)


@mark.parametrize("kernel", NORMS)
@mark.parametrize(
    "scale, m, n",
    [
        (1, 10, 5),
        (30, 400, 150),  # several blocks of the matrix
        (1e-4, 40, 20),  # distances below the floors of the released code
    ],
)
def test_the_value_is_that_of_the_sums_written_out(scale, m, n, kernel):
    A = scale * randn(m, 3)
    B = scale * (0.5 + randn(n, 3, seed=1))
    found = symmetry.mmd(A, {"b": B}, kernel=kernel, permutations=0)["b"]
    close(found.of(found.names[0]), written_out(A, B, NORMS[kernel]), 1e-6)


def test_one_law_gives_values_about_zero_and_p_values_that_are_uniform():
    values = []
    p = []
    for seed in range(40):
        target = randn(40, 3, seed=2 * seed)
        drawn = randn(20, 3, seed=2 * seed + 1)
        found = symmetry.mmd(target, {"b": drawn}, permutations=60)["b"]
        values.append(float(found.value[0]))
        p.append(found.p_value(found.names[0]))
    standard_error = np.std(values) / 40**0.5
    assert abs(np.mean(values)) < 3 * standard_error
    # Mean of 40 uniforms: 0.5 with standard error 0.046
    assert np.mean(p) == approx(0.5, abs=0.2)
    assert min(p) > 0


def test_each_layer_has_its_value_and_the_median_is_over_layers_only():
    net = net_of(mlp(widths=(3, 2, 2)))
    layers = symmetry.layers_of(net)
    assert list(layers)[:2] == ["0", "2"]
    assert [len(places) for places in layers.values()] == [8, 6, 14]
    A = randn(30, 14)
    B = randn(15, 14, seed=1)
    last = layers["2"]
    B[:, last] += 2.0
    found = symmetry.mmd(A, {"b": B}, layers=layers)["b"]
    alone = symmetry.mmd(A[:, last], {"b": B[:, last]})["b"]
    close(found.of("2"), alone.value, 1e-12)
    close(found.of(), (found.of("0") + found.of("2")) / 2)  # the median of two
    assert found.p_value("0") > 0.02
    assert found.p_value("2") == 1 / 201


@mark.parametrize(
    "target, draws, text",
    [
        (randn(3, 2), randn(5, 2), "vectors of target must be a whole number >= 4"),
        (randn(9, 2), randn(1, 2), "draws of b must be a whole number >= 2"),
        (randn(9, 2), randn(5, 3), r"b must have shape \(S, 2\)"),
    ],
)
def test_sets_that_cannot_be_compared_are_refused(target, draws, text):
    with refused(text):
        symmetry.mmd(target, {"b": draws})


RECIPE = dict(epochs=3, lr=0.3, weight_decay=1e-3, batch_size=8)


def problem(build=mlp, shape=(6,)):
    """A network and 60 inputs that depend on their class."""
    y = arange(60) % 3
    noise = torch.randn(60, *shape, dtype=float64)
    middle = (y - 1.0).view(-1, *[1] * len(shape))
    torch.manual_seed(1)
    net = net_of(build().double())
    return net, fv.Data(0.5 * noise + middle, y)


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
    farther = fv.Data(data.x * 1e6, data.y)
    with refused("hold a network that converged, got 4 that did not: lower lr"):
        symmetry.train_pool(net, farther, n=4, **RECIPE | dict(lr=1e3))


def test_a_stopped_pool_resumes_and_ends_as_if_it_had_never_stopped(tmp_path):
    net, data = problem()
    train = partial(symmetry.train_pool, net, data, n=3, keep_epochs=True, **RECIPE)
    whole = train()
    assert whole.epochs.shape == (4, 3, net.dim)
    assert torch.equal(whole.epochs[-1], whole.W)
    path = tmp_path / "pool.ckpt"
    with raises(KeyboardInterrupt):
        train(checkpoint=path, progress=stopping_at(11))
    assert equal(train(checkpoint=path), whole)


def test_rates_fall_to_a_tenth_at_each_drop():
    net, data = problem()
    train = partial(symmetry.train_pool, net, data, n=2, keep_epochs=True, **RECIPE)
    dropped = train(drops=(2,)).epochs
    plain = train().epochs
    assert torch.equal(dropped[2], plain[2])
    slow = (dropped[3] - dropped[2]).norm()
    fast = (plain[3] - plain[2]).norm()
    assert slow < 0.2 * fast


def test_batchnorm_networks_are_refused():
    net, _, x = network("batchnorm")
    with refused("a pool needs a network without BatchNorm"):
        symmetry.train_pool(net, fv.Data(x, arange(20) % 3), n=2, **RECIPE)


def test_pairs_written_out():
    """19 networks: several blocks of pairs."""
    net, data = problem()
    W = randn(19, net.dim, seed=3)
    found = symmetry.pair_diversity(net, W, data.x)
    probs = [net(w, data.x).softmax(-1) for w in W]
    assert len(found.information) == 171
    for at, (p, q) in enumerate(combinations(probs, 2)):
        middle = ((p + q) / 2).log()
        divergences = [nn.functional.kl_div(middle, r, reduction="batchmean") for r in (p, q)]
        close(found.information[at], sum(divergences) / 2, 1e-9)
        assert found.disagreement[at] == (p.argmax(1) != q.argmax(1)).double().mean()
