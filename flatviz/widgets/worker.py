"""One background thread: the newest request wins, anything can be stopped, an error is told and not lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import torch

from flatviz.core.progress import Progress

Report = Callable[[float, str], None]  # share done 0..1, text
TELL_EVERY = 0.5  # seconds: each report is two messages, and a page that falls behind shows the family that much later


class Stopped(Exception):
    """Raised inside the work when it was stopped or overtaken."""


class Worker:
    """Runs `work(progress)` on a thread of its own, with one torch thread, so that page and kernel stay free.

    `report(share, text)` hears of progress, every `TELL_EVERY` seconds at most, of errors, and of the end, when `busy`
    is False already (unless more waits).
    """

    def __init__(self, report: Report) -> None:
        self._report, self._change = report, threading.Condition()
        self._next: tuple[str, Callable[[Progress], None]] | None = None
        self._running, self._ending, self._stop, self._thread = False, False, threading.Event(), None

    def submit(self, name: str, work: Callable[[Progress], None]) -> None:
        """Do this next; what waits is dropped, what runs is stopped."""
        with self._change:
            self._next = (name, work)
            self._stop.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._loop, name="flatviz-worker", daemon=True)
                self._thread.start()
            self._change.notify_all()

    def stop(self) -> None:
        """Drop what waits and stop what runs, at its next step."""
        with self._change:
            dropped, self._next = self._next, None
            self._stop.set()
            self._change.notify_all()
            idle = not self._running or self._ending
        if dropped and idle:  # what runs says so itself
            self._report(0.0, f"{dropped[0]}: stopped")

    @property
    def busy(self) -> bool:
        """Whether anything runs or waits; what only has its end to report does not run."""
        with self._change:
            return (self._running and not self._ending) or self._next is not None

    def wait(self, timeout: float | None = None) -> bool:
        """Until nothing runs or waits; False if that took longer than `timeout` seconds."""
        with self._change:
            return self._change.wait_for(lambda: not self._running and self._next is None, timeout)

    def _loop(self) -> None:
        while True:
            with self._change:
                self._running = self._ending = False
                self._change.notify_all()
                self._change.wait_for(lambda: self._next is not None)
                (name, work), self._next, self._running = self._next, None, True
                self._stop.clear()
            threads = torch.get_num_threads()
            torch.set_num_threads(1)
            try:
                work(self._progress())
                self._end(1.0, f"{name}: done")
            except Stopped:
                self._end(0.0, f"{name}: stopped", overtaken_in_silence=True)
            except Exception as error:  # shown where the user looks, whatever it is
                self._end(0.0, f"{name}: {error}")
            finally:
                torch.set_num_threads(threads)

    def _end(self, share: float, text: str, *, overtaken_in_silence: bool = False) -> None:
        with self._change:
            self._ending = True
            silent = overtaken_in_silence and self._next is not None
        if not silent:
            self._report(share, text)

    def _progress(self) -> Callable[[int, int, str], None]:
        started: dict[str, float] = {}
        told = -TELL_EVERY

        def progress(done: int, total: int, label: str) -> None:
            nonlocal told
            if self._stop.is_set():
                raise Stopped
            now = time.monotonic()
            first = started.setdefault(label, now)
            if now - told < TELL_EVERY:
                return
            told = now
            left = f", about {(now - first) / done * (total - done):.0f} s left" if 0 < done < total else ""
            self._report(done / max(total, 1), f"{label} {done}/{total}{left}")

        return progress
