"""The course as a static site with live pages, or its notebooks run one after the other with their times."""

from __future__ import annotations

import argparse
import importlib
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd

from flatviz.cli.output import progress_of_command
from flatviz.cli.threads import single_thread
from flatviz.families.tour import run_tour
from flatviz.storage.committed import committed

SMALL_TOUR = dict(
    radii={"sgd": (0.0,), "vi": (0.0,), "sabma": (0.0, 0.5, 1.0)},
    epochs=8,
    fit={"steps": 20},
    measured=dict(n_draws=6, n_spectra=2, k=3, resolution=11, around_resolution=11),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("notebooks", nargs="*", help="how the names of notebooks begin (all)")
    parser.add_argument("--out", type=Path, default=Path("site"), help="the folder to write the site to (site)")
    parser.add_argument("--run", action="store_true", help="run the notebooks and print their times; write nothing")
    parser.add_argument("--slides", action="store_true", help="also the chapters as slides, in the folder slides of the site")
    parser.add_argument("--fast", action="store_true", help="small runs, to see that everything works; numbers mean nothing")


def run(args: argparse.Namespace) -> int:
    """Run the notebooks, then build the site; status 1 if a notebook fails or Sphinx warns."""
    started = time.perf_counter()
    if args.out.exists() and not args.out.is_dir():
        raise ValueError(f"--out must be a folder, got the file {args.out}: name another")
    with single_thread():
        executed, failed = _executed(args)
        if failed or args.run:
            print(f"{time.perf_counter() - started:.1f} s in all" + (f"; failed: {', '.join(failed)}" if failed else ""))
            return 1 if failed else 0
        tour = run_tour(progress=progress_of_command(), **(SMALL_TOUR if args.fast else {}))
    live = _part("shown").family_html(tour.family, start=("sabma", 1.0, min(10, tour.family.prediction[-1].n_draws)))
    warnings = _part("build").build(executed, {"evidence.md": evidence_page()}, live, args.out)
    for line in warnings:
        print(line)
    if args.slides:
        chapters = [name for name in executed if _part("build").CHAPTER.match(name)]
        print(f"slides of {len(_part('slides').write_slides(args.out, chapters))} chapters in {args.out / 'slides'}")
    print(f"{args.out / 'index.html'} written; {time.perf_counter() - started:.1f} s in all")
    return 1 if warnings else 0


def _executed(args: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """Name -> notebook with outputs, in the order of the course, and the names of those that failed."""
    executed, failed = {}, []
    site = _part("run")
    for path in _part("source").notebooks(args.notebooks):
        notebook = _part("source").read(path, fast=args.fast)
        try:
            print(f"{path.stem:28} {site.run(notebook, path.stem):6.1f} s", flush=True)
            executed[path.stem] = notebook
        except site.CellError as error:
            print(f"{path.stem:28} failed\n  {error}", flush=True)
            failed.append(path.stem)
    return executed, failed


def evidence_page() -> str:
    """The stored verdicts as a table."""
    claims = pd.read_csv(committed("claims.csv"))[["name", "claim", "setting", "figure", "verdict"]]
    rows = [tuple(claims), ("---",) * 5, *claims.itertuples(index=False, name=None)]
    return "# What holds\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _part(name: str) -> ModuleType:
    """A module of flatviz.site, loaded now: it needs packages that flatviz itself does not."""
    try:
        return importlib.import_module(f"flatviz.site.{name}")
    except ModuleNotFoundError as error:
        text = f'flatviz docs needs {error.name}: pip install "flatviz[docs]" (in a clone: pip install ".[docs]")'
        raise ImportError(text) from error
