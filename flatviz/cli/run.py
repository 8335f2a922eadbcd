"""`flatviz run`: an experiment's notebook with parameters, computed or from its table."""

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import plotly

from flatviz.checks import check_choice, shown
from flatviz.cli import options
from flatviz.cli.options import module, write_page
from flatviz.plots.theme import CONFIG
from flatviz.site import EXPERIMENTS, folder_of_notebooks

# without code; the page asks no other host for scripts
PAGE = dict(
    template_name="lab",
    exclude_input=True,
    exclude_output_prompt=True,
    require_js_url="",
    mathjax_url="",
    jquery_url="",
)
PLOTLY = "application/vnd.plotly.v1+json"
PYTHON = {"True": "true", "False": "false"}  # as JSON


def work(path: Path, values: Mapping[str, Any], out: Path | None) -> None:
    """Run the notebook of an experiment, and write its page."""
    started = time.perf_counter()
    notebook = executed(path, values)
    if out is not None:
        page = module("flatviz.cli.notebook_page", "lab").page_of(notebook, path.stem)
        write_page(out, page)
    print(f"{time.perf_counter() - started:.0f} s in all")


def parameters_of(path: Path) -> dict[str, str]:
    """Name -> default, as written, of the cell tagged `parameters`."""
    return {
        n: str(about["default"])
        for n, about in module("papermill", "lab").inspect_notebook(str(path)).items()
    }


def parsed(words: Sequence[str], known: Mapping[str, str], name: str) -> dict[str, Any]:
    """NAME=VALUE texts as parameters: numbers, true and false, else text.

    Raises:
        ValueError: For a name that the notebook does not have, for a text without "=", and for one
            in place of a number.
    """
    values: dict[str, Any] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or key.upper() not in known:
            listed = ", ".join(n.lower() for n in known if n != "RUN")
            raise ValueError(
                f"a parameter must be NAME=VALUE with NAME one of {listed} for {name}, got {word!r}"
            )
        try:
            values[key.upper()] = json.loads(PYTHON.get(text, text))
        except json.JSONDecodeError as error:
            default = known[key.upper()]
            if default.replace(".", "", 1).isdecimal():
                raise ValueError(
                    f"{key} must be a number, as its default {default}, got {shown(text)}"
                ) from error
            values[key.upper()] = text
    return values


def executed(path: Path, values: Mapping[str, Any]) -> Any:
    """Run the notebook; the output of its cells goes to the terminal at once.

    Raises:
        RuntimeError: If a cell fails; it names the cell and the error.
    """
    papermill = module("papermill", "lab")
    how = dict(
        progress_bar=False,
        log_output=False,
        stdout_file=sys.stdout,
        stderr_file=sys.stderr,
        cwd=str(Path.cwd()),
    )
    # no module of the folder
    how["extra_arguments"] = ["--IPKernelApp.log_level=40", "--IPKernelApp.ignore_cwd=True"]
    try:
        return papermill.execute_notebook(
            str(path), None, dict(values), kernel_name="python3", **how
        )
    except papermill.PapermillExecutionError as error:
        raise RuntimeError(
            f"{path.stem}, cell {error.exec_count}: {error.ename}: {error.evalue}"
        ) from None
