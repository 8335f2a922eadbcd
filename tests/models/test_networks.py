"""Networks: sizes as published, forward passes as another tool's, any number of classes."""

from unittest.mock import Mock

import pytest
import torch
from torch.nn import functional as F

import flatviz as fv


def images(side=32, channels=3, n_classes=10, n=20):
    g = torch.Generator().manual_seed(0)
    data = fv.Data(torch.rand(n, channels, side, side, generator=g), torch.arange(n) % n_classes)
    return fv.Task(data, data, data, n_classes)


def test_the_networks_have_as_many_weights_as_their_layers_add_up_to():
    convolutions = 3 * 16 * 9 + 6 * 16 * 16 * 9 + 16 * 32 * 9 + 5 * 32 * 32 * 9 + 32 * 64 * 9 + 5 * 64 * 64 * 9
    norms = 2 * (7 * 16 + 7 * 32 + 7 * 64)  # the stem's, two a block, one a shortcut: 7, 7 and 7 of each width
    for norm, n_classes in (("batch", 10), ("group", 4)):
        module = fv.models.resnet20(images(n_classes=n_classes), norm=norm)
        weights = convolutions + 16 * 32 + 32 * 64 + norms + 64 * n_classes + n_classes  # two shortcuts, and the head
        assert sum(p.numel() for p in module.parameters()) == weights
        net = fv.Net.from_module(module, "norm+head", example=torch.zeros(2, 3, 32, 32))
        assert sum(b.stop - b.start for b in net.blocks if b.kind == "norm") == norms
        assert net.has_batchnorm == (norm == "batch")
        assert [b.name for b in net.blocks if b.kind == "head"] == ["head.weight", "head.bias"]


def test_a_seed_makes_the_same_network_and_the_global_rng_stays():
    before = torch.random.get_rng_state()
    a, b, c = (fv.models.resnet20(images(16), width=8, seed=s).head.weight for s in (0, 0, 1))
    assert torch.equal(a, b) and not torch.equal(a, c)
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_public_network_gets_a_head_for_the_tasks_classes_and_standardised_images():
    import torchvision

    task = images(32, 1, n_classes=3, n=6)
    module = fv.models.torchvision_model(task, "resnet18", seed=3)
    assert module.network.fc.out_features == 3 and not module.training
    with torch.random.fork_rng():
        torch.manual_seed(3)
        plain = torchvision.models.resnet18().eval()
    plain.fc = module.network.fc
    mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    grey = (task.train.x.repeat(1, 3, 1, 1) - mean[:, None, None]) / std[:, None, None]
    with torch.no_grad():
        torch.testing.assert_close(module(task.train.x), plain(grey))


def test_a_vision_transformer_sees_images_enlarged_to_its_own_side():
    from torchvision.models import VisionTransformer

    from flatviz.models.public import PublicNet, _own_side

    network = VisionTransformer(32, 8, 1, 2, 8, 8, num_classes=4).eval()
    module, x = PublicNet(network, _own_side(network)).eval(), torch.rand(2, 3, 16, 16)
    larger = F.interpolate(x, (32, 32), mode="bilinear", align_corners=False)
    with torch.no_grad():
        torch.testing.assert_close(module(x), module(larger))


def test_where_a_download_fails_the_error_names_the_file_to_fetch(monkeypatch):
    from torchvision.models import ResNet18_Weights

    monkeypatch.setattr(ResNet18_Weights, "get_state_dict", Mock(side_effect=OSError("no network")))
    with pytest.raises(RuntimeError, match=r"no network: fetch https://.*resnet18.*\.pth elsewhere and give its path"):
        fv.models.torchvision_model(images(), "resnet18", weights="DEFAULT")


def test_bad_networks_say_what_to_do():
    with pytest.raises(ValueError, match="width must be a multiple of 8 for norm='group', got 6"):
        fv.models.resnet20(images(), norm="group", width=6)
    with pytest.raises(ValueError, match="name must be one of .*'resnet18'.*, got 'resnet21'"):
        fv.models.torchvision_model(images(), "resnet21")
    with pytest.raises(ValueError, match="weights must be one of 'IMAGENET1K_V1', 'DEFAULT', got 'IMAGENET'"):
        fv.models.torchvision_model(images(), "resnet18", weights="IMAGENET")
