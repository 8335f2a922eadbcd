"""The words of the pages, which are files of TOML beside this one."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path


def texts_of(file: str) -> dict[str, dict[str, str]]:
    """Section -> name -> text.  A line break within a paragraph is a space, and paragraphs are lines."""

    def joined(text: str) -> str:
        return re.sub(r"\n+", lambda breaks: " " if breaks.group() == "\n" else "\n", text.strip())

    sections = tomllib.loads((Path(__file__).parent / file).read_text(encoding="utf-8"))
    return {section: {name: joined(text) for name, text in texts.items()} for section, texts in sections.items()}
