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
            return [torch.rand(3), randn(2), torch.randint(9, (2,)), torch.randperm(5)]

    def background():
        with saved_rng(5):
            begun.set()
            assert ready.wait(10)
            return draws()

    want = draws()
    torch.manual_seed(11)
    stream = torch.rand(4)
    torch.manual_seed(11)
    with ThreadPoolExecutor(1) as thread:
        job = thread.submit(background)
        assert begun.wait(10)
        mine = torch.rand(2)
        ready.set()
        got = job.result()
    found = torch.cat([mine, torch.rand(2)])
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
    fit = lambda: fv.fit_sgd(net, data, seed=0, steps=2)
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
