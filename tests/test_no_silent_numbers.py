"""No silent wrong number: what has no value gives NaN, counted, or one clear error."""

import math

import torch
from cases import mlp, refused, rng
from every_verb import SCORES as NAMES
from pytest import approx, mark, raises
from torch import arange, full, int64, isnan, randn, tensor, zeros
from torch.testing import assert_close

import flatviz as fv
from flatviz import metrics
from flatviz.core import PointEvaluator

NAN = math.nan
INF = math.inf


def data(y=None):
    x = randn(12, 2, generator=rng())
    return fv.Data(x, arange(12) % 3 if y is None else y)


def prediction(bad=None, value=NAN, y=None):
    """Of 4 draws on 6 inputs; draw number `bad` has one output that is `value`."""
    outputs = randn(4, 6, 3, generator=rng(1))
    if bad is not None:
        outputs[bad, 2, 1] = value
    return fv.Prediction(outputs, arange(6) % 3 if y is None else y)


with torch.random.fork_rng():
    torch.manual_seed(0)
    NET = fv.Net.from_module(mlp(2, 4, 3))
    DATA = data()
W = NET.w + 0.1 * randn(3, NET.dim, generator=rng())
FLAT = {
    "accuracy": fv.quantity(NET, DATA, "accuracy"),
    "a detached function": lambda w: fv.nll(NET, DATA)(w).detach(),
    "accuracy in a function": lambda w: fv.quantity(NET, DATA, "accuracy")(w),
}
DERIVATIVES = {
    "hvp": lambda f: fv.hvp(f, NET.w, NET.w),
    "top_eigenpairs": lambda f: fv.top_eigenpairs(f, NET.w, 1),
    "spectral_density": lambda f: fv.spectral_density(f, NET.w, k=1, steps=4),
    "hessian_trace": lambda f: fv.hessian_trace(f, NET.w, products=6),
    "sharpness": lambda f: fv.sharpness(f, W),
    "weyl_bounds": lambda f: metrics.weyl_bounds(f, W),
}


@mark.parametrize("verb", DERIVATIVES)
@mark.parametrize("name", FLAT)
def test_a_derivative_of_what_has_none_is_refused(verb, name):
    with refused(
        "needs an objective that torch can differentiate|needs an f with a gradient",
    ):
        DERIVATIVES[verb](FLAT[name])


def half_diverged(w):
    """log w[0] + |w|^2: NaN where w[0] < 0."""
    return w[0].log() + w.square().sum()


@mark.parametrize("verb", ["top_eigenpairs", "spectral_density", "hessian_trace"])
def test_curvature_where_the_loss_diverged_is_one_clear_error(verb):
    w = tensor([-1.0, *[1.0] * 9])
    options = dict(products=6) if verb == "hessian_trace" else dict(k=1)
    with refused(
        r"f\(w\) must be finite to have derivatives, got nan: w is where f diverged",
    ):
        getattr(fv, verb)(half_diverged, w, **options)
    with refused("the curvature at w must be finite, got NaN or inf: look at f"):
        getattr(fv, verb)(lambda w: w.abs().sqrt().sum(), zeros(10), **options)


@mark.parametrize(
    "y, kind, text",
    [
        (
            full((12,), 3),
            ValueError,
            r"labels must be in 0\.\.2 for a net with 3 outputs, got 3",
        ),
        (
            full((12,), 0.5),
            TypeError,
            "likelihood='categorical' needs integer class labels, got floating targets",
        ),
    ],
)
def test_labels_that_are_no_classes_are_refused_by_every_objective(y, kind, text):
    bad = data(y)
    with raises(kind, match=text):
        fv.nll(NET, bad)
    for what in ("accuracy", "error", "nll"):
        with raises(kind, match=text):
            fv.quantity(NET, bad, what)
    with raises(kind, match=text):
        fv.predict(NET, W, bad, 2, seed=0)
    own = fv.quantity(NET, bad, lambda out, y: out.mean())  # which knows its labels
    assert own(NET.w) != 0


SCORES = {name: getattr(metrics, name) for name in (*NAMES, "reliability")}


@mark.parametrize("score", SCORES)
def test_a_score_refuses_labels_that_are_no_classes(score):
    for y, kind, text in (
        (full((6,), 3), ValueError, r"labels must be in 0\.\.2 .* got 3"),
        (full((6,), -1), ValueError, r"labels must be in 0\.\.2 .* got -1"),
        (full((6,), 0.5), TypeError, "needs integer class labels, got floating targets"),
        (zeros(6, 3).long(), ValueError, r"labels must have shape \(6,\), got \(6, 3\)"),
        ([0] * 6, TypeError, r"y must be a (tensor of labels \(N,\)|Tensor), got a list"),
    ):
        with raises(kind, match=text):
            SCORES[score](prediction(y=y))


@mark.parametrize("dtype", [torch.int32, torch.int16, torch.int8, torch.uint8, int64])
def test_labels_of_any_integer_dtype_are_the_same_labels(dtype):
    y = arange(6) % 3
    for score in SCORES.values():
        want = score(prediction(y=y))
        got = score(prediction(y=y.to(dtype)))
        assert_close(got, want, equal_nan=True)
    other = data((arange(12) % 3).to(dtype))
    assert other.y.dtype == int64
    found = fv.nll(NET, other)(NET.w)
    wanted = fv.nll(NET, DATA)(NET.w)
    assert found == wanted


