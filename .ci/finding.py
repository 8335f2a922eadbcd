"""Write the playground's figures of `frontier`: flatviz/pages/playground/finding.js.

    python .ci/finding.py             write it, from data/frontier.csv
    python .ci/finding.py --check     status 1, if it is not that of the table

A row is (T or radius, training loss, λ1, NLL, ECE), means over the seeds; of training loss and λ1
geometric means, as in the experiment's figure. Then the half widths of λ1, NLL and ECE: 95 %
intervals of the difference from VI at `T`, seed by seed. An interval of the mean itself would show
how much the seeds differ from one another.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t as student

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "flatviz" / "pages" / "playground" / "finding.js"
TASK = "digits-near"
T = 0.03
COLDEST = 0.006
WARMEST = 0.1
DIGITS = 5


def row(name: float, fits: pd.DataFrame, beside: pd.DataFrame) -> list[float]:
    """One place of the picture, its intervals those of the difference from `beside`."""
    here, there = (
        table.set_index("seed")[["train", "lambda1", "nll", "ece"]].transform(
            {"train": np.log, "lambda1": np.log, "nll": abs, "ece": abs}
        )
        for table in (fits, beside)
    )
    train, lambda1, nll, ece = here.mean()
    values = [np.exp(train), np.exp(lambda1), nll, ece]
    half = student.ppf(0.975, len(here) - 1) * (here - there).sem().drop("train")
    half["lambda1"] *= values[1]
    return [name, *(float(f"{value:.{DIGITS}g}") for value in [*values, *half])]


def finding() -> dict[str, object]:
    """Every line and mark."""
    table = pd.read_csv(ROOT / "data" / "frontier.csv")
    table = table[(table.experiment == "frontier") & (table.setting == TASK) & (table.restart == 0)]
    plain = table[(table.method == "vi") & (table.knob == 1)]
    plain = plain[plain["T"].between(COLDEST, WARMEST)]
    flat = table[(table.method == "sabma") & (table["T"] == T)]
    at_T = plain[plain["T"] == T]
    return {
        "seeds": int(plain.seed.nunique()),
        "T": T,
        "vi": [row(at, fits, at_T) for at, fits in plain.groupby("T")],
        "sabma": [
            row(0.0, at_T, at_T),
            *(row(at, fits, at_T) for at, fits in flat.groupby("radius")),
        ],
    }


def text() -> str:
    """The module."""
    lines = [f"  {key}: {json.dumps(value)}," for key, value in finding().items()]
    return "\n".join(
        [
            "// Made by .ci/finding.py of data/frontier.csv:"
            " (T or radius, training loss, λ1, NLL, ECE,",
            "// half widths of λ1, NLL, ECE).",
            "// prettier-ignore",
            "export const FINDING = {",
            *lines,
            "};",
            "",
        ]
    )


def main() -> int:
    """Write or check."""
    if "--check" in sys.argv:
        return int(OUT.read_text(encoding="utf-8") != text())
    OUT.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
