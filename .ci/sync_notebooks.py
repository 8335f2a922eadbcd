"""Generate notebooks/NAME.ipynb from notebooks/src/NAME.py, and those of notebooks/experiments, the
same bytes every time.

    python .ci/sync_notebooks.py          write what differs
    python .ci/sync_notebooks.py --check  status 1 and a list, if anything differs

Cell ids are hashes of the text, keys are sorted; `jupytext --sync` trusts clocks and invents ids.
Outputs that `.ci/outputs.py` stored stay as long as no code cell has changed since: the notebook's
metadata hold a digest of what they are of. The table of contents (a line `<!-- contents -->` in a
markdown cell) is made from the first cells of the other notebooks: their title and what they say
after **Takes**.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
from pathlib import Path

import jupytext

ROOT = Path(__file__).resolve().parent.parent / "notebooks"
CONTENTS = "<!-- contents -->"


def number(path: Path) -> str:
    """00 to 14, A to C, and "" for a notebook that is no chapter."""
    head = path.stem.split("_")[0]
    return head if head.isdigit() or len(head) == 1 else ""


def in_order(sources: list[Path]) -> list[Path]:
    """Numbered chapters, then the lettered ones, then the others."""
    return sorted(sources, key=lambda p: (not number(p).isdigit(), not number(p), p.stem))


def contents(sources: list[Path]) -> str:
    """A table of the notebooks."""
    lines = ["| | notebook | takes |", "|---|---|---|"]
    for source in in_order(sources):
        head = jupytext.read(source, fmt="py:percent").cells[0].source
        if CONTENTS in source.read_text(encoding="utf-8"):
            continue
        takes = re.search(r"\*\*Takes\*\*\s+((?:[^.]|\.(?=\d))+)", head)
        title = re.sub(r"^#\s+(\w+ · )?", "", head.splitlines()[0])
        text = " ".join(takes[1].split()).replace(" on a CPU", "") if takes else ""
        lines.append(f"| {number(source)} | [{title}]({source.stem}.ipynb) | {text} |")
    return "\n".join(lines)


def code_digest(cells: list) -> str:
    """Hash what outputs depend on: the syntax tree of the code, not its line ends."""
    code = [ast.dump(ast.parse("".join(c["source"]))) for c in cells if c["cell_type"] == "code"]
    return hashlib.sha256("\0".join(code).encode()).hexdigest()[:16]


def generate(source: Path, table: str) -> str:
    target = (
        source.with_suffix(".ipynb")
        if source.parent.name == "experiments"
        else ROOT / f"{source.stem}.ipynb"
    )
    stored = (
        json.loads(target.read_text(encoding="utf-8"))
        if target.exists()
        else {"cells": [], "metadata": {}}
    )
    notebook = jupytext.read(source, fmt="py:percent")
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        digest = hashlib.sha256(cell.source.encode()).hexdigest()[:12]
        seen[digest] = seen.get(digest, 0) + 1
        cell.id = f"{digest}-{seen[digest]}"
        if (
            CONTENTS in cell.source
        ):  # a line a row and one id, so that git merges the rows of two new notebooks
            cell.id = "contents"
            cell.source = cell.source.replace(CONTENTS, table).splitlines(keepends=True)
        if cell.cell_type == "code":
            cell.outputs = []
            cell.execution_count = None
    digest = code_digest(notebook.cells)
    kept = stored["metadata"].get("outputs of") == digest
    if kept:
        for cell, before in zip(
            (c for c in notebook.cells if c.cell_type == "code"),
            (c for c in stored["cells"] if "outputs" in c),
        ):
            cell.outputs = before["outputs"]
    notebook.metadata = {
        **({"outputs of": digest} if kept else {}),
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    notebook.nbformat = 4
    notebook.nbformat_minor = 5
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> int:
    sources = sorted((ROOT / "src").glob("*.py"))
    experiments = sorted((ROOT / "experiments").glob("*.py"))
    table = contents(sources)
    wanted = {ROOT / f"{s.stem}.ipynb": generate(s, table) for s in sources}
    wanted |= {s.with_suffix(".ipynb"): generate(s, table) for s in experiments}
    stale = [
        p for p, text in wanted.items() if not p.exists() or p.read_text(encoding="utf-8") != text
    ]
    orphans = [
        p for p in [*ROOT.glob("*.ipynb"), *ROOT.glob("experiments/*.ipynb")] if p not in wanted
    ]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.name} differs from {path.stem}.py: run python .ci/sync_notebooks.py")
        for path in orphans:
            print(f"{path.name} has no source in notebooks: write one, or remove it")
        return 1 if stale or orphans else 0
    for path in stale:
        path.write_text(wanted[path], encoding="utf-8")
        print(f"wrote {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
