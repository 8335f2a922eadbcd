"""Slices, lines, shadows of posteriors, valleys: exact, centred, honest about diverged cells;
cancelled and resumed, on disk."""

import math
import os
import signal
from functools import partial

import torch
from cases import blobs, close, net_of, normals, normed, random_surface, refused
from forked import forked
from oracles import dense_covariance, stopping_at
from pytest import fixture, mark, raises
from torch import float64, linspace, ones, randn, tensor, zeros
from torch.testing import assert_close
from torch.utils.flop_counter import FlopCounterMode

import flatviz as fv

PLANE = fv.Plane(zeros(3), torch.eye(3)[:2], "distance")
AXES = torch.eye(12, dtype=float64)[:2]


def test_a_slice_of_a_quadratic_is_the_quadratic(quadratic):
    f, H, c = quadratic
    axes = normals(2, 12)
    plane = fv.Plane(c, axes, "step")
    surface = fv.slice_plane(f, plane, extent=2.0, resolution=21)
    coords = torch.cartesian_prod(surface.a, surface.b)
    in_plane = axes @ H @ axes.T
    want = 0.5 * (coords @ in_plane * coords).sum(1)
    close(surface.values, want.view(21, 21), 1e-10)


@mark.parametrize(
    "extent",
    [
        1.5,
        (-1.5, 1.5),
        ((-1.5, 1.5), (-3.0, 3.0)),
        None,
    ],
)
@mark.parametrize("resolution", [3, 11, 41])
def test_the_origin_is_on_the_grid_exactly(quadratic, extent, resolution):
    f, _, c = quadratic
    suggested = (-0.3, 0.3), (-0.7, 0.7)
    plane = fv.Plane(c + 1, AXES, "step", extent=suggested)
    surface = fv.slice_plane(f, plane, extent=extent, resolution=resolution)
    middle = resolution // 2
    assert surface.a[middle] == 0 == surface.b[middle]
    assert surface.values[middle, middle] == f(plane.origin)


def test_diverged_cells_stay_and_are_counted():
    log = lambda w: torch.log(w[0])
    surface = fv.slice_plane(log, PLANE, extent=1.0, resolution=5)
    assert surface.n_diverged == 15  # log of -1, -1/2 and 0 in each of five columns
    assert torch.isnan(surface.values[0, 0])
    assert surface.values[2, 0] == -math.inf


def test_a_line_has_both_ends(quadratic):
    f, _, c = quadratic
    curve = fv.slice_line(f, c + 1, c - 2, resolution=9)
    assert curve.t.tolist() == linspace(0, 1, 9).tolist()
    want = torch.stack([f(c + 1 - 3 * t) for t in curve.t])
    close(curve.values, want, 1e-12)


def test_a_path_gives_the_values_at_its_points(quadratic):
    f, _, c = quadratic
    W = c + torch.arange(4, dtype=float64)[:, None]
    path = fv.slice_path(f, W)
    assert_close(path.values, torch.stack([f(w) for w in W]))
    assert path.t.tolist() == [0, 1, 2, 3]
    assert path.x_label == "step"
    with refused(r"t must have shape \(4,\), got \(2,\)"):
        fv.slice_path(f, W, t=zeros(2))


INF = math.inf
NO_EXTENTS = [0.0, -1.0, (1.0, 0.0), ((0, 1),), "wide", (1, 2, 3)]
NO_GRID = [
    INF,
    (-INF, 1.0),
    ((0.0, INF), (0.0, 1.0)),
    math.nan,
    1e300,
    1e-50,
    (1e8, 1e8 + 1),
]


@mark.parametrize("extent", [*NO_EXTENTS, *NO_GRID])
def test_a_bad_extent_says_what_was_expected(extent):
    with refused(r"extent must be ('auto', )?a number > 0", (ValueError, TypeError)):
        fv.slice_plane(torch.sum, PLANE, extent=extent)


def test_a_plane_without_an_extent_needs_one():
    with refused("this plane suggests none"):
        fv.slice_plane(torch.sum, PLANE)


def test_values_are_those_of_the_vectors_not_of_their_shadows():
    w = tensor([[1.0, 0.0, 5.0]])
    seen = fv.project(w, PLANE, lambda w: (w * w).sum())
    assert seen.values.tolist() == [26]
    with refused(r"W must have shape \(S, 3\), got \(1, 4\)"):
        fv.project(ones(1, 4), PLANE)


