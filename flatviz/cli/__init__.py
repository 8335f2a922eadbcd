"""The `flatviz` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import flatviz
from flatviz.cli import (
    averaging,
    compare,
    docs,
    doctor,
    export,
    lab,
    search,
    symmetry,
    tour,
    transfer,
    tune,
)

COMMANDS = {
    "tour": tour,
    "lab": lab,
    "doctor": doctor,
    "compare": compare,
    "tune": tune,
    "transfer": transfer,
    "averaging": averaging,
    "search": search,
    "symmetry": symmetry,
    "export": export,
    "docs": docs,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit status.  Bad input is one line on stderr, Ctrl-C is status 130."""
    parser = argparse.ArgumentParser(prog="flatviz", description="Bayesian flatness, trained, measured, seen.")
    parser.add_argument("--version", action="version", version=f"flatviz {flatviz.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for name, module in COMMANDS.items():
        about = module.__doc__.splitlines()[0]
        module.add_arguments(commands.add_parser(name, help=about, description=about))
    args = parser.parse_args(argv)
    try:
        return COMMANDS[args.command].run(args)
    except KeyboardInterrupt:
        print("\nflatviz: stopped; finished steps are kept in the cache, no half-written file is left", file=sys.stderr)
        return 130
    except (ValueError, TypeError, RuntimeError, ImportError, OSError) as error:
        print(f"flatviz {args.command}: {error}", file=sys.stderr)
        return 1
