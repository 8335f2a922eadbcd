"""`flatviz docs`: course and experiments as a static site with live pages, or the notebooks run one by one with their times."""

from __future__ import annotations

import importlib
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from flatviz.cli import options
from flatviz.cli.output import progress_of_command
from flatviz.cli.threads import single_thread
from flatviz.families.tour import run_tour

SMALL_TOUR = dict(
    radii={"sgd": (0.0,), "vi": (0.0,), "sabma": (0.0, 0.5, 1.0)},
    epochs=8,
    fit={"steps": 20},
    measured=dict(n_draws=6, n_spectra=2, k=3, resolution=11, around_resolution=11),
)


@click.command(epilog="Examples: flatviz docs --out site; flatviz docs --run 03 05; flatviz docs --slides")
@click.argument("names", nargs=-1)
@options.out("site", "the site, a folder,")
@click.option("--run", is_flag=True, help="Run the notebooks and print their times; write nothing.")
@click.option("--slides", is_flag=True, help="Also the chapters as slides, in the folder slides of the site.")
@click.option("--fast", is_flag=True, help="Small runs, to see that everything works; numbers mean nothing.")
def command(names: tuple[str, ...], out: Path, run: bool, slides: bool, fast: bool) -> int:
    """Build course and experiments into a static site; status 1 if a notebook fails or Sphinx warns.

    NAMES: how the names of notebooks begin (all).  Experiments are built from their stored tables.
    """
    started = time.perf_counter()
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out must be a folder, got the file {out}: name another")
    with single_thread():
        executed, failed = _executed(names, fast)
        if failed or run:
            print(f"{time.perf_counter() - started:.1f} s in all" + (f"; failed: {', '.join(failed)}" if failed else ""))
            return 1 if failed else 0
        tour = run_tour(progress=progress_of_command(), **(SMALL_TOUR if fast else {}))
    live = _part("shown").family_html(tour.family, start=("sabma", 1.0, min(10, tour.family.prediction[-1].n_draws)))
    warnings = _part("build").build(executed, live, out)
    for line in warnings:
        print(line)
    if slides:
        chapters = [name for name in executed if _part("build").CHAPTER.match(name)]
        print(f"slides of {len(_part('slides').write_slides(out, chapters))} chapters in {out / 'slides'}")
    print(f"{out / 'index.html'} written; {time.perf_counter() - started:.1f} s in all")
    return 1 if warnings else 0


def _executed(names: Sequence[str], fast: bool) -> tuple[dict[str, Any], list[str]]:
    """Name -> notebook with outputs, in the order of the course, and the names of those that failed."""
    executed, failed = {}, []
    site = _part("run")
    for path in _part("source").notebooks(names):
        notebook = _part("source").read(path, fast=fast)
        try:
            print(f"{path.stem:28} {site.run(notebook, path.stem):6.1f} s", flush=True)
            executed[path.stem] = notebook
        except site.CellError as error:
            print(f"{path.stem:28} failed\n  {error}", flush=True)
            failed.append(path.stem)
    return executed, failed


def _part(name: str) -> ModuleType:
    """A module of flatviz.site, loaded now: it needs packages that flatviz itself does not."""
    try:
        return importlib.import_module(f"flatviz.site.{name}")
    except ModuleNotFoundError as error:
        text = f'flatviz docs needs {error.name}: pip install "flatviz[docs]" (in a clone: pip install ".[docs]")'
        raise ImportError(text) from error
