"""What permutations, scaling and sign flips keep and where they are refused; alignment undoes
permutations."""

import contextlib
import itertools

import torch
from cases import net_of, refused, rng
from pytest import mark
from symmetric_networks import NETWORKS, by_layers, change, mlp, network, optunet
from torch import arange, float64, full, nn, ones, randn, tensor
from torch.nn import Linear, ReLU, Sequential

from flatviz import symmetry

EXACT = 1e-10  # float64; seen 1e-15
RANDOM = {"permute": symmetry.random_order, "rescale": symmetry.random_factor}


def several(net, units):
    v = units.extended(net)
    return v * (1 + 0.3 * torch.rand(4, len(v), generator=rng(7), dtype=v.dtype))


def acted(action, units, V, seed=1):
    """V after random permutations or factors."""
    verb = getattr(symmetry, action)
    return verb(units, V, RANDOM[action](units, len(V), seed=seed))


@mark.parametrize("action", RANDOM)
@mark.parametrize("name", NETWORKS)
def test_permuting_and_scaling_units_move_the_weights_and_not_the_function(name, action):
    net, units, x = network(name)
    V = several(net, units)
    if (action, name) == ("rescale", "tanh"):
        with refused("positively homogeneous .*, got tanh after '0'"):
            acted(action, units, V)
        return
    moved = acted(action, units, V)
    assert (moved - V).abs().max() > 0.01
    assert change(net, units, V, moved, x) < EXACT


def test_both_are_the_matrix_products_of_the_paper():
    net, units, _ = network("mlp")
    V = several(net, units)
    order = symmetry.random_order(units, 4, seed=2)
    factor = symmetry.random_factor(units, 4, seed=3)
    ours = symmetry.permute(units, symmetry.rescale(units, V, factor), order)
    theirs = torch.stack([by_layers(net, *row) for row in zip(V, order, factor)])
    assert torch.allclose(ours, theirs, rtol=1e-13, atol=0)


def test_tanh_units_flip_their_signs():
    net, units, x = network("tanh")
    V = several(net, units)
    sign = ones(units.n_scaled, dtype=float64)
    sign[[0, 3, 6]] = -1
    flipped = symmetry.flip(units, V, sign)
    assert change(net, units, V, flipped, x) < EXACT


@mark.parametrize(
    "activation, name",
    [
        (nn.SiLU, "silu"),
        (nn.GELU, "gelu"),
        (nn.ReLU6, "hardtanh"),
        (nn.Sigmoid, "sigmoid"),
    ],
)
def test_functions_that_are_neither_homogeneous_nor_odd_refuse_both(activation, name):
    net = net_of(mlp(activation))
    units = symmetry.units_of(net)
    for verb, value in ((symmetry.rescale, 2.0), (symmetry.flip, -1.0)):
        with refused(f"got {name} after '0'; {name} after '2': leave"):
            verb(units, net.w[None], full((9,), value))
    assert symmetry.permute(units, net.w[None], arange(9)).equal(net.w[None])


def test_relu_units_do_not_flip():
    net, units, _ = network("mlp")
    with refused("odd functions of hidden units, got relu"):
        symmetry.flip(units, net.w[None], -ones(9).double())


def test_batchnorm_is_exact_without_eps():
    net, units, x = network("batchnorm")
    v = units.extended(net)[None]
    unit, _ = symmetry.unit_norm(units, v)
    gain = net.unflatten(unit[0, : net.dim])["1.weight"]
    assert (gain.abs() - 1).abs().max() < 1e-12
    convolutions = full((units.n_scaled,), 3.0, dtype=float64)
    for layer in units.scaled:
        if layer.name in ("1", "4"):
            convolutions[layer.start : layer.stop] = 1
    for exact in (unit, symmetry.rescale(units, v, convolutions)):
        assert change(net, units, v, exact, x) < EXACT


def test_optunet_has_392_weights_and_28800_permutations_each_of_which_keeps_the_function():
    net = net_of(optunet(28).double())
    units = symmetry.units_of(net)
    assert net.dim == 392
    assert units.n_scaled == 12
    group = list(itertools.permutations(range(5)))  # by enumeration
    orders = []
    for one, other in itertools.product(group, group):
        first = [2 + i for i in one]
        second = [7 + i for i in other]
        orders += [[0, 1, *first, *second], [1, 0, *second, *first]]
    moved = symmetry.permute(units, net.w.expand(28_800, -1), tensor(orders))
    assert len(moved.unique(dim=0)) == 28_800
    x = randn(2, 1, 28, 28, dtype=float64)
    outputs = net(net.w, x)
    for w in moved[::450]:
        assert (net(w, x) - outputs).abs().max() < EXACT


