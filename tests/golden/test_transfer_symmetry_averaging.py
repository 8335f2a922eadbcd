"""What the commands `averaging`, `symmetry` and `transfer` print from the stored results, word for word and digit for digit."""

import csv
import json
from pathlib import Path

import torch
from flatviz.cli.averaging import tables
from flatviz.cli.symmetry import plus_minus
from flatviz.cli.transfer_tables import severity_rows, table_rows
from flatviz.pages.table import text_table
from flatviz.plots.mmd import set_label
from flatviz.results import Shift
from flatviz.storage.committed import committed
from flatviz.studies.averaging_claims import claims, sentences
from flatviz.studies.source_claims import read_averaging
from flatviz.studies.symmetry import VARIANTS
from flatviz.studies.transfer import TransferStudy
from flatviz.studies.transfer_claims import answer, compare_with, verdict_rows
from flatviz.studies.transfer_seed import Row
from flatviz.studies.transfer_setting import Scheme, Sizes, split_classes

HERE = Path(__file__).parent


def averaging_text():
    study, modes = read_averaging(committed("averaging_digits.json"))
    ends = {ratio: torch.stack(list(runs.values())) for ratio, runs in modes.items()}
    said = sentences(claims(study))
    stored = json.loads(committed("averaging_digits.json").read_text(encoding="utf-8"))["verdicts"]  # of unrounded figures
    assert [a.rsplit(": ")[-1] for a in said] == [b.rsplit(": ")[-1] for b in stored]
    assert sum(a != b for a, b in zip(said, stored)) == 2  # in their last digit
    parts = [f"{title}\n\n{text_table(rows)}\n" for title, rows in tables(study, ends).items()]
    return "\n".join([*parts, "verdicts\n", *said]) + "\n"


def symmetry_text():
    held = json.loads(committed("symmetry_digits.json").read_text(encoding="utf-8"))
    rows = []
    for name in held["mmd"]["raw"]:
        row = {"set": set_label(name)}
        row |= {label: plus_minus(*held["mmd"][v][name]) for v, label in VARIANTS.items()}
        row["all weights, aligned"] = plus_minus(*held["mmd, all weights"]["aligned"][name])
        row |= {f"p, {v}": f"{held['p'][v][name]:.2g}" for v in ("raw", "aligned")}
        rows.append(row)
    scores = [{"set": name} | cells for name, cells in held["scores"].items()]
    lines = ["distances\n", text_table(rows), "\nscores\n", text_table(scores), "\ntrends\n"]
    for t in held["trends"]:
        lines.append(f"{t['']:8} {t['verdict']:13} {t['claim']}\n{'':22} {t['figures']}")
    lines += ["\nbarriers\n", *(f"{name}: {value}" for name, value in held["barrier"].items())]
    lines += ["\nflatness at least mass\n", text_table(held["evidence at least mass"])]
    return "\n".join(lines) + "\n"


def transfer_text():
    with committed("transfer_cifar10.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    rows = {}
    for method in dict.fromkeys(line["method"] for line in lines):
        rows[method] = []
        for seed in range(8):
            of = [line for line in lines if (line["method"], line["seed"]) == (method, str(seed))]
            kinds, severities = (tuple(dict.fromkeys(r[k] for r in of)) for k in ("corruption", "severity"))
            table = {
                q: torch.tensor([float(r[q]) for r in of]).double().view(len(kinds), -1) for q in ("accuracy", "nll", "ece")
            }
            shift = Shift(kinds, tuple(map(int, severities)), table, 200, 8, "frozen")
            values = {q: float(of[0][q]) for q in of[0] if q not in ("method", "seed", "corruption", "severity", "batchnorm")}
            rows[method].append(Row(values, shift, None))
    study = TransferStudy({m: tuple(r) for m, r in rows.items()}, split_classes(tuple("abcdefghij")), Sizes(), Scheme(), 1.0)
    verdicts = compare_with(study)
    tables = (table_rows(study), severity_rows(study), verdict_rows(verdicts))
    return "\n\n".join([*map(text_table, tables), answer(verdicts)]) + "\n"


def test_averaging_prints_what_it_printed():
    assert averaging_text() == (HERE / "averaging.txt").read_text(encoding="utf-8")


def test_symmetry_prints_what_it_printed():
    assert symmetry_text() == (HERE / "symmetry.txt").read_text(encoding="utf-8")


def test_transfer_prints_what_it_printed():
    assert transfer_text() == (HERE / "transfer.txt").read_text(encoding="utf-8")
