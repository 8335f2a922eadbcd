"""Verbs run on as many threads as pay, and leave the user's number as it was."""

import threading

import pytest
import torch

import flatviz as fv
from flatviz.core.arithmetic import SHARE, threads
from flatviz.engine.trace import Program


@pytest.fixture(autouse=True)
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def elsewhere(function):
    """function() on a thread that begins now."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


@pytest.mark.parametrize(("work", "wanted"), [(0, 1), (SHARE, 1), (2 * SHARE, 2), (100 * SHARE, 2)])
def test_an_operation_has_as_many_threads_as_each_has_its_share_of_it_and_no_more_than_the_user_set(work, wanted):
    with threads(work):
        assert torch.get_num_threads() == wanted and elsewhere(torch.get_num_threads) == 2
        with threads(SHARE * 2):
            assert torch.get_num_threads() == 2 and elsewhere(torch.get_num_threads) == 2
        assert torch.get_num_threads() == wanted and elsewhere(torch.get_num_threads) == 2
    assert torch.get_num_threads() == 2 and elsewhere(torch.get_num_threads) == 2


def test_blocks_of_several_python_threads_do_not_meet_and_a_number_set_inside_stays():
    inside, leave = threading.Event(), threading.Event()

    def other():
        with threads(0):
            inside.set()
            leave.wait()
            return torch.get_num_threads()

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait()
    assert torch.get_num_threads() == 2
    with threads(0):
        leave.set()
        thread.join()
        assert torch.get_num_threads() == 1
    with threads(0):
        torch.set_num_threads(3)
    assert torch.get_num_threads() == 3


@pytest.mark.parametrize("error", [None, ValueError, KeyboardInterrupt])
def test_a_fit_of_a_small_net_takes_one_thread_and_puts_the_users_number_back_after_any_end(error, task):
    seen = []

    def progress(done, total, label):
        seen.append(torch.get_num_threads())
        if error is not None and done == 2:
            raise error

    fit = lambda: fv.fit_sgd(fv.Net.from_module(fv.models.mlp(task)), task.train, seed=0, steps=4, progress=progress)  # noqa: E731
    if error is None:
        fit()
    else:
        with pytest.raises(error):
            fit()
    assert set(seen) == {1} and torch.get_num_threads() == 2


def test_a_small_net_gives_the_same_bits_for_any_number_of_threads_and_a_large_one_has_them_all(task, monkeypatch):
    seen = []

    class Wide(torch.nn.Linear):
        def forward(self, x):
            seen.append(torch.get_num_threads())
            return super().forward(x)

    def values(n):
        torch.set_num_threads(n)
        net = fv.Net.from_module(fv.models.mlp(task, seed=0))
        q, f = fv.fit_sgd(net, task.train, seed=0, steps=4), fv.nll(net, task.train)
        surface = fv.slice_plane(f, fv.plane_random(net, net.w, seed=0), resolution=5)
        return torch.cat([q.center, surface.values.flatten(), fv.top_eigenpairs(f, q.center, 2).values])

    assert torch.equal(values(1), values(2))
    monkeypatch.setattr("flatviz.core.arithmetic.SHARE", 10_000)  # so that a net of the size of a test's is large
    wide = fv.Net.from_module(torch.nn.Sequential(Wide(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10)))
    data = fv.Data(torch.randn(128, 64), torch.arange(128) % 10)
    f, _ = fv.nll(wide, data), seen.clear()
    for call in (
        lambda: f.many(wide.w[None]),
        lambda: f.value_and_grad(wide.w),
        lambda: fv.hvp(f, wide.w, wide.w),
        lambda: fv.predict(wide, wide.w[None], data, 1, seed=0),
        lambda: fv.fit_sgd(wide, data, seed=0, steps=1),
    ):
        call()
        assert max(seen) == 2
        seen.clear()


def test_points_of_a_plane_are_shared_by_the_cores_with_one_thread_of_torch_each_and_the_same_bits(task, monkeypatch):
    net = fv.Net.from_module(fv.models.mlp(task, seed=0))
    f, plane, main, run = fv.nll(net, task.train), fv.plane_random(net, net.w, seed=0), threading.get_ident(), Program.run
    seen, both = set(), threading.Barrier(2, timeout=60)

    def noted(*about):
        here = (threading.get_ident(), torch.get_num_threads())
        if here not in seen and here[0] != main:
            seen.add(here)
            both.wait()  # for the other one: they run at once
        return run(*about)

    monkeypatch.setattr(Program, "run", noted)
    alone = fv.slice_plane(f, plane, extent=1.0, resolution=4).values
    assert not seen  # operations of a small net are short
    monkeypatch.setattr("flatviz.core.arithmetic.SHARED", 1)
    assert torch.equal(fv.slice_plane(f, plane, extent=1.0, resolution=4).values, alone)
    assert {count for _, count in seen} == {1} and torch.get_num_threads() == elsewhere(torch.get_num_threads) == 2
