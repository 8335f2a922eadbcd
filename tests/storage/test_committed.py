"""Shipped results are found by name, in a clone and in a wheel."""

import subprocess
import tomllib
from pathlib import Path

import pytest

from flatviz.storage import cache as module

ROOT = Path(__file__).resolve().parents[2]


def test_a_shipped_result_is_found_and_an_unknown_name_is_one_clear_error(tmp_path, monkeypatch):
    assert module.committed("frontier.csv").read_text(encoding="utf-8").count("\n") > 10
    with pytest.raises(FileNotFoundError, match=r"must be one of .*frontier.csv.*, got 'no.csv'"):
        module.committed("no.csv")
    (tmp_path / "a.json").write_text("{}")
    monkeypatch.setattr(module, "FOLDERS", (tmp_path / "absent", tmp_path))
    assert module.committed("a.json") == module.expected("a.json") == tmp_path / "a.json"
    assert module.expected("no.csv") == tmp_path / "absent" / "no.csv"


def test_the_wheel_carries_what_git_keeps_of_data():
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert "data" in hatch["only-include"] and hatch["sources"]["data"] == f"flatviz/{module.FOLDERS[1].name}"
    kept = subprocess.run(["git", "ls-files", "data"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    listed = subprocess.run(
        ["git", "check-ignore", "--no-index", *kept, "data/MNIST"], cwd=ROOT, capture_output=True, text=True
    )
    assert len(kept) > 10 and listed.stdout.split() == ["data/MNIST"]  # hatch leaves out what git ignores
