"""BatchNorm: re-estimated statistics, and the choice that must be made."""

import warnings
from functools import partial

import torch
from cases import around, fitted_by, net_of, normed, refused
from pytest import fixture, mark
from torch import nn, ones, randn, zeros
from torch.nn import Linear
from torch.testing import assert_close

import flatviz as fv
from flatviz.engine import refresh_batchnorm


@fixture
def net_and_data():
    net = net_of(normed(4, 6, 3))
    return net, fv.Data(randn(50, 4) + 2, torch.randint(0, 3, (50,)))


def has_statistics_of(net, layer, seen):
    """`seen` (C, n): every number that a channel of the layer gets."""
    buffers = net.buffers()
    assert_close(buffers[f"{layer}.running_mean"], seen.mean(1), rtol=1e-5, atol=1e-5)
    assert_close(buffers[f"{layer}.running_var"], seen.var(1), rtol=1e-5, atol=1e-5)


@mark.parametrize("n", [32, 33, 49, 50])  # batches of 16: none over, one, one, and two
def test_refreshed_statistics_are_those_of_all_data(net_and_data, n):
    net, data = net_and_data
    # batches that differ
    x = data.x[:n] * torch.linspace(0.1, 5, n)[:, None]
    fresh = refresh_batchnorm(net, net.w + 0.1, fv.Data(x, data.y[:n]), batch_size=16)
    first = fresh.to_module()[0]
    has_statistics_of(fresh, "1", first(x).detach().T)


class Twice(nn.Module):
    """A norm that runs on two maps."""

    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(3, 3, 3, padding=1)
        self.b = nn.BatchNorm2d(3)
        self.h = Linear(3, 2)

    def forward(self, x):
        maps = self.c(x)
        both = self.b(maps) + self.b(2 * maps)
        return self.h(both.mean((2, 3)))


def test_images_count_by_their_pixels_and_a_layer_used_twice_by_both():
    net = net_of(Twice().eval())
    data = fv.Data(randn(41, 3, 6, 5), zeros(41))
    fresh = refresh_batchnorm(net, net.w, data, batch_size=8)
    maps = net.module.c(data.x).detach()
    both = torch.cat([maps, 2 * maps])
    has_statistics_of(fresh, "b", both.transpose(0, 1).flatten(1))
    one_image = data.subset(slice(0, 1))
    refresh_batchnorm(net, net.w, one_image)  # its pixels are enough


def test_one_example_has_no_statistics(net_and_data):
    net, data = net_and_data
    with refused("at least 2 examples to estimate BatchNorm statistics, got 1"):
        refresh_batchnorm(net, net.w, data.subset(slice(0, 1)))


def test_predict_asks_for_the_choice_and_records_it(net_and_data):
    net, data = net_and_data
    q = around(net, -3.0)
    predict = partial(fv.predict, net, q, data, 2, seed=0)
    with refused(r"batchnorm='frozen'.*batchnorm=data.*re-estimates them"):
        predict()
    assert predict(batchnorm="frozen").batchnorm == "frozen"
    fresh = predict(batchnorm=data)
    assert fresh.batchnorm == "re-estimated"
    w = q.sample(2, seed=0)[1]
    assert_close(fresh.outputs[1], refresh_batchnorm(net, w, data)(w, data.x))


def test_surfaces_and_spectra_say_that_statistics_are_frozen(net_and_data):
    net, data = net_and_data
    f = fv.nll(net, data)
    plane = fv.plane_random(net, net.w, seed=0)
    assert fv.slice_plane(f, plane, resolution=3).batchnorm == "frozen"
    assert fv.top_eigenpairs(f, net.w, 2).batchnorm == "frozen"


class Centre(nn.Module):
    """A norm that torch does not know as one."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", zeros(()))
        self.register_buffer("scale", ones(()))

    def forward(self, x):
        if self.training:
            self.mean = x.mean()
        return self.scale * (x - self.mean)


FITS = {
    "sgd": partial(fitted_by(fv.SGD), steps=2),
    "swag": partial(fitted_by(fv.SWAG), snapshots=5, rank=2),
}


@mark.parametrize(
    "norm, said",
    [
        (nn.InstanceNorm1d(4, track_running_stats=True), ["0 (InstanceNorm1d)"]),
        (Centre(), ["0 (Centre)"]),
        (nn.InstanceNorm1d(4), []),
        (nn.BatchNorm1d(4), []),
    ],
)
@mark.parametrize("fit", FITS)
def test_a_norm_that_training_leaves_as_it_is_is_named(norm, said, fit):
    data = fv.Data(randn(8, 4, 3) + 5, torch.arange(8) % 2)
    net = net_of(nn.Sequential(norm, nn.Flatten(), Linear(12, 2)))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        FITS[fit](net, data, seed=0, batchnorm="train")
    texts = [str(w.message) for w in seen if "keeps its statistics" in str(w.message)]
    assert len(texts) == len(said)
    assert all(name in text for name, text in zip(said, texts))


@mark.parametrize("seed", range(4))
def test_a_linearised_prediction_at_the_center_has_the_centers_statistics(seed):
    net = net_of(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)))
    W = torch.stack([net.w, net.w + 0.1, net.w + 0.2])
    buffers = {}
    for name, value in net.buffers().items():
        buffers[name] = torch.stack([value + i for i in range(3)])
    q = fv.Draws(W, buffers=buffers)
    x = torch.randn(5, 3)
    how = dict(seed=seed, linearised=True, batchnorm="frozen")
    found = fv.predict(net, q, x, 3, **how).outputs
    (row,) = (q.sample(3, seed=seed) == W[1]).all(1).nonzero().flatten()
    own = net.with_buffers({name: value[1] for name, value in buffers.items()})
    assert_close(found[row], own(W[1], x))
