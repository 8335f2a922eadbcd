"""Random state: borrowed and given back."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from cases import blobs, net_of, refused
from pytest import mark
from torch import equal, nn, rand, randn

import flatviz as fv
from flatviz.core import random_state, saved_rng


def test_beside_the_main_thread_the_users_numbers_go_on_and_the_seeds_are_the_same():
    begun = threading.Event()
    ready = threading.Event()

    def draws():
        with saved_rng(5):
            return [rand(3), randn(2), torch.randint(9, (2,)), torch.randperm(5)]

    def background():
        with saved_rng(5):
            begun.set()
            assert ready.wait(10)
            return draws()

    want = draws()
    torch.manual_seed(11)
    stream = rand(4)
    torch.manual_seed(11)
    with ThreadPoolExecutor(1) as thread:
        job = thread.submit(background)
        assert begun.wait(10)
        mine = rand(2)
        ready.set()
        got = job.result()
    found = torch.cat([mine, rand(2)])
    assert equal(found, stream)
    assert all(map(equal, got, want))


class Draws(nn.Linear):
    """Draws a number in each pass, for its outputs or beside them."""

    def __init__(self, draw, used):
        super().__init__(2, 3)
        self.draw = draw
        self.used = used

    def forward(self, x):
        number = self.draw()
        return super().forward(x) * (1 + number if self.used else 1)


SOURCES = {
    "random": random.random,
    "numpy": lambda: np.random.rand(),
    "torch": lambda: rand(()),
}


@mark.parametrize("used", [False, True], ids=["beside its outputs", "for its outputs"])
@mark.parametrize("source", SOURCES)
def test_a_module_that_draws_is_refused_or_moves_generators_of_python_and_numpy_alone(source, used):
    net = net_of(Draws(SOURCES[source], used))
    data = blobs(12, 2, 3)
    *others, of_torch = random_state()
    fit = lambda: fv.fit(net, data, fv.SGD(), seed=0, steps=2)
    if used or source == "torch":
        with refused("must be a function of its weights"):
            fit()
    else:
        fit()
        assert random_state()[:2] != tuple(others)  # as documented at `Net`
    if source == "torch":
        with refused("must be a function of its weights"):
            fv.predict(net, net.w[None], data, 1, seed=0)
    assert random_state()[2] == of_torch


def test_draws_of_another_thread_do_not_repeat_while_verbs_draw(task):
    """Of Python, NumPy and torch; by a hash of the first numbers."""
    net = fv.Net.from_module(nn.Sequential(nn.Flatten(), nn.Linear(64, 10)))
    drawn = []
    ready = threading.Event()

    def user():
        while not ready.is_set() or len(drawn) < 2000:
            drawn.append((random.random(), np.random.rand(), float(rand((), dtype=float))))

    thread = threading.Thread(target=user)
    thread.start()
    for seed in range(5):
        fv.fit(net, task.train, fv.Ensemble(members=2), seed=seed, steps=1)
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

    assert equal(dropped(), dropped())
    assert 0 < int((dropped() == 0).sum()) < 50
    assert random_state() == before
