"""The notebooks on averaging, symmetry and transfer say what the commands before them printed, word for word, digit for digit."""

import re
from pathlib import Path

import pytest
from experiment_notebooks import executed

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


@pytest.mark.parametrize("name", ["averaging", "symmetry", "transfer"])
def test_no_sentence_and_no_figure_of_the_stored_results_is_lost(name):
    assert missing(name) == []
