"""Laplace: exact on linear regression, its curvature dense and by hand; linearised predictions by
the formulas, of rank one too."""

import copy
import sys
from functools import partial

import torch
from cases import COARSE, Language, around, blobs, fitted_by, mlp, net_of, refused, warned
from pytest import approx, fixture, mark
from sklearn.datasets import load_diabetes
from sklearn.linear_model import BayesianRidge
from torch import (
    Generator,
    arange,
    as_tensor,
    cat,
    einsum,
    eye,
    float32,
    float64,
    full_like,
    func,
    linalg,
    nn,
    randint,
    randn,
    stack,
)
from torch.nn import Linear, Sequential, Tanh
from torch.testing import assert_close
from torch.utils.data import DataLoader, TensorDataset

import flatviz as fv
from flatviz import metrics
from flatviz.families import Choice
from flatviz.posteriors import laplace_evidence, marginal_noise

NOISE = 0.5
NOW = dict(seed=0, steps=0)  # at the net's weights
FULL = dict(**NOW)
FIELDS = dict(structure="full")
predict = metrics.predict_linearised


def dense(q):
    return q.cov_mul(eye(q.dim, dtype=float64))


@fixture(scope="module")
def regression(linear_regression):
    """(net at the MAP, data, exact mean and covariance) of a linear regression, delta = 2."""
    net, data, mean, cov = linear_regression(30, [1.0, -0.5, 0.2], NOISE, 2.0)
    return net.at(mean), data, mean, cov


def test_a_center_trained_at_another_weight_decay_is_warned_of_with_the_norm_of_the_gradient(
    regression, recwarn
):
    net, data, mean, _ = regression
    fit = partial(fitted_by(fv.Laplace), net, data, **FIELDS, likelihood=NOISE, **FULL)
    fit(prior_precision=2.0)  # of the center
    assert not recwarn.list
    # The data pull by 2 mean at the mode for 2, so that 200 leaves 198 mean
    left = float(198 * mean.norm())
    with warned(rf"has norm {left:.3g}, .* 6\.67 "):
        fit(prior_precision=200.0)


PEERS = {"last_layer": "FullLLLaplace", "full": "FullLaplace", "diagonal": "DiagLaplace"}


@mark.parametrize("structure", PEERS)
def test_covariance_evidence_and_probit_are_those_of_laplace_torch(structure):
    import laplace

    module = mlp(4, 6, 5, 3).double()
    x = randn(40, 4, dtype=float64)
    y = randint(0, 3, (40,))
    new = randn(7, 4, dtype=float64)
    kind = getattr(laplace, PEERS[structure])
    peer = kind(copy.deepcopy(module), "classification", prior_precision=1.5)
    peer.fit(DataLoader(TensorDataset(x, y), batch_size=40))
    net = net_of(module)
    data = fv.Data(x, y)
    how = dict(structure=structure, prior_precision=1.5)
    q = fv.fit(net, data, fv.Laplace(**how), **NOW)
    _, V = of_outputs(net, q, new)
    want = peer._glm_predictive_distribution(new)[1]
    assert_close(V, want, rtol=1e-4, atol=1e-6)
    evidence = laplace_evidence(net, data, **how)
    assert evidence == approx(float(peer.log_marginal_likelihood()), rel=1e-6)
    test = fv.Data(new, torch.zeros(7).long())
    p = predict(net, q, test, link="probit").bma()
    assert_close(p, peer(new, link_approx="probit"), rtol=1e-4, atol=1e-6)


HEAD = ["lowrank", "hessian"]  # the Hessian of a linear model is its GGN
REGRESSION = [*HEAD, "kron", "functional"]  # of squared loss it is a Kronecker product as well


