"""The notebooks on averaging, search, symmetry and transfer say what the commands before them printed, word for word, digit for digit."""

import json
import re
from pathlib import Path

import pytest
from experiment_notebooks import executed

import flatviz as fv
from flatviz.experiments import read_table

pytestmark = pytest.mark.long
HERE = Path(__file__).parent


def cells(line):
    """What a row of a table holds, between its columns."""
    return [cell for cell in re.split(r"\s{2,}", line.strip()) if cell]


def missing(name):
    """Sentences and rows of the golden text that the notebook does not print; of the verdict's words one was renamed."""
    golden = re.sub("cannot tell|undecided", "inconclusive", (HERE / f"{name}.txt").read_text(encoding="utf-8"))
    printed = "\n".join(executed(name))
    plain, rows = " ".join(printed.split()), [set(cells(line)) for line in printed.splitlines()]
    figures = lambda line: {cell for cell in cells(line)[1:] if re.search(r"\d", cell)}  # noqa: E731
    lines = [line for line in re.sub(r".*\n[- ]+\n", "", golden).splitlines() if line.strip()]  # without heads of tables
    return [line for line in lines if " ".join(line.split()) not in plain and not any(figures(line) <= row for row in rows)]


@pytest.mark.parametrize("name", ["averaging", "search", "symmetry", "transfer"])
def test_no_sentence_and_no_figure_of_the_stored_results_is_lost(name):
    assert missing(name) == []


def test_the_settings_chosen_by_equal_trials_are_shown():
    stored = json.loads((HERE.parents[1] / "data" / "tuned_digits_mlp.json").read_text(encoding="utf-8"))["methods"]
    rows = [set(cells(line)) for line in "\n".join(executed("tune")).splitlines()]
    for name, about in stored.items():
        shown = {fv.METHODS[name].label, *(f"{about[key]:.3f}" for key in ("validation_nll", "validation_nll_of_the_record"))}
        assert any(shown <= row for row in rows), name


def test_every_method_and_its_flat_seeking_version_are_compared_from_the_stored_table():
    printed = "\n".join(executed("compare"))
    table = read_table("compare")
    for name in dict.fromkeys(table.method):
        nll = table[(table.method == name) & (table.quantity == "nll") & (table.steps == 1)].value.dropna()
        row = next(line for line in printed.splitlines() if cells(line)[:1] == [fv.METHODS[name].label])
        assert f"{nll.mean():.3g} ±" in row, name
    assert printed.count(" against ") == 2 * 5 * sum(f"f-{name}" in set(table.method) for name in set(table.method))
