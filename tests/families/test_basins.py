"""The width of the planes of the sharpest directions."""

import math

import pytest
import torch

import flatviz as fv
from flatviz.core.objective import as_objective
from flatviz.families.maps import RISE, TICKS, rise_distance


def rise_of(loss, dim=4):
    f, center = as_objective(loss), torch.zeros(dim, dtype=torch.float64)
    return f, center, fv.top_eigenpairs(f, center, 2, seed=0)


def test_of_a_quadratic_it_is_where_the_sharpest_axis_has_risen():
    scales = torch.tensor([4.0, 1.0, 0.5, 0.1], dtype=torch.float64)
    f, center, spectrum = rise_of(lambda w: 0.5 * (scales * w * w).sum())
    assert rise_distance(f, center, spectrum) == pytest.approx(math.sqrt(2 * RISE / 4.0), rel=1 / TICKS)


def test_where_the_loss_grows_faster_than_its_curvature_says_it_is_nearer():
    f, center, spectrum = rise_of(lambda w: 0.005 * (w * w).sum() + (w**4).sum().clamp(max=1e9))
    distance = rise_distance(f, center, spectrum)
    assert distance < 0.2 * math.sqrt(2 * RISE / 0.01)
    farthest = max(float(f(center + s * distance * v)) for v in spectrum.vectors for s in (1, -1))
    assert farthest >= RISE


def test_a_loss_that_is_not_finite_ends_the_plane():
    f, center, spectrum = rise_of(lambda w: 0.5 * (w * w).sum() + torch.where(w.norm() > 0.5, math.nan, 0.0))
    assert rise_distance(f, center, spectrum) < 0.6
