"""Make docs/lab.gif, README's moving picture: the radius of a tour's page moves through its stops.

flatviz tour --out tour.html && python .ci/picture.py tour.html
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

SIZE = dict(width=1280, height=760)
OUT = Path(__file__).resolve().parent.parent / "docs" / "lab.gif"


def frames(page_path: Path) -> list[Image.Image]:
    """One picture of the page for each radius of SA-BMA."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport=SIZE)
        page.goto(page_path.resolve().as_uri())
        slider = page.locator(".flatviz[data-state]").get_by_role("slider", name="radius", exact=True)
        slider.wait_for()
        slider.evaluate("node => node.closest('.flatviz').scrollIntoView()")  # below the playground
        page.wait_for_timeout(3000)
        pictures = []
        for stop in range(int(slider.get_attribute("max")) + 1):
            slider.fill(str(stop))
            page.wait_for_timeout(900)  # pictures glide
            pictures.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB").resize((960, 570)))
        browser.close()
    return pictures


def main() -> None:
    """Write the loop: there and back, the ends for longer."""
    pictures = [p.quantize(96, dither=Image.Dither.NONE) for p in frames(Path(sys.argv[1]))]
    loop = [*pictures, *pictures[-2:0:-1]]
    times = [1500 if p in (pictures[0], pictures[-1]) else 450 for p in loop]
    loop[0].save(OUT, save_all=True, append_images=loop[1:], duration=times, loop=0, optimize=True)
    print(f"{OUT} written: {OUT.stat().st_size / 1e6:.1f} MB, {len(loop)} frames")


if __name__ == "__main__":
    main()
