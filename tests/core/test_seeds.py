"""Random state: borrowed and given back."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from pytest import mark, raises
from torch import nn

import flatviz as fv
from flatviz.core.seeds import random_state, saved_rng


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


@mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_verbs_give_the_same_numbers_whatever_torchs_default_dtype_is(dtype):
    """The dtype is the whole process's; others are drawn in float64, and bfloat16 has 3 digits."""
    layers = nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 2)
    net = fv.Net.from_module(nn.Sequential(*layers))
    other = net.at(net.w + 0.1)
    data = fv.Data(torch.rand(12, 6), torch.arange(12) % 2)
    images = fv.Data(torch.rand(12, 1, 8, 8), data.y)
    prior = fv.Gaussian(net.w, torch.full_like(net.w, -1.0))
    regression = fv.Prediction(torch.randn(2, 9, 1), torch.randn(9, 1), 0.5)
    W = torch.randn(8, net.dim)
    scores = torch.rand(9), torch.rand(7)

    def numbers():
        task = fv.datasets.moons_transfer(seed=0)
        kinds = "gaussian_noise", "impulse_noise", "fog", "rotate"
        return [
            *(part.tensor() for part in task.parts().values()),
            *(fv.datasets.corrupt(images, kind, 3, seed=0).x for kind in kinds),
            *fv.models.mlp(task, seed=1).state_dict().values(),
            *fv.models.learned_noise(layers[0]).state_dict().values(),
            fv.symmetry.units_of(net).power,
            fv.symmetry.mmd(W, {"other": -W}, permutations=2)["other"].value,
            fv.metrics.quantile_calibration_error(regression),
            fv.metrics.crps(regression),
            torch.as_tensor(fv.metrics.ood_scores(*scores)["auroc"], dtype=torch.float64),
            fv.fit_psgld(net, data, seed=0, n_draws=2, burn_in=3, thin=1).W,
            fv.fit_dropout(net, data, seed=0, steps=3, n_draws=2, rate=0.3).W,
            fv.fit_hmc(net, data, prior, seed=0, n_draws=2, burn_in=3, chains=2).W,
            fv.compare(net, other, data, resolution=3).surface.values,
        ]

    expected = numbers()
    torch.set_default_dtype(dtype)
    try:
        got = numbers()
        fv.plot(fv.top_eigenpairs(fv.nll(net, data), net.w, 2))
    finally:
        torch.set_default_dtype(torch.float32)
    for a, b in zip(got, expected):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-6)  # the edges of a grid are rounded
