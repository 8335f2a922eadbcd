"""Laplace: exact on linear regression, its curvature dense and by hand; linearised predictions by
the formulas, of rank one too."""

import copy
import math
import sys
from functools import partial

import torch
from cases import COARSE, Language, around, blobs, mlp
from internals import family_page
from pytest import approx, fixture, mark, raises, skip, warns
from sklearn.datasets import load_diabetes
from sklearn.linear_model import BayesianRidge
from torch import as_tensor, einsum, eye, float64, full_like, nn, randint, randn
from torch.nn import Linear, Sequential, Tanh
from torch.testing import assert_close
from torch.utils.data import DataLoader, TensorDataset

import flatviz as fv
from flatviz import metrics, posteriors
from flatviz.families.members import Choice

NOISE = 0.5


@fixture(scope="module")
def regression(linear_regression):
    """(net at the MAP, data, exact mean, exact covariance, exact evidence) of a Bayesian linear
    regression, delta = 2."""
    net, data, mean, cov = linear_regression(30, [1.0, -0.5, 0.2], NOISE, 2.0)
    marginal = NOISE**2 * eye(30, dtype=float64) + data.x @ data.x.T / 2.0
    evidence = torch.distributions.MultivariateNormal(0 * data.y[:, 0], marginal).log_prob(
        data.y[:, 0]
    )
    return net.at(mean), data, mean, cov, float(evidence)


@mark.parametrize("structure", ["full", "last_layer"])
def test_the_posterior_and_the_evidence_of_a_linear_regression_are_exact(structure, regression):
    net, data, mean, cov, evidence = regression
    fit = partial(fv.fit_laplace, net, data, structure=structure, seed=0, steps=0, likelihood=NOISE)
    for q in (fit(prior_precision=2.0), fit(prior_precision=None, weight_decay=2.0 / 30)):
        assert_close(q.mean, mean)
        assert_close(q.cov_mul(eye(3, dtype=float64)), cov, rtol=1e-8, atol=1e-12)
    found = posteriors.laplace_evidence(
        net, data, structure=structure, prior_precision=2.0, likelihood=NOISE
    )
    assert found == approx(evidence, abs=1e-8)


def test_a_center_trained_at_another_weight_decay_is_warned_of_with_the_norm_of_the_gradient(
    regression, recwarn
):
    net, data, mean, _, _ = regression
    fit = partial(fv.fit_laplace, net, data, structure="full", seed=0, steps=0, likelihood=NOISE)
    fit(prior_precision=2.0)  # of the center
    assert not recwarn.list
    # The data pull by 2 mean at the mode for 2, so that 200 leaves 198 mean
    with warns(UserWarning, match=rf"has norm {float(198 * mean.norm()):.3g}, .* 6\.67 "):
        fit(prior_precision=200.0)


PEERS = {"last_layer": "FullLLLaplace", "full": "FullLaplace", "diagonal": "DiagLaplace"}


@mark.parametrize("structure", PEERS)
def test_covariance_evidence_and_probit_are_those_of_laplace_torch(structure):
    import laplace

    module = mlp(4, 6, 5, 3).double()
    x = randn(40, 4, dtype=float64)
    y = randint(0, 3, (40,))
    new = randn(7, 4, dtype=float64)
    peer = getattr(laplace, PEERS[structure])(
        copy.deepcopy(module), "classification", prior_precision=1.5
    )
    peer.fit(DataLoader(TensorDataset(x, y), batch_size=40))
    net = fv.Net.from_module(module)
    data = fv.Data(x, y)
    test = fv.Data(new, torch.zeros(7).long())
    q = fv.fit_laplace(net, data, seed=0, steps=0, structure=structure, prior_precision=1.5)
    _, V = of_outputs(net, q, new)
    assert_close(V, peer._glm_predictive_distribution(new)[1], rtol=1e-4, atol=1e-6)
    if structure == "last_layer":
        covariance = q.cov_mul(eye(net.dim, dtype=float64))[-18:, -18:]
        # Its H is off by 2e-7
        assert_close(covariance, peer.posterior_covariance, rtol=1e-4, atol=1e-7)
    found = posteriors.laplace_evidence(net, data, structure=structure, prior_precision=1.5)
    assert found == approx(float(peer.log_marginal_likelihood()), rel=1e-6)
    p = metrics.predict_linearised(net, q, test, link="probit").bma()
    assert_close(p, peer(new, link_approx="probit"), rtol=1e-4, atol=1e-6)


