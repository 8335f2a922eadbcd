"""A study killed (SIGKILL: nothing of Python's runs to the end) at a quarter, half and three quarters gives the bits of one
that ran through; so does a slice with a cache."""

import itertools
import os
import signal

import pytest
import torch
from forked import forked
from oracles import equal

import flatviz as fv
from flatviz.experiments import run
from flatviz.families.members import Fitting
from flatviz.families.tour import run_tour
from flatviz.training import driver

FAMILY = {"sgd": (0.0,), "vi": (0.0,), "sabma": (0.0, 1.0)}
MEASURED = dict(n_draws=3, n_spectra=1, k=2, resolution=5, around_resolution=5)


def tour(**options):
    return run_tour(epochs=2, radii=FAMILY, fit={"steps": 3}, measured=MEASURED, **options).family


def experiment(progress=False):
    """A grid of three seeds; progress is heard at each unit of work."""
    grid = [dict(method=m, seed=seed) for seed in range(3) for m in ("sgd", "vi")]
    table = run(grid, fit_cells, lambda q, cell: {"norm": float(q.center.norm())}, name="kill", progress=progress, say=print)
    return table.value.tolist()


def fit_cells(cells):
    task = fv.datasets.moons_transfer(seed=0)
    net = fv.Net.from_module(fv.models.mlp(task, hidden=(4,), seed=0))
    prior = fv.Gaussian(net.w, torch.zeros_like(net.w), factor=torch.full((1, net.dim), 0.1))
    for cell in cells:
        yield cell, Fitting(net, task, prior, seed=cell["seed"], fit={"steps": 3}).member(cell["method"])


def cached_slice(**options):
    task = fv.datasets.moons_transfer(seed=0)
    net = fv.Net.from_module(fv.models.mlp(task, hidden=(4,), seed=0))
    return fv.slice_plane(fv.nll(net, task.train), fv.plane_random(net, net.w, seed=0), resolution=13, cache=True, **options)


@pytest.mark.parametrize(
    "work", [pytest.param(tour, marks=pytest.mark.long), cached_slice, experiment], ids=lambda f: f.__name__
)
def test_what_was_killed_resumes_to_the_same_bits(work, tmp_path, monkeypatch):
    monkeypatch.setattr(driver, "SAVE_EVERY", 0.0)  # a checkpoint each step
    reports = []

    def begin(name):
        monkeypatch.setenv("FLATVIZ_CACHE", str(tmp_path / name))
        (tmp_path / name).mkdir()
        return tmp_path / name

    def killed_at(count):
        reports = itertools.count(1)
        die = lambda *_: next(reports) == count and os.kill(os.getpid(), signal.SIGKILL)  # noqa: E731
        child = forked(lambda: work(progress=die) and 0, tmp_path / "out", tmp_path / "errors")
        child.join(300)
        assert child.exitcode == -signal.SIGKILL, (tmp_path / "errors").read_text()

    begin("whole")
    want = work(progress=lambda *report: reports.append(report))
    for share in (0.25, 0.5, 0.75):
        folder = begin(f"killed at {share}")
        killed_at(int(share * len(reports)))
        assert equal(work(), want)
        assert not list(folder.rglob("*.damaged"))
