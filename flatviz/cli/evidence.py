"""Flat-seeking methods against VI over seeds: paired differences with intervals, shift, nearness to HMC, verdicts by rule."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from pathlib import Path

import torch

import flatviz
from flatviz.checks import check_count
from flatviz.cli.old_options import add_data, add_engine, add_model, data_options, engine_of, task_of
from flatviz.cli.output import check_output, progress_of_command, write_text, written
from flatviz.cli.threads import single_thread
from flatviz.datasets.named import OFFLINE
from flatviz.families.choice import read_choices
from flatviz.pages.evidence import SettingShown, evidence_pictures
from flatviz.pages.gallery import gallery_page
from flatviz.pages.table import text_table
from flatviz.plots.theme import short, style
from flatviz.posteriors import METHODS
from flatviz.results import interval
from flatviz.storage.committed import expected
from flatviz.studies.claims import BETTER, LEVEL, NAMES, Difference, baselines_of, differences, sentence, verdicts_on
from flatviz.studies.evidence import QUANTITIES, SETTINGS, SEVERITY, SHIFTS, Cell, Evidence, gather
from flatviz.studies.evidence_file import read_evidence, write_evidence
from flatviz.studies.reading import read_verdicts
from flatviz.studies.reference import about_reference, noise_floor
from flatviz.studies.source_claims import SourceClaim, claims_json, claims_text, source_claims

SHARES = ("accuracy", "shifted_accuracy", "agreement")  # told in per cent
TUNED = expected("tuned_digits_mlp.json")
TASKS = {"digits": "ten upright digits a class", "moons": "two moons, ten points each"}
LEAD = """Flat-seeking methods against variational inference (VI) on {task}: **paired** seed by seed, at as many
steps, at as many **gradients** (a step of SAM or SA-BMA takes two) and at equal training loss, on clean and on shifted images, and
beside **HMC**, the exact answer. Verdicts are made from the figures by rule."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("--seeds", type=int, default=10, help="how many seeds (10)")
    add_data(parser)
    add_model(parser)
    about = "a file that flatviz tune wrote, for the third setting (for the MLP on the digits the one that is shipped)"
    parser.add_argument("--tuned", type=Path, help=about)
    add_engine(parser)
    parser.add_argument("--csv", type=Path, help="also write every value of every seed to this file")
    parser.add_argument("--out", type=Path, help="also write a page with pictures, tables and verdicts to this file")
    parser.add_argument("--read", type=Path, help="compute nothing: tables and verdicts of a file that --csv wrote")
    parser.add_argument(
        "--claims", type=Path, help="also judge the claims of the sources by the stored results; written as JSON"
    )


def run(args: argparse.Namespace) -> int:
    """Print values, differences and verdicts for each setting; write what was asked for."""
    started = time.perf_counter()
    check_count(args.seeds, "--seeds")
    for option in ("csv", "out", "claims"):
        if (path := vars(args)[option]) is not None:
            check_output(f"--{option}", path)
    if args.claims is not None and args.data != "digits":
        raise ValueError(f"--claims judges the sources on the digits, got --data {args.data}: leave one of them out")
    evidence = _computed(args) if args.read is None else read_evidence(args.read)
    over = "1 seed" if len(evidence.seeds) == 1 else f"{len(evidence.seeds)} seeds"
    print(f"\n{args.model}, {args.data}, 10 shots a class, {over}; mean ± half of the 95 % interval")
    print("λ1: of the training loss's Hessian over the treated weights, mean over draws; steps: in those of VI")
    if _has(evidence, "shifted_nll"):
        print(f"shifted: mean over {', '.join(SHIFTS)} at severity {SEVERITY}")
    if _has(evidence, "tv"):
        print(f"agreement, TV and MMD² (of the treated weights): with HMC, {about_reference()}")
    for setting in settings_of(evidence):
        _print_setting(evidence, setting)
    _print_readings(evidence)
    claims = [] if args.claims is None else _claims(args, evidence)
    if args.csv is not None:
        with written(args.csv) as partial:
            write_evidence(evidence, partial)
        print(f"\n{args.csv} written")
    if args.out is not None:
        write_text(args.out, page(evidence, args, claims))
        print(f"\n{args.out} written")
    print(f"\n{time.perf_counter() - started:.0f} s in all")
    return 0


