"""Streams: each example is read once a step, ahead of it by workers, as a user's loader says."""

import multiprocessing
import pickle
import time
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import torch
from cases import around, fitted_by, mlp, net_of, numbers_of, refused
from oracles import equal, stopping_at
from pytest import fixture, mark, raises, warns
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)

import flatviz as fv
from flatviz.datasets import stream
from flatviz.training import training_loss

N = 32
X = torch.randn(N, 6, generator=torch.Generator().manual_seed(0))
Y = (X[:, 0] > 0).long()


class Counted(torch.utils.data.Dataset):
    """Examples with a count of reads, also of those in other processes."""

    def __init__(self, x=X):
        self.x = x
        self.targets = Y
        self.reads = torch.zeros(N).share_memory_()

    def __len__(self):
        return N

    def __getitem__(self, i):
        self.reads[i] += 1
        return self.x[i], int(Y[i])


@fixture
def case():
    net = net_of(mlp(6, 4, 2))
    return net, around(net, -2.0)


def begun(**how):
    """A data set whose reads are counted from now on, and its stream."""
    examples = Counted()
    data = stream(examples, **how)
    examples.reads.zero_()
    return examples, data


@mark.parametrize("draws", [1, 4])
@mark.parametrize("workers", [0, 2])
def test_a_fit_reads_each_example_once_a_step_looks_included(case, draws, workers):
    """Both gradients and all draws, and the checks before the first step."""
    net, prior = case
    examples, data = begun(workers=workers)
    fit = partial(fitted_by(fv.SABMA), prior=prior, radius=1.0, steps=12, batch_size=8, seed=0)
    fit(net, data, mc_samples=draws, lr=0.1)
    assert equal(examples.reads, torch.full((N,), 3.0))  # three epochs


def test_all_examples_and_those_of_members_are_read_once_a_step(case):
    net, _ = case
    examples, data = begun()
    fv.fit(net, data, fv.SGD(ascent=fv.SAM(0.1)), seed=0, steps=3)
    assert equal(examples.reads, torch.full((N,), 3.0))
    examples, data = begun()
    fv.fit(net, data, fv.Ensemble(members=2), seed=0, steps=4, batch_size=8)
    assert equal(examples.reads, torch.full((N,), 2.0))


def test_all_examples_in_parts_are_read_part_by_part(case, monkeypatch):
    net, _ = case
    _, data = begun()
    sizes = []
    read = fv.core.Stream.read
    monkeypatch.setattr(fv.core.Stream, "read", lambda self: sizes.append(len(self)) or read(self))
    training = fv.Training(accumulate=4)
    fv.fit(net, data, fv.SGD(), seed=0, steps=2, training=training)
    assert sizes == [8] * 8


@mark.parametrize("workers", [0, 2])
@mark.parametrize("batch_size", [7, None])
def test_a_stream_gives_the_bits_of_the_same_data_in_memory(case, workers, batch_size):
    net, prior = case
    state = torch.get_rng_state()
    how = dict(steps=6, batch_size=batch_size, seed=0)
    fields = dict(radius=0.5, mc_samples=1)
    data = stream(TensorDataset(X, Y), workers=workers)
    read = fv.fit(net, data, fv.SABMA(prior, **fields), **how)
    held = fv.fit(net, fv.Data(X, Y), fv.SABMA(prior, **fields), **how)
    assert all(map(equal, numbers_of(read), numbers_of(held)))
    assert equal(torch.get_rng_state(), state)
    assert not multiprocessing.active_children()


def test_large_minibatches_are_read_in_pieces(case, monkeypatch):
    net, _ = case
    fit = partial(fv.fit, net, method=fv.SGD(), seed=0, steps=5, batch_size=20)
    want = fit(fv.Data(X, Y)).center
    monkeypatch.setattr("flatviz.core.streams.AT_ONCE", 6)
    monkeypatch.setattr("flatviz.training.inputs.AT_ONCE", 6)
    for workers in (0, 2):
        examples, data = begun(workers=workers)
        assert equal(fit(data).center, want)
        assert examples.reads.sum() == 20 + 12 + 20 + 12 + 20


