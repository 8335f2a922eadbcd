"""Random state: borrowed and given back."""

import random
import threading

import numpy as np
import torch
from torch import nn

import flatviz as fv


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