def _computed(args: argparse.Namespace) -> Evidence:
    shipped = args.tuned is None and (args.model, args.data) == ("mlp", "digits") and TUNED.is_file()
    path = TUNED if shipped else args.tuned
    tuned = None if path is None else read_choices(path)
    if tuned is None:
        print("no file of flatviz tune: the setting in which every method is tuned is left out (--tuned FILE)")
    with single_thread(), engine_of(args) as engine:
        task = args.data if args.data in OFFLINE else task_of(args)
        how = dict(engine=engine, progress=progress_of_command(), say=print)
        return gather(args.seeds, task=task, model=args.model, tuned=tuned, **how)


def _has(evidence: Evidence, quantity: str) -> bool:
    """Whether it was measured: HMC is there for the digits, a shift for images."""
    return any(_measured(evidence.of(cell, quantity)) for cell in evidence.values)


def _claims(args: argparse.Namespace, evidence: Evidence) -> list[SourceClaim]:
    claims = source_claims(evidence, TUNED.parent)
    print(f"\nClaims of the sources\n\n{claims_text(claims)}")
    write_text(args.claims, claims_json(claims))
    print(f"\n{args.claims} written")
    return claims


def settings_of(evidence: Evidence) -> list[str]:
    """The settings that were measured."""
    return [s for s in SETTINGS if any(cell.setting == s for cell in evidence.values)]


def _print_setting(evidence: Evidence, setting: str) -> None:
    print(f"\n{SETTINGS[setting].label}\n\n{text_table(_value_rows(evidence, setting))}")
    for baseline in baselines_of(setting):
        of_setting = [d for d in differences(evidence, baseline) if d.cell.setting == setting]
        print(f"\n  less VI of {baseline}, seed by seed (λ1: ratio); in brackets the seeds with a gain\n")
        print(text_table(_difference_rows(of_setting)))
        if verdicts := verdicts_on(of_setting):
            print(f"\n  claims that a method is better, at level {LEVEL:g}, corrected by Holm for these {len(verdicts)}:")
            for verdict in verdicts:
                print(f"  {sentence(verdict)}")


def _print_readings(evidence: Evidence) -> None:
    readings = read_verdicts(evidence)
    for setting in dict.fromkeys(reading.setting for reading in readings):
        print(f"\nIn short, {SETTINGS[setting].label}")
        for reading in readings:
            if reading.setting == setting:
                print(f"  {reading}")


def page(evidence: Evidence, args: argparse.Namespace, claims: Sequence[SourceClaim]) -> str:
    """The HTML text."""
    n = len(evidence.seeds)
    over = "one seed, so no intervals" if n == 1 else f"{n} seeds"
    shown = [setting_shown(evidence, setting) for setting in settings_of(evidence)]
    rows = [claim.row() for claim in claims]
    pictures = evidence_pictures(shown, over=over, about_hmc=about_reference(), floor=noise_floor(), claims=rows)
    command = (
        f"flatviz evidence --seeds {n} {data_options(args)}" if args.read is None else f"flatviz evidence --read {args.read}"
    )
    facts = {
        "task": f"{TASKS.get(args.data, args.data)}, from a network pre-trained on others",
        "λ1": "of the training loss's Hessian over the treated weights, mean over draws",
        **({"shifted": f"mean over {', '.join(SHIFTS)} at severity {SEVERITY}"} if _has(evidence, "shifted_nll") else {}),
        **(
            {"agreement, TV, MMD²": f"with HMC, {about_reference()}; MMD² of the treated weights"}
            if _has(evidence, "tv")
            else {}
        ),
        "made by": f"flatviz {flatviz.__version__}, torch {torch.__version__}: {command}",
    }
    verdicts = [row for s in shown for row in s.verdicts] or [{"claim": "none"}]
    title = "flatviz evidence: what flat-seeking does at our scale"
    lead = LEAD.format(task=TASKS.get(args.data, f"{args.data}, ten examples a class"))
    return gallery_page(pictures, title=title, lead=lead, heading="All verdicts", rows=verdicts, facts=facts)


