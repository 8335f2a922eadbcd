"""Dropout: where masks act, and that a mask of a layer's inputs is a mask of its weight's columns."""

import pytest
import torch
from torch import nn

import flatviz as fv
from flatviz.posteriors.dropout import rates_of, weight_mask
from flatviz.training.masked import mask_shape

NETWORKS = {
    "features": (nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), (5, 3), ["2"]),
    "two layers": (nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2)), (5, 3), ["2", "4"]),
    "channels": (
        nn.Sequential(nn.Conv2d(1, 4, 3), nn.Conv2d(4, 2, 3), nn.Flatten(), nn.Linear(8, 2)),
        (5, 1, 6, 6),
        ["1", "3"],
    ),
    "channels of a sequence": (nn.Sequential(nn.Conv1d(3, 4, 1), nn.Conv1d(4, 2, 3)), (5, 3, 7), ["1"]),
    "tokens": (nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2)), (5, 7, 3), ["1"]),
    "one layer": (nn.Linear(3, 2), (5, 3), [""]),
    "a dropout layer of its own": (nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.7), nn.Linear(4, 2)).eval(), (5, 3), ["2"]),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_draws_weights_are_the_network_with_the_same_mask_on_its_layers_inputs(name):
    module, shape, masked = NETWORKS[name]
    net, x = fv.Net.from_module(module), torch.randn(shape)
    rates = rates_of(net, x, 0.5)
    assert rates == dict.fromkeys(masked, 0.5)
    mask, dropped = weight_mask(net, rates, torch.Generator().manual_seed(0)), net.to_module()
    for b in net.blocks:
        owner, _, kind = b.name.rpartition(".")
        if kind == "weight" and owner in rates:
            column = mask[b.slice].view(*b.shape[:2], -1)[0, :, 0]

            def masked_inputs(part, args, column=column):
                return (args[0] * column.view(1, *mask_shape(part, args[0].shape)[1:]),)

            dropped.get_submodule(owner).register_forward_pre_hook(masked_inputs)
    assert bool((mask == 0).any()) and bool((mask == 2).any())
    torch.testing.assert_close(net(net.w * mask, x), dropped(x).detach())


def test_layers_that_are_not_treated_and_rates_beyond_the_bounds():
    net, x = fv.Net.from_module(NETWORKS["two layers"][0], lambda name: name.startswith("4")), torch.randn(5, 3)
    assert rates_of(net, x, 0.2) == {"4": 0.2}
    for rate in (0.0, 1.0):
        with pytest.raises(ValueError, match="rate must be above 0 and below 1"):
            rates_of(net, x, rate)
