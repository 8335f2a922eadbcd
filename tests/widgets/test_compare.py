"""`fv.compare`: two models on common ground, and a sentence invariant to rescaled layers."""

from functools import partial

import torch
from cases import blobs, net_of, normed, refused, rng
from pytest import approx, fixture, mark
from torch import nn, randn, tensor
from torch.nn import Linear, Sequential

import flatviz as fv

compare = partial(fv.compare, resolution=5)


def objective(module, data, likelihood="categorical"):
    return fv.nll(net_of(module, "all"), data, likelihood=likelihood)


def trace_of(f):
    """Of the dense Hessian."""
    return float(torch.autograd.functional.hessian(f, f.net.w).trace())


@fixture(scope="module")
def nets():
    """Data, a network, and the same function with its layers rescaled: sharper by one alone."""
    torch.manual_seed(0)
    data = blobs(60, 2, 3)
    module = normed(2, 8, 3)
    module.train()(data.x)
    other = normed(2, 8, 3)
    other.load_state_dict(module.state_dict())
    with torch.no_grad():
        other[1].weight.mul_(10)
        other[1].bias.mul_(10)
        other[3].weight.div_(10)
    return data, module.eval(), other.eval()


def test_a_rescaled_network_is_sharper_by_lambda1_but_not_after_filter_normalisation(nets):
    data, a, b = nets
    two = compare(a, b, data, examples=60)
    for module, spectrum in zip((a, b), two.spectra):
        f = objective(module, data)
        largest = fv.top_eigenpairs(f, f.net.w, 1).values
        assert float(spectrum.values[0]) == approx(float(largest), rel=1e-2)
    # One function, each filter normalised
    torch.testing.assert_close(two.rises[0], two.rises[1], rtol=1e-2, atol=1e-5)
    assert two.sentence.startswith("Neither is flatter: on these 60 examples A and B are one")
    assert torch.equal(two.predictions[0].outputs[0], a(data.x))


def test_a_comparison_shows_its_numbers_and_leaves_the_modules_as_they_were(nets):
    data, a, b = nets
    values = lambda: [t.clone() for m in (a, b) for t in m.state_dict().values()]
    before = values()
    two = compare(a, b, data)
    shown = two._repr_html_()
    assert two.sentence in shown
    for row, pair in (("λ1", two.spectra), ("loss", two.path.values[[0, -1]])):
        (cells,) = [r for r in two.rows if r[""] == row]
        numbers = [float(x.values[0] if row == "λ1" else x) for x in pair]
        assert [float(cells[name]) for name in "AB"] == approx(numbers, rel=1e-2)
        assert f'<td data-head="A">{cells["A"]}</td>' in shown
    assert all(map(torch.equal, before, values()))


@mark.parametrize("likelihood", ["categorical", 0.5])
def test_the_trace_of_a_small_network_is_exact_whatever_its_likelihood(nets, likelihood):
    """Four test vectors gave 0.1 +- 3.4 for 12.2; numbers as targets were cross-entropy's between
    two nets with BatchNorm."""
    data, a, b = nets
    if likelihood != "categorical":
        data = fv.Data(data.x, randn(60, 3, generator=rng()))
    two = compare(a, b, data, likelihood=likelihood)
    for end, module, (trace, error) in zip((0, -1), (a, b), two.traces):
        f = objective(module, data, likelihood)
        assert error == 0
        assert trace == approx(trace_of(f), rel=1e-3)
        # With its own statistics of BatchNorm
        assert two.path.values[end] == approx(float(f(f.net.w)), rel=1e-5)


def test_two_architectures_and_twice_the_same_weights_are_refused(nets):
    data, a, _ = nets
    with refused("must have the same layers"):
        fv.compare(a, Linear(2, 3), data)
    with refused("must have different weights"):
        fv.compare(a, a, data)


