"""Linearised predictions where V is all but of rank one, and of a regression."""

import math

import pytest
import torch
from torch import nn

import flatviz as fv
from flatviz.metrics.prediction import _mc, linearised


def rank_one(log_std, dtype=torch.float32):
    """(net, a Gaussian of one direction and all but no diagonal, data) of a small MLP with 4 classes."""
    torch.manual_seed(0)
    net = fv.Net.from_module(nn.Sequential(nn.Linear(2, 5), nn.Tanh(), nn.Linear(5, 4)).to(dtype))
    factor, data = 0.3 * torch.randn(1, net.dim).to(dtype), fv.Data(torch.randn(20, 2).to(dtype), torch.randint(0, 4, (20,)))
    return net, fv.Gaussian(net.w, torch.full_like(net.w, log_std), factor), data


@pytest.mark.parametrize("log_std", [-7.0, -14.0, -40.0])
@pytest.mark.parametrize("link", ["probit", "mc"])
def test_a_gaussian_of_rank_one_in_float32_has_the_predictions_of_float64(link, log_std):
    cases = (rank_one(log_std, dtype) for dtype in (torch.float32, torch.float64))
    found, exact = (fv.metrics.predict_linearised(*case, link=link, n_draws=30) for case in cases)
    assert bool(torch.isfinite(found.outputs).all())
    torch.testing.assert_close(found.bma().double(), exact.bma(), rtol=0, atol=2e-3)


def test_draws_have_the_covariance_that_they_are_of():
    net, q, data = rank_one(-14.0)
    mean, cov = linearised(net, q, data)
    off, size = _mc(mean, cov, 20_000, 0).double() - mean, cov.diagonal(dim1=1, dim2=2).mean()
    torch.testing.assert_close(torch.einsum("snc,snd->ncd", off, off) / 20_000, cov.double(), rtol=0, atol=float(0.1 * size))


@pytest.fixture
def regression():
    """(net, posterior, data) of a linear network: V is x^T Sigma x."""
    net = fv.Net.from_module(nn.Linear(3, 1, bias=False).double())
    q = fv.Gaussian(net.w, torch.full_like(net.w, -1.0), torch.randn(1, 3).double())
    return net, q, fv.Data(torch.randn(5, 3).double(), torch.randn(5, 1).double())


def test_a_regression_has_draws_of_its_means(regression):
    net, q, data = regression
    p = fv.metrics.predict_linearised(net, q, data, link="mc", n_draws=20_000, likelihood=0.5)
    assert p.outputs.shape == (20_000, 5, 1) and p.likelihood == 0.5
    draws, std = p.outputs[..., 0], (q.cov_mul(data.x) * data.x).sum(1).sqrt()
    torch.testing.assert_close(draws.mean(0), data.x @ q.mean, rtol=0, atol=float(5 * std.max() / math.sqrt(20_000)))
    torch.testing.assert_close(draws.std(0), std, rtol=0.03, atol=0)


def test_a_regression_taken_for_classes_is_one_clear_error(regression):
    net, q, data = regression
    with pytest.raises(TypeError, match="needs integer class labels, got floating targets: give likelihood=the noise"):
        fv.metrics.predict_linearised(net, q, data)
    with pytest.raises(ValueError, match="a regression must have link='mc', draws of its means, got 'probit'"):
        fv.metrics.predict_linearised(net, q, data, likelihood=0.5)
    with pytest.raises(ValueError, match=r"targets must have shape \(N, 1\) as the net's outputs, got \(5, 2\)"):
        fv.metrics.predict_linearised(net, q, fv.Data(data.x, torch.zeros(5, 2).double()), link="mc", likelihood=0.5)