@mark.parametrize(
    "structure, classes",
    [*((name, True) for name in HEAD), *((name, False) for name in REGRESSION)],
)
def test_structures_of_laplace_torch_are_the_full_one_where_they_must_be(structure, classes):
    x = randn(40, 4, dtype=float64)
    y = randint(0, 3, (40,)) if classes else randn(40, 3, dtype=float64)
    likelihood = "categorical" if classes else NOISE
    module = Sequential(Linear(4, 6), Tanh(), Linear(6, 3, bias=False)).double()
    net = net_of(module).restrict("head")
    data = fv.Data(x, y)
    how = dict(likelihood=likelihood)
    fields = dict(prior_precision=1.5, temperature=0.5)
    q = fv.fit(net, data, fv.Laplace(structure=structure, **fields), **NOW, **how)
    exact = fv.fit(net, data, fv.Laplace(**FIELDS, **fields), **FULL, **how)
    link = dict(link="mc", likelihood=likelihood, seed=1)
    found = predict(net, q, data, **link).outputs
    want = predict(net, exact, data, **link).outputs
    assert_close(found, want, rtol=1e-4, atol=1e-5)
    draws = partial(fv.predict, net, q, data, 3, seed=0, likelihood=likelihood)
    if structure == "functional":
        with refused("draws of weights need another structure, got 'functional'"):
            draws()
        return
    W = q.sample(4000, seed=0)
    wanted = q.sample(3, seed=0)
    assert torch.equal(W[:3], wanted)
    assert_close(W.var(0), exact.variance, rtol=0.15, atol=0)  # a standard error is 2.2 %
    assert draws().outputs.shape == (3, 40, 3)


@mark.parametrize("noise", [0.5, 2.0])
def test_the_evidence_of_a_regression_is_that_of_the_other_structures(noise):
    """Of a linear model the Hessian has no negative curvature to leave out."""
    x = randn(30, 3, dtype=float64)
    data = fv.Data(x, x @ randn(3, 2, dtype=float64) + randn(30, 2, dtype=float64))
    net = net_of(Linear(3, 2).double())
    how = dict(likelihood=noise)
    fields = dict(prior_precision=1.5)
    low, full = (
        fv.fit(net, data, fv.Laplace(structure=structure, **fields), **NOW, **how).peer
        for structure in ("lowrank", "hessian")
    )
    assert float(low.log_likelihood) == approx(float(full.log_likelihood), rel=1e-5)
    assert float(low.log_marginal_likelihood()) == approx(
        float(full.log_marginal_likelihood()), rel=1e-5
    )


class Tied(nn.Module):
    """Two layers of one weight, which is not treated, and a head."""

    def __init__(self):
        super().__init__()
        self.a = Linear(4, 4, bias=False)
        self.b = Linear(4, 4, bias=False)
        self.b.weight = self.a.weight
        self.head = Linear(4, 3)

    def forward(self, x):
        return self.head(torch.tanh(self.b(torch.tanh(self.a(x)))))


def test_a_tied_weight_that_is_not_treated_stays_out_of_the_posterior():
    data = blobs(40, 4, 3)
    net = net_of(Tied(), "head")
    q = fv.fit(net, data, fv.Laplace(structure="hessian", prior_precision=1.0), **NOW)
    exact = fv.fit(net, data, fv.Laplace(prior_precision=1.0, **FIELDS), **FULL)
    assert_close(q.sample(4000, seed=0).var(0), exact.variance, rtol=0.15, atol=0)


@mark.parametrize("structure", ["kron", "hessian"])
def test_a_delta_for_each_layer_has_more_evidence_than_one(structure):
    x = randn(60, 4)
    data = fv.Data(x, x[:, :3].argmax(1))
    net = net_of(mlp(4, 6, 3))
    if structure == "hessian":  # of all weights it is not positive definite here
        far = net.at(5 * net.w)
        with refused("to be positive definite beyond rounding, got curvature below -delta"):
            fv.fit(far, data, fv.Laplace(structure=structure, prior_precision=1e-3), **NOW)
        net = net.restrict("head")
    fit = partial(fitted_by(fv.Laplace), net, data, structure=structure, seed=0, steps=300)
    one = fit(prior_precision="marginal").peer
    each = fit(prior_precision="layerwise").peer
    assert one.prior_precision.numel() == 1
    assert each.prior_precision.numel() == len(net.blocks)
    assert each.log_marginal_likelihood() > one.log_marginal_likelihood()


