"""Networks of every kind in the fast path: inputs overwritten, batches that must stay whole."""

import copy

import torch
from cases import mlp, net_of, refused
from pytest import approx, mark
from torch import nn, randn
from torch.nn import Linear
from torch.nn import functional as F
from torch.testing import assert_close

import flatviz as fv


def made(module, x, treated="all"):
    """(net, data) of a module that came out of the user's hands, in evaluation mode."""
    return net_of(module.eval(), treated), fv.Data(x, torch.arange(len(x)) % 4)


class Late(nn.Module):
    """Features that are overwritten after a layer has read them; outputs as small as `size`."""

    def __init__(self, size, late):
        super().__init__()
        self.f = Linear(12, 8)
        self.u = Linear(8, 4)
        self.size = size
        self.late = late

    def forward(self, x):
        h = self.f(x)
        if self.late == "before":  # read by what varies, written by what is frozen
            return self.size * (self.u(h) + F.relu_(h)[:, :4])
        v = h.view(-1, 8)
        v += self.u.bias.sum()  # written under another name by what varies, and read once more
        return self.size * (self.u(h) + h[:, :4])


@mark.parametrize("late", ["before", "view"])
@mark.parametrize("size", [1.0, 1e-4])
def test_what_is_overwritten_late_keeps_its_order_and_is_traced(late, size):
    net, data = made(Late(size, late), randn(60, 12), lambda name: name.startswith("u"))
    f = fv.nll(net, fv.Data(data.x, size * randn(60, 4)), likelihood=size)
    plane = fv.plane_random(net, net.w, seed=1)
    coords = torch.tensor([[0.0, 0.0], [0.4, -0.3], [1.0, 1.0]])
    want = torch.stack([f(w) for w in plane.points(coords)]).detach()
    evaluate = f.over(plane.origin, plane.axes)
    for _ in range(2):  # what is kept is as it was
        assert_close(evaluate(coords), want, rtol=1e-5, atol=1e-5)
    assert evaluate.reuses


class SeveralResults(nn.Module):
    """A LayerNorm whose mean, its second result, is read too."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(6))
        self.head = Linear(6, 4)

    def forward(self, x):
        normed, mean, _ = torch.native_layer_norm(x, [6], self.gain, None, 1e-5)
        return self.head(normed) + mean


def test_an_operation_of_which_two_results_are_read_is_traced():
    net, data = made(SeveralResults(), randn(8, 6))
    f = fv.nll(net, data)
    axes = randn(2, net.dim)
    coords = randn(5, 2)
    plain = torch.stack([f(w) for w in net.w + coords @ axes])
    evaluate = f.over(net.w, axes)
    assert_close(evaluate(coords), plain)
    assert evaluate.reuses


class Together(nn.Module):
    """Outputs that hang on the rest of the batch; "masked": by little beside a class that is masked
    away."""

    def __init__(self, kind):
        super().__init__()
        self.a = Linear(12, 8)
        self.b = nn.BatchNorm1d(8, track_running_stats=False)
        self.kind = kind
        self.h = Linear(8, 4)

    def forward(self, x):
        z = self.a(x)
        z = torch.relu(z - 0.05 * z.mean(0)) if self.kind == "mean" else self.b(z)
        out = self.h(z)
        if self.kind == "masked":
            out[:, 3] = -1e9
        return out


@mark.parametrize(
    "kind, n", [("norm", 3), ("norm", 200), ("mean", 3), ("mean", 200), ("masked", 200)]
)
def test_outputs_that_hang_on_the_batch_are_refused(kind, n):
    net, data = made(Together(kind), randn(n, 12).sort(0).values)
    said = "each example alone, got outputs that depend on the rest of the batch"
    with refused(said):
        fv.nll(net, data)
    with refused(said):
        fv.quantity(net, data, "nll")


def test_outputs_that_cancel_to_rounding_are_no_reason_to_refuse():
    class Centred(nn.Sequential):
        def forward(self, x):
            return super().forward(x + 1e-8) - first(x)

    first = mlp(12, 64, 4, act=nn.ReLU)
    net, data = made(Centred(*copy.deepcopy(first)), randn(100, 12))
    assert fv.nll(net, data)(net.w).detach() == approx(1.386294, rel=1e-5)  # log 4


@mark.parametrize("p", [0.5, 0.02, 0.001])
def test_dropout_in_the_forward_pass_is_always_seen(p):
    class Dropped(Linear):
        def forward(self, x):
            return super().forward(F.dropout(torch.relu(x), p))

    for seed in range(10):
        torch.manual_seed(seed)
        net, data = made(nn.Sequential(Linear(6, 6), Dropped(6, 4)), randn(8, 6))
        with refused("got two outputs for one input: turn dropout off"):
            fv.nll(net, data)
