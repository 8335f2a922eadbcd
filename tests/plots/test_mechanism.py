"""The radius, drawn: ellipses and balls of the step are those of `perturb` and the exact KL;
flatness and scores are the family's."""

import dataclasses

import numpy as np
import torch
from browsing import plain
from cases import rng
from internals import Fitting, repeat_family
from oracles import dense_covariance, random_gaussian, worst
from pytest import approx, fixture, raises
from torch.testing import assert_close

import flatviz as fv
from flatviz import families, plots


@fixture(scope="module")
def shown():
    g = rng()
    net = fv.Net.from_module(torch.nn.Linear(2, 2).double())
    data = fv.Data(torch.randn(30, 2, generator=g, dtype=torch.float64), torch.arange(30) % 2)
    q = random_gaussian(3)  # D = 7
    q = fv.Gaussian(q.mean[: net.dim], q.log_std[: net.dim], q.factor[:, : net.dim])
    return (
        net,
        data,
        q,
        families.mechanism(net, data, q, radii=[0.5, 2.0], seed=0, n_draws=8, resolution=7),
    )


def test_the_ellipse_of_the_worst_posterior_is_the_one_that_perturb_gives(shown):
    net, data, q, step = shown
    axes = step.surface.plane.axes
    traces = {t.name: t for t in plots.plot_mechanism(step).data}
    for name, p in (("the worst q′", worst(net, data, q, 2.0, n_draws=8, seed=0)), ("q", q)):
        off = torch.tensor(np.stack([traces[name].x, traces[name].y], 1)) - axes @ (p.mean - q.mean)
        inverse = torch.linalg.inv(axes @ dense_covariance(p) @ axes.T)
        assert_close((off @ inverse * off).sum(1), torch.ones(len(off)).double(), rtol=1e-6, atol=0)


def test_the_shadow_of_the_ball_is_where_the_nearest_move_has_the_exact_kl_of_the_radius(shown):
    _, _, q, step = shown
    axes = step.surface.plane.axes
    cov = dense_covariance(q)
    (ball,) = [t for t in plots.plot_mechanism(step).data if t.name == "ball of the radius"]
    for a in torch.tensor(np.stack([ball.x, ball.y], 1))[::9]:
        # Of all moves with this shadow
        nearest = cov @ axes.T @ torch.linalg.solve(axes @ cov @ axes.T, a)
        assert_close(axes @ nearest, a)
        moved = fv.Gaussian(q.mean + nearest, q.log_std, q.factor)
        assert moved.kl(q) == approx(2.0**2 / 2, rel=1e-6)


def test_the_worst_posterior_is_worse_and_sams_ball_reaches_as_far(shown):
    net, data, q, step = shown
    assert step.loss < step.worst_loss[0] < step.worst_loss[1]
    # The plane holds the move of the mean
    assert_close(step.worst.norm(dim=1), step.length)
    sam = families.mechanism(
        net, data, q, radii=[float(step.length[1])], mode="sam_mu", seed=0, n_draws=8, resolution=3
    )
    assert_close(sam.ball[0], torch.eye(2).double() * step.length[1] ** 2)
    assert_close(sam.worst[0] / sam.length[0], step.gradient / step.gradient.norm())


