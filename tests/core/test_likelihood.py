"""A likelihood against torch's own losses and dense derivatives; every fit, score and curvature
takes it."""

import math
from functools import partial

import scipy.stats
import torch
from cases import assert_exact, fitted_by, mlp, net_of, normals, refused, rng, warned
from pytest import approx, mark, raises
from torch import arange, as_tensor, float64, full, func, isfinite, linalg, nn, stack, tensor, zeros
from torch.distributions import (
    AffineTransform,
    Bernoulli,
    Distribution,
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

G = rng()
N = 12
C = 4
WEIGHT = tensor([0.5, 2.0, 1.0, 3.0], dtype=float64)
make = fv.Likelihood


randn = partial(normals, source=G)


def labels(*shape, classes=C):
    return torch.randint(0, classes, shape, generator=G)


def places(*shape):
    """Labels of which three in ten do not count."""
    off = torch.rand(shape, generator=G) < 0.3
    return labels(*shape).masked_fill(off, -100)


TOKENS = places(N, 6)
PIXELS = places(N, 3, 5)
MANY = labels(N, C, classes=2)
own = make(lambda o: Normal(o[..., 0], F.softplus(o[..., 1])), "mean and noise")
counts = make(lambda o: Poisson(o[:, 0].exp()))
heavy = make(lambda o: StudentT(4.0, o[:, 0]))


def binary(o, y):
    return F.binary_cross_entropy_with_logits(o, y.double(), reduction="none")


def smoothed(o, y):
    return F.cross_entropy(o, y, WEIGHT, label_smoothing=0.2)


def two_outputs(o):
    return Normal(o[:, :2], F.softplus(o[:, 2:]) + 1e-6)


def of_tokens(o, y):
    return F.cross_entropy(o.transpose(1, 2), y)


CATEGORICAL = {  # outputs, y, likelihood, torch's loss
    "categorical": (randn(N, C), labels(N), "categorical", F.cross_entropy),
    "weights": (
        randn(N, C),
        labels(N),
        make.categorical(weight=WEIGHT, ignore_index=2),
        lambda o, y: F.cross_entropy(o, y, WEIGHT, ignore_index=2),
    ),
    "smoothed": (
        randn(N, C, 3, 5),
        PIXELS,
        make.categorical(weight=WEIGHT, label_smoothing=0.2),
        smoothed,
    ),
    "tokens": (randn(N, 6, C), TOKENS, "categorical", of_tokens),
    "signals": (randn(N, C, 6), TOKENS, make.categorical(dim=1), F.cross_entropy),
}
CONSTANT = {  # whose curvature does not depend on y either: the Hessian is the Fisher matrix
    "one logit": (
        randn(N, 1),
        MANY[:, 0],
        "bernoulli",
        lambda o, y: binary(o[:, 0], y).mean(),
    ),
    "several labels": (
        randn(N, C),
        MANY,
        "bernoulli",
        lambda o, y: binary(o, y).sum(1).mean(),
    ),
    "masks": (
        randn(N, 1, 3, 5),
        PIXELS.clamp(0, 1),
        "bernoulli",
        lambda o, y: binary(o[:, 0], y).mean(),
    ),
    "noise": (
        randn(N, 3),
        randn(N, 3),
        0.3,
        lambda o, y: -Normal(o, 0.3).log_prob(y).sum(1).mean(),
    ),
}
DRAWN = {  # whose distribution is at the end: its draws give the Fisher matrix
    "mean and noise": (
        randn(N, 4),
        randn(N, 2),
        "gaussian",
        lambda o, y: -two_outputs(o).log_prob(y).sum(1).mean(),
        two_outputs,
    ),
    "own": (
        randn(N, 2),
        randn(N),
        own,
        lambda o, y: F.gaussian_nll_loss(o[:, 0], y, F.softplus(o[:, 1]) ** 2, full=True),
        own.of,
    ),
    "counts": (
        randn(N, 1),
        arange(N).double(),
        counts,
        lambda o, y: -counts.of(o).log_prob(y).mean(),
        counts.of,
    ),
    "Student's t": (
        randn(N, 1),
        randn(N),
        heavy,
        lambda o, y: -heavy.of(o).log_prob(y).mean(),
        heavy.of,
    ),
}
CASES = CATEGORICAL | CONSTANT | DRAWN
case = mark.parametrize("name", CASES)


class Table(nn.Module):
    """The outputs of example i are row i of the weights."""

    def __init__(self, outputs):
        super().__init__()
        self.rows = nn.Parameter(outputs.flatten(1))
        self.shape = outputs.shape[1:]

    def forward(self, i):
        return F.embedding(i, self.rows).view(len(i), *self.shape)


def of_outputs(outputs, y, likelihood="categorical"):
    """The objective whose point is the outputs themselves."""
    net = net_of(Table(outputs), example=arange(2))
    data = fv.Data(arange(len(outputs)), y)
    return fv.nll(net, data, likelihood=likelihood)


@case
def test_the_loss_and_its_gradient_are_those_of_torch(name):
    outputs, y, likelihood, loss, *_ = CASES[name]
    f = of_outputs(outputs, y, likelihood)
    value, gradient = f.value_and_grad(f.net.w)
    wanted = func.grad_and_value(loss)(outputs, y)
    assert_close((gradient.view(outputs.shape), value), wanted)


@mark.parametrize("name", CATEGORICAL | CONSTANT)
def test_curvature_in_the_outputs_is_the_dense_hessian(name):
    outputs, y, likelihood, loss = CASES[name]
    f = of_outputs(outputs, y, likelihood)
    v = randn(f.dim)
    hessian = func.hessian(loss)(outputs, y).reshape(f.dim, f.dim)
    found = f.operator(f.net.w, "ggn")(v)
    assert_close(found, hessian @ v, rtol=1e-6, atol=1e-8)


@mark.parametrize("name", DRAWN)
def test_curvature_in_the_outputs_is_the_mean_square_of_scores(name):
    outputs, y, likelihood, _, of = DRAWN[name]
    f = of_outputs(outputs, y, likelihood)
    drawn = of(outputs).sample((1500,))
    log_p = lambda o, y: of(o).log_prob(y).sum()
    score = func.vmap(func.grad(log_p), in_dims=(None, 0))
    square = score(outputs, drawn).square().mean(0).flatten() / N
    product = f.operator(f.net.w, "ggn")
    unit_vectors = torch.eye(f.dim).double()
    matrix = stack([product(e) for e in unit_vectors])
    near = 0.25 * float(square.max())  # with 1,500 draws
    assert_close(matrix.diagonal(), square, rtol=0.25, atol=near)


class Everything(nn.Module):
    """Outputs of a case's shape: a linear map of the inputs."""

    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.head = Linear(3, torch.Size(shape).numel())

    def forward(self, x):
        return 0.3 * self.head(x).view(len(x), *self.shape)


X = randn(N, 3)


@case
def test_every_verb_takes_it(name):
    outputs, y, likelihood, loss, *_ = CASES[name]
    module = Everything(outputs.shape[1:]).double()
    net = net_of(module)
    data = fv.Data(X, y)
    f = fv.nll(net, data, likelihood=likelihood)
    plain = lambda w: loss(net(w, X), y)
    w = net.w
    want = plain(w)
    plane = fv.plane_random(net, w, seed=0)
    surface = fv.slice_plane(f, plane, resolution=3, extent=1.0)
    assert_close(surface.values[1, 1], want)
    top = fv.top_eigenpairs(f, w, 1, iters=60)
    dense = func.hessian(plain)(w)
    wanted = linalg.eigvalsh(dense)[-1]
    assert_close(top.values[0], wanted, rtol=1e-4, atol=1e-6)
    together = fv.training.training_loss(net, data, likelihood, members=2)
    values, _ = together(stack([w, 2 * w]), None)
    assert_close(values, stack([want, plain(2 * w)]))
    short = dict(seed=0, steps=3, lr=0.01, likelihood=likelihood)
    for fit in (fitted_by(fv.SGD), fitted_by(fv.Laplace)):
        q = fit(net, data, **short)
        assert isfinite(q.center).all()
    p = fv.predict(net, w[None], data, 1, seed=0, likelihood=likelihood)
    assert p.has_classes == ("accuracy" in p.scores)
    if name not in ("weights", "smoothed"):  # which are of the loss alone
        assert_close(p.scores["nll"][0], want)
        score = fv.quantity(net, data, "nll", likelihood=likelihood)
        found = score(w)
        assert_close(found, want)


@mark.parametrize("name", ["own", "noise", "Student's t", "counts"])
def test_the_predictive_distribution_is_the_mixture_over_draws(name):
    outputs, y, likelihood, *_ = CASES[name]
    p = fv.Prediction(stack([outputs, outputs + 1.0]), y, likelihood)
    drawn = p.sample(20_000, seed=1).double()
    assert_close(p.mean, drawn.mean(0), rtol=0.1, atol=0.1)
    for level in (0.05, 0.5, 0.95):
        share = (drawn <= p.quantile(level)).double().mean(0)
        assert (share - level).min() > -0.02
        if name in ("own", "noise"):  # counts have atoms, Student's t few draws far off
            assert (share - level).max() < 0.02


def moments_of(theirs):
    """Mean and standard deviation of the mixture of scipy's distributions."""
    means = theirs.mean()
    variance = theirs.var().mean(0) + means.var(0)
    return as_tensor(means.mean(0)), as_tensor(variance).sqrt()


def test_moments_and_quantiles_that_torch_lacks_are_those_of_scipy():
    outputs = randn(3, 5, 2)
    y = randn(5)

    def affine(o):
        t = StudentT(5.0, o[..., 0], F.softplus(o[..., 1]))
        maps = [AffineTransform(0.5, 2.0), AffineTransform(-1.0, 0.5)]
        return TransformedDistribution(t, maps)

    p = fv.Prediction(outputs, y, make(affine))
    scale = F.softplus(outputs[..., 1])
    theirs = scipy.stats.t(5, outputs[..., 0] - 0.75, scale)  # (t 2 + 0.5) / 2 - 1
    assert_close((p.mean, p.std), moments_of(theirs))
    assert_close(p.below(y), as_tensor(theirs.cdf(y)))
    shares = theirs.cdf(p.quantile(0.9)).mean(0)
    assert_close(as_tensor(shares), full((5,), 0.9).double())
    error = (p.mean - y).square().mean().sqrt()
    assert_close(p.scores["rmse"][-1], error)


@mark.parametrize("df", [0.7, 1.0, 1.5, 3.0])
def test_moments_of_students_t_are_there_where_scipy_has_them(df):
    outputs = randn(2, 5, 1)
    of = lambda o: Independent(StudentT(df, o, 0.6, validate_args=False), 1)
    p = fv.Prediction(outputs, randn(5, 1), make(of))
    assert isfinite(p.quantile(0.5)).all()
    if df > 1:
        want = moments_of(scipy.stats.t(df, outputs, 0.6))
        assert_close((p.mean, p.std), want)
        assert set(p.scores) == {"nll", "rmse"}
        return
    assert set(p.scores) == {"nll"}
    with refused(r"got .*quantile\(0.5\)"):
        _ = p.std


def test_a_noise_for_each_output_is_two_regressions_in_closed_form():
    x = randn(80, 3)
    s = tensor([0.1, 2.0], dtype=float64)
    delta = 1.5
    y = x @ randn(3, 2) + s * randn(80, 2)
    inverse_variance = (s**-2)[:, None, None]
    precisions = x.T @ x * inverse_variance + delta * torch.eye(3)
    pulls = (x.T @ y / s**2).T
    modes = linalg.solve(precisions, pulls)
    covariances = linalg.inv(precisions)
    variance = covariances.diagonal(dim1=1, dim2=2).flatten()
    layer = Linear(3, 2, bias=False).double()
    net = net_of(layer).at(modes.flatten())
    data = fv.Data(x, y)
    f = fv.nll(net, data, likelihood=s.tolist())
    log_p = Normal(net(net.w, x), s).log_prob(y).sum(1)
    want = -log_p.mean()
    found = f(net.w).detach()
    assert_exact(found, want.detach())
    how = dict(seed=0, steps=0, likelihood=s)
    fields = dict(prior_precision=delta)
    q = fv.fit(net, data, fv.Laplace(structure="full", **fields), **how)
    assert_close(q.variance, variance, rtol=1e-6, atol=0)
    with refused("'kron' needs .* one noise standard deviation"):
        fv.fit(net, data, fv.Laplace(structure="kron", **fields), **how)
    with refused("weight_decay acts on the training alone"):
        fv.fit(net, data, fv.Laplace(weight_decay=delta / 80, **fields), **how)


def test_a_network_of_mean_and_noise_learns_at_the_default_rate_and_one_that_does_not_is_warned_of(
    recwarn,
):
    x = torch.linspace(-1, 1, 60)[:, None]
    noise = torch.randn(60, 1, generator=rng())
    y = x + 0.1 * (1 + x) * noise
    data = fv.Data(x, y)
    constant = float(Normal(0, y.std(correction=0)).entropy())
    module = mlp(1, 16, 2)
    net = fv.pretrain(module, data, seed=0, likelihood="gaussian")
    # the noise itself has -1.2; without a bound on gradients this ends at 4 to 28
    f = fv.nll(net, data, likelihood="gaussian")
    found = f(net.w)
    assert found < constant - 1
    assert not recwarn.list
    with warned(f"above the {constant:.3g} of the best constant outputs"):
        fv.pretrain(module, data, seed=0, likelihood="gaussian", lr=5.0)


LOGITS = torch.randn(3, 20, 4, generator=G)


def test_outputs_of_another_library_have_scores_and_save(tmp_path):
    p = fv.Prediction(LOGITS, arange(20) % 4)
    assert {"accuracy", "nll", "ece", "brier"} <= p.scores.keys()
    assert_close(p.scores["nll"], fv.metrics.nll(p))
    weighted = make.categorical(weight=WEIGHT)
    for likelihood in (make.bernoulli(), make.gaussian(0.2), weighted):
        one = fv.Prediction(LOGITS, None, likelihood)
        back = fv.load(fv.save(one, tmp_path / "p.pt"))
        assert str(back.likelihood) in str(likelihood)
    with refused("cannot save a Likelihood", TypeError):
        prediction = fv.Prediction(LOGITS, None, own)
        fv.save(prediction, tmp_path / "own.pt")


OUTPUTS = randn(N, C)
WRONG = {  # outputs, y, likelihood: the error
    "misspelt": (OUTPUTS, labels(N), "categoricl", "'categoricl': did you mean 'categorical'?"),
    "no noise": (OUTPUTS, OUTPUTS, 0, "a noise standard deviation > 0 or a fv.Likelihood, got 0"),
    "no distribution": (
        OUTPUTS,
        randn(N),
        make(lambda o: o),
        "return a torch.distributions distribution, got Tensor",
    ),
    "another shape": (
        OUTPUTS,
        randn(N),
        make(lambda o: Normal(o, 1.0)),
        r"a distribution of y, \('N',\), got one",
    ),
    "outside": (
        OUTPUTS,
        full((N,), 2.5),
        make(lambda o: Bernoulli(logits=o[:, 0])),
        "y must be what Bernoulli.* is a distribution of",
    ),
    "class weights": (
        OUTPUTS,
        labels(N),
        make.categorical(weight=torch.ones(3)),
        r"weight must have shape \(4,\)",
    ),
    "all ignored": (
        randn(2, 6, C),
        full((2, 6), -100),
        "categorical",
        "labels must count somewhere",
    ),
    "one output of two": (
        randn(N, 1),
        randn(N, 1),
        "gaussian",
        r"needs two outputs a target, .* got outputs \('N', 1\)",
    ),
    "noises": (OUTPUTS, OUTPUTS, [0.1, 2.0], "for each of the 4 outputs, got 2"),
}


@mark.parametrize("name", WRONG)
@mark.parametrize("checked", [True, False])  # torch.compile turns off what distributions check
def test_a_wrong_likelihood_is_one_clear_error(name, checked, monkeypatch):
    monkeypatch.setattr(Distribution, "_validate_args", checked)
    *given, text = WRONG[name]
    with raises((ValueError, TypeError), match=text):
        of_outputs(*given)


class WithoutSupport(Normal):
    """A user's distribution that does not say which values it takes."""

    @property
    def support(self):
        raise NotImplementedError


@mark.parametrize("checked", [False, None])
def test_a_distribution_without_a_support_has_the_loss_of_its_density(checked):
    net = net_of(mlp(2, 1))
    x = torch.randn(N, 2, generator=rng())
    y = torch.randn(N, generator=rng(1))

    def loss(distribution):
        of = lambda o: distribution(o[:, 0], 1.0, validate_args=checked)
        f = fv.nll(net, fv.Data(x, y), likelihood=make(of))
        return f(net.w)

    assert_close(loss(WithoutSupport), loss(Normal), rtol=0, atol=0)


def test_a_picture_of_classes_refuses_a_regression():
    with refused(r"bins, got none: use plot_calibration"):
        p = fv.Prediction(LOGITS, LOGITS[0], 0.5)
        fv.plots.plot_reliability(p)


def test_the_accuracy_is_that_of_the_prediction():
    net = net_of(Linear(C, C).double())
    weighted = make.categorical(weight=WEIGHT, label_smoothing=0.2, ignore_index=1)
    for likelihood, y in ((weighted, labels(N)), ("bernoulli", MANY)):
        data = fv.Data(OUTPUTS, y)
        p = fv.predict(net, net.w[None], data, 1, seed=0, likelihood=likelihood)
        right = fv.quantity(net, data, "accuracy", likelihood=likelihood)
        assert right(net.w) == approx(float(p.scores["accuracy"][0]))
    regression = fv.Data(OUTPUTS, OUTPUTS)
    with refused("'error' needs a likelihood of classes, got 0.5"):
        fv.quantity(net, regression, "error", likelihood=0.5)


@mark.parametrize("smoothing", [0.0, 0.2])
def test_the_best_constant_of_places_is_that_of_a_search(smoothing):
    """One distribution for all places, with weights and places that do not count, by L-BFGS."""
    y = places(7, 5)
    p = make.categorical(weight=WEIGHT, label_smoothing=smoothing)
    logits = zeros(C, dtype=float64, requires_grad=True)
    search = torch.optim.LBFGS([logits], max_iter=200, line_search_fn="strong_wolfe")

    def loss():
        search.zero_grad()
        rows = logits.expand(7 * 5, -1)
        value = F.cross_entropy(rows, y.flatten(), WEIGHT, label_smoothing=smoothing)
        value.backward()
        return value

    search.step(loss)
    start = zeros(1, 5, C, dtype=float64)
    assert p.of_constant(y, start) == approx(float(loss()), abs=1e-8)
    best = p.best_constant(y, start)
    want = logits.detach().log_softmax(0)
    assert_close(best[0, 3], want, atol=5e-4, rtol=0)  # where the searches stop


def test_the_best_constant_is_the_same_in_parts_of_the_examples(monkeypatch):
    y = normals(9, 2).double()
    likelihoods = (
        make.gaussian(0.5),
        fv.Likelihood(lambda o: Independent(Laplace(o, 0.7), 1)),
        make.gaussian(),
    )
    for p in likelihoods:
        start = zeros(1, 4 if p is likelihoods[-1] else 2, dtype=float64)
        whole = p.of_constant(y, start)
        with monkeypatch.context() as few:
            few.setattr("flatviz.likelihood.base.AT_ONCE", 5)
            assert p.of_constant(y, start) == approx(whole, rel=1e-6)


def test_a_distribution_with_constants_in_float32_is_trained_in_float32():
    mixing = normals(2, 2).float()
    p = fv.Likelihood(lambda o: Independent(Normal(o @ mixing, torch.ones(2)), 1))
    net = net_of(Linear(3, 2))
    data = fv.Data(normals(6, 3).float(), normals(6, 2).float())
    assert fv.fit(net, data, fv.SGD(), seed=0, steps=3, likelihood=p).W.isfinite().all()


def test_a_fit_warns_of_examples_without_a_label_that_counts():
    net = net_of(Linear(2, 3))
    x = torch.ones(6, 2)
    y = tensor([0, 1, 2, 3, 3, 0])
    data = fv.Data(x, y)
    likelihood = make.categorical(ignore_index=3)
    with warned("2 of 6 examples have no label that counts"):
        fv.fit(net, data, fv.Laplace(), seed=0, steps=1, likelihood=likelihood)


def test_a_draw_that_diverged_has_no_score_and_the_others_have_theirs():
    """Of distributions that refuse outputs which are not finite."""
    x = normals(6, 3).float()
    labels = (x > 0).long()
    users = fv.Likelihood(lambda o: torch.distributions.Categorical(logits=o))
    for y, likelihood in ((labels.float(), "bernoulli"), (labels[:, 0], users)):
        outputs = torch.stack([x, x, x])
        outputs[1, 2] = math.nan
        p = fv.Prediction(outputs, y, likelihood)
        assert p.scores["nll"].isfinite().tolist() == [True, False, False]
        assert p.n_diverged == (3 if likelihood == "bernoulli" else 1)
    regression = fv.Prediction(outputs, x, 1.0)
    with refused("needs finite outputs, got NaN or inf in 1 of 3 draws"):
        fv.metrics.crps(regression, n_draws=1)


def test_a_class_that_a_users_network_rules_out_has_no_probability():
    users = fv.Likelihood(lambda o: torch.distributions.Categorical(logits=o))
    outputs = torch.zeros(2, 5, 3)
    outputs[..., 2] = -math.inf
    p = fv.Prediction(outputs, arange(5) % 2, users)
    assert p.n_diverged == 0
    assert_close(p.scores["nll"], torch.full((2,), math.log(2)))


class TestSoft:
    """Labels that are probabilities of classes: mixup, annotators, a teacher."""

    likelihood = fv.Likelihood.soft()
    g = torch.Generator().manual_seed(0)
    x = torch.randn(30, 4, generator=g)
    y = torch.randn(30, 3, generator=g).softmax(1)
    net = fv.Net.from_module(torch.nn.Linear(4, 3))

    def test_its_loss_and_derivatives_are_torchs(self):
        f = fv.nll(self.net, fv.Data(self.x, self.y), likelihood=self.likelihood)
        w = self.net.w.clone().requires_grad_(True)

        def of_torch(w):
            return torch.nn.functional.cross_entropy(self.net(w, self.x), self.y)

        torch.testing.assert_close(f(w), of_torch(w))
        (gradient,) = torch.autograd.grad(f(w), w)
        (expected,) = torch.autograd.grad(of_torch(w), w)
        torch.testing.assert_close(gradient, expected)
        hessian = torch.func.hessian(of_torch)(self.net.w)
        v = torch.randn(self.net.dim, generator=self.g)
        torch.testing.assert_close(f.hvp(self.net.w, v), hessian @ v, rtol=1e-4, atol=1e-6)

    def test_a_fit_reaches_the_teacher(self):
        teacher = self.net(3 * self.net.w, self.x).softmax(1).detach()
        data = fv.Data(self.x, teacher)
        student = fv.Net.from_module(torch.nn.Linear(4, 3))
        fitted = fv.fit(
            student, data, fv.SGD(weight_decay=0.0), seed=0, steps=1500, likelihood=self.likelihood
        )
        probs = student(fitted.center, self.x).softmax(1)
        assert float((probs - teacher).abs().max()) < 0.02

    def test_laplace_and_scores_take_it(self):
        data = fv.Data(self.x, self.y)
        q = fv.fit(self.net, data, fv.Laplace(), seed=0, steps=0, likelihood=self.likelihood)
        scored = fv.predict(self.net, q, data, 4, seed=0, likelihood=self.likelihood)
        hard = fv.Prediction(scored.outputs, self.y.argmax(1))
        for name, value in hard.scores.items():
            torch.testing.assert_close(scored.scores[name], value)

    def test_class_numbers_are_its_labels_too(self):
        y = self.y.argmax(1)
        f = fv.nll(self.net, fv.Data(self.x, y), likelihood=self.likelihood)
        hard = fv.nll(self.net, fv.Data(self.x, y))
        torch.testing.assert_close(f(self.net.w), hard(self.net.w))

    def test_what_is_no_probability_is_refused_and_categorical_names_the_road(self):
        for y, text in ((2 * self.y, "rows >= 0 that sum to 1"), (self.y[:, :2], "beside logits")):
            with refused(text):
                fv.nll(self.net, fv.Data(self.x, y), likelihood=self.likelihood)
        with refused(r"fv.Likelihood.soft\(\) for probabilities", TypeError):
            fv.nll(self.net, fv.Data(self.x, self.y))
