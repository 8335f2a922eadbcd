"""Networks: sizes as published, forward passes as another tool's, any number of classes, weights
from files."""

import argparse
import zipfile
from unittest.mock import Mock

import numpy as np
import torch
import torchvision
from cases import refused
from oracles import equal
from pytest import importorskip, mark
from torch import arange, nn, no_grad, ones, rand, tensor, zeros
from torch.nn import functional as F
from torch.testing import assert_close

import flatviz as fv
from flatviz import models


def images(side=32, channels=3, n_classes=10, n=20):
    x = rand(n, channels, side, side)
    data = fv.Data(x, arange(n) % n_classes)
    return fv.Task(data, data, data, n_classes)


@mark.parametrize("norm, classes, weights", [("batch", 10, 272_474), ("group", 4, 272_084)])
def test_the_networks_have_as_many_weights_as_their_layers_add_up_to(norm, classes, weights):
    """Those of He et al. for CIFAR with 1x1 shortcuts: 21 convolutions, a norm each, and a head."""
    module = models.resnet20(images(n_classes=classes), norm=norm)
    assert sum(p.numel() for p in module.parameters()) == weights
    net = fv.Net.from_module(module, "norm+head", example=zeros(2, 3, 32, 32))
    norms = sum(b.stop - b.start for b in net.blocks if b.kind == "norm")
    assert norms == 2 * 7 * (16 + 32 + 64)
    assert net.has_batchnorm == (norm == "batch")
    assert [b.name for b in net.blocks if b.kind == "head"] == ["head.weight", "head.bias"]


def test_a_seed_makes_the_same_network_and_the_global_rng_stays():
    task = images(16)
    before = torch.random.get_rng_state()
    a, b, c = (models.resnet20(task, width=8, seed=s).head.weight for s in (0, 0, 1))
    assert torch.equal(a, b)
    assert not torch.equal(a, c)
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_public_network_gets_a_head_for_the_tasks_classes_and_standardised_images():
    task = images(32, 1, n_classes=3, n=6)
    module = models.torchvision_model(task, "resnet18", seed=3)
    assert module.network.fc.out_features == 3
    assert not module.training
    torch.default_generator.manual_seed(3)  # the seed above, not a draw of the test
    plain = torchvision.models.resnet18().eval()
    plain.fc = module.network.fc
    mean = tensor([0.485, 0.456, 0.406])
    std = tensor([0.229, 0.224, 0.225])
    grey = (task.train.x.repeat(1, 3, 1, 1) - mean[:, None, None]) / std[:, None, None]
    with no_grad():
        assert_close(module(task.train.x), plain(grey))


def test_a_vision_transformer_sees_images_enlarged_to_its_fixed_side(monkeypatch):
    small = torchvision.models.VisionTransformer(32, 8, 1, 2, 8, 8)
    monkeypatch.setattr(torchvision.models, "get_model", lambda name, **how: small)
    module = models.torchvision_model(images(16), "vit_b_16")
    x = rand(2, 3, 16, 16)
    larger = F.interpolate(x, (32, 32), mode="bilinear", align_corners=False)
    with no_grad():
        assert_close(module(x), module(larger))


def test_where_a_download_fails_the_error_names_the_file_to_fetch(monkeypatch):
    monkeypatch.setattr(
        torchvision.models.ResNet18_Weights,
        "get_state_dict",
        Mock(side_effect=OSError("no network")),
    )
    with refused(r"no network: fetch https://.*resnet18.*\.pth elsewhere", RuntimeError):
        models.torchvision_model(images(), "resnet18", weights="DEFAULT")


def test_bad_networks_say_what_to_do():
    with refused("width must be a multiple of 8 for norm='group', got 6"):
        models.resnet20(images(), norm="group", width=6)
    with refused("name must be one of .*'resnet18'.*, got 'resnet21'"):
        models.torchvision_model(images(), "resnet21")
    with refused("weights must be one of 'IMAGENET1K_V1', 'DEFAULT', got 'IMAGENET'"):
        models.torchvision_model(images(), "resnet18", weights="IMAGENET")


