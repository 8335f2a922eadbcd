"""Run a declared grid: fit and measure each unit of work, and cache it."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd

from flatviz.checks import check_device
from flatviz.core import Progress
from flatviz.experiments.statistics import CELL, COLUMNS
from flatviz.families.tasks import Engine, executor, run_each
from flatviz.storage.cache import keep, look_up

Cell = dict[str, object]
Fit = Callable[..., Iterable[tuple[Cell, object]]]
Measure = Callable[[object, Cell], Mapping[str, float]]
Values = list[dict[str, float]]  # of each cell: quantity -> value


@dataclass
class Unit:
    """Cells that are fitted together, their file in the cache, and their values once known."""

    label: str
    cells: list[Cell]
    path: Path | None = None
    values: Values | None = None


def run(
    grid: Iterable[Mapping[str, object]],
    fit: Fit,
    measure: Measure,
    *,
    name: str,
    group: Sequence[str] = ("seed",),
    engine: Engine = None,
    workers: int = 1,
    device: str | None = None,
    cache: bool = True,
    files: Sequence[Path] = (),
    progress: Progress = False,
    say: Callable[[str], None] = print,
) -> pd.DataFrame:
    """Fit and measure every cell of a grid.

    Cells with the same values in the columns `group` are one unit of work.  `fit` gets them
    together, so that they share a network and the radii of a method are trained at once.  A
    finished unit is cached; a second run computes only missing units, with the same result bit for
    bit.  A unit that fails is reported through `say`, and its rows are missing.

    Args:
        grid: Cells, each with any of setting, method, radius, steps, seed, and columns that the
            experiment adds.
        fit: `fit(cells)` yields (cell, fitted) for each cell of a unit; with `device` it is called
            as `fit(cells, device=...)`.
        measure: `measure(fitted, cell)` returns {quantity: value}.
        name: Name of the experiment, first column of the table and folder in the cache.
        group: Columns that split the grid into units.
        engine: Any executor of `concurrent.futures`, whose workers share the units.
        workers: Number of processes to start here for this run, in place of `engine`, if above 1.
        device: "auto", which `prepare` and `pick` read for their network, "cpu", "cuda", "cuda:1".
        cache: False computes everything and keeps nothing.  The code of `fit` and `measure`, and
            all that it refers to, is part of the key.
        files: Stored files that `fit` and `measure` read; their content is part of the key too.
        progress: None, True or a function(done, total, label), in units.
        say: Receives lines: reused units, seconds and time left after each unit, failures.

    Returns:
        The long table, rows in the order of the grid.

    Raises:
        RuntimeError: If a worker process is lost; finished units are in the cache.
        ValueError: for an empty grid, a cell given twice, and where every unit failed.
    """
    cells = [dict(CELL, **cell) for cell in grid]
    groups: dict[tuple, list[Cell]] = {}
    for cell in cells:
        key = tuple(cell[column] for column in group)
        groups.setdefault(key, []).append(cell)
    twice = any(together.count(cell) > 1 for together in groups.values() for cell in together)
    if twice or not cells:
        came = "one twice" if cells else "none"
        raise ValueError(f"grid must be cells that differ, got {came}: change {name}'s grid")
    if device not in (None, "auto"):
        check_device(device)
    fit = fit if device is None else partial(fit, device=device)

    content = [Path(file).read_bytes() for file in files]
    about = dict(experiment=name, fit=fit, measure=measure, files=content)
    units = []
    for key, together in groups.items():
        place = ", ".join(f"{column} {value}" for column, value in zip(group, key))
        unit = Unit(f"{name}, {place}", together)
        if cache:
            settings = about | dict(cells=together)
            unit.path, stored = look_up(name, settings, unit.label, say)
            unit.values = stored[0] if stored else None
        units.append(unit)
    missing = [unit for unit in units if unit.values is None]
    failed: dict[str, str] = {}
    started = time.perf_counter()
    with executor(workers if workers > 1 else None) as pool:
        shared = run_each(
            _measured,
            (fit, measure),
            [unit.cells for unit in missing],
            engine=engine or pool,
            label=name,
            progress=progress,
        )
        for done, (i, values) in enumerate(shared, 1):
            unit = missing[i]
            seconds = time.perf_counter() - started
            if isinstance(values, str):
                failed[unit.label] = values
                say(f"{unit.label}: failed, its rows are missing: {values}")
                continue
            left = seconds / done * (len(missing) - done)
            rest = f", about {left:.0f} s left" if left else ""
            say(f"{unit.label}: {done} of {len(missing)}, {seconds:.0f} s{rest}")
            unit.values = values
            keep(values, unit.path, say)
    if len(failed) == len(units):
        first, *_ = failed.values()
        raise ValueError(
            f"a grid must have a unit that can be fitted, got {len(failed)} failures: {first}"
        )
    values_of: dict[int, Mapping[str, float]] = {}
    for unit in units:
        values_of |= zip(map(id, unit.cells), unit.values or [])
    rows = []
    for cell in cells:
        for quantity, value in values_of.get(id(cell), {}).items():
            rows.append({"experiment": name, **cell, "quantity": quantity, "value": value})
    table = pd.DataFrame(rows)
    extra = [column for column in table if column not in COLUMNS]
    table = table[[*COLUMNS[:-2], *extra, *COLUMNS[-2:]]]
    table.attrs["failed"] = failed
    return table


def _measured(functions: tuple[Fit, Measure], cells: list[Cell]) -> Values | str:
    """Compute the values of each cell, in order, or the error as text where it fails."""
    fit, measure = functions
    try:
        values: dict[int, dict[str, float]] = {}
        for cell, fitted in fit(cells):
            measured = measure(fitted, cell)
            values[cells.index(cell)] = {name: float(value) for name, value in measured.items()}
        if len(values) < len(cells):
            raise ValueError(
                f"fit must yield every cell, got {len(values)} of {len(cells)}: yield (cell,"
                " fitted) for each"
            )
        return [values[i] for i in range(len(cells))]
    except Exception as error:
        return f"{type(error).__name__}: {error}"
