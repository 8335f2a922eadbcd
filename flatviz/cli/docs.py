"""`flatviz docs`: course and experiments as a static site, or the times of its notebooks."""

import time
from collections.abc import Sequence
from pathlib import Path

from flatviz.cli.reporting import module, progress_of_command
from flatviz.families.tour import TourSettings, run_tour
from flatviz.site import read

SMALL_TOUR = TourSettings(
    radii={"sgd": (0.0,), "vi": (0.0,), "sabma": (0.0, 0.5, 1.0)},
    epochs=8,
    fit={"steps": 20},
    measured=dict(
        n_draws=6,
        n_spectra=2,
        k=3,
        resolution=11,
        around_resolution=11,
    ),
)


def work(paths: Sequence[Path], out: Path, run: bool, fast: bool) -> int:
    """Build the site: course, experiments and reference.

    NAMES: how the names of the notebooks to run begin (all); the others appear without results.
    Experiments read their stored tables.  The status is 1 if a notebook fails or Sphinx warns.
    """
    started = time.perf_counter()
    site = module("flatviz.site.run", "docs")
    build = module("flatviz.site.build", "docs")
    executed = {}
    failed = []
    for path in paths:
        name = path.stem
        notebook = read(path, fast=fast)
        try:
            print(f"{name:28} {site.run(notebook, name):6.1f} s", flush=True)
            executed[name] = notebook
        except site.CellError as error:
            print(f"{name:28} failed\n  {error}", flush=True)
            failed.append(name)
    warnings = []
    if not run and not failed:
        settings = SMALL_TOUR if fast else TourSettings(repeats=2)
        family = run_tour(settings=settings, progress=progress_of_command()).family
        live = site.family_html(family, start=("sabma", 1.0, 10))
        warnings = build.build(executed, live, out)
        print(*warnings, f"{out / 'index.html'} written", sep="\n")
    names = f"; failed: {', '.join(failed)}" if failed else ""
    print(f"{time.perf_counter() - started:.1f} s in all{names}")
    return 1 if failed or warnings else 0
