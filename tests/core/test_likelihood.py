"""A likelihood against torch's own losses and dense derivatives; every fit, score and curvature
takes it."""

import math

import scipy.stats
import torch
from cases import mlp, rng
from pytest import approx, fixture, mark, raises, warns
from torch import arange, as_tensor, einsum, full, isfinite, nn, stack, tensor
from torch.distributions import (
    AffineTransform,
    Bernoulli,
    Cauchy,
    Independent,
    Laplace,
    Normal,
    Poisson,
    StudentT,
    TransformedDistribution,
)
from torch.nn import Linear
from torch.nn import functional as F
from torch.testing import assert_close

import flatviz as fv
from flatviz.likelihood import as_likelihood
from flatviz.objectives.curvature import ggn, output_curvature

G = rng()
N = 12
C = 4
WEIGHT = tensor([0.5, 2.0, 1.0, 3.0])


def randn(*shape):
    return torch.randn(*shape, generator=G, dtype=torch.float64)


def classes(*shape, ignored=0.3):
    y = torch.randint(0, C, shape, generator=G)
    return y.masked_fill(torch.rand(shape, generator=G) < ignored, -100) if len(shape) > 1 else y


TOKENS = classes(N, 6)
PIXELS = classes(N, 3, 5)
MANY = torch.randint(0, 2, (N, C), generator=G)
own = fv.Likelihood(lambda o: Normal(o[..., 0], F.softplus(o[..., 1])), "mean and noise")
make = fv.Likelihood
CASES = {  # outputs, y, likelihood, torch's loss
    "categorical": (randn(N, C), classes(N), "categorical", F.cross_entropy),
    "weights": (
        randn(N, C),
        classes(N),
        make.categorical(weight=WEIGHT),
        lambda o, y: F.cross_entropy(o, y, WEIGHT.double()),
    ),
    "smoothed": (
        randn(N, C),
        classes(N),
        make.categorical(weight=WEIGHT, label_smoothing=0.2),
        lambda o, y: F.cross_entropy(o, y, WEIGHT.double(), label_smoothing=0.2),
    ),
    "a class that does not count": (
        randn(N, C),
        classes(N),
        make.categorical(ignore_index=2),
        lambda o, y: F.cross_entropy(o, y, ignore_index=2),
    ),
    "tokens": (
        randn(N, 6, C),
        TOKENS,
        "categorical",
        lambda o, y: F.cross_entropy(o.transpose(1, 2), y),
    ),
    "segmentation": (randn(N, C, 3, 5), PIXELS, "categorical", F.cross_entropy),
    "segmentation, weights": (
        randn(N, C, 3, 5),
        PIXELS,
        make.categorical(weight=WEIGHT, label_smoothing=0.1),
        lambda o, y: F.cross_entropy(o, y, WEIGHT.double(), label_smoothing=0.1),
    ),
    "signals": (randn(N, C, 6), TOKENS, make.categorical(dim=1), F.cross_entropy),
    "one logit": (
        randn(N, 1),
        MANY[:, 0],
        "bernoulli",
        lambda o, y: F.binary_cross_entropy_with_logits(o[:, 0], y.double()),
    ),
    "several labels": (
        randn(N, C),
        MANY,
        "bernoulli",
        lambda o, y: (
            F.binary_cross_entropy_with_logits(o, y.double(), reduction="none").sum(1).mean()
        ),
    ),
    "masks": (
        randn(N, 1, 3, 5),
        PIXELS.clamp(0, 1),
        "bernoulli",
        lambda o, y: F.binary_cross_entropy_with_logits(o[:, 0], y.double()),
    ),
    "noise": (
        randn(N, 3),
        randn(N, 3),
        0.3,
        lambda o, y: -Normal(o, 0.3).log_prob(y).sum(1).mean(),
    ),
    "mean and noise": (
        randn(N, 4),
        randn(N, 2),
        "gaussian",
        lambda o, y: -Normal(o[:, :2], F.softplus(o[:, 2:]) + 1e-6).log_prob(y).sum(1).mean(),
    ),
    "own": (
        randn(N, 2),
        randn(N),
        own,
        lambda o, y: F.gaussian_nll_loss(o[:, 0], y, F.softplus(o[:, 1]) ** 2, full=True),
    ),
    "counts": (
        randn(N, 1),
        arange(N),
        make(lambda o: Poisson(o[:, 0].exp())),
        lambda o, y: (
            F.poisson_nll_loss(o[:, 0], y.double(), full=False) + torch.lgamma(y + 1.0).mean()
        ),
    ),
    "Laplace's": (
        randn(N, 2),
        randn(N),
        make(lambda o: Laplace(o[:, 0], o[:, 1].exp())),
        lambda o, y: (
            o[:, 1] + (2 * torch.ones(())).log() + (y - o[:, 0]).abs() / o[:, 1].exp()
        ).mean(),
    ),
    "Student's t": (
        randn(N, 1),
        randn(N),
        make(lambda o: StudentT(4.0, o[:, 0])),
        lambda o, y: -StudentT(4.0, o[:, 0]).log_prob(y).mean(),
    ),
}
case = mark.parametrize("name", CASES)