def test_the_next_minibatch_is_read_while_this_one_computes(case):
    net, _ = case
    examples, data = begun(workers=1)

    def wait(done, total, label):
        """After the first step, wait for examples of the second."""
        end = time.monotonic() + 60
        while done == 1 and examples.reads.sum() < 16:
            assert time.monotonic() < end, "nothing was read ahead"
            time.sleep(0.01)

    fv.fit(net, data, fv.SGD(), seed=0, steps=3, batch_size=8, progress=wait)
    assert examples.reads.sum() == 24  # and nothing beyond the last step


def test_a_resumed_fit_reads_no_minibatch_of_the_steps_before(case, tmp_path):
    net, _ = case

    class Named(Counted):
        def __reduce__(self):
            return Named, ()

    examples = Named()
    data = stream(examples)
    data = replace(data, x=replace(data.x, content="as it was"))
    fit = partial(
        fv.fit, net, data, fv.SGD(), seed=0, steps=12, batch_size=8, checkpoint=tmp_path / "run"
    )
    with raises(KeyboardInterrupt):
        fit(progress=stopping_at(9))
    examples.reads.zero_()
    resumed = fit()
    assert examples.reads.sum() == 3 * 8
    whole = fv.fit(net, data, fv.SGD(), seed=0, steps=12, batch_size=8)
    assert equal(resumed.center, whole.center)


@mark.parametrize("step", [0, 3])
def test_workers_end_with_a_fit_that_is_cancelled(case, step):
    net, _ = case
    _, data = begun(workers=2)
    with raises(KeyboardInterrupt) as error:  # whose traceback keeps the frames of the fit
        fv.fit(net, data, fv.SGD(), seed=0, steps=9, batch_size=8, progress=stopping_at(step))
    assert error.traceback
    assert not multiprocessing.active_children()


def initialised(worker):
    """Mark a worker of its own."""
    INIT[worker] = 1


INIT = torch.zeros(4).share_memory_()
BATCHES = torch.zeros(1).share_memory_()


def counted_batches(pairs):
    BATCHES.add_(1)
    x, y = zip(*pairs)
    return torch.stack(x), torch.tensor(y)


def test_a_loader_passes_on_how_it_reads(case):
    net, _ = case
    INIT.zero_()
    BATCHES.zero_()
    loader = DataLoader(
        Counted(),
        batch_size=5,
        shuffle=True,
        num_workers=2,
        collate_fn=counted_batches,
        worker_init_fn=initialised,
        prefetch_factor=3,
        timeout=100,
        multiprocessing_context="fork",
    )
    data = stream(loader)
    assert repr(data).startswith("Data(32 examples, x (32, 6) float32, streamed by 2 workers")
    reading = data.x.reading
    assert (reading.prefetch_factor, reading.timeout) == (3, 100)
    assert reading.multiprocessing_context.get_start_method() == "fork"
    BATCHES.zero_()
    fit = fv.fit(net, data, fv.SGD(), seed=0, steps=4, batch_size=8)
    assert equal(INIT, torch.tensor([1.0, 1.0, 0.0, 0.0]))
    assert BATCHES == 4
    assert equal(
        fit.center, fv.fit(net, fv.Data(X, Y), fv.SGD(), seed=0, steps=4, batch_size=8).center
    )
    alone = stream(loader, workers=0)
    assert alone.x.reading.num_workers == 0
    assert equal(alone.x[:], X)


class InTurn(BatchSampler):
    """A batch sampler of a user's own."""


PAIRS = TensorDataset(X, Y)
OTHERS = {
    "a WeightedRandomSampler": dict(sampler=WeightedRandomSampler(torch.rand(N), N)),
    "a SubsetRandomSampler": dict(sampler=SubsetRandomSampler(range(N))),
    "a RandomSampler": dict(sampler=RandomSampler(PAIRS, replacement=True)),
    "drop_last=True": dict(batch_size=5, drop_last=True),
    "a InTurn": dict(batch_sampler=InTurn(SequentialSampler(PAIRS), 4, False)),
}


