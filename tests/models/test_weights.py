"""Weights from files in the published formats: what fits is read, what does not is named."""

import pytest
import torch
from torch import nn

import flatviz as fv


def net(n_classes=4, seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Linear(5, n_classes))


def write(path, state):
    if path.suffix == ".safetensors":
        pytest.importorskip("safetensors.torch").save_file(state, path)
    else:
        torch.save(state, path)
    return path


@pytest.mark.parametrize("name", ["net.pth", "net.safetensors"])
def test_a_file_is_read_into_a_copy(tmp_path, name):
    source, target = net(seed=1), net()
    source[1].running_mean += 3
    before = target[0].weight.clone()
    loaded = fv.models.load_weights(target, write(tmp_path / name, source.state_dict()))
    for key, value in source.state_dict().items():
        assert torch.equal(loaded.state_dict()[key], value)
    assert torch.equal(target[0].weight, before) and loaded.training


def test_other_classes_are_read_only_where_it_is_said(tmp_path):
    source, target = net(10, seed=1), net(4)
    path = write(tmp_path / "net.pth", source.state_dict())
    with pytest.raises(ValueError, match=r"(?s)size mismatch for 2.weight: .*\[10, 5\].*\[4, 5\].*new_head=True"):
        fv.models.load_weights(target, path)
    loaded = fv.models.load_weights(target, path, new_head=True)
    assert torch.equal(loaded[0].weight, source[0].weight) and torch.equal(loaded[2].weight, target[2].weight)


def test_new_head_spares_the_head_alone(tmp_path):
    state = net(seed=1).state_dict()
    state["0.weight"] = torch.zeros(5, 7)
    with pytest.raises(ValueError, match="size mismatch for 0.weight"):
        fv.models.load_weights(net(), write(tmp_path / "net.pth", state), new_head=True)


def test_a_file_as_older_torchvision_and_dataparallel_wrote_it_is_read(tmp_path):
    source = net(seed=1)
    state = {f"module.{k}": v for k, v in source.state_dict().items() if "num_batches_tracked" not in k}
    path = tmp_path / "net.pth"
    torch.save({"state_dict": state, "epoch": 3}, path, _use_new_zipfile_serialization=False)  # before torch 1.6
    assert torch.equal(fv.models.load_weights(net(), path)[2].weight, source[2].weight)


@pytest.mark.parametrize("name", ["net.pth", "net.safetensors"])
def test_a_truncated_file_is_named(tmp_path, name):
    path = write(tmp_path / name, net().state_dict())
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ValueError, match=rf"{name}.*(get it again|damaged)"):
        fv.models.load_weights(net(), path)


class Evil:
    def __reduce__(self):
        return (print, ("code ran",))


def test_code_in_a_file_does_not_run(tmp_path, capsys):
    torch.save({"0.weight": Evil()}, tmp_path / "net.pth")
    with pytest.raises(ValueError, match="path must hold tensors alone"):
        fv.models.load_weights(net(), tmp_path / "net.pth")
    assert "code ran" not in capsys.readouterr().out


def test_files_that_are_not_there_or_of_another_kind_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"net.pth', which is not there: check its name"):
        fv.models.load_weights(net(), tmp_path / "net.pth")
    (tmp_path / "net.onnx").write_bytes(b"x")
    with pytest.raises(ValueError, match=r"path must end in .safetensors, .pth"):
        fv.models.load_weights(net(), tmp_path / "net.onnx")
    with pytest.raises(ValueError, match="path must hold a state dict"):
        fv.models.load_weights(net(), write(tmp_path / "list.pth", [torch.zeros(2)]))
    state = net().state_dict() | {"0.weight": torch.full((5, 3), float("nan"))}
    with pytest.raises(ValueError, match="weights must be finite, got NaN or inf in 0.weight"):
        fv.models.load_weights(net(), write(tmp_path / "nan.pth", state))
    short = {k: v for k, v in net().state_dict().items() if k != "0.bias"} | {"9.bias": torch.zeros(1)}
    with pytest.raises(ValueError, match='(?s)Missing key.* "0.bias".*Unexpected key.* "9.bias"'):
        fv.models.load_weights(net(), write(tmp_path / "short.pth", short))


def test_a_public_network_reads_a_local_file_of_torchvisions_names_and_gets_a_new_head(tmp_path):
    import torchvision

    with torch.random.fork_rng():
        torch.manual_seed(7)
        published = torchvision.models.shufflenet_v2_x0_5()
    path = write(tmp_path / "shufflenet.pth", published.state_dict())
    data = fv.Data(torch.rand(4, 3, 32, 32), torch.arange(4) % 2)
    module = fv.models.torchvision_model(fv.Task(data, data, data, 2), "shufflenet_v2_x0_5", weights=path)
    assert torch.equal(module.network.conv1[0].weight, published.conv1[0].weight)
    assert module(data.x).shape == (4, 2)