@mark.parametrize(
    "axes, text",
    [
        ([[1.0, 0, 0], [0, 0, 0]], r"axes must have a length > 0, got 0 for number 2"),
        ([[1.0, 2, 0], [1, 2, 0]], r"axes must point in different directions, got parallel ones"),
        ([[1.0, 2, 0], [-2, -4, 0]], r"axes must point in different directions, got parallel ones"),
        ([[1.0, 0, 0], [0, NAN, 0]], r"axes must be finite, got 1 NaN or inf"),
    ],
)
def test_axes_that_span_no_plane_are_refused(axes, text):
    with refused(text):
        fv.Plane(zeros(3), tensor(axes), "step")
    with refused("directions? must|[uv] must be finite|axes must"):
        fv.plane_along(zeros(3), *tensor(axes))


def test_nearly_parallel_axes_are_a_plane():
    fv.Plane(zeros(3), tensor([[1.0, 0, 0], [1.0, 1e-4, 0]]), "step")
    fv.Plane(zeros(3), tensor([[1e-30, 0, 0], [0, 1e20, 0]]), "step")


def test_a_projection_of_another_plane_is_refused_by_every_picture():
    f = lambda w: w.square().sum()
    W = torch.rand(4, 3)
    plane = fv.Plane(zeros(3), torch.eye(3)[:2], "step")
    other = fv.Plane(zeros(3), torch.eye(3)[1:], "step")
    surface = fv.slice_plane(f, plane, extent=1.0, resolution=5)
    on = fv.project(W, plane, f)
    off = fv.project(W, other, f)
    for draw in (fv.plot_surface, fv.plots.plot_surface_3d):
        draw(surface, on)
        with refused("projection and surface live in different planes: project onto surface.plane"):
            draw(surface, off)
    with refused("projection and surface live in different planes"):
        fv.plot_surface(surface, reference={"vi": off})


@mark.parametrize(
    "values, barrier, diverged",
    [
        ([1, 2, NAN, 0, 1], NAN, 1),
        ([NAN, 1, 1, 1, 1], NAN, 1),
        ([1, 1, 1, 1, INF], NAN, 1),
        ([1, 2, INF, 0, 1], INF, 1),
        ([1, 0.5, 0, 0.5, 1], 0, 0),
    ],
)
def test_a_curve_with_a_hole_has_no_barrier(values, barrier, diverged):
    curve = fv.Curve(torch.linspace(0, 1, 5), tensor(values, dtype=torch.float32))
    assert curve.barrier == approx(barrier, nan_ok=True)
    assert curve.n_diverged == diverged


@mark.parametrize("value", [NAN, INF])
@mark.parametrize("score", SCORES)
def test_a_score_of_draws_without_a_value_is_nan_from_that_draw_on(score, value):
    bad = SCORES[score](prediction(bad=2, value=value))
    good = SCORES[score](prediction())
    assert_close(bad[:2], good[:2], equal_nan=True)
    assert isnan(bad[2:]).all()
    assert isnan(SCORES[score](prediction(bad=2, value=value), n_draws=3)).all()


def test_predictions_without_a_value_are_counted_and_scored_nan():
    p = prediction(bad=1)
    assert p.n_diverged == 1
    assert prediction().n_diverged == 0
    masked = prediction(bad=1, value=-INF)  # a class that is ruled out is no divergence
    assert masked.n_diverged == 0
    assert torch.isfinite(metrics.ece(masked)).all()


def test_pairs_with_a_draw_without_a_value_have_no_disagreement():
    values = metrics.disagreement(prediction(bad=1))
    good = metrics.disagreement(prediction())
    assert isnan(values[1]).all()
    assert isnan(values[:, 1]).all()
    others = torch.meshgrid(*[tensor([0, 2, 3])] * 2, indexing="ij")
    assert_close(values[others], good[others])


def test_a_reduced_precision_that_loses_values_states_no_small_error():
    class Quick(PointEvaluator):
        def __call__(self, coords):
            return torch.where(coords.abs().sum(1) > 0.6, torch.nan, super().__call__(coords))

    class Lossy(fv.Objective):
        """20 of 25 cells are NaN in the quick plan, none in the exact one."""

        def __call__(self, w):
            return w.square().sum()

        def over(
            self,
            origin,
            axes,
            *,
            exact=False,
            precision=None,
            plan=None,
            coords=None,
        ):
            return (PointEvaluator if exact else Quick)(self, origin, axes)

    plane = fv.Plane(zeros(3), torch.eye(3)[:2], "step")
    quick = fv.slice_plane(
        Lossy(),
        plane,
        extent=1.0,
        resolution=5,
        precision="bfloat16",
    )
    assert quick.n_diverged == 20
    assert quick.error == INF
    inside = fv.slice_plane(
        Lossy(),
        plane,
        extent=0.2,
        resolution=5,
        precision="bfloat16",
    )
    assert inside.n_diverged == 0
    assert inside.error == 0


@mark.parametrize(
    "what", ["accuracy", "error", "nll", lambda out, y: (out.argmax(-1) == y).float().mean()]
)
def test_a_quantity_of_outputs_without_a_value_is_nan_and_counted(what):
    """Along the first axis the weights and the bias of class 0 grow by 3e38: its logits are inf at
    a = 1."""
    f = fv.quantity(NET, DATA, what)
    axes = zeros(2, NET.dim)
    axes[0, 12:16] = 3e38
    axes[0, 24] = 3e38
    axes[1, 0] = 1.0
    plane = fv.Plane(NET.w, axes, "step")
    surface = fv.slice_plane(f, plane, extent=(0, 1), resolution=2)
    assert isnan(surface.values).tolist() == [[False, False], [True, True]]
    assert surface.n_diverged == 2
    found = isnan(f.many(torch.stack([NET.w, NET.w + axes[0]]))).tolist()
    assert found == [False, True]
