"""`flatviz run`: an experiment's notebook with parameters, computed or from its table."""

import sys
import time
from collections.abc import Mapping
from pathlib import Path

from flatviz.cli.reporting import module, write_page


def work(path: Path, values: Mapping[str, object], out: Path | None) -> None:
    """Run the notebook of an experiment, and write its page."""
    started = time.perf_counter()
    notebook = executed(path, values)
    if out is not None:
        page = module("flatviz.cli.notebook_page", "lab").page_of(notebook, path.stem)
        write_page(out, page)
    print(f"{time.perf_counter() - started:.0f} s in all")


def executed(path: Path, values: Mapping[str, object]) -> object:
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
