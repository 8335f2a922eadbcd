"""Dropout: where a mask is a weight vector, and what happens where it is none."""

import pytest
import torch
from torch import nn

import flatviz as fv
from flatviz.posteriors.dropout import find_rates, weight_mask
from flatviz.training.masked import mask_shape


class Branches(nn.Module):
    """A dropout layer between `first` and what `forward` does with it."""

    def __init__(self, forward, **layers):
        super().__init__()
        self.first, self.drop, self.a, self.b = nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 4), nn.Linear(4, 2)
        for name, layer in layers.items():
            setattr(self, name, layer)
        self.after = forward

    def forward(self, x):
        return self.after(self, torch.tanh(self.first(x)))


def two_readers(m, h):
    d = m.drop(h)
    return m.b(d) + m.c(d)


def residual(m, h):
    d = m.drop(h)
    return m.b(m.a(d) + d)


def one_reader_twice(m, h):
    return m.b(m.a(m.a(m.drop(h))))


def undropped_reader(m, h):
    """Both read h, one of them behind the dropout: a mask on that one's weight is right."""
    return m.b(m.drop(h)) + m.c(h)


def one_dropout_for_two_layers(m, h):
    return m.b(m.drop(torch.tanh(m.a(m.drop(h)))))


def tied(m, h):
    return m.b(m.a(m.drop(h)) + m.c(h))


def image(*layers):
    return nn.Sequential(nn.Conv2d(1, 4, 3), *layers)


def tie(module):
    module.c.weight = module.a.weight
    return module


FIRST, DROP = (f"got '{name}', which masks the columns of no one layer" for name in ("1", "drop"))


def lost():
    """Networks with a mask that no weight vector stands for, their inputs, and what is said."""
    x, pixels, tokens = torch.randn(5, 3), torch.randn(5, 1, 6, 6), torch.randn(5, 7, 3)
    conv, head = nn.Conv2d(4, 2, 3), nn.Sequential(nn.Flatten(), nn.Linear(64, 2))
    return {
        "single pixels of a convolution": (image(nn.Dropout(0.5), conv, nn.Flatten(), nn.Linear(8, 2)), pixels, FIRST),
        "channels of a linear layer": (image(nn.Dropout2d(0.5), *head), pixels, FIRST),
        "tokens of a sequence": (nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 2)), tokens, FIRST),
        "two layers": (Branches(two_readers, c=nn.Linear(4, 2)), x, DROP),
        "a layer and a sum": (Branches(residual), x, DROP),
        "a layer that runs twice": (Branches(one_reader_twice), x, DROP),
        "a weight of two layers": (tie(Branches(tied, c=nn.Linear(4, 4))), x, DROP),
        "no layer at all": (nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5)), x, FIRST),
    }  # fmt: skip


def good():
    x, pixels, tokens = torch.randn(5, 3), torch.randn(5, 1, 6, 6), torch.randn(5, 3, 7)
    conv = nn.Conv2d(4, 2, 3)
    return {
        "features": (nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Dropout(0.5), nn.Linear(4, 2)), x, ["3"]),
        "channels": (image(nn.Dropout2d(0.5), conv, nn.Flatten(), nn.Linear(8, 2)), pixels, ["2"]),
        "channels of a sequence": (nn.Sequential(nn.Conv1d(3, 4, 1), nn.Dropout1d(0.5), nn.Conv1d(4, 2, 3)), tokens, ["2"]),
        "a flatten between": (image(nn.Dropout(0.5), nn.Flatten(), nn.Linear(64, 2)), pixels, ["3"]),
        "pooled channels": (image(nn.AdaptiveAvgPool2d(1), nn.Dropout2d(0.5), nn.Flatten(), nn.Linear(4, 2)), pixels, ["4"]),
        "inputs": (nn.Sequential(nn.Dropout(0.5), nn.Linear(3, 2)), x, ["1"]),
        "a layer beside it": (Branches(undropped_reader, c=nn.Linear(4, 2)), x, ["b"]),
        "one dropout, two layers": (Branches(one_dropout_for_two_layers), x, ["a", "b"]),
    }