@case
def test_the_loss_is_torchs_that_of_members_is_the_same_and_the_gradient_is_that_of_autograd(name):
    outputs, y, likelihood, loss = CASES[name]
    likelihood = as_likelihood(likelihood)
    at = outputs.clone().requires_grad_(True)
    assert_close(likelihood.nll(outputs, y), loss(outputs, y))
    rows = stack([outputs, outputs.flip(0)])
    assert_close(likelihood.nll_rows(rows, stack([y, y])), stack([loss(o, y) for o in rows]))
    (want,) = torch.autograd.grad(likelihood.nll(at, y, "sum"), at)
    assert_close(likelihood.gradient(outputs, y), want)


@case
def test_curvature_is_the_fisher_matrix_of_the_outputs(name):
    """Against E over y ~ p of s s^T by enumeration or draws, and, of classes, against the dense
    Hessian."""
    outputs, y, likelihood, loss = CASES[name]
    few = outputs[:3]
    labels = y[:3]
    u = randn(3, 5, *outputs.shape[1:])
    got = output_curvature(few, likelihood, labels)(u)
    if name in ("own", "mean and noise", "counts", "Laplace's", "Student's t"):
        p = as_likelihood(likelihood).of
        draws = p(few).sample((1500,)) if len(p(few).batch_shape) == 1 else None
        at = few.clone().requires_grad_(True)
        rows = stack([torch.autograd.grad(p(at).log_prob(v).sum(), at)[0] for v in draws])
        fisher = einsum("snc,snd->ncd", rows, rows) / len(rows)
        tolerance = dict(rtol=0.25, atol=0.25 * float(fisher.abs().max()))  # 1,500 draws
    else:
        flat = few.flatten(1)
        counted = float(as_likelihood(likelihood).count(labels))
        hessian = torch.func.hessian(lambda o: loss(o.reshape(few.shape), labels) * counted)(flat)
        fisher = stack([hessian[i, :, i] for i in range(3)])
        tolerance = dict(rtol=1e-6, atol=1e-8)
    want = einsum("ncd,nkd->nkc", fisher, u.flatten(2)).reshape(u.shape)
    assert_close(got, want, **tolerance)
    assert (einsum("nk...,nk...->nk", u.flatten(2), got.flatten(2)) >= -1e-9).all()


class Everything(nn.Module):
    """A net whose outputs have the shape of a case's: a linear map of the inputs."""

    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.head = Linear(3, max(1, torch.Size(shape).numel()))

    def forward(self, x):
        return 0.3 * self.head(x).view(len(x), *self.shape)


@fixture(scope="module")
def nets():
    torch.manual_seed(3)
    return {
        name: fv.Net.from_module(Everything(CASES[name][0].shape[1:]).double()) for name in CASES
    }


X = randn(N, 3)


