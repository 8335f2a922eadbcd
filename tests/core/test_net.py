"""Net: a module as a function of a vector, and what is treated."""

import torch
from cases import mlp
from pytest import mark, raises, warns
from torch import nn, randn, zeros
from torch.func import functional_call
from torch.nn import BatchNorm1d, Linear, Module, Sequential
from torch.testing import assert_close

import flatviz as fv


class WithOwnParameter(Module):
    """A parameter of the parent before those of the child: `apply` order and `named_parameters`
    order differ."""

    def __init__(self):
        super().__init__()
        self.child = Linear(3, 2)
        self.token = nn.Parameter(randn(3))

    def forward(self, x):
        return self.child(x + self.token)


def tied():
    """One weight in two places."""
    module = mlp(3, 3, 3, act=nn.ReLU)
    module[2].weight = module[0].weight
    return module


NETS = [
    WithOwnParameter,
    tied,
    lambda: Sequential(Linear(3, 5), BatchNorm1d(5), Linear(5, 2)),
]


@mark.parametrize("make", NETS)
def test_a_call_equals_functional_call(make):
    module = make().eval()
    net = fv.Net.from_module(module)
    x = randn(4, 3)
    w = net.w + 0.3 * randn(net.dim)
    assert torch.equal(net(w, x), functional_call(module, net.unflatten(w), (x,)))
    assert torch.equal(net(net.w, x), module(x))
    gradient = torch.func.grad(lambda w: net(w, x).sum())(w)
    wanted = torch.func.grad(lambda named: functional_call(module, named, (x,)).sum())(
        net.unflatten(w)
    )
    assert_close(gradient, net.flatten(wanted))


def test_the_flat_vector_restores_every_tensor_in_named_parameters_order():
    net = fv.Net.from_module(module := WithOwnParameter())
    assert (
        [b.name for b in net.blocks]
        == [n for n, _ in module.named_parameters()]
        == ["token", "child.weight", "child.bias"]
    )
    assert_close(net.w, nn.utils.parameters_to_vector(module.parameters()).detach())
    counted = torch.arange(float(net.dim))
    assert_close(
        nn.utils.parameters_to_vector(net.to_module(counted).parameters()).detach(), counted
    )


def test_an_error_inside_the_network_leaves_the_weights_in_place():
    net = fv.Net.from_module(Sequential(Linear(3, 2)))
    with raises(RuntimeError):
        net(zeros(net.dim), zeros(4, 9))
    assert_close(net.to_module()(torch.ones(1, 3)), net(net.w, torch.ones(1, 3)))


def test_the_head_is_the_last_linear_to_run_not_the_last_registered():
    class Backwards(Module):
        def __init__(self):
            super().__init__()
            self.head = Linear(4, 2)
            self.norm = nn.LayerNorm(4)
            self.body = Linear(3, 4)

        def forward(self, x):
            return self.head(self.norm(self.body(x)))

    net = fv.Net.from_module(Backwards(), treated="norm+head", example=zeros(1, 3))
    assert {b.name for b in net.blocks if b.kind == "head"} == {"head.weight", "head.bias"}
    named = fv.Net.from_module(Backwards(), treated="norm+head", head="body")
    assert {b.name for b in named.blocks if b.kind == "head"} == {"body.weight", "body.bias"}


def test_what_becomes_of_the_users_module_later_is_not_followed():
    module = Sequential(Linear(3, 2), BatchNorm1d(2))
    net = fv.Net.from_module(module)
    nn.init.zeros_(module[0].weight)
    assert module.training
    assert net.w.abs().max() > 0


def partly_frozen():
    """A backbone with BatchNorm, frozen; a BatchNorm and a head, not."""
    layers = (
        Linear(3, 8),
        BatchNorm1d(8),
        nn.Tanh(),
        Linear(8, 4),
        BatchNorm1d(4),
        Linear(4, 2),
    )
    module = Sequential(*layers)
    module[0].requires_grad_(False), module[1].requires_grad_(False)
    return module


