"""The reference of the site: a page a layer, made from the docstrings of what is public."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator, Sequence

import flatviz as fv
from flatviz.site.words import markdown

TITLES = {
    "results": "Nouns: what verbs take and return",
    "core": "Networks, data, objectives",
    "storage": "Saving results",
    "engine": "BatchNorm statistics",
    "objectives": "Losses as functions of the weights",
    "planes": "Planes and directions",
    "landscape": "Slices, paths, curvature",
    "datasets": "Data sets",
    "models": "Networks",
    "training": "Training and perturbations",
    "bridges": "Bridges to other packages",
    "posteriors": "Posteriors",
    "metrics": "Predictions, scores, sharpness",
    "symmetry": "Symmetries",
    "families": "Families of posteriors",
    "plots": "Pictures",
    "widgets": "Live in JupyterLab",
}


def pages() -> dict[str, str]:
    """File name -> Markdown, a page a layer, and the table of them under "index"."""
    groups: dict[str, list[tuple[str, object]]] = {name: [] for name in TITLES}
    top = {f"fv.{name}": getattr(fv, name) for name in fv.__all__ if not inspect.ismodule(getattr(fv, name))}
    inside = {f"fv.{room}.{n}": getattr(getattr(fv, room), n) for room in TITLES for n in dir(getattr(fv, room))}
    first = {id(value) for value in top.values()}
    for name, value in [*top.items(), *((n, v) for n, v in inside.items() if id(v) not in first)]:
        if inspect.isfunction(value) or inspect.isclass(value):
            groups[_layer(value.__module__)].append((name, value))
    filled = {layer: values for layer, values in groups.items() if values}
    made = {layer: "\n".join(_page(layer, values)) + "\n" for layer, values in filled.items()}
    return made | {"index": "\n".join(_index(filled)) + "\n"}


def _layer(module: str) -> str:
    layer = module.split(".")[1]
    return "results" if layer == "gaussian" else layer


def _index(groups: dict[str, list]) -> Iterator[str]:
    yield "# Reference\n"
    yield "Every public name, made from its docstring. `import flatviz as fv` comes first.\n"
    for layer, values in groups.items():
        yield f"**[{TITLES[layer]}]({layer}.md)**\n: " + ", ".join(f"`{n.split('.')[-1]}`" for n, _ in sorted(values)) + "\n"
    yield "```{toctree}\n:hidden:\n\n" + "\n".join(groups) + "\n```"


def _page(layer: str, values: Sequence[tuple[str, object]]) -> Iterator[str]:
    yield f"# {TITLES[layer]}\n"
    yield from markdown(inspect.getdoc(importlib.import_module(f"flatviz.{layer}")) or "")
    for name, value in sorted(values, key=lambda item: item[0].lower()):
        yield f"\n## {name.split('.')[-1]}\n"
        yield f"```python\n{_signature(name, value)}\n```\n"
        yield from markdown(inspect.getdoc(value) or "")
        if inspect.isclass(value):
            yield from _members(value)


def _signature(name: str, value: object) -> str:
    """The call with its defaults; a line an argument where it is long."""
    parameters = list(inspect.signature(value).parameters.values())
    words, starred = [], False
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and not starred:
            words.append("*")
            starred = True
        starred |= p.kind is p.VAR_POSITIONAL
        prefix = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        words.append(prefix + p.name + ("" if p.default is p.empty else f"={_default(p.default)}"))
    short = f"{name}({', '.join(words)})"
    lines = textwrap.wrap(", ".join(words), 76, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    return short if len(short) < 80 else f"{name}(\n" + "\n".join(lines) + ",\n)"


def _default(value: object) -> str:
    text = repr(value)
    return "..." if " at 0x" in text or len(text) > 40 or dataclasses.is_dataclass(value) else text


def _members(cls: type) -> Iterator[str]:
    """Its fields, then the properties and methods that it says something of."""
    if dataclasses.is_dataclass(cls):
        fields = ", ".join(f"`{f.name}`" for f in dataclasses.fields(cls) if not f.name.startswith("_"))
        yield f"**Fields:** {fields}\n"
    for name, member in vars(cls).items():
        target = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if name.startswith("_") or not inspect.isfunction(target) or not target.__doc__:
            continue
        call = name if isinstance(member, property) else re.sub(r"\((self|cls)(, )?", "(", _signature(name, target))
        yield f"**`{' '.join(call.split())}`**\n"
        yield from markdown(inspect.getdoc(target) or "")
