"""Options that several commands have."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from flatviz.posteriors import METHODS
from flatviz.studies.tour import MODELS


def add_methods(parser: ArgumentParser) -> None:
    """--methods: a list of names, or None."""
    everything = "names with commas between; without it all: " + ",".join(METHODS)
    parser.add_argument("--methods", type=_names, help=everything)


def add_model(parser: ArgumentParser) -> None:
    """--model: the network."""
    parser.add_argument("--model", choices=tuple(MODELS), default="mlp", help="LayerNorm MLP, or BatchNorm conv net")


def add_out(parser: ArgumentParser, default: str, what: str) -> None:
    """--out: the path to write to."""
    about = f"where to write {what}; makes its folder ({default})"
    parser.add_argument("--out", type=Path, default=Path(default), help=about)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
