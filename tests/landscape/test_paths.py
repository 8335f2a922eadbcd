"""Curves between minima, maps of curvature, shadows of posteriors, valleys."""

import math

import pytest
import torch

import flatviz as fv


def two_valleys(w):
    """A ring of minima of radius 1 in the first two weights: a straight line between two of them crosses a hill."""
    return (w[:2].square().sum() - 1).square() + w[2:].square().sum()


A, B = torch.tensor([-0.8, 0.6, 0.0]), torch.tensor([0.8, 0.6, 0.0])


@pytest.mark.parametrize("kind, bends", [("bezier", 2), ("polygonal", 3)])
def test_a_curve_goes_round_the_barrier(kind, bends):
    straight = fv.landscape.connect(two_valleys, A, B, bends=0)
    assert straight.barrier == pytest.approx(0.64**2, abs=1e-5)  # the hill's top is halfway
    curve = fv.landscape.connect(two_valleys, A, B, kind=kind, bends=bends, steps=300, lr=0.05)
    assert curve.barrier < 0.05 and curve.W.shape == (bends + 2, 3)
    assert torch.equal(curve.W[0], A) and torch.equal(curve.W[-1], B)
    assert float(curve.values[0]) == float(two_valleys(A)) and float(curve.values[-1]) == float(two_valleys(B))
    points = fv.landscape.points_on(curve, curve.t)
    torch.testing.assert_close(torch.stack([two_valleys(p) for p in points]), curve.values, rtol=1e-4, atol=1e-5)
    again = fv.landscape.connect(two_valleys, A, B, kind=kind, bends=bends, steps=300, lr=0.05)
    assert torch.equal(again.W, curve.W)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_curve_is_the_same_at_every_scale_of_the_weights(scale):
    unit = fv.landscape.connect(two_valleys, A, B, bends=2, steps=100)
    curve = fv.landscape.connect(lambda w: two_valleys(w / scale), scale * A, scale * B, bends=2, steps=100)
    assert unit.barrier < 0.3 * 0.64**2  # of the straight line's
    torch.testing.assert_close(curve.W / scale, unit.W, rtol=0.02, atol=0.02)  # Adam's epsilon has no scale


@pytest.mark.parametrize("kind", ["bezier", "polygonal"])
@pytest.mark.parametrize("lr", [0.1, 30.0])
def test_no_curve_is_worse_than_the_straight_line(kind, lr):
    def steep(w):
        return 1e4 * two_valleys(w)

    first, last = A.double(), B.double()
    near = first + 1e-3 * torch.tensor([0.6, 0.8, 0.0])
    for a, b in ((first, near), (first, last)):
        straight = fv.landscape.connect(steep, a, b, bends=0)
        curve = fv.landscape.connect(steep, a, b, kind=kind, lr=lr, steps=50)
        assert curve.barrier <= straight.barrier * (1 + 1e-5)
        assert curve.barrier < straight.barrier or float(curve.values.mean()) <= float(straight.values.mean()) * (1 + 1e-5)
    same = fv.landscape.connect(steep, first, first)
    assert same.barrier < 1e-12 and same.W.shape == (3, 3)


def test_a_line_says_whose_statistics_are_used(task, conv):
    net, _ = conv
    f, other = fv.nll(net, task.train), net.w + 0.1
    lines = [fv.slice_line(f, *ends, resolution=3) for ends in ((net.w, other), (other, net.w), (other, other + 1))]
    wanted = ["the net at t = 0", "the net at t = 1", "a net that is neither end"]
    for line, owner in zip([*lines, fv.landscape.connect(f, net.w, other, steps=2, resolution=3)], [*wanted, wanted[0]]):
        assert line.name.endswith(f" with the BatchNorm statistics of {owner}") and owner in fv.explain(line)
    again = fv.slice_line(fv.quantity(net, task.train, "nll", batchnorm=task.train), net.w, other, resolution=3)
    assert again.name == "" and again.batchnorm == "re-estimated"


