"""The course as a static site with live pages, or its notebooks run one after the other with their times."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from flatviz.cli import evidence
from flatviz.cli.output import progress_of_command
from flatviz.cli.threads import single_thread
from flatviz.families.tour import run_tour
from flatviz.pages.evidence import evidence_pictures
from flatviz.storage.committed import committed
from flatviz.studies.evidence_file import read_evidence
from flatviz.studies.reference import about_reference, noise_floor
from flatviz.studies.source_claims import claims_page, read_claims

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
    """Claims of the sources as tables, where they were judged; pictures and printed text of the stored evidence."""
    path = committed("evidence.csv")
    parser = argparse.ArgumentParser()
    evidence.add_arguments(parser)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        evidence.run(parser.parse_args(["--read", str(path)]))
    text = printed.getvalue().strip().rsplit("\n", 1)[0]  # without the seconds it took
    judged = path.parent / "claims.json"
    claims = claims_page(read_claims(judged)) if judged.is_file() else ""
    made = "Made by `flatviz evidence --read data/evidence.csv`."
    parts = [f"# What holds\n\n{claims}## The evidence\n\n{made}", *_pictures(path), f"## All tables\n\n```text\n{text}\n```"]
    return "\n\n".join(parts) + "\n"


def _pictures(path: Path) -> list[str]:
    """The pictures of the evidence page, as HTML in Markdown."""
    stored = read_evidence(path)
    shown = [evidence.setting_shown(stored, setting) for setting in evidence.settings_of(stored)]
    over = f"{len(stored.seeds)} seeds"
    pictures = evidence_pictures(shown, over=over, about_hmc=about_reference(), floor=noise_floor(), claims=[])
    drawn = [p for p in pictures if p.figure is not None]
    return [f"````{{raw}} html\n{_part('shown').figure_html(p.figure)}\n````\n\n{p.caption}" for p in drawn]


def _part(name: str) -> ModuleType:
    """A module of flatviz.site, loaded now: it needs packages that flatviz itself does not."""
    try:
        return importlib.import_module(f"flatviz.site.{name}")
    except ModuleNotFoundError as error:
        text = f'flatviz docs needs {error.name}: pip install "flatviz[docs]" (in a clone: pip install ".[docs]")'
        raise ImportError(text) from error