@mark.parametrize("came", OTHERS)
def test_of_a_loader_that_reads_other_examples_the_data_are_its_data_sets(came):
    name = came.removeprefix("a ").partition("=")[0]
    silent = name in ("SubsetRandomSampler", "RandomSampler")  # a shuffle, as far as one can tell
    with nullcontext() if silent else warns(UserWarning, match=f"once each: .*{name}"):
        data = stream(DataLoader(PAIRS, **OTHERS[came]))
    assert equal(data.x[:], X)


@mark.parametrize(
    "loader", [DataLoader(PAIRS, 4), DataLoader(PAIRS, None), DataLoader(PAIRS, 4, True)]
)
def test_plain_and_shuffled_loaders_are_their_data_sets(loader):
    assert equal(stream(loader).x[:], X)


def spoilt(row):
    x = list(X)
    x[5] = row
    return x


@mark.parametrize("workers", [0, 1])
@mark.parametrize(
    "row, text",
    [
        (torch.full((6,), float("nan")), "x must be finite, got NaN or inf values in a batch"),
        (torch.zeros(5), r"inputs must be of one shape, \(6,\), got others: give a transform"),
    ],
)
def test_a_fault_of_an_example_is_the_same_error_from_a_worker(case, workers, row, text):
    data = stream(Counted(spoilt(row)), workers=workers)
    with raises(ValueError) as error:
        fv.fit(case[0], data, fv.SGD(), seed=0, steps=4, batch_size=8)
    error.match(f"^{text}")  # no traceback of a process before it


def padded(pairs):
    x, y = zip(*pairs)
    return torch.nn.functional.pad(torch.stack(x), (0, len(pairs) % 2)), torch.tensor(y)


@mark.parametrize(
    "collate, text",
    [
        (padded, r"one shape, \(6,\), got a batch of shape \(5, 7\) from the loader's collate_fn"),
        (lambda pairs: {"x": pairs}, r"collate_fn must return \(x tensor, y\), got dict"),
        (lambda pairs: (torch.stack([x for x, _ in pairs]) + torch.rand(()), Y), "the same each"),
    ],
)
def test_a_collation_that_gives_no_stream_is_one_clear_error(collate, text):
    with refused(text, (TypeError, ValueError)):
        _ = stream(DataLoader(PAIRS, 8, collate_fn=collate)).x[:5]


def test_a_daemon_reads_by_itself_and_says_so(case, monkeypatch):
    net, _ = case
    _, data = begun(workers=2)
    assert fv.fit(net, data, fv.SGD(), seed=0, steps=2, batch_size=8).history.notes == ()
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    fit = fv.fit(net, data, fv.SGD(), seed=0, steps=2, batch_size=8)
    (note,) = fit.history.notes
    assert note.startswith("a daemon process starts no others")


def test_random_examples_are_refused_with_the_road_of_augmentation():
    class Noisy(Counted):
        def __getitem__(self, i):
            return X[i] + torch.rand(6), 0

    with refused("got random ones .*give them to the fit, augment=transform"):
        stream(Noisy())


def test_looks_read_few_examples_once_and_leave_the_hash_alone(case):
    net, _ = case
    examples, data = begun()
    for _ in range(2):
        training_loss(net, data)
        training_loss(net, data.to("cpu"))
    assert examples.reads.sum() == 0
    half = data.subset(torch.arange(0, N, 2))
    training_loss(net, half)
    first = examples.reads.sum()
    assert first <= 8
    training_loss(net, half)
    assert examples.reads.sum() == first
    kept = replace(stream(PAIRS).x, content=1)
    fresh = replace(kept, looked={})
    assert pickle.dumps(kept) == pickle.dumps(fresh)


def test_a_stream_is_augmented_once_a_step(case):
    net, prior = case
    examples, data = begun()
    augment = lambda x, generator: x + torch.randn(x.shape, generator=generator)
    how = dict(seed=0, steps=4, batch_size=8, augment=augment)
    how_fields = dict(radius=0.5, mc_samples=2)
    read = fv.fit(net, data, fv.SABMA(prior, **how_fields), **how)
    assert equal(examples.reads, torch.ones(N))
    assert_close = torch.testing.assert_close
    held = fv.fit(net, fv.Data(X, Y), fv.SABMA(prior, **how_fields), **how)
    for found, want in zip(numbers_of(read), numbers_of(held)):
        assert_close(found, want, rtol=1e-4, atol=1e-5)
