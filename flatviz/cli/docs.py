"""The course as a static site with live pages, or its notebooks run one after the other with their times."""

from __future__ import annotations

import argparse
import importlib
import time
from types import ModuleType

from flatviz.cli.threads import single_thread


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("notebooks", nargs="*", help="how the names of notebooks begin (all)")
    parser.add_argument("--run", action="store_true", help="run the notebooks and print their times; write nothing")
    parser.add_argument("--fast", action="store_true", help="small runs, to see that everything works; numbers mean nothing")


def run(args: argparse.Namespace) -> int:
    """Run the notebooks; status 1 if one fails, after the others."""
    site = _part("run")
    started, failed = time.perf_counter(), 0
    for path in _part("source").notebooks(args.notebooks):
        try:
            with single_thread():
                notebook = _part("source").read(path, fast=args.fast)
                print(f"{path.stem:28} {site.run(notebook, path.stem):6.1f} s", flush=True)
        except site.CellError as error:
            print(f"{path.stem:28} failed\n  {error}", flush=True)
            failed += 1
    print(f"{time.perf_counter() - started:.1f} s in all" + (f"; {failed} failed" if failed else ""))
    return 1 if failed else 0


def _part(name: str) -> ModuleType:
    """A module of flatviz.site, loaded now: it needs packages that flatviz itself does not."""
    try:
        return importlib.import_module(f"flatviz.site.{name}")
    except ModuleNotFoundError as error:
        text = f'flatviz docs needs {error.name}: pip install "flatviz[docs]" (in a clone: pip install ".[docs]")'
        raise ImportError(text) from error