@case
def test_every_verb_takes_it(name, nets):
    """The objective in batches, the Hessian, GGN against the dense one, a fit of each kind, a
    prediction whose NLL is the objective's."""
    _, y, likelihood, loss = CASES[name]
    net = nets[name]
    data = fv.Data(X, y)
    f = fv.nll(net, data, likelihood=likelihood)
    want = loss(net(net.w, X), y)
    assert_close(f(net.w), want)
    batches = [slice(i, i + 5) for i in (0, 5, 10)]
    assert_close(sum(f.score(net(net.w, X[part]), y[part]) for part in batches) / N, want)
    surface = fv.slice_plane(f, fv.plane_random(net, net.w, seed=0), resolution=3, extent=1.0)
    assert_close(surface.values[1, 1], want)
    dense = torch.func.hessian(lambda w: loss(net(w, X), y))(net.w)
    top = fv.top_eigenpairs(f, net.w, 1, iters=60)
    assert_close(top.values[0], torch.linalg.eigvalsh(dense)[-1], rtol=1e-4, atol=1e-6)
    v = randn(net.dim)
    assert_close(f.operator(net.w, "ggn")(v), ggn(f.problem, net.w) @ v / N)
    short = dict(seed=0, steps=3, lr=0.01, likelihood=likelihood)
    for fit, how in (
        (fv.fit_sgd, short),
        (fv.fit_ensemble, short | dict(members=2)),
        (fv.fit_laplace, short),
    ):
        assert isfinite(fit(net, data, **how).center).all()
    p = fv.predict(net, net.w[None], data, 1, seed=0, likelihood=likelihood)
    plain = "weights" not in name and "smoothed" not in name  # which are of the loss alone
    assert not plain or abs(float(p.scores["nll"][0]) - float(want)) < 1e-6
    assert not plain or fv.quantity(net, data, "nll", likelihood=likelihood)(net.w) == approx(
        float(want)
    )
    assert p.has_classes == ("accuracy" in p.scores)
    assert isfinite(fv.metrics.nll(p)).all()


@mark.parametrize(
    "name, exact", [("own", True), ("noise", True), ("Student's t", False), ("counts", False)]
)
def test_the_predictive_distribution_is_the_mixture_over_draws(name, exact):
    outputs, y, likelihood, _ = CASES[name]
    p = fv.Prediction(stack([outputs, outputs + 1.0]), y.double(), likelihood)
    drawn = p.sample(20_000, seed=1).double()
    assert drawn.shape[1:] == p.mean.shape
    assert torch.equal(p.sample(4, seed=1), p.sample(4, seed=1))
    assert_close(p.mean, drawn.mean(0), rtol=0.1, atol=0.1)
    for level in (0.05, 0.5, 0.95):
        share = (drawn <= p.quantile(level)).double().mean(0)
        # Counts have atoms
        assert (share - level).min() > -0.02
        assert not exact or (share - level).max() < 0.02


def test_moments_and_quantiles_that_torch_lacks_are_those_of_scipy():
    outputs = randn(3, 5, 2)
    y = randn(5)

    def affine(o):
        t = StudentT(5.0, o[..., 0], F.softplus(o[..., 1]))
        return TransformedDistribution(t, [AffineTransform(0.5, 2.0), AffineTransform(-1.0, 0.5)])

    p = fv.Prediction(outputs, y, fv.Likelihood(affine))
    scale = F.softplus(outputs[..., 1])
    theirs = scipy.stats.t(5, outputs[..., 0] - 0.75, scale)  # (t 2 + 0.5) / 2 - 1
    assert_close(p.means, as_tensor(theirs.mean()))
    variance = theirs.var().mean(0) + theirs.mean().var(0)
    assert_close(p.std, as_tensor(variance).sqrt())
    assert_close(p.below(y), as_tensor(theirs.cdf(y)))
    at = p.quantile(0.9)
    assert_close(as_tensor(theirs.cdf(at).mean(0)), full((5,), 0.9).double())
    error = p.mean - y
    assert p.scores["rmse"][-1] == approx(float(error.square().mean().sqrt()))
    heavy = fv.Prediction(
        outputs, y, fv.Likelihood(lambda o: Cauchy(o[..., 0], F.softplus(o[..., 1])))
    )
    assert set(heavy.scores) == {"nll"}
    assert isfinite(heavy.quantile(0.5)).all()
    with raises(ValueError, match=r"a mean needs .* got Cauchy\(.*read quantile\(0.5\)"):
        _ = heavy.mean


