"""Published sets on small files in their real formats: what is absent, cut short or wrong is named, and never taken for whole."""

import os
import pickle

import numpy as np
import pytest
import torch
from published import write_mnist

import flatviz as fv
from flatviz.datasets import cifar_c, public_images


@pytest.fixture
def mnist(tmp_path):
    pytest.importorskip("torchvision")
    x = np.arange(6 * 28 * 28, dtype=np.uint32).astype(np.uint8).reshape(6, 28, 28)
    write_mnist(tmp_path, x, np.array([0, 1, 2, 0, 1, 2], dtype=np.uint8))
    return tmp_path


def cut(path, n):
    os.truncate(path, path.stat().st_size - n)


def test_a_truncated_file_of_mnist_is_named_with_its_sizes(mnist):
    assert len(public_images("mnist", train=True, root=mnist, download=False)) == 6
    raw = mnist / "MNIST" / "raw"
    cut(raw / "train-images-idx3-ubyte", 100)
    said = r"train-images-idx3-ubyte is cut short or another file .4620 bytes.: remove that file"
    with pytest.raises(RuntimeError, match=said):
        public_images("mnist", train=True, root=mnist, download=False)
    (raw / "train-images-idx3-ubyte").write_bytes(b"<html>not found</html>")
    with pytest.raises(RuntimeError, match="train-images-idx3-ubyte is cut short or another file .22 bytes."):
        public_images("mnist", train=True, root=mnist, download=False)
    (raw / "train-images-idx3-ubyte").unlink()
    with pytest.raises(RuntimeError, match="train-images-idx3-ubyte is not there"):
        public_images("mnist", train=True, root=mnist, download=False)


def test_a_truncated_file_of_cifar10_is_named_and_so_is_an_absent_one(tmp_path, monkeypatch):
    torchvision = pytest.importorskip("torchvision")
    import hashlib

    kind = torchvision.datasets.CIFAR10
    base = tmp_path / kind.base_folder
    base.mkdir()
    rows = np.arange(2 * 3072, dtype=np.uint32).astype(np.uint8).reshape(2, 3072)
    body = {True: pickle.dumps({"data": rows, "labels": [3, 5]}), False: pickle.dumps({"label_names": list("abcdefghij")})}
    md5 = {is_batch: hashlib.md5(part).hexdigest() for is_batch, part in body.items()}
    for name in ("train_list", "test_list"):
        monkeypatch.setattr(kind, name, [[file, md5[True]] for file, _ in getattr(kind, name)])
    monkeypatch.setattr(kind, "meta", kind.meta | {"md5": md5[False]})
    for file, _ in [*kind.train_list, *kind.test_list]:
        (base / file).write_bytes(body[True])
    (base / "batches.meta").write_bytes(body[False])
    whole = public_images("cifar10", train=True, root=tmp_path, download=False)
    assert len(whole) == 10 and whole.x.bytes.dtype == torch.uint8
    cut(base / "data_batch_3", 1)
    with pytest.raises(RuntimeError, match="data_batch_3 is cut short or another file .* remove that file"):
        public_images("cifar10", train=True, root=tmp_path, download=False)
    (base / "data_batch_3").unlink()
    with pytest.raises(RuntimeError, match="data_batch_3 is not there"):
        public_images("cifar10", train=True, root=tmp_path, download=False)


def test_another_file_in_place_of_svhn_is_named(tmp_path):
    pytest.importorskip("torchvision")
    (tmp_path / "test_32x32.mat").write_bytes(b"half of it")
    with pytest.raises(RuntimeError, match="test_32x32.mat is cut short or another file .10 bytes."):
        public_images("svhn", train=False, root=tmp_path, download=False)


@pytest.fixture
def corrupted(tmp_path):
    """CIFAR-10-C's layout with 4 images of each severity; every byte of image i of severity s is 40 s + i."""
    folder = tmp_path / "CIFAR-10-C"
    folder.mkdir()
    values = np.array([40 * s + i for s in range(1, 6) for i in range(4)], dtype=np.uint8)
    np.save(folder / "fog.npy", np.broadcast_to(values[:, None, None, None], (20, 32, 32, 3)).copy())
    np.save(folder / "labels.npy", np.tile(np.array([3, 8, 8, 0]), 5))
    return tmp_path


def test_cifar_c_gives_the_fifth_of_the_file_that_is_the_severity(corrupted):
    for severity in range(1, 6):
        data = cifar_c(corrupted, "fog", severity)
        assert data.x.shape == (4, 3, 32, 32) and data.y.tolist() == [3, 8, 8, 0]
        assert data.x.bytes[:, 0, 0, 0].tolist() == [40 * severity + i for i in range(4)]
    assert torch.equal(cifar_c(corrupted / "CIFAR-10-C", "fog", 5).x.bytes, data.x.bytes)
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3072, 10))
    assert fv.predict(fv.Net.from_module(module), torch.zeros(1, 30730), data, 1, seed=0).scores["nll"][0] > 0


def test_files_of_cifar_c_that_are_wrong_are_named(corrupted, tmp_path):
    folder = corrupted / "CIFAR-10-C"
    with pytest.raises(ValueError, match="kind must be one of 'fog', got 'frost'"):
        cifar_c(corrupted, "frost", 1)
    np.save(folder / "snow.npy", np.zeros((10, 32, 32, 3), dtype=np.uint8))
    with pytest.raises(ValueError, match=r"snow.npy must hold 20 images of 32 x 32 x 3 bytes.* got \(10, 32, 32, 3\) uint8"):
        cifar_c(corrupted, "snow", 1)
    cut(folder / "fog.npy", 1000)
    with pytest.raises(ValueError, match="fog.npy is cut short or no .npy file"):
        cifar_c(corrupted, "fog", 1)
    with pytest.raises(FileNotFoundError, match="root must hold labels.npy of CIFAR-10-C or CIFAR-100-C, got .* unpack"):
        cifar_c(tmp_path / "nowhere", "fog", 1)
    for severity in (0, 6):
        with pytest.raises(ValueError, match="severity must be "):
            cifar_c(corrupted, "fog", severity)
