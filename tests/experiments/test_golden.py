"""The notebooks print the numbers that the commands before them printed from the same results."""

import json
import re

import pandas as pd
import pytest
from experiment_notebooks import ROOT, executed, functions

import flatviz as fv
from flatviz.experiments import read_table

pytestmark = pytest.mark.long
GOLDEN = ROOT / "tests" / "golden"


def test_the_reference_says_that_its_chains_agree():
    said = (
        "chains of 10 seeds agree: R-hat at most 1.010, bulk ESS at least 625, of every weight and"
        " test probability"
    )
    assert said in "\n".join(executed("reference"))


def test_the_stored_claims_are_those_that_were_stated():
    """As the command listed them: source, verdict, claim; figure and where."""
    claims = pd.read_csv(ROOT / "data" / "claims.csv")
    lines = [
        line.strip() for line in (GOLDEN / "claims.txt").read_text(encoding="utf-8").splitlines()
    ]
    found = [
        (f"{c.name:14} {c.verdict:13} {c.claim}", f"{c.figure} ({c.setting})")
        for c in claims.itertuples()
    ]
    assert found == list(zip(lines[::2], lines[1::2]))
    rows = [cells(line) for line in "\n".join(executed("claims")).splitlines()]
    verdicts = {
        tuple(row) for row in rows if row and row[-1] in ("holds", "does not hold", "inconclusive")
    }
    assert len(verdicts) >= len(claims) - 2


def test_the_stored_claims_are_what_the_rules_make_of_the_stored_tables(tmp_path):
    executed("claims", RUN=True, SAVE=str(tmp_path / "claims.csv"))
    found = pd.read_csv(tmp_path / "claims.csv")
    stored = pd.read_csv(ROOT / "data" / "claims.csv")
    assert set(found[found.name.str.startswith("learning")].verdict) == {"holds", "inconclusive"}
    pd.testing.assert_frame_equal(
        found[["name", "claim", "verdict"]], stored[["name", "claim", "verdict"]]
    )
    # The symmetries' figures have a golden text of their own
    paper = ~stored.name.str.startswith("symmetry")
    pd.testing.assert_frame_equal(found[paper], stored[paper], rtol=1e-4)


LESS = "SA-BMA has a lower λ1"
WITHIN = "SA-BMA has the λ1 of VI within 10 %"
MORE = "a higher λ1"


@pytest.mark.parametrize(
    "said, mark",
    [
        ({LESS: "holds"}, "yes"),
        ({LESS: "does not hold"}, "reverse"),
        ({LESS: "inconclusive"}, "open"),
        ({f"SA-BMA has {MORE}": "holds"}, "reverse"),
        ({WITHIN: "holds"}, "same"),
        ({WITHIN: "does not hold"}, "yes"),
        ({LESS: "holds", WITHIN: "holds"}, "yes, small"),
    ],
)
def test_a_mark_of_a_card_says_what_its_title_says(said, mark):
    compared = functions("claims", before="# %%\nRATIO").compared
    rows = [
        {"setting": "task", "claim": f"T = 1: {text} than VI", "figure": "0.5 (0.4 to 0.6)"}
        | {"verdict": word}
        for text, word in said.items()
    ]
    assert [word[2:] for word in compared(pd.DataFrame(rows)).shown] == [mark]


def test_a_card_says_yes_only_where_its_control_does():
    space = functions("claims", before="# %%\nRATIO")
    of = lambda *words: pd.DataFrame({"shown": words})
    yes = space.YES
    open_ = space.UNDECIDED
    assert space.answer({"first": of(yes, yes), "control": of(yes)}, "it").startswith("**Yes**")
    against = space.answer({"first": of(yes, yes), "control": of(open_)}, "the control")
    assert against.startswith("**It depends** on the control")
    counts = re.findall(r"<t[hd]>(.*?)</t[hd]>", against)[-8:]
    assert counts == ["first", "2", "0", "2", "control", "0", "1", "1"]


def cells(line):
    """What a row of a table holds, between its columns."""
    return [cell for cell in re.split(r"\s{2,}", line.strip()) if cell]


def missing(name):
    """Lines of the golden text with a number that no one line of the notebook's output has."""
    numbers = lambda line: set(re.findall(r"[+-]?\d+\.?\d*", line))
    printed = [numbers(line) for text in executed(name) for line in text.splitlines()]
    golden = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    return [
        line for line in golden.splitlines() if not any(numbers(line) <= row for row in printed)
    ]


@pytest.mark.parametrize("name", ["averaging", "symmetry", "transfer"])
def test_no_figure_of_the_stored_results_is_lost(name):
    assert missing(name) == []


def test_the_settings_chosen_by_equal_trials_are_shown():
    stored = json.loads((ROOT / "data" / "tuned_digits_mlp.json").read_text(encoding="utf-8"))[
        "methods"
    ]
    rows = [set(cells(line)) for line in "\n".join(executed("tune")).splitlines()]
    for name, about in stored.items():
        shown = {
            fv.METHODS[name].label,
            *(f"{about[key]:.3f}" for key in ("validation_nll", "validation_nll_of_the_record")),
        }
        assert any(shown <= row for row in rows), name


def test_every_method_and_its_flat_seeking_version_are_compared_from_the_stored_table():
    printed = "\n".join(executed("compare"))
    table = read_table("compare")
    for name in dict.fromkeys(table.method):
        nll = table[
            (table.method == name) & (table.quantity == "nll") & (table.steps == 1)
        ].value.dropna()
        row = next(
            line for line in printed.splitlines() if cells(line)[:1] == [fv.METHODS[name].label]
        )
        assert f"{nll.mean():.3g} ±" in row, name
    assert printed.count(" against ") == 2 * 5 * sum(
        f"f-{name}" in set(table.method) for name in set(table.method)
    )