@mark.parametrize("df", [0.7, 1.0, 1.5, 3.0])
def test_moments_of_students_t_are_there_where_scipy_has_them(df):
    outputs = randn(2, 5, 1)
    y = randn(5, 1)
    t = fv.Likelihood(lambda o: Independent(StudentT(df, o, 0.6, validate_args=False), 1))
    p = fv.Prediction(outputs, y, t)
    assert torch.isfinite(p.scores["nll"]).all()
    if df <= 1:  # where scipy says inf or NaN
        assert set(p.scores) == {"nll"}
        for moment in ("mean", "std"):
            with raises(ValueError, match=r"of which 10 of 10 have no .*quantile\(0.5\)"):
                getattr(p, moment)
        return
    theirs = scipy.stats.t(df, outputs, 0.6)
    assert_close(p.mean, torch.as_tensor(theirs.mean()).mean(0))
    variance = torch.as_tensor(theirs.var().mean(0) + theirs.mean().var(0))
    assert_close(p.std, variance.sqrt())
    assert set(p.scores) == {"nll", "rmse"}
    lost = p.changed(outputs=outputs.where(torch.tensor([False, True])[:, None, None], math.nan))
    assert lost.means[0].isnan().all() and not lost.means[1].isnan().any()


def test_a_noise_for_each_output_is_two_regressions_in_closed_form():
    x = randn(80, 3)
    B = randn(3, 2)
    s = tensor([0.1, 2.0], dtype=torch.float64)
    delta = 1.5
    y = x @ B + s * randn(80, 2)
    A = [x.T @ x / sigma**2 + delta * torch.eye(3) for sigma in s]
    modes = [torch.linalg.solve(A[j], x.T @ y[:, j] / s[j] ** 2) for j in (0, 1)]
    variance = torch.cat([torch.linalg.inv(a).diagonal() for a in A])
    net = fv.Net.from_module(Linear(3, 2, bias=False).double()).at(torch.cat(modes))
    data = fv.Data(x, y)
    for noise in (s, s.tolist(), fv.Likelihood.gaussian(s)):
        f = fv.nll(net, data, likelihood=noise)
        want = -Normal(net(net.w, x), s).log_prob(y).sum(1).mean()
        assert_close(f(net.w).detach(), want.detach(), rtol=1e-12, atol=0)
        laplace = dict(seed=0, steps=0, prior_precision=delta, likelihood=noise)
        q = fv.fit_laplace(net, data, structure="full", **laplace)
        assert_close(q.variance, variance, rtol=1e-6, atol=0)
    with raises(ValueError, match="'kron' needs .* one noise standard deviation"):
        fv.fit_laplace(net, data, structure="kron", **laplace)
    with raises(ValueError, match="weight_decay acts on the training alone"):
        fv.fit_laplace(net, data, structure="full", weight_decay=delta / 80, **laplace)


def test_a_network_of_mean_and_noise_learns_at_the_default_rate_and_one_that_does_not_is_warned_of(
    recwarn,
):
    x = torch.linspace(-1, 1, 60)[:, None]
    y = x + 0.1 * (1 + x) * torch.randn(60, 1, generator=rng())
    data = fv.Data(x, y)
    constant = 0.5 * math.log(2 * math.pi * math.e * float(y.var(correction=0)))
    torch.manual_seed(0)
    module = mlp(1, 16, 2)
    outputs = torch.zeros(1, 2)
    found = as_likelihood("gaussian").of_constant(y, outputs)
    assert found == approx(constant, rel=1e-5)
    net = fv.pretrain(module, data, seed=0, likelihood="gaussian")
    # the noise itself has -1.2; without a bound on gradients this ends at 4 to 28
    assert fv.nll(net, data, likelihood="gaussian")(net.w) < constant - 1
    assert not recwarn.list
    with warns(UserWarning, match="above the 0.9.* of the best constant outputs"):
        fv.pretrain(module, data, seed=0, likelihood="gaussian", lr=5.0)


