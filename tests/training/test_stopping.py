"""Early stopping returns the best state that was checked, and a killed run with all of this ends as
if never stopped."""

import os
import signal
from functools import partial

import torch
from cases import fitted_by, mlp, net_of, normed, refused
from forked import forked
from pytest import approx, fixture, mark, raises
from torch import equal, randn

import flatviz as fv


@fixture
def case():
    """Twelve noisy labels to learn by heart, and others to judge by: the validation loss falls,
    then rises."""
    module = mlp(3, 16, 2)
    x = randn(40, 3)
    y = (x[:, 0] + 0.8 * randn(40) > 0).long()
    net = net_of(module)
    data = fv.Data(x[:12], y[:12])
    return net, data, fv.Data(x[12:], y[12:])


def prior_of(net):
    return fv.Gaussian(net.w, torch.full_like(net.w, -4.0), torch.full((2, net.dim), 0.01))


def run(cls, net, data, **how):
    """A fit of the method, `SABMA` with its prior, of 400 steps in 50 checks."""
    given = (net, data, prior_of(net)) if cls is fv.SABMA else (net, data)
    return fitted_by(cls)(*given, seed=0, steps=400, batch_size=4, **how)


GAUSSIAN = dict(radius=0.5, kl_weight=0.01, start_scale=0.2)


@mark.parametrize(
    "cls, how",
    [
        (fv.SGD, dict(lr=0.3)),
        (fv.SGD, dict(lr=0.3, batchnorm="train")),
        (fv.SABMA, GAUSSIAN),
        (fv.SABMA, GAUSSIAN | dict(radius=0.0)),
    ],
)
def test_the_best_state_that_was_checked_is_returned_and_the_run_ends(cls, how, case):
    net, data, validation = case
    if "batchnorm" in how:
        net = net_of(normed(3, 16, 2))
    training = fv.Training(validation=validation, patience=5)
    stopped = run(cls, net, data, training=training, **how)
    checks = stopped.history.validation
    assert len(checks) < 50
    assert len(stopped.history.loss) == 8 * len(checks)
    assert checks.argmin() == len(checks) - 6
    there = net.with_buffers(stopped.buffers) if stopped.buffers else net
    f = fv.nll(there, validation)
    assert f(stopped.center) == approx(float(checks.min()), abs=1e-6)
    never = run(cls, net, data, **how)
    assert never.history.validation is None
    there = net.with_buffers(never.buffers) if never.buffers else net
    found = fv.nll(there, validation)(never.center)
    assert found > checks.min()


@mark.parametrize(
    "cls, how",
    [
        (fv.SGD, {}),
        (
            fv.SABMA,
            dict(
                radius=0.3,
                kl_weight=0.1,
                start_scale=1.0,
            ),
        ),
    ],
)
def test_a_killed_run_in_bfloat16_in_parts_with_stopping_ends_as_if_never_stopped(
    cls, how, case, tmp_path, monkeypatch
):
    net, data, validation = case
    training = fv.Training(
        precision="bfloat16",
        accumulate=2,
        validation=validation,
        patience=9,
    )
    fit = partial(run, cls, net, data, lr=0.1, training=training, **how)
    whole = fit()
    monkeypatch.setattr("flatviz.training.driver.SAVE_EVERY", 0.0)
    errors = tmp_path / "errors"

    def die(done, total, label):
        if done == 23:
            os.kill(os.getpid(), signal.SIGKILL)

    killed = lambda: fit(checkpoint=tmp_path / "run", progress=die) and 0
    process = forked(killed, tmp_path / "out", errors)
    process.join(300)
    assert process.exitcode == -signal.SIGKILL, errors.read_text()
    seen = []
    note = lambda done, total, label: seen.append(done)
    resumed = fit(checkpoint=tmp_path / "run", progress=note)
    assert len(seen) <= len(whole.history.loss) - 22
    assert equal(resumed.center, whole.center)
    assert equal(resumed.history.validation, whole.history.validation)


@mark.parametrize("fit", [fitted_by(fv.SWAG), fitted_by(fv.SGLD), fitted_by(fv.SVGD)])
def test_validation_data_is_refused_by_what_collects_on_the_way(fit, case):
    net, data, validation = case
    with refused("validation must be None for .*, got 28 examples: weights that"):
        fit(net, data, seed=0, training=fv.Training(validation=validation))


def test_a_run_that_diverges_before_a_check_is_one_that_diverged(tiny):
    net, data = tiny
    how = fv.Training(validation=data)
    with raises(fv.Diverged, match="must stay finite, got NaN or inf"):
        fv.fit(net, data, fv.SGD(lr=1e38), seed=0, steps=9, training=how)


@mark.parametrize("steps", [5, 19])
def test_the_state_after_the_last_step_is_checked_too(steps, case):
    """Of a run shorter than an epoch of 12 steps, and of one that ends between two checks."""
    net, data, validation = case
    training = fv.Training(validation=validation)
    q = fv.fit(net, data, fv.SGD(), seed=0, steps=steps, batch_size=1, training=training)
    f = fv.nll(net, validation)
    checks = q.history.validation
    assert len(checks) == 1 + (steps > 12)
    assert f(q.W[0]) == approx(float(checks.min()), rel=1e-5)
