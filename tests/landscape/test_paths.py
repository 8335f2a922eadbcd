"""Lines, maps of curvature, shadows of posteriors, valleys."""

import math

import pytest
import torch
from oracles import dense_covariance

import flatviz as fv


def test_a_line_says_whose_statistics_are_used(task, conv):
    net, _ = conv
    f, other = fv.nll(net, task.train), net.w + 0.1
    owners = {
        "the net at t = 0": (net.w, other),
        "the net at t = 1": (other, net.w),
        "a net that is neither end": (other, 2 * other),
    }
    for owner, ends in owners.items():
        assert fv.slice_line(f, *ends, resolution=3).name.endswith(f" with the BatchNorm statistics of {owner}")
    again = fv.slice_line(fv.quantity(net, task.train, "nll", batchnorm=task.train), net.w, other, resolution=3)
    assert again.name == "" and again.batchnorm == "re-estimated"


def test_a_gaussians_shadow_is_the_covariance_of_its_draws_shadows(gaussians):
    q, _ = gaussians
    g = torch.Generator().manual_seed(0)
    plane = fv.Plane(q.mean + 0.3, torch.randn(2, 7, generator=g, dtype=torch.float64), "step")
    seen = fv.project(q, plane)
    P = torch.linalg.pinv(plane.axes.T)
    torch.testing.assert_close(seen.covariance, P @ dense_covariance(q) @ P.T, rtol=1e-9, atol=1e-12)
    draws = fv.project(q.sample(4000, seed=0), plane)
    torch.testing.assert_close(draws.coords.T.cov(), seen.covariance, rtol=0.15, atol=0.05)
    assert float(draws.distance.square().mean().sqrt()) == pytest.approx(seen.spread, rel=0.05)
    torch.testing.assert_close(seen.coords[0], fv.project(q.mean, plane).coords[0])


def surface(values):
    values = torch.as_tensor(values).double()
    plane = fv.Plane(torch.zeros(3).double(), torch.eye(3).double()[:2], "step")
    return fv.Surface(plane, *(torch.arange(n).double() for n in values.shape), values)


def test_valleys_die_where_they_meet_a_deeper_one():
    row = [5.0, 1.0, 4.0, 0.0, 6.0, 2.0, 9.0]  # minima 1, 0, 2; saddles 4 and 6 between them
    found = fv.landscape.persistence(surface([row, row]))
    assert found.birth.tolist() == [0, 1, 2]
    assert found.death.tolist() == [math.inf, 4, 6] and found.parent.tolist() == [-1, 0, 0]
    assert found.minimum[:, 1].tolist() == [3, 1, 5] and found.saddle[:, 1].tolist() == [-1, 2, 4]
    assert found.count(3.5) == 2 and found.depth.tolist() == [math.inf, 3, 4]


@pytest.mark.parametrize("values", [torch.rand(7, 6), torch.tensor([[1.0, 1.0, 1.0], [1.0, 1.0, 2.0]])], ids=["rough", "flat"])
def test_persistence_equals_a_slow_flood(values):
    """Components of {values <= level}, counted at every level by flooding."""
    found = fv.landscape.persistence(surface(values))
    for level in values.flatten():
        left, count = {tuple(c) for c in (values <= level).nonzero().tolist()}, 0
        while left:
            count, todo = count + 1, [left.pop()]
            while todo:
                i, j = todo.pop()
                near = {(i + a, j + b) for a in (-1, 0, 1) for b in (-1, 0, 1)} & left
                left, todo = left - near, [*todo, *near]
        assert int(((found.birth <= level) & (found.death > level)).sum()) == count


def test_diverged_cells_are_walls_between_valleys():
    apart = torch.tensor([[0.0, math.nan, 1.0], [2.0, math.inf, 3.0]])
    assert fv.landscape.persistence(surface(apart)).death.tolist() == [math.inf, math.inf]
    with pytest.raises(ValueError, match="the surface must have a finite value, got 4 diverged cells"):
        fv.landscape.persistence(surface(torch.full((2, 2), math.nan)))