@mark.parametrize("structure", ["kron", "lowrank", "hessian", "functional"])
@mark.parametrize("of", ["head alone", "regression"])
def test_structures_of_laplace_torch_are_the_full_one_where_they_must_be(structure, of):
    """The head of a network is a linear model, whose Hessian is its GGN; of squared loss it is a
    Kronecker product as well."""
    if of == "head alone" and structure in ("kron", "functional"):
        skip("Kronecker factors of a softmax are an approximation, and so is its functional form")
    x = randn(40, 4, dtype=float64)
    module = Sequential(Linear(4, 6), Tanh(), Linear(6, 3, bias=False)).double()
    y, likelihood = (
        (randint(0, 3, (40,)), "categorical")
        if of == "head alone"
        else (randn(40, 3).double(), NOISE)
    )
    net = fv.Net.from_module(module).restrict("head")
    data = fv.Data(x, y)
    how = dict(seed=0, steps=0, prior_precision=1.5, temperature=0.5, likelihood=likelihood)
    q, exact = (fv.fit_laplace(net, data, structure=s, **how) for s in (structure, "full"))
    predicted = [
        metrics.predict_linearised(net, p, data, link="mc", likelihood=likelihood, seed=1)
        for p in (q, exact)
    ]
    assert_close(predicted[0].outputs, predicted[1].outputs, rtol=1e-4, atol=1e-5)
    if structure == "functional":
        with raises(ValueError, match="draws of weights need another structure, got 'functional'"):
            fv.predict(net, q, data, 3, seed=0, likelihood=likelihood)
        return
    W = q.sample(4000, seed=0)
    assert torch.equal(W[:3], q.sample(3, seed=0))
    assert torch.equal(q.center, net.w)
    # The standard error is 2.2 %
    assert_close(W.var(0), exact.variance, rtol=0.15, atol=0)
    assert fv.predict(net, q, data, 3, seed=0, likelihood=likelihood).outputs.shape == (3, 40, 3)


@mark.parametrize("structure", ["kron", "hessian"])
def test_a_delta_for_each_layer_has_more_evidence_than_one(structure):
    module = mlp(4, 6, 3)
    x = randn(60, 4)
    net = fv.Net.from_module(module)
    data = fv.Data(x, x[:, :3].argmax(1))
    if structure == "hessian":  # of all weights it is not positive definite here
        with raises(
            ValueError, match="to be positive definite beyond rounding, got curvature below -delta"
        ):
            fv.fit_laplace(
                net.at(5 * net.w), data, seed=0, steps=0, structure=structure, prior_precision=1e-3
            )
        net = net.restrict("head")
    fit = partial(fv.fit_laplace, net, data, seed=0, steps=300, structure=structure)
    one, each = (fit(prior_precision=p).peer for p in ("marginal", "layerwise"))
    assert one.prior_precision.numel() == 1
    assert each.prior_precision.numel() == len(net.blocks)
    assert each.log_marginal_likelihood() > one.log_marginal_likelihood()


def test_a_family_and_its_page_have_a_posterior_of_laplace_torch_as_any_other(transferred, task):
    head = transferred[0].restrict("head")
    how = dict(radii={"laplace": (0.0,)}, seed=0)
    prior = around(head, -2.0)
    tuned = {"laplace": Choice(dict(structure="kron", steps=20, prior_precision=1.0))}
    family = fv.families.fit_family(head, task, prior, tuned=tuned, **how)
    assert repr(family[0].posterior) == f"LaplaceTorch(KronLaplace, dim={head.dim})"
    family = fv.families.measure(head, task, family, seed=0, **COARSE)
    assert "Laplace" in family_page(family, title="a", lead="", facts={}, start=("laplace", 0.0, 3))
    with raises(TypeError, match="cannot save a LaplaceTorch"):
        fv.save(family[0].posterior, "unused")


