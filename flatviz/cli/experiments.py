"""The experiments by name, and their parameters, read from the notebooks without running them."""

import ast
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flatviz.site import EXPERIMENTS, folder_of_notebooks
from flatviz.words import check_choice, did_you_mean, quoted

PYTHON = {"True": "true", "False": "false"}  # words of Python -> those of JSON
LONGEST = 10  # minutes that a run without --yes may take


def experiment_of(name: str | None = None) -> list[Path]:
    """List the notebook of the experiment `name`, or without a name those of all experiments.

    Raises:
        ValueError: For a name that no experiment has.
    """
    folder = folder_of_notebooks() / EXPERIMENTS
    known = {path.stem: path for path in sorted(folder.glob("*.ipynb"))}
    if name is None:
        return list(known.values())
    return [known[check_choice(name, tuple(known), "NAME")]]


def parameters_of(path: Path) -> dict[str, str]:
    """Return the default of each parameter of a notebook, as the text written in its cell."""
    cell = _parameters(path)
    source = "".join(cell["source"])
    defaults = {}
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            defaults[name] = ast.get_source_segment(source, statement.value) or ""
    return defaults


def _parameters(path: Path) -> dict[str, Any]:
    """Return the cell of a notebook that is tagged `parameters`."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    (cell,) = [c for c in cells if "parameters" in c["metadata"].get("tags", ())]
    return cell


def refuse_long(path: Path, values: Mapping[str, object]) -> None:
    """Print the estimated time of a run, and refuse a run of more than ten minutes.

    The notebook states the estimate in the metadata of its cell tagged `parameters`: `minutes` is a
    Python expression of the parameters, and `on` names the machine for which it holds.  A notebook
    without an estimate is never refused.

    Raises:
        ValueError: For an estimate of more than ten minutes.
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
    """Read texts NAME=VALUE; a value is a number, true or false, and any other word stays text.

    known: parameters of the notebook `name`, with their defaults as texts.

    Raises:
        ValueError: For a word without "=", a name that the notebook does not have, a text where the
            default is a number, and a fraction where the default is a whole number.
    """
    values = {}
    for word in words:
        written, equals, text = word.partition("=")
        key = written.upper()
        if not equals or key not in known:
            listed = [n.lower() for n in known if n != "RUN"]  # which the option --stored sets
            hint = "" if key in known else did_you_mean(key.lower(), listed)
            raise ValueError(
                f"a parameter must be NAME=VALUE with NAME one of {', '.join(listed)} for {name},"
                f" got {word!r}{hint}"
            )
        default = known[key]
        try:
            values[key] = json.loads(PYTHON.get(text, text))
        except json.JSONDecodeError as error:
            is_number = default.replace(".", "", 1).isdecimal()
            if is_number:
                raise ValueError(
                    f"{written} must be a number, as its default {default}, got {text!r}"
                ) from error
            values[key] = text
        check_whole(key, values[key], default)
    return values


def check_whole(key: str, value: object, default: str) -> None:
    """Refuse a value that is no whole number where the default is one, and fewer seeds than 1."""
    least = 1 if key == "SEEDS" else -math.inf
    needs_whole = default.isdecimal()
    # True and False are instances of int, hence the comparison of types
    if needs_whole and (type(value) is not int or value < least):
        from_one = " of at least 1" if key == "SEEDS" else ""
        raise ValueError(
            f"{key.lower()} must be a whole number{from_one}, as its default {default}, got"
            f" {quoted(value)}"
        )
