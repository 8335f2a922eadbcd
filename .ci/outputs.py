"""Run notebooks as the site does, and store what their cells show in them, small: text, and figures
as pictures.

    python .ci/outputs.py 01 02 claims     how the names of notebooks begin; all without one

GitHub and editors then show a course with its pictures.  `.ci/sync_notebooks.py` drops outputs
whose code has changed.
"""

from __future__ import annotations

import base64
import html
import io
import re
import runpy
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
from PIL import Image
from playwright.sync_api import Page, sync_playwright
from plotly.offline import get_plotlyjs

from flatviz.pages.page import bundled
from flatviz.site import notebooks, read
from flatviz.site.run import CellError, run

DOCS = Path(__file__).resolve().parent.parent / "docs"
# a notebook of many pictures takes the next width
WIDTHS = (720, 540, 420, 360)
COLOURS = 128
# bytes of a notebook; characters of one output that is text, and HTML
MAX_BYTES = 300_000
MAX_TEXT = 20_000
MAX_TABLE = 60_000
UNSHOWN = re.compile(
    r'<style.*?</style>| (?:id|class|style)="[^"]*"', re.DOTALL
)  # of a table, which GitHub leaves out anyway
ELEMENT = re.compile(r'class="(fv-figure|fv-live|fv-lab)"')
SYNC = runpy.run_path(str(Path(__file__).with_name("sync_notebooks.py")))


def pictured(page: Page, folder: Path, text: str) -> bytes:
    """What a page shows of an element of `flatviz.site.run`, as PNG."""
    (folder / "page.html").write_text(
        f'<meta charset="utf-8"><script src="fv-site.js"></script>{text}', encoding="utf-8"
    )
    page.goto((folder / "page.html").as_uri())
    page.locator("[data-drawn]").first.wait_for()
    page.wait_for_timeout(400)
    picture = Image.open(io.BytesIO(page.locator("[data-drawn]").first.screenshot())).convert("RGB")
    stored = io.BytesIO()
    picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=2).save(
        stored, "PNG", optimize=True
    )  # keeps rare colours
    return stored.getvalue()


def small(output: nbformat.NotebookNode, page: Page, folder: Path) -> dict | None:
    """An output as it is stored: a picture, or text as long as it is short."""
    if output.output_type == "stream":
        cut = "\n... cut here: run the notebook for the rest" if len(output.text) > MAX_TEXT else ""
        return {"output_type": "stream", "name": output.name, "text": output.text[:MAX_TEXT] + cut}
    text = output.get("data", {}).get("text/html", "")
    if ELEMENT.search(text):
        alt = html.unescape(re.search(r'aria-label="([^"]*)"', text)[1])
        data = {
            "image/png": base64.b64encode(pictured(page, folder, text)).decode(),
            "text/plain": alt,
        }
    else:
        data = {}
        for kind, most in (
            ("text/markdown", MAX_TEXT),
            ("text/html", MAX_TABLE),
            ("text/plain", MAX_TEXT),
        ):
            value = output.get("data", {}).get(kind, "")
            value = UNSHOWN.sub("", value) if kind == "text/html" else value
            if not data and 0 < len(value) <= most and "<script" not in value:
                data = {kind: value}
    return {"output_type": "display_data", "metadata": {}, "data": data} if data else None


def store(path: Path, page: Page, folder: Path) -> str:
    """Run one notebook and write its outputs into it."""
    ran = read(path)
    try:
        seconds = run(ran, path.stem)
    except CellError as error:
        return f"{path.stem}: nothing stored, it failed\n  {error}"
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata["outputs of"] = SYNC["code_digest"](notebook.cells)
    for width in WIDTHS:
        page.set_viewport_size(dict(width=width, height=900))
        for cell, of in zip(
            *([c for c in book.cells if c.cell_type == "code"] for book in (notebook, ran))
        ):
            kept = (small(o, page, folder) for o in of.outputs if o.output_type != "error")
            cell.outputs = [nbformat.from_dict(o) for o in kept if o]
        size = len(nbformat.writes(notebook).encode())
        if size <= MAX_BYTES:
            break
    else:
        return (
            f"{path.stem}: {size / 1e3:.0f} kB is more than {MAX_BYTES / 1e3:.0f}, nothing stored"
        )
    nbformat.write(notebook, path)
    SYNC["main"]()  # the bytes as the sync writes them
    return f"{path.stem}: {size / 1e3:.0f} kB, ran {seconds:.0f} s"


def main() -> int:
    """Those that are asked for."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for script in ("fv-site.js", "fv-layout.js"):
            shutil.copy(DOCS / "static" / script, folder)
        (folder / "plotly.min.js").write_text(get_plotlyjs(), encoding="utf-8")
        (folder / "explorer.js").write_text(bundled("explorer"), encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(color_scheme="light")
        names = sys.argv[1:]
        sys.argv[1:] = []
        for path in notebooks(names):
            print(store(path, page, folder), flush=True)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