def test_what_is_frozen_is_not_treated_and_does_not_move():
    module = partly_frozen()
    x = randn(60, 3) + 2
    data = fv.Data(x, (x[:, 0] > 2).long())
    state = {n: t.clone() for n, t in module.state_dict().items()}
    net = fv.Net.from_module(module)
    assert repr(net) == "Net(Sequential, dim=54: 8 norm, 46 other; 48 frozen)"
    assert net.treats_all
    trained = fv.pretrain(module, data, seed=0, epochs=3)
    swag = fv.fit_swag(trained, data, rank=2, seed=0, snapshots=4)
    for trunk in ("fixed", "sampled"):
        small, prior = fv.transfer(trained, swag, n_classes=5, trunk=trunk)
        assert repr(small) == "Net(Sequential, dim=33: 8 norm, 25 head; 48 frozen)"
        assert prior.dim == 33
    whole = small.restrict("all")
    drawn = whole.to_module(small.trunk.joined(small.w[None], seed=1)[0])
    fits = (
        fv.fit_sgd(trained, data, seed=0, steps=3),
        fv.fit_ensemble(trained, data, seed=0, steps=3, members=2),
    )
    assert not any(p.requires_grad for p in net.module.parameters())
    again = trained.at(trained.w).copy().to(dtype=torch.float64).to(dtype=torch.float32)
    moved = again.to_module(), small.to_module(), drawn, *(trained.to_module(q.W[0]) for q in fits)
    for after in moved:
        changed = {
            n
            for n, t in after.state_dict().items()
            if t.shape == state[n].shape and not torch.equal(t, state[n])
        }
        assert changed
        assert not any(n.startswith(("0.", "1.")) for n in changed)
        assert [p.requires_grad for p in after.parameters()] == [
            p.requires_grad for p in module.parameters()
        ]
        assert "4.running_mean" in changed
    f = fv.nll(trained, data)
    w = trained.w
    assert fv.hvp(f, w, w).shape == (54,)
    assert fv.engine.refresh_batchnorm(trained, w, data).buffers()["1.running_mean"].eq(0).all()
    with fv.record_path(module) as path:
        torch.optim.SGD(module.parameters(), 0.1).step()
    assert path.W.shape[1] == 54
    assert not module[0].weight.requires_grad
    # The user's own
    assert all(torch.equal(t, state[n]) for n, t in module.state_dict().items() if n[0] in "01")


@mark.parametrize("treated", ["trainable", "norm+head", "head"])
def test_a_frozen_module_is_treated_only_where_that_is_said(treated):
    module = partly_frozen().requires_grad_(False)
    with raises(
        ValueError,
        match=r"leaves out what requires_grad_\(False\) froze, got Sequential.*: call requires_",
    ):
        fv.Net.from_module(module, treated)
    assert fv.Net.from_module(module, "all").dim == 102
    assert fv.Net.from_module(module, lambda n: n == "0.bias").dim == 8


class TiedByFunction(Module):
    """Logits by the embedding's weight, without a module of their own."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 4)
        self.mlp = Linear(4, 4)

    def forward(self, x):
        return nn.functional.linear(self.mlp(self.embedding(x)), self.embedding.weight)


def test_a_last_linear_whose_outputs_are_not_the_networks_is_said():
    with warns(UserWarning, match="last Linear that runs is mlp with 4 outputs, where the"):
        fv.Net.from_module(TiedByFunction(), "head", example=zeros(2, 3).long())


@mark.parametrize(
    "w, x",
    [
        ("float32", "bfloat16"),
        ("float64", "float32"),
        ("float16", "float32"),
        ("float64", "float64"),
    ],
)
def test_weights_and_inputs_of_several_precisions_are_refused_in_one_sentence(w, x):
    net = fv.Net.from_module(Sequential(Linear(3, 4), BatchNorm1d(4)).eval())
    with raises(ValueError, match="net, w and x must have one dtype, got torch.* and torch.float"):
        net(net.w.to(getattr(torch, w)), randn(2, 3, dtype=getattr(torch, x)))
    with torch.autocast("cpu", torch.bfloat16):  # which converts them itself
        assert net(net.w, randn(2, 3).bfloat16()).shape == (2, 4)
