"""Bad input: each one clear error that says what was expected, what came and what to do."""

import math
import sys

import torch
from cases import net_of, refused
from pytest import mark, raises
from torch import arange, eye, float64, full, nn, ones, tensor, zeros
from torch.nn import Linear, Sequential
from torch.utils.data import DataLoader

import flatviz as fv


def data(n=6):
    return fv.Data(torch.randn(n, 3), torch.randint(0, 2, (n,)))


def net(**kwargs):
    module = Sequential(Linear(3, 4), nn.LayerNorm(4), Linear(4, 2))
    return net_of(module, **kwargs)


def prior(n, dtype=None):
    return fv.Gaussian(zeros(n, dtype=dtype), full((n,), -1.0, dtype=dtype))


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


VALUES = {
    "a wrong shape of w": (
        lambda: net()(zeros(3), zeros(2, 3)),
        r"w must have shape \(34,\), got \(3,\)",
    ),
    "an unknown word for treated": (
        lambda: net(treated="heads"),
        r"treated must be 'trainable', 'all', 'norm\+head', 'head', 'authors' or a function .*, "
        r"got 'heads'",
    ),
    "a wrong shape of x": (
        lambda: fv.nll(net(), fv.Data(zeros(4, 5), zeros(4).long())),
        r"inputs of shape \(4, 5\) do not pass through Net\(Sequential, dim=34",
    ),
    "an empty data set": (
        lambda: fv.Data(zeros(0, 3), zeros(0).long()),
        "at least one example, got an empty",
    ),
    "no norm layers": (
        lambda: net_of(Sequential(Linear(3, 2)), "norm+head"),
        r"treated='norm\+head' needs a normalisation layer .* got none in Sequential: "
        r"use treated='head', 'all'",
    ),
    "a head behind inputs that no guess meets": (
        lambda: net_of(Masked(), "head"),
        r"could not find the head of Masked: .* net.with_example\(x\)",
    ),
    "an example that does not pass": (
        lambda: net_of(Masked(), "head", example={"x": ones(2, 3)}),
        "the module must take the example, got 'NoneType' object is not subscriptable",
    ),
    "batches padded each to its longest": (
        lambda: fv.datasets.data_from(DataLoader(RAGGED, 2, collate_fn=padded)),
        r"inputs must be of one shape, got \(2,\) and \(3,\): pad or resize all alike",
    ),
    "one logit of two classes": (
        lambda: fv.nll(net_of(Linear(3, 1)), fv.Data(ones(2, 3), arange(2))),
        "got 1: give likelihood='bernoulli' for one logit, or the noise's standard deviation for a",
    ),
    "several labels an example as classes": (
        lambda: fv.nll(net(), fv.Data(ones(2, 3), ones(2, 2).long())),
        "use class numbers, not one-hot, or likelihood='bernoulli' for several labels",
    ),
    "no head": (
        lambda: net_of(Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2)), "norm+head"),
        "the module must have a head, got no nn.Linear and no 1x1 convolution in "
        r"Sequential: name it",
    ),
    "a head that is not there": (
        lambda: net(treated="norm+head", head="fc"),
        "head must name a module, got 'fc'",
    ),
    "nothing treated": (
        lambda: net(treated=lambda name: False),
        "treated must choose at least one parameter, got none",
    ),
    "dropout left on": (
        lambda: net_of(Sequential(Linear(3, 3), nn.Dropout(0.5), Linear(3, 2))),
        r"got dropout left on in 1: module.eval\(\)",
    ),
    "weights of two dtypes": (
        lambda: net_of(Sequential(Linear(3, 3).bfloat16(), Linear(3, 2))),
        r"treated weights must have one dtype, got torch.bfloat16 \(0.bias\) and torch.float32",
    ),
    "a factor of another dtype": (
        lambda: fv.Gaussian(zeros(3), zeros(3), ones(1, 3).double()),
        r"factor must have the dtype of mean, torch.float32, got torch.float64: convert",
    ),
    "a prior of another dtype": (
        lambda: fv.fit(net(), data(), fv.SGLD(prior=prior(net().dim, float64)), seed=0),
        r"prior must have the net's dtype, torch.float32, got torch.float64: convert",
    ),
    "dropout of a recurrent layer": (
        lambda: net_of(Sequential(nn.LSTM(3, 2, num_layers=2, dropout=0.5))),
        r"got dropout left on in 0: module.eval\(\)",
    ),
    "dropout of attention": (
        lambda: net_of(nn.MultiheadAttention(4, 2, dropout=0.5)),
        r"got dropout left on in MultiheadAttention: module.eval\(\)",
    ),
    "NaN weights in a module": (
        lambda: net_of(nan_module()),
        "must be finite, got NaN or inf in weight",
    ),
    "a path with a zero": (
        lambda: fv.save(plane(3), "a\0b"),
        r"path must be a path, got 'a\\x00b', with a zero character",
    ),
    "a path of 5,000 characters": (
        lambda: fv.load("x" * 5000),
        r"path must have names of at most 255 bytes, got 'x{199}\.\.\. of 5002 characters",
    ),
    "a path at home": (
        lambda: fv.save(plane(3), "~/plane.safetensors"),
        r"path must not begin with ~, .* got '~/plane.safetensors': give .*expanduser\(\)",
    ),
    "a word of 5,000 characters": (
        lambda: fv.top_eigenpairs(fv.nll(net(), data()), net().w, curvature="x" * 5000),
        r"curvature must be one of .*, got 'x{199}\.\.\. of 5002 characters",
    ),
    "NaN targets": (
        lambda: fv.Data(zeros(2, 2), tensor([0.0, math.nan])),
        "y must be finite, got 1 NaN",
    ),
    "a prior of another length": (
        lambda: fv.fit(net(), data(), fv.VI(prior(5)), seed=0),
        "net's 34 treated weights, got 5: use",
    ),
    "a plane of another net": (
        lambda: fv.slice_plane(objective(), plane(5)),
        r"origin must have shape \(34,\), got",
    ),
    "a device of another name": (
        lambda: net().to("gpu"),
        "device must be 'cpu', 'cuda' or a torch.device, got 'gpu'",
    ),
    "too many shots": (
        lambda: fv.datasets.digits_transfer(shots=150, seed=0),
        r"shots must be below \d+, .* got 150",
    ),
}
TYPES = {
    "a complex quantity": (
        lambda: fv.quantity(net(), data(), lambda out, y: out.sum() * 1j)(zeros(34)),
        "a quantity must be a real number, got torch.complex64",
    ),
}


