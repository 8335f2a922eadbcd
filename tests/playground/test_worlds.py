"""What the playground's texts say of its grounds and networks, counted over seeds in node; nothing of it is staged."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / "flatviz" / "pages" / "playground"


@pytest.fixture(scope="module")
def ends():
    """Where 20 runs end, and what five networks score."""
    if (node := shutil.which("node")) is None:
        pytest.skip("no node found: install it (Debian: apt-get install nodejs)")
    done = subprocess.run([node, HERE / "ends.mjs", FOLDER], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_on_the_first_ground_vi_ends_in_the_narrow_hollow_and_sabma_in_the_wide_meadow(ends):
    assert ends["hollow"]["vi"].get("narrow hollow", 0) >= 19
    assert ends["hollow"]["sabma"].get("wide meadow", 0) >= 19


def test_of_two_modes_a_large_radius_reaches_the_wide_one_less_often(ends):
    wide = {float(radius): counts.get("wide mode", 0) for radius, counts in ends["modes"].items()}
    assert wide[0.0] >= 19 and wide[0.5] >= 19
    assert wide[2.0] < 10


def test_the_flatter_network_has_the_lower_test_loss_on_spirals_and_the_higher_one_on_moons(ends):
    for data, better in (("spiral", 4), ("moons", 1)):
        vi, flat = ends["network"][data]
        assert sum(f["lambda"] < v["lambda"] for v, f in zip(vi, flat)) >= 4
        assert (sum(f["nll"] < v["nll"] for v, f in zip(vi, flat)) >= 4) == (better == 4)
