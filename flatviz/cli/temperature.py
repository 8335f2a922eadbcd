"""Which posterior to approximate: VI, SA-BMA and HMC over temperatures, prior widths and starts, on the digits task."""

from __future__ import annotations

import argparse
import datetime
import json
import time
from pathlib import Path
from typing import Any

import torch

from flatviz.cli.output import check_output, progress_of_command, written
from flatviz.cli.threads import single_thread
from flatviz.pages.table import text_table
from flatviz.results import interval
from flatviz.studies.temperature import MEMBERS, QUANTITIES, RADIUS, SEEDS, Temperatures, measure_temperatures

FORMS = {"accuracy": ".1%", "lambda1": ".3g", "kl": ".3g"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    default = ",".join(map(str, SEEDS))
    parser.add_argument("--seeds", default=default, help=f"seeds with commas between ({default})")
    parser.add_argument("--json", type=Path, help="also write every figure of every seed to this file")


def run(args: argparse.Namespace) -> int:
    """Print the table, write the file."""
    started = time.perf_counter()
    seeds = [int(part) for part in args.seeds.split(",")]
    if args.json is not None:
        check_output("--json", args.json)
    with single_thread():
        result = measure_temperatures(seeds, progress=progress_of_command(), say=print)
    print(
        f"\nmlp, digits, 10 shots a class, seeds {args.seeds}; SA-BMA at radius {RADIUS:g}; mean ± half of the 95 % interval\n"
    )
    print(text_table(rows(result)))
    if args.json is not None:
        with written(args.json) as partial:
            partial.write_text(json.dumps(plain(result), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"\n{args.json} written")
    print(f"\n{time.perf_counter() - started:.0f} s in all")
    return 0


def rows(result: Temperatures) -> list[dict[str, str]]:
    """A row for each alternative and member."""
    table = []
    for (chosen, member), values in result.values.items():
        cells = {name: _amount(values[:, i], FORMS.get(name, ".3f")) for i, name in enumerate(QUANTITIES)}
        table.append({"posterior": str(chosen), "method": member} | cells)
    return table


def plain(result: Temperatures) -> dict[str, Any]:
    """Everything as plain values, with the command that makes them."""
    seeds = ",".join(map(str, result.seeds))
    return {
        "command": f"flatviz temperature --seeds {seeds}",
        "date": datetime.date.today().isoformat(),
        "torch": torch.__version__,
        "axes": ["seed", list(QUANTITIES)],
        "members": list(MEMBERS),
        "values": [
            {**chosen._asdict(), "member": member, "values": [[_short(v) for v in row] for row in values.tolist()]}
            for (chosen, member), values in result.values.items()
        ],
    }


def _short(value: float) -> float | None:
    return None if value != value else float(f"{value:.4g}")


def _amount(values: torch.Tensor, form: str) -> str:
    if bool(values.isnan().any()):
        return "-" if bool(values.isnan().all()) else f"diverged in {int(values.isnan().sum())}"
    mean, half = interval(values)
    return f"{mean:{form}} ± {half:{form}}" if half == half else f"{mean:{form}}"