@mark.parametrize("call, text", VALUES.values(), ids=VALUES)
def test_a_bad_value_is_one_clear_error(call, text):
    with refused(text):
        call()


@mark.parametrize("call, text", TYPES.values(), ids=TYPES)
def test_a_bad_type_is_one_clear_error(call, text):
    with refused(text, TypeError):
        call()


@mark.parametrize(
    "batch, text",
    [
        (arange(0), "batch must name at least one example"),
        (tensor([0, 99]), "batch must name examples from 0 to .*, got 0 to 99"),
        (
            zeros(3, 1).long(),
            r"shape \(n,\), or \(2, 'n'\) with (one|a row) for each member, got \(3, 1\)",
        ),
        (ones(4).bool(), "batch must be an int64 tensor of numbers of examples, got a bool tensor"),
    ],
)
def test_a_minibatch_of_no_examples_is_one_clear_error(tiny, batch, text):
    loss = fv.training.training_loss(*tiny, members=2)
    with raises((ValueError, TypeError), match=text):
        loss(tiny[0].w.expand(2, -1), batch)


@mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
@mark.parametrize("thing", [net, data, lambda: fv.core.data.Task(data(), data(), data(), 2)])
def test_nothing_moves_to_cuda_that_is_absent(thing):
    with refused("got 'cuda' but torch .* sees no GPU: use 'cpu', or", RuntimeError):
        thing().to("cuda")
    assert thing().to("cpu", float64) is not None


@mark.parametrize(
    "missing, name",
    [("ipywidgets", "lab"), ("plotly", "plot_surface"), ("anywidget", "explore")],
)
def test_a_package_that_is_not_installed_is_named_with_its_extra(missing, name, monkeypatch):
    package = getattr(fv, name).__module__.split(".")[1]
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(vars(fv), name, raising=False)  # where it stays once it was loaded
    # A new import sets it; this puts it back
    monkeypatch.setattr(fv, package, getattr(fv, package))
    for module in [m for m in sys.modules if m.startswith(f"flatviz.{package}")]:
        monkeypatch.delitem(sys.modules, module)
    with raises(
        ModuleNotFoundError,
        match=rf'flatviz.{name} needs {missing}.*: pip install "flatviz\[lab\]"',
    ):
        getattr(fv, name)


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
        with refused(f"(?i)^w must be a dense tensor .* got one {got}", TypeError) as e:
            take(bad)
        assert len(str(e.value)) < 150
    with refused(f"x must be a dense tensor .* got one {got}", TypeError):
        fv.Data(KINDS[got](data.x), data.y)


def test_labels_beside_inputs_are_no_second_input_and_the_error_says_so():
    with refused(r"in order \(labels stand apart, fv.Data\(x, y\)\)"):
        fv.predict(net(), prior(34), pair(), 2, seed=0)
