"""The static site by Sphinx: notebooks with outputs, the reference, and the live first page."""

import io
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from sphinx.application import Sphinx

from flatviz.pages.document import Script
from flatviz.pages.page import WORLDS, playground_element, playground_page
from flatviz.site import (
    CONTENTS,
    EXPERIMENTS,
    SOLUTION,
    folder_of_notebooks,
    notebooks,
    read,
    with_blanks,
)

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"  # Sphinx's settings, in a clone
TREE = "```{{toctree}}\n:hidden:\n:glob:\n\n{}\n```"
BELOW = {"contents": "[0-9]*\n[A-Z]_*", "claims": "*"}  # the pages that a page lists in the sidebar
FINDING = "finding"  # tag of the cell that prints what an experiment found
VERDICT = re.compile(r": (holds|does not hold|inconclusive)\b")  # the end of a printed claim
HEADING = re.compile(r"(?:^|\n)## [^\n]+\s*$")  # a section's, at the end of a cell
FIGURE = 'class="fv-figure"'
COLUMNS = re.compile(r"\S  +\S")  # in a line of a printed table
MAX_TEXT = 1200  # characters that a cell of an experiment prints; more is folded
BLANKS = "blanks"  # the folder of the students' versions
# File -> worlds, on the first page and on a separate page
PLAYGROUND = {
    "weights": ["weights"],
    "worlds": WORLDS,
}
INSTALL = re.compile(r"^## Two commands\n(.*?)^## ", re.DOTALL | re.MULTILINE)  # of the README
LINK = re.compile(r"""((?:\]\(|href=["'])[\w./-]+)\.ipynb""")  # in an output, to another notebook
THUMBNAIL = (
    '<a href="{}"><img src="_static/{}.webp" alt="" width="320" height="208" loading="lazy">{}</a>'
)
COLAB = "https://colab.research.google.com/github/"
BINDER = "https://mybinder.org/v2/gh/"


def build(executed: Mapping[str, NotebookNode], live: str, out: Path) -> list[str]:
    """Write the site into the folder `out`.

    Args:
        executed: Name -> notebook with its outputs; other notebooks appear without outputs.
        live: HTML for the first page.
        out: The folder.

    Returns:
        The warnings of Sphinx, none if all is well.

    Raises:
        FileNotFoundError: Outside of a clone, which has Sphinx's settings.
    """
    if not (DOCS / "conf.py").exists():
        raise FileNotFoundError(
            f"the site must be built in a clone of flatviz, got no {DOCS / 'conf.py'}: clone it"
        )
    with TemporaryDirectory(prefix="flatviz-site-") as folder:
        source = Path(folder) / "source"
        warnings = io.StringIO()
        downloads = source / "downloads"
        (downloads / BLANKS).mkdir(parents=True)
        for path in notebooks():
            place = source / path.relative_to(folder_of_notebooks())
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, downloads)
            nbformat.write(with_blanks(read(path)), downloads / BLANKS / path.name)
            shown = deepcopy(executed.get(path.stem) or read(path))
            nbformat.write(_for_site(shown, path), place)
        for page in DOCS.glob("*.md"):
            shutil.copy(page, source)
        parts = {name: _embedded(worlds) for name, worlds in PLAYGROUND.items()}
        for name, text in ({"live": live} | parts).items():
            (source / f"{name}.html").write_text(text, encoding="utf-8")
        readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
        (commands,) = INSTALL.findall(readme)
        (source / "install.md").write_text(f"# Install\n{commands}", encoding="utf-8")
        site = Path(folder) / "site"  # myst-nb writes beside it
        doctrees = Path(folder) / "doctrees"
        sphinx = Sphinx(source, DOCS, site, doctrees, "html", status=None, warning=warnings)
        sphinx.build()
        # a separate page is quick on a phone, and `?embed` fits a slide
        (site / "play.html").write_text(playground_page(), encoding="utf-8")
        shutil.copytree(site, out, dirs_exist_ok=True)
    return [line for line in warnings.getvalue().splitlines() if line.strip()]


def _embedded(worlds: Sequence[str]) -> str:
    """Return an element of the playground and the script that fills it."""
    return "\n".join(
        part.html if isinstance(part, Script) else part for part in playground_element(worlds)
    )


def _for_site(notebook: NotebookNode, path: Path) -> NotebookNode:
    """Prepare a notebook for the site, with links to run it and to its subpages.

    Experiments appear without code, the finding and the first picture before the rest, and long
    prints folded.
    """
    is_experiment = path.parent.name == EXPERIMENTS
    if is_experiment:
        first = notebook.cells[0]
        # The menu lists them below one another
        first.source = re.sub(r"^# Experiment: (.)", lambda m: f"# {m[1].upper()}", first.source)
        notebook.cells = _finding_first(notebook.cells)
    if any(cell.cell_type == "code" for cell in notebook.cells):
        solved = any(SOLUTION.search(cell.source) for cell in notebook.cells)
        notebook.cells.insert(1, new_markdown_cell(_ways_to_run(path, solved)))
    pictured = _thumbnails(notebook, path)
    if pictured:
        notebook.cells.insert(1, new_markdown_cell(pictured))
    for cell in notebook.cells:
        outputs = cell.get("outputs", ())
        tags = cell.metadata.setdefault("tags", [])
        if "hide-cell" in tags:
            cell.metadata["mystnb"] = {"code_prompt_show": "Solution as code"}
        if in_columns(cell):
            tags.append("columns")  # a class of the page
        if is_experiment:
            tags.append("remove-input")
            n_printed = sum(len(o.text) for o in outputs if o.output_type == "stream")
            if n_printed > MAX_TEXT:
                tags.append("hide-output")
        for output in outputs:
            data = output.get("data", {})
            # Sphinx resolves the links of texts, not those of outputs
            for kind in data.keys() & {"text/markdown", "text/html"}:
                data[kind] = LINK.sub(r"\1.html", data[kind])
    if path.stem in BELOW:
        notebook.cells.append(new_markdown_cell(TREE.format(BELOW[path.stem])))
    return notebook


