"""Published sets on small files in their real formats: what is absent, cut short or wrong is named, and never taken for whole."""

import os
import pickle

import numpy as np
import pytest
import torch
from published import write_mnist

from flatviz.datasets import public_images


@pytest.fixture
def mnist(tmp_path):
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
    import hashlib

    import torchvision

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
    (tmp_path / "test_32x32.mat").write_bytes(b"half of it")
    with pytest.raises(RuntimeError, match="test_32x32.mat is cut short or another file .10 bytes."):
        public_images("svhn", train=False, root=tmp_path, download=False)