def test_what_laplace_torch_cannot_do_is_said(tiny, monkeypatch):
    with raises(
        ValueError,
        match="prior_precision='layerwise' needs structure='kron' or 'hessian', got 'diagonal'",
    ):
        fv.fit_laplace(*tiny, seed=0, steps=0, structure="diagonal", prior_precision="layerwise")
    norm = fv.Net.from_module(Sequential(Linear(2, 3), nn.LayerNorm(3), Linear(3, 2)))
    data = blobs(8, 2, 2)
    with raises(
        ValueError,
        match="structure='kron' must be one that laplace-torch can fit .* use 'hessian', 'lowrank'",
    ):
        fv.fit_laplace(norm, data, seed=0, steps=0, structure="kron")
    monkeypatch.setitem(sys.modules, "laplace", None)
    with raises(
        ImportError, match=r"structure='kron' needs laplace-torch: pip install 'flatviz\[laplace\]'"
    ):
        fv.fit_laplace(*tiny, seed=0, steps=0, structure="kron")


def test_draws_do_not_depend_on_the_eigenvectors_that_a_library_chooses(tiny, monkeypatch):
    """Their signs, and the basis of those of one eigenvalue, differ from device to device."""
    fit = partial(fv.fit_laplace, *tiny, seed=0, steps=1, structure="full", prior_precision=1.0)
    draws = fit().sample(4, seed=1)
    eigh = torch.linalg.eigh

    def other(matrix):
        values, vectors = eigh(matrix)
        # A cluster at 0, turned by a rotation of its own
        flat = values.abs() < 1e-9 * values.abs().max()
        turn = torch.linalg.qr(randn(int(flat.sum()), int(flat.sum()), dtype=vectors.dtype))[0]
        vectors = vectors * torch.where(torch.arange(len(values)) % 2 == 0, -1.0, 1.0)
        vectors[:, flat] = vectors[:, flat] @ turn
        return values, vectors

    monkeypatch.setattr(torch.linalg, "eigh", other)
    assert_close(fit().sample(4, seed=1), draws, rtol=1e-8, atol=1e-8)


def test_the_marginal_precision_is_where_the_evidence_is_largest(tiny):
    given = tiny[0].at(fv.fit_sgd(*tiny, seed=0, steps=200, weight_decay=1e-3).center), tiny[1]
    evidence, fit = (
        partial(f, *given, structure="full") for f in (posteriors.laplace_evidence, fv.fit_laplace)
    )
    best = max(torch.logspace(-2, 4, 400).tolist(), key=lambda d: evidence(prior_precision=d))
    marginal, largest = (
        fit(seed=0, steps=0, prior_precision=precision).variance for precision in ("marginal", best)
    )
    assert_close(marginal, largest, rtol=0.05, atol=0)


def test_a_colder_posterior_has_its_covariance_times_the_temperature(tiny):
    fit = partial(fv.fit_laplace, *tiny, seed=0, steps=0, structure="full", prior_precision=1.0)
    warm = fit()
    cold = fit(temperature=0.25)
    assert_close(cold.variance, 0.25 * warm.variance)


def test_bad_requests_say_what_to_do(tiny):
    with raises(ValueError, match="prior_precision must be > 0, got None with a weight_decay of 0"):
        fv.fit_laplace(*tiny, seed=0, steps=0, weight_decay=0.0, prior_precision=None)
    large = fv.Net.from_module(Linear(600, 10)), fv.Data(randn(5, 600), torch.arange(5))
    with raises(
        ValueError,
        match="weights, got 6,010, whose covariance takes 0.3 GiB: use structure='diagonal' or",
    ):
        fv.fit_laplace(*large, seed=0, steps=0, structure="full")


