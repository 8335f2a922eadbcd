"""Activations of a fixed trunk: the same outputs, gradients, fits and curvature as through the
whole network."""

import torch
from cases import blobs, rng
from pytest import raises
from torch import nn
from torch.nn import Linear, Sequential
from torch.testing import assert_close

import flatviz as fv
from flatviz import engine


def images():
    return fv.Data(torch.rand(20, 3, 16, 16, generator=rng()), torch.arange(20) % 4)


def two_classes():
    return blobs(6, 4, 2)


def resnet(treated):
    data = images()
    module = fv.models.resnet20(fv.Task(data, data, data, 4), width=8).eval()
    with torch.no_grad():
        for m in module.modules():
            if isinstance(m, nn.BatchNorm2d):
                m.running_mean.uniform_(-0.1, 0.1), m.running_var.uniform_(0.5, 1.5)
    return fv.Net.from_module(module, treated, example=data.x[:2]), data


def test_outputs_and_gradients_are_the_whole_networks():
    net, data = resnet("head")
    late, features = engine.cache_trunk(net, data)
    assert [(b.name, b.start, b.stop, b.kind) for b in late.blocks] == [
        (b.name, b.start, b.stop, b.kind) for b in net.blocks
    ]
    w = net.w + 0.05 * torch.randn(net.dim, generator=rng(1))
    assert_close(late(w, features.x), net(w, data.x), atol=1e-5, rtol=1e-4)
    grads = [torch.func.grad(fv.nll(n, d))(w) for n, d in ((net, data), (late, features))]
    assert_close(*grads, atol=1e-5, rtol=1e-3)


def test_a_vision_transformers_head_starts_at_its_last_features():
    import torchvision

    vit = torchvision.models.VisionTransformer(16, 8, 1, 2, 8, 8, num_classes=4).eval()
    data = images()
    nn.init.normal_(vit.heads.head.weight, std=0.3)
    net = fv.Net.from_module(vit, lambda name: name.startswith("heads"), example=data.x[:2])
    late, features = engine.cache_trunk(net, data)
    assert features.x.shape == (20, 8)
    assert_close(late(net.w, features.x), net(net.w, data.x), atol=1e-5, rtol=1e-4)


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


def test_networks_without_a_trunk_say_so():
    net = fv.Net.from_module(Sequential(Linear(4, 4), Linear(4, 2)))
    with raises(
        ValueError,
        match="a trunk must come before one layer that holds all treated weights, got Net",
    ):
        engine.cache_trunk(net, two_classes())
    rules = {
        False: "'head' must run once, on a tensor of one row",
        True: "outputs from kept activations must be",
    }
    for after, said in rules.items():
        with raises(ValueError, match=said):
            engine.cache_trunk(fv.Net.from_module(Twice(after), "head", head="head"), two_classes())


def test_a_head_of_two_layers_keeps_the_order_of_the_whole_networks_weights():
    module = Sequential(Linear(4, 6), Sequential(nn.LayerNorm(6), Linear(6, 2)))
    net = fv.Net.from_module(module, lambda name: name.startswith("1"))
    data = two_classes()
    late, features = engine.cache_trunk(net, data)
    assert_close(late(net.w + 0.1, features.x), net(net.w + 0.1, data.x))
    assert [b.name for b in late.blocks] == [
        "1.0.weight",
        "1.0.bias",
        "1.1.weight",
        "1.1.bias",
    ]
    assert features.x.shape == (6, 6)
