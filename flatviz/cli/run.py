"""`flatviz run`: an experiment's notebook with parameters, computed or from its table."""

import json
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import plotly

from flatviz.checks import check_choice, shown
from flatviz.cli import options
from flatviz.cli.options import module, write_page
from flatviz.plots.theme import CONFIG
from flatviz.site import EXPERIMENTS, folder_of_notebooks

# Settings of nbconvert: no code on the page, and no scripts from other hosts
PAGE = dict(
    template_name="lab",
    exclude_input=True,
    exclude_output_prompt=True,
    require_js_url="",
    mathjax_url="",
    jquery_url="",
)
PLOTLY = "application/vnd.plotly.v1+json"
PYTHON = {"True": "true", "False": "false"}  # Python's words as JSON


@click.command(
    epilog="Example: flatviz run frontier -p seeds=10 --device auto --workers 2 --out frontier.html"
)
@click.argument("name", required=False)
@click.option(
    "-p",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the notebook; may be repeated.",
)
@click.option("--stored", is_flag=True, help="Compute nothing: read the stored table.")
@options.DATA
@options.SEED
@options.SEEDS
@options.DEVICE
@options.WORKERS
@options.out(None, "the notebook with its results as one page, which needs no network")
@options.out(None, "the long table (CSV)", "--table")
def command(
    name: str | None,
    given: Sequence[str],
    stored: bool,
    out: Path | None,
    table: Path | None,
    **asked: Any,
) -> None:
    """Run an experiment, and write its page and its table.

    NAME: a notebook of notebooks/experiments; without it all are listed with their parameters.

    Finished fits are cached, so a run that was stopped continues.
    """
    started = time.perf_counter()
    experiments = {p.stem: p for p in sorted((folder_of_notebooks() / EXPERIMENTS).glob("*.ipynb"))}
    if name is None:
        for stem, path in experiments.items():
            print(
                f"{stem}: {', '.join(f'{n.lower()}={v}' for n, v in parameters_of(path).items())}"
            )
        return
    check_choice(name, tuple(experiments), "NAME")
    asked |= dict(save=table and table.absolute(), run=not stored)
    words = [*given, *(f"{n}={v}" for n, v in asked.items() if v is not None)]
    notebook = executed(experiments[name], parsed(words, parameters_of(experiments[name]), name))
    if out is not None:
        write_page(out, page_of(notebook, name))
    print(f"{time.perf_counter() - started:.0f} s in all")


def parameters_of(path: Path) -> dict[str, str]:
    """Read name -> default, as written, from the cell tagged `parameters`."""
    return {
        n: str(about["default"])
        for n, about in module("papermill", "lab").inspect_notebook(str(path)).items()
    }


def parsed(words: Sequence[str], known: Mapping[str, str], name: str) -> dict[str, Any]:
    """Parse NAME=VALUE texts as parameters: numbers, true and false, else text.

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
    # Import no module from the current folder
    how["extra_arguments"] = [
        "--IPKernelApp.log_level=40",
        "--IPKernelApp.ignore_cwd=True",
    ]
    try:
        return papermill.execute_notebook(
            str(path), None, dict(values), kernel_name="python3", **how
        )
    except papermill.PapermillExecutionError as error:
        raise RuntimeError(
            f"{path.stem}, cell {error.exec_count}: {error.ename}: {error.evalue}"
        ) from None


def page_of(notebook: Any, name: str) -> str:
    """Write the notebook without its code as one HTML page, with plotly.js inside."""
    for output in (
        o for cell in notebook.cells for o in cell.get("outputs", ()) if PLOTLY in o.get("data", {})
    ):
        figure = plotly.io.from_json(
            json.dumps(output.data[PLOTLY], default=str), skip_invalid=True
        )
        output.data = {
            "text/html": plotly.io.to_html(
                figure, config=CONFIG, include_plotlyjs=False, full_html=False
            )
        }
    for cell in (c for c in notebook.cells if c.cell_type == "markdown"):
        # Links to other files
        cell.source = re.sub(r"\[([^\]]+)\]\([^)]*\.ipynb\)", r"\1", cell.source)
    about = {"metadata": {"name": f"flatviz: {name}"}}
    exporter = module("nbconvert", "lab").HTMLExporter(**PAGE)
    html, _ = exporter.from_notebook_node(notebook, resources=about)
    return html.replace("<head>", f"<head>\n<script>{plotly.offline.get_plotlyjs()}</script>", 1)
