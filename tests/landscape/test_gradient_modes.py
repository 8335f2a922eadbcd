"""Whatever mode of autograd the caller is in, a verb computes the same."""

import pytest
import torch
from torch import nn

import flatviz as fv


@pytest.fixture(scope="module")
def setting():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        module, x = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Tanh(), nn.Linear(5, 3)), torch.randn(20, 3)
    net, data = fv.Net.from_module(module), fv.Data(x, torch.arange(20) % 3)
    return net, data, net.w + 0.2 * torch.randn(5, net.dim, generator=torch.Generator().manual_seed(0))


def quadratic(w):
    return (torch.arange(1.0, len(w) + 1) * w * w).sum()


VERBS = {
    "nll": lambda net, data, W: fv.nll(net, data)(W[0]),
    "quantity": lambda net, data, W: fv.quantity(net, data, "nll", batchnorm=data).many(W),
    "bma_nll": lambda net, data, W: fv.objectives.bma_nll(net, data, W)(W[0]),
    "slice_plane": lambda net, data, W: fv.slice_plane(fv.nll(net, data), fv.plane_pca(W), resolution=3).values,
    "slice_line": lambda net, data, W: fv.slice_line(fv.nll(net, data), W[0], W[1], resolution=3).values,
    "top_eigenpairs": lambda net, data, W: fv.top_eigenpairs(fv.nll(net, data), W[0], 2).values,
    "ggn": lambda net, data, W: fv.top_eigenpairs(fv.nll(net, data), W[0], 2, curvature="ggn").values,
    "fisher": lambda net, data, W: fv.hvp(fv.nll(net, data), W[0], W[1]),
    "plain": lambda net, data, W: fv.top_eigenpairs(quadratic, W[0], 2).values,
    "connect": lambda net, data, W: fv.landscape.connect(fv.nll(net, data), W[0], W[1], steps=3, resolution=5).values,
    "sharpness": lambda net, data, W: fv.sharpness(fv.nll(net, data), W[:2]).sam,
    "predict": lambda net, data, W: fv.predict(net, W, data, 5, seed=0, batchnorm="frozen").scores["ece"],
    "refreshed": lambda net, data, W: fv.predict(net, W, data, 5, seed=0, batchnorm=data).outputs,
    "linearised": lambda net, data, W: fv.metrics.predict_linearised(net, fv.Gaussian(W[0], W[1]), data).outputs,
    "project": lambda net, data, W: fv.project(W, fv.plane_pca(W), fv.nll(net, data)).values,
}


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_gives_the_same_in_every_mode(setting, verb, mode):
    outside = VERBS[verb](*setting).detach()
    with mode():
        torch.testing.assert_close(VERBS[verb](*setting).clone(), outside, rtol=0, atol=0)
        if mode is torch.inference_mode:  # weights made in the mode
            net, data, W = setting
            torch.testing.assert_close(VERBS[verb](net, data, W.clone()).clone(), outside, rtol=0, atol=0)