def lopsided(w):
    """1 + a^2 down, 1 + 100 a^2 up; 1 + (b / 20)^2: 4 is reached at -2, 0.2 and +-40."""
    a = w[0]
    steep = torch.where(a < 0, a, 10 * a)
    gentle = w[1] / 20
    return 1 + steep.square() + gentle.square()


def test_each_end_is_where_the_loss_has_risen_to_the_stated_multiple():
    surface = fv.slice_plane(lopsided, PLANE, extent="auto", resolution=41)
    exact = {"a": (2.0, 0.2), "b": (40.0, 40.0)}
    for axis, ends in exact.items():
        ticks = getattr(surface, axis)
        step = ticks[1] - ticks[0]
        for end, at in zip((-ticks[0], ticks[-1]), ends):
            assert at <= end <= 1.1 * at + step  # 9 % beyond, widened to the grid
        assert ticks.abs().min() < 1e-14
    assert surface.values.min() == 1.0
    middle = surface.b.abs().argmin()
    close(surface.values[0, middle], 5, 0.25)


def flat(w):
    return 1 + 0 * w.sum()


def walled(w):
    return torch.where(w[0] > 0.01, math.nan, flat(w))


def test_an_extent_ends_at_64_times_the_suggested_one_or_where_the_loss_diverges():
    wide = fv.slice_plane(flat, PLANE, extent="auto", resolution=3)
    assert wide.a.tolist() == [-64.0, 0.0, 64.0]
    cut = fv.slice_plane(walled, PLANE, extent="auto")
    close(cut.a[-1], 64 / 39)  # a tick on this side too
    square = lambda w: w.square().sum()  # 0 has no multiple
    with refused("must be finite and not 0, got 0: give a number"):
        fv.slice_plane(square, PLANE, extent="auto")


@mark.parametrize(
    "a, b, owner",
    [
        (0, 1, "the net at t = 0"),
        (1, 0, "the net at t = 1"),
        (1, 2, "a net that is neither end"),
    ],
)
def test_a_line_says_whose_statistics_are_used(task, conv, a, b, owner):
    net, _ = conv
    ends = net.w + a, net.w + b
    line = fv.slice_line(fv.nll(net, task.train), *ends, resolution=3)
    assert line.name.endswith(f" with the BatchNorm statistics of {owner}")
    fresh = fv.quantity(net, task.train, "nll", batchnorm=task.train)
    line = fv.slice_line(fresh, *ends, resolution=3)
    assert line.name == ""
    assert line.batchnorm == "re-estimated"


def test_a_gaussians_shadow_is_the_covariance_of_its_draws_shadows(gaussians):
    q, _ = gaussians
    axes = randn(2, 7, dtype=float64)
    plane = fv.Plane(q.mean + 0.3, axes, "step")
    seen = fv.project(q, plane)
    P = torch.linalg.pinv(plane.axes.T)
    close(seen.covariance, P @ dense_covariance(q) @ P.T, 1e-9)
    draws = fv.project(q.sample(4000, seed=0), plane)
    found = draws.coords.T.cov()
    assert_close(found, seen.covariance, rtol=0.15, atol=0.05)
    off_the_plane = draws.distance.square().mean().sqrt()
    close(off_the_plane, seen.spread, 0.05)
    center = fv.project(q.mean, plane)
    assert_close(seen.coords[0], center.coords[0])


def surface(values):
    values = torch.as_tensor(values).double()
    a, b = (torch.arange(n).double() for n in values.shape)
    return fv.Surface(PLANE, a, b, values)


def test_a_plane_with_its_set_up_costs_little_more_than_its_points(task):
    """Multiplications of torch: 121 passes, and checks on a few examples each."""
    net = net_of(fv.models.mlp(task))
    data = task.source
    with FlopCounterMode(display=False) as one:
        net(net.w, data.x)
    with FlopCounterMode(display=False) as whole:
        random_surface(fv.nll(net, data), extent=0.5, resolution=11)
    assert whole.get_total_flops() < 1.15 * 121 * one.get_total_flops()


class Counted(fv.Objective):
    """A quadratic that notes where it was asked; call number `dies` kills the process."""

    label = "counted"
    key = "a quadratic"
    dies = None

    def __init__(self):
        self.asked = []

    def __call__(self, w):
        if len(self.asked) == self.dies:
            os.kill(os.getpid(), signal.SIGKILL)
        self.asked.append(tuple(w.tolist()))
        return w[0] ** 2 + 3 * w[1] ** 2


EXTENT = ((-1, 1), (-2, 2))


