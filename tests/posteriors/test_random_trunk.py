"""A sampled trunk: what is drawn, what stays, against a loop over networks written by hand."""

import math
from functools import partial

import pytest
import torch
from oracles import stopping_at

import flatviz as fv
from flatviz.core.seeds import generator
from flatviz.training.losses import training_loss
from flatviz.training.run import Run


def test_predictions_are_those_of_networks_with_a_trunk_of_their_own(source, task):
    net, prior = source
    fixed, q = fv.transfer(net, prior, head_std=0.2)
    sampled, same = fv.transfer(net, prior, head_std=0.2, trunk="sampled")
    assert torch.equal(q.mean, same.mean) and sampled.dim == fixed.dim
    x = task.test.subset(torch.arange(50))
    seen = fv.predict(sampled, q, x, 6, seed=3)
    assert seen.trunk == "sampled" and fv.predict(fixed, q, x, 6, seed=3).trunk == "fixed"
    W, trunks = q.sample(6, seed=3), sampled.trunk.joined(q.sample(6, seed=3), seed=3)
    for i in range(6):
        module = net.to_module(trunks[i])  # blocks of the source net: the head has the same classes here
        for name, value in fixed.unflatten(W[i]).items():
            torch.testing.assert_close(dict(module.named_parameters())[name].detach(), value)
        torch.testing.assert_close(seen.outputs[i], module.eval()(x.x).detach(), atol=1e-5, rtol=1e-4)
    hidden = next(b for b in net.blocks if b.name == "1.weight").slice
    many = sampled.trunk.joined(q.sample(400, seed=0), seed=0)[:, hidden]
    spread = (prior.variance[hidden] / many.var(0)).log().abs().mean()
    assert float(spread) < 0.15  # 400 draws: the log of a variance is off by sqrt(2 / 400) = 0.07 on average


def test_a_training_pass_draws_a_trunk_and_the_second_pass_of_a_step_keeps_it(source, task):
    net, prior = source
    sampled, q = fv.transfer(net, prior, trunk="sampled", seed=5)
    loss = training_loss(sampled, task.train, Run(0))
    w = q.sample(1, seed=0)[0]  # at the mean the head is 0, whatever the trunk gives
    first, again, second = loss(w, None), loss.again(w, None), loss(w, None)
    assert torch.equal(first, again) and not torch.equal(first, second)
    trunk, g = sampled.trunk.prior, generator(5)
    drawn = trunk.mean + trunk.std * torch.randn(trunk.dim, generator=g) + torch.randn(2, generator=g) @ trunk.factor
    module = net.to_module(sampled.trunk.whole(w, drawn)).eval()
    by_hand = torch.nn.functional.cross_entropy(module(task.train.x), task.train.y)
    torch.testing.assert_close(first.detach(), by_hand.detach(), atol=1e-5, rtol=1e-4)


def test_fits_differ_from_those_with_a_fixed_trunk_and_follow_the_seed(source, task):
    fits = []
    for trunk, seed in (("fixed", 0), ("sampled", 0), ("sampled", 0), ("sampled", 1)):
        narrow, q = fv.transfer(*source, trunk=trunk, seed=seed)
        fits.append(fv.fit_sabma(narrow, task.train, q, radius=0.5, steps=4, seed=0).mean)
    assert [torch.equal(fits[1], other) for other in fits] == [False, True, True, False]


def test_a_stopped_fit_resumes_with_the_same_trunks(source, task, tmp_path):
    narrow, q = fv.transfer(*source, n_classes=10, trunk="sampled")
    fit = partial(fv.fit_vi, narrow, task.train, q, steps=6, seed=0)
    whole = fit()
    with pytest.raises(KeyboardInterrupt):
        fit(checkpoint=tmp_path / "c", progress=stopping_at(3))
    assert torch.equal(fit(checkpoint=tmp_path / "c").mean, whole.mean)


def test_objectives_keep_the_trunk_and_methods_that_need_a_function_refuse_it(source, task):
    fixed, q = fv.transfer(*source)
    sampled, _ = fv.transfer(*source, trunk="sampled")
    assert torch.equal(fv.nll(fixed, task.train)(q.mean), fv.nll(sampled, task.train)(q.mean))
    with pytest.raises(ValueError, match="Laplace needs a function of the weights, got a net with a sampled trunk"):
        fv.fit_laplace(sampled, task.train, seed=0)
    with pytest.raises(ValueError, match="trunk must be one of 'fixed', 'sampled', got 'free'"):
        fv.transfer(*source, trunk="free")
    assert math.isfinite(float(fv.predict(sampled, fv.Draws(q.mean[None]), task.test, 1, seed=0).scores["nll"][0]))
