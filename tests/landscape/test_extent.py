"""extent="auto": each end where the objective is five times its value at the origin, at the cost of a few points."""

import math

import pytest
import torch

import flatviz as fv
from flatviz.landscape.extent import RISE

PLANE = fv.Plane(torch.zeros(3), torch.eye(3)[:2], "distance")


def lopsided(w):
    """1 + a^2 down, 1 + 100 a^2 up; 1 + (b / 20)^2: 4 is reached at -2, 0.2 and +-40."""
    a, b = w[0], w[1]
    return 1 + torch.where(a < 0, a, 10 * a).square() + (b / 20).square()


def test_each_end_is_where_the_loss_has_risen_to_the_stated_multiple():
    n = 41
    surface = fv.slice_plane(lopsided, PLANE, extent="auto", resolution=n)
    for ticks, lo, hi in ((surface.a, 2.0, 0.2), (surface.b, 40.0, 40.0)):
        step = float(ticks[1] - ticks[0])
        for end, exact in ((-ticks[0], lo), (ticks[-1], hi)):
            assert exact <= float(end) <= 1.1 * exact + step  # 9 % beyond, widened to the grid
        assert float(ticks.abs().min()) < 1e-14
    assert float(surface.values.min()) == 1.0
    line = fv.slice_line(lopsided, torch.zeros(3), torch.tensor([1.0, 0, 0]), extent="auto", resolution=n)
    torch.testing.assert_close(line.t, surface.a)
    torch.testing.assert_close(line.values, surface.values[:, surface.b.abs().argmin()])
    assert float(line.values[0]) == pytest.approx(RISE, rel=0.25)


def test_it_costs_a_few_points_on_each_axis():
    calls = []

    class Counted(fv.Objective):
        dim, label = 3, "counted"

        def __call__(self, w):
            calls.append(w)
            return lopsided(w)

    fv.slice_plane(Counted(), PLANE, extent=1.0, resolution=3)
    plain = len(calls)
    fv.slice_plane(Counted(), PLANE, extent="auto", resolution=3)
    assert len(calls) - 2 * plain <= 4 * 12


def test_a_loss_that_never_rises_ends_at_64_times_what_the_plane_suggests_and_a_diverged_one_where_it_diverges():
    flat = fv.slice_plane(lambda w: 1 + 0 * w.sum(), PLANE, extent="auto", resolution=3)
    assert flat.a.tolist() == [-64.0, 0.0, 64.0]
    wall = fv.slice_plane(lambda w: torch.where(w[0] > 0.01, torch.tensor(math.nan), 1 + 0 * w[0]), PLANE, extent="auto")
    assert float(wall.a[-1]) == pytest.approx(64 / 39)  # a tick on this side too


def test_a_centre_of_zero_has_no_multiple():
    with pytest.raises(ValueError, match="must be finite and not 0, got 0: give a number"):
        fv.slice_plane(lambda w: w.square().sum(), PLANE, extent="auto")
    with pytest.raises(ValueError, match="extent must be 'auto', a number > 0"):
        fv.slice_plane(lopsided, PLANE, extent="wide")