LOGITS = torch.randn(3, 20, 4, generator=G)


def test_outputs_of_another_library_have_scores_and_save(tmp_path):
    p = fv.Prediction(LOGITS, arange(20) % 4)
    assert {"accuracy", "nll", "ece", "brier"} <= p.scores.keys()
    assert p.bins.shape[0] == 3
    assert_close(p.scores["nll"], fv.metrics.nll(p))
    for likelihood in (
        "bernoulli",
        make.bernoulli(),
        make.gaussian(0.2),
        make.categorical(weight=WEIGHT),
    ):
        one = fv.Prediction(
            LOGITS, (LOGITS[0] > 0).long() if "bern" in str(likelihood) else None, likelihood
        )
        back = fv.load(fv.save(one, tmp_path / "p.pt"))
        assert repr(back.likelihood) in (repr(likelihood), "'bernoulli'")
    with raises(TypeError, match="cannot save a Likelihood"):
        fv.save(fv.Prediction(LOGITS, None, own), tmp_path / "own.pt")


REGRESSION = fv.Prediction(LOGITS, LOGITS[0], 0.5)
WRONG = {
    "a picture of a regression": (
        lambda: fv.plots.plot_reliability(REGRESSION),
        ValueError,
        r"bins, got none: use plot_calibration",
    ),
    "misspelt": (
        lambda: fv.Prediction(LOGITS, likelihood="categoricl"),
        ValueError,
        "got 'categoricl': did you mean 'categorical'?",
    ),
    "NaN noise": (
        lambda: fv.Prediction(LOGITS, likelihood=float("nan")),
        ValueError,
        "likelihood must be 'categorical', .* got nan",
    ),
    "no noise": (
        lambda: fv.Prediction(LOGITS, likelihood=0),
        ValueError,
        "a noise standard deviation > 0 or a fv.Likelihood, got 0",
    ),
    "no distribution": (
        lambda: mean_check(fv.Likelihood(lambda o: o)),
        TypeError,
        "return a torch.distributions distribution, got Tensor",
    ),
    "another shape": (
        lambda: mean_check(fv.Likelihood(lambda o: Normal(o, 1.0))),
        ValueError,
        r"a distribution of y, \('N',\), got one",
    ),
    "outside": (
        lambda: mean_check(fv.Likelihood(lambda o: Bernoulli(logits=o[:, 0])), full((N,), 2.5)),
        ValueError,
        "y must be what Bernoulli.* is a distribution of",
    ),
    "class weights": (
        lambda: mean_check(make.categorical(weight=torch.ones(3)), classes(N)),
        ValueError,
        r"weight must have shape \(4,\)",
    ),
    "probabilities": (
        lambda: check(LOGITS[0].softmax(-1), arange(20) % 4),
        ValueError,
        "must return logits, got probabilities",
    ),
    "all ignored": (
        lambda: check(randn(2, 6, C), full((2, 6), -100)),
        ValueError,
        "labels must count somewhere",
    ),
    "one output of two": (
        lambda: fv.nll(
            fv.Net.from_module(Linear(3, 1)),
            fv.Data(torch.randn(4, 3), torch.randn(4, 1)),
            likelihood="gaussian",
        ),
        ValueError,
        r"needs two outputs a target, .* got outputs \('N', 1\)",
    ),
    "a noise of another width": (
        lambda: check(randn(N, C), randn(N, C), [0.1, 2.0]),
        ValueError,
        "for each of the 4 outputs, got 2",
    ),
    "a noise below 0": (
        lambda: as_likelihood([0.1, -2.0]),
        ValueError,
        "likelihood must be standard deviations > 0",
    ),
    "no function": (
        lambda: fv.Likelihood("categorical"),
        TypeError,
        "of must be a function from outputs",
    ),
}


def check(outputs, y, likelihood="categorical"):
    return as_likelihood(likelihood).check(y, outputs)


def mean_check(likelihood, y=None):
    return check(randn(N, C), randn(N) if y is None else y, likelihood)


