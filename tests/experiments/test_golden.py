"""The notebooks say what the commands before them printed from the same results: every sentence, every figure of a table."""

import html
import re

import pandas as pd
import pytest
from experiment_notebooks import ROOT, executed

from flatviz.storage.committed import committed

pytestmark = pytest.mark.long
GOLDEN = ROOT / "tests" / "golden"


def golden(name):
    """Lines of a golden text, with today's word for "cannot tell"."""
    text = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    return [line.strip() for line in text.replace("cannot tell", "inconclusive").splitlines() if line.strip()]


def shown(name, **parameters):
    """(lines, rows of tables) that a notebook shows."""
    lines = [html.unescape(line) for text in executed(name, **parameters) for line in text.splitlines()]
    return {line.strip() for line in lines}, [tuple(filter(None, map(str.strip, line.split("  ")))) for line in lines]


def sentences_of(printed):
    """Verdicts, and what they come to, of what the evidence prints."""
    return {line for line in printed if (" seeds: " in line and "better in" in line) or " against VI, " in line}


def test_every_verdict_of_the_evidence_is_said_word_for_word():
    assert sentences_of(shown("evidence")[0]) == set(golden("evidence"))


def test_every_figure_of_the_table_of_temperatures_is_shown():
    wanted = [re.split(r"\s{2,}", line.strip()) for line in golden("temperature")[2:]]
    _, rows = shown("temperature")
    assert len(wanted) == 44 and not [row for row in wanted if tuple(row) not in rows]
    assert len([line for line in shown("temperature")[0] if line.endswith(": yes")]) == 4  # why the default is the default


def test_the_reference_says_that_its_chains_agree():
    printed, _ = shown("reference")
    said = "chains of 10 seeds agree: R-hat at most 1.010, bulk ESS at least 625, of every weight and test probability"
    assert any(line.startswith(said) for line in printed)


def claim_lines(claims):
    """As the command listed them: source, verdict, claim; figure and where."""
    for c in claims.itertuples():
        yield f"{c.name:14} {c.verdict:13} {c.claim}"
        yield f"{c.figure} ({c.setting})"


def test_the_stored_claims_are_those_that_were_stated():
    wanted = (GOLDEN / "claims.txt").read_text(encoding="utf-8")
    claims = pd.read_csv(committed("claims.csv"))
    assert [line.strip() for line in wanted.splitlines()] == [line.strip() for line in claim_lines(claims)]
    flat = {"F-SWAG", "F-VI", "F-SGLD", "F-MC dropout", "F-deep ensemble", "F-Laplace"}
    assert {f"SA-BMA T{i}" for i in range(1, 9)} | flat <= set(claims.name)
    shown_rows = {row for row in shown("claims")[1] if row[-1] in ("holds", "does not hold", "inconclusive")}
    assert len(shown_rows) >= len(claims) - 2


BOTH = [ROOT / "notebooks" / "experiments" / f"{name}.py" for name in ("averaging", "symmetry")]


@pytest.mark.skipif(not all(path.is_file() for path in BOTH), reason="needs the notebooks on averaging and symmetry")
def test_the_stored_claims_are_what_the_rules_make_of_the_stored_tables(tmp_path):
    executed("claims", RUN=True, SAVE=str(tmp_path / "claims.csv"))
    found, stored = pd.read_csv(tmp_path / "claims.csv"), pd.read_csv(committed("claims.csv"))
    pd.testing.assert_frame_equal(found[["name", "claim", "verdict"]], stored[["name", "claim", "verdict"]])
    paper = ~stored.name.str.startswith("symmetry")  # the symmetries' figures have a golden text of their own
    pd.testing.assert_frame_equal(found[paper], stored[paper], rtol=1e-4)
