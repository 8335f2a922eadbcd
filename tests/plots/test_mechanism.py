"""The mechanism, drawn: ellipses and balls are those of `perturb` and of the exact KL."""

import numpy as np
import pytest
import torch
from oracles import dense_covariance, random_gaussian, worst

import flatviz as fv
from flatviz.pages import views
from flatviz.pages.scene import Scene
from flatviz.plots.mechanism import PHASES, ellipse, plot_step


@pytest.fixture(scope="module")
def shown():
    g = torch.Generator().manual_seed(0)
    net = fv.Net.from_module(torch.nn.Linear(2, 2).double())
    data = fv.Data(torch.randn(30, 2, generator=g, dtype=torch.float64), torch.arange(30) % 2)
    q = random_gaussian(3)  # D = 7
    q = fv.Gaussian(q.mean[: net.dim], q.log_std[: net.dim], q.factor[:, : net.dim])
    return net, data, q, fv.families.mechanism(net, data, q, radii=[0.5, 2.0], seed=0, n_draws=8, resolution=7)


def test_the_ellipse_of_the_worst_posterior_is_the_one_that_perturb_gives(shown):
    net, data, q, step = shown
    axes, traces = step.surface.plane.axes, {t.name: t for t in fv.plots.plot_mechanism(step).data}
    for name, p in (("the worst q′", worst(net, data, q, 2.0, n_draws=8, seed=0)), ("q", q)):
        off = torch.tensor(np.stack([traces[name].x, traces[name].y], 1)) - axes @ (p.mean - q.mean)
        inverse = torch.linalg.inv(axes @ dense_covariance(p) @ axes.T)
        torch.testing.assert_close((off @ inverse * off).sum(1), torch.ones(len(off)).double(), rtol=1e-6, atol=0)


def test_the_shadow_of_the_ball_is_where_the_nearest_move_has_the_exact_kl_of_the_radius(shown):
    _, _, q, step = shown
    axes, cov = step.surface.plane.axes, dense_covariance(q)
    for a in ellipse(step.ball[1], torch.zeros(2))[::9]:
        nearest = cov @ axes.T @ torch.linalg.solve(axes @ cov @ axes.T, a)  # of all moves with this shadow
        torch.testing.assert_close(axes @ nearest, a)
        moved = fv.Gaussian(q.mean + nearest, q.log_std, q.factor)
        assert float(moved.kl(q)) == pytest.approx(2.0**2 / 2, rel=1e-6)


def test_the_worst_posterior_is_worse_and_sams_ball_reaches_as_far(shown):
    net, data, q, step = shown
    assert step.loss < float(step.worst_loss[0]) < float(step.worst_loss[1])
    torch.testing.assert_close(step.worst.norm(dim=1), step.length)  # the plane holds the move of the mean
    sam = fv.families.mechanism(net, data, q, radii=[float(step.length[1])], mode="sam_mu", seed=0, n_draws=8, resolution=3)
    torch.testing.assert_close(sam.ball[0], torch.eye(2).double() * step.length[1] ** 2)
    torch.testing.assert_close(sam.worst[0] / sam.length[0], step.gradient / step.gradient.norm())


def test_frames_go_through_the_phases_of_each_radius(shown):
    step = shown[-1]
    fig = fv.plots.plot_mechanism(step)
    stops = fig.layout.sliders[0].steps
    assert len(stops) == len(fig.frames) == 2 * len(PHASES)
    assert [stop.args[0] for stop in stops] == [(frame.name,) for frame in fig.frames]
    assert stops[-1].label == f"radius 2: {PHASES[-1]}"
    for k, frame in enumerate(fig.frames):  # the mean is at q, moves to q′, and is back once the gradient is kept
        (mean,) = [t for t in frame.data if t.name == "the mean now"]
        there = step.worst[k // len(PHASES)] if 0 < k % len(PHASES) < 3 else torch.zeros(2)
        torch.testing.assert_close(torch.tensor([mean.x[0], mean.y[0]]), there.double())


def test_in_page_and_lab_the_radius_moves_the_ball_and_the_ground_stays(family, transferred, task):
    i, q = family.index("sabma", 2.0), family.posterior[family.index("vi")]
    alone, step = fv.families.mechanism(transferred[0], task.train, q, radii=[2.0], seed=1, resolution=9), family[i].step
    torch.testing.assert_close(step.worst, alone.worst, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(step.ball, alone.ball, rtol=1e-4, atol=1e-8)
    sam = family[family.index("sam_mu", 0.2)].step.ball[0]
    assert float(sam[0, 0]) == pytest.approx(0.04) and float(sam[0, 1]) == 0
    for still in (family[family.index(method, 0.0)].step for method in ("vi", "sgd", "sabma")):
        assert float(still.length) == 0 and float(still.ball.abs().max()) == 0
    view = next(v for v in views.VIEWS if v.name == "mechanism")
    small, large = (view.draw(Scene(family), family.index("sabma", r)) for r in (0.5, 2.0))
    assert [p.path for p in small.live] == [p.path for p in large.live] and "surface" in view.fixed
    inner, outer = (next(t for t in fig.data if t.name == "ball of the radius") for fig in (small, large))
    assert max(outer.x) == pytest.approx(4 * max(inner.x), rel=1e-5)
    assert f"{float(step.worst_loss):.3g} at q′" in plot_step(family, i).layout.annotations[0].text


def drawn(fig, *names):
    """Every coordinate of the traces of these names that are in sight."""
    data = [t for t in fig.data if t.name in names and t.visible in (None, True)]
    return np.abs(np.concatenate([np.array(v, float) for t in data for v in (t.x, t.y)]))


def test_axes_are_the_same_at_every_radius_so_that_the_ball_grows_and_q_stays_and_nothing_is_cut(family):
    ends = set()
    for i in range(len(family)):
        fig = plot_step(family, i)
        ends |= {fig.layout.xaxis.range, fig.layout.yaxis.range}
        lo, hi = fig.layout.xaxis.range
        assert drawn(fig, "q", "ball of the radius", "SAM's ball", "the worst q′").max() < hi == -lo
        assert drawn(fig, "q").max() > 0.03 * hi  # a few steps from a narrow start; the tour's q is three times as wide
    assert len(ends) == 1


def test_the_ground_reaches_as_far_as_the_largest_radius_that_the_slider_offers(family, task, transferred):
    (net, _), ground, q = transferred, family[0].step.surface, family.posterior[family.index("vi")]
    for method, mode in (("sabma", "kl_exact"), ("sam_mu", "sam_mu")):
        largest = fv.METHODS[method].tuned(net).largest
        alone = fv.families.mechanism(net, task.train, q, radii=[largest], seed=1, mode=mode, resolution=3)
        assert max(family.radii(method)) < largest and float(ground.a.max()) > 1.2 * alone.reach(0)
