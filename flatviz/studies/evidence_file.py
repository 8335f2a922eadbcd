"""The evidence as a CSV file: one line a cell and seed, every quantity in full."""

from __future__ import annotations

import csv
from pathlib import Path

import torch

from flatviz.studies.evidence import QUANTITIES, Cell, Evidence


def read_evidence(path: Path) -> Evidence:
    """What `write_evidence` wrote; a quantity that an older file lacks is NaN.  Raises ValueError for another file."""
    values: dict[Cell, list[list[float]]] = {}
    seeds: dict[int, None] = {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                cell = Cell(row["setting"], row["method"], float(row["radius"]), float(row["steps"]))
                values.setdefault(cell, []).append([float(row.get(q, "nan") if q == "mmd" else row[q]) for q in QUANTITIES])
                seeds[int(row["seed"])] = None
        return Evidence({c: torch.tensor(rows, dtype=torch.float64) for c, rows in values.items()}, tuple(seeds))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"--read must be a file that flatviz evidence --csv wrote, got {path}: {error}") from error


def write_evidence(evidence: Evidence, path: Path) -> None:
    """One line a cell and seed."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["setting", "method", "radius", "steps", "seed", *QUANTITIES])
        for cell, values in evidence.values.items():
            for seed, row in zip(evidence.seeds, values.tolist()):
                writer.writerow([cell.setting, cell.method, cell.radius, cell.share, seed, *(f"{v:.6g}" for v in row)])
