"""A method is `init` and `update`: stepped by hand it is its fit; a step changes nothing, reads
nothing back, and can be replayed."""

from functools import partial

import pytest
import torch
from cases import refused
from every_method import STEPS, algorithms
from internals import NOT_REPLAYED, RECORDERS
from oracles import equal
from pytest import fixture
from torch import Tensor, zeros
from torch.utils._python_dispatch import TorchDispatchMode

import flatviz as fv
from flatviz.training import Run, Stepped, training_loss
from flatviz.training.driver import drive
from flatviz.training.streams import minibatches

NAMES = list(algorithms(fv.Gaussian(zeros(2), zeros(2)), 1))


def final(kind):
    """The classes of flatviz that derive from `kind` and that nothing derives from."""
    kinds = [c for c in kind.__subclasses__() if c.__module__.startswith("flatviz.")]
    return [leaf for c in kinds for leaf in final(c)] if kinds else [kind]


def test_every_algorithm_has_a_row():
    q = fv.Gaussian(zeros(2), zeros(2))
    cases = algorithms(q, 1).values()
    assert fv.METHODS
    missing = set(final(Stepped)) - {type(algorithm) for algorithm, *_ in cases} - {fv.VI}
    assert not missing, f"add a row of `algorithms` in tests/every_method.py for {missing}"


@fixture(params=NAMES)
def case(request, small):
    """(algorithm, its state at the start, loss, further keywords of the driver)."""
    net, data, prior = small
    algorithm, start, keep = algorithms(prior, len(data))[request.param]
    chains = isinstance(start, Tensor) and start.ndim == 2
    draws = 2 if isinstance(start, fv.Gaussian) else 1
    loss = training_loss(net, data, members=3 if chains else 1, draws=draws)
    how = dict(seeds=[0, 1, 2], shuffle=[0, 1, 2]) if chains else dict(seeds=[0], shuffle=0)
    return algorithm, algorithm.init(start), loss, how | dict(keep=keep)


def clone(state):
    return type(state)(*(value.clone() if isinstance(value, Tensor) else value for value in state))


def test_stepped_by_hand_it_is_what_the_driver_makes_of_it(case):
    algorithm, start, loss, how = case
    noise = algorithm.noise(start, how["seeds"], STEPS)
    batches = minibatches(24, 7, how["shuffle"], start[0].device)
    state = start
    losses = []
    kept = ()
    for step in range(STEPS):
        before = clone(state)
        given = (loss, next(batches), noise.at(step))
        factor = algorithm.schedule(step, STEPS)
        rate = {} if factor is None else {"rate": torch.tensor(factor, dtype=torch.float64)}
        after, record = algorithm.update(state, *given, **rate)
        # A function, of what stays as it is
        assert equal(before, state)
        assert equal(algorithm.update(before, *given, **rate)[0], after)
        losses.append(record.loss)
        state = after
        kept = algorithm.collect(kept, state) if step in how["keep"] else kept
    driven = drive(algorithm, start, loss, Run(batch_size=7), steps=STEPS, **how)
    assert equal(state, driven.state)
    assert equal(kept, driven.kept)
    assert torch.equal(driven.history.loss, torch.stack(losses))
    assert isinstance(algorithm.result(*driven), fv.Posterior)


def test_noise_of_another_shape_is_one_clear_error(case):
    algorithm, state, loss, how = case
    noise = algorithm.noise(state, how["seeds"], STEPS).at(0)
    wrong = [None, (None,), (), noise + noise, tuple(z[..., :-1] for z in noise)] if noise else []
    for given in wrong:
        with refused("noise must be standard normal tensors of shapes"):
            algorithm.update(state, loss, None, given)


class NothingIsRead(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        assert func is not torch.ops.aten._local_scalar_dense.default, (
            "a value was read back to the host"
        )
        return func(*args, **(kwargs or {}))


def test_a_step_reads_nothing_back_to_the_host(case):
    algorithm, state, loss, how = case
    noise = algorithm.noise(state, how["seeds"], STEPS)
    algorithm.update(state, loss, None, noise.at(0))  # what is made once
    with NothingIsRead():
        algorithm.update(state, loss, None, noise.at(1))


def record(warm, step):
    """A stand-in for a graph: what is recorded runs at each replay."""
    warm()
    return step


def test_a_replayed_step_is_the_step_and_a_note_says_why_one_is_not(case, monkeypatch):
    algorithm, start, loss, how = case
    # The last batch of an epoch has 3
    go = partial(drive, algorithm, start, loss, Run(batch_size=7), steps=STEPS, **how)
    plain, history, _ = go()
    assert history.notes == ()
    monkeypatch.setitem(RECORDERS, "cpu", record)
    replayed, history, _ = go()
    assert equal(plain, replayed)
    assert history.notes == ()

    def refuses(warm, step):
        raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setitem(RECORDERS, "cpu", refuses)
    refused, history, _ = go()
    assert equal(plain, refused)
    assert history.notes == (f"{NOT_REPLAYED}: operation not permitted when stream is capturing",)


def test_a_loss_that_changes_something_is_not_replayed(conv, task, monkeypatch):
    fails = lambda warm, step: pytest.fail("recorded")
    monkeypatch.setitem(RECORDERS, "cpu", fails)
    q = fv.fit(conv[0], task.train, fv.SGD(), seed=0, steps=2, batchnorm="train")
    (note,) = q.history.notes
    assert note.startswith(NOT_REPLAYED)
    assert "statistics of BatchNorm" in note