@pytest.mark.parametrize("name", lost())
def test_a_mask_that_is_no_weight_vector_is_refused(name):
    module, x, text = lost()[name]
    net = fv.Net.from_module(module.eval())
    with pytest.raises(ValueError, match=f"{text}.*: give rate="):
        find_rates(net, x, None)


def module_with_one_mask_for_all(net):
    """The network's module, whose dropout layers multiply all examples by one mask."""
    module = net.to_module().eval().requires_grad_(False)
    for part in module.modules():
        if isinstance(part, nn.modules.dropout._DropoutNd):
            part.register_forward_hook(
                lambda part, args, out: out * nn.functional.dropout(torch.ones(one_mask(part, out)), part.p)
            )
    return module


def one_mask(part, out):
    return [1, *mask_shape(part, out.shape)[1:]]


@pytest.mark.parametrize("name", good())
def test_the_weights_stand_for_the_masks_of_the_networks_own_dropout_layers(name):
    """The columns that the weights lost, found by what the layer's own dropout does: with the same units, the same law."""
    module, x, readers = good()[name]
    net = fv.Net.from_module(module.eval())
    rates = find_rates(net, x, None)
    assert rates == dict.fromkeys(readers, 0.5)
    weights = torch.stack([net(net.w * weight_mask(net, rates, g), x) for g in [torch.Generator().manual_seed(0)] * 1000])
    torch.manual_seed(1)
    functions = torch.stack([module_with_one_mask_for_all(net)(x) for _ in range(1000)])
    scale = functions.flatten(1).std(0).mean()
    for moment in (lambda t: t.mean(0), lambda t: t.flatten(1).T.cov() / scale):  # of 1000 draws, each to about 4 %
        torch.testing.assert_close(moment(weights), moment(functions), rtol=0.15, atol=float(0.15 * scale))


def test_a_head_that_stands_at_zero_is_found():
    net = fv.Net.from_module(nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 2)).eval())
    assert find_rates(net.at(torch.zeros_like(net.w)), torch.randn(5, 3), None) == {"2": 0.5}


def test_two_dropout_layers_before_one_weight_and_one_before_a_layer_that_is_not_treated_are_refused():
    x = torch.randn(5, 3)
    twice = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Dropout(0.2), nn.Linear(4, 2))
    with pytest.raises(ValueError, match="got '2', which masks the columns of no one layer"):
        find_rates(fv.Net.from_module(twice.eval()), x, None)
    inner = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 4), nn.LayerNorm(4), nn.Linear(4, 2))
    with pytest.raises(ValueError, match="got '1', which masks '2', which is not treated"):
        find_rates(fv.Net.from_module(inner.eval(), "norm+head"), x, None)


def test_a_bare_linear_layer_is_masked_itself():
    net = fv.Net.from_module(nn.Linear(3, 2))
    q = fv.fit_dropout(net, fv.Data(torch.randn(6, 3), torch.randint(0, 2, (6,))), rate=0.5, n_draws=20, steps=2, seed=0)
    columns = q.W[:, :6].view(20, 2, 3) == 0
    assert bool((columns[:, 0] == columns[:, 1]).all()) and 0.2 < float(columns.float().mean()) < 0.8
    assert not bool((q.W[:, 6:] == 0).any())


def test_the_draws_fall_back_on_a_tenth_and_on_later_layers():
    net = fv.Net.from_module(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2)))
    assert find_rates(net, torch.randn(2, 3), None) == {"2": 0.1, "4": 0.1}


@pytest.mark.parametrize("layer", [nn.AlphaDropout(0.2), nn.FeatureAlphaDropout(0.2), nn.Dropout(1.0)])
def test_noise_that_is_no_factor_is_refused(layer):
    net = fv.Net.from_module(nn.Sequential(nn.Linear(3, 4), layer, nn.Linear(4, 2)).eval())
    data = fv.Data(torch.randn(4, 3), torch.tensor([0, 1, 0, 1]))
    with pytest.raises(ValueError, match="must multiply by a mask, with a rate below 1, got '1', .*: give rate="):
        fv.fit_dropout(net, data, seed=0)
    fv.fit_dropout(net, data, rate=0.2, steps=1, seed=0)
