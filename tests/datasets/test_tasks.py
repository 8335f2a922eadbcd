"""Tasks of any data: parts that share nothing, as small as the shots, classes apart; corruptions
that grow with severity."""

import torch
from oracles import equal
from pytest import approx, fixture, mark, raises
from torch import arange, bincount, float64, rand, tensor
from torch.nn import functional as F

import flatviz as fv
from flatviz import datasets
from flatviz.datasets import CORRUPTIONS, corrupt, few_shot


def rows(*parts):
    return [{tuple(row) for row in part.x.flatten(1).tolist()} for part in parts]


@fixture
def letters():
    """120 inputs that are all different, of 4 classes."""
    return fv.Data(arange(240.0).view(120, 2), arange(120) % 4)


def test_the_parts_of_a_task_share_no_example_and_validation_is_as_small_as_train(letters):
    source = datasets.pick_classes(letters, [0, 1])
    target = datasets.pick_classes(letters, [3, 2])
    for number, letter in enumerate((3, 2)):  # in the order asked for
        assert torch.equal(target.x[target.y == number], letters.x[letters.y == letter])
    task = datasets.transfer_task(source, target, shots=5, seed=1)
    train, validation, test, whole, other = rows(
        task.train, task.validation, task.test, target, source
    )
    assert (len(train), len(validation), len(test)) == (10, 10, 40)
    assert train | validation | test == whole
    assert not other & whole
    # Labels stay with their inputs: every fourth is of one class
    for part in (
        task.train,
        task.validation,
        task.test,
    ):
        assert torch.equal(part.x[:, 0] // 2 % 4, tensor([3.0, 2.0])[part.y])
    assert bincount(task.validation.y).tolist() == bincount(task.train.y).tolist() == [5, 5]
    again, other = (datasets.transfer_task(source, target, shots=5, seed=s) for s in (1, 2))
    assert torch.equal(again.train.x, task.train.x)
    assert not torch.equal(other.train.x, task.train.x)
    with raises(
        ValueError, match="at least 61 examples for 30 shots twice and a rest, got 30 of class 0"
    ):
        few_shot(letters, 30, seed=0)
    for wrong in ([4], [1, 1], []):
        with raises(ValueError, match=r"classes must "):
            datasets.pick_classes(letters, wrong)
    pairs = fv.Data(torch.rand(6, 1), torch.arange(12).view(6, 2) % 3)
    for split in (few_shot, datasets.pick_classes):
        how = {"shots": 1, "seed": 0} if split is few_shot else {"classes": [0, 2]}
        for several in (pairs, fv.Data(pairs.x, torch.rand(6))):
            with raises(ValueError, match="needs one class label an example, got a .* of shape"):
                split(several, **how)
    shapes = fv.Data(torch.zeros(8, 3), arange(8) % 4)
    with raises(
        ValueError, match=r"source and target must have inputs of one shape, got \(3,\) and \(2,\)"
    ):
        datasets.transfer_task(shapes, letters, shots=3)
    with raises(ValueError, match="test and target must have"):
        datasets.transfer_task(letters, letters, test=shapes, shots=3)


def test_a_source_with_more_classes_says_for_how_many_its_network_is_made(letters):
    target = datasets.pick_classes(letters, [0, 2])
    task = datasets.transfer_task(letters, target, shots=3, test=letters)
    assert (task.n_classes, task.source_classes, task.for_source().n_classes) == (2, 4, 4)
    assert task.test is letters
    assert fv.models.mlp(task.for_source())[-1].out_features == 4
    same = datasets.transfer_task(letters, letters, shots=3)
    assert same.source_classes is None
    assert same.for_source() is same
    assert (
        task.to(dtype=float64).validation.x.dtype
        == float64
        == task.to(dtype=float64).source.x.dtype
    )


def test_the_tasks_that_are_shipped_hold_a_validation_split_apart_from_the_others():
    for make in (datasets.digits_transfer, datasets.moons_transfer):
        task, again, other = (make(shots=4, seed=seed) for seed in (0, 0, 1))
        train, validation, test = rows(task.train, task.validation, task.test)
        assert (
            bincount(task.validation.y).tolist()
            == [4] * task.n_classes
            == bincount(task.train.y).tolist()
        )
        assert not validation & train
        assert not validation & test
        assert not train & test
        assert torch.equal(task.train.x, again.train.x)
        assert not torch.equal(task.train.x, other.train.x)
    many = datasets.digits_transfer(shots=50, seed=0)
    assert bincount(many.validation.y).tolist() == [15] * 10
    assert int(bincount(many.test.y).min()) > 15
    assert datasets.digits_transfer(validation=0).validation is None


def test_the_angle_turns_the_source_of_the_digits_and_nothing_else():
    """A quarter is rot90; 45 degrees lies nearer to both neighbours than they to each other."""
    plain, *turned = (
        datasets.digits_transfer(seed=0, degrees=degrees) for degrees in (0.0, 45.0, 90.0)
    )
    x, half, quarter = (task.source.x for task in (plain, *turned))
    for task in turned:
        assert equal(
            (task.train, task.test, task.source.y), (plain.train, plain.test, plain.source.y)
        )
    assert torch.equal(quarter, torch.rot90(x, 1, dims=(2, 3)))
    assert torch.equal(datasets.digits_transfer(seed=0).source.x, quarter)
    distance = torch.nn.functional.mse_loss
    assert max(distance(half, x), distance(half, quarter)) < distance(quarter, x)
    assert distance(half, quarter) < distance(half, torch.rot90(x, -1, dims=(2, 3)))


def test_the_near_task_has_two_shots_and_a_source_turned_by_fifteen_degrees():
    near = datasets.named_task("digits-near", seed=4)
    same = datasets.digits_transfer(shots=2, degrees=15.0, seed=4)
    assert torch.equal(near.source.x, same.source.x)
    assert torch.equal(near.train.x, same.train.x)
    assert len(near.train) == 20
    assert "2 shots a class, from digits turned by 15 degrees" in near.name
    assert len(datasets.named_task("digits-near", shots=5).train) == 50
    assert len(datasets.named_task("digits").train) == 100


def test_without_noise_every_moon_is_a_half_circle_and_that_of_the_source_is_turned():
    task = datasets.moons_transfer(shots=20, noise=0.0, seed=0)
    back = tensor([[3**0.5 / 2, -0.5], [0.5, 3**0.5 / 2]])
    for x, y in ((task.train.x, task.train.y), (task.source.x @ back, task.source.y)):
        centre = tensor([[0.0, 0.0], [1.0, 0.5]])[y]
        assert torch.allclose((x - centre).norm(dim=1), torch.ones(len(x)), atol=1e-5)
        assert x[y == 0][:, 1].min() > -1e-5
        assert x[y == 1][:, 1].max() < 0.5 + 1e-5


@fixture(scope="module")
def scans():
    return datasets.digits_transfer(seed=0).test.subset(arange(60))


@mark.parametrize("kind", CORRUPTIONS)
def test_each_kind_grows_with_severity_follows_its_seed_and_leaves_images_and_labels(kind, scans):
    # Where a pixel more changes little
    large = fv.Data(F.interpolate(scans.x, (32, 32), mode="bilinear"), scans.y)
    before = large.x.clone()
    state = torch.get_rng_state()
    distances = []
    for severity in range(1, 6):
        changed = corrupt(large, kind, severity, seed=3)
        assert changed.x.shape == before.shape
        assert changed.x.dtype == before.dtype
        assert torch.equal(changed.y, scans.y)
        assert changed.x.min() >= 0
        assert changed.x.max() <= 1
        distances.append(float((changed.x - before).square().mean().sqrt()))
    assert torch.equal(corrupt(large, kind, 5, seed=3).x, changed.x)
    assert torch.equal(large.x, before)
    assert torch.equal(state, torch.get_rng_state())
    assert distances == sorted(set(distances))
    assert 0.005 < distances[0] < distances[-1] / 1.8
    assert not torch.equal(corrupt(scans, kind, 1, seed=0).x, scans.x)
    assert corrupt(fv.Data(rand(2, 3, 32, 32), arange(2)), kind, 2, seed=0).x.shape == (
        2,
        3,
        32,
        32,
    )


def test_a_shift_by_a_whole_pixel_moves_the_picture():
    x = torch.zeros(1, 1, 25, 25)
    x[0, 0, 12, 12] = 1
    # 0.04 of 25 pixels: one
    moved = corrupt(fv.Data(x, tensor([0])), "translate", 1, seed=0).x[0, 0]
    assert moved.sum() == approx(1, abs=1e-4)
    assert [abs(place - 12) for place in divmod(int(moved.argmax()), 25)] == [1, 1]


@mark.parametrize(
    "x, kind, severity, message",
    [
        (rand(2, 1, 8, 8), "rain", 1, "kind must be one of 'gaussian_noise'"),
        (rand(2, 1, 8, 8), "fog", 6, "severity must be a whole number from 1 to 5, got 6"),
        (rand(2, 1, 8, 8) * 3, "fog", 1, "values from 0 to 1, got"),
        (rand(2, 64), "fog", 1, r"corrupt needs floating images \(N, C, H, W\)"),
    ],
)
def test_what_cannot_be_corrupted_is_one_clear_error(x, kind, severity, message):
    with raises(ValueError, match=message):
        corrupt(fv.Data(x, tensor([0, 1])), kind, severity, seed=0)
