"""A study killed (SIGKILL: nothing of Python's runs to the end) at a quarter, half and three
quarters gives the bits of one
that ran through."""

import itertools
import os
import signal

from cases import COARSE
from forked import forked
from internals import TourSettings, run_tour
from oracles import equal
from pytest import mark

FAMILY = {"sgd": (0.0,), "vi": (0.0,), "sabma": (0.0, 1.0)}
SMALL = TourSettings(epochs=2, radii=FAMILY, fit={"steps": 3}, measured=COARSE)


def tour(**options):
    return run_tour(settings=SMALL, **options).family


@mark.long
def test_what_was_killed_resumes_to_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setattr("flatviz.training.driver.SAVE_EVERY", 0.0)  # a checkpoint each step
    reports = []

    def begin(name):
        monkeypatch.setenv("FLATVIZ_CACHE", str(tmp_path / name))
        (tmp_path / name).mkdir()
        return tmp_path / name

    def killed_at(count):
        reports = itertools.count(1)
        die = lambda *_: next(reports) == count and os.kill(os.getpid(), signal.SIGKILL)
        child = forked(lambda: tour(progress=die) and 0, tmp_path / "out", tmp_path / "errors")
        child.join(300)
        assert child.exitcode == -signal.SIGKILL, (tmp_path / "errors").read_text()

    begin("whole")
    want = tour(progress=lambda *report: reports.append(report))
    for share in (0.25, 0.5, 0.75):
        folder = begin(f"killed at {share}")
        killed_at(int(share * len(reports)))
        assert equal(tour(), want)
        assert not list(folder.rglob("*.damaged"))
