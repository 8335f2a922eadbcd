"""A docstring as Markdown: paragraphs, arguments, equations that stand apart, examples."""

from __future__ import annotations

import re
from collections.abc import Iterator

SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Example|Examples|Fields):\s*$")


def markdown(text: str) -> Iterator[str]:
    """Lines of Markdown.  Text is text: only `code` between backticks keeps a meaning."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif heading := SECTION.match(line):
            block, at = _indented(lines, at + 1)
            yield f"**{heading[1]}**\n"
            yield from _fenced(block, "pycon") if heading[1].startswith("Example") else _terms(block)
        elif line.startswith("    "):
            block, at = _indented(lines, at)
            yield from _fenced(block, "text")
        elif line.startswith(">>>"):
            end = next((i for i in range(at, len(lines)) if not lines[i].strip()), len(lines))
            yield from _fenced(lines[at:end], "pycon")
            at = end
        else:
            end = at + 1
            while (
                end < len(lines) and lines[end].strip() and not lines[end].startswith("    ") and not SECTION.match(lines[end])
            ):
                end += 1
            yield escaped(" ".join(lines[at:end])) + "\n"
            at = end


def escaped(text: str) -> str:
    """Text whose punctuation means nothing to Markdown, but for `code`."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(p if i % 2 else re.sub(r"([\\*_{}\[\]<>()#+\-!|$~^&])", r"\\\1", p) for i, p in enumerate(parts))


def _indented(lines: list[str], at: int) -> tuple[list[str], int]:
    """The indented lines from `at` on, without their indent, and where they end."""
    end = at
    while end < len(lines) and (not lines[end].strip() or lines[end].startswith("    ")):
        end += 1
    block = [line[4:] for line in lines[at:end]]
    while block and not block[-1].strip():
        block.pop()
    return block, end


def _fenced(block: list[str], language: str) -> Iterator[str]:
    yield f"```{language}\n" + "\n".join(re.sub(r"\s+# doctest:.*$", "", line) for line in block) + "\n```\n"


def _terms(block: list[str]) -> Iterator[str]:
    """`name: text` lines with their continuations, as a list of terms."""
    entries: list[list[str]] = []
    for line in block:
        if line.strip() and not line.startswith(" "):
            entries.append([line])
        elif line.strip() and entries:
            entries[-1].append(line.strip())
    for entry in entries:
        name, _, rest = " ".join(entry).partition(":")
        if rest:
            yield f"`{name.strip()}`\n: {escaped(rest.strip())}\n"
        else:
            yield escaped(name) + "\n"
