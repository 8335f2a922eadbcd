"""Unit norms, sorting, the lightest of all equal networks; rescaling changes sharpness and not one
prediction."""

from functools import partial

import torch
from cases import net_of, rng
from pytest import approx, fixture, mark
from symmetric_networks import NETWORKS, change, cvxpy_mass, network
from torch import allclose, arange, nn, zeros
from torch.testing import assert_close

import flatviz as fv
from flatviz import symmetry

SCALED = [name for name in NETWORKS if name != "tanh"]
EXACT = 1e-10


def summed(units, squares, end):
    """Sum of `squares` (S, E) over the weights that lead into each unit (end "rows") or out of it,
    shifts left out: (S, V)."""
    squares = squares * units.mass
    parts = [squares[:, getattr(layer, end)].sum(2) for layer in units.scaled]
    return torch.cat(parts, 1)


incoming = partial(summed, end="rows")
outgoing = partial(summed, end="columns")


def several(name):
    """(net, units, x, V): as `network` gives them, and five networks far from each other; variances
    above 0."""
    net, units, x = network(name)
    v = units.extended(net)
    noise = torch.randn(5, len(v), generator=rng(11), dtype=v.dtype)
    V = v + 0.5 * v.std() * noise
    for statistic, place in units.statistics.items():
        if statistic.endswith("running_var"):
            V[:, place] = V[:, place].abs() + 0.5
    return net, units, x, V


def scaled_at_random(units, V, seed):
    return symmetry.rescale(units, V, symmetry.random_factor(units, len(V), seed=seed))


def permuted_at_random(units, V, seed):
    return symmetry.permute(units, V, symmetry.random_order(units, len(V), seed=seed))


@mark.parametrize("name", SCALED)
def test_unit_norm_gives_every_hidden_row_the_norm_and_keeps_the_function(name):
    net, units, x, V = several(name)
    W, factor = symmetry.unit_norm(units, V, norm=3.0)
    norms = incoming(units, W.square()).sqrt()
    for layer in units.scaled:
        if name != "residual" or "conv1" in layer.name:  # others are tied
            found = norms[:, layer.start : layer.stop]
            assert_close(found, torch.full_like(found, 3.0), rtol=0, atol=1e-12)
    assert change(net, units, V, W, x) < EXACT
    again, same = symmetry.unit_norm(units, W, norm=3.0)
    assert_close(again, W, rtol=0, atol=1e-12)
    assert_close(same, torch.ones_like(same), rtol=0, atol=1e-12)
    assert (factor > 0).all()


@mark.parametrize("rule", ["first", "max"])
@mark.parametrize("name", ["mlp", "conv and flatten", "optunet", "batchnorm", "residual"])
def test_scaling_then_sorting_gives_one_vector_for_all_equal_networks(name, rule):
    net, units, _, V = several(name)
    moved = permuted_at_random(units, scaled_at_random(units, V, 5), 6)
    one = symmetry.canonical(units, V, rule=rule)
    other = symmetry.canonical(units, moved, rule=rule)
    assert (one - other).abs().max() < EXACT
    assert (one - V).abs().max() > 0.01


@mark.parametrize("rule", ["first", "max"])
def test_sorted_units_stand_in_falling_order_and_sorting_again_changes_nothing(rule):
    net, units, x, V = several("mlp")
    W, order = symmetry.sort_units(units, V, rule=rule)
    assert torch.equal(symmetry.permute(units, V, order), W)
    assert torch.equal(symmetry.sort_units(units, W, rule=rule)[0], W)
    for w in W:
        parts = net.unflatten(w)
        for name in ("0.weight", "2.weight"):
            rows = parts[name]
            key = rows[:, 0] if rule == "first" else rows.amax(1)
            assert key.diff().max() <= 0
    ties = torch.zeros_like(net.w)[None]
    assert symmetry.sort_units(units, ties, rule=rule)[1].equal(arange(9)[None])
    assert change(net, units, V, W, x) < EXACT  # rows of the head are classes and stay


def test_the_least_mass_is_that_of_cvxpy():
    net, units, _, V = several("mlp")
    theirs = torch.tensor([cvxpy_mass(net, v) for v in V[:3]])
    least = symmetry.min_mass(units, V[:3]).after
    assert allclose(least, theirs, rtol=1e-6)  # cvxpy stops at about 1e-8 of its own scale


