"""What a fit takes of a device's memory is known beforehand."""

from functools import partial

import torch
from cases import blobs, fitted_by, mlp
from pytest import mark
from second_device import peak_bytes
from torch import nn

import flatviz as fv

# tensors of D numbers that a fit has at once at the most, and those for each of K rows of the
# factor: the parameters, their momentum, gradients, the perturbed copy, the prior, and the
# divergence in float64; of one draw a step; and one gradient that autograd's own thread, on a busy
# machine, frees only after the caller goes on
VECTORS = [
    (fitted_by(fv.SGD), {}, 5, 0),
    (fitted_by(fv.SGD), dict(ascent=fv.SAM(0.05)), 7, 0),
    (fitted_by(fv.VI), dict(mc_samples=1), 26, 14),
    (fitted_by(fv.SABMA), dict(mc_samples=1, radius=0.1), 26, 11),
]


@mark.parametrize("rank", [0, 5])
@mark.parametrize("verb, settings, alone, each", VECTORS)
def test_a_fit_stays_within_its_bound_and_the_bound_is_no_idle_one(
    verb, settings, alone, each, rank, device
):
    module = mlp(100, 200, 2, act=nn.ReLU)
    net = fv.Net.from_module(module).to(device)
    data = blobs(8, 100, 2).to(device)
    factor = 1e-3 * torch.randn(rank, net.dim).to(device)
    prior = fv.Gaussian(net.w, torch.full_like(net.w, -6.0), factor)
    given = [prior] if "mc_samples" in settings else []
    fit = partial(verb, net, data, *given, seed=0, steps=3, **settings)
    fit()  # what is made once
    peak = peak_bytes(fit)
    bound = 4 * net.dim * (alone + each * rank)
    small = 2**17  # a pass of 8 examples, and losses
    assert bound / 3 < peak < 1.1 * bound + small
