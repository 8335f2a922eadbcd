"""Background work: the newest request replaces the running one, and every end is reported."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from flatviz.core import Progress, threads

Report = Callable[[float, str], None]  # share done 0..1, text
# Seconds without a report after which the last one is repeated, with the time of the work
SILENCE = 1.5
# Seconds between reports, each of two messages; a page that falls behind shows the family later
REPORT_EVERY = 0.5


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

    def submit(self, name: str, work: Callable[[Progress], object]) -> None:
        """Do this next; waiting work is dropped, running work is stopped.

        A closed worker does nothing.
        """
        with self._lock:
            if not self._closed:
                self.stop()
                self._newest = _Job(self, name, work, self._newest)
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
        self, worker: Worker, name: str, work: Callable[[Progress], object], before: _Job | None
    ) -> None:
        super().__init__(name="flatviz-worker")
        self._worker = worker
        self._what = name
        self._work = work
        self._before = before
        self.stopped = threading.Event()
        self.ended = False
        self._last = (0.0, "", time.monotonic())
        # Label -> when its progress was first heard, and how far it was
        self._heard: dict[str, tuple[float, int]] = {}

    def run(self) -> None:
        """Work, and report the end."""
        if self._before is not None:
            self._before.join()
            self._before = None
        silence = threading.Event()
        started = time.monotonic()
        beat = threading.Thread(target=self._beat, args=(silence, started), daemon=True)
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
        """Raise Stopped where the work is stopped, replaced or closed, or the interpreter exits."""
        if self.stopped.is_set() or not threading.main_thread().is_alive():
            raise Stopped

    def _beat(self, ended: threading.Event, started: float) -> None:
        """Report that the work goes on, where one step of it takes long."""
        while not ended.wait(SILENCE):
            share, text, when = self._last
            if time.monotonic() - when >= SILENCE:
                self._worker.say(
                    self, share, f"{text or self._what}, {time.monotonic() - started:.0f} s in all"
                )

    def _progress(self, done: int, total: int, label: str) -> None:
        self._check()
        now = time.monotonic()
        first, before = self._heard.get(label, (now, 0))
        # below: another fit with this label
        first, _ = self._heard[label] = (
            (now if done < before else first),
            done,
        )
        if self._last[1] and now - self._last[2] < REPORT_EVERY:
            return
        left = (
            f", about {(now - first) / done * (total - done):.0f} s left"
            if 0 < done < total
            else ""
        )
        self._last = done / max(total, 1), f"{self._what}: {label} {done}/{total}{left}", now
        self._worker.say(self, *self._last[:2])
