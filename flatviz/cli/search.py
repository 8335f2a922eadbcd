"""When does SA-BMA help?  A declared grid against VI and SAM, then one confirmation on fresh seeds; written as JSON."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch

import flatviz
from flatviz.checks import check_count
from flatviz.cli.old_options import add_model
from flatviz.cli.output import check_output, progress_of_command, write_text
from flatviz.cli.threads import single_thread
from flatviz.pages.gallery import Picture, gallery_page
from flatviz.pages.table import text_table
from flatviz.plots.gains import plot_gains
from flatviz.plots.theme import Figure
from flatviz.studies.cases import QUANTITIES, grid
from flatviz.studies.claims import BETTER, NAMES
from flatviz.studies.search import BASELINES, Searched, confirm, search
from flatviz.studies.search_file import balance, claim_rows, read_searched, rows

FRESH = 200  # the first seed of the confirmation; 0 to 9, 100 to 109, 1000 and 1001 were used by other studies
LEAD = """SA-BMA against VI of the best of three lengths and against SAM on the mean, neither with more gradients than it takes.
A search names gains in which all of its seeds agree; **fresh seeds** decide which of them hold."""
DRAWN = {"vi": "VI, chosen", "sam_mu": "SAM on the mean"}  # baselines of the picture, by method


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("--seeds", type=int, default=4, help="seeds of the search, from 0 on (4)")
    parser.add_argument("--fresh", type=int, default=10, help=f"seeds of the confirmation, from {FRESH} on (10)")
    add_model(parser)
    parser.add_argument("--cases", type=int, help="only so many of the declared cases, from the first (all)")
    about = "take the search from this file of an earlier run, and compute the confirmation alone"
    parser.add_argument("--searched", type=Path, help=about)
    parser.add_argument("--picture", type=Path, help="also write a page with the picture of the gains")
    parser.add_argument("--show", type=Path, help="compute nothing: print, and draw, this file of an earlier run")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("when_sabma_helps.json"),
        help="file to write; what it holds of other models stays (when_sabma_helps.json)",
    )


def run(args: argparse.Namespace) -> int:
    """Compute what the cache does not hold, print tables and verdicts, write the file and the page."""
    if args.picture is not None:
        check_output("--picture", args.picture)
    if args.show is not None:
        results = _read(args.show, "--show")
    else:
        earlier = _read(args.out, "--out") if args.out.exists() else {}
        results = earlier | {args.model: _computed(args)}
        write_text(args.out, json.dumps(results, indent=1) + "\n")
        print(f"\n{args.out} written; {results[args.model]['about']['seconds']} s in all")
    for result in results.values():
        _print(result)
    if args.picture is not None:
        write_text(args.picture, page(results))
        print(f"\n{args.picture} written")
    return 0


def _computed(args: argparse.Namespace) -> dict[str, Any]:
    started = time.perf_counter()
    for count, option in ((args.seeds, "--seeds"), (args.fresh, "--fresh")):
        check_count(count, option, least=2)
    check_output("--out", args.out)
    fresh, cases = range(FRESH, FRESH + args.fresh), grid(args.model)
    if args.cases is not None:
        cases = cases[: check_count(args.cases, "--cases")]
    settings = dict(model=args.model, progress=progress_of_command(), say=print)
    command = f"flatviz search --seeds {args.seeds} --fresh {args.fresh} --model {args.model}"
    command += "" if args.cases is None else f" --cases {args.cases}"
    stored = None if args.searched is None else _of_model(args)
    with single_thread():
        if stored is None:
            outcomes = search(cases, range(args.seeds), **settings)
            searched, table = Searched.of(outcomes), rows(outcomes)
        else:
            command += f" --searched {args.searched}"
            searched, table = read_searched(stored, cases), stored["search"]
        confirmed, verdicts = confirm(searched, fresh, **settings)
    about = dict(
        command=command,
        model=args.model,
        seeds=list(searched.seeds),
        fresh=list(fresh),
        flatviz=flatviz.__version__,
        torch=torch.__version__,
        date=time.strftime("%Y-%m-%d"),
        seconds=round(time.perf_counter() - started),
    )
    if stored is not None:
        about["searched"] = {name: stored["about"][name] for name in ("command", "date", "torch", "seconds")}
    return {"about": about, "search": table, "confirmation": rows(confirmed), "claims": claim_rows(verdicts)}


def _of_model(args: argparse.Namespace) -> dict[str, Any]:
    """What the file of `--searched` holds of the model."""
    results = _read(args.searched, "--searched")
    if args.model not in results:
        raise ValueError(f"--searched must hold a search of {args.model}, got {args.searched} with {', '.join(results)}")
    return results[args.model]


def _read(path: Path, option: str) -> dict[str, dict[str, Any]]:
    """Model -> what was written of it."""
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
        return {
            model: {part: r[part] for part in ("about", "search", "confirmation", "claims")} for model, r in results.items()
        }
    except (AttributeError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{option} must be a file that flatviz search wrote, got {path}: {error}: run it again") from error


def page(results: dict[str, dict[str, Any]]) -> str:
    """The HTML text: a picture for each model, and the confirmed claims."""
    pictures = [Picture(f"gains_{model}", _caption(result), picture(result)) for model, result in results.items()]
    told = [
        {"network": model, "claim": c["sentence"].rpartition(":")[0], "verdict": c["verdict"]}
        for model, result in results.items()
        for c in result["claims"]
    ]
    facts = {
        model: f"{r['about']['command']}, {r['about']['date']}, torch {r['about']['torch']}" for model, r in results.items()
    }
    heading = "Claims that SA-BMA is better, on fresh seeds, corrected by Holm within each network"
    return gallery_page(
        pictures, title="When does SA-BMA help?", lead=LEAD, heading=heading, rows=told or [{"claim": "none"}], facts=facts
    )


def _caption(result: dict[str, Any]) -> str:
    about, cases = result["about"], len(result["search"])
    held = sum(claim["verdict"] == "holds" for claim in result["claims"])
    return (
        f"{cases} cases on seeds {about['seeds'][0]} to {about['seeds'][-1]}; filled: again on seeds {about['fresh'][0]} to "
        f"{about['fresh'][-1]}. {held} of the {len(result['claims'])} gains that the search named hold there. Of all differences of the "
        f"confirmed cases, uncorrected: {'; '.join(balance(result))}."
    )


def picture(result: dict[str, Any]) -> Figure:
    """Gains of SA-BMA over VI and over SAM, at no more gradients than it takes, in every case."""
    about = result["about"]
    title = f"Where SA-BMA helps: digits, {about['model']}; radii and VI's length chosen on validation splits"
    return plot_gains(_gains(result["search"]), confirmed=_gains(result["confirmation"]), title=title)


def _gains(rows: list[dict[str, Any]]) -> dict[str, dict[str, dict[str, tuple[float, float]]]]:
    """Baseline -> case -> quantity -> (mean gain, half), of cases in which no fit diverged."""
    return {
        method: {
            row["case"]: {
                q: (BETTER[q] * mean, half) for q, (mean, half, _) in row["differences"][baseline].items() if mean is not None
            }
            for row in sorted(rows, key=lambda row: "severity" in row["case"])
        }
        for method, baseline in DRAWN.items()
    }


def _print(result: dict[str, Any]) -> None:
    about = result["about"]
    print("\nSA-BMA less each, seed by seed: mean ± half of the 95 % interval (seeds with a gain)")
    for part, seeds in (("search", about["seeds"]), ("confirmation", about["fresh"])):
        for quantity in QUANTITIES:
            told = [_row(row, quantity) for row in result[part] if quantity in row["differences"][BASELINES[0]]]
            print(f"\n{part}, {about['model']}, seeds {seeds[0]} to {seeds[-1]}: {NAMES[quantity]}\n\n{text_table(told)}")
    print(
        f"\nclaims that SA-BMA is better, on {len(about['fresh'])} fresh seeds, corrected by Holm for these {len(result['claims'])}:"
    )
    for claim in result["claims"]:
        print(f"  {claim['sentence']}")
    print("\nall differences of the confirmed cases, 95 % intervals of which 0 is no part, not corrected; named or not:")
    for line in balance(result):
        print(f"  {line}")


def _row(row: dict[str, Any], quantity: str) -> dict[str, str]:
    chosen = row["choice"]
    cells = {
        "case": row["case"],
        "radius": f"{chosen['sabma']:g}",
        "SAM's": f"{chosen['sam_mu']:g}",
        "VI's steps": f"{chosen['vi']:g}",
    }
    return cells | {baseline: _amount(row["differences"][baseline][quantity], quantity) for baseline in BASELINES}


def _amount(difference: list, quantity: str) -> str:
    mean, half, n_better = difference
    if mean is None:
        return "diverged"
    factor = 100 if quantity == "accuracy" else 1
    return f"{factor * mean:+.3f} ± {factor * half:.3f} ({n_better})"
