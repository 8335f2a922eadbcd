"""Net: a module as a function of a vector, and what is treated."""

import pytest
import torch
from torch import nn
from torch.func import functional_call

import flatviz as fv


class WithOwnParameter(nn.Module):
    """A parameter of the parent before those of the child: `apply` order and `named_parameters` order differ."""

    def __init__(self):
        super().__init__()
        self.child, self.token = nn.Linear(3, 2), nn.Parameter(torch.randn(3))

    def forward(self, x):
        return self.child(x + self.token)


def tied():
    """One weight in two places."""
    module = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3))
    module[2].weight = module[0].weight
    return module


NETS = [WithOwnParameter, tied, lambda: nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Linear(5, 2))]


@pytest.mark.parametrize("make", NETS)
def test_a_call_equals_functional_call(make):
    module = make().eval()
    net, x = fv.Net.from_module(module), torch.randn(4, 3)
    w = net.w + 0.3 * torch.randn(net.dim)
    assert torch.equal(net(w, x), functional_call(module, net.unflatten(w), (x,))) and torch.equal(net(net.w, x), module(x))
    gradient = torch.func.grad(lambda w: net(w, x).sum())(w)
    wanted = torch.func.grad(lambda named: functional_call(module, named, (x,)).sum())(net.unflatten(w))
    torch.testing.assert_close(gradient, net.flatten(wanted))


def test_the_flat_vector_restores_every_tensor_in_named_parameters_order():
    net = fv.Net.from_module(module := WithOwnParameter())
    assert [b.name for b in net.blocks] == [n for n, _ in module.named_parameters()] == ["token", "child.weight", "child.bias"]
    torch.testing.assert_close(net.w, nn.utils.parameters_to_vector(module.parameters()).detach())
    counted = torch.arange(float(net.dim))
    torch.testing.assert_close(nn.utils.parameters_to_vector(net.to_module(counted).parameters()).detach(), counted)


def test_an_error_inside_the_network_leaves_the_weights_in_place():
    net = fv.Net.from_module(nn.Sequential(nn.Linear(3, 2)))
    with pytest.raises(RuntimeError):
        net(torch.zeros(net.dim), torch.zeros(4, 9))
    torch.testing.assert_close(net.to_module()(torch.ones(1, 3)), net(net.w, torch.ones(1, 3)))


def test_the_head_is_the_last_linear_to_run_not_the_last_registered():
    class Backwards(nn.Module):
        def __init__(self):
            super().__init__()
            self.head, self.norm, self.body = nn.Linear(4, 2), nn.LayerNorm(4), nn.Linear(3, 4)

        def forward(self, x):
            return self.head(self.norm(self.body(x)))

    net = fv.Net.from_module(Backwards(), treated="norm+head", example=torch.zeros(1, 3))
    assert {b.name for b in net.blocks if b.kind == "head"} == {"head.weight", "head.bias"}
    named = fv.Net.from_module(Backwards(), treated="norm+head", head="body")
    assert {b.name for b in named.blocks if b.kind == "head"} == {"body.weight", "body.bias"}


def test_what_becomes_of_the_users_module_later_is_not_followed():
    module = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    net = fv.Net.from_module(module)
    nn.init.zeros_(module[0].weight)
    assert module.training and float(net.w.abs().max()) > 0
