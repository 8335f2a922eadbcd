"""Activations of a fixed trunk: the same outputs, gradients, fits and curvature as through the
whole network."""

from collections import OrderedDict

import torch
from cases import blobs, mlp, net_of, refused, rng
from pytest import fixture, mark
from torch import nn
from torch.nn import Linear, Sequential
from torch.testing import assert_close
from torchvision.models import VisionTransformer

import flatviz as fv
from flatviz.engine import cache_trunk


@fixture
def images():
    return fv.Data(torch.rand(20, 3, 16, 16, generator=rng()), torch.arange(20) % 4)


def test_outputs_and_gradients_are_the_whole_networks(images):
    module = fv.models.resnet20(fv.Task(images, images, images, 4), width=8)
    module.train()(images.x)  # statistics that are not the initial ones
    net = net_of(module.eval(), "head", example=images.x[:2])
    late, features = cache_trunk(net, images)
    assert [repr(b) for b in late.blocks] == [repr(b) for b in net.blocks]
    w = net.w + 0.05 * torch.randn(net.dim, generator=rng(1))
    assert_close(late(w, features.x), net(w, images.x), atol=1e-5, rtol=1e-4)
    whole, short = (torch.func.grad(fv.nll(*on))(w) for on in ((net, images), (late, features)))
    assert_close(short, whole, atol=1e-5, rtol=1e-3)


def test_a_vision_transformers_head_starts_at_its_last_features(images):
    vit = VisionTransformer(16, 8, 1, 2, 8, 8, num_classes=4).eval()
    nn.init.normal_(vit.heads.head.weight, std=0.3)
    net = net_of(vit, lambda name: name.startswith("heads"), example=images.x[:2])
    late, features = cache_trunk(net, images)
    assert features.x.shape == (20, 8)
    assert_close(late(net.w, features.x), net(net.w, images.x), atol=1e-5, rtol=1e-4)


def test_a_head_of_two_layers_keeps_the_order_of_the_whole_networks_weights():
    module = Sequential(Linear(4, 6), Sequential(nn.LayerNorm(6), Linear(6, 2)))
    net = net_of(module, lambda name: name.startswith("1"))
    data = blobs(6, 4, 2)
    late, features = cache_trunk(net, data)
    assert features.x.shape == (6, 6)
    assert [b.name for b in late.blocks] == [b.name for b in net.blocks]
    w = net.w + 0.1
    assert_close(late(w, features.x), net(w, data.x))


def test_a_layer_may_be_called_name():
    module = Sequential(OrderedDict(body=Linear(4, 5), name=Linear(5, 2)))
    data = blobs(6, 4, 2)
    net = net_of(module, lambda name: name.startswith("name."))
    late, features = cache_trunk(net, data)
    assert_close(late(net.w, features.x), net(net.w, data.x))


class Twice(nn.Module):
    """Its head runs twice, or something comes after it."""

    def __init__(self, after):
        super().__init__()
        self.body = Linear(4, 5)
        self.head = Linear(5, 2)
        self.after = after

    def forward(self, x):
        h = self.body(x)
        return 2 * self.head(h) if self.after else self.head(h) + self.head(-h.tanh())


@mark.parametrize(
    "module, how, text",
    [
        (mlp(4, 4, 2), {}, "before one layer that holds all treated weights, got Net"),
        (Twice(False), {"head": "head"}, "'head' must run once, on a tensor of one row"),
        (Twice(True), {"head": "head"}, "outputs from kept activations must be"),
    ],
)
def test_networks_without_a_trunk_say_so(module, how, text):
    net = net_of(module, "head" if how else "all", **how)
    with refused(text):
        cache_trunk(net, blobs(6, 4, 2))