def in_columns(cell: NotebookNode) -> bool:
    """Say whether a cell prints a table, whose lines scroll rather than wrap."""
    lines = _printed([cell]).splitlines()
    columns = sum(bool(COLUMNS.search(line)) for line in lines)
    return 2 * columns > len(lines)


def _printed(cells: Sequence[NotebookNode]) -> str:
    printed = ""
    for cell in cells:
        for output in cell.get("outputs", ()):
            printed += output.get("text", "")
    return printed


def _finding_first(cells: Sequence[NotebookNode]) -> list[NotebookNode]:
    """Put the question, the cell tagged as finding and the first figure ahead of the rest."""
    tagged = [cell for cell in cells if FINDING in cell.metadata.get("tags", ())]
    if not tagged:
        return _filled(cells)
    title, question, *setting = cells[0].source.split("\n\n")
    printed = _printed(tagged)
    counted = _counted(printed)
    # A long list of claims stays in its section
    found = [] if counted and len(printed) > MAX_TEXT else tagged
    texts = (f"{title}\n\n{question}", "\n\n".join(["## In short", *counted]))
    front = [*map(new_markdown_cell, texts), *found]
    rest = [new_markdown_cell("\n\n".join(["## Setting", *setting]))]
    rest += [cell for cell in cells[1:] if cell not in found]
    for cell in found:
        if cell.cell_type == "code":
            cell.outputs = [_listed(output) for output in cell.outputs]
    for cell in rest:
        for output in cell.get("outputs", ()):
            if FIGURE in output.get("data", {}).get("text/html", ""):
                cell.outputs.remove(output)
                picture = new_code_cell("# the picture", outputs=[output])
                return [*front, picture, *_filled(rest)]
    return front + _filled(rest)


def _counted(printed: str) -> list[str]:
    """Return one sentence on how many printed claims hold, none for fewer than four claims."""
    verdicts = VERDICT.findall(printed)
    if len(verdicts) < 4:
        return []
    return [
        f"**{verdicts.count('holds')} of {len(verdicts)} claims hold**,"
        f" {verdicts.count('does not hold')} do not, {verdicts.count('inconclusive')} are"
        " inconclusive."
    ]


def _listed(output: NotebookNode) -> NotebookNode:
    """Return printed lines as a list in Markdown, the verdict of a claim in bold."""
    if output.output_type != "stream":
        return output
    lines = []
    for line in output.text.splitlines():
        if line.strip():
            plain = re.sub(r"([*_<`\[])", r"\\\1", line.strip())
            lines.append("- " + VERDICT.sub(r": **\1**", plain))
    text = "\n".join(lines)
    return new_output("display_data", data={"text/markdown": text})


def _filled(cells: Sequence[NotebookNode]) -> list[NotebookNode]:
    """Leave out headings below which nothing appears without code."""
    kept: list[NotebookNode] = []
    empty = True
    for cell in reversed(cells):
        if cell.cell_type == "markdown":
            if empty:
                cell.source = HEADING.sub("", cell.source)
            empty = cell.source.startswith("## ") or (empty and not cell.source)
        elif cell.outputs:
            empty = False
        if cell.cell_type == "code" or cell.source:
            kept.append(cell)
    return kept[::-1]


def _thumbnails(notebook: NotebookNode, path: Path) -> str:
    """Return small pictures that link to chapters or gallery sections, "" for other pages."""
    leads = []  # link, picture, title
    if path.stem == CONTENTS:
        for p in notebooks():
            first_line = read(p).cells[0].source.partition("\n")[0]
            title = first_line.lstrip("# ")
            leads.append((f"{p.stem}.html", p.stem, title))
    elif path.stem == "gallery":
        text = "\n".join(cell.source for cell in notebook.cells)
        for head in re.findall(r"^## (\w+)$", text, re.MULTILINE):
            name = head.replace("_", "-")
            leads.append((f"#{name}", name, head))
    else:
        return ""
    shown = []
    for link, picture, title in leads:
        if (DOCS / "thumbs" / f"{picture}.webp").exists():
            shown.append(THUMBNAIL.format(link, picture, title))
    return f'<div class="fv-thumbs">{"".join(shown)}</div>'


def _ways_to_run(path: Path, solved: bool) -> str:
    """Return links to the file, its version with blanks, and the slides.

    A site built by GitHub also links to Colab and Binder.
    """
    place = path.relative_to(folder_of_notebooks()).as_posix()
    ways = [
        f"{{download}}`download it </downloads/{path.name}>`, and open it with `flatviz lab"
        f" --notebook {place}`"
    ]
    if solved:
        ways.append(
            f"{{download}}`download it with blanks </downloads/{BLANKS}/{path.name}>` in place of"
            " the solutions"
        )
    ways.append('<a href="?slides">show it as slides</a>')
    if repository := os.environ.get("GITHUB_REPOSITORY"):
        install = (  # Colab opens the file alone
            f"`%pip install git+https://github.com/{repository}`"
        )
        ways.append(
            f"[open it in Colab]({COLAB}{repository}/blob/main/notebooks/{place}), with {install}"
            " in a first cell"
        )
        ways.append(f"[run it on Binder]({BINDER}{repository}/main?labpath=notebooks/{place})")
    return "{.fv-run}\nThis page is a notebook: " + " · ".join(ways) + "."