def net(n_classes=4):
    return nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Linear(5, n_classes))


def write(path, state):
    if path.suffix == ".safetensors":
        importorskip("safetensors.torch").save_file(state, path)
    else:
        torch.save(state, path)
    return path


@mark.parametrize("name", ["net.pth", "net.safetensors"])
def test_a_file_is_read_into_a_copy(tmp_path, name):
    source = net()
    target = net()
    source[1].running_mean += 3
    before = target[0].weight.clone()
    loaded = models.load_weights(target, write(tmp_path / name, source.state_dict()))
    assert equal(loaded.state_dict(), source.state_dict())
    assert torch.equal(target[0].weight, before)
    assert loaded.training


def test_other_classes_are_read_only_where_it_is_said(tmp_path):
    source = net(10)
    target = net(4)
    path = write(tmp_path / "net.pth", source.state_dict())
    with refused(r"(?s)size mismatch for 2.weight: .*\[10, 5\].*\[4, 5\].*new_head=True"):
        models.load_weights(target, path)
    loaded = models.load_weights(target, path, new_head=True)
    assert torch.equal(loaded[0].weight, source[0].weight)
    assert torch.equal(loaded[2].weight, target[2].weight)
    wide = source.state_dict() | {"0.weight": zeros(5, 7)}
    with refused("size mismatch for 0.weight"):  # the head alone is spared
        models.load_weights(target, write(path, wide), new_head=True)


class Evil:
    def __reduce__(self):
        return (print, ("code ran",))


class Hyperparameters(dict):
    """An object beside the tensors, as trainers write them."""


CHECKPOINTS = {
    "older torchvision's, of DataParallel": lambda s: {
        "state_dict": {f"module.{k}": v for k, v in s.items() if "num_b" not in k}
    },
    "Lightning's": lambda s: {
        "state_dict": {f"model.{k}": v for k, v in s.items()} | {"criterion.weight": ones(4)},
        "hyper_parameters": Hyperparameters(lr=0.1),
        "callbacks": {},
        "epoch": 3,
    },
    "timm's": lambda s: {
        "arch": "net",
        "state_dict": s,
        "args": argparse.Namespace(lr=0.1),
        "metric": np.float64(93.1),
    },
    "a loop's": lambda s: {
        "net": {f"module.{k}": v for k, v in s.items()},
        "acc": 93.1,
        "epoch": 3,
    },
    "compiled in parts, in parallel": lambda s: {
        f"module.{k.replace('0.', '0._orig_mod.')}": v for k, v in s.items()
    },
    "with what would run": lambda s: {"model": s, "other": Evil()},
}


@mark.parametrize("zipped", [True, False])  # False: before torch 1.6
@mark.parametrize("kind", CHECKPOINTS)
def test_a_checkpoint_as_trainers_write_it_is_read_and_nothing_in_it_runs(
    kind, zipped, tmp_path, capsys
):
    source = net()
    path = tmp_path / "net.ckpt"
    torch.save(CHECKPOINTS[kind](source.state_dict()), path, _use_new_zipfile_serialization=zipped)
    loaded = models.load_weights(net(), path)
    for name, value in source.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], value) or "num_batches" in name
    assert "code ran" not in capsys.readouterr().out


def test_a_public_network_reads_a_local_file_of_torchvisions_names_and_gets_a_new_head(tmp_path):
    published = torchvision.models.shufflenet_v2_x0_5()
    path = write(tmp_path / "shufflenet.pth", published.state_dict())
    x = rand(4, 3, 32, 32)
    data = fv.Data(x, arange(4) % 2)
    module = models.torchvision_model(
        fv.Task(data, data, data, 2), "shufflenet_v2_x0_5", weights=path
    )
    assert torch.equal(module.network.conv1[0].weight, published.conv1[0].weight)
    assert module(data.x).shape == (4, 2)