def of_outputs(net, q, x):
    """Mean and covariance of the outputs of the linearised network, by autograd."""
    J = torch.func.jacrev(lambda w: net(w, x))(q.mean)
    return net(q.mean, x), einsum("ncd,nkd->nck", J, q.cov_mul(J.flatten(0, 1)).view_as(J))


def rank_one(log_std, dtype=torch.float32):
    """(net, a Gaussian of one direction and all but no diagonal, data) of a small MLP with 4
    classes."""
    torch.manual_seed(0)
    net = fv.Net.from_module(mlp(2, 5, 4).to(dtype))
    factor = 0.3 * randn(1, net.dim).to(dtype)
    data = fv.Data(randn(20, 2).to(dtype), randint(0, 4, (20,)))
    return net, fv.Gaussian(net.w, full_like(net.w, log_std), factor), data


@mark.parametrize("log_std", [-7.0, -14.0, -40.0])
@mark.parametrize("link", ["probit", "mc"])
def test_a_gaussian_of_rank_one_in_float32_has_the_predictions_of_float64(link, log_std):
    cases = (rank_one(log_std, dtype) for dtype in (torch.float32, torch.float64))
    found, exact = (metrics.predict_linearised(*case, link=link, n_draws=30) for case in cases)
    assert torch.isfinite(found.outputs).all()
    assert_close(found.bma().double(), exact.bma(), rtol=0, atol=2e-3)


def test_draws_have_the_covariance_that_they_are_of():
    net, q, data = rank_one(-14.0)
    mean, cov = of_outputs(net, q, data.x)
    draws = metrics.predict_linearised(net, q, data, link="mc", n_draws=20_000)
    off = draws.outputs.double() - mean
    size = cov.diagonal(dim1=1, dim2=2).mean()
    assert_close(
        einsum("snc,snd->ncd", off, off) / 20_000,
        cov.double(),
        rtol=0,
        atol=float(0.1 * size),
    )


@fixture
def linear():
    """(net, posterior, data) of a linear network: V is x^T Sigma x."""
    net = fv.Net.from_module(Linear(3, 1, bias=False).double())
    q = fv.Gaussian(net.w, full_like(net.w, -1.0), randn(1, 3).double())
    return net, q, fv.Data(randn(5, 3).double(), randn(5, 1).double())


def test_a_regression_has_draws_of_its_means(linear):
    net, q, data = linear
    p = metrics.predict_linearised(net, q, data, link="mc", n_draws=20_000, likelihood=0.5)
    assert p.outputs.shape == (20_000, 5, 1)
    assert p.likelihood == 0.5
    draws = p.outputs[..., 0]
    std = (q.cov_mul(data.x) * data.x).sum(1).sqrt()
    assert_close(
        draws.mean(0), data.x @ q.mean, rtol=0, atol=float(5 * std.max() / math.sqrt(20_000))
    )
    assert_close(draws.std(0), std, rtol=0.03, atol=0)


def test_a_regression_taken_for_classes_is_one_clear_error(linear):
    net, q, data = linear
    with raises(
        TypeError,
        match="needs integer class labels, got floating targets: give likelihood=the noise",
    ):
        metrics.predict_linearised(net, q, data)
    with raises(
        ValueError, match="a regression must have link='mc', draws of its means, got 'probit'"
    ):
        metrics.predict_linearised(net, q, data, likelihood=0.5)