@mark.parametrize("name", SCALED)
def test_min_mass_keeps_the_function_balances_every_unit_and_is_one_for_the_whole_orbit(name):
    net, units, x, V = several(name)
    least = symmetry.min_mass(units, V, tolerance=1e-15)
    other = symmetry.min_mass(units, scaled_at_random(units, V, 3), tolerance=1e-15)
    assert change(net, units, V, least.W, x) < EXACT
    squares = least.W.square()
    into = incoming(units, squares)
    out = outgoing(units, squares)
    free = units.free
    difference = (into - out) / (into + out)
    assert difference[:, ~free].abs().amax(0).lt(1e-6).all()
    assert least.residual.max() < 1e-6
    assert_close(into[:, free], torch.ones_like(into[:, free]))
    assert allclose(least.after, other.after, rtol=EXACT)
    assert allclose(least.W, other.W, rtol=1e-5, atol=1e-7)
    for mass, W in ((least.after, least.W), (least.before, V)):
        assert allclose(mass, W[:, units.counted].square().sum(1), rtol=1e-12)


@mark.parametrize("end", ["in", "out"])
def test_a_dead_unit_stands_still(end):
    net, units, _ = network("mlp")
    parts = {name: part.clone() for name, part in net.unflatten(net.w).items()}
    if end == "in":
        parts["0.weight"][2] = 0
    else:
        parts["2.weight"][:, 2] = 0
    w = net.flatten(parts)[None]
    least = symmetry.min_mass(units, w)
    unmoved = least.factor[0] == 1.0
    assert unmoved.nonzero().flatten().tolist() == [2]
    assert torch.isfinite(least.W).all()
    assert least.residual < 1e-5
    unit, factor = symmetry.unit_norm(units, w)
    assert torch.isfinite(unit).all()
    assert bool(factor[0, 2] == 1.0) is (end == "in")


def test_a_fixed_layer_before_the_norm_leaves_a_minimum():
    module = nn.Sequential(nn.Linear(6, 5), nn.LayerNorm(5), nn.ReLU(), nn.Linear(5, 3)).double()
    nn.init.uniform_(module[1].weight, 0.5, 2.0)
    net = net_of(module, "norm+head", example=zeros(1, 6).double())
    least = symmetry.min_mass(symmetry.units_of(net), net.w[None])
    gain = module[1].weight.detach().abs()
    head = module[3].weight.detach().norm(dim=0)
    assert allclose(least.after[0], 2 * (gain * head).sum(), rtol=1e-12)


@fixture
def orbit():
    """(net, data) of the MLP; call it for rescaled copies of the network and their measures."""
    net, _, x = network("mlp")
    data = fv.Data(x, arange(20) % 3)
    return net, data, partial(symmetry.rescaled_orbit, net, data, net.w)


def test_each_measure_is_that_of_the_dense_hessian(orbit):
    net, data, rescaled = orbit
    w = net.w
    measures = rescaled(resolution=3).measures
    found = {name: float(values[1]) for name, values in measures.items()}
    H = torch.autograd.functional.hessian(fv.nll(net, data), w)
    largest = torch.linalg.eigvalsh(H)[-1]
    assert found["lambda1"] == approx(float(largest), rel=1e-6)
    first = net.unflatten(w)["0.weight"]  # (5, 6)
    outer = torch.kron(first @ first.T, torch.eye(6).double())
    dense = {
        "trace": H,
        "weighted": H * torch.outer(w, w),
        "relative": outer @ H[:30, :30],
    }
    for name, matrix in dense.items():
        # Of a mean over 20 random signs, four times
        error = 4 * float((2 * matrix.square().sum()).sqrt()) / 20**0.5
        assert found[name] == approx(float(matrix.trace()), abs=error), name


def test_rescaling_changes_sharpness_but_not_predictions(orbit):
    net, _, rescaled = orbit
    found = rescaled(reach=2.0, resolution=9)
    assert found.difference.max() < 1e-12 * max(1.0, found.scale)
    assert allclose(found.W[4], net.w)
    for name in ("lambda1", "trace", "sam", "filter"):
        values = found.measures[name]
        assert float(values.max() / values.min()) > 1.5, name
    for name in ("relative", "asam", "weighted"):
        values = found.measures[name]
        assert allclose(values, values[4].expand_as(values), rtol=1e-8), name
    for curve in found.curves:
        assert curve.values[4] == 1
        assert curve.name in found.measures
