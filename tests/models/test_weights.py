"""Weights from files in the published formats: what fits is read, what does not is named."""

import pytest
import torch
from torch import nn

import flatviz as fv


def net(n_classes=4):
    return nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Linear(5, n_classes))


def write(path, state):
    if path.suffix == ".safetensors":
        pytest.importorskip("safetensors.torch").save_file(state, path)
    else:
        torch.save(state, path)
    return path


@pytest.mark.parametrize("name", ["net.pth", "net.safetensors"])
def test_a_file_is_read_into_a_copy(tmp_path, name):
    source, target = net(), net()
    source[1].running_mean += 3
    before = target[0].weight.clone()
    loaded = fv.models.load_weights(target, write(tmp_path / name, source.state_dict()))
    for key, value in source.state_dict().items():
        assert torch.equal(loaded.state_dict()[key], value)
    assert torch.equal(target[0].weight, before) and loaded.training


def test_other_classes_are_read_only_where_it_is_said(tmp_path):
    source, target = net(10), net(4)
    path = write(tmp_path / "net.pth", source.state_dict())
    with pytest.raises(ValueError, match=r"(?s)size mismatch for 2.weight: .*\[10, 5\].*\[4, 5\].*new_head=True"):
        fv.models.load_weights(target, path)
    loaded = fv.models.load_weights(target, path, new_head=True)
    assert torch.equal(loaded[0].weight, source[0].weight) and torch.equal(loaded[2].weight, target[2].weight)
    wide = source.state_dict() | {"0.weight": torch.zeros(5, 7)}
    with pytest.raises(ValueError, match="size mismatch for 0.weight"):  # the head alone is spared
        fv.models.load_weights(target, write(path, wide), new_head=True)


def test_a_file_as_older_torchvision_and_dataparallel_wrote_it_is_read(tmp_path):
    source = net()
    state = {f"module.{k}": v for k, v in source.state_dict().items() if "num_batches_tracked" not in k}
    path = tmp_path / "net.pth"
    torch.save({"state_dict": state, "epoch": 3}, path, _use_new_zipfile_serialization=False)  # before torch 1.6
    assert torch.equal(fv.models.load_weights(net(), path)[2].weight, source[2].weight)


def test_a_public_network_reads_a_local_file_of_torchvisions_names_and_gets_a_new_head(tmp_path):
    import torchvision

    published = torchvision.models.shufflenet_v2_x0_5()
    path = write(tmp_path / "shufflenet.pth", published.state_dict())
    data = fv.Data(torch.rand(4, 3, 32, 32), torch.arange(4) % 2)
    module = fv.models.torchvision_model(fv.Task(data, data, data, 2), "shufflenet_v2_x0_5", weights=path)
    assert torch.equal(module.network.conv1[0].weight, published.conv1[0].weight)
    assert module(data.x).shape == (4, 2)


class Evil:
    def __reduce__(self):
        return (print, ("code ran",))


STATE = net().state_dict()
MISSING = {k: v for k, v in STATE.items() if k != "0.bias"} | {"9.bias": torch.zeros(1)}


@pytest.mark.parametrize(
    ("name", "state", "kept", "text"),
    [
        ("net.pth", STATE, 200, "net.pth.*(get it again|damaged)"),
        ("net.safetensors", STATE, 200, "net.safetensors.*(get it again|damaged)"),
        ("net.pth", {"0.weight": Evil()}, None, "path must hold tensors alone"),
        ("list.pth", [torch.zeros(2)], None, "path must hold a state dict"),
        ("nan.pth", STATE | {"0.weight": torch.full((5, 3), float("nan"))}, None, "must be finite, got NaN or inf in 0.weight"),
        ("short.pth", MISSING, None, '(?s)Missing key.* "0.bias".*Unexpected key.* "9.bias"'),
        ("net.onnx", STATE, None, r"path must end in .safetensors, .pth"),
    ],
)
def test_a_file_that_is_damaged_or_of_another_kind_is_named_and_its_code_does_not_run(
    name, state, kept, text, tmp_path, capsys
):
    path = write(tmp_path / name, state)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=text):
        fv.models.load_weights(net(), path)
    assert "code ran" not in capsys.readouterr().out
    with pytest.raises(FileNotFoundError, match=r"none.pth', which is not there: check its name"):
        fv.models.load_weights(net(), tmp_path / "none.pth")