@mark.parametrize("call, kind, text", WRONG.values(), ids=WRONG)
@mark.parametrize(
    "checked", [True, False], ids=["", "after torch.compile"]
)  # which turns off what distributions check
def test_a_wrong_likelihood_is_one_clear_error(call, kind, text, checked, monkeypatch):
    monkeypatch.setattr(torch.distributions.Distribution, "_validate_args", checked)
    with raises(kind, match=text):
        call()


def test_the_accuracy_is_that_of_the_prediction():
    net = fv.Net.from_module(Linear(C, C).double())
    data = fv.Data(randn(N, C), classes(N))
    weighted = make.categorical(weight=WEIGHT, label_smoothing=0.2, ignore_index=1)
    for likelihood, given in ((weighted, data), ("bernoulli", fv.Data(data.x, MANY))):
        scores = fv.predict(net, net.w[None], given, 1, seed=0, likelihood=likelihood).scores
        right = fv.quantity(net, given, "accuracy", likelihood=likelihood)(net.w)
        assert right == approx(float(scores["accuracy"][0]))
    with raises(ValueError, match="'error' needs a likelihood of classes, got 0.5"):
        fv.quantity(net, fv.Data(data.x, randn(N, C)), "error", likelihood=0.5)


def test_weights_in_half_precision_on_another_net_are_refused_by_objectives_and_predictions():
    net = fv.Net.from_module(Linear(3, 2))
    data = fv.Data(torch.zeros(2, 3), tensor([0, 1]))
    f = fv.nll(net, data)
    w = net.w.half()
    for call in (
        lambda: f(w),
        lambda: f.many(w[None]),
        lambda: fv.top_eigenpairs(f, w),
        lambda: fv.slice_line(f, w, w + 1),
        lambda: fv.predict(net, w[None], data, 1, seed=0),
    ):
        with raises(
            TypeError, match="weights must be in torch.float32 as the net, got torch.float16"
        ):
            call()


class Unsaid(Normal):
    @property
    def support(self):
        raise NotImplementedError


def test_a_distribution_that_does_not_say_its_support_or_is_not_to_check_it_is_taken():
    y = randn(N)
    soft = full((N,), 0.3)
    assert mean_check(fv.Likelihood(lambda o: Unsaid(o[:, 0], 1.0, validate_args=False)), y) is y
    assert (
        mean_check(fv.Likelihood(lambda o: Bernoulli(logits=o[:, 0], validate_args=False)), soft)
        is soft
    )


@mark.parametrize("smoothing", [0.0, 0.2])
def test_the_best_constant_of_places_is_that_of_a_search(smoothing):
    """One distribution for all places, with weights and places that do not count, by L-BFGS."""
    y = classes(7, 5)
    p = fv.Likelihood.categorical(weight=WEIGHT, label_smoothing=smoothing)
    logits = torch.zeros(C, dtype=torch.float64, requires_grad=True)
    search = torch.optim.LBFGS([logits], max_iter=200, line_search_fn="strong_wolfe")

    def loss():
        search.zero_grad()
        value = F.cross_entropy(
            logits.expand(7 * 5, -1), y.flatten(), WEIGHT.double(), label_smoothing=smoothing
        )
        value.backward()
        return value

    search.step(loss)
    start = torch.zeros(1, 5, C, dtype=torch.float64)
    assert p.of_constant(y, start) == approx(float(loss()), abs=1e-8)
    best = p.best_constant(y, start)
    assert p.nll(best.expand(7, -1, -1), y) == approx(float(loss()), abs=1e-8)
    assert_close(best[0, 3], logits.detach().log_softmax(0), atol=1e-4, rtol=0)


def test_a_fit_warns_of_examples_without_a_label_that_counts():
    net = fv.Net.from_module(torch.nn.Linear(2, 3))
    data = fv.Data(torch.ones(6, 2), torch.tensor([0, 1, 2, 3, 3, 0]))
    with warns(UserWarning, match="2 of 6 examples have no label that counts"):
        fv.fit_laplace(
            net, data, seed=0, steps=1, likelihood=fv.Likelihood.categorical(ignore_index=3)
        )