@mark.parametrize("factor", [tensor([10.0]), torch.logspace(-1, 1, 16)], ids=["layers", "units"])
@mark.parametrize("seed", range(3))
def test_a_rescaled_copy_is_no_flatter_than_rounding_makes_it(seed, factor):
    """A rescaling of units changes rises along filter-normalised directions too."""
    torch.manual_seed(seed)
    data = fv.Data(randn(60, 20), torch.randint(0, 3, (60,)))
    a, b = (
        Sequential(Linear(20, 16, bias=False), nn.ReLU(), Linear(16, 3, bias=False))
        for _ in range(2)
    )
    first = b[0].weight.data
    last = b[2].weight.data
    first.copy_(a[0].weight * factor[:, None])
    last.copy_(a[2].weight / factor)
    sentence = compare(a, b, data).sentence
    assert "on these 60 examples A and B are one function to rounding" in sentence
    last[0, 0] += 1e-3  # another function, if near
    assert "one function" not in compare(a, b, data).sentence


class Centre(nn.Module):
    """A norm whose statistics torch does not know as such; `sign` is no floating-point number."""

    def __init__(self, mean, sign):
        super().__init__()
        self.register_buffer("mean", tensor(mean))
        self.register_buffer("sign", tensor(sign))

    def forward(self, x):
        return (x - self.mean) * self.sign


def instance_norm():
    return nn.InstanceNorm1d(4, track_running_stats=True)


@mark.parametrize("norms", [(Centre(0.0, 1), Centre(3.0, -1)), (instance_norm(), instance_norm())])
def test_each_model_has_its_buffers_at_its_weights(norms):
    """A loss of another function was drawn at B."""
    data = fv.Data(randn(30, 4, 2), torch.arange(30) % 3)
    models = [Sequential(norm, nn.Flatten(), Linear(8, 3)) for norm in norms]
    models[1].train()(3 * data.x + 1)
    two = compare(*[model.eval() for model in models], data)
    losses = [float(nn.functional.cross_entropy(model(data.x), data.y)) for model in models]
    assert two.path.values[[0, -1]].tolist() == approx(losses, rel=1e-5)


def test_models_in_training_mode_are_compared_in_evaluation_mode_and_that_is_said():
    data = blobs(30, 4, 3)
    a, b = (Sequential(Linear(4, 8), nn.Dropout(0.5), Linear(8, 3)) for _ in range(2))
    sentence = compare(a, b.eval(), data).sentence
    plain = compare(a.eval(), b, data).sentence
    assert sentence == f"In evaluation mode (A came in training mode): {plain}"


def test_a_layer_without_buffers_is_the_same_in_both_modes_and_nothing_is_said():
    inside = nn.Unflatten(1, (1, 4)), nn.Conv1d(1, 2, 2), nn.InstanceNorm1d(2), nn.Flatten()
    a = Sequential(*inside, Linear(6, 3))
    b = Sequential(*inside, Linear(6, 3)).eval()
    sentence = compare(a.train(), b, blobs(30, 4, 3)).sentence
    assert "training mode" not in sentence


def test_a_network_of_zeros_says_nothing_by_filter_normalised_directions():
    a = Linear(4, 3)
    b = Linear(4, 3)
    nn.utils.vector_to_parameters(torch.zeros(15), a.parameters())
    nn.init.normal_(b.weight, std=3)
    sentence = compare(a, b, blobs(30, 4, 3)).sentence
    assert "the weights of A are 0" in sentence


def test_examples_of_the_loss_are_spread_over_data_sorted_by_class():
    data = fv.Data(randn(90, 4), torch.arange(90) // 30)
    a = Linear(4, 3)
    spectrum, _ = compare(a, Linear(4, 3), data, examples=4).spectra
    spread = objective(a, data.subset(tensor([0, 30, 59, 89])))
    (want,) = fv.top_eigenpairs(spread, spread.net.w, 1).values
    assert spectrum.n == 4
    assert spectrum.values[0] == approx(float(want), rel=1e-2)