@mark.parametrize(
    "name, action, values, text",
    [
        ("mlp", "permute", [0] * 9, "once each in layer '0'"),
        ("mlp", "permute", range(8), r"shape \(9,\), or"),
        ("mlp", "permute", [8, *range(8)], "once each in layer '0'"),
        ("mlp", "permute", [range(9)] * 3, "a row for each of the 1 networks"),
        ("mlp", "rescale", [-1.0] * 9, "above 0, got -1"),
        ("mlp", "rescale", [1.0] * 4, r"shape \(9,\)"),
        ("batchnorm", "permute", range(9), "running statistics move with its units"),
        ("optunet", "permute", [0, 1, 7, *range(3, 7), 2, *range(8, 12)], "keep its 2 groups"),
        ("optunet", "permute", [1, 0, *range(2, 12)], "swap whole groups"),
    ],
)
def test_what_is_no_permutation_or_factor_of_these_units_is_refused(name, action, values, text):
    net, units, _ = network(name)
    with refused(text):
        getattr(symmetry, action)(units, net.w[None], tensor(values))


@mark.parametrize("factor", [1e-44, 3e38])
def test_factors_that_take_weights_out_of_the_numbers_range_are_refused(factor):
    net = net_of(Sequential(Linear(3, 4), ReLU(), Linear(4, 2)))
    units = symmetry.units_of(net)
    with refused("factor must keep the weights inside torch.float32, .* 0 or infinite"):
        symmetry.rescale(units, 9 * net.w[None], torch.full((4,), factor))


def test_only_layers_whose_weights_are_all_treated_are_moved():
    first = Linear(6, 5), nn.LayerNorm(5), ReLU()
    second = Linear(5, 4), nn.LayerNorm(4), ReLU()
    module = Sequential(*first, *second, Linear(4, 3)).double()
    x = randn(9, 6, dtype=float64)
    net = net_of(module, "norm+head", example=x)
    units = symmetry.units_of(net)
    assert not units.permuted
    assert [layer.name for layer in units.scaled] == ["4"]
    V = several(net, units)
    assert change(net, units, V, acted("rescale", units, V), x) < EXACT
    with refused("got none: treat all weights"):
        symmetry.permute(units, V, arange(0))


class Hand(nn.Module):
    """Attention written by hand between layers of units."""

    def __init__(self):
        super().__init__()
        self.q = Linear(4, 4)
        self.k = Linear(4, 4)
        self.v = Linear(4, 4)
        self.last = Linear(4, 4)

    def forward(self, x):
        attend = nn.functional.scaled_dot_product_attention
        return self.last(attend(self.q(x), self.k(x), self.v(x)).mean(1))


def block():
    layer = nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0, batch_first=True)
    return Sequential(layer, nn.Flatten(), Linear(20, 4), ReLU(), Linear(4, 3))


def softmax():
    return Sequential(Linear(4, 6), nn.Softmax(-1), nn.PReLU(), Linear(6, 3))


IN_BLOCK = ["self_attn", "self_attn.out_proj", "linear2", "norm1", "norm2"]


@mark.parametrize(
    "make, at_rest, moved",
    [
        (Hand, ["q", "k", "v"], []),
        (block, [f"0.{name}" for name in IN_BLOCK], ["0.linear1", "2"]),
        (softmax, ["2"], ["0"]),
    ],
)
def test_attention_stands_still_by_name_and_what_does_the_same_to_each_unit_moves(
    make, at_rest, moved
):
    module = make().double().eval()
    net = net_of(module, example=torch.zeros(2, 5, 4).double())
    units = symmetry.units_of(net)
    # torch 2.9 computes it as products: units of v are followed through, and move
    if make is Hand and units.permuted:
        at_rest = ["q", "k"]
        moved = ["v"]
    assert [text.split("'")[1] for text in units.unmoved] == at_rest
    assert [layer.name for layer in units.permuted] == moved
    assert f"left out, see units.unmoved: {len(at_rest)}" in repr(units)
    V = several(net, units)
    if moved:
        x = randn(9, 5, 4).double()
        assert change(net, units, V, acted("permute", units, V), x) < EXACT
    else:
        with refused(r"these do not move: 'q' \(_scaled_dot"):
            acted("permute", units, V)


def test_a_module_with_conditions_on_its_input_is_refused():
    class Branching(Linear):
        def forward(self, x):
            return super().forward(x) if x.sum() > 0 else x

    with refused(r"operations can be recorded, got Branching", TypeError):
        symmetry.units_of(net_of(Branching(3, 3)))


def test_random_orders_are_uniform_over_the_group():
    _, units, _ = network("optunet")
    orders = symmetry.random_order(units, 4000, seed=0)
    swapped = (orders[:, 0] == 1).double().mean()
    shares = torch.bincount(orders[:, 2], minlength=12)[2:] / 4000
    # 5 standard errors of a share of 4,000
    assert abs(float(swapped) - 0.5) < 0.04
    assert (shares - 0.1).abs().max() < 0.025


