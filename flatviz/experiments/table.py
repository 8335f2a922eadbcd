"""The long table of an experiment: its columns, the quantities that several experiments measure, reading and writing."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from flatviz.storage.cache import committed
from flatviz.storage.files import atomic_path

CELL = {"setting": "", "method": "", "radius": float("nan"), "steps": float("nan"), "seed": 0}  # and the default of each
COLUMNS = ("experiment", *CELL, "quantity", "value")


class Quantity(NamedTuple):
    """How a quantity is named in text, the sign of a gain (0: none), whether ratios are compared, and its factor in text."""

    label: str
    better: int
    ratio: bool = False
    factor: int = 1


QUANTITIES = {
    "lambda1": Quantity("λ1", -1, ratio=True),
    "train": Quantity("training loss", 0),
    "nll": Quantity("NLL", -1),
    "accuracy": Quantity("accuracy %", 1, factor=100),
    "ece": Quantity("ECE", -1),
    "shifted_nll": Quantity("shifted NLL", -1),
    "shifted_accuracy": Quantity("shifted accuracy %", 1, factor=100),
    "shifted_ece": Quantity("shifted ECE", -1),
    "agreement": Quantity("agreement %", 1, factor=100),
    "tv": Quantity("TV", -1),
    "mmd": Quantity("100 MMD²", -1),
}


def read_table(name: str | Path) -> pd.DataFrame:
    """Read the stored table of an experiment, long, or wide as `write_table` writes it.

    Args:
        name: of a table in `data/` ("compare"), or the path of a CSV file.

    Raises:
        FileNotFoundError: where there is no such table.
        ValueError: where the file is no table of an experiment.
    """
    path = Path(name) if str(name).endswith(".csv") else committed(f"{name}.csv")
    numbers = dict.fromkeys(("radius", "steps", "value"), lambda text: float(text or "nan"))  # exact, of every pandas
    table = pd.read_csv(path, converters=numbers, keep_default_na=False)
    if "seed" in table and "quantity" not in table:
        wide = pd.read_csv(path)
        table = wide.melt(list(wide)[: list(wide).index("seed") + 1], var_name="quantity")
    if missing := [c for c in COLUMNS if c not in table]:
        raise ValueError(f"a table must have the columns {', '.join(COLUMNS)}, got {path} without {', '.join(missing)}")
    return table


def write_table(table: pd.DataFrame, path: str | Path, digits: int = 6, *, wide: bool = False) -> None:
    """Write a table as CSV, its values rounded to so many significant digits, whole or not at all.

    wide: a row for each fit, with a column for each quantity after that of the seed: a sixth of the size.
    """
    table = table.assign(value=[float(f"{v:.{digits}g}") for v in table.value])
    if wide:
        keys = [c for c in table if c not in ("seed", "quantity", "value")] + ["seed"]
        of = dict.fromkeys(table.quantity)
        table = table.pivot(index=keys, columns="quantity", values="value")[list(of)].reset_index()
    with atomic_path(Path(path)) as partial:
        table.to_csv(partial, index=False)


def at(table: pd.DataFrame, **cell: object) -> pd.DataFrame:
    """The rows of one cell as a frame (seeds, quantities).

    Args:
        table: long, as `run` returns it.
        **cell: value of each column that picks the cell, such as method="vi", radius=0.0.

    Raises:
        ValueError: where these columns leave no row, or several of one seed and quantity.
    """
    rows = table[(table[list(cell)] == pd.Series(cell)).all(axis=1)]
    if rows.empty or rows.duplicated(["seed", "quantity"]).any():
        came = "no row" if rows.empty else "several rows of one seed and quantity"
        raise ValueError(f"at must pick one cell, got {came} for {cell}: change or add a column")
    return rows.pivot(index="seed", columns="quantity", values="value")[list(dict.fromkeys(rows.quantity))]
