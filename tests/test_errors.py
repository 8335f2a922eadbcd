"""Bad input: each one clear error that says what was expected, what came and what to do."""

import math
import sys

import numpy as np
import torch
from pytest import mark, raises
from torch import arange, eye, full, nn, ones, tensor, zeros
from torch.nn import Linear, Sequential
from torch.utils.data import DataLoader

import flatviz as fv


def data(n=6):
    return fv.Data(torch.randn(n, 3), torch.randint(0, 2, (n,)))


def net(**kwargs):
    return fv.Net.from_module(Sequential(Linear(3, 4), nn.LayerNorm(4), Linear(4, 2)), **kwargs)


def prior(n):
    return fv.Gaussian(zeros(n), full((n,), -1.0))


def nan_module():
    module = Linear(3, 2)
    module.weight.data[0, 0] = math.nan
    return module


def pair():
    d = data()
    return d.x, d.y


def objective():
    return fv.nll(net(), data())


def plane(dim, sides=2):
    return fv.Plane(zeros(dim), eye(dim)[:sides], "distance")


RAGGED = [(ones(n), 0) for n in (2, 2, 3, 3)]


def padded(batch):
    return nn.utils.rnn.pad_sequence([x for x, _ in batch], batch_first=True), tensor(
        [y for _, y in batch]
    )


class Masked(Linear):
    """It needs a mask, an optional argument by its signature."""

    def __init__(self):
        super().__init__(3, 2)

    def forward(self, x, mask=None):
        return super().forward(x * mask[:, None])


