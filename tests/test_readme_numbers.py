"""The README's verdicts are lines that its command prints from the stored values."""

import re
from pathlib import Path

from flatviz.cli import main

ROOT = Path(__file__).resolve().parent.parent


def test_every_verdict_in_the_readme_is_printed_from_the_stored_evidence(capsys):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"<!-- evidence -->\n```\n(.*?)```", readme, flags=re.S)[1]
    assert main(["evidence", "--read", str(ROOT / "data" / "evidence.csv")]) == 0
    printed = {line.strip() for line in capsys.readouterr().out.splitlines()}
    missing = [line for line in block.strip().splitlines() if line not in printed]
    assert block.count(":") > 10 and not missing


def test_a_file_of_something_else_is_refused(tmp_path, capsys):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    assert main(["evidence", "--read", str(tmp_path / "x.csv")]) == 1
    assert "--read must be a file that flatviz evidence --csv wrote" in capsys.readouterr().err
