"""The reference posterior of the digits task by HMC, with what says that its chains agree; needs ArviZ."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from flatviz.checks import check_count
from flatviz.cli.output import check_output, progress_of_command
from flatviz.cli.threads import single_thread
from flatviz.storage.cache import save
from flatviz.studies.reference import HEAD_STD, KL_WEIGHT, chains_sentence, make_reference


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("--seeds", type=int, default=10, help="how many seeds (10)")
    parser.add_argument("--out", type=Path, default=Path("hmc_digits.pt"), help="file to write (hmc_digits.pt)")


def run(args: argparse.Namespace) -> int:
    """Sample, print a line a seed, write the file."""
    check_count(args.seeds, "--seeds")
    check_output("--out", args.out)
    started = time.perf_counter()
    print(f"HMC, digits, mlp, 10 shots a class; standard deviation {HEAD_STD:g} on the head, KL weight {KL_WEIGHT:g}")
    with single_thread():
        record = make_reference(args.seeds, progress=progress_of_command(), say=print)
    save(record, args.out)
    print(chains_sentence(record))
    print(f"{args.out} written; {time.perf_counter() - started:.0f} s in all")
    return 0
