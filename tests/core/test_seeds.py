"""Random state: borrowed and given back."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from torch import nn

import flatviz as fv
from flatviz.core.progress import track
from flatviz.core.seeds import random_state, saved_rng


def test_a_block_may_draw_as_it_likes_and_nothing_moves_outside():
    before = random_state()
    with pytest.raises(ZeroDivisionError), saved_rng(5):
        torch.rand(3)
        raise ZeroDivisionError
    assert random_state() == before


def test_draws_of_another_thread_do_not_repeat_while_verbs_draw(task):
    """Of Python, NumPy and torch; by a hash of the first numbers."""
    net = fv.Net.from_module(nn.Sequential(nn.Flatten(), nn.Linear(64, 10)))
    drawn = []
    ready = threading.Event()

    def user():
        while not ready.is_set() or len(drawn) < 2000:
            drawn.append((random.random(), np.random.rand(), float(torch.rand((), dtype=float))))

    thread = threading.Thread(target=user)
    thread.start()
    for seed in range(5):
        fv.fit_ensemble(net, task.train, members=2, seed=seed, steps=1)
        fv.models.mlp(task, seed=seed)
        fv.predict(net, net.w[None], task.test, 1, seed=0)
    ready.set()
    thread.join()
    for numbers in zip(*drawn):
        assert len(set(numbers)) == len(drawn)


def test_fused_dropout_which_takes_no_generator_follows_the_seed_and_moves_nothing():
    before = random_state()

    def dropped():
        with saved_rng(3):
            return torch.native_dropout(torch.ones(50), 0.5, True)[0]

    assert torch.equal(dropped(), dropped())
    assert 0 < int((dropped() == 0).sum()) < 50
    assert random_state() == before


def test_beside_the_main_thread_the_users_numbers_go_on_and_the_seeds_are_the_same():
    def draws():
        return [
            torch.rand(3),
            torch.randn(2),
            torch.randint(9, (2,)),
            torch.randperm(5),
            torch.zeros(3).uniform_(),
        ]

    with saved_rng(5):
        want = draws()

    def background():
        with saved_rng(5):
            got = draws()
            begun.set()
            assert ready.wait(10)
        return got

    begun = threading.Event()
    ready = threading.Event()
    torch.manual_seed(11)
    stream = torch.rand(4)
    torch.manual_seed(11)
    with ThreadPoolExecutor(1) as thread:
        job = thread.submit(background)
        assert begun.wait(10)
        mine = torch.rand(2)
        ready.set()
        got = job.result()
    assert torch.equal(torch.cat([mine, torch.rand(2)]), stream)
    assert all(map(torch.equal, got, want))


def test_a_callback_hears_of_every_step_and_of_the_end():
    heard = []
    assert list(track([1, 2, 3], "work", lambda *a: heard.append(a))) == [1, 2, 3]
    assert heard == [(0, 3, "work"), (1, 3, "work"), (2, 3, "work"), (3, 3, "work")]


def test_a_bar_shows_its_label_and_without_progress_nothing_is_written(capsys):
    list(track(range(3), "surface", True))
    assert "surface" in capsys.readouterr().err
    list(track(range(3), "surface", False))
    assert capsys.readouterr().err == ""