CASES = {
    "a wrong shape of w": (
        lambda: net()(zeros(3), zeros(2, 3)),
        ValueError,
        r"w must have shape \(34,\), got \(3,\)",
    ),
    "an unknown word for treated": (
        lambda: net(treated="heads"),
        ValueError,
        r"treated must be 'trainable', 'all', 'norm\+head', 'head', 'authors' or a function .*, "
        r"got 'heads'",
    ),
    "a wrong shape of x": (
        lambda: fv.nll(net(), fv.Data(zeros(4, 5), zeros(4).long())),
        ValueError,
        r"inputs of shape \(4, 5\) do not pass through Net\(Sequential, dim=34",
    ),
    "an empty data set": (
        lambda: fv.Data(zeros(0, 3), zeros(0).long()),
        ValueError,
        "at least one example, got an empty",
    ),
    "unequal lengths": (
        lambda: fv.Data(zeros(4, 3), zeros(3).long()),
        ValueError,
        "one length, got 4 inputs and 3 labels",
    ),
    "labels below zero": (
        lambda: fv.Data(zeros(2, 3), tensor([0, -1])),
        ValueError,
        "labels must be 0 or more, got -1",
    ),
    "no norm layers": (
        lambda: fv.Net.from_module(Sequential(Linear(3, 2)), "norm+head"),
        ValueError,
        r"treated='norm\+head' needs a normalisation layer .* got none in Sequential: "
        r"use treated='head', 'all'",
    ),
    "a head behind inputs that no guess meets": (
        lambda: fv.Net.from_module(Masked(), "head"),
        ValueError,
        r"could not find the head of Masked: .* net.with_example\(x\)",
    ),
    "an example that does not pass": (
        lambda: fv.Net.from_module(Masked(), "head", example={"x": ones(2, 3)}),
        ValueError,
        "the module must take the example, got 'NoneType' object is not subscriptable",
    ),
    "batches padded each to its longest": (
        lambda: fv.datasets.data_from(DataLoader(RAGGED, 2, collate_fn=padded)),
        ValueError,
        r"inputs must be of one shape, got \(2,\) and \(3,\): pad or resize all alike",
    ),
    "one logit of two classes": (
        lambda: fv.nll(fv.Net.from_module(Linear(3, 1)), fv.Data(ones(2, 3), arange(2))),
        ValueError,
        "got 1: give likelihood='bernoulli' for one logit, or the noise's standard deviation for a",
    ),
    "several labels an example as classes": (
        lambda: fv.nll(net(), fv.Data(ones(2, 3), ones(2, 2).long())),
        ValueError,
        "use class numbers, not one-hot, or likelihood='bernoulli' for several labels",
    ),
    "probabilities as labels": (
        lambda: fv.nll(net(), fv.Data(ones(2, 3), full((2, 2), 0.5))),
        TypeError,
        "got floating targets: .* class numbers in place of probabilities",
    ),
    "no head": (
        lambda: fv.Net.from_module(Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2)), "norm+head"),
        ValueError,
        r"treated='norm\+head' needs a head, got no nn.Linear and no 1x1 convolution in "
        r"Sequential: name it",
    ),
    "a head that is not there": (
        lambda: net(treated="norm+head", head="fc"),
        ValueError,
        "head must name a module, got 'fc'",
    ),
    "nothing treated": (
        lambda: net(treated=lambda name: False),
        ValueError,
        "treated must choose at least one parameter, got none",
    ),
    "dropout left on": (
        lambda: fv.Net.from_module(Sequential(Linear(3, 3), nn.Dropout(0.5), Linear(3, 2))),
        ValueError,
        r"got dropout left on in 1: module.eval\(\)",
    ),
    "NaN weights in a module": (
        lambda: fv.Net.from_module(nan_module()),
        ValueError,
        "must be finite, got NaN or inf in weight",
    ),
    "NaN weights in draws": (
        lambda: fv.Draws(full((2, 3), math.nan)),
        ValueError,
        "W must be finite, got 6 NaN .* diverged",
    ),
    "sparse weights": (
        lambda: fv.top_eigenpairs(objective(), ones(34).to_sparse(), 1),
        TypeError,
        r"give w.to_dense\(\)",
    ),
    "no examples in a minibatch": (
        lambda: fv.training.training_loss(net(), data())(net().w, arange(0)),
        ValueError,
        "batch must name at least one example",
    ),
    "an example that is not there": (
        lambda: fv.training.training_loss(net(), data())(net().w, torch.tensor([0, 99])),
        ValueError,
        "batch must name examples from 0 to .*, got 0 to 99",
    ),
    "an example that is not there, of members": (
        lambda: fv.training.training_loss(net(), data(), members=2)(
            net().w.expand(2, -1), torch.tensor([0, -1])
        ),
        ValueError,
        "batch must name examples from 0 to .*, got -1 to 0",
    ),
    "a minibatch for another number of members": (
        lambda: fv.training.training_loss(net(), data(), members=2)(
            net().w.expand(2, -1), torch.zeros(3, 1).long()
        ),
        ValueError,
        r"shape \(n,\), or \(2, 'n'\) with a row for each member, got \(3, 1\)",
    ),
    "a mask for a minibatch": (
        lambda: fv.training.training_loss(net(), data())(net().w, torch.ones(4).bool()),
        TypeError,
        "batch must be an int64 tensor of numbers of examples, got a bool tensor",
    ),
    "a path at home": (
        lambda: fv.save(plane(3), "~/plane.safetensors"),
        ValueError,
        r"path must not begin with ~, .* got '~/plane.safetensors': give .*expanduser\(\)",
    ),
    "a folder as a file": (
        lambda: fv.save(plane(3), "/"),
        ValueError,
        "path must name a file, got the folder '/'",
    ),
    "a text of 5,000 characters": (
        lambda: fv.nll(net(), data(), likelihood="x" * 5000),
        ValueError,
        r"got 'x{199}\.\.\. of 5002 characters",
    ),
    "a word of 5,000 characters": (
        lambda: fv.top_eigenpairs(fv.nll(net(), data()), net().w, curvature="x" * 5000),
        ValueError,
        r"curvature must be one of .*, got 'x{199}\.\.\. of 5002 characters",
    ),
    "sparse class weights": (
        lambda: fv.Likelihood.categorical(weight=ones(3).to_sparse()),
        TypeError,
        "weight must be a dense tensor of numbers to compute with, got one of layout",
    ),
    "NaN inputs": (
        lambda: fv.Data(full((2, 3), math.nan), zeros(2).long()),
        ValueError,
        "x must be finite, got 6 NaN",
    ),
    "NaN targets": (
        lambda: fv.Data(zeros(2, 2), tensor([0.0, math.nan])),
        ValueError,
        "y must be finite, got 1 NaN",
    ),
    "complex targets": (
        lambda: fv.Data(zeros(2, 2), 1j * zeros(2)),
        TypeError,
        "y must be real .*, got torch.complex64",
    ),
    "a complex quantity": (
        lambda: fv.quantity(net(), data(), lambda out, y: out.sum() * 1j)(zeros(34)),
        ValueError,
        "a quantity must be one real number",
    ),
    "a prior of another length": (
        lambda: fv.fit_vi(net(), data(), prior(5), seed=0),
        ValueError,
        "net's 34 treated weights, got 5: use",
    ),
    "a module that is none": (
        lambda: fv.Net.from_module("resnet18"),
        TypeError,
        "module must be a torch.nn.Module, got str",
    ),
    "a plane of another net": (
        lambda: fv.slice_plane(objective(), plane(5)),
        ValueError,
        r"origin must have shape \(34,\), got",
    ),
    "a line of another net": (
        lambda: fv.slice_line(objective(), *eye(5)[:2]),
        ValueError,
        r"a must have shape \(34,\), got",
    ),
    "a path of another net": (
        lambda: fv.slice_path(objective(), zeros(3, 5)),
        ValueError,
        r"shape \(S, 34\), got \(3, 5\)",
    ),
    "inputs to predict the net cannot take": (
        lambda: fv.predict(net(), prior(34), zeros(4, 5), 2, seed=0),
        ValueError,
        r"inputs of shape \(4, 5\) do not pass through Net\(Sequential, dim=34",
    ),
    "no inputs to predict": (
        lambda: fv.predict(net(), prior(34), zeros(0, 3), 2, seed=0),
        ValueError,
        r"at least one input of Net",
    ),
    "a tuple to predict": (
        lambda: fv.predict(net(), prior(34), pair(), 2, seed=0),
        TypeError,
        r"x must be a tensor of inputs \(N, ...\), or fv.Data\(x, y\), got a tuple",
    ),
    "a task of tuples": (
        lambda: fv.core.data.Task(pair(), data(), data(), 2),
        TypeError,
        "source must be a Data, got a tuple",
    ),
    "a device of another name": (
        lambda: net().to("gpu"),
        ValueError,
        "device must be 'cpu', 'cuda' or a torch.device, got 'gpu'",
    ),
    "a dtype for a device": (
        lambda: data().to(torch.float64),
        TypeError,
        r"got torch.float64: a dtype is given as dtype=",
    ),
    "too many shots": (
        lambda: fv.datasets.digits_transfer(shots=150, seed=0),
        ValueError,
        r"shots must be below \d+, .* got 150",
    ),
}


