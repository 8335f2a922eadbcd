"""What the lab fits behind: the first family, Stop, errors, and a worker whose newest task wins and
which ends with it."""

import dataclasses
import json
import subprocess
import sys
import textwrap
import threading
import time
from types import SimpleNamespace

import torch
from cases import COARSE, refused
from internals import repeat_family
from ipywidgets.widgets import widget as widgets
from pytest import approx, mark
from widgets.conftest import messages

import flatviz as fv
from flatviz.families import Fitting
from flatviz.widgets.worker import SILENCE, Worker

LONG = {"steps": 1_000_000}


def fitting(lab):
    """Wait until a fit of a million steps is under way."""
    end = time.monotonic() + 60
    while "/1000000" not in lab.status and time.monotonic() < end:
        time.sleep(0.05)
    return "/1000000" in lab.status


@mark.parametrize("first", [True, False])
def test_stop_ends_the_step_in_progress_keeps_what_was_found_and_says_so(first, make_lab, family):
    begun = {"radii": {"sgd": (0.0,), "vi": (0.0,)}} if first else {"family": family}
    lab = make_lab(fit=LONG, **begun)
    before = lab.family
    if not first:
        lab.method = "sabma"
        lab.radius = 1.3
    # The page's button offers to stop
    assert fitting(lab)
    assert lab.busy
    assert lab.view._status["busy"]
    lab.stop()
    assert lab.wait(20)
    assert lab.family is before
    assert "stopped" in lab.status
    assert not lab.view._status["busy"]


def test_an_error_is_whole_with_method_and_radius_and_what_could_be_fitted_stays(
    make_lab, monkeypatch
):
    method = fv.METHODS["sam_mu"]
    long = "the loss must stay finite, got nan: " + "lower lr or radius; " * 20

    def fails(*args, **settings):
        if settings["radius"] > 0.1:
            raise ValueError(long)
        return method.fit(*args, **settings)

    failing = dataclasses.replace(method, fit=fails, fit_grid=None)
    monkeypatch.setitem(fv.METHODS, "sam_mu", failing)
    radii = {"vi": (0.0,), "sam_mu": (0.0, 0.05, 0.2)}
    lab = make_lab(radii=radii, fit={"steps": 2}, measuring=COARSE)
    assert lab.wait(120)
    assert lab.error == f"SAM on the mean, radius 0.2: ValueError: {long}"
    assert lab.family.radii("sam_mu") == (0.0, 0.05)
    assert lab.view._status["error"] == lab.error
    lab.radius = 0.08
    lab.method = "sam_mu"
    # A fit that goes well clears it
    assert lab.wait(120)
    assert lab.error == ""
    assert 0.08 in lab.family.radii("sam_mu")


@mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
def test_what_ends_a_program_in_a_users_code_is_the_labs_error_too(kind, make_lab, monkeypatch):
    method = fv.METHODS["vi"]

    def ends(*args, **settings):
        raise kind(3)

    ending = dataclasses.replace(method, fit=ends, fit_grid=None)
    monkeypatch.setitem(fv.METHODS, "vi", ending)
    lab = make_lab(radii={"vi": (0.0,)}, fit={"steps": 2}, measuring=COARSE)
    assert lab.wait(60)
    assert lab.error.endswith(f"{kind.__name__}: 3")
    assert lab.view._status["error"] == lab.error


def test_an_error_of_the_first_family_beside_its_fits_is_the_labs_error_too(make_lab):
    lab = make_lab(
        radii={"vi": (0.0,)},
        fit={"steps": 2},
        measuring=COARSE | {"resolution": 1},
    )
    assert lab.wait(120) and lab.family is None
    assert lab.error.startswith("first family: ValueError: resolution must be")
    assert lab.view._status["error"] == lab.error


def test_running_a_cell_again_closes_its_former_lab_and_leaves_no_thread_or_widget(
    make_lab, family, monkeypatch, left_over
):
    cell = {"metadata": {"cellId": "the-cell"}}
    # Of the kernel: one cell, run often
    shell = SimpleNamespace(
        kernel=object(),
        execution_count=1,
        get_parent=lambda: cell,
    )
    monkeypatch.setattr("flatviz.widgets.view.kernel_shell", lambda: shell)
    lab = make_lab(family=family, fit=LONG)
    count = len(widgets._instances)
    former = []
    for _ in range(2):
        lab.method = "sabma"
        lab.radius = 1.3
        assert fitting(lab)
        assert "SA-BMA, radius 1.3" in lab.status
        former.append(lab)
        shell.execution_count += 1
        lab = make_lab(family=family, fit=LONG)
    former[0].radius = 1.4  # closed: nothing begins
    former[0].run()
    assert all(old.wait(20) for old in former)
    assert len(widgets._instances) == count
    assert not left_over()
    make_lab(family=family)  # in the same run of the cell: both stay
    one = {lab, lab.layout, lab.view, lab.view.layout, lab.view.channel}
    assert len(widgets._instances) == count + len(one)