def test_curves_are_their_formulas():
    W, t = torch.randn(3, 4, generator=torch.Generator().manual_seed(0)), torch.tensor([0.0, 0.25, 0.75, 1.0])
    bezier = fv.Curve(t, t, W=W, kind="bezier")
    want = torch.stack([(1 - s) ** 2 * W[0] + 2 * s * (1 - s) * W[1] + s**2 * W[2] for s in t])
    torch.testing.assert_close(fv.landscape.points_on(bezier, t), want)
    chain = fv.Curve(t, t, W=W, kind="polygonal")
    torch.testing.assert_close(
        fv.landscape.points_on(chain, t), torch.stack([W[0], (W[0] + W[1]) / 2, (W[1] + W[2]) / 2, W[2]])
    )
    with pytest.raises(ValueError, match="points_on needs a curve made by connect"):
        fv.landscape.points_on(fv.Curve(t, t), t)


def test_a_gaussians_shadow_is_the_covariance_of_its_draws_shadows(gaussians):
    q, _ = gaussians
    g = torch.Generator().manual_seed(0)
    plane = fv.Plane(q.mean + 0.3, torch.randn(2, 7, generator=g, dtype=torch.float64), "step")
    seen = fv.project(q, plane)
    dense = q.factor.T @ q.factor + (2 * q.log_std).exp().diag()
    P = torch.linalg.pinv(plane.axes.T)
    torch.testing.assert_close(seen.covariance, P @ dense @ P.T, rtol=1e-9, atol=1e-12)
    draws = fv.project(q.sample(4000, seed=0), plane)
    torch.testing.assert_close(draws.coords.T.cov(), seen.covariance, rtol=0.15, atol=0.05)
    assert float(draws.distance.square().mean().sqrt()) == pytest.approx(seen.spread, rel=0.05)
    torch.testing.assert_close(seen.coords[0], fv.project(q.mean, plane).coords[0])


def surface(values):
    values = torch.as_tensor(values, dtype=torch.float64)
    axes = torch.eye(max(values.ndim, 2) + 1, dtype=torch.float64)[: values.ndim]
    ticks = [torch.arange(n).double() for n in values.shape]
    return fv.Surface(fv.Plane(torch.zeros(axes.shape[1], dtype=torch.float64), axes, "step"), *ticks[:2], values,
                      more=tuple(ticks[2:]))  # fmt: skip


def test_valleys_die_where_they_meet_a_deeper_one():
    row = [5.0, 1.0, 4.0, 0.0, 6.0, 2.0, 9.0]  # minima 1, 0, 2; saddles 4 and 6 between them
    found = fv.landscape.persistence(surface([row, row]))
    assert found.birth.tolist() == [0, 1, 2]
    assert found.death.tolist() == [math.inf, 4, 6] and found.parent.tolist() == [-1, 0, 0]
    assert found.minimum[:, 1].tolist() == [3, 1, 5] and found.saddle[:, 1].tolist() == [-1, 2, 4]
    assert found.count(3.5) == 2 and found.depth.tolist() == [math.inf, 3, 4]


def test_persistence_equals_a_slow_flood():
    """Components of {values <= level}, counted at every level by flooding."""
    values = torch.rand(7, 6, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    found = fv.landscape.persistence(surface(values))
    for level in values.reshape(-1).tolist():
        left, count = {tuple(c) for c in (values <= level).nonzero().tolist()}, 0
        while left:
            count += 1
            todo = [left.pop()]
            while todo:
                i, j = todo.pop()
                near = {(i + a, j + b) for a in (-1, 0, 1) for b in (-1, 0, 1)} & left
                left -= near
                todo += near
        assert int(((found.birth <= level) & (found.death > level)).sum()) == count


def test_a_volume_has_valleys_too_and_diverged_cells_are_walls():
    values = torch.full((3, 3, 3), 5.0)
    values[0, 0, 0], values[2, 2, 2] = 0.0, 1.0
    assert fv.landscape.persistence(surface(values)).death.tolist() == [math.inf, 5]
    apart = torch.tensor([[0.0, math.nan, 1.0], [2.0, math.inf, 3.0]])
    assert fv.landscape.persistence(surface(apart)).death.tolist() == [math.inf, math.inf]
    with pytest.raises(ValueError, match="the surface must have a finite value, got 4 diverged cells"):
        fv.landscape.persistence(surface(torch.full((2, 2), math.nan)))


def test_a_plateau_is_one_valley_and_a_result_can_be_saved(tmp_path):
    found = fv.landscape.persistence(surface([[1.0, 1.0, 1.0], [1.0, 1.0, 2.0]]))
    assert found.birth.tolist() == [1.0]
    fv.save(found, tmp_path / "p.pt")
    assert torch.equal(fv.load(tmp_path / "p.pt").surface.values, found.surface.values)