@fixture
def counted(tmp_path):
    """(objective, plane, its cached slice by what else that takes)."""
    f = Counted()
    axes = torch.eye(3).double()[:2]
    plane = fv.Plane(zeros(3).double(), axes, "distance", extent=EXTENT)
    run = partial(fv.slice_plane, f, plane, resolution=11, cache=tmp_path)
    return f, plane, run


def test_a_killed_run_goes_on_and_computes_again_one_point_of_what_it_reads(counted, tmp_path):
    f, _, run = counted
    with raises(KeyboardInterrupt):
        run(progress=stopping_at(3))
    assert 0 < len(f.asked) < 121
    # What a kill in the middle of a write leaves
    (tmp_path / ".flatviz-0.part").write_bytes(b"torn")
    resumed = run().values
    assert torch.equal(run().values, resumed)  # read
    assert len(f.asked) == 123
    assert len(set(f.asked)) == 121
    assert torch.equal(run(cache=None).values, resumed)


def test_a_kill_costs_the_block_at_work(counted, monkeypatch, tmp_path):
    f, _, run = counted
    monkeypatch.setattr("flatviz.landscape.grid.SAVE_EVERY", 0.0)
    f.dies = 40  # in the middle of the third block
    child = forked(run, tmp_path / "out", tmp_path / "errors")
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    f.dies = None
    surface = run()
    assert len(f.asked) == 121 - 32 + 1
    assert surface.n_diverged == 0
    assert torch.equal(run(cache=None).values, surface.values)


def test_a_changed_setting_never_meets_a_stale_file(counted, tmp_path):
    f, plane, run = counted
    run(resolution=5)
    run(resolution=5, extent=0.5)
    run(resolution=6)
    run(resolution=5, exact=True)
    elsewhere = fv.Plane(plane.origin + 1, plane.axes, "distance", extent=EXTENT)
    fv.slice_plane(f, elsewhere, resolution=5, cache=tmp_path)
    f.key = "another objective"
    run(resolution=5)
    assert len(list(tmp_path.glob("*.safetensors"))) == 6
    assert len(f.asked) == 5 * 25 + 36


def test_the_key_of_a_network_is_all_its_values_depend_on(tmp_path):
    module = normed(3, 4, 2)
    data = blobs(8, 3, 2)

    def net(treated=lambda name: name.startswith("3")):
        return net_of(module, treated)

    first = fv.nll(net(), data).key
    assert first == fv.nll(net().copy(), data).key
    keys = [
        first,
        fv.nll(net(), fv.Data(data.x + 1, data.y)).key,
        fv.quantity(net(), data, "accuracy").key,
        fv.nll(net("all"), data).key,
    ]
    # Not treated, but the values depend on it
    for values in (module[0].weight.data, module[1].running_mean):
        values += 1
        keys.append(fv.nll(net(), data).key)
    assert len(set(keys)) == 6
    with refused("cache needs an objective that says what it depends on"):
        fv.slice_plane(torch.sum, PLANE, extent=1.0, cache=tmp_path)


def test_a_quick_look_states_its_error(task, conv):
    net, _ = conv
    plane = fv.plane_random(net, net.w + 0.3 * randn(net.dim), seed=0)
    run = partial(fv.slice_plane, fv.nll(net, task.train), plane, resolution=5)
    exact = run()
    quick = run(precision="bfloat16")
    true = float((exact.values - quick.values).abs().max())
    assert quick.precision == "bfloat16"
    assert exact.error is None
    assert 0 < quick.error <= true * 1.01 + 1e-6
    assert true < 0.1 * exact.values.max()
    fresh = fv.quantity(net, task.train, "nll", batchnorm=task.train)
    for g in (fresh, torch.sum):
        with refused("an objective of one network with frozen BatchNorm"):
            fv.slice_plane(g, plane, precision="bfloat16")


def test_a_quick_look_at_float64_is_in_float32(tiny):
    f = fv.nll(*tiny)
    plane = fv.plane_random(f.net, f.net.w, seed=0)
    quick = fv.slice_plane(f, plane, resolution=3, precision="float32")
    assert 0 < quick.error < 1e-5


def test_an_objective_that_writes_into_its_argument_changes_no_weights_of_the_users():
    W = torch.ones(2, 3)
    curve = fv.slice_path(lambda v: v.mul_(2).sum(), W)
    assert curve.values.tolist() == [6.0, 6.0]
    assert W.tolist() == [[1.0] * 3] * 2


def test_a_barrier_is_that_of_values_in_any_number_type():
    t = torch.linspace(0, 1, 3)
    for values in (torch.tensor([1, 4, 2]), torch.tensor([1.0, 4, 2], dtype=torch.float64)):
        assert fv.Curve(t, values).barrier == 2.5
