"""Random state: borrowed and given back."""

import random

import numpy as np
import pytest
import torch

from flatviz.core.seeds import generator, saved_rng


def _states():
    return random.getstate(), np.random.get_state()[1].tolist(), torch.random.get_rng_state().tolist()


def test_a_block_may_draw_as_it_likes_and_nothing_moves_outside():
    before = _states()
    with pytest.raises(ZeroDivisionError), saved_rng(5):
        random.random(), np.random.rand(), torch.rand(3)
        raise ZeroDivisionError
    assert _states() == before


def test_the_seed_decides_what_the_block_draws():
    drawn = []
    for _ in range(2):
        with saved_rng(5):
            drawn.append((random.random(), float(np.random.rand()), float(torch.rand(()))))
    assert drawn[0] == drawn[1]


def test_a_seed_is_an_int():
    with pytest.raises(TypeError, match="seed must be an int, got 1.5"):
        generator(1.5)
