"""The loop of VI and SA-BMA: noise drawn ahead, checkpoints inside a block of it, members at once."""

import math

import pytest
import torch
from oracles import random_gaussian, stopping_at

import flatviz as fv
from flatviz.training import variational
from flatviz.training.batched import members_loss
from flatviz.training.noisy_nll import LocalNLL, NoisyNLL
from flatviz.training.optimize import training_loss
from flatviz.training.variational import Noise


@pytest.mark.parametrize(("seeds", "draws"), [([7], 1), ([7, 8], 1), ([7, 8, 9], 2)])
def test_noise_drawn_ahead_is_the_noise_of_one_draw_every_second_step_and_its_negative_after_it(seeds, draws, monkeypatch):
    monkeypatch.setattr(variational, "STEPS_AHEAD", 4)
    q = random_gaussian(0, dim=7, rank=3, dtype=torch.float32)
    ahead, sources = Noise(seeds, draws, q, 10), [torch.Generator().manual_seed(s) for s in seeds]
    want = torch.empty(0)
    for step in range(10):
        fresh = [torch.randn(draws, 10, generator=source) for source in sources] if step % 2 == 0 else None
        want = -want if fresh is None else torch.stack(fresh, 1)  # (draws, B, D + K)
        got = torch.stack([torch.cat(z, -1) for z in ahead.at(step)])
        assert torch.equal(got, want.squeeze(1) if len(seeds) == 1 else want)


@pytest.mark.parametrize("stop", [1, 3, 4, 5, 8])  # inside a block of 4 steps, at its last step, at the next one's first
@pytest.mark.parametrize("seeds", [[0], [0, 1]])
def test_a_run_stopped_anywhere_resumes_to_the_same_bits(seeds, stop, tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(variational, "STEPS_AHEAD", 4)
    net, data = tiny
    factor = 0.1 * torch.randn(2, net.dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    prior = fv.Gaussian(net.w, torch.full_like(net.w, -2.0), factor)

    def fit(checkpoint=None, stop=None):
        settings = dict(radius=[0.3], seed=seeds, steps=10, batch_size=5, checkpoint=checkpoint, progress=stopping_at(stop))
        return fv.fit_sabma(net, data, prior, **settings)

    with pytest.raises(KeyboardInterrupt):
        fit(tmp_path / "run", stop)
    resumed, whole = fit(tmp_path / "run"), fit()
    for member, q in whole.items():
        for name in ("mean", "log_std", "factor"):
            assert torch.equal(getattr(resumed[member], name), getattr(q, name))
        assert torch.equal(resumed[member].history.sharpness, q.history.sharpness)


N, RUNS = 20, 400


@pytest.fixture(scope="module")
def regression():
    g = torch.Generator().manual_seed(0)
    x = torch.randn(N, 3, generator=g)
    net = fv.Net.from_module(torch.nn.Linear(3, 1))
    data = fv.Data(x, x @ torch.tensor([[1.0], [-1.0], [0.5]]) + 0.1 * torch.randn(N, 1, generator=g))
    q = fv.Gaussian(torch.zeros(4), torch.full((4,), math.log(0.5)), factor=torch.full((1, 4), 0.2))
    return net, data, q


def _gradients(kind, loss, q, draws):
    """Gradients (RUNS, 3 D) in (mean, log_std, factor) of as many seeds."""
    noise = Noise([7], draws, q, RUNS)
    return torch.stack([torch.cat([g.flatten() for g in kind(loss, None, noise.at(i))(q)[1]]) for i in range(RUNS)])


def test_a_draw_for_each_example_has_the_same_mean_gradient_and_less_variance(regression):
    net, data, q = regression
    shared, _ = training_loss(net, data, 1.0, "frozen")
    plain = _gradients(NoisyNLL, shared, q, 1)
    local = _gradients(LocalNLL, members_loss(net, data, 1.0, "frozen", N), q, N)
    mean, log_std, factor = (t.clone().requires_grad_() for t in (q.mean, q.log_std, q.factor))
    X = torch.cat([data.x, torch.ones(N, 1)], 1)  # Linear's weights, then its bias
    covariance = torch.diag((2 * log_std).exp()) + factor.T @ factor
    exact = 0.5 * ((X @ mean - data.y[:, 0]).square() + ((X @ covariance) * X).sum(1)).mean()
    closed = torch.cat([g.flatten() for g in torch.autograd.grad(exact, (mean, log_std, factor))])
    for grads in (plain, local):
        pairs = grads.view(RUNS // 2, 2, -1).mean(1)  # of a draw and its negative
        error = pairs.std(0) / math.sqrt(len(pairs)) + 1e-6
        assert bool(((grads.mean(0) - closed).abs() < 5 * error).all())
    assert float(local.var(0).sum()) < 0.4 * float(plain.var(0).sum())


def test_local_trains_on_minibatches_with_several_draws_and_refuses_what_it_cannot(regression):
    net, data, q = regression
    settings = dict(seed=0, likelihood=1.0, steps=40, lr=0.02, local=True)
    small = fv.fit_vi(net, data, q, batch_size=5, mc_samples=2, **settings)
    assert float(small.history.loss[-10:].mean()) < float(small.history.loss[:10].mean())
    with pytest.raises(ValueError, match="batch_size must divide the 20 examples, got 6"):
        fv.fit_vi(net, data, q, batch_size=6, **settings)
    with pytest.raises(ValueError, match="one gradient for all examples, got an ascent"):
        fv.fit_vi(net, data, q, ascent=fv.SAM(0.1), **settings)


def test_a_scaled_start_has_all_its_widths_scaled(regression):
    net, data, q = regression
    first = fv.fit_vi(net, data, q, seed=0, likelihood=1.0, start_scale=0.5, steps=1, lr=1e-12)
    torch.testing.assert_close(first.std, 0.5 * q.std)
    torch.testing.assert_close(first.factor, 0.5 * q.factor)
