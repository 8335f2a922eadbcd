"""Laplace with eigenpairs alone and with one prior precision a layer: against dense matrices."""

import math

import pytest
import torch
from oracles import random_gaussian

import flatviz as fv
from flatviz.metrics.linearised import linearised
from flatviz.objectives.jacobian import ggn

SETTLED = dict(seed=0, steps=0)
NAMES = ("0", "1", "3")  # of the tiny net's layers


def dense(net, data, delta):
    """H (D, D) and the prior's precision of each weight, from layer -> delta."""
    each = torch.cat([torch.full((b.stop - b.start,), delta[b.name.rpartition(".")[0]]) for b in net.blocks]).double()
    return ggn(net, net.w, data), each


def evidence(net, data, H, each):
    """log Z written out, with determinants of dense matrices."""
    fit = -torch.nn.functional.cross_entropy(net(net.w, data.x), data.y, reduction="sum")
    logdet = torch.logdet(H + torch.diag(each)) - each.log().sum()
    return float(fit - 0.5 * ((each * net.w.square()).sum() + logdet))


DELTA = {"0": 0.5, "1": 3.0, "3": 20.0}


@pytest.mark.parametrize("structure", ["full", "diagonal", "lowrank"])
def test_one_precision_a_layer_gives_the_dense_covariance_and_evidence(structure, tiny):
    net, data = tiny
    H, each = dense(net, data, DELTA)
    H = torch.diag(H.diagonal()) if structure == "diagonal" else H
    settings = dict(structure=structure, rank=24, prior_precision=DELTA)  # H has rank 24: 12 examples, 3 classes
    q = fv.fit_laplace(net, data, **SETTLED, **settings)
    exact = torch.linalg.inv(H + torch.diag(each))
    close = dict(rtol=1e-6, atol=1e-6 if structure == "lowrank" else 1e-9)  # eigenpairs come to 1e-4 of the largest
    torch.testing.assert_close(q.cov_mul(torch.eye(net.dim).double()), exact, **close)
    torch.testing.assert_close(q.variance, exact.diagonal(), **close)
    assert fv.posteriors.laplace_evidence(net, data, **settings) == pytest.approx(evidence(net, data, H, each), rel=1e-7)
    off = q.sample(20_000, seed=0) - q.mean
    torch.testing.assert_close(off.T @ off / 20_000, exact, rtol=0, atol=0.05 * float(exact.diagonal().max()))
    colder = fv.fit_laplace(net, data, temperature=0.25, **SETTLED, **settings)
    torch.testing.assert_close(colder.variance, 0.25 * exact.diagonal(), **close)


def test_low_rank_keeps_the_largest_eigenpairs_and_the_prior_elsewhere(tiny):
    net, data = tiny
    H, each = dense(net, data, DELTA)
    values, vectors = torch.linalg.eigh(H)
    kept = (vectors[:, -3:] * values[-3:]) @ vectors[:, -3:].T
    q = fv.fit_laplace(net, data, structure="lowrank", rank=3, prior_precision=DELTA, **SETTLED)
    exact = torch.linalg.inv(kept + torch.diag(each))
    covariance = q.cov_mul(torch.eye(net.dim).double())
    torch.testing.assert_close(covariance, exact, rtol=1e-4, atol=1e-5)  # Lanczos' eigenvectors are good to some 1e-6
    assert fv.posteriors.laplace_evidence(net, data, structure="lowrank", rank=3, prior_precision=DELTA) == pytest.approx(
        evidence(net, data, kept, each), rel=1e-6
    )
    assert repr(q) == "PrecisionGaussian(dim=35, rank=3)"


def test_the_density_of_a_precision_gaussian_is_that_of_the_dense_one():
    g = random_gaussian(3)  # any positive definite numbers
    q = fv.gaussian.PrecisionGaussian(g.mean, g.log_std.exp(), g.factor)
    precision = torch.diag((-2 * g.log_std).exp()) + g.factor.T @ g.factor
    oracle = torch.distributions.MultivariateNormal(g.mean, precision_matrix=precision)
    W = q.sample(4, seed=0)
    torch.testing.assert_close(q.log_prob(W), oracle.log_prob(W))
    torch.testing.assert_close(q.precision_mul(W), W @ precision)
    torch.testing.assert_close(q.precision_mul(q.cov_mul(W)), W)
    assert torch.equal(W[:2], q.sample(2, seed=0)) and torch.equal(q.center, g.mean)
    with pytest.raises(ValueError, match=r"basis must have shape \(R, 7\), got \(2, 3\)"):
        fv.gaussian.PrecisionGaussian(g.mean, g.log_std.exp(), torch.zeros(2, 3))


