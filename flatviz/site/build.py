"""The static site: executed notebooks, the reference and the live pages, put together by Sphinx without network."""

from __future__ import annotations

import io
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from plotly.offline import get_plotlyjs
from sphinx.application import Sphinx

from flatviz.pages.page import front_end
from flatviz.site import reference
from flatviz.site.source import CONTENTS, EXPERIMENTS, folder_of_notebooks
from flatviz.site.source import notebooks as all_notebooks

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"  # Sphinx's settings, in a clone
LIVE = "<!-- live -->"
CHAPTER = re.compile(r"(\d\d|[A-Z])_")
CLAIMS = "claims"  # the experiment whose page lists the others
LINK = re.compile(r"\[([^\]]+)\]\((?:\.\./|experiments/)?(\w+)\.ipynb\)")  # to another notebook


def build(notebooks: Mapping[str, NotebookNode], live: str, out: Path) -> list[str]:
    """Write the site into the folder `out`; the warnings of Sphinx, none if all is well.

    notebooks: name -> with outputs; live: HTML for the first page.

    Raises:
        FileNotFoundError: Outside of a clone, where Sphinx's settings are not.
    """
    if not (DOCS / "conf.py").exists():
        raise FileNotFoundError(f"the site must be built in a clone of flatviz, got no {DOCS / 'conf.py'}: clone it")
    files = all_notebooks()
    with tempfile.TemporaryDirectory(prefix="flatviz-site-") as folder:
        source = Path(folder) / "source"
        for part in ("reference", "downloads"):
            (source / part).mkdir(parents=True)
        for name, notebook in notebooks.items():
            nbformat.write(for_site(deepcopy(notebook), name, list(notebooks)), source / f"{name}.ipynb")
            shutil.copy(next(p for p in files if p.stem == name), source / "downloads")
        for layer, text in reference.pages().items():
            (source / "reference" / f"{layer}.md").write_text(text, encoding="utf-8")
        nbformat.write(_first_page(live, list(notebooks)), source / "index.ipynb")
        _write_scripts(source / "_made")
        warnings = io.StringIO()
        static = [str(DOCS / "static"), str(DOCS / "katex"), str(source / "_made")]
        settings = dict(confoverrides={"html_static_path": static}, status=None, warning=warnings)
        app = Sphinx(source, DOCS, out, Path(folder) / "doctrees", "html", **settings)
        app.build()
    shutil.rmtree(out / ".doctrees", ignore_errors=True)
    return [line for line in warnings.getvalue().splitlines() if line.strip()]


def _write_scripts(folder: Path) -> None:
    """plotly.js, and the front end as a classic script: a browser loads no module from the disk."""
    folder.mkdir()
    (folder / "plotly.min.js").write_text(get_plotlyjs(), encoding="utf-8")
    code = re.sub(r"^export ", "", front_end(), flags=re.MULTILINE)
    (folder / "explorer.js").write_text(
        f"globalThis.flatvizExplorer = (() => {{\n{code}\nreturn {{ show, isDark, recolored, onThemeChange }};\n}})();\n",
        encoding="utf-8",
    )


def _first_page(live: str, names: list[str]) -> NotebookNode:
    """docs/index.md around the live element, without the links to what is not built."""
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    text = re.sub(r"^\[[^\]]+\]\((\w+)\.\w+\)\n: .*\n\n", lambda m: m[0] if m[1] in names else "", text, flags=re.MULTILINE)
    text = re.sub(r"^[\w ]+ <(\w+)>\n", lambda m: m[0] if m[1] in names else "", text, flags=re.MULTILINE)
    before, after = text.split(LIVE)
    return nbformat.v4.new_notebook(cells=[new_markdown_cell(before), html_cell(live), new_markdown_cell(after)])


def _ways_to_run(path: Path) -> str:
    """The notebook as a file; where GitHub builds the site (it says so in GITHUB_REPOSITORY) also Colab and Binder."""
    name, place = path.stem, path.relative_to(folder_of_notebooks()).as_posix()
    ways = [f"{{download}}`download it <downloads/{name}.ipynb>`, and open it with `flatviz lab --notebook {place}`"]
    if repository := os.environ.get("GITHUB_REPOSITORY"):
        ways.append(f"[open it in Colab](https://colab.research.google.com/github/{repository}/blob/main/notebooks/{place})")
        ways.append(f"[run it on Binder](https://mybinder.org/v2/gh/{repository}/main?labpath=notebooks/{place})")
    return "{.fv-run}\nThis page is a notebook: " + " · ".join(ways) + "."


def html_cell(text: str) -> NotebookNode:
    """HTML as the output of a cell without source."""
    output = new_output("display_data", data={"text/html": text})
    return new_code_cell("None  # made by flatviz docs", metadata={"tags": ["remove-input"]}, outputs=[output])


def for_site(notebook: NotebookNode, name: str, names: list[str]) -> NotebookNode:
    """With the ways to run it below its title; the table of contents with its chapters for Sphinx; links to built pages only."""
    if any(cell.cell_type == "code" for cell in notebook.cells):
        notebook.cells.insert(1, new_markdown_cell(_ways_to_run(next(p for p in all_notebooks() if p.stem == name))))
    if name == CONTENTS:
        for cell in notebook.cells:
            row = re.compile(r"^\|.*\]\((\w+)\.ipynb\).*\|\n?", re.MULTILINE)
            cell.source = row.sub(lambda m: m[0] if m[1] in names else "", cell.source)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(lambda m: f"[{m[1]}]({m[2]}.ipynb)" if m[2] in names else m[1], cell.source)
    below = [n for n in names if CHAPTER.match(n)] if name == CONTENTS else []
    if name == CLAIMS:
        below = [p.stem for p in all_notebooks() if p.parent.name == EXPERIMENTS and p.stem in names and p.stem != CLAIMS]
    if below:
        notebook.cells.append(new_markdown_cell("```{toctree}\n:hidden:\n\n" + "\n".join(below) + "\n```"))
    return notebook
