"""Background work: the newest request replaces the running one, and every end is reported."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from flatviz.core import Parts, Progress, threads

Report = Callable[[float, str], None]  # share done 0..1, text
# Seconds without a report after which the last one is repeated, with the time taken so far
SILENCE = 1.5
# Least seconds between two reports of progress: a report costs two messages to the page, and a page
# that is behind with its messages shows the family late
REPORT_EVERY = 0.5
# The time left is estimated once the work has taken more than EARLY seconds, and more than
# MIN_SHARE of it is done
EARLY = 1.0
MIN_SHARE = 0.02
Weights = Mapping[str, Sequence[float]]  # expected work, as `Parts` takes it


class Stopped(BaseException):
    """Raised inside the work, by its `progress`, after the work was stopped.

    It is a BaseException, so that `except Exception` in the work does not catch it.
    """


class Worker:
    """Run `work(progress)` on another thread, so that page and kernel stay free.

    Each piece of work has a thread of its own, which begins when the thread before it has ended,
    in which verbs choose their number of torch threads.  The thread is no daemon: a daemon that is
    inside torch when the interpreter exits would abort the process.  An exit stops the work
    instead, and Python waits for the step in progress.

    `report(share, text)` is called with the progress, at most once in `REPORT_EVERY` seconds, and
    with the end of the work or its error, from more than one thread.  At the end `busy` is already
    False, unless more waits.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._lock = threading.Lock()
        self._closed = False
        self._newest: _Job | None = None

    def submit(
        self,
        name: str,
        work: Callable[[Progress], object],
        weights: Weights | None = None,
    ) -> None:
        """Do `work` next; work that waits is dropped, and work that runs is stopped.

        name: beginning of its reports.  weights: expected work of its parts.  A closed worker does
        nothing.
        """
        parts = Parts(weights or {})
        with self._lock:
            if not self._closed:
                self.stop()
                self._newest = _Job(self, name, work, parts, self._newest)
                self._newest.start()

    def stop(self) -> None:
        """Drop waiting work and stop running work, after the step in progress."""
        if self._newest is not None:
            self._newest.stopped.set()

    def close(self) -> None:
        """Stop for good: no work and no report begins from now on; one report may be under way."""
        with self._lock:
            self._closed = True
            self.stop()

    @property
    def busy(self) -> bool:
        """Whether work runs or waits; work that only has to report its end does not count."""
        return self._newest is not None and not self._newest.ended

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until no work runs or waits; False if that took longer than `timeout` seconds."""
        start = time.monotonic()
        left = timeout
        # another job may be submitted meanwhile
        while (job := self._newest) is not None and job.is_alive():
            if timeout is not None:
                left = max(0.0, start + timeout - time.monotonic())
            job.join(left)
            if job.is_alive():
                return False
        return True

    def say(
        self,
        job: _Job,
        share: float,
        text: str,
        *,
        is_stop: bool = False,
    ) -> None:
        """Pass on a report of a job, except that a newer job stopped it (`is_stop`)."""
        replaced = is_stop and self._newest is not job
        if not self._closed and not replaced:
            self._report(share, text)


class _Message(NamedTuple):
    """A report, and when it was made."""

    share: float
    text: str
    time: float


class _Job(threading.Thread):
    """One piece of work, and the thread that does it after the job `before` has ended."""

    def __init__(
        self,
        worker: Worker,
        name: str,
        work: Callable[[Progress], object],
        parts: Parts,
        before: _Job | None,
    ) -> None:
        super().__init__(name="flatviz-worker")
        self._worker = worker
        self._label = name
        self._work = work
        self._before = before
        self.stopped = threading.Event()
        self.ended = False  # from then on only the end has to be reported
        self._last = _Message(0.0, "", time.monotonic())
        self._parts = parts
        self._began = 0.0

    def run(self) -> None:
        """Wait for the job before, work, and report the end."""
        if self._before is not None:
            self._before.join()
            self._before = None  # otherwise each job would keep all earlier ones
        is_stop = False
        finished = threading.Event()
        self._began = time.monotonic()
        beat = threading.Thread(
            target=self._beat,
            args=(finished,),
            daemon=True,
        )
        beat.start()
        try:
            self._check()
            with threads(0):  # verbs use more threads where that pays
                self._work(self._progress)
            share = 1.0
            text = "done"
        except Stopped:
            is_stop = True
            share = 0.0
            text = "stopped"
        except BaseException as error:  # SystemExit too, which would end this thread silently
            share = 0.0
            text = str(error) or type(error).__name__
        finished.set()
        beat.join()
        self.ended = True
        self._worker.say(self, share, f"{self._label}: {text}", is_stop=is_stop)

    def _check(self) -> None:
        """Check that the work may go on.

        Raises:
            Stopped: If it was stopped or replaced, or if the interpreter exits.
        """
        if self.stopped.is_set() or not threading.main_thread().is_alive():
            raise Stopped

    def _beat(self, finished: threading.Event) -> None:
        """Repeat the last report, with the time taken, while one step of the work takes long."""
        while not finished.wait(SILENCE):
            last = self._last
            now = time.monotonic()
            if now - last.time >= SILENCE:
                taken = f"{now - self._began:.0f} s in all"
                self._worker.say(self, last.share, f"{last.text or self._label}, {taken}")

    def _progress(self, done: int, total: int, label: str) -> None:
        """Report that `done` of `total` steps are done, if it is time; raise Stopped if stopped."""
        self._check()
        now = time.monotonic()
        share = self._parts.share(done, total, label)
        if self._last.text and now - self._last.time < REPORT_EVERY:
            return
        taken = now - self._began
        left = ""
        if taken > EARLY and MIN_SHARE < share < 1:
            left = f", about {taken * (1 - share) / share:.0f} s left"
        text = f"{self._label}: {label} {done}/{total}{left}"
        self._last = _Message(share, text, now)
        self._worker.say(self, share, text)
