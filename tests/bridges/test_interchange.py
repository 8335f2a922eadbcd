"""Results in the formats of others: read by their own libraries, and back without a changed bit."""

import json

import numpy as np
import pytest
import torch

import flatviz as fv
from flatviz.storage.open_formats import split


@pytest.fixture(scope="module")
def results(transferred, task):
    net, prior = transferred
    f, W = fv.nll(net, task.train), prior.sample(4, seed=0)
    return {"surface": fv.slice_plane(f, fv.plane_pca(W), resolution=5), "curve": fv.slice_line(f, W[0], W[1], resolution=4)}


def same(a, b):
    ours, theirs = split(a), split(b)
    assert ours[1] == theirs[1] and ours[0].keys() == theirs[0].keys()
    for name, t in ours[0].items():
        assert t.dtype == theirs[0][name].dtype
        assert torch.allclose(t.double(), theirs[0][name].double(), rtol=0, atol=0, equal_nan=True), name


def test_safetensors_are_read_by_the_names_of_fields_without_flatviz(results, tmp_path):
    from safetensors import safe_open

    surface = results["surface"]
    with safe_open(fv.save(surface, tmp_path / "x.safetensors"), "numpy") as file:
        np.testing.assert_array_equal(file.get_tensor("values"), surface.values.numpy())
        np.testing.assert_array_equal(file.get_tensor("plane.axes"), surface.plane.axes.numpy())
        header = json.loads(file.metadata()["flatviz"])  # checksum, and the result as text
        assert json.loads(header["result"])["noun"] == "Surface"


def test_bfloat16_comes_back(tmp_path):
    q = {"W": torch.ones(2, 3, dtype=torch.bfloat16)}
    same(fv.load(fv.save(q, tmp_path / "x.safetensors")), q)
