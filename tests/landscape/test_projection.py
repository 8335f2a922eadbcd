"""Projection: least squares on any axes, the rest stated."""

import pytest
import torch

import flatviz as fv


def test_the_residual_is_orthogonal_to_oblique_axes():
    g = torch.Generator().manual_seed(0)
    axes = torch.randn(2, 8, generator=g, dtype=torch.float64)
    axes[1] = axes[0] + 0.2 * axes[1]
    plane = fv.Plane(torch.randn(8, generator=g, dtype=torch.float64), axes, "step")
    W = torch.randn(5, 8, generator=g, dtype=torch.float64)
    seen = fv.project(W, plane)
    residual = W - plane.points(seen.coords)
    assert float((residual @ axes.T).abs().max()) < 1e-12
    torch.testing.assert_close(seen.distance, residual.norm(dim=1))


def test_points_of_the_plane_come_back_as_their_coordinates():
    plane = fv.Plane(torch.ones(4), torch.tensor([[1.0, 0, 0, 0], [1.0, 1, 0, 0]]), "step")
    coords = torch.tensor([[0.5, -1.0], [2.0, 3.0]])
    seen = fv.project(plane.points(coords), plane)
    torch.testing.assert_close(seen.coords, coords)
    assert float(seen.distance.max()) < 1e-6


def test_values_are_those_of_the_vectors_not_of_their_shadows():
    plane = fv.Plane(torch.zeros(3), torch.eye(3)[:2], "step")
    w = torch.tensor([[1.0, 0.0, 5.0]])
    assert float(fv.project(w, plane, lambda w: (w * w).sum()).values[0]) == 26.0
    with pytest.raises(ValueError, match=r"W must have shape \(S, 3\), got \(1, 4\)"):
        fv.project(torch.ones(1, 4), plane)
