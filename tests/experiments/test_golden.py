"""The notebooks say what the commands before them printed from the same results: every sentence, every figure of a table."""

import html
import json
import re

import pandas as pd
import pytest
from experiment_notebooks import ROOT, executed

import flatviz as fv
from flatviz.experiments import read_table
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


def cells(line):
    """What a row of a table holds, between its columns."""
    return [cell for cell in re.split(r"\s{2,}", line.strip()) if cell]


def missing(name):
    """Sentences and rows of the golden text that the notebook does not print; of the verdict's words one was renamed."""
    golden = re.sub("cannot tell|undecided", "inconclusive", (GOLDEN / f"{name}.txt").read_text(encoding="utf-8"))
    printed = "\n".join(executed(name))
    plain, rows = " ".join(printed.split()), [set(cells(line)) for line in printed.splitlines()]
    figures = lambda line: {cell for cell in cells(line)[1:] if re.search(r"\d", cell)}  # noqa: E731
    lines = [line for line in re.sub(r".*\n[- ]+\n", "", golden).splitlines() if line.strip()]  # without heads of tables
    return [line for line in lines if " ".join(line.split()) not in plain and not any(figures(line) <= row for row in rows)]


@pytest.mark.parametrize("name", ["averaging", "search", "symmetry", "transfer"])
def test_no_sentence_and_no_figure_of_the_stored_results_is_lost(name):
    assert missing(name) == []


def test_the_settings_chosen_by_equal_trials_are_shown():
    stored = json.loads((ROOT / "data" / "tuned_digits_mlp.json").read_text(encoding="utf-8"))["methods"]
    rows = [set(cells(line)) for line in "\n".join(executed("tune")).splitlines()]
    for name, about in stored.items():
        shown = {fv.METHODS[name].label, *(f"{about[key]:.3f}" for key in ("validation_nll", "validation_nll_of_the_record"))}
        assert any(shown <= row for row in rows), name


def test_every_method_and_its_flat_seeking_version_are_compared_from_the_stored_table():
    printed = "\n".join(executed("compare"))
    table = read_table("compare")
    for name in dict.fromkeys(table.method):
        nll = table[(table.method == name) & (table.quantity == "nll")].value.dropna()
        row = next(line for line in printed.splitlines() if cells(line)[:1] == [fv.METHODS[name].label])
        assert f"{nll.mean():.3g} ±" in row, name
    assert printed.count(" against ") == 4 * sum(f"f-{name}" in set(table.method) for name in set(table.method))
