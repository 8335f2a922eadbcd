"""Net: a module as a function of a vector, and what is treated."""

import pickle

import numpy as np
import torch
from cases import blobs, fitted_by, mlp, net_of, refused, warned
from pytest import mark, raises
from torch import equal, func, nn, ones, randn, zeros
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
    net = net_of(module)
    x = randn(4, 3)
    w = net.w + 0.3 * randn(net.dim)
    assert equal(net(w, x), functional_call(module, net.unflatten(w), (x,)))
    assert equal(net(net.w, x), module(x))
    gradient = func.grad(lambda w: net(w, x).sum())(w)
    wanted = func.grad(lambda named: functional_call(module, named, (x,)).sum())(net.unflatten(w))
    assert_close(gradient, net.flatten(wanted))


def test_the_flat_vector_restores_every_tensor_in_named_parameters_order():
    net = net_of(module := WithOwnParameter())
    assert (
        [b.name for b in net.blocks]
        == [n for n, _ in module.named_parameters()]
        == ["token", "child.weight", "child.bias"]
    )
    want = nn.utils.parameters_to_vector(module.parameters()).detach()
    assert_close(net.w, want)
    counted = torch.arange(float(net.dim))
    found = nn.utils.parameters_to_vector(net.to_module(counted).parameters()).detach()
    assert_close(found, counted)


def test_an_error_inside_the_network_leaves_the_weights_in_place():
    net = net_of(Sequential(Linear(3, 2)))
    with raises(RuntimeError):
        net(zeros(net.dim), zeros(4, 9))
    found = net.to_module()(ones(1, 3))
    want = net(net.w, ones(1, 3))
    assert_close(found, want)


def test_the_head_is_the_last_linear_to_run_not_the_last_registered():
    class Backwards(Module):
        def __init__(self):
            super().__init__()
            self.head = Linear(4, 2)
            self.norm = nn.LayerNorm(4)
            self.body = Linear(3, 4)

        def forward(self, x):
            return self.head(self.norm(self.body(x)))

    net = net_of(Backwards(), treated="norm+head", example=zeros(1, 3))
    assert {b.name for b in net.blocks if b.kind == "head"} == {"head.weight", "head.bias"}
    named = net_of(Backwards(), treated="norm+head", head="body")
    assert {b.name for b in named.blocks if b.kind == "head"} == {"body.weight", "body.bias"}


def test_what_becomes_of_the_users_module_later_is_not_followed():
    module = Sequential(Linear(3, 2), BatchNorm1d(2))
    net = net_of(module)
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
    module[0].requires_grad_(False)
    module[1].requires_grad_(False)
    return module


def moved(module, before):
    """Names of the tensors of a module that are not what they were."""
    state = module.state_dict()
    return {n for n, t in before.items() if state[n].shape == t.shape and not equal(state[n], t)}


def test_what_is_frozen_is_not_treated_and_does_not_move():
    module = partly_frozen()
    x = randn(60, 3) + 2
    data = fv.Data(x, (x[:, 0] > 2).long())
    before = {n: t.clone() for n, t in module.state_dict().items()}
    net = net_of(module)
    assert repr(net) == "Net(Sequential, dim=54: 8 norm, 46 other; 48 frozen)"
    assert net.treats_all
    trained = fv.pretrain(module, data, seed=0, epochs=3)
    swag = fv.fit(trained, data, fv.SWAG(rank=2, snapshots=4), seed=0)
    small, prior = fv.transfer(trained, swag, n_classes=5, trunk="sampled")
    assert repr(small) == "Net(Sequential, dim=33: 8 norm, 25 head; 48 frozen)"
    drawn = small.trunk.joined(small.w[None], seed=1)[0]
    sgd = fv.fit(trained, data, fv.SGD(), seed=0, steps=3)
    ensemble = fv.fit(trained, data, fv.Ensemble(members=2), seed=0, steps=3)
    for after in (
        trained.copy().to(dtype=torch.float64).to_module().float(),
        trained.to_module(sgd.W[0]),
        trained.to_module(ensemble.W[0]),
        small.to_module(),
        small.restrict("all").to_module(drawn),
    ):
        names = moved(after, before)
        assert "4.running_mean" in names
        assert not any(n.startswith(("0.", "1.")) for n in names)
        found = [p.requires_grad for p in after.parameters()]
        assert found == [False] * 4 + [True] * 6
    found = fv.hvp(fv.nll(trained, data), trained.w, trained.w).shape
    assert found == (54,)
    fresh = fv.engine.refresh_batchnorm(trained, trained.w, data)
    assert not fresh.buffers()["1.running_mean"].any()
    assert not moved(module, before)


@mark.parametrize("treated", ["trainable", "norm+head", "head"])
def test_a_frozen_module_is_treated_only_where_that_is_said(treated):
    module = partly_frozen().requires_grad_(False)
    with refused(
        r"leaves out what requires_grad_\(False\) froze, got Sequential.*: call requires_",
    ):
        net_of(module, treated)
    assert net_of(module, "all").dim == 102
    net = net_of(module, lambda n: n == "0.bias")
    assert net.dim == 8


@mark.parametrize("w, x", [("float32", "bfloat16"), ("float64", "float32"), ("float16", "float32")])
def test_weights_and_inputs_of_several_precisions_are_refused_in_one_sentence(w, x):
    module = Sequential(Linear(3, 4), BatchNorm1d(4)).eval()
    net = net_of(module)
    w = net.w.to(getattr(torch, w))
    with refused("net, w and x must have one dtype, got torch.* and torch.float"):
        net(w, randn(2, 3, dtype=getattr(torch, x)))


