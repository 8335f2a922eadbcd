"""Generate notebooks/NN_title.ipynb from notebooks/src/NN_title.py, the same bytes every time.

    python .ci/sync_notebooks.py          write what differs
    python .ci/sync_notebooks.py --check  status 1 and a list, if anything differs

Cell ids are hashes of the text, outputs are empty, keys are sorted; `jupytext --sync` trusts clocks and invents ids.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import jupytext

ROOT = Path(__file__).resolve().parent.parent / "notebooks"


def generate(source: Path) -> str:
    notebook = jupytext.read(source, fmt="py:percent")
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        digest = hashlib.sha256(cell.source.encode()).hexdigest()[:12]
        seen[digest] = seen.get(digest, 0) + 1
        cell.id = f"{digest}-{seen[digest]}"
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> int:
    sources = sorted((ROOT / "src").glob("*.py"))
    wanted = {ROOT / f"{s.stem}.ipynb": generate(s) for s in sources}
    stale = [p for p, text in wanted.items() if not p.exists() or p.read_text(encoding="utf-8") != text]
    orphans = [p for p in ROOT.glob("*.ipynb") if p not in wanted]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.name} differs from src/{path.stem}.py: run python .ci/sync_notebooks.py")
        for path in orphans:
            print(f"{path.name} has no source in notebooks/src: write one, or remove it")
        return 1 if stale or orphans else 0
    for path in stale:
        path.write_text(wanted[path], encoding="utf-8")
        print(f"wrote {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
