"""The digits task: how far the source is turned, and that nothing else changes with it."""

import torch

import flatviz as fv
from flatviz.datasets.corruptions import affine


def test_the_angle_turns_the_source_and_nothing_else():
    tasks = {degrees: fv.datasets.digits_transfer(seed=0, degrees=degrees) for degrees in (0.0, 45.0, 90.0)}
    upright = tasks[0.0]
    for task in tasks.values():
        assert torch.equal(task.train.x, upright.train.x) and torch.equal(task.test.x, upright.test.x)
        assert torch.equal(task.source.y, upright.source.y) and task.source.x.shape == upright.source.x.shape
    assert torch.equal(tasks[90.0].source.x, torch.rot90(upright.source.x, 1, dims=(2, 3)))
    assert torch.equal(fv.datasets.digits_transfer(seed=0).source.x, tasks[90.0].source.x)


def test_angles_between_turn_the_same_way_as_quarters():
    """A quarter by interpolation is rot90 to rounding; 45 degrees lies nearer to both neighbours than they to each other."""
    x = fv.datasets.digits_transfer(seed=0, degrees=0).source.x
    quarter = torch.rot90(x, 1, dims=(2, 3))
    torch.testing.assert_close(affine(x, angle=torch.pi / 2), quarter, atol=1e-5, rtol=0)  # float32 grid positions
    half = fv.datasets.digits_transfer(seed=0, degrees=45).source.x
    distance = lambda a, b: float((a - b).square().mean())  # noqa: E731
    assert distance(half, x) < distance(quarter, x) and distance(half, quarter) < distance(quarter, x)
    backwards = torch.rot90(x, -1, dims=(2, 3))
    assert distance(half, quarter) < distance(half, backwards)


def test_the_near_task_has_two_shots_and_a_source_turned_by_fifteen_degrees():
    near, same = fv.datasets.named_task("digits-near", seed=4), fv.datasets.digits_transfer(shots=2, degrees=15.0, seed=4)
    assert torch.equal(near.source.x, same.source.x) and torch.equal(near.train.x, same.train.x) and len(near.train) == 20
    assert "2 shots a class, from digits turned by 15 degrees" in near.name
    assert len(fv.datasets.named_task("digits-near", shots=5).train) == 50
    assert len(fv.datasets.named_task("digits").train) == 100
