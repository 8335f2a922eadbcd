"""`fv.compare`: two models on common ground, and a sentence invariant to rescaled layers."""

import math

import torch
from cases import blobs, normed, rng
from pytest import approx, fixture, mark, raises
from torch import nn, randn, tensor
from torch.nn import Linear, Sequential

import flatviz as fv


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


def test_a_rescaled_network_is_sharper_by_lambda1_but_not_after_filter_normalisation(
    nets, tmp_path
):
    data, a, b = nets
    before = [p.clone() for p in (*a.parameters(), *a.buffers())]
    two = fv.compare(a, b, data, resolution=5, examples=60)
    f = [fv.nll(fv.Net.from_module(m, "all"), data) for m in (a, b)]
    lambdas = [float(fv.top_eigenpairs(g, g.net.w, 1).values) for g in f]
    assert [float(s.values[0]) for s in two.spectra] == approx(lambdas, rel=1e-2)
    # One function, each filter normalised
    torch.testing.assert_close(two.rises[0], two.rises[1], rtol=1e-2, atol=1e-5)
    assert two.sentence.startswith("Neither is flatter: on these 60 examples A and B are one")
    assert two.path.values[0] == approx(float(f[0](f[0].net.w)), rel=1e-5)
    # With its own statistics of BatchNorm
    assert two.path.values[-1] == approx(float(f[1](f[1].net.w)), rel=1e-5)
    assert torch.equal(two.predictions[0].outputs[0], a(data.x))
    assert len(two.figures) == 5
    text = two.to_html(tmp_path / "two.html").read_text(encoding="utf-8")
    assert two.sentence in text
    assert 'id="figure-4"' in text
    assert "<script src" not in text
    assert all(torch.equal(p, q) for p, q in zip(before, (*a.parameters(), *a.buffers())))


@mark.parametrize("likelihood", ["categorical", 0.5])
def test_the_trace_of_a_small_network_is_exact_whatever_its_likelihood(nets, likelihood):
    """Four test vectors gave 0.1 +- 3.4 for 12.2; numbers as targets were cross-entropy's between
    two nets with BatchNorm."""
    data, a, b = nets
    data = data if likelihood == "categorical" else fv.Data(data.x, randn(60, 3, generator=rng()))
    two = fv.compare(a, b, data, resolution=5, likelihood=likelihood)
    for i, (module, (trace, error)) in enumerate(zip((a, b), two.traces)):
        g = fv.nll(fv.Net.from_module(module, "all"), data, likelihood=likelihood)
        exact = torch.autograd.functional.hessian(g, g.net.w).trace()
        assert error == 0
        assert trace == approx(float(exact), rel=1e-3)
        assert two.path.values[-i] == approx(float(g(g.net.w)), rel=1e-5)


def test_two_architectures_and_twice_the_same_weights_are_refused(nets):
    data, a, _ = nets
    with raises(ValueError, match="must have the same layers"):
        fv.compare(a, Linear(2, 3), data)
    with raises(ValueError, match="must have different weights"):
        fv.compare(a, a, data)


@mark.parametrize("units", [False, True], ids=["layers", "units"])
@mark.parametrize("seed", range(3))
def test_a_rescaled_copy_is_no_flatter_than_rounding_makes_it(seed, units):
    """A rescaling of units changes rises along filter-normalised directions too."""
    torch.manual_seed(seed)
    data = fv.Data(torch.randn(60, 20), torch.randint(0, 3, (60,)))
    a, b = (
        nn.Sequential(nn.Linear(20, 16, bias=False), nn.ReLU(), nn.Linear(16, 3, bias=False))
        for _ in range(2)
    )
    with torch.no_grad():
        factor = torch.logspace(-1, 1, 16) if units else torch.tensor([10.0])
        b[0].weight.copy_(a[0].weight * factor[:, None])
        b[2].weight.copy_(a[2].weight / factor)
    sentence = fv.compare(a, b, data, resolution=5).sentence
    assert "on these 60 examples A and B are one function to rounding" in sentence
    with torch.no_grad():
        b[2].weight[0, 0] += 1e-3  # another function, if near
    assert "one function" not in fv.compare(a, b, data, resolution=5).sentence


class Centre(nn.Module):
    """A norm whose statistics torch does not know as such; `sign` is no floating-point number."""

    def __init__(self, mean, sign):
        super().__init__()
        self.register_buffer("mean", tensor(mean))
        self.register_buffer("sign", tensor(sign))

    def forward(self, x):
        return (x - self.mean) * self.sign


@mark.parametrize(
    "norms",
    [
        (Centre(0.0, 1), Centre(3.0, -1)),
        tuple(nn.InstanceNorm1d(4, track_running_stats=True) for _ in range(2)),
    ],
)
def test_each_model_has_its_buffers_at_its_weights(norms):
    """A loss of another function was drawn at B."""
    data = fv.Data(randn(30, 4, 2), torch.arange(30) % 3)
    models = [Sequential(norm, nn.Flatten(), Linear(8, 3)) for norm in norms]
    models[1].train()(3 * data.x + 1)
    two = fv.compare(*(m.eval() for m in models), data, resolution=5)
    losses = [float(nn.functional.cross_entropy(m(data.x), data.y)) for m in models]
    assert two.path.values[[0, -1]].tolist() == approx(losses, rel=1e-5)
    assert two.points.values.tolist() == approx(losses, rel=1e-5)


def test_models_in_training_mode_are_compared_in_evaluation_mode_and_that_is_said():
    data = blobs(30, 4, 3)
    a, b = (Sequential(Linear(4, 8), nn.Dropout(0.5), Linear(8, 3)) for _ in range(2))
    sentence = fv.compare(a, b.eval(), data, resolution=5).sentence
    plain = fv.compare(a.eval(), b, data, resolution=5).sentence
    assert sentence == f"{plain} Both are in evaluation mode here, not in training mode as A came."


def test_a_network_of_zeros_says_nothing_by_filter_normalised_directions():
    data = blobs(30, 4, 3)
    a, b = (Linear(4, 3) for _ in range(2))
    nn.init.zeros_(a.weight)
    nn.init.zeros_(a.bias)
    nn.init.normal_(b.weight, std=3)
    sentence = fv.compare(a, b, data, resolution=5).sentence
    assert "around A, with weights of 0, its directions leave the loss as it is" in sentence
    assert sentence.count(f"{math.log(3):.3g}") == 1  # the loss of guessing among three


def test_examples_of_the_loss_are_spread_over_data_sorted_by_class():
    data = fv.Data(randn(90, 4), torch.arange(90) // 30)
    a = Linear(4, 3)
    two = fv.compare(a, Linear(4, 3), data, resolution=5, examples=4)
    spread = fv.nll(fv.Net.from_module(a, "all"), data.subset(tensor([0, 30, 59, 89])))
    want = fv.top_eigenpairs(spread, spread.net.w, 1).values[0]
    assert two.spectra[0].n == 4
    assert two.spectra[0].values[0] == approx(float(want), rel=1e-2)