def test_a_family_has_a_posterior_of_laplace_torch_as_any_other(transferred, task):
    head = transferred[0].restrict("head")
    choice = Choice(dict(structure="kron", steps=20, prior_precision=1.0))
    how = dict(radii={"laplace": (0.0,)}, seed=0, tuned={"laplace": choice})
    family = fv.families.fit_family(head, task, around(head, -2.0), **how)
    family = fv.families.measure(head, task, family, seed=0, **COARSE)
    assert repr(family[0].posterior) == f"LaplaceTorch(KronLaplace, dim={head.dim})"
    with refused("cannot save a LaplaceTorch", TypeError):
        fv.save(family[0].posterior, "unused")


def test_a_colder_posterior_has_its_covariance_times_the_temperature(tiny):
    fit = partial(fitted_by(fv.Laplace), *tiny, prior_precision=1.0, **FIELDS, **FULL)
    assert_close(fit(temperature=0.25).variance, 0.25 * fit().variance)


def test_what_cannot_be_fitted_is_said(tiny, monkeypatch):
    fit = partial(fitted_by(fv.Laplace), *tiny, **NOW)
    with refused("'layerwise' needs structure='kron' or 'hessian', got 'diagonal'"):
        fit(structure="diagonal", prior_precision="layerwise")
    with refused("prior_precision must be > 0, got None with a weight_decay of 0"):
        fit(weight_decay=0.0, prior_precision=None)
    large = net_of(Linear(600, 10))
    with refused("weights, got 6,010, whose covariance takes 0.3 GiB: use structure='diagonal' or"):
        fv.fit(large, blobs(5, 600, 5), fv.Laplace(**FIELDS), **FULL)
    module = Sequential(Linear(2, 3), nn.LayerNorm(3), Linear(3, 2))
    norm = net_of(module)
    with refused("must be one that laplace-torch can fit .* use 'hessian', 'lowrank'"):
        fv.fit(norm, blobs(8, 2, 2), fv.Laplace(structure="kron"), **NOW)
    monkeypatch.setitem(sys.modules, "laplace", None)
    with refused(r"'kron' needs laplace-torch: pip install 'flatviz\[laplace\]'", ImportError):
        fit(structure="kron")


def test_draws_do_not_depend_on_the_eigenvectors_that_a_library_chooses(tiny, monkeypatch):
    """Their signs, and the basis of those of one eigenvalue, differ from device to device."""
    fit = partial(
        fitted_by(fv.Laplace), *tiny, structure="full", prior_precision=1.0, seed=0, steps=1
    )
    draws = fit().sample(4, seed=1)
    eigh = linalg.eigh

    def other(matrix):
        values, vectors = eigh(matrix)
        # A cluster at 0, turned by a rotation of its own
        flat = values.abs() < 1e-9 * values.abs().max()
        many = int(flat.sum())
        turn = linalg.qr(randn(many, many, dtype=vectors.dtype))[0]
        vectors[:, flat] = vectors[:, flat] @ turn
        vectors[:, ::2] *= -1
        return values, vectors

    monkeypatch.setattr(linalg, "eigh", other)
    found = fit().sample(4, seed=1)
    assert_close(found, draws, rtol=1e-8, atol=1e-8)


def jacobian(net, q, x):
    return func.jacrev(lambda w: net(w, x))(q.mean)


def of_outputs(net, q, x):
    """Mean and covariance of the outputs of the linearised network, by autograd."""
    J = jacobian(net, q, x)
    spread = q.cov_mul(J.flatten(0, 1)).view_as(J)
    return net(q.mean, x), einsum("ncd,nkd->nck", J, spread)


def rank_one(log_std, dtype=float32):
    """(net, a Gaussian of one direction and all but no diagonal, data) with 4 classes."""
    torch.manual_seed(0)
    net = net_of(mlp(2, 5, 4).to(dtype))
    factor = 0.3 * randn(1, net.dim).to(dtype)
    x = randn(20, 2).to(dtype)
    y = randint(0, 4, (20,))
    data = fv.Data(x, y)
    q = fv.Gaussian(net.w, full_like(net.w, log_std), factor)
    return net, q, data


