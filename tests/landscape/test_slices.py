"""Slices: exact, centred, honest about diverged cells."""

import math

import pytest
import torch

import flatviz as fv


def test_a_slice_of_a_quadratic_is_the_quadratic(quadratic):
    f, H, c = quadratic
    plane = fv.Plane(c, torch.randn(2, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(0)), "step")
    surface = fv.slice_plane(f, plane, extent=2.0, resolution=21)
    a, b = torch.meshgrid(surface.a, surface.b, indexing="ij")
    u, v = plane.axes
    want = 0.5 * (a**2 * (u @ H @ u) + 2 * a * b * (u @ H @ v) + b**2 * (v @ H @ v))
    torch.testing.assert_close(surface.values, want, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(surface.values, surface.values.flip(0, 1), rtol=1e-10, atol=1e-12)  # symmetric about c


@pytest.mark.parametrize("extent", [1.5, (-1.5, 1.5), ((-1.5, 1.5), (-3.0, 3.0)), None])
@pytest.mark.parametrize("resolution", [3, 11, 41])
def test_the_origin_is_on_the_grid_exactly(quadratic, extent, resolution):
    f, _, c = quadratic
    plane = fv.Plane(c + 1, torch.eye(12, dtype=torch.float64)[:2], "step", extent=((-0.3, 0.3), (-0.7, 0.7)))
    surface = fv.slice_plane(f, plane, extent=extent, resolution=resolution)
    middle = resolution // 2
    assert float(surface.a[middle]) == 0 == float(surface.b[middle])
    torch.testing.assert_close(surface.values[middle, middle], f(plane.origin), rtol=0, atol=0)


def test_diverged_cells_stay_and_are_counted():
    plane = fv.Plane(torch.zeros(2), torch.eye(2), "step")
    surface = fv.slice_plane(lambda w: torch.log(w[0]), plane, extent=1.0, resolution=5)
    assert surface.n_diverged == 15  # log of -1, -1/2 and 0 in each of five columns
    assert bool(torch.isnan(surface.values[0, 0])) and float(surface.values[2, 0]) == -math.inf


def test_a_line_has_both_ends(quadratic):
    f, _, c = quadratic
    a, b = c + 1, c - 2
    curve = fv.slice_line(f, a, b, resolution=9)
    torch.testing.assert_close(curve.values[0], f(a), rtol=1e-12, atol=0)
    torch.testing.assert_close(curve.values[-1], f(b), rtol=1e-12, atol=0)
    torch.testing.assert_close(curve.values[3], f(a + (b - a) * 3 / 8), rtol=1e-12, atol=0)
    assert float(curve.t[0]) == 0 and float(curve.t[-1]) == 1


@pytest.mark.parametrize("extent", [0.0, -1.0, (1.0, 0.0), ((0, 1),), "wide", (1, 2, 3)])
def test_a_bad_extent_says_what_was_expected(quadratic, extent):
    f, _, c = quadratic
    plane = fv.Plane(c, torch.eye(12, dtype=torch.float64)[:2], "step")
    with pytest.raises((ValueError, TypeError), match=r"extent must be 'auto', a number > 0, \(lo, hi\),? or"):
        fv.slice_plane(f, plane, extent=extent)
    with pytest.raises(ValueError, match="this plane suggests none"):
        fv.slice_plane(f, plane)
