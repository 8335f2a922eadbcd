"""A command or a program in a process of its own that has torch already: importing it again takes
minutes on a slow machine."""

from __future__ import annotations

import atexit
import multiprocessing
import signal
import sys
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest


def forked(work: Callable[[], int], out: Path, errors: Path) -> BaseProcess:
    """Start work() in a fork; its result is the exit status, what it prints goes to the two files,
    and Ctrl-C reaches it."""
    if sys.platform != "linux":
        pytest.skip(
            "Windows has no fork, and on macOS its child may crash in the system's libraries"
        )
    process = multiprocessing.get_context("fork").Process(
        target=_run, args=(work, out, errors), daemon=True
    )
    process.start()
    atexit.register(_end, process)  # before multiprocessing's own end, which waits without a limit
    return process


def _end(process: BaseProcess) -> None:
    process.terminate()
    process.join(20)
    process.kill()
    process.join(5)


def _run(work: Callable[[], int], out: Path, errors: Path) -> None:
    sys.stdout = out.open("w", buffering=1)
    sys.stderr = errors.open("w", buffering=1)
    # A test run in the background ignores it
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # The parent ends: leave nothing running
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(work())
