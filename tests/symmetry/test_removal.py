"""Unit norms, sorting, the lightest of all equal networks; rescaling changes sharpness and not one
prediction."""

from functools import partial

import torch
from cases import rng
from pytest import approx, mark
from symmetric_networks import NETWORKS, change, cvxpy_mass, network
from torch import allclose, nn
from torch.testing import assert_close

import flatviz as fv
from flatviz import symmetry
from flatviz.symmetry import rescaled_orbit

SCALED = [name for name in NETWORKS if name != "tanh"]
LIGHT = ["mlp", "conv and flatten", "optunet", "residual", "batchnorm", "layernorm"]


def summed(units, squares, end):
    """Sum of `squares` (S, E) over the weights that lead into each unit (end "rows") or out of it,
    shifts left out: (S, V)."""
    return torch.cat(
        [(squares * units.mass)[:, getattr(layer, end)].sum(2) for layer in units.scaled], 1
    )


incoming = partial(summed, end="rows")
outgoing = partial(summed, end="columns")


def several(name):
    """(net, units, x, V): as `network` gives them, and five networks far from each other; variances
    above 0."""
    net, units, x = network(name)
    v = units.extended(net)
    V = v + 0.5 * torch.randn(5, len(v), generator=rng(11), dtype=v.dtype) * v.std()
    for statistic, place in units.statistics.items():
        if statistic.endswith("running_var"):
            V[:, place] = V[:, place].abs() + 0.5
    return net, units, x, V


@mark.parametrize("name", SCALED)
def test_unit_norm_gives_every_hidden_row_the_norm_and_keeps_the_function(name):
    net, units, x, V = several(name)
    W, factor = symmetry.unit_norm(units, V, norm=3.0)
    # Others are tied
    rows = units.scaled if name != "residual" else [r for r in units.scaled if "conv1" in r.name]
    norms = torch.cat([incoming(units, W.square()).sqrt()[:, r.start : r.stop] for r in rows], 1)
    assert_close(norms, torch.full_like(norms, 3.0), rtol=0, atol=1e-12)
    assert change(net, units, V, W, x) < 1e-10
    again, same = symmetry.unit_norm(units, W, norm=3.0)
    assert_close((again, same), (W, torch.ones_like(same)), rtol=0, atol=1e-12)
    assert (factor > 0).all()


@mark.parametrize("rule", ["first", "max"])
@mark.parametrize("name", ["mlp", "conv and flatten", "optunet", "batchnorm", "residual"])
def test_scaling_then_sorting_gives_one_vector_for_all_equal_networks(name, rule):
    net, units, _, V = several(name)
    scaled = symmetry.rescale(units, V, symmetry.random_factor(units, len(V), seed=5))
    permuted = symmetry.permute(units, scaled, symmetry.random_order(units, len(V), seed=6))
    one, other = (symmetry.canonical(units, W, rule=rule) for W in (V, permuted))
    assert (one - other).abs().max() < 1e-10
    assert (one - V).abs().max() > 0.01


@mark.parametrize("rule", ["first", "max"])
def test_sorted_units_stand_in_falling_order_and_sorting_again_changes_nothing(rule):
    net, units, x, V = several("mlp")
    W, order = symmetry.sort_units(units, V, rule=rule)
    assert torch.equal(symmetry.permute(units, V, order), W)
    assert torch.equal(symmetry.sort_units(units, W, rule=rule)[0], W)
    for parts in map(net.unflatten, W):
        for rows in (parts["0.weight"], parts["2.weight"]):
            assert (rows[:, 0] if rule == "first" else rows.amax(1)).diff().max() <= 0
    head = [net.unflatten(v)["4.weight"].sort(1).values for v in (V[0], W[0])]
    assert torch.equal(*head), "rows of the head are classes and stay where they are"
    ties = torch.zeros_like(net.w)[None]
    assert symmetry.sort_units(units, ties, rule=rule)[1].equal(torch.arange(9)[None])
    assert change(net, units, V, W, x) < 1e-10


def test_the_least_mass_is_that_of_cvxpy():
    net, units, _, V = several("mlp")
    theirs = torch.tensor([cvxpy_mass(net, v) for v in V[:3]])
    least = symmetry.min_mass(units, V[:3]).after
    assert allclose(least, theirs, rtol=1e-6)  # cvxpy stops at about 1e-8 of its own scale


