"""Shared by all tests: one thread, a cache folder of its own, small networks on real data."""

from __future__ import annotations

import os
import tempfile
import threading
import time

_cache = tempfile.TemporaryDirectory(prefix="flatviz-tests-")
os.environ["FLATVIZ_CACHE"] = _cache.name  # before anything of ours is imported

import pytest
import torch
from browsing import chromium, need_chromium, standing
from cases import normals, rng
from internals import pack
from oracles import random_gaussian
from pytest import fixture, skip
from second_device import missing, second_device
from torch import float64, nn, randn

import flatviz as fv
from flatviz import families

torch.set_num_threads(int(os.environ.get("FLATVIZ_TEST_THREADS", 1)))
SHIFT = int(os.environ.get("FLATVIZ_TEST_SEED", 0))


@fixture(autouse=True, scope="session")
def shifted_seeds():
    """FLATVIZ_TEST_SEED is added to every seed of torch.manual_seed: a test holds for other weights
    and inputs as well."""
    plain = torch.manual_seed
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "manual_seed", lambda seed: plain(seed + SHIFT))
        yield


@fixture(autouse=True)
def seeded(shifted_seeds):
    """Weights and inputs that a test draws are the same whatever ran before it, and the random
    state outside stays."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


@fixture(scope="session")
def task() -> fv.Task:
    """The digits, 10 shots a class."""
    return fv.datasets.digits_transfer(shots=10, seed=0)


@fixture(scope="session")
def transferred(task):
    """(net, prior) of the LayerNorm MLP after a short pre-training: D = 906."""
    source = fv.pretrain(fv.models.mlp(task), task.source, seed=0, epochs=8)
    swag = fv.fit(source, task.source, fv.SWAG(rank=5, snapshots=8), seed=0)
    return fv.transfer(
        source,
        swag,
        treated="norm+head",
        head_std=0.1,
        scale=64,
    )


@fixture(scope="session")
def conv(task):
    """(net, prior) of the BatchNorm conv net after a short pre-training."""
    source = fv.pretrain(fv.models.convnet(task), task.source, seed=0, epochs=6)
    swag = fv.fit(
        source,
        task.source,
        fv.SWAG(rank=3, snapshots=4, lr=0.005),
        seed=0,
    )
    return fv.transfer(
        source,
        swag,
        treated="norm+head",
        head_std=0.1,
        scale=64,
    )


@fixture(scope="session")
def family(task, transferred):
    """A measured family of seven members: few radii, steps, draws and cells."""
    net, prior = transferred
    radii = {"sgd": (0.0,), "vi": (0.0,), "sam_mu": (0.0, 0.2), "sabma": (0.0, 0.5, 2.0)}
    fitted = families.fit_family(
        net,
        task,
        prior,
        radii=radii,
        seed=0,
        fit={"steps": 40},
    )
    return families.measure(
        net, task, fitted, seed=1, n_draws=6, n_spectra=2, k=3, resolution=11, around_resolution=9
    )


@fixture(scope="session")
def bundle(family):
    """The family as page and lab hold it."""
    return pack(family)


@fixture(scope="session")
def moons():
    """(net, task, prior, family) of two moons, a task in the plane: few steps, draws and cells."""
    task = fv.datasets.moons_transfer(seed=0)
    source = fv.pretrain(fv.models.mlp(task, hidden=(8,)), task.source, seed=0, epochs=3)
    q = fv.fit(source, task.source, fv.SWAG(), seed=0)
    net, prior = fv.transfer(source, q, treated="norm+head")
    radii = {"sgd": (0.0,), "vi": (0.0,), "sam_mu": (0.1,), "sabma": (0.0, 0.5, 2.0)}
    family = families.fit_family(
        net,
        task,
        prior,
        radii=radii,
        seed=0,
        fit={"steps": 3},
    )
    few = dict(n_draws=12, n_spectra=1, k=2, resolution=5, around_resolution=5)
    return net, task, prior, families.measure(net, task, family, seed=1, **few)


@fixture
def tiny():
    """A float64 MLP on 12 points, all weights treated, small enough for dense algebra: D =
    2*4+4+8+4*3+3 = 35."""
    torch.manual_seed(3)
    module = nn.Sequential(nn.Linear(2, 4), nn.LayerNorm(4), nn.Tanh(), nn.Linear(4, 3)).double()
    x = randn(12, 2, dtype=float64)
    y = torch.randint(0, 3, (12,))
    net = fv.Net.from_module(module)
    return net, fv.Data(x, y)


@fixture
def quadratic():
    """f(w) = 1/2 (w - c)^T H (w - c) with known H (D, D), D = 12, float64."""
    generator = rng(1)
    root = normals(12, 12, source=generator)
    H = root @ root.T + torch.eye(12, dtype=float64)
    c = normals(12, source=generator)

    def f(w):
        r = w.to(H) - c
        return 0.5 * r @ H @ r

    return f, H, c


@fixture
def gaussians():
    """Two low-rank Gaussians of D = 7, K = 3 in float64: (q, prior)."""
    return random_gaussian(0), random_gaussian(1)


@fixture
def cache(monkeypatch, tmp_path):
    """An empty folder in which results are kept."""
    monkeypatch.setenv("FLATVIZ_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@fixture(scope="session")
def browser():
    """Headless Chromium; without one these tests are skipped, or fail where
    FLATVIZ_REQUIRE_BROWSER=1."""
    need_chromium()
    with chromium() as found:
        yield found


class Pace:
    """Says how far a run is and how long it still takes, once it has taken a minute."""

    every = 60.0  # seconds

    def __init__(self, config):
        self.config = config
        self.total = 0
        self.done = 0
        self.began = self.said = time.monotonic()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node, ids):
        self.total = len(ids)

    def pytest_collection_finish(self, session):
        self.total = self.total or len(session.items)

    def pytest_runtest_logfinish(self, nodeid, location):
        self.done += 1
        now = time.monotonic()
        if now - self.said < self.every:
            return
        self.said = now
        taken = (now - self.began) / 60
        left = taken * (self.total - self.done) / self.done
        self.config.pluginmanager.getplugin("terminalreporter").write(
            f"\n{self.done} of {self.total} tests after {taken:.0f} min,"
            f" about {left:.0f} min left\n"
        )


def pytest_configure(config):
    if not hasattr(config, "workerinput"):  # a process of xdist, which shows nothing
        config.pluginmanager.register(Pace(config))
    if devices_asked(config) and not missing():
        # before the first backward pass: autograd counts the devices then, and never again
        second_device()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """What needs a browser is long: before `-m` chooses.  Files that take minutes begin first."""
    items.sort(
        key=lambda item: item.path.name not in ("test_second_device.py", "test_in_jupyterlab.py")
    )
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker("long")


def pytest_ignore_collect(collection_path, config):
    """Beside a second device no test may fork: its tests run in a process of their own
    (`test_second_device.py`)."""
    return True if collection_path.name == "devices" and not devices_asked(config) else None


def devices_asked(config) -> bool:
    return any("tests/devices" in word for word in config.args)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """A test in a browser that fails says what stood on the pages."""
    report = yield
    if report.failed and item.get_closest_marker("browser"):
        report.sections += [("page", str(page)) for page in standing()]
    return report


def pytest_runtest_setup(item):
    """A test marked gpu is skipped where there is no CUDA."""
    if item.get_closest_marker("gpu") and not torch.cuda.is_available():
        skip("no CUDA device")


@fixture
def left_over():
    """Call it: threads that began after the test did and are alive after ten seconds (one may be
    returning from its last line)."""
    # A count would also change when a thread of an earlier test ends
    before = set(threading.enumerate())

    def alive():
        begun = [thread for thread in threading.enumerate() if thread not in before]
        for thread in begun:
            thread.join(10)
        return [thread for thread in begun if thread.is_alive()]

    return alive
