"""The tests of the second device, in a process of their own: autograd's threads for devices do not
survive a fork."""

import json
import os
import subprocess
import sys
from pathlib import Path

from cases import text_of
from pytest import mark
from second_device import missing

FOLDER = Path(__file__).parent / "devices"


pytestmark = [mark.long, mark.skipif(bool(missing()), reason=missing())]


def test_the_benchmark_of_a_card_runs_on_a_second_device(tmp_path):
    script = FOLDER.parent / "benchmarks" / "gpu.py"
    tiny = ["--tiny", "--device", "second", "--out", str(tmp_path)]
    command = [sys.executable, script, "plane", *tiny]
    subprocess.run(command, check=True, capture_output=True)
    measured = json.loads(text_of(tmp_path / "gpu.json"))
    assert measured["parts"]["plane"].keys() == {"what", "rows", "seconds"}  # no error


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
