"""The long table of an experiment, and paired comparisons of its rows.

They have intervals, verdicts with Holm's correction, and sentences.  "No effect" is a claim too:
`equivalent` tests it against a margin, as a difference that is not significant does not show it.

Differences of few seeds may be equal, as accuracies of few examples are; Student's t then finds no
spread.  So no p here is below the least that a sign test of as many differences can give.

Source: Holm, Scand. J. Statist. 6 (1979).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from flatviz.storage.cache import committed
from flatviz.storage.files import atomic_path

# Columns of a cell, with the default of each
CELL = {
    "setting": "",
    "method": "",
    "radius": np.nan,
    "steps": np.nan,
    "seed": 0,
}
COLUMNS = ("experiment", *CELL, "quantity", "value")


class Quantity(NamedTuple):
    """Appearance of a quantity in text: name, sign of a gain (0: none), ratio or not, factor."""

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
        name: Name of a table in `data/` ("compare"), or the path of a CSV file.

    Raises:
        FileNotFoundError: If there is no such table.
        ValueError: If the file is no table of an experiment.
    """
    path = Path(name) if str(name).endswith(".csv") else committed(f"{name}.csv")

    def exact(text: str) -> float:
        """Read a number alike in every pandas."""
        return float(text or "nan")

    numbers = dict.fromkeys(("radius", "steps", "value"), exact)
    table = pd.read_csv(path, converters=numbers, keep_default_na=False)
    if "seed" in table and "quantity" not in table:
        wide = pd.read_csv(path)
        keys = wide.columns[: wide.columns.get_loc("seed") + 1]
        table = wide.melt(list(keys), var_name="quantity")
    missing = [column for column in COLUMNS if column not in table]
    if missing:
        raise ValueError(
            f"a table must have the columns {', '.join(COLUMNS)}, got {path} without"
            f" {', '.join(missing)}"
        )
    return table


def write_table(
    table: pd.DataFrame, path: str | Path, digits: int = 6, *, wide: bool = False
) -> None:
    """Write a table as CSV, rounded to `digits` significant digits, completely or not at all.

    wide: a row for each fit, with a column for each quantity after that of the seed: a sixth of the
    size.
    """
    rounded = [float(f"{value:.{digits}g}") for value in table.value]
    table = table.assign(value=rounded)
    if wide:
        keys = [c for c in table if c not in ("seed", "quantity", "value")]
        table = _wide(table, [*keys, "seed"]).reset_index()
    with atomic_path(path) as partial:
        table.to_csv(partial, index=False)


def at(table: pd.DataFrame, **cell: object) -> pd.DataFrame:
    """Select the rows of one cell as a frame (seeds, quantities).

    Args:
        table: Long, as `run` returns it.
        **cell: Value of each column that selects the cell, such as method="vi", radius=0.0.

    Raises:
        ValueError: If these columns leave no row, or several of one seed and quantity.
    """
    matches = table[list(cell)] == pd.Series(cell)
    rows = table[matches.all(axis=1)]
    if rows.empty or rows.duplicated(["seed", "quantity"]).any():
        came = "no row" if rows.empty else "several rows of one seed and quantity"
        raise ValueError(f"at must pick one cell, got {came} for {cell}: change or add a column")
    return _wide(rows, ["seed"])


