"""The worker behind the lab: the newest task wins, and no error or exit ends it."""

import subprocess
import sys
import textwrap
import threading
import time

from flatviz.widgets.worker import Worker


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
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_system_exit_or_a_failing_report_does_not_end_the_worker():
    reports, failing = [], []

    def report(share, text):
        reports.append(text)
        if failing:
            raise RuntimeError("the page is gone")

    worker = Worker(report)
    worker.submit("fit", lambda progress: sys.exit(3))
    assert worker.wait(10) and reports == ["fit: 3"] and not worker.busy
    failing.append(True)
    hook, threading.excepthook = threading.excepthook, lambda args: None
    worker.submit("fit", lambda progress: None)
    assert worker.wait(10)
    threading.excepthook = hook
    failing.clear()
    worker.submit("again", lambda progress: None)
    assert worker.wait(10) and reports[-1] == "again: done"


def test_the_worker_drops_what_is_overtaken_and_the_newest_wins():
    reports, done, started = [], [], threading.Event()
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
    assert done[-1] == "newest" and "slow" not in done and reports[-1] == "newest: done"


def test_a_page_hears_of_progress_twice_a_second_at_most():
    reports = []
    worker = Worker(lambda share, text: reports.append(text))

    def fast(progress):
        for i in range(2000):
            progress(i, 2000, "fast")

    start = time.monotonic()
    worker.submit("fast", fast)
    assert worker.wait(60)
    assert reports[0].startswith("fast: fast 0/2000") and reports[-1] == "fast: done"
    assert len(reports) <= 2 + 2 * (time.monotonic() - start)
