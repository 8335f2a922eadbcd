"""Background work: the newest request replaces the running one, and every end is reported."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence

from flatviz.core import Parts, Progress, threads

Report = Callable[[float, str], None]  # share done 0..1, text
# Seconds without a report after which the last one is repeated, with the time of the work
SILENCE = 1.5
# Seconds between reports, each of two messages; a page that falls behind shows the family later
REPORT_EVERY = 0.5
# seconds of work, and its share, before which nobody can tell how long the rest takes
EARLY = 1.0
MIN_SHARE = 0.02
Weights = Mapping[str, Sequence[float]]  # expected work, as `Parts` takes it


class Stopped(BaseException):
    """Raised by the work's `progress` when it was stopped; no handler of errors catches it."""


class Worker:
    """Run `work(progress)` on another thread, so that page and kernel stay free.

    It uses as many torch threads as pay.  Each piece of work has its thread, which begins when the
    one before has ended.  It is no daemon, which would abort the process inside torch when the
    interpreter exits: an exit is a stop, and Python waits for the step in progress.  `report(share,
    text)` gets progress, every `REPORT_EVERY` seconds at most, errors, and the end, when `busy` is
    False (unless more waits).
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._lock = threading.Lock()
        self._closed = False
        self._newest: _Job | None = None

    def submit(
        self, name: str, work: Callable[[Progress], object], weights: Weights | None = None
    ) -> None:
        """Do this next; waiting work is dropped, running work is stopped.

        weights: expected work of its parts.  A closed worker does nothing.
        """
        with self._lock:
            if not self._closed:
                self.stop()
                self._newest = _Job(self, name, work, Parts(weights or {}), self._newest)
                self._newest.start()

    def stop(self) -> None:
        """Drop waiting work and stop running work, after the step in progress."""
        if self._newest is not None:
            self._newest.stopped.set()

    def close(self) -> None:
        """Stop for good: nothing is reported and nothing is started from now on."""
        with self._lock:
            self._closed = True
            self.stop()

    @property
    def busy(self) -> bool:
        """Whether work runs or waits; work that only has to report its end does not count."""
        return self._newest is not None and not self._newest.ended

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until no work runs or waits; False if that took longer than `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while (job := self._newest) is not None and job.is_alive():
            job.join(None if end is None else max(0.0, end - time.monotonic()))
            if job.is_alive():
                return False
        return True

    def say(self, job: _Job, share: float, text: str) -> None:
        """Report the end of a job, but not that another took its place."""
        if not self._closed and (self._newest is job or not text.endswith(": stopped")):
            self._report(share, text)


class _Job(threading.Thread):
    """One piece of work."""

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
        self._what = name
        self._work = work
        self._before = before
        self.stopped = threading.Event()
        self.ended = False
        self._last = (0.0, "", time.monotonic())
        self._parts = parts
        self._began = 0.0

    def run(self) -> None:
        """Work, and report the end."""
        if self._before is not None:
            self._before.join()
            self._before = None
        silence = threading.Event()
        self._began = time.monotonic()
        beat = threading.Thread(target=self._beat, args=(silence,), daemon=True)
        beat.start()
        try:
            self._check()
            with threads(0):  # verbs use more threads where that pays
                self._work(self._progress)
            share = 1.0
            text = "done"
        except Stopped:
            share = 0.0
            text = "stopped"
        except BaseException as error:  # SystemExit too, which would end this thread silently
            share = 0.0
            text = str(error) or type(error).__name__
        silence.set()
        beat.join()
        self.ended = True
        self._worker.say(self, share, f"{self._what}: {text}")

    def _check(self) -> None:
        """Check that the work goes on.

        Raises:
            Stopped: Where it was stopped or replaced, and where the interpreter exits.
        """
        if self.stopped.is_set() or not threading.main_thread().is_alive():
            raise Stopped

    def _beat(self, ended: threading.Event) -> None:
        """Say that the work goes on, where one step of it takes long."""
        while not ended.wait(SILENCE):
            share, text, when = self._last
            now = time.monotonic()
            if now - when >= SILENCE:
                taken = f"{now - self._began:.0f} s in all"
                self._worker.say(self, share, f"{text or self._what}, {taken}")

    def _progress(self, done: int, total: int, label: str) -> None:
        self._check()
        now = time.monotonic()
        share = self._parts.share(done, total, label)
        if self._last[1] and now - self._last[2] < REPORT_EVERY:
            return
        taken = now - self._began
        left = ""
        if taken > EARLY and MIN_SHARE < share < 1:
            left = f", about {taken * (1 - share) / share:.0f} s left"
        self._last = share, f"{self._what}: {label} {done}/{total}{left}", now
        self._worker.say(self, *self._last[:2])
