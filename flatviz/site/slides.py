"""Slides: the chapters of the built site again, one screen after the other, from the same pages."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from pathlib import Path

from bs4 import BeautifulSoup, Tag

LEFT_OUT = ("Exercises", "References")  # sections that a class reads at home
ROOM = 8  # of a slide: a paragraph takes 1, a cell 2, a figure 4


def write_slides(site: Path, names: Sequence[str]) -> list[Path]:
    """Write slides/NAME.html for these pages of the site; the files."""
    folder = site / "slides"
    folder.mkdir(exist_ok=True)
    made = []
    for name in names:
        page = BeautifulSoup((site / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        article = page.select_one("article.bd-article")
        for node in article.select("a.headerlink, .fv-run, .tag_parameters, .tag_hide-cell, details"):
            node.decompose()
        for node in article.select("[href], [src]"):
            for key in ("href", "src"):
                if node.get(key) and "//" not in node[key] and not node[key].startswith("#"):
                    node[key] = f"../{node[key]}"
        slides = list(_slides(article.select_one("section")))
        path = folder / f"{name}.html"
        path.write_text(_document(name, slides), encoding="utf-8")
        made.append(path)
    return made


def _slides(section: Tag) -> Iterator[list[str]]:
    """Lists of HTML blocks, a list a slide: a heading begins one, and where one is full the next has the same heading."""
    heading = section.find(["h1", "h2", "h3"], recursive=False)
    if heading.get_text() in LEFT_OUT:
        return
    slide, room = [str(heading)], ROOM
    for block in section.find_all(recursive=False):
        weight = _weight(block)
        if block is heading:
            continue
        if block.name == "section" or weight > room:
            if len(slide) > 1:
                yield slide
            slide, room = [f"<h2>{html.escape(heading.get_text())}</h2>"], ROOM
        if block.name == "section":
            yield from _slides(block)
        else:
            slide.append(str(block))
            room -= weight
    if len(slide) > 1:
        yield slide


def _weight(block: Tag) -> int:
    if block.select_one(".fv-figure, .fv-live, .fv-lab") is not None:
        return ROOM - 1
    if block.name in ("ul", "ol"):
        return len(block.find_all("li"))
    return 2 if block.name == "div" else 1


def _document(name: str, slides: list[list[str]]) -> str:
    """One HTML file that uses the scripts and styles of the site."""
    title = BeautifulSoup(slides[0][0], "html.parser").get_text()
    shown = "\n".join(
        f'<section class="slide" aria-label="slide {i} of {len(slides)}">\n{"".join(blocks)}\n</section>'
        for i, blocks in enumerate(slides, 1)
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}: slides</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="../_static/pygments.css"><link rel="stylesheet" href="../_static/slides.css">
<script src="../_static/slides.js" defer></script><script src="../_static/fv-site.js" defer></script></head>
<body><main>
{shown}
</main>
<nav aria-label="slides"><a href="../{name}.html">chapter</a> <button id="back" type="button">← back</button>
<output id="place" aria-live="polite"></output> <button id="on" type="button">on →</button></nav>
</body></html>
"""