def test_the_labs_own_family_gets_its_bands_when_asked(make_lab, transferred, task):
    net, prior = transferred
    fit = {"steps": 10}
    lab = make_lab(radii={"vi": (0.0,), "sabma": (0.0, 0.5, 2.0)}, fit=fit)
    assert lab.wait(300)
    assert lab.error == ""
    names = [figure["name"] for figure in lab.view._bundle.index["figures"]]
    assert "radius" in names
    assert lab.view._bundle.index["seeds"] == 1
    before = lab.family
    lab.radius = 2.0
    lab.sent_messages.clear()
    lab.view._answer(lab.view, {"want": "seeds"}, [])  # what the page's button asks
    assert lab.busy
    # looking around at what is fitted ends nothing
    lab.radius = 0.5
    lab.look = {"tab": "Scores"}
    assert lab.wait(300)
    assert lab.error == ""
    assert lab.radius == 0.5
    direct = repeat_family(Fitting(net, task, prior, 0, fit), before, [1, 2])
    near = dict(rtol=1e-5, atol=1e-6, equal_nan=True)
    for one, other in zip(lab.family, direct, strict=True):
        torch.testing.assert_close(one.over_seeds, other.over_seeds, **near)
    (sent,) = messages(lab, "family")
    index = json.loads(sent["index"])
    assert index["seeds"] == 3
    (radius,) = [figure for figure in index["figures"] if figure["name"] == "radius"]
    assert "SA-BMA, seeds" in [trace["name"] for trace in radius["data"]]


def test_bands_need_a_family(make_lab):
    with refused("got none yet: call lab.wait"):
        make_lab(radii={"vi": (0.0,)}, fit=LONG).repeat()


def test_a_process_that_exits_during_a_fit_ends_well(tmp_path):
    code = """
        import time, torch
        from flatviz.widgets.worker import Worker

        def work(progress):
            a = torch.randn(400, 400)
            for i in range(1_000_000):
                progress(i, 1_000_000, "fit")
                a = (a @ a).tanh()

        worker = Worker(lambda share, text: None)
        worker.submit("fit", work)
        time.sleep(1)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    ended = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0
    assert ended.stderr == ""


@mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_system_exit_or_a_failing_report_does_not_end_the_worker():
    reports = []
    failing = []

    def report(share, text):
        reports.append(text)
        if failing:
            raise RuntimeError("the page is gone")

    worker = Worker(report)
    worker.submit("fit", lambda progress: sys.exit(3))
    assert worker.wait(10)
    assert reports == ["fit: 3"]
    assert not worker.busy
    failing.append(True)
    worker.submit("fit", lambda progress: None)
    assert worker.wait(10)
    failing.clear()
    worker.submit("again", lambda progress: None)
    assert worker.wait(10)
    assert reports[-1] == "again: done"


def test_the_worker_drops_what_is_overtaken_and_the_newest_wins():
    reports = []
    done = []
    started = threading.Event()
    worker = Worker(lambda share, text: reports.append(text))

    def slow(progress):
        started.set()
        for i in range(10_000):
            progress(i, 10_000, "slow")
            time.sleep(0.001)
        done.append("slow")

    worker.submit("slow", slow)
    assert started.wait(30)
    worker.submit("waiting", lambda progress: done.append("waiting"))
    worker.submit("newest", lambda progress: done.append("newest"))
    assert worker.wait(60)
    assert done[-1] == "newest"
    assert "slow" not in done
    assert reports[-1] == "newest: done"


def test_an_error_of_a_replaced_task_is_reported_also_where_its_text_ends_in_stopped():
    reports = []
    started = threading.Event()
    replaced = threading.Event()
    worker = Worker(lambda share, text: reports.append(text))

    def failing(progress):
        started.set()
        assert replaced.wait(30)
        raise RuntimeError("the data server: stopped")

    worker.submit("first", failing)
    assert started.wait(30)
    worker.submit("second", lambda progress: None)
    replaced.set()
    assert worker.wait(30)
    assert reports == ["first: the data server: stopped", "second: done"]


def test_a_page_hears_of_progress_twice_a_second_at_most():
    reports = []
    start = time.monotonic()
    worker = Worker(lambda share, text: reports.append(text))
    worker.submit("fast", lambda progress: [progress(i, 2000, "fast") for i in range(2000)])
    assert worker.wait(60)
    assert reports[0].startswith("fast: fast 0/2000")
    assert reports[-1] == "fast: done"
    assert len(reports) <= 2 + 2 * (time.monotonic() - start)


def test_one_bar_is_of_the_whole_and_its_time_left_too(monkeypatch):
    """A tenth of the work is fits, two of 1 : 2, the rest three measurements."""
    clock = [0.0]
    reports = []
    stopped = SimpleNamespace(monotonic=lambda: clock[0])
    monkeypatch.setattr("flatviz.widgets.worker.time", stopped)
    events = [(0, 2, "fitting"), (0, 10, "VI"), (5, 10, "VI"), (10, 10, "VI"), (1, 2, "fitting")]
    events += [(5, 10, "VI"), (2, 2, "fitting"), (0, 3, "measuring"), (4, 4, "eigenvalues")]
    events += [(1, 2, "slices"), (2, 3, "measuring"), (3, 3, "measuring")]

    def work(progress):
        for event in events:
            progress(*event)
            clock[0] += 10.0

    worker = Worker(lambda share, text: reports.append((share, text)))
    worker.submit("all", work, {"fitting": [1.0, 2.0], "measuring": [9.0] * 3})
    assert worker.wait(60)
    done = [0, 0, 0.5, 1, 1, 2, 3, 3, 12, 12, 21, 30]  # the step of a measurement counts once
    shares = [30 * share for share, _ in reports[:-1]]
    assert shares == approx(done)
    assert reports[5][1] == "all: VI 5/10, about 700 s left"  # 50 s for 2 of 30


def test_a_step_that_takes_long_is_reported_all_the_while():
    reports = []
    worker = Worker(lambda share, text: reports.append((time.monotonic(), text)))

    def work(progress):
        progress(1, 2, "one step")
        time.sleep(2.5 * SILENCE)

    start = time.monotonic()
    worker.submit("a fit", work)
    assert worker.wait(30)
    times = [start, *(when for when, _ in reports)]
    assert max(b - a for a, b in zip(times, times[1:])) < 2.4 * SILENCE
    assert "one step 1/2" in reports[1][1]
    assert "in all" in reports[1][1]