@mark.parametrize("tied", [False, True])
def test_the_last_layer_is_the_one_that_runs_last_with_its_tied_weight(tied):
    torch.manual_seed(0)
    module = Language(7, 4, tied=tied).double()
    x = randint(0, 7, (30, 5))
    data = fv.Data(x, x.roll(-1, 1))
    net = fv.Net.from_module(module, example=x)
    q = fv.fit_laplace(net, data, seed=0, steps=0, prior_precision=1.0)
    wide = [b for b in net.blocks if float(q.std[b.slice].max()) > 1e-4]
    name = "embed.weight" if tied else "head.weight"
    assert [b.name for b in wide] == [name]
    assert ("embed.weight is head.weight" in repr(net)) == tied

    def outputs(weight):  # by torch alone, which puts it at both of its places
        return torch.func.functional_call(module, {name: weight.view(7, 4)}, (x,)).flatten(0, 1)

    at = net.w[wide[0].slice]
    J = torch.func.jacfwd(outputs)(at)
    p = outputs(at).softmax(-1).detach()
    curvature = torch.diag_embed(p) - p[:, :, None] * p[:, None]
    # losses are means over the 5 tokens of an example
    H = einsum("nci,ncd,ndj->ij", J, curvature, J) / 5
    exact = torch.linalg.inv(H + eye(28))
    covariance = q.factor[:, wide[0].slice].T @ q.factor[:, wide[0].slice]
    covariance += torch.diag(q.log_std[wide[0].slice].mul(2).exp())
    assert_close(covariance, exact, rtol=1e-6, atol=1e-8)
    head = fv.Net.from_module(module, "head", example=x)
    assert [(b.name, b.kind) for b in head.blocks] == [(name, "head")]
    source = around(net, -3.0)
    kept, _ = fv.transfer(net, source, treated="head", keep_head=True)
    assert [b.name for b in kept.blocks] == [name]
    if tied:
        with raises(ValueError, match="head.weight, which is embed.weight: give keep_head"):
            fv.transfer(net, source, treated="head")


def test_predict_takes_only_draws_of_laplace_through_the_linearised_network_by_default():
    torch.manual_seed(0)
    net = fv.Net.from_module(mlp(2, 5, 2).double())
    x = randn(300, 2).double()
    y = randn(300, 1).double()
    data = fv.Data(x, y)
    how = dict(seed=0, likelihood="gaussian")
    q = fv.fit_laplace(net, data, steps=50, structure="full", prior_precision=1.0, **how)
    W = q.sample(4, seed=0)
    J = torch.func.jacrev(lambda w: net(w, x))(q.mean)
    want = net(q.mean, x) + einsum("ncd,sd->snc", J, W - q.mean)
    for given in (data, x):  # more examples than pass at once
        found = fv.predict(net, q, given, 4, **how).outputs
        assert_close(found, want, rtol=1e-9, atol=1e-9)
    plain = torch.stack([net(w, x) for w in W])
    own = fv.predict(net, q, data, 4, linearised=False, **how).outputs
    assert_close(own, plain, rtol=1e-9, atol=1e-9)
    same = fv.Gaussian(q.mean, q.log_std, q.factor)  # a Gaussian of another method
    assert_close(fv.predict(net, same, data, 4, **how).outputs, own)
    asked = fv.predict(net, same, data, 4, linearised=True, **how).outputs
    assert_close(asked, want, rtol=1e-9, atol=1e-9)
    with raises(ValueError, match="linearised=True needs a posterior with a center"):
        fv.predict(net, W, data, 4, linearised=True, **how)


def test_noise_and_prior_of_largest_evidence_are_those_of_bayesian_ridge_wherever_the_net_stands():
    x, y = load_diabetes(return_X_y=True)
    x = as_tensor((x - x.mean(0)) / x.std(0))
    y = as_tensor((y - y.mean()) / y.std())[:, None]
    flat = dict(alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0, fit_intercept=False)  # no hyperpriors
    ridge = BayesianRidge(**flat, tol=1e-12, max_iter=10_000).fit(x, y[:, 0])
    torch.manual_seed(0)
    net = fv.Net.from_module(Linear(10, 1, bias=False).double())
    data = fv.Data(x, y)
    for start in (net, net.at(full_like(net.w, 3.0))):
        noise, delta = posteriors.marginal_noise(start, data)
        # a grid of log delta, refined to 1e-5
        assert noise == approx(ridge.alpha_**-0.5, rel=1e-6)
        assert delta == approx(ridge.lambda_, rel=1e-4)
    there = net.at(as_tensor(ridge.coef_))
    how = dict(seed=0, steps=0, structure="full", prior_precision=delta, likelihood=noise)
    q = fv.fit_laplace(there, data, **how)
    assert_close(q.variance, as_tensor(ridge.sigma_).diagonal(), rtol=1e-4, atol=0)
