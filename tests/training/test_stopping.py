"""Early stopping returns the best state that was checked, and a killed run with all of this ends as
if never stopped."""

import math
import os
import signal
from functools import partial

import torch
from cases import mlp, net_of, refused
from forked import forked
from pytest import approx, fixture, mark, raises
from torch import equal, nn, randn

import flatviz as fv
from flatviz.training import SGD, Run, driver, training_loss


@fixture
def case():
    """Twelve noisy labels to learn by heart, and others to judge by: the validation loss falls,
    then rises."""
    module = mlp(3, 16, 2)
    x = randn(40, 3)
    y = (x[:, 0] + 0.8 * randn(40) > 0).long()
    net = net_of(module)
    return net, fv.Data(x[:12], y[:12]), fv.Data(x[12:], y[12:])


def prior_of(net):
    return fv.Gaussian(net.w, torch.full_like(net.w, -4.0), torch.full((2, net.dim), 0.01))


def test_the_best_weights_that_were_checked_are_returned_and_the_run_ends(case):
    net, data, validation = case
    half_cosine = [0.5 * (1 + math.cos(math.pi * step / 400)) for step in range(400)]
    sgd = SGD(0.3 * torch.tensor(half_cosine, dtype=torch.float64), 0.9, 5e-4)
    start = sgd.init(net.w)
    keep = range(7, 400, 8)  # 400 steps in 50 checks; an epoch has 3
    loss = training_loss(net, data)
    _, _, kept = driver.drive(sgd, start, loss, Run(batch_size=4), steps=400, keep=keep)
    checked = torch.stack(kept)
    checks = fv.nll(net, validation).many(checked)
    best = int(checks[:20].argmin())
    fit = partial(
        fv.fit_sgd, net, data, seed=0, steps=400, lr=0.3, batch_size=4, batchnorm="frozen"
    )
    stopped = fit(training=fv.Training(validation=validation, patience=5))
    n = len(stopped.history.validation)
    assert best + 6 == n < 50
    assert len(stopped.history.loss) == 8 * n
    assert equal(stopped.W[0], checked[best])
    torch.testing.assert_close(stopped.history.validation, checks[:n], rtol=1e-5, atol=1e-6)
    assert fit().history.validation is None


@mark.parametrize("radius", [0.0, 0.5])
def test_a_gaussian_is_judged_at_its_mean(case, radius):
    net, data, validation = case
    fit = partial(
        fv.fit_sabma,
        net,
        data,
        prior_of(net),
        radius=radius,
        seed=0,
        steps=300,
        kl_weight=0.01,
        start_scale=0.2,
    )
    q = fit(training=fv.Training(validation=validation, patience=4))
    long = fit()
    assert fv.nll(net, validation)(q.mean) == approx(float(q.history.validation.min()), abs=1e-6)
    assert fv.nll(net, validation)(long.mean) > q.history.validation.min()


def test_statistics_of_batchnorm_are_those_of_the_best_check():
    module = nn.Sequential(nn.Linear(3, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, 2))
    x = randn(60, 3)
    y = torch.randint(0, 2, (60,))
    data = fv.Data(x[:20], y[:20])
    validation = fv.Data(x[20:], y[20:])
    training = fv.Training(validation=validation, patience=3)
    fit = fv.fit_sgd(
        net_of(module), data, seed=0, steps=60, lr=0.2, training=training, batch_size=10
    )
    assert len(fit.history.loss) < 60
    there = fv.nll(net_of(module).with_buffers(fit.buffers), validation)(fit.W[0])
    assert there == approx(float(fit.history.validation.min()), abs=1e-6)


@mark.parametrize("name", ["fit_sgd", "fit_sabma"])
def test_a_killed_run_in_bfloat16_in_parts_with_stopping_ends_as_if_never_stopped(
    name, case, tmp_path, monkeypatch
):
    net, data, validation = case
    training = fv.Training(precision="bfloat16", accumulate=2, validation=validation, patience=9)
    more = (
        {"prior": prior_of(net), "radius": 0.3, "kl_weight": 0.1, "start_scale": 1.0}
        if name == "fit_sabma"
        else {}
    )
    fit = partial(
        getattr(fv, name),
        net,
        data,
        seed=0,
        steps=60,
        lr=0.1,
        batch_size=5,
        training=training,
        **more,
    )
    whole = fit()
    monkeypatch.setattr(driver, "SAVE_EVERY", 0.0)

    def die(done, total, label):
        if done == 23:
            os.kill(os.getpid(), signal.SIGKILL)

    process = forked(
        lambda: fit(checkpoint=tmp_path / "run", progress=die) and 0,
        tmp_path / "out",
        tmp_path / "errors",
    )
    process.join(300)
    assert process.exitcode == -signal.SIGKILL, (tmp_path / "errors").read_text()
    seen = []
    resumed = fit(
        checkpoint=tmp_path / "run", progress=lambda done, total, label: seen.append(done)
    )
    assert len(seen) <= len(whole.history.loss) - 22
    assert equal(resumed.center, whole.center)
    assert equal(resumed.history.validation, whole.history.validation)


@mark.parametrize("fit", [fv.fit_swag, fv.fit_sgld, fv.fit_svgd])
def test_validation_data_is_refused_by_what_collects_on_the_way(fit, case):
    net, data, validation = case
    with refused("validation must be None for .*, got 28 examples: weights that"):
        fit(net, data, seed=0, training=fv.Training(validation=validation))


def test_a_run_that_diverges_before_a_check_is_one_that_diverged(tiny):
    net, data = tiny
    how = fv.Training(validation=data)
    with raises(fv.Diverged, match="must stay finite, got NaN or inf"):
        fv.fit_sgd(net, data, seed=0, steps=9, lr=1e38, training=how)