def setting_shown(evidence: Evidence, setting: str) -> SettingShown:
    """What the page shows of one setting."""
    compared = {b: [d for d in differences(evidence, b) if d.cell.setting == setting] for b in baselines_of(setting)}
    gains: dict[str, dict[str, dict[str, tuple[float, float]]]] = {}
    for baseline, of_baseline in compared.items():
        for d in of_baseline:
            if bool(d.values.isfinite().all()):
                gains.setdefault(f"VI, {baseline}", {}).setdefault(_row_name(d.cell), {})[d.quantity] = (
                    BETTER[d.quantity] * d.mean,
                    d.half,
                )
    verdicts = [
        {"setting": setting, "claim": sentence(v).rpartition(":")[0], "verdict": v.word}
        for of_baseline in compared.values()
        for v in verdicts_on(of_baseline)
    ]
    tables = {b: _difference_rows(d) for b, d in compared.items()}
    label = SETTINGS[setting].label
    return SettingShown(setting, label, gains, _near(evidence, setting), _value_rows(evidence, setting), tables, verdicts)


def _near(evidence: Evidence, setting: str) -> dict[str, dict[str, dict[str, tuple[float, float]]]]:
    """A row a flat-seeking fit: VI at as many gradients, and itself."""
    rows = {}
    for cell in evidence.values:
        if cell.setting == setting and cell.method != "vi":
            vi = Cell(setting, "vi", 0.0, cell.share * METHODS[cell.method].gradients)
            pair = {"vi": vi, cell.method: cell}
            rows[_row_name(cell)] = {
                method: {q: interval(evidence.of(c, q)) for q in ("tv", "mmd") if _measured(evidence.of(c, q))}
                for method, c in pair.items()
            }
    return rows


def _row_name(cell: Cell) -> str:
    return f"{style(cell.method).label}, radius {short(cell.radius)}"


def _value_rows(evidence: Evidence, setting: str) -> list[dict[str, str]]:
    return [
        _named(cell) | {NAMES[q]: _amount(q, values[:, i]) for i, q in enumerate(QUANTITIES) if _measured(values[:, i])}
        for cell, values in evidence.values.items()
        if cell.setting == setting
    ]


def _difference_rows(compared: Sequence[Difference]) -> list[dict[str, str]]:
    rows: dict[Cell, dict[str, str]] = {}
    for d in compared:
        row = rows.setdefault(d.cell, _named(d.cell) | {NAMES[q]: "" for q in BETTER if any(q == e.quantity for e in compared)})
        if not bool(d.values.isfinite().all()):
            row[NAMES[d.quantity]] = "VI reaches it in too few seeds" if d.quantity == "lambda1" else ""
            continue
        amount = _ratio(d) if d.quantity == "lambda1" else _amount(d.quantity, d.values, sign="+")
        row[NAMES[d.quantity]] = f"{amount} ({d.n_better})"
    return list(rows.values())


def _named(cell: Cell) -> dict[str, str]:
    return {
        "method": style(cell.method).label,
        "radius": short(cell.radius) if cell.radius else "",
        "steps": f"{cell.share:g}",
    }


def _measured(values: torch.Tensor) -> bool:
    return not bool(values.isnan().all())


def _amount(quantity: str, values: torch.Tensor, sign: str = "") -> str:
    mean, half = interval((100 if quantity in SHARES else 1) * values)
    return f"{mean:{sign}.3g}" if math.isnan(half) else f"{mean:{sign}.3g} ± {half:.2g}"  # of one seed there is no interval


def _ratio(d: Difference) -> str:
    if math.isnan(d.half):
        return f"{math.exp(d.mean):.2f}"
    return f"{math.exp(d.mean):.2f} [{math.exp(d.mean - d.half):.2f}, {math.exp(d.mean + d.half):.2f}]"
