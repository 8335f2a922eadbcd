"""The page of the card's figures, from what `gpu.py` wrote: `python tests/benchmarks/gpu_table.py
FOLDER > docs/speed_gpu.md`.

It needs nothing but Python.
"""

import json
import sys
from pathlib import Path

ABOUT = """# Speed on a card

Written by `python tests/benchmarks/gpu_table.py` from one run of `python tests/benchmarks/gpu.py`
on {day}: {device}, torch {torch}, {cores} cores, networks of images in {precision} at batch
{batch}. A ratio on the wrong side of its goal did not reach it. A part that was cut off had used
its share of the four minutes.
"""
TOUCHED = ("not measured", "cut off", "failed")


def rows_of(part):
    """A part as lines of Markdown."""
    lines = ["| quantity | value | goal | |", "|---|---|---|---|"]
    for name, (value, unit, goal, note) in part["rows"].items():
        number = "not measured" if value is None else f"{value:.3g} {unit}"
        lines.append(f"| {name} | {number} | {goal} | {note.replace('|', '/')} |")
    lines = lines if part["rows"] else []
    return lines + [f"\n{name}: {part[name]}." for name in TOUCHED if name in part]


def main():
    """Print the page."""
    folder = Path(sys.argv[1])
    whole = json.loads((folder / "gpu.json").read_text())
    beside = folder / "cpu.json"
    if beside.exists():
        cpu = json.loads(beside.read_text())["parts"]["tour"]
        tour = whole["parts"].setdefault("tour", {"what": cpu["what"], "rows": {}})
        tour["rows"] |= {
            name: [value, unit, "", note] for name, (value, unit, _, note) in cpu["rows"].items()
        }
    print(ABOUT.format(**whole["about"]))
    for name, part in whole["parts"].items():
        print(f"## {name}\n\n{part['what']}\n")
        print("\n".join(rows_of(part)), end="\n\n")


if __name__ == "__main__":
    main()
