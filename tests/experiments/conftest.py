"""Shared by the tests of experiments: a notebook run whole in a small form."""

import pytest
from experiment_notebooks import executed

from flatviz.experiments import read_table


@pytest.fixture
def run_small(tmp_path):
    """Call it with a notebook's name and parameters: what it prints, the table that it writes, and
    the path of that."""

    def run(name, **small):
        path = tmp_path / f"{name}.csv"
        said = "\n".join(executed(name, RUN=True, SAVE=str(path), **small))
        return said, read_table(path), path

    return run
