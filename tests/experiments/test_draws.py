"""The study of the draws of a step: its networks as one function, its curvature, its noise."""

import math

import numpy as np
import pandas as pd
import torch
from experiment_notebooks import functions
from pytest import approx, fixture, mark
from torch.testing import assert_close

import flatviz as fv

pytestmark = mark.long


@fixture(scope="module")
def space():
    return functions("draws")


@fixture(scope="module")
def stack(space):
    return space.Stack("moons-gap", [1, 2], "cpu")


def test_the_study_runs_on_small_counts(run_small):
    small = dict(
        SEEDS=2,
        FEW=1,
        STEPS=3,
        DRAWS="1,8",
        TASKS="moons-gap",
        TOGETHER=2,
        FIRST=1,
    )
    printed, table, _ = run_small("draws", **small)
    assert set(table.kind) == {"common", "mirrored", "split"}
    assert set(table.steps) == {3, 12}
    assert set(table.draws) == {1, 2, 8, 40, 512}
    assert set(table.seed) == {1, 2}
    assert "not comparable" in printed


def test_losses_and_curvature_of_a_stack_are_those_of_each_network(space, stack):
    net, task, prior = space.prepared("moons-gap", 2)
    W = prior.sample(3, seed=0)
    both = torch.stack([W, W])
    f = fv.nll(net, task.train, likelihood=task.likelihood)
    constant = math.log(0.3) + math.log(2 * math.pi) / 2
    assert_close(stack.losses(both)[1], f.many(W) - constant, rtol=1e-4, atol=1e-4)
    sharp, of_mean = space.curvature(stack, both, 2)
    slow = [float(fv.top_eigenpairs(f, w, 1).values[0]) for w in W]
    assert float(sharp[1]) == approx(np.mean(slow), rel=1e-3)
    assert float(of_mean[1]) <= float(sharp[1]) * 1.0001


def test_a_draw_for_each_example_has_the_gradient_of_its_example_alone(stack):
    dim = stack.mean.shape[1]
    W = stack.mean[:2, None] + 0.1 * torch.randn(2, stack.n, dim)
    y = stack.y[:, None].expand(-1, stack.n, -1, -1)
    every_draw = stack.nll(stack.outputs(W, stack.x), y)
    own_draw = every_draw.diagonal(dim1=1, dim2=2)
    assert_close(stack.losses(W, "split"), own_draw, rtol=1e-4, atol=1e-5)


def test_of_two_scales_with_one_kl_the_narrower_is_taken():
    """A KL of 74 lies between scales 0.5 and 0.65, and between 1 and 1.25."""
    space = functions("draws", before="# ## Gates")
    scales = [0.35, 0.5, 0.65, 0.8, 1.0, 1.25]
    kl = [90.0, 80.0, 72.0, 70.0, 71.0, 76.0]
    there = pd.DataFrame(0.0, index=[7] * 6, columns=space.MEASURED_THERE)
    there = there.assign(kl=np.log(kl), scale=scales, log_scale=np.log(scales))
    there["lambda1"] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    flat = there.iloc[:1].assign(kl=math.log(74.0))
    found = space.at_kl(flat, there).loc[7]
    low, high = np.log([80, 72])
    share = (low - math.log(74)) / (low - high)
    assert found.lambda1 == approx(2.0 + share)
    ends = np.log([0.5, 0.65])
    assert found.log_scale == approx(ends[0] + share * (ends[1] - ends[0]))
    beyond = flat.assign(kl=math.log(95.0))
    assert math.isnan(space.at_kl(beyond, there).lambda1[7])