def test_frames_go_through_the_phases_of_each_radius(shown):
    step = shown[-1]
    fig = plots.plot_mechanism(step)
    stops = fig.layout.sliders[0].steps
    phases = len(stops) // 2  # of two radii
    assert len(stops) == len(fig.frames)
    assert [stop.args[0] for stop in stops] == [(frame.name,) for frame in fig.frames]
    assert stops[-1].label.startswith("radius 2: ")
    # The mean is at q, moves to q′, and is back once the gradient is kept
    for k, frame in enumerate(fig.frames):
        (mean,) = [t for t in frame.data if t.name == "the mean now"]
        there = step.worst[k // phases] if 0 < k % phases < 3 else torch.zeros(2)
        assert_close(torch.tensor([mean.x[0], mean.y[0]]), there.double())


def in_page(family, i):
    """The step of a member as page and lab draw it."""
    how = dict(method=family.method[i], radius=family.radius[i])
    return fv.widgets.plot_view(family, "mechanism", **how)


def test_in_page_and_lab_the_radius_moves_the_ball_and_the_ground_stays(family, transferred, task):
    i = family.index("sabma", 2.0)
    q = family.posterior[family.index("vi")]
    alone = families.mechanism(transferred[0], task.train, q, radii=[2.0], seed=1, resolution=9)
    step = family[i].step
    assert_close(step.worst, alone.worst, rtol=1e-4, atol=1e-6)
    assert_close(step.ball, alone.ball, rtol=1e-4, atol=1e-8)
    sam = family[family.index("sam_mu", 0.2)].step.ball[0]
    assert sam[0, 0] == approx(0.04)
    assert sam[0, 1] == 0
    for still in (family[family.index(method, 0.0)].step for method in ("vi", "sgd", "sabma")):
        assert still.length == 0
        assert still.ball.abs().max() == 0
    small, large = (in_page(family, i) for i in (family.index("sabma", 0.5), i))
    inner, outer = (
        next(t for t in fig.data if t.name == "ball of the radius") for fig in (small, large)
    )
    assert plain(outer.x).max() == approx(4 * plain(inner.x).max(), rel=1e-5)
    assert f"{float(step.worst_loss):.3g} at q′" in large.layout.annotations[0].text


def drawn(fig, *names):
    """Every coordinate of the traces of these names that are in sight."""
    data = [t for t in fig.data if t.name in names and t.visible in (None, True)]
    return np.abs(np.concatenate([plain(v) for t in data for v in (t.x, t.y)]))


def test_axes_are_the_same_at_every_radius_so_that_the_ball_grows_and_q_stays_and_nothing_is_cut(
    family,
):
    ends = set()
    for i in range(len(family)):
        fig = in_page(family, i)
        ends |= {fig.layout.xaxis.range, fig.layout.yaxis.range}
        lo, hi = fig.layout.xaxis.range
        assert drawn(fig, "q", "ball of the radius", "SAM's ball", "the worst q′").max() < hi == -lo
        # A few steps from a narrow start; the tour's q is three times as wide
        assert drawn(fig, "q").max() > 0.03 * hi
    assert len(ends) == 1


def test_the_ground_reaches_as_far_as_the_largest_radius_that_the_slider_offers(
    family, task, transferred
):
    (net, _) = transferred
    ground = family[0].step.surface
    q = family.posterior[family.index("vi")]
    for method, mode in (("sabma", "kl_exact"), ("sam_mu", "sam_mu")):
        largest = fv.METHODS[method].tuned(net).largest
        alone = families.mechanism(
            net, task.train, q, radii=[largest], seed=1, mode=mode, resolution=3
        )
        assert max(family.radii(method)) < largest
        assert ground.a.max() > 1.2 * alone.reach(0)


@fixture(scope="module")
def repeated(family, transferred, task):
    net, prior = transferred
    return repeat_family(Fitting(net, task, prior, 0, {"steps": 5}), family, [7, 8])


def test_the_first_seed_is_the_familys_own_and_the_others_are_those_of_fits_by_themselves(
    repeated, family, transferred, task
):
    net, prior = transferred
    i = family.index("sabma", 2.0)
    assert all(m.over_seeds["nll"].shape == (3,) for m in repeated)
    for name in ("accuracy", "nll", "ece"):
        assert repeated[i].over_seeds[name][0] == family.prediction[i].scores[name][-1]
    q = Fitting(net, task, prior, seed=8, fit={"steps": 5}).member("sabma", 2.0)
    alone = fv.predict(net, q, task.test, 6, seed=9).scores
    # Trained together
    assert repeated[i].over_seeds["nll"][2] == approx(float(alone["nll"][-1]), rel=1e-3)
    f = fv.nll(net, task.train)
    lambda1 = [float(fv.top_eigenpairs(f, w, 1).values[0]) for w in q.sample(2, seed=9)]
    assert repeated[i].over_seeds["lambda1"][2] == approx(sum(lambda1) / 2, rel=1e-2)
    vi, zero = (family.index(m, 0.0) for m in ("vi", "sabma"))
    # Radius 0 is one member
    assert torch.equal(repeated[vi].over_seeds["nll"], repeated[zero].over_seeds["nll"])


def test_lines_are_means_over_seeds_and_bands_their_range(repeated):
    fig = plots.plot_radius(repeated, method="sabma", radius=2.0)
    drawn = {(t.name, t.xaxis): t for t in fig.data}
    rows = [repeated.index("sabma", r) for r in repeated.radii("sabma")]
    for k, name in enumerate(("lambda1", "nll", "accuracy", "ece")):
        values = torch.stack([repeated[i].over_seeds[name] for i in rows]).double()
        markers, band, ring = (
            drawn[what, f"x{2 * k + 2}"] for what in ("SA-BMA, radii", "SA-BMA, seeds", "selected")
        )
        assert list(markers.y) == approx(values.mean(1).tolist())
        assert list(band.y) == approx([*values.amin(1).tolist(), *values.amax(1).flip(0).tolist()])
        assert ring.visible
        assert (ring.x[0], ring.y[0]) == approx((markers.x[-1], markers.y[-1]))
        # SAM's radius has another unit
        assert not drawn["selected", f"x{2 * k + 1}" if k else "x"].visible
    assert "mean and range of 3 seeds" in fig.layout.title.text


def test_a_family_without_radii_is_refused_and_one_of_one_seed_has_no_band(family):
    assert not any("seeds" in t.name for t in plots.plot_radius(family).data)
    with raises(
        ValueError,
        match="must be measured and have a method of several radii, got .*: use fv.families.meas",
    ):
        plots.plot_radius(dataclasses.replace(family, members=family.members[:1]))


def test_the_frontier_finds_the_temperature_of_equal_training_loss_between_those_fitted(family):
    """VI over T with a training loss of T^2 and an NLL of 1 + T: at a loss of 0.04, T* = 0.2 and
    the cross is on that line."""
    losses = {
        ("vi_t", 0.1): 0.01,
        ("vi_t", 0.4): 0.16,
        ("sabma", 1.0): 0.04,
        ("vi", 0.0): 0.0225,
        ("sabma", 2.0): 0.5,
    }

    def member(method, radius, loss):
        projection = dataclasses.replace(family[0].projection, values=torch.full((6,), loss))
        scores = {name: torch.full((6,), 1.0 + loss**0.5) for name in family[0].prediction.scores}
        prediction = dataclasses.replace(family[0].prediction, scores=scores)
        return dataclasses.replace(
            family[0], method=method, radius=radius, projection=projection, prediction=prediction
        )

    made = dataclasses.replace(
        family, members=tuple(member(*key, loss) for key, loss in losses.items())
    )
    fig = plots.plot_frontier(made, method="sabma", radius=1.0)
    ring, cross = ([t for t in fig.data if t.name == name][1] for name in ("selected", "VI at T*"))
    assert (ring.x[0], ring.y[0]) == approx((0.04, 1.2), rel=1e-6)
    # VI itself lies on the line too
    at = np.interp(np.log(0.04), np.log([0.0225, 0.16]), [1.15, 1.4])
    assert (cross.x[0], cross.y[0]) == approx((0.04, at), rel=1e-6)
    assert (
        fig.layout.annotations[-1].text
        == "SA-BMA, radius 1 (○):<br>VI at T* = 0.2 (×) has its training loss"
    )
    beyond = plots.plot_frontier(made, method="sabma", radius=2.0)
    assert "no T of these" in beyond.layout.annotations[-1].text
    assert np.isnan(beyond.data[-1].y[0])
    live = [f"{p.trace} {p.path[-1]}" for p in fig.live[:4]]
    assert live == ["selected x", "selected y", "VI at T* x", "VI at T* y"]
    with raises(ValueError, match="must be measured and hold VI at two temperatures"):
        plots.plot_frontier(dataclasses.replace(made, members=made.members[1:]))
