"""Corruptions: stronger with severity, the same for a seed, images still, labels kept; and the few-shot split."""

import pytest
import torch
from torch.nn import functional as F

import flatviz as fv
from flatviz.datasets import CORRUPTIONS, corrupt, few_shot


@pytest.fixture(scope="module")
def scans():
    return fv.datasets.digits_transfer(seed=0).test.subset(torch.arange(60))


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_each_kind_grows_with_severity_follows_its_seed_and_leaves_images_and_labels(kind, scans):
    large = fv.Data(F.interpolate(scans.x, (32, 32), mode="bilinear"), scans.y)  # where a pixel more changes little
    before, state, distances = large.x.clone(), torch.get_rng_state(), []
    for severity in range(1, 6):
        changed = corrupt(large, kind, severity, seed=3)
        assert changed.x.shape == before.shape and changed.x.dtype == before.dtype and torch.equal(changed.y, scans.y)
        assert float(changed.x.min()) >= 0 and float(changed.x.max()) <= 1
        distances.append(float((changed.x - before).square().mean().sqrt()))
    assert torch.equal(corrupt(large, kind, 5, seed=3).x, changed.x)
    assert torch.equal(large.x, before) and torch.equal(state, torch.get_rng_state())
    assert distances == sorted(set(distances)) and 0.005 < distances[0] < distances[-1] / 1.8
    assert not torch.equal(corrupt(scans, kind, 1, seed=0).x, scans.x)
    assert corrupt(fv.Data(torch.rand(2, 3, 32, 32), torch.arange(2)), kind, 2, seed=0).x.shape == (2, 3, 32, 32)


def test_a_shift_by_a_whole_pixel_moves_the_picture():
    x = torch.zeros(1, 1, 25, 25)
    x[0, 0, 12, 12] = 1
    moved = corrupt(fv.Data(x, torch.tensor([0])), "translate", 1, seed=0).x[0, 0]  # 0.04 of 25 pixels: one
    assert float(moved.sum()) == pytest.approx(1, abs=1e-4)
    assert [abs(place - 12) for place in divmod(int(moved.argmax()), 25)] == [1, 1]


@pytest.mark.parametrize(("x", "kind", "severity", "message"), [
    (torch.rand(2, 1, 8, 8), "rain", 1, "kind must be one of 'gaussian_noise'"),
    (torch.rand(2, 1, 8, 8), "fog", 6, "severity must be a whole number from 1 to 5, got 6"),
    (torch.rand(2, 1, 8, 8) * 3, "fog", 1, "values from 0 to 1, got"),
    (torch.rand(2, 64), "fog", 1, r"corrupt needs images \(N, C, H, W\)"),
])  # fmt: skip
def test_what_cannot_be_corrupted_is_one_clear_error(x, kind, severity, message):
    with pytest.raises(ValueError, match=message):
        corrupt(fv.Data(x, torch.tensor([0, 1])), kind, severity, seed=0)


def test_few_shots_are_disjoint_balanced_and_as_many_for_validation():
    data = fv.Data(torch.arange(90.0)[:, None], torch.arange(90) % 3)
    parts = few_shot(data, 7, seed=0)
    assert [torch.bincount(part.y).tolist() for part in parts] == [[7] * 3, [7] * 3, [16] * 3]
    assert torch.equal(torch.cat([part.x for part in parts]).sort(0).values, data.x)
    assert all(torch.equal(part.x[:, 0].long() % 3, part.y) for part in parts)
    with pytest.raises(ValueError, match="at least 61 examples for 30 shots twice and a rest, got 30 of class 0"):
        few_shot(data, 30, seed=0)
