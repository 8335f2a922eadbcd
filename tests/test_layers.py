"""Imports point down, methods keep apart."""

import ast
import functools
import graphlib
import subprocess
import sys
from pathlib import Path

from cases import text_of
from pytest import mark

ROOT = Path(__file__).resolve().parent.parent / "flatviz"
FILES = sorted(ROOT.rglob("*.py"))
ORDER = [
    "words",
    "checks",
    "annotations",
    "catalog",
    "private",
    "noun",
    "gaussian",
    "weight_space",
    "distributions",
    "likelihood",
    "prediction",
    "results",
    "core",
    "storage",
    "engine",
    "objectives",
    "planes",
    "landscape",
    "datasets",
    "models",
    "training",
    "bridges",
    "posteriors",
    "metrics",
    "symmetry",
    "families",
    "experiments",
    "plots",
    "pages",
    "widgets",
    "site",
    "cli",
]
# What a network's own values and gradients need
NETWORK = [
    "results",
    "core",
    "storage",
    "engine",
    "objectives",
]
MAY = {
    **dict.fromkeys(("checks", "annotations", "catalog", "private"), []),
    "noun": ["annotations"],
    "distributions": [],
    "gaussian": ["noun"],
    "likelihood": ["noun", "distributions"],
    "weight_space": ["noun", "gaussian"],
    "prediction": ["noun", "distributions", "likelihood"],
    "results": ["noun", "gaussian", "weight_space", "likelihood", "prediction"],
    "core": ["results"],
    "storage": ["results", "core"],
    "engine": ["results", "core", "storage"],
    "objectives": ["results", "core", "storage", "engine"],
    **dict.fromkeys(("planes", "landscape"), ["results", "core", "storage"]),
    **dict.fromkeys(("datasets", "models"), ["results", "core"]),
    "training": [*NETWORK, "landscape"],
    "metrics": [*NETWORK, "landscape", "prediction"],
    "bridges": [*NETWORK, "landscape", "training"],
    "posteriors": [*NETWORK, "landscape", "training", "bridges"],
    "symmetry": [*NETWORK, "planes", "landscape", "training", "metrics"],
    "plots": ["results", "core"],
    "pages": ["results", "plots"],
    **{
        name: ORDER[: ORDER.index(name)]
        for name in ("families", "experiments", "widgets", "site", "cli")
    },  # all below
}
OF_CORE = {
    "planes": {"boundary", "objective", "seeds", "progress"},  # they see no network
    "landscape": {"boundary", "objective", "seeds", "progress"},
    "plots": {"boundary"},  # what is drawn is a result
}
METHODS = (  # methods do not import methods: a composed one takes the other as an argument
    "posteriors"
)


@functools.cache
def imports(path):
    """(module, line, inside a function, only for types) of every import of ours or of a third
    party."""
    found = []
    tree = ast.parse(text_of(path))
    functions = [
        n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    inside = {id(n) for f in functions for n in ast.walk(f)}
    typing_blocks = [
        n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test)
    ]
    typed = {id(n) for block in typing_blocks for n in ast.walk(block)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            inside_of = f"{node.module}." if node.module in PACKAGES else ""
            names = [
                f"{inside_of}{CORE.get(a.name, a.name)}" if inside_of else node.module
                for a in node.names
            ]
        elif isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        else:
            continue
        found += [(name, node.lineno, id(node) in inside, id(node) in typed) for name in names]
    return found


# Name -> its file in core/
CORE = {
    name.name: line.module
    for line in ast.parse(text_of(ROOT / "core/__init__.pyi")).body
    for name in line.names
}
PACKAGES = {"flatviz"} | {
    f"flatviz.{p.parent.name}" for p in FILES if p.name == "__init__.py" and p.parent != ROOT
}


@mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down_and_methods_keep_apart(path):
    own = path.relative_to(ROOT).with_suffix("").parts[0]
    if own in ("__init__", "__main__"):
        return
    for name, line, inside, typed in imports(path):
        if not name.startswith("flatviz"):
            continue
        other = name.partition(".")[2].partition(".")[0]
        where = f"{path.relative_to(ROOT)}:{line} imports {name}"
        assert not inside, f"{where} inside a function"
        if typed or other not in ORDER:
            continue
        if other == own:
            table = path.name in ("__init__.py", "entries.py") or "posteriors.fit" in name
            at_zero = path.name == "sabma.py" and name.startswith("flatviz.posteriors.vi")  # is VI
            shared = own != METHODS or table or at_zero or "posteriors.width" in name
            assert shared, f"{where}, another method: take it as an argument"
            continue
        nouns = ["gaussian", "likelihood", "noun", "weight_space"] if "results" in MAY[own] else []
        assert other in [
            *MAY[own],
            *nouns,
            "words",
            "checks",
            "annotations",
            "catalog",
            "private",
        ], f"{where}, which is not below {own}"
        if own in OF_CORE and other == "core":
            assert name.split(".")[2] in OF_CORE[own], f"{where}: of core only {OF_CORE[own]}"


def test_no_files_import_each_other_in_a_circle_not_even_for_types():
    names = {
        ".".join(("flatviz", *p.relative_to(ROOT).with_suffix("").parts)): p
        for p in FILES
        if p.stem != "__init__"
    }
    below = {
        module: {name for name, *_ in imports(path) if name in names}
        for module, path in names.items()
    }
    graphlib.TopologicalSorter(below).prepare()


def test_drawing_loads_no_training():
    """A plot needs results and the catalog; training, posteriors and the engine are loaded by who
    fits."""
    heavy = [
        f"flatviz.{name}"
        for name in ("training", "posteriors", "engine", "objectives", "landscape", "bridges")
    ]
    plots = [
        f"flatviz.plots.{p.stem}"
        for p in FILES
        if p.parent.name == "plots" and p.stem != "__init__"
    ]
    code = f"import sys, {', '.join(plots)}\nprint([m for m in sys.modules if m in {heavy}])"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    found = ran.stdout.strip()
    assert found == "[]"


def test_the_layers_of_the_test_are_those_of_the_tree():
    folders = {p.name for p in ROOT.iterdir() if p.is_dir() and list(p.glob("*.py"))}
    assert folders <= set(MAY)
