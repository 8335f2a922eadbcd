"""Linearised predictions where V is all but of rank one."""

import pytest
import torch
from torch import nn

import flatviz as fv
from flatviz.metrics.linearised import _mc, linearised


def rank_one(log_std, dtype=torch.float32):
    """(net, a Gaussian of one direction and all but no diagonal, data) of a small MLP with 4 classes."""
    g = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    net = fv.Net.from_module(nn.Sequential(nn.Linear(2, 5), nn.Tanh(), nn.Linear(5, 4)).to(dtype))
    factor = 0.3 * torch.randn(1, net.dim, generator=g).to(dtype)
    data = fv.Data(torch.randn(20, 2, generator=g).to(dtype), torch.randint(0, 4, (20,), generator=g))
    return net, fv.Gaussian(net.w, torch.full_like(net.w, log_std), factor), data


@pytest.mark.parametrize("log_std", [-7.0, -14.0, -40.0])
@pytest.mark.parametrize("link", ["probit", "mc"])
def test_a_gaussian_of_rank_one_in_float32_has_the_predictions_of_float64(link, log_std):
    found, exact = (
        fv.metrics.predict_linearised(*rank_one(log_std, dtype), link=link, n_draws=30)
        for dtype in (torch.float32, torch.float64)
    )
    assert bool(torch.isfinite(found.outputs).all())
    torch.testing.assert_close(found.bma().double(), exact.bma(), rtol=0, atol=2e-3)


def test_draws_have_the_covariance_that_they_are_of():
    net, q, data = rank_one(-14.0)
    mean, cov = linearised(net, q, data)
    draws = _mc(mean, cov, 20_000, 0).double()
    off = draws - mean
    size = cov.diagonal(dim1=1, dim2=2).mean()
    torch.testing.assert_close(torch.einsum("snc,snd->ncd", off, off) / 20_000, cov.double(), rtol=0, atol=float(0.1 * size))


def test_a_regression_is_one_clear_error():
    net, q, data = rank_one(-14.0)
    with pytest.raises(TypeError, match="needs integer class labels, got floating targets"):
        fv.metrics.predict_linearised(net, q, fv.Data(data.x, torch.zeros(20, 4)))