@mark.parametrize("name", CASES)
def test_bad_input_is_one_clear_error(name):
    call, kind, text = CASES[name]
    with raises(kind, match=text):
        call()


@mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
@mark.parametrize("thing", [net, data, lambda: fv.core.data.Task(data(), data(), data(), 2)])
def test_nothing_moves_to_cuda_that_is_absent(thing):
    with raises(
        RuntimeError,
        match=r"got 'cuda' but torch .* sees no GPU: use 'cpu', or run `flatviz doctor`",
    ):
        thing().to("cuda")
    assert thing().to("cpu", torch.float64) is not None


@mark.parametrize(
    "missing, name",
    [("ipywidgets", "lab"), ("plotly", "plot_surface"), ("anywidget", "explore")],
)
def test_a_package_that_is_not_installed_is_named_with_its_extra(missing, name, monkeypatch):
    package = getattr(fv, name).__module__.split(".")[1]
    monkeypatch.setitem(sys.modules, missing, None)
    # A new import sets it; this puts it back
    monkeypatch.setattr(fv, package, getattr(fv, package))
    for module in [m for m in sys.modules if m.startswith(f"flatviz.{package}")]:
        monkeypatch.delitem(sys.modules, module)
    with raises(
        ModuleNotFoundError,
        match=rf'flatviz.{name} needs {missing}.*: pip install "flatviz\[lab\]"',
    ):
        getattr(fv, name)


def test_numbers_of_numpy_are_numbers(tiny):
    net, data = tiny
    settings = dict(seed=3, steps=2, batch_size=8, lr=0.1)
    as_numpy = dict(
        seed=np.int64(3),
        steps=np.int32(2),
        batch_size=np.int64(8),
        lr=np.float32(0.1).astype(np.float64),
    )
    settings["lr"] = float(as_numpy["lr"])
    assert torch.equal(fv.fit_sgd(net, data, **as_numpy).W, fv.fit_sgd(net, data, **settings).W)
    assert len(fv.fit_ensemble(net, data, seed=np.int64(3), members=np.int64(2), steps=1).W) == 2


KINDS = {  # which torch refuses in its first sum, with thousands of characters
    "of layout torch.sparse_coo: give .*to_dense": torch.Tensor.to_sparse,
    "in torch.float8_e4m3fn, which torch only stores: give .*float": lambda t: t.to(
        torch.float8_e4m3fn
    ),
    "on the meta device, which has no numbers": lambda t: t.to("meta"),
}


@mark.parametrize("got", KINDS)
def test_a_tensor_that_torch_cannot_compute_with_is_refused_at_every_door(tiny, got):
    net, data = tiny
    f = fv.nll(net, data)
    bad = KINDS[got](net.w)
    for take in (f, f.operator, lambda w: f.many(w[None]), lambda w: net(w, data.x), net.unflatten):
        with raises(TypeError, match=f"(?i)^w must be a dense tensor .* got one {got}") as e:
            take(bad)
        assert len(str(e.value)) < 150
    with raises(TypeError, match=f"x must be a dense tensor .* got one {got}"):
        fv.Data(KINDS[got](data.x), data.y)
