"""Make docs/thumbs and docs/tour.png: small pictures of the chapters' first figures and of the
gallery's, and a link's preview.

flatviz docs --out site && python .ci/thumbnails.py site
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, sync_playwright

OUT = Path(__file__).resolve().parent.parent / "docs" / "thumbs"
PREVIEW = dict(width=1200, height=630)  # as sites show it that make a picture of a link
SIZE = (320, 208)
FIGURE = ".fv-figure, .fv-live, .fv-lab figure:not([hidden])"


def save(node: Locator, name: str) -> None:
    """The figure in `node`, once it is drawn, from its top as far as a thumbnail is high."""
    node.scroll_into_view_if_needed()
    node.locator(".main-svg").first.wait_for()
    node.page.wait_for_timeout(600)
    picture = Image.open(io.BytesIO(node.locator(".js-plotly-plot").first.screenshot())).convert(
        "RGB"
    )
    width, height = picture.size
    shown = picture.crop((0, 0, width, min(height, width * SIZE[1] // SIZE[0])))
    ground = Image.new("RGB", SIZE, "white")
    shown.thumbnail(SIZE, Image.Resampling.LANCZOS)
    ground.paste(shown, ((SIZE[0] - shown.width) // 2, (SIZE[1] - shown.height) // 2))
    ground.save(OUT / f"{name}.webp", quality=60, method=6)


def main() -> None:
    """Every chapter, then every section of the gallery."""
    site = Path(sys.argv[1]).resolve()
    OUT.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport=dict(width=700, height=900), color_scheme="light")
        for chapter in sorted(site.glob("[0-9A-Z]*_*.html")):
            page.goto(chapter.as_uri())
            page.locator(".fv-figure, .fv-live, .fv-lab").first.scroll_into_view_if_needed()
            save(page.locator(FIGURE).first, chapter.stem)
        page.goto((site / "gallery.html").as_uri())
        for section in page.locator("section section").all():
            if section.locator(".fv-figure").count():
                save(section.locator(".fv-figure").first, section.get_attribute("id"))
        page.set_viewport_size(PREVIEW)
        page.goto((site / "index.html").as_uri())
        page.locator(".pg-world").evaluate(
            "(node) => window.scrollTo(0, node.getBoundingClientRect().top - 140)"
        )  # below the menu
        page.wait_for_timeout(11_000)  # until the run is over
        page.screenshot(path=OUT.parent / "tour.png")
        browser.close()
    sizes = [path.stat().st_size for path in OUT.glob("*.webp")]
    print(f"{len(sizes)} thumbnails written to {OUT}: {sum(sizes) / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
