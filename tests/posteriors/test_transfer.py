"""Transfer: what is kept, what is made anew, what stays frozen."""

import math

import pytest
import torch

import flatviz as fv


@pytest.fixture(scope="module")
def source(task):
    net = fv.pretrain(fv.models.mlp(task, hidden=(8,)), task.source, seed=0, epochs=2)
    g = torch.Generator().manual_seed(0)
    prior = fv.Gaussian(net.w + 0.01, torch.full_like(net.w, -3.0), 0.1 * torch.randn(2, net.dim, generator=g))
    return net, prior


def test_the_prior_is_that_of_the_kept_weights_and_the_head_is_new(source):
    net, prior = source
    narrow, q = fv.transfer(net, prior, treated="norm+head", head_std=0.2, scale=9.0)
    assert narrow.dim == 2 * 8 + 10 * 8 + 10 and q.dim == narrow.dim
    full = {b.name: b for b in net.blocks}
    for b in narrow.blocks:
        if b.kind == "head":
            assert float(q.mean[b.slice].abs().max()) == 0 and float(q.factor[:, b.slice].abs().max()) == 0
            torch.testing.assert_close(q.log_std[b.slice].exp(), torch.full((b.stop - b.start,), 0.2))
        else:
            s = full[b.name].slice
            torch.testing.assert_close(q.mean[b.slice], prior.mean[s])
            torch.testing.assert_close(q.variance[b.slice], 9 * prior.variance[s])


def test_the_rest_stays_at_its_source_value_and_the_net_stands_at_the_prior(source):
    net, prior = source
    narrow, q = fv.transfer(net, prior, treated="norm+head", head_std=0.1, scale=1.0)
    torch.testing.assert_close(narrow.w, q.mean)
    module, kept = narrow.to_module(), net.unflatten(prior.mean)
    torch.testing.assert_close(dict(module.named_parameters())["1.weight"].detach(), kept["1.weight"])


def test_the_head_is_found_by_the_source_data_whatever_the_module(source):
    net, _ = source
    assert net.example is not None and net.example.shape[1:] == (1, 8, 8)


def test_bad_transfers_say_what_to_do(source):
    net, prior = source
    short = fv.Gaussian(prior.mean[:5], prior.log_std[:5])
    with pytest.raises(ValueError, match=rf"prior must cover the net's {net.dim} weights, got 5: fit it on the same net"):
        fv.transfer(net, short, treated="norm+head", head_std=0.1, scale=1.0)
    with pytest.raises(ValueError, match="scale must be > 0, got 0"):
        fv.transfer(net, prior, treated="norm+head", head_std=0.1, scale=0)
    with pytest.raises(ValueError, match="head_std must be a finite number > 0, got nan"):
        fv.transfer(net, prior, treated="norm+head", head_std=math.nan, scale=1)
