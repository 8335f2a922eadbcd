"""BatchNorm: re-estimated statistics, and the choice that must be made."""

import warnings

import torch
from cases import around, normed
from pytest import fixture, mark, raises
from torch import nn
from torch.nn import Linear
from torch.testing import assert_close

import flatviz as fv
from flatviz import engine


@fixture
def net_and_data():
    net = fv.Net.from_module(normed(4, 6, 3))
    return net, fv.Data(torch.randn(50, 4) + 2, torch.randint(0, 3, (50,)))


def has_statistics_of(net, layer, seen):
    """`seen` (C, n): every number that a channel of the layer gets."""
    assert_close(net.buffers()[f"{layer}.running_mean"], seen.mean(1), rtol=1e-5, atol=1e-5)
    assert_close(net.buffers()[f"{layer}.running_var"], seen.var(1), rtol=1e-5, atol=1e-5)


@mark.parametrize("n", [32, 33, 49, 50])  # batches of 16: none over, one, one, and two
def test_refreshed_statistics_are_those_of_all_data(net_and_data, n):
    net, data = net_and_data
    # batches that differ
    w = net.w + 0.1
    x = data.x[:n] * torch.linspace(0.1, 5, n)[:, None]
    fresh = engine.refresh_batchnorm(net, w, fv.Data(x, data.y[:n]), batch_size=16)
    has_statistics_of(fresh, "1", fresh.to_module()[0](x).detach().T)


def test_images_count_by_their_pixels_and_a_layer_used_twice_by_both():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.c = nn.Conv2d(3, 3, 3, padding=1)
            self.b = nn.BatchNorm2d(3)
            self.h = Linear(3, 2)

        def forward(self, x):
            maps = self.c(x)
            both = self.b(maps) + self.b(2 * maps)
            return self.h(both.mean((2, 3)))

    net = fv.Net.from_module(Twice().eval())
    x = torch.randn(41, 3, 6, 5)
    fresh = engine.refresh_batchnorm(net, net.w, fv.Data(x, torch.zeros(41)), batch_size=8)
    h = net.module.c(x).detach()
    has_statistics_of(fresh, "b", torch.cat([h, 2 * h]).transpose(0, 1).flatten(1))
    # Pixels are enough
    assert engine.refresh_batchnorm(net, net.w, fv.Data(x[:1], torch.zeros(1))).w.shape == (
        net.dim,
    )


def test_one_example_has_no_statistics(net_and_data):
    net, data = net_and_data
    with raises(
        ValueError,
        match="data must hold at least 2 examples to estimate BatchNorm statistics, got 1",
    ):
        engine.refresh_batchnorm(net, net.w, data.subset(slice(0, 1)))


def test_predict_asks_for_the_choice_and_records_it(net_and_data):
    net, data = net_and_data
    q = around(net, -3.0)
    with raises(
        ValueError, match=r"batchnorm='frozen'.*batchnorm=data.*re-estimates them for each draw"
    ):
        fv.predict(net, q, data, 2, seed=0)
    frozen = fv.predict(net, q, data, 2, seed=0, batchnorm="frozen")
    fresh = fv.predict(net, q, data, 2, seed=0, batchnorm=data)
    assert (frozen.batchnorm, fresh.batchnorm) == ("frozen", "re-estimated")
    w = q.sample(2, seed=0)[1]
    assert_close(fresh.outputs[1], engine.refresh_batchnorm(net, w, data)(w, data.x))
    assert (
        fv.slice_plane(
            fv.nll(net, data), fv.plane_random(net, net.w, seed=0), resolution=3
        ).batchnorm
        == "frozen"
    )
    assert fv.top_eigenpairs(fv.nll(net, data), net.w, 2).batchnorm == "frozen"


class Centre(nn.Module):
    """A norm that torch does not know as one."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(()))
        self.register_buffer("scale", torch.ones(()))

    def forward(self, x):
        if self.training:
            self.mean = x.mean()
        return self.scale * (x - self.mean)


@mark.parametrize(
    ("norm", "said"),
    [
        (nn.InstanceNorm1d(4, track_running_stats=True), "0 (InstanceNorm1d)"),
        (Centre(), "0 (Centre)"),
        (nn.InstanceNorm1d(4), None),
        (nn.BatchNorm1d(4), None),
    ],
)
@mark.parametrize(
    "fit",
    [
        lambda net, data: fv.fit_sgd(net, data, seed=0, steps=2, batchnorm="train"),
        lambda net, data: fv.fit_swag(net, data, seed=0, snapshots=5, rank=2, batchnorm="train"),
    ],
)
def test_a_norm_that_training_leaves_as_it_is_is_named(norm, said, fit):
    data = fv.Data(torch.randn(8, 4, 3) + 5, torch.arange(8) % 2)
    net = fv.Net.from_module(nn.Sequential(norm, nn.Flatten(), nn.Linear(12, 2)))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        fit(net, data)
    texts = [str(w.message) for w in seen if "keeps its statistics" in str(w.message)]
    assert len(texts) == (said is not None)
    assert all(said in text for text in texts)
