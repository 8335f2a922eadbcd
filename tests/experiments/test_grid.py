"""A grid run here, resumed, over workers, with failures: the same long table each time."""

import os
import time
from pathlib import Path

import pandas as pd
from cases import refused
from oracles import stopping_at
from pytest import fixture, mark, raises

from flatviz.experiments import COLUMNS, at, read_table, run, write_table

GRID = [
    dict(setting="a", method=m, radius=r, steps=5, seed=s)
    for m in ("vi", "sabma")
    for r in (0.0, 0.5)
    for s in range(3)
]


def value_of(cell):
    return cell["seed"] + cell["radius"] / 3 + len(cell["method"])


def fit(cells):
    # Not a list of this module: what `fit` refers to is part of the key
    with Path(os.environ["ASKED"]).open("a") as file:
        print(cells[0]["seed"], file=file)
    for cell in reversed(cells):  # in any order
        yield cell, value_of(cell)


def measure(fitted, cell):
    return {"nll": fitted, "accuracy": cell["radius"] - fitted}


def toy(grid, fit=fit, measure=measure, **how):
    """An experiment of this name, that says nothing where it is not asked to."""
    return run(grid, fit, measure, name="toy", **{"say": str} | how)


@fixture
def asked(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("ASKED", str(tmp_path / "asked"))
    return lambda: [int(line) for line in (tmp_path / "asked").read_text().split()]


def test_the_table_has_one_row_a_cell_and_quantity_in_the_order_of_the_grid(asked):
    table = toy(GRID)
    assert tuple(table.columns) == COLUMNS
    assert set(table.experiment) == {"toy"}
    want = [
        (*c.values(), q, v)
        for c in GRID
        for q, v in (("nll", value_of(c)), ("accuracy", c["radius"] - value_of(c)))
    ]
    assert list(table.drop(columns="experiment").itertuples(index=False, name=None)) == want
    assert sorted(asked()) == [0, 1, 2]  # one call of fit a seed


def test_a_stopped_run_goes_on_where_it_was_and_gives_the_same_bits(asked):
    whole = toy(GRID, cache=False)

    with raises(KeyboardInterrupt):
        toy(GRID, progress=stopping_at(2))
    resumed = toy(GRID)
    # The whole run, the stopped one, and what it had not begun
    assert asked() == [0, 1, 2, 0, 1, 2]
    pd.testing.assert_frame_equal(resumed, whole, check_exact=True)


def test_another_measure_or_another_grid_is_computed_anew(asked):
    toy(GRID)
    toy(GRID, fit, lambda fitted, cell: {"nll": 2 * fitted})
    toy(GRID[:-1])  # seed 2 lacks a cell
    assert asked() == [0, 1, 2, 0, 1, 2, 2]


def test_a_unit_that_fails_is_named_and_costs_its_own_rows_only(asked):
    def sometimes(cells):
        if cells[0]["seed"] == 1:
            raise RuntimeError("diverged")
        return fit(cells)

    said = []
    table = toy(GRID, sometimes, measure, say=said.append)
    assert set(table.seed) == {0, 2}
    assert table.attrs["failed"] == {"toy, seed 1": "RuntimeError: diverged"}
    assert (
        sum(
            "toy, seed 1: failed, its rows are missing: RuntimeError: diverged" in line
            for line in said
        )
        == 1
    )
    toy(GRID, sometimes, measure, say=said.append)
    assert asked() == [0, 2]  # what failed was not kept, the rest was
    with refused(r"a unit that can be fitted, got 3 failures: ZeroDivisionError"):
        toy(GRID, fit, lambda fitted, cell: 1 / 0)


def test_a_cell_that_fit_leaves_out_is_no_silent_gap(asked):
    with refused("fit must yield every cell, got 3 of 4"):
        toy(GRID, lambda cells: ((c, 0.0) for c in cells[1:]), measure)
    for grid, came in (([], "none"), ([*GRID, GRID[0]], "one twice")):
        with refused(f"cells that differ, got {came}"):
            toy(grid)


def test_columns_of_the_grid_and_other_groups_are_kept(asked):
    grid = [dict(shift=k, seed=s) for s in (0, 1) for k in ("blur", "noise")]
    calls = []

    def counted(cells):
        calls.append(len(cells))
        yield from ((c, 1.0) for c in cells)

    table = toy(
        grid, counted, lambda fitted, cell: {"nll": fitted}, group=("seed", "shift"), cache=False
    )
    assert list(table.columns) == [*COLUMNS[:-2], "shift", *COLUMNS[-2:]]
    assert calls == [1, 1, 1, 1]


def notebook_functions():
    """Functions whose module is __main__ of another process, as a notebook's are: no worker can
    import them."""
    space = {"__name__": "__main__", "os": os, "time": time, "Path": Path}
    source = """
factor = 2
def scaled(v):
    return factor * v
def fit(cells):
    for cell in cells:
        yield cell, scaled(cell["seed"])
def measure(fitted, cell):
    if fitted == 4 and os.path.exists(os.environ["ASKED"]):
        os.remove(os.environ["ASKED"])
        cache = Path(os.environ["FLATVIZ_CACHE"])
        while not any(path.is_file() for path in cache.rglob("*.safetensors")):
            time.sleep(0.02)  # until another unit is kept
        os._exit(1)
    return {"nll": fitted, "pid": os.getpid()}
"""
    exec(source, space)
    return space["fit"], space["measure"]


@mark.long  # processes that import torch
def test_functions_of_a_notebook_run_in_processes_and_what_ended_is_kept_where_one_is_lost(asked):
    grid = [dict(seed=s) for s in range(6)]
    Path(os.environ["ASKED"]).touch()  # while it is there, the third unit kills its process
    with refused("a worker process must live until its task ends", RuntimeError):
        toy(grid, *notebook_functions(), workers=2)
    said = []
    found = at(toy(grid, *notebook_functions(), workers=2, say=said.append), method="")
    assert list(found.nll) == [2.0 * s for s in range(6)]
    assert os.getpid() not in set(found.pid)
    assert [line for line in said if "reused" in line]


def test_a_table_written_is_the_table_read(asked, tmp_path):
    table = toy([dict(seed=s, radius=0.1) for s in range(3)])
    table.loc[0, "value"] = float("nan")
    write_table(table, tmp_path / "toy.csv", digits=17)
    pd.testing.assert_frame_equal(
        read_table(tmp_path / "toy.csv"), table, check_exact=True, check_dtype=False
    )
    write_table(table.assign(value=1 / 3), tmp_path / "toy.csv")
    assert set(read_table(tmp_path / "toy.csv").value) == {0.333333}
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with refused("a table must have the columns experiment, setting"):
        read_table(tmp_path / "other.csv")