def _wide(table: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Give each quantity a column, in their order."""
    values = table.pivot(index=keys, columns="quantity", values="value")
    return values[list(table.quantity.unique())]


LEVEL = 0.05
HOLDS = "holds"
NOT = "does not hold"
OPEN = "inconclusive"
MISSING = "not comparable"
ROUNDING = 1e-9  # of the mean; a smaller spread of differences is one of their rounding
BETTER = {name: quantity.better for name, quantity in QUANTITIES.items() if quantity.better}
RANK = ("rank", "rank_gain")  # columns of `signed_rank`
PAIRED = ["quantity", "mean", "half", "n", "gains", "gain", "p", "ratio", *RANK]
RATIOS = tuple(name for name, quantity in QUANTITIES.items() if quantity.ratio)


def paired(
    mine: pd.DataFrame,
    theirs: pd.DataFrame,
    better: Mapping[str, int] = BETTER,
    logs: Sequence[str] = RATIOS,
) -> pd.DataFrame:
    """Compare `mine` with `theirs` seed by seed: differences, one row a quantity.

    Args:
        mine: (seeds, quantities), as `at` returns it.
        theirs: The same of what it is compared with; seeds that only one of the two has are left
            out.
        better: Quantity -> sign of a gain; only these are compared, where `mine` has them.
        logs: Quantities of which log ratios are compared.

    Returns:
        Columns quantity, mean, half (of the 95 % interval; NaN where all differences are equal),
        n, gains (seeds with a gain), gain (mean with the sign of a gain), p (two-sided, Student's
        t, and at least `sign_floor`; NaN for one seed), ratio (whether mean is that of log ratios),
        rank (p of Wilcoxon's signed-rank test, which assumes no normal differences), rank_gain (its
        direction: the sum of signed ranks).  All but n and ratio are NaN or 0 where a difference is
        not finite.
    """
    seeds = mine.index.intersection(theirs.index)
    both = mine.columns.intersection(theirs.columns)
    rows = []
    for quantity, sign in better.items():
        if quantity not in both or mine[quantity].isna().all():
            continue
        a = mine.loc[seeds, quantity]
        b = theirs.loc[seeds, quantity]
        ratio = quantity in logs
        with np.errstate(divide="ignore", invalid="ignore"):  # such a seed is not comparable
            x = np.log(a / b) if ratio else a - b
        row = {"quantity": quantity, "ratio": ratio}
        rows.append(row | mean_zero(x, sign) | signed_rank(x, sign))
    return pd.DataFrame(rows, columns=PAIRED)


def sign_floor(values: Sequence[float] | pd.Series | np.ndarray) -> float:
    """Return the least p that a two-sided sign test of these differences can give: 2^(1 - n).

    n differences are not 0.  It is the p of n differences of one sign.
    """
    moved = int(np.count_nonzero(values))
    return min(2.0 ** (1 - moved), 1.0)


def signed_rank(values: pd.Series, better: int = 1) -> dict[str, float]:
    """Apply Wilcoxon's test of symmetry about 0; return a part of a `paired` row."""
    if not np.isfinite(values).all():
        return {"rank": np.nan, "rank_gain": np.nan}
    moved = values[values != 0]
    ranks = np.sign(moved) * moved.abs().rank()
    p = stats.wilcoxon(moved).pvalue if len(moved) else 1.0
    # Of ties scipy may use a Gaussian approximation, which is too small for few of them
    return {"rank": max(p, sign_floor(moved)), "rank_gain": better * ranks.sum()}


def mean_zero(values: pd.Series, better: int = 1) -> dict[str, Any]:
    """Apply Student's t test that the mean of `values` is 0; return a row of `paired`.

    Equal values have no spread: half is NaN, and p that of a sign test.
    """
    x = np.asarray(values, float)
    n = len(x)
    mean = p = half = np.nan
    gains = 0
    if n and np.isfinite(x).all():
        mean = x.mean()
        gains = int((better * x > 0).sum())
        error = x.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
        if error > ROUNDING * abs(mean):
            half = stats.t.ppf(0.975, n - 1) * error
            p = max(2 * stats.t.sf(abs(mean) / error, n - 1), sign_floor(x))
        elif n > 1 or mean == 0:
            p = sign_floor(x)
    return {"mean": mean, "half": half, "n": n, "gains": gains, "gain": better * mean, "p": p}


def equivalent(row: Mapping[str, Any], margin: float) -> float:
    """Compute p of two one-sided t tests that the mean of a `paired` row is within +-margin.

    A small p shows that it is.  It is at least 2^-n, the p of a one-sided sign test; NaN for one
    seed, and for a row that is not comparable.

    Source: Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987).
    """
    n = row["n"]
    inside = margin - abs(row["mean"])
    if n < 2 or np.isnan(inside):
        return np.nan
    least = 2.0**-n
    if np.isnan(row["half"]):  # all differences are equal
        return least if inside > 0 else 1.0
    error = row["half"] / stats.t.ppf(0.975, n - 1)
    return max(float(stats.t.sf(inside / error, n - 1)), least)


def shown(values: pd.Series, form: str = ".3g", factor: float = 1.0) -> str:
    """Write mean ± half of the 95 % interval of `factor` times the values."""
    test = mean_zero(factor * values)
    if np.isnan(test["half"]):
        return f"{test['mean']:{form}}"
    return f"{test['mean']:{form}} ± {test['half']:.2g}"


def holm(p: Sequence[float]) -> np.ndarray:
    """Compute Holm's corrected p.

    The k-th smallest of m is multiplied by m - k + 1, never below the one before, at most 1.  NaN
    stays and counts.
    """
    values = pd.Series(p, dtype=float).reset_index(drop=True)
    order = values.sort_values()
    corrected = order * np.arange(len(values), 0, -1)
    corrected = corrected.clip(upper=1).cummax()
    return corrected.reindex(values.index).to_numpy()


def judged(table: pd.DataFrame, level: float = LEVEL, *, family: str | list[str]) -> pd.DataFrame:
    """Judge each row of `paired`, corrected by Holm for the claims of its family.

    Args:
        table: With p and gain, and where it has them rank and rank_gain.
        level: Level of the verdicts.
        family: Name of the family that all rows make, or columns whose values split the rows into
            families.

    Returns:
        The table with family (its name), claims (their number in the family), corrected (p) and
        verdict: "holds" or "does not hold" where the corrected p is below the level, by the sign of
        the gain, else "inconclusive"; "not comparable" where the difference of a seed is not
        finite.
        corrected_rank and by_rank are the same of the rank test; without a column rank by_rank
        equals verdict.
    """
    if isinstance(family, list):
        names = table[family].astype(str).agg(", ".join, axis=1)
    else:
        names = pd.Series(family, table.index)

    by_family = table.groupby(names, sort=False)

    def tested(p: str, gain: str) -> tuple[pd.Series, np.ndarray]:
        corrected = by_family[p].transform(holm)
        decided = np.where(table[gain] > 0, HOLDS, NOT)
        undecided = np.where(table.gain.isna(), MISSING, OPEN)
        return corrected, np.where(corrected < level, decided, undecided)

    corrected, verdict = tested("p", "gain")
    ranked, by_rank = tested(*RANK if "rank" in table else ("p", "gain"))
    return table.assign(
        family=names,
        claims=by_family["p"].transform("size"),
        corrected=corrected,
        verdict=verdict,
        corrected_rank=ranked,
        by_rank=by_rank,
    )


def amount(row: Any) -> str:
    """Write the difference of a judged row as text.

    Examples: "NLL -0.1 ± 0.02" or "λ1 0.80 of VI's (0.75 to 0.85)".
    """
    unknown = Quantity(row.quantity, better=1)
    quantity = QUANTITIES.get(row.quantity, unknown)
    label = quantity.label
    if np.isnan(row.mean):  # a seed has no value
        return label
    bounded = not np.isnan(row.half)  # an interval needs two values that differ
    if not row.ratio:
        mean = quantity.factor * row.mean
        half = quantity.factor * row.half
        return f"{label} {mean:+.2g} ± {half:.2g}" if bounded else f"{label} {mean:+.2g}"
    middle = np.exp(row.mean)
    text = f"{label} {middle:.2f} of {row.against}'s"
    low = np.exp(row.mean - row.half)
    high = np.exp(row.mean + row.half)
    return f"{text} ({low:.2f} to {high:.2f})" if bounded else text


def sentences(table: pd.DataFrame) -> list[str]:
    """Write each judged row in words: claim, difference with interval, seeds with a gain, verdict.

    The rank test's verdict follows where it is another.

    Args:
        table: Result of `judged`, with the columns claim (who, and at what) and against (the name
            of what it is compared with).
    """
    texts = []
    for row, other in zip(table.itertuples(), apart(table)):
        count = "" if np.isnan(row.mean) else f", better in {row.gains} of {row.n} seeds"
        rank = f" (by the rank test: {row.by_rank})" if other else ""
        texts.append(f"{row.claim}: {amount(row)}{count}: {row.verdict}{rank}")
    return texts


def apart(table: pd.DataFrame) -> pd.Series:
    """Select rows whose rank test gives another verdict."""
    return table.verdict != table.by_rank
