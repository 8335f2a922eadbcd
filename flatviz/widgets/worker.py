"""Background work: the newest request replaces what runs, and every end of it is reported."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import torch

from flatviz.core.progress import Progress

Report = Callable[[float, str], None]  # share done 0..1, text
REPORT_EVERY = 0.5  # seconds: each report is two messages, and a page that falls behind shows the family that much later
Job = tuple[str, Callable[[Progress], None]]


class Stopped(Exception):
    """Raised inside the work, by its `progress`, when it was stopped or replaced."""


class Worker:
    """Runs `work(progress)` on a thread, with one torch thread, so that page and kernel stay free.

    The thread lives while there is work.  It is no daemon, which would abort the process if it were inside torch when
    the interpreter exits: an exit is a stop, and Python waits for the step in progress.
    `report(share, text)` hears of progress, every `REPORT_EVERY` seconds at most, of errors, and of the end, when `busy`
    is False already (unless more waits).
    """

    def __init__(self, report: Report) -> None:
        self._report, self._change = report, threading.Condition()
        self._next: Job | None = None
        self._thread: threading.Thread | None = None
        self._running = self._closed = False
        self._stop = threading.Event()

    def submit(self, name: str, work: Callable[[Progress], None]) -> None:
        """Do this next; what waits is dropped, what runs is stopped.  A closed worker does nothing."""
        with self._change:
            if self._closed:
                return
            self._next = (name, work)
            self._stop.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._loop, name="flatviz-worker")
                self._thread.start()

    def stop(self) -> None:
        """Drop what waits and stop what runs, after the step in progress."""
        with self._change:
            dropped, self._next = self._next, None
            self._stop.set()
            running = self._running
        if dropped and not running:  # work that runs reports its own end
            self._report(0.0, f"{dropped[0]}: stopped")

    def close(self) -> None:
        """Stop, for good: nothing is reported and nothing is started from now on."""
        with self._change:
            self._closed, self._next = True, None
            self._stop.set()

    @property
    def busy(self) -> bool:
        """Whether anything runs or waits; what only has its end to report does not run."""
        with self._change:
            return self._running or self._next is not None

    def wait(self, timeout: float | None = None) -> bool:
        """Until nothing runs or waits; False if that took longer than `timeout` seconds."""
        with self._change:
            thread = self._thread
            idle = self._change.wait_for(lambda: self._thread is None, timeout)
        if idle and thread is not None:
            thread.join()  # it has a few instructions left
        return idle

    def _loop(self) -> None:
        try:
            while (job := self._take()) is not None:
                self._run(*job)
        finally:
            with self._change:
                if self._thread is threading.current_thread():  # a report failed
                    self._thread = None
                    self._change.notify_all()

    def _take(self) -> Job | None:
        """What waits; the thread ends where nothing does, decided under the lock under which work is submitted."""
        with self._change:
            job, self._next = self._next, None
            self._stop.clear()
            if job is None or self._closed:
                self._thread = None
                self._change.notify_all()
                return None
            self._running = True
            return job

    def _run(self, name: str, work: Callable[[Progress], None]) -> None:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            work(self._progress(name))
            share, text = 1.0, f"{name}: done"
        except Stopped:
            share, text = 0.0, f"{name}: stopped"
        except BaseException as error:  # SystemExit too: it would end this thread without a word
            share, text = 0.0, f"{name}: {error or type(error).__name__}"
        finally:
            torch.set_num_threads(threads)
        with self._change:
            self._running = False
            silent = self._closed or (text.endswith(": stopped") and self._next is not None)
        if not silent:
            self._report(share, text)

    def _cancelled(self) -> bool:
        """Whether the work is to end: stopped, replaced, closed, or the interpreter exits."""
        return self._stop.is_set() or not threading.main_thread().is_alive()

    def _progress(self, name: str) -> Callable[[int, int, str], None]:
        started: dict[str, float] = {}
        reported = -REPORT_EVERY

        def progress(done: int, total: int, label: str) -> None:
            nonlocal reported
            if self._cancelled():
                raise Stopped
            now = time.monotonic()
            first = started.setdefault(label, now)
            if now - reported < REPORT_EVERY:
                return
            reported = now
            left = f", about {(now - first) / done * (total - done):.0f} s left" if 0 < done < total else ""
            self._report(done / max(total, 1), f"{name}: {label} {done}/{total}{left}")

        return progress
