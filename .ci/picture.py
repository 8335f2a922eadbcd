"""Make docs/lab.gif, README's moving picture: the playground trains, then its test ground is
dragged back and forth.

    python .ci/picture.py

The file holds a digest of the modules that draw it; a test compares it, so that the picture is
never older than they are.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from flatviz.pages.page import playground_page

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "lab.gif"
SIZE = dict(width=1000, height=800)
SHOWN = ".pg-maps, .pg-first"  # both grounds, their sliders, the test losses
KEY = [
    "#0072b2",
    "#009e73",
    "#00805d",
    "#1f2933",
    "#ffffff",
]  # the methods' colours and those of words, however few pixels have them


def digest() -> bytes:
    """Of what is drawn."""
    parts = sorted((ROOT / "flatviz" / "pages" / "playground").glob("*.*"))
    return (
        hashlib.sha256(
            b"".join(path.read_bytes() for path in parts if path.stem not in ("network", "step"))
        )
        .hexdigest()
        .encode()
    )


def frames(page: Page) -> list[tuple[Image.Image, int]]:
    """Pictures, and the milliseconds that each is shown."""
    world = "document.querySelector('.pg').playground.weights"
    seen = []
    boxes = f"[...document.querySelectorAll('{SHOWN}')].map((n) => n.getBoundingClientRect())"
    left, top, right, bottom = page.evaluate(
        f"{boxes}.flatMap((b, i) => (i ? [b.right, b.bottom] : [b.left, b.top]))"
    )
    clip = dict(x=left - 8, y=top - 8, width=right - left + 16, height=bottom - top + 12)

    def take(ms: int) -> None:
        seen.append((Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB"), ms))

    for _ in range(24):
        page.evaluate(f"() => {{ {world}.advance(25); {world}.shown(true); }}")
        take(120)
    take(1600)
    for shift in (0.2, 0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.4):
        page.evaluate(f"() => {world}.moveTest([{shift}, 0])")
        take(1600 if shift in (0.0, 0.5) else 180)
    return seen


def palette_of(picture: Image.Image) -> Image.Image:
    """128 colours of this picture, those of `KEY` among them."""
    sample = picture.copy()
    for i, color in enumerate(KEY):
        sample.paste(color, (i * 90, 0, (i + 1) * 90, 90))
    return sample.quantize(128)


def main() -> None:
    """Write the loop."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "play.html"
        path.write_text(playground_page(["weights"]), encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport=SIZE, reduced_motion="reduce", color_scheme="light")
        page.goto(path.as_uri())
        page.wait_for_timeout(1500)
        pictures = frames(page)
        browser.close()
    palette = palette_of(pictures[24][0])
    loop = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture, _ in pictures]
    times = [ms for _, ms in pictures]
    loop[0].save(
        OUT,
        save_all=True,
        append_images=loop[1:],
        duration=times,
        loop=0,
        optimize=True,
        comment=digest(),
    )
    print(f"{OUT} written: {OUT.stat().st_size / 1e6:.1f} MB, {len(loop)} frames")


if __name__ == "__main__":
    main()
