"""Tasks of any data: parts that share nothing, as small as the shots, classes apart; corruptions
that grow with severity."""

import torch
from cases import refused
from oracles import equal
from pytest import approx, fixture, mark
from torch import arange, bincount, float64, full_like, linspace, rand, tensor, zeros
from torch.nn import functional as F
from torch.testing import assert_close

import flatviz as fv
from flatviz import datasets
from flatviz.datasets import CORRUPTIONS, corrupt, few_shot, pick_classes, transfer_task


def rows(part):
    """The inputs of a part as a set."""
    return {tuple(row) for row in part.x.flatten(1).tolist()}


@fixture
def letters():
    """120 inputs that are all different, of 4 classes."""
    return fv.Data(arange(240.0).view(120, 2), arange(120) % 4)


def test_classes_are_numbered_in_the_order_asked_for(letters):
    target = pick_classes(letters, [3, 2])
    for number, letter in enumerate((3, 2)):
        assert torch.equal(target.x[target.y == number], letters.x[letters.y == letter])


def test_the_parts_of_a_task_share_no_example_and_validation_is_as_small_as_train(letters):
    source = pick_classes(letters, [0, 1])
    target = pick_classes(letters, [3, 2])
    task = transfer_task(source, target, shots=5, seed=1)
    parts = (task.train, task.validation, task.test)
    assert [len(rows(part)) for part in parts] == [10, 10, 40]
    assert set.union(*map(rows, parts)) == rows(target)
    assert not rows(source) & rows(target)
    # Labels stay with their inputs: every fourth is of one class
    for part in parts:
        assert torch.equal(part.x[:, 0] // 2 % 4, tensor([3.0, 2.0])[part.y])
    assert bincount(task.train.y).tolist() == [5, 5]
    assert bincount(task.validation.y).tolist() == [5, 5]


@mark.parametrize("seed, same", [(1, True), (2, False)])
def test_the_seed_chooses_the_shots(letters, seed, same):
    first = transfer_task(letters, letters, shots=5, seed=1)
    other = transfer_task(letters, letters, shots=5, seed=seed)
    assert torch.equal(first.train.x, other.train.x) is same


def test_what_makes_no_task_is_refused(letters):
    with refused("at least 61 examples for 30 shots .*, got 30 of class 0"):
        few_shot(letters, 30, seed=0)
    shapes = fv.Data(zeros(8, 3), arange(8) % 4)
    with refused(r"inputs of one shape, got \(3,\) and \(2,\)"):
        transfer_task(shapes, letters, shots=3)
    with refused("test and target must have"):
        transfer_task(letters, letters, test=shapes, shots=3)


@mark.parametrize("wrong", [[4], [1, 1], []])
def test_classes_that_there_are_not_are_refused(letters, wrong):
    with refused(r"classes must "):
        pick_classes(letters, wrong)


@mark.parametrize("y", [arange(12).view(6, 2) % 3, rand(6)])
def test_only_data_with_one_class_an_example_are_split_by_class(y):
    data = fv.Data(rand(6, 1), y)
    said = "needs one class label an example, got a .* of shape"
    with refused(said):
        few_shot(data, shots=1, seed=0)
    with refused(said):
        pick_classes(data, [0, 2])


def test_a_source_with_more_classes_says_for_how_many_its_network_is_made(letters):
    target = pick_classes(letters, [0, 2])
    task = transfer_task(letters, target, shots=3, test=target)
    assert (task.n_classes, task.source_classes) == (2, 4)
    assert task.test is target
    assert fv.models.mlp(task.for_source())[-1].out_features == 4
    double = task.to(dtype=float64)
    assert double.validation.x.dtype == double.source.x.dtype == float64


def test_a_source_with_the_same_classes_is_the_task_itself(letters):
    same = transfer_task(letters, letters, shots=3)
    assert same.source_classes is None
    assert same.for_source() is same


@mark.parametrize("make", [datasets.digits_transfer, datasets.moons_transfer])
def test_the_tasks_that_are_shipped_hold_a_validation_split_apart_from_the_others(make):
    task = make(shots=4, seed=0)
    four_of_each = [4] * task.n_classes
    assert bincount(task.validation.y).tolist() == four_of_each
    assert bincount(task.train.y).tolist() == four_of_each
    train, validation, test = map(rows, (task.train, task.validation, task.test))
    assert not (validation & train or validation & test or train & test)
    assert torch.equal(task.train.x, make(shots=4, seed=0).train.x)
    assert not torch.equal(task.train.x, make(shots=4, seed=1).train.x)


def test_many_shots_of_the_digits_leave_a_test_set():
    many = datasets.digits_transfer(shots=50, seed=0)
    assert bincount(many.validation.y).tolist() == [15] * 10
    assert int(bincount(many.test.y).min()) > 15
    assert datasets.digits_transfer(validation=0).validation is None


def test_the_validation_split_of_the_digits_is_as_large_as_asked():
    task = datasets.digits_transfer(shots=2, validation=20, seed=0)
    assert len(task.validation) == 200
    with refused("validation must be at most .* got 60"):
        datasets.digits_transfer(shots=2, validation=60)


def test_the_angle_turns_the_source_of_the_digits_and_nothing_else():
    """A quarter is rot90; 45 degrees lies nearer to both neighbours than they to each other."""
    plain, between, turned = (
        datasets.digits_transfer(seed=0, degrees=degrees) for degrees in (0.0, 45.0, 90.0)
    )
    for task in (between, turned):
        assert equal(task.train, plain.train)
        assert equal(task.test, plain.test)
        assert equal(task.source.y, plain.source.y)
    x = plain.source.x
    half = between.source.x
    quarter = turned.source.x
    assert torch.equal(quarter, torch.rot90(x, 1, dims=(2, 3)))
    assert torch.equal(datasets.digits_transfer(seed=0).source.x, quarter)
    apart = F.mse_loss(quarter, x)
    assert F.mse_loss(half, x) < apart
    assert F.mse_loss(half, quarter) < apart


def test_the_near_task_has_two_shots_and_a_source_turned_by_fifteen_degrees():
    near = datasets.named_task("digits-near", seed=4)
    same = datasets.digits_transfer(shots=2, degrees=15.0, seed=4)
    assert equal(near.source, same.source)
    assert equal(near.train, same.train)
    assert "2 shots a class, from digits turned by 15 degrees" in near.name
    assert len(datasets.named_task("digits-near", shots=5).train) == 50
    assert len(datasets.named_task("digits").train) == 100


def test_without_noise_every_moon_is_a_half_circle_and_that_of_the_source_is_turned():
    task = datasets.moons_transfer(shots=20, noise=0.0, seed=0)
    back = tensor([[3**0.5 / 2, -0.5], [0.5, 3**0.5 / 2]])
    for x, y in ((task.train.x, task.train.y), (task.source.x @ back, task.source.y)):
        centre = tensor([[0.0, 0.0], [1.0, 0.5]])[y]
        distance = (x - centre).norm(dim=1)
        assert (distance - 1).abs().max() < 1e-5
        height = x[:, 1]
        assert height[y == 0].min() > -1e-5
        assert height[y == 1].max() < 0.5 + 1e-5


@fixture(scope="module")
def scans():
    """32 x 32, where a pixel more changes little."""
    digits = datasets.digits_transfer(seed=0).test.subset(arange(60))
    return fv.Data(F.interpolate(digits.x, (32, 32), mode="bilinear"), digits.y)


@mark.parametrize("kind", CORRUPTIONS)
def test_each_kind_grows_with_severity_follows_its_seed_and_leaves_images_and_labels(kind, scans):
    before = scans.x.clone()
    state = torch.get_rng_state()
    distances = []
    for severity in range(1, 6):
        changed = corrupt(scans, kind, severity, seed=3)
        assert changed.x.shape == before.shape
        assert changed.x.dtype == before.dtype
        assert torch.equal(changed.y, scans.y)
        assert 0 <= changed.x.min() < changed.x.max() <= 1
        distances.append(float(F.mse_loss(changed.x, before).sqrt()))
    assert torch.equal(corrupt(scans, kind, 5, seed=3).x, changed.x)
    assert torch.equal(scans.x, before)
    assert torch.equal(state, torch.get_rng_state())
    assert distances == sorted(set(distances))
    assert 0.005 < distances[0] < distances[-1] / 1.8
    coloured = fv.Data(rand(2, 3, 32, 32), arange(2))
    assert corrupt(coloured, kind, 2, seed=0).x.shape == (2, 3, 32, 32)


def test_brightness_contrast_and_fog_change_what_their_names_say(scans):
    """Fog is a mixture: on black its largest value is the share that white loses."""
    grey = 0.25 + 0.5 * scans.x
    images = fv.Data(grey, scans.y)
    lighter = corrupt(images, "brightness", 1, seed=0).x - grey
    assert lighter.min() > 0
    assert lighter.max() - lighter.min() < 1e-6
    flatter = corrupt(images, "contrast", 3, seed=0).x
    assert_close(flatter.mean((1, 2, 3)), grey.mean((1, 2, 3)))
    share = flatter.std((1, 2, 3)) / grey.std((1, 2, 3))
    assert share.max() < 0.9
    assert share.max() - share.min() < 1e-5
    black, white = (fv.Data(full_like(grey, value), scans.y) for value in (0.0, 1.0))
    mist = corrupt(black, "fog", 3, seed=0).x
    left = corrupt(white, "fog", 3, seed=0).x - mist
    assert_close(left + mist.amax((1, 2, 3), keepdim=True), torch.ones_like(left))
    assert mist.min() > 0


def test_a_rotation_leaves_a_round_picture_as_it_is():
    side = linspace(-1, 1, 33)
    round_picture = torch.exp(-4 * (side[:, None] ** 2 + side**2))[None, None]
    data = fv.Data(round_picture, tensor([0]))
    turned = corrupt(data, "rotate", 5, seed=0).x
    assert_close(turned, round_picture, rtol=0, atol=0.02)


def test_a_shift_by_a_whole_pixel_moves_the_picture():
    x = zeros(1, 1, 25, 25)
    x[0, 0, 12, 12] = 1
    # 0.04 of 25 pixels: one
    moved = corrupt(fv.Data(x, tensor([0])), "translate", 1, seed=0).x[0, 0]
    assert moved.sum() == approx(1, abs=1e-4)
    row, column = divmod(int(moved.argmax()), 25)
    assert (abs(row - 12), abs(column - 12)) == (1, 1)


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
    with refused(message):
        corrupt(fv.Data(x, tensor([0, 1])), kind, severity, seed=0)