@mark.parametrize("log_std", [-7.0, -14.0, -40.0])
@mark.parametrize("link", ["probit", "mc"])
def test_a_gaussian_of_rank_one_in_float32_has_the_predictions_of_float64(link, log_std):
    found = predict(*rank_one(log_std), link=link, n_draws=30)
    exact = predict(*rank_one(log_std, float64), link=link, n_draws=30)
    assert torch.isfinite(found.outputs).all()
    got = found.bma().double()
    assert_close(got, exact.bma(), rtol=0, atol=2e-3)


def test_draws_have_the_covariance_that_they_are_of():
    net, q, data = rank_one(-14.0)
    mean, cov = of_outputs(net, q, data.x)
    draws = predict(net, q, data, link="mc", n_draws=20_000)
    off = draws.outputs.double() - mean
    found = einsum("snc,snd->ncd", off, off) / 20_000
    size = cov.diagonal(dim1=1, dim2=2).mean()
    assert_close(found, cov.double(), rtol=0, atol=0.1 * float(size))


def test_a_regression_has_draws_of_its_means_and_is_not_taken_for_classes():
    module = Linear(3, 1, bias=False).double()
    net = net_of(module)  # V is x^T Sigma x
    factor = randn(1, 3).double()
    q = fv.Gaussian(net.w, full_like(net.w, -1.0), factor)
    x = randn(5, 3).double()
    y = randn(5, 1).double()
    data = fv.Data(x, y)
    p = predict(net, q, data, link="mc", n_draws=20_000, likelihood=0.5)
    std = (q.cov_mul(data.x) * data.x).sum(1).sqrt()
    found = p.outputs.std(0)[:, 0]
    assert_close(found, std, rtol=0.03, atol=0)
    with refused("needs integer class labels, got floating targets: give likelihood=", TypeError):
        predict(net, q, data)
    with refused("a regression must have link='mc', draws of its means, got 'probit'"):
        predict(net, q, data, likelihood=0.5)


@mark.parametrize("tied", [False, True])
def test_the_last_layer_is_the_one_that_runs_last_with_its_tied_weight(tied):
    module = Language(7, 4, tied=tied).double()
    x = randint(0, 7, (30, 5))
    net = net_of(module, example=x)
    data = fv.Data(x, x.roll(-1, 1))
    q = fv.fit(net, data, fv.Laplace(prior_precision=1.0), **NOW)
    (block,) = [b for b in net.blocks if q.std[b.slice].max() > 1e-4]
    name = "embed.weight" if tied else "head.weight"
    assert block.name == name
    assert ("embed.weight is head.weight" in repr(net)) == tied

    def outputs(weight):  # by torch alone, which puts it at both of its places
        named = {name: weight.view(7, 4)}
        return func.functional_call(module, named, (x,)).flatten(0, 1)

    at = net.w[block.slice]
    J = func.jacfwd(outputs)(at)
    p = outputs(at).softmax(-1).detach()
    curvature = torch.diag_embed(p) - p[:, :, None] * p[:, None]
    # losses are means over the 5 tokens of an example
    H = einsum("nci,ncd,ndj->ij", J, curvature, J) / 5
    exact = linalg.inv(H + eye(28))
    found = dense(q)[block.slice, block.slice]
    assert_close(found, exact, rtol=1e-6, atol=1e-8)


@mark.parametrize("tied", [False, True])
def test_a_tied_head_is_treated_under_one_name_and_kept_by_a_transfer(tied):
    x = randint(0, 7, (30, 5))
    module = Language(7, 4, tied=tied)
    name = "embed.weight" if tied else "head.weight"
    head = net_of(module, "head", example=x)
    assert [(b.name, b.kind) for b in head.blocks] == [(name, "head")]
    net = net_of(module, example=x)
    source = around(net, -3.0)
    kept, _ = fv.transfer(net, source, treated="head", keep_head=True)
    assert [b.name for b in kept.blocks] == [name]
    if tied:
        with refused("head.weight, which is embed.weight: give keep_head"):
            fv.transfer(net, source, treated="head")