@pytest.mark.parametrize("structure", ["full", "diagonal", "lowrank"])
def test_the_marginal_precisions_are_where_the_evidence_is_largest_in_every_layer(structure, tiny):
    net, data = tiny
    net = net.at(fv.fit_sgd(net, data, seed=0, steps=200, weight_decay=1e-3).center)
    settings = dict(structure=structure, rank=8)
    found = fv.posteriors.laplace_precision(net, data, **settings)
    best = fv.posteriors.laplace_evidence(net, data, prior_precision=found, **settings)
    one = fv.posteriors.laplace_precision(net, data, per_layer=False, **settings)
    assert len(set(one.values())) == 1 and tuple(found) == NAMES
    assert (
        best > fv.posteriors.laplace_evidence(net, data, prior_precision=one["0"], **settings) + 0.1
    )  # one layer's width is not another's
    for layer in found:
        for factor in (1.05, 1 / 1.05):
            moved = found | {layer: found[layer] * factor}
            assert best >= fv.posteriors.laplace_evidence(net, data, prior_precision=moved, **settings)
    q = fv.fit_laplace(net, data, prior_precision="marginal", per_layer=True, **SETTLED, **settings)
    again = fv.fit_laplace(net, data, prior_precision=found, **SETTLED, **settings)
    torch.testing.assert_close(q.variance, again.variance, rtol=1e-9, atol=0)


@pytest.mark.parametrize("structure", ["last_layer", "lowrank"])
def test_the_validated_precision_has_the_least_nll_of_the_linearised_network(structure, tiny):
    net, data = tiny
    net = net.at(fv.fit_sgd(net, data, seed=0, steps=100).center)
    g = torch.Generator().manual_seed(1)
    validation = fv.Data(torch.randn(30, 2, generator=g).double(), torch.randint(0, 3, (30,), generator=g))

    def score(precision):
        q = fv.fit_laplace(net, data, structure=structure, rank=5, prior_precision=precision, **SETTLED)
        f, V = linearised(net, q, validation)
        logits = f / (1 + math.pi / 8 * V.diagonal(dim1=1, dim2=2)).sqrt()
        return float(torch.nn.functional.cross_entropy(logits, validation.y))

    settings = dict(structure=structure, rank=5, validation=validation)
    one = next(iter(fv.posteriors.laplace_precision(net, data, per_layer=False, **settings).values()))
    each = fv.posteriors.laplace_precision(net, data, **settings)
    assert score(one) == pytest.approx(min(score(d) for d in torch.logspace(-4, 4, 33).tolist()), abs=1e-6)
    assert score(each) <= score(one) + 1e-9
    fitted = fv.fit_laplace(net, data, prior_precision="validation", per_layer=True, **SETTLED, **settings)
    f, V = linearised(net, fitted, validation)
    wanted = linearised(
        net, fv.fit_laplace(net, data, structure=structure, rank=5, prior_precision=each, **SETTLED), validation
    )
    torch.testing.assert_close(V, wanted[1], rtol=1e-6, atol=1e-9)
    assert fv.metrics.predict_linearised(net, fitted, validation).scores["nll"].shape == (1,)


def test_bad_precisions_say_what_to_do(tiny):
    net, data = tiny
    with pytest.raises(ValueError, match="prior_precision must name the layers 0, 1, 3, got 0, 2"):
        fv.fit_laplace(net, data, structure="full", prior_precision={"0": 1.0, "2": 1.0}, **SETTLED)
    with pytest.raises(ValueError, match="prior_precision='validation' needs validation="):
        fv.fit_laplace(net, data, prior_precision="validation", **SETTLED)
    with pytest.raises(ValueError, match="per_layer=True needs prior_precision='marginal' or 'validation'"):
        fv.fit_laplace(net, data, prior_precision=1.0, per_layer=True, **SETTLED)
