"""The tests of the second device, in a process of their own: autograd's threads for devices do not
survive a fork."""

import os
import subprocess
import sys
from pathlib import Path

from pytest import mark
from second_device import missing

FOLDER = Path(__file__).parent / "devices"


@mark.long
@mark.skipif(bool(missing()), reason=missing())
def test_everything_that_a_user_calls_runs_on_a_second_device():
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
        str(FOLDER),
    ]
    run = subprocess.run(
        command, cwd=FOLDER.parent.parent, env=clean, capture_output=True, text=True
    )
    assert run.returncode == 0 and " passed" in run.stdout, run.stdout[-6000:] + run.stderr[-2000:]