def test_weights_in_half_precision_are_refused_by_objectives_and_predictions():
    net = net_of(Linear(3, 2))
    data = blobs(4, 3, 2)
    f = fv.nll(net, data)
    w = net.w.half()
    for call in (
        lambda: f(w),
        lambda: fv.top_eigenpairs(f, w),
        lambda: fv.slice_line(f, w, w + 1),
        lambda: fv.predict(net, w[None], data, 1, seed=0),
    ):
        with refused("weights must be in torch.float32 as the net, got torch.float16", TypeError):
            call()


def test_autocast_converts_inputs_itself():
    net = net_of(Linear(3, 4))
    with torch.autocast("cpu", torch.bfloat16):
        found = net(net.w, randn(2, 3).bfloat16()).shape
        assert found == (2, 4)


class TiedByFunction(Module):
    """Logits by the embedding's weight, without a module of their own."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 4)
        self.mlp = Linear(4, 4)

    def forward(self, x):
        return nn.functional.linear(self.mlp(self.embedding(x)), self.embedding.weight)


def test_a_last_linear_whose_outputs_are_not_the_networks_is_said():
    with warned("last Linear that runs is mlp with 4 outputs, where the"):
        net_of(TiedByFunction(), "head", example=zeros(2, 3).long())


def test_a_table_with_sparse_gradients_is_one_again_in_the_module_that_comes_back():
    module = nn.Sequential(nn.Embedding(5, 3, sparse=True), nn.Flatten(), nn.Linear(3, 2))
    net = fv.Net.from_module(module, example=torch.zeros(2, 1, dtype=torch.int64))
    assert net.to_module()[0].sparse
    assert module[0].sparse


def test_a_net_of_a_module_is_that_of_from_module():
    module = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 2))
    for options in ({}, {"treated": "norm+head"}, {"treated": "head", "head": "0"}):
        short = fv.Net(module, **options)
        long = fv.Net.from_module(module, **options)
        assert short.blocks == long.blocks
        assert torch.equal(short.w, long.w)
        x = torch.randn(5, 3)
        assert torch.equal(short(short.w, x), long(long.w, x))
        assert torch.equal(pickle.loads(pickle.dumps(short)).w, short.w)
    with refused("module must be a torch.nn.Module, got int", TypeError):
        fv.Net(3)


NET = fv.Net.from_module(nn.Linear(3, 2))
Q = fv.Gaussian(NET.w, 0 * NET.w)
HABITS = {
    "a net of inputs": (lambda: NET(torch.zeros(1, 3)), r"net\(net.w, x\)"),
    "cuda": (lambda: NET.cuda(), r"net.to\(device, dtype\)"),
    "parameters": (lambda: NET.parameters(), "net.w, one vector"),
    "state_dict": (lambda: NET.state_dict(), r"net.to_module\(\).state_dict\(\)"),
    "a posterior's predict": (lambda: Q.predict(0), r"fv.predict\(net, posterior, x, n_draws"),
    "a posterior's to": (lambda: Q.to("cuda"), r"net.to\(device\)"),
    "a chain's save": (lambda: fv.Draws(NET.w[None]).save("q"), r"fv.save\(posterior, path\)"),
    "std": (lambda: fv.Gaussian(NET.w, std=NET.w), r"here log_std=, .*std.log\(\)"),
    "rho": (lambda: fv.SAM(rho=0.1), "here radius="),
    "rho of a fit": (lambda: fitted_by(fv.SABMA)(NET, None, Q, rho=0.1, seed=0), "here radius="),
    "epochs": (lambda: fitted_by(fv.SGD)(NET, None, epochs=3, seed=0), "here steps=, minibatches"),
    "n_samples": (lambda: fv.predict(NET, Q, 0, n_samples=3, seed=0), "here n_draws="),
    "no argument at all": (lambda: fv.SAM(strength=0.1), "it takes radius"),
    "a network of torchvision": (lambda: fv.models.resnet18, r"fv.models.torchvision_model\("),
    "MAP": (lambda: fv.fit_map, r"it is fv.fit\(net, data, fv.SGD"),
}


@mark.parametrize("call, road", HABITS.values(), ids=HABITS)
def test_a_call_by_habit_names_the_road(call, road):
    with refused(road, (TypeError, AttributeError)):
        call()


def test_arrays_of_numpy_stand_for_tensors():
    x = np.random.default_rng(0).standard_normal((6, 3))
    y = np.arange(6) % 2
    data = fv.Data(torch.tensor(x, dtype=torch.float32), torch.tensor(y))
    by_array = fv.Data(x, y)
    assert torch.equal(by_array.x, data.x)
    assert torch.equal(by_array.y, data.y)
    assert torch.equal(NET(NET.w.numpy(), x), NET(NET.w, data.x))
    q = fv.Gaussian(NET.w.numpy(), 0 * NET.w.numpy())
    draws = fv.predict(NET, q, x, 3, seed=0).outputs
    assert torch.equal(draws, fv.predict(NET, Q, data.x, 3, seed=0).outputs)
    W = np.stack([NET.w.numpy()] * 2).astype(np.float64)
    assert fv.predict(NET, W, x, 2, seed=0).outputs.dtype == torch.float32
    scores = fv.Prediction(draws.numpy(), y).scores
    assert torch.equal(scores["nll"], fv.Prediction(draws, data.y).scores["nll"])
    f = fv.nll(NET, data)
    assert torch.equal(fv.hvp(f, NET.w.numpy(), NET.w.numpy()), fv.hvp(f, NET.w, NET.w))
    inside, outside = np.array([0.1, 0.1 + 1e-12]), np.array([0.1 + 2e-12])  # equal in float32
    assert fv.metrics.ood_scores(inside, outside)["auroc"] == 1.0