def test_predict_takes_only_draws_of_laplace_through_the_linearised_network_by_default():
    net = net_of(mlp(2, 5, 2).double())
    x = randn(300, 2).double()  # more examples than pass at once
    data = fv.Data(x, randn(300, 1).double())
    how = dict(seed=0, likelihood="gaussian")
    q = fv.fit(net, data, fv.Laplace(structure="full", prior_precision=1.0), steps=50, **how)
    W = q.sample(4, seed=0)
    linear = net(q.mean, x) + einsum("ncd,sd->snc", jacobian(net, q, x), W - q.mean)
    plain = stack([net(w, x) for w in W])
    same = fv.Gaussian(q.mean, q.log_std, q.factor)  # a Gaussian of another method
    for given, choice, want in (
        (q, {}, linear),
        (q, dict(linearised=False), plain),
        (same, {}, plain),
        (same, dict(linearised=True), linear),
    ):
        p = fv.predict(net, given, data, 4, **choice, **how)
        found = p.outputs
        assert_close(found, want, rtol=1e-9, atol=1e-9)
    prediction = fv.predict(net, q, x, 4, **how)
    got = prediction.outputs
    assert_close(got, linear, rtol=1e-9, atol=1e-9)
    with refused("linearised=True needs a posterior with a center"):
        fv.predict(net, W, data, 4, linearised=True, **how)


def test_noise_and_prior_of_largest_evidence_are_those_of_bayesian_ridge_wherever_the_net_stands():
    x, y = load_diabetes(return_X_y=True)
    x = as_tensor((x - x.mean(0)) / x.std(0))
    y = as_tensor((y - y.mean()) / y.std())[:, None]
    flat = dict(
        alpha_1=0,
        alpha_2=0,
        lambda_1=0,
        lambda_2=0,
        fit_intercept=False,
    )  # no hyperpriors
    ridge = BayesianRidge(**flat, tol=1e-12, max_iter=10_000).fit(x, y[:, 0])
    module = Linear(10, 1, bias=False).double()
    net = net_of(module)
    data = fv.Data(x, y)
    for start in (net, net.at(full_like(net.w, 3.0))):
        noise, delta = marginal_noise(start, data)
        # a grid of log delta, refined to 1e-5
        assert noise == approx(ridge.alpha_**-0.5, rel=1e-6)
        assert delta == approx(ridge.lambda_, rel=1e-4)
    there = net.at(as_tensor(ridge.coef_))
    q = fv.fit(
        there, data, fv.Laplace(prior_precision="marginal", **FIELDS), likelihood=noise, **FULL
    )
    want = as_tensor(ridge.sigma_).diagonal()
    assert_close(q.variance, want, rtol=1e-4, atol=0)


class ReadTwice(nn.Module):
    """A head whose weight is read once more, by a path that is 0 for some inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.head = Linear(4, 2)

    def forward(self, x):
        out = self.head(x)
        return out + (x - 0.5).relu() @ self.head.weight.T


@mark.parametrize(
    "module",
    [
        Sequential(Linear(4, 2), nn.ReLU()),
        Sequential(Linear(4, 2), nn.Hardtanh(-1, 1)),
        ReadTwice(),
    ],
    ids=["relu", "clamp", "read twice"],
)
@mark.parametrize("structure", ["diagonal", "last_layer"])
def test_what_changes_some_outputs_of_a_head_alone_has_no_closed_form(structure, module):
    x = randn(30, 4, generator=Generator().manual_seed(0), dtype=float64)
    net = net_of(copy.deepcopy(module).double())
    # first an example that the path behind the head leaves as it is
    z = net(net.w, x).detach()
    plain = (x < 0.5).all(1) if isinstance(module, ReadTwice) else ((0 < z) & (z < 1)).all(1)
    x = cat([x[plain], x[~plain]])
    assert 0 < plain.sum() < 30
    data = fv.Data(x, arange(30) % 2)
    fit = partial(fitted_by(fv.Laplace), net, data, prior_precision=1.0, seed=0, steps=0)
    J = func.jacrev(net)(net.w, x)
    p = net(net.w, x).softmax(1)
    H = einsum("ncp,ncd,ndq->pq", J, p.diag_embed() - p[:, :, None] * p[:, None], J)
    H = H.detach() + eye(net.dim, dtype=float64)
    want = 1 / H.diagonal() if structure == "diagonal" else linalg.inv(H).diagonal()
    assert_close(fit(structure=structure).variance, want)
