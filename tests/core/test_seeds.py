"""Random state: borrowed and given back."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from flatviz.core.progress import track
from flatviz.core.seeds import saved_rng


def _states():
    return (
        random.getstate(),
        np.random.get_state()[1].tolist(),
        torch.random.get_rng_state().tolist(),
    )


def test_a_block_may_draw_as_it_likes_and_nothing_moves_outside():
    before = _states()
    with pytest.raises(ZeroDivisionError), saved_rng(5):
        random.random(), np.random.rand(), torch.rand(3)
        raise ZeroDivisionError
    assert _states() == before


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