class Reads(nn.Module):
    """A hidden layer of which one number is read past it."""

    def __init__(self, read):
        super().__init__()
        self.first = Linear(6, 8)
        self.last = Linear(8, 3)
        self.read = read

    def forward(self, x):
        return self.last(torch.relu(self.first(x))) + self.read(self, x)


class Reordered(nn.Module):
    """Hidden numbers picked by an index that is computed from the inputs."""

    def __init__(self, axis):
        super().__init__()
        self.first = Linear(6, 8)
        self.last = Linear(8 if axis == 0 else 6, 3)
        self.axis = axis

    def forward(self, x):
        hidden = torch.relu(self.first(x))
        index = x.argsort(self.axis).select(1 - self.axis, 0)
        return self.last(hidden.index_select(self.axis, index))


def test_units_pass_an_index_of_examples():
    net = net_of(Reordered(axis=0).double())
    units = symmetry.units_of(net)
    assert len(units.permuted) == 1
    V = several(net, units)
    x = randn(9, 6, dtype=float64)
    assert change(net, units, V, acted("permute", units, V), x) < EXACT


def reads_a_unit_twice():
    return Reads(lambda module, x: module.first(x)[:, :1])


def reads_a_bias():
    return Reads(lambda module, x: module.first.bias[0])


def hooked():
    module = mlp(widths=(6, 8, 3))
    module[0].register_forward_hook(lambda _, inputs, out: out * arange(1, 9))
    return module


def picks_units():
    return Reordered(axis=1)


def repeated():
    layer = Linear(6, 6)
    return Sequential(Linear(6, 6), ReLU(), layer, ReLU(), layer, ReLU(), Linear(6, 3))


@mark.parametrize("make", [hooked, picks_units, repeated, reads_a_unit_twice, reads_a_bias])
def test_an_action_that_would_change_outputs_is_refused(make):
    net = net_of(make())
    units = symmetry.units_of(net)
    W = net.w[None]
    with refused("permutations of units need .*, got"):
        acted("permute", units, W)
    with contextlib.suppress(ValueError):
        (moved,) = acted("rescale", units, W)
        x = randn(20, 6)
        torch.testing.assert_close(net(moved, x), net(net.w, x), rtol=1e-4, atol=1e-4)


@mark.parametrize("name", NETWORKS)
def test_a_permuted_copy_with_noise_is_brought_back(name):
    net, units, x = network(name)
    v = units.extended(net)
    V = v + 0.02 * v.std() * randn(30, len(v), dtype=v.dtype)
    moved = acted("permute", units, V)
    found = symmetry.align(units, moved, v)
    assert (found == V).all(1).double().mean() >= 0.95  # a local optimum now and then
    assert torch.equal(found.sort(1).values, moved.sort(1).values)  # a permutation of itself
    assert change(net, units, V, found, x) < 1e-8
    before = (moved - v)[:, : units.dim].norm(dim=1)
    after = (found - v)[:, : units.dim].norm(dim=1)
    assert (after <= before + 1e-12).all()


def test_one_hidden_layer_meets_the_best_of_all_its_permutations():
    net = net_of(Sequential(Linear(4, 5), nn.Tanh(), Linear(5, 3)).double())
    units = symmetry.units_of(net)
    V = randn(6, net.dim, dtype=float64, generator=rng(1))
    distance = lambda W: (W - net.w).norm(dim=1)
    orders = itertools.permutations(range(5))
    permuted = [symmetry.permute(units, V, tensor(p)) for p in orders]
    every = torch.stack([distance(W) for W in permuted])
    aligned = symmetry.align(units, V, net.w, starts=1)
    assert torch.allclose(distance(aligned), every.amin(0), rtol=1e-12)


def test_more_starts_never_move_further_away():
    net, units, _ = network("mlp")
    V = randn(40, net.dim, dtype=float64, generator=rng(1))
    few, many = (
        (symmetry.align(units, V, net.w, starts=starts) - net.w).norm(dim=1) for starts in (1, 8)
    )
    assert (many <= few + 1e-12).all()
    assert (few - many).max() > 0
    with refused("reference must have shape"):
        symmetry.align(units, V, net.w[:-1])


def test_an_error_names_the_argument_and_its_kind():
    net = net_of(Sequential(Linear(4, 3), nn.Tanh(), Linear(3, 2)))
    units = symmetry.units_of(net)
    with refused(r"sign must have shape \(3,\), a row a network, got \(2,\)"):
        symmetry.flip(units, net.w[None], torch.ones(2))
    with refused("order must be int64 of shape .*, got torch.int32"):
        symmetry.permute(units, net.w[None], torch.arange(3, dtype=torch.int32))
