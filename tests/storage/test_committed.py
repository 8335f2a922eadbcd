"""Shipped results are found by name, in a clone and in a wheel."""

import re
import tomllib
from pathlib import Path

import pytest

from flatviz.storage import cache as module

ROOT = Path(__file__).resolve().parents[2]


def test_a_shipped_result_is_found_and_an_unknown_name_is_one_clear_error(tmp_path, monkeypatch):
    assert module.committed("evidence.csv").read_text(encoding="utf-8").count("\n") > 10
    with pytest.raises(FileNotFoundError, match=r"must be one of .*evidence.csv.*, got 'no.csv'"):
        module.committed("no.csv")
    (tmp_path / "a.json").write_text("{}")
    monkeypatch.setattr(module, "FOLDERS", (tmp_path / "absent", tmp_path))
    assert module.committed("a.json") == module.expected("a.json") == tmp_path / "a.json"
    assert module.expected("no.csv") == tmp_path / "absent" / "no.csv"


def test_the_wheel_carries_every_committed_result():
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    carried = {path.removeprefix("data/") for path in hatch["force-include"] if path.startswith("data/")}
    opened = re.findall(r"^!/data/(.*)$", (ROOT / ".gitignore").read_text(encoding="utf-8"), re.M)
    assert carried == {*opened} - {"README.md"} != set()
