"""Random state: borrowed and given back."""

import random
import threading

import numpy as np
import torch
from pytest import mark, raises
from torch import nn

import flatviz as fv
from flatviz.core.seeds import random_state


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


class Draws(torch.nn.Linear):
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
    "torch": lambda: torch.rand(()),
}


@mark.parametrize("used", [False, True], ids=["beside its outputs", "for its outputs"])
@mark.parametrize("source", SOURCES)
def test_a_module_that_draws_is_refused_or_moves_generators_of_python_and_numpy_alone(source, used):
    net = fv.Net.from_module(Draws(SOURCES[source], used))
    data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
    *others, of_torch = random_state()
    fit = lambda: fv.fit_sgd(net, data, seed=0, steps=2)
    if used or source == "torch":
        with raises(ValueError, match="must be a function of its weights"):
            fit()
    else:
        fit()
        assert random_state()[:2] != tuple(others)  # as documented at `Net`
    if source == "torch":
        with raises(ValueError, match="must be a function of its weights"):
            fv.predict(net, net.w[None], data, 1, seed=0)
    assert random_state()[2] == of_torch
