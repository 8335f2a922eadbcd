"""The loss over inputs, against plain torch on the module."""

import pytest
import torch
from cases import assert_exact, net_of, refused
from torch import nn, randn, stack, tensor

import flatviz as fv


def loss_at(net, image, y):
    """Loss of the module, without flatviz."""
    return nn.functional.cross_entropy(net.to_module()(image), y)


@pytest.fixture
def image():
    """A small convolutional network in float64 and one image of 3 x 4 x 4 with its label."""
    torch.manual_seed(1)
    layers = nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.Tanh(), nn.Flatten()
    module = nn.Sequential(*layers, nn.Linear(64, 5)).double()
    net = net_of(module)
    data = fv.Data(randn(1, 3, 4, 4).double(), tensor([2]))
    return net, data


def test_a_surface_over_an_image_is_the_loss_by_hand(image):
    net, data = image
    f = fv.input_nll(net, data)
    axes = randn(2, 48).double()
    plane = fv.Plane(f.start, axes, "pixels")
    surface = fv.slice_plane(f, plane, extent=0.5, resolution=3)
    for i, a in enumerate(surface.a):
        for j, b in enumerate(surface.b):
            moved = data.x + (a * axes[0] + b * axes[1]).view(1, 3, 4, 4)
            want = loss_at(net, moved, data.y)
            assert_exact(surface.values[i, j], want.detach())


def test_eigenpairs_over_rows_are_those_of_the_dense_hessian(tiny):
    """Rows are together one vector; the mean of losses of single rows has a Hessian of blocks."""
    net, data = tiny
    f = fv.input_nll(net, data)
    dense = torch.autograd.functional.hessian(
        lambda x: loss_at(net, x.view(12, 2), data.y), data.x.flatten()
    )
    found = dense[:2, 2:].abs().max()
    assert found == 0
    got = fv.top_eigenpairs(f, f.start, 3, tol=1e-10)
    want = torch.linalg.eigvalsh(dense).flip(0)[:3]
    assert_exact(got.values, want)


def test_values_of_many_inputs_are_those_one_by_one_whatever_the_batch(tiny):
    net, data = tiny
    f = fv.input_nll(net, data)
    X = f.start + randn(500, f.dim).double()  # 6,000 rows, more than one batch
    assert_exact(f.many(X), stack([f(x) for x in X]))


def test_inputs_that_cannot_vary_are_refused():
    module = nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(8, 2))
    net = net_of(module)
    x = torch.zeros(3, 2).long()
    y = tensor([0, 1, 0])
    tokens = fv.Data(x, y)
    with refused("inputs must be floating to be varied, got torch.int64", TypeError):
        fv.input_nll(net, tokens)


def test_surfaces_over_inputs_at_other_weights_have_another_key(image):
    """The cache on disk finds values by it."""
    net, data = image
    keys = {fv.input_nll(net.at(w), data).key for w in (net.w, net.w.clone(), 2 * net.w)}
    assert len(keys) == 2
