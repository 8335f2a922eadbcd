"""The experiments by name, and their parameters, read from the notebooks without running them."""

import ast
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flatviz.site import EXPERIMENTS, folder_of_notebooks
from flatviz.words import check_choice, meant, quoted

PYTHON = {"True": "true", "False": "false"}  # as JSON
LONGEST = 10  # minutes of a run that needs no --yes


def experiment_of(name: str | None = None) -> list[Path]:
    """The notebook of an experiment; None: of all.

    Raises:
        ValueError: For a name that there is not.
    """
    known = {p.stem: p for p in sorted((folder_of_notebooks() / EXPERIMENTS).glob("*.ipynb"))}
    if name is None:
        return list(known.values())
    return [known[check_choice(name, tuple(known), "NAME")]]


def parameters_of(path: Path) -> dict[str, str]:
    """Name -> default, as written, of the cell tagged `parameters`."""
    cell = _parameters(path)
    source = "".join(cell["source"])
    values = {}
    for line in ast.parse(source).body:
        if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
            values[line.targets[0].id] = ast.get_source_segment(source, line.value) or ""
    return values


def _parameters(path: Path) -> dict[str, Any]:
    """Return the cell of a notebook that is tagged `parameters`."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    (cell,) = [c for c in cells if "parameters" in c["metadata"].get("tags", ())]
    return cell


def refuse_long(path: Path, values: Mapping[str, object]) -> None:
    """Refuse a run whose notebook states more than ten minutes for these parameters.

    The cell tagged `parameters` states them in its metadata: `minutes`, a Python expression in the
    parameters, and `on`, the machine that it is for.

    Raises:
        ValueError: With the estimate.
    """
    stated = _parameters(path)["metadata"]
    if "minutes" not in stated:
        return
    defaults = {name: ast.literal_eval(text) for name, text in parameters_of(path).items()}
    minutes = eval(stated["minutes"], {}, defaults | dict(values))
    estimate = f"{minutes:,.0f} minutes on {stated['on']}"
    print(f"{path.stem}: about {estimate}, an estimate")
    if minutes > LONGEST:
        raise ValueError(
            f"a run without --yes must take at most {LONGEST} minutes, got an estimate of"
            f" {estimate}: add --yes, or make it smaller by -p NAME=VALUE"
        )


def parsed(words: Sequence[str], known: Mapping[str, str], name: str) -> dict[str, object]:
    """NAME=VALUE texts as parameters: numbers, true and false, else text.

    Raises:
        ValueError: For a name that the notebook does not have, for a text without "=", and for one
            in place of a number.
    """
    values = {}
    for word in words:
        written, equals, text = word.partition("=")
        key = written.upper()
        if not equals or key not in known:
            listed = [n.lower() for n in known if n != "RUN"]
            near = "" if key in known else meant(key.lower(), listed)
            raise ValueError(
                f"a parameter must be NAME=VALUE with NAME one of {', '.join(listed)} for {name},"
                f" got {word!r}{near}"
            )
        default = known[key]
        try:
            values[key] = json.loads(PYTHON.get(text, text))
        except json.JSONDecodeError as error:
            if default.replace(".", "", 1).isdecimal():
                raise ValueError(
                    f"{written} must be a number, as its default {default}, got {text!r}"
                ) from error
            values[key] = text
        check_whole(key, values[key], default)
    return values


def check_whole(key: str, value: object, default: str) -> None:
    """Refuse what is no whole number, where the default is one, and a run of no seeds."""
    least = 1 if key == "SEEDS" else -math.inf
    if default.isdecimal() and (type(value) is not int or value < least):
        from_one = " of at least 1" if key == "SEEDS" else ""
        raise ValueError(
            f"{key.lower()} must be a whole number{from_one}, as its default {default}, got"
            f" {quoted(value)}"
        )
