"""Write flatviz/__init__.pyi and those of its folders: the types of names that load when first
used, for editors and type checkers.

    python .ci/stubs.py          write what differs
    python .ci/stubs.py --check  status 1 and a list, if anything differs

Each name of a table that a package gives to `lazy` becomes `from module import name as name`;
annotated names stay.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "flatviz"


def tables() -> dict[str, tuple[dict[str, str], str]]:
    """Package -> the table of names and the subpackages that it gave to `lazy`."""
    sys.path.insert(0, str(PACKAGE.parent))
    spec = importlib.util.spec_from_file_location("flatviz.lazy", PACKAGE / "lazy.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    seen = {}
    plain = module.lazy

    def recording(package: str, homes: dict[str, str], rooms: str = "") -> tuple:
        seen[package] = homes, rooms
        return plain(package, homes, rooms)

    module.lazy = recording
    sys.modules["flatviz.lazy"] = module
    for path in sorted(PACKAGE.rglob("__init__.py")):
        importlib.import_module(".".join(path.parent.relative_to(PACKAGE.parent).parts))
    return seen


def stub(package: str, homes: dict[str, str], rooms: str) -> str:
    """The text of one stub."""
    names = sorted(
        (f"{package}.{home}", name) for home, listed in homes.items() for name in listed.split()
    )
    lines = [f"from {home} import {name} as {name}" for home, name in names]
    lines += [f"from {package} import {room} as {room}" for room in sorted(rooms.split())]
    tree = ast.parse(
        (PACKAGE.parent / package.replace(".", "/") / "__init__.py").read_text(encoding="utf-8")
    )
    kept = [node for node in tree.body if isinstance(node, ast.AnnAssign)]
    used = {
        name.id for node in kept for name in ast.walk(node.annotation) if isinstance(name, ast.Name)
    }
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            lines += [
                f"from {node.module} import {alias.name}"
                for alias in node.names
                if alias.name in used
            ]
    lines += [f"{node.target.id}: {ast.unparse(node.annotation)}" for node in kept]
    if package == "flatviz":
        lines.append("__version__: str")
    return "# written by .ci/stubs.py\n" + "\n".join(lines) + "\n"


def main() -> int:
    """Write or compare."""
    wanted = {
        PACKAGE.parent / package.replace(".", "/") / "__init__.pyi": stub(package, *t)
        for package, t in tables().items()
    }
    stale = [
        path
        for path, text in wanted.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    stale += [path for path in PACKAGE.rglob("*.pyi") if path not in wanted]
    for path in stale:
        if "--check" in sys.argv:
            print(
                f"{path.relative_to(PACKAGE.parent)} differs from its package: run python"
                " .ci/stubs.py"
            )
        elif path in wanted:
            path.write_text(wanted[path], encoding="utf-8")
        else:
            path.unlink()
    return int("--check" in sys.argv and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