@mark.parametrize("name", LIGHT)
def test_min_mass_keeps_the_function_balances_every_unit_and_is_one_for_the_whole_orbit(name):
    net, units, x, V = several(name)
    least = symmetry.min_mass(units, V, tolerance=1e-15)
    moved = symmetry.rescale(units, V, symmetry.random_factor(units, len(V), seed=3))
    other = symmetry.min_mass(units, moved, tolerance=1e-15)
    assert change(net, units, V, least.W, x) < 1e-10
    a, b = (length(units, least.W.square())[:, ~units.free] for length in (incoming, outgoing))
    assert ((a - b) / (a + b)).abs().max() < 1e-6
    assert least.residual.max() < 1e-6
    assert_close(
        incoming(units, least.W.square())[:, units.free],
        torch.ones(5, int(units.free.sum())).double(),
    )
    assert allclose(least.after, other.after, rtol=1e-10)
    assert allclose(least.W, other.W, rtol=1e-5, atol=1e-7)
    for said, W in ((least.after, least.W), (least.before, V)):
        assert allclose(said, W[:, units.counted].square().sum(1), rtol=1e-12)


@mark.parametrize("end", ["in", "out"])
def test_a_dead_unit_stands_still(end):
    net, units, _ = network("mlp")
    parts = {k: v.clone() for k, v in net.unflatten(net.w).items()}
    (parts["0.weight"][2] if end == "in" else parts["2.weight"][:, 2]).zero_()
    w = net.flatten(parts)[None]
    least = symmetry.min_mass(units, w)
    assert (least.factor[0] == 1.0).nonzero().flatten().tolist() == [2]
    assert torch.isfinite(least.W).all()
    assert least.residual < 1e-5
    unit, factor = symmetry.unit_norm(units, w)
    assert torch.isfinite(unit).all()
    assert (float(factor[0, 2]) == 1.0) == (end == "in")


def test_a_fixed_layer_before_the_norm_leaves_a_minimum():
    module = nn.Sequential(nn.Linear(6, 5), nn.LayerNorm(5), nn.ReLU(), nn.Linear(5, 3)).double()
    with torch.no_grad():
        module[1].weight.uniform_(0.5, 2.0)
    net = fv.Net.from_module(module, "norm+head", example=torch.zeros(1, 6).double())
    least = symmetry.min_mass(symmetry.units_of(net), net.w[None])
    gain = module[1].weight.detach().abs()
    head = module[3].weight.detach().norm(dim=0)
    assert allclose(least.after[0], 2 * (gain * head).sum(), rtol=1e-12)


def of_mlp():
    net, _, x = network("mlp")
    return net, fv.Data(x, torch.arange(20) % 3)


def test_each_measure_is_that_of_the_dense_hessian(monkeypatch):
    net, data = of_mlp()
    w = net.w
    f = fv.nll(net, data)
    W1 = net.unflatten(net.w)["0.weight"]
    H = torch.autograd.functional.hessian(f, w)
    monkeypatch.setattr("flatviz.symmetry.minmass.PROBES", 400)
    measures = symmetry.rescaled_orbit(net, data, w, resolution=3).measures
    found = {name: values[1] for name, values in measures.items()}  # of w itself
    assert found["lambda1"] == approx(float(torch.linalg.eigvalsh(H)[-1]), rel=1e-6)
    # The first layer's, 5 x 6
    relative = torch.kron(W1 @ W1.T, torch.eye(6, dtype=torch.float64)) @ H[:30, :30]
    for name, matrix in {
        "trace": H,
        "weighted": H * torch.outer(w, w),
        "relative": relative,
    }.items():
        # Of a mean over 400 random signs, at most so
        error = 4 * float((2 * matrix.square().sum()).sqrt()) / 400**0.5
        assert abs(float(found[name]) - float(matrix.trace())) < error, name


def test_rescaling_changes_sharpness_but_not_predictions():
    net, data = of_mlp()
    found = rescaled_orbit(net, data, net.w, reach=2.0, resolution=9)
    assert found.difference.max() < 1e-12 * max(1.0, found.scale)
    middle = len(found.t) // 2
    assert allclose(found.W[middle], net.w)
    for name, values in found.measures.items():
        if name in ("lambda1", "trace", "sam", "filter"):
            assert float(values.max() / values.min()) > 1.5, name
        elif name in ("relative", "asam", "weighted"):
            assert allclose(values, values[middle].expand_as(values), rtol=1e-8), name
    assert all(c.values[middle] == 1 and c.name in found.measures for c in found.curves)