def test_a_file_that_is_refused_changes_no_function_that_torch_loads_others_by(tmp_path):
    good = write(tmp_path / "good.pt", net().state_dict())
    # a program of pickle: take the function, and set its attribute __defaults__
    program = (
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n"
        b"N}(X\x0c\x00\x00\x00__defaults__(K\x01K\x02tu\x86b."
    )
    with zipfile.ZipFile(good) as source, zipfile.ZipFile(tmp_path / "evil.pt", "w") as evil:
        for name in source.namelist():
            evil.writestr(name, program if name.endswith("data.pkl") else source.read(name))
    before = torch._utils._rebuild_tensor_v2.__defaults__
    with refused("path must hold a state dict"):
        models.load_weights(net(), tmp_path / "evil.pt")
    assert torch._utils._rebuild_tensor_v2.__defaults__ == before
    found = torch.load(good)["0.weight"]
    want = torch.load(good)["0.weight"]
    assert torch.equal(found, want)


STATE = net().state_dict()
WITHOUT = {f"model.{k}": v for k, v in STATE.items() if k != "0.bias"}
MISSING = {k: v for k, v in STATE.items() if k != "0.bias"} | {"9.bias": zeros(1)}


@mark.parametrize(
    "name, state, kept, text",
    [
        *(
            (name, STATE, 200, f"{name}.*(get it again|damaged)")
            for name in ("net.pth", "net.safetensors")
        ),
        ("net.pth", {"0.weight": Evil()}, None, "path must hold a state dict"),
        ("net.pth", net(), None, "path must hold a state dict.*got an object in"),
        (
            "two.pth",
            {f"{who}.{k}": v for who in "ab" for k, v in STATE.items()},
            None,
            r"one network that fits, got those of a\., b\. in",
        ),
        (
            "nan.pth",
            STATE | {"0.weight": torch.full((5, 3), float("nan"))},
            None,
            "must be finite, got NaN or inf in 0.weight",
        ),
        ("short.pth", MISSING, None, '(?s)Missing key.* "0.bias".*Unexpected key.* "9.bias"'),
        (
            "int8.pth",
            STATE | {"0.weight": ones(5, 3, dtype=torch.int8)},
            None,
            "module's kind, torch.float32, got torch.int8 in 0.weight",
        ),
        (
            "ema.pth",
            WITHOUT | {f"ema.{k}": v for k, v in STATE.items()},
            None,
            r"one network that fits, got those of ema\., model\.",
        ),
        (
            "mask.pth",
            STATE | {"0.weight": ones(5, 3) > 0},
            None,
            "module's kind, torch.float32, got torch.bool in 0.weight",
        ),
        (
            "complex.pth",
            STATE | {"0.weight": ones(5, 3) + 1j},
            None,
            "module's kind, torch.float32, got torch.complex64 in 0.weight",
        ),
        (
            "sparse.pth",
            STATE | {"0.weight": ones(5, 3).to_sparse()},
            None,
            "plain tensors with numbers, got torch.sparse_coo",
        ),
        (
            "variance.pth",
            STATE | {"1.running_var": -ones(5)},
            None,
            "variances >= 0, got -1 in 1.running_var",
        ),
        ("net.onnx", STATE, None, r"path must end in .safetensors, .pth"),
    ],
)
def test_a_file_that_is_damaged_or_of_another_kind_is_named_and_no_code_runs(
    name, state, kept, text, tmp_path, capsys
):
    path = write(tmp_path / name, state)
    path.write_bytes(path.read_bytes()[:kept])
    with refused(text):
        models.load_weights(net(), path)
    assert "code ran" not in capsys.readouterr().out
    with refused(r"none.pth', which is not there: check its name", FileNotFoundError):
        models.load_weights(net(), tmp_path / "none.pth")
