"""Make README's pictures from the playground: docs/lab.gif, its first three questions with their
answers, and docs/frontier.png, the third answer, light and dark; and docs/draws.png from the stored
output of the experiment `draws`.

    python .ci/picture.py
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from pathlib import Path

from PIL import Image, ImageColor
from playwright.sync_api import Browser, Page, sync_playwright

from flatviz.pages.page import playground_page

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "lab.gif"
FRONTIER = {"light": ROOT / "docs" / "frontier.png", "dark": ROOT / "docs" / "frontier-dark.png"}
DRAWS = {"light": ROOT / "docs" / "draws.png", "dark": ROOT / "docs" / "draws-dark.png"}
EXPERIMENT = ROOT / "notebooks" / "experiments" / "draws.ipynb"
SIZE = dict(width=520, height=900)
WIDE = dict(width=760, height=900)  # two panels
DENSE = 1.5
CARD = 314  # px, of question and answer: what is below stays in its place
HIDDEN = "h1, .lead, .pg-sides, .pg-first, .pg-run, .pg-more"
GUESSES = ("sabma", "yes", "yes")
TRAINING = 14  # frames of a run
STEPS = 600
KEY = [
    "#0072b2",
    "#009e73",
    "#00805d",
    "#1f2933",
    "#ffffff",
]  # the methods' colours and those of words, however few pixels have them


def opened(browser: Browser, path: Path, scheme: str, size: dict[str, int]) -> Page:
    """The first world alone, at rest."""
    page = browser.new_page(
        viewport=size, reduced_motion="reduce", color_scheme=scheme, device_scale_factor=DENSE
    )
    page.goto(path.as_uri())
    page.wait_for_selector(".pg canvas")
    page.add_style_tag(content=f"{HIDDEN} {{ display: none !important; }}")
    page.wait_for_timeout(600)
    return page


def frames(page: Page) -> list[tuple[Image.Image, int]]:
    """Pictures, and the milliseconds that each is shown."""
    page.add_style_tag(content=f".pg-card {{ height: {CARD}px; align-content: start; }}")
    page.add_style_tag(content=".pg-frontier { height: 328px; overflow: hidden; }")
    page.wait_for_timeout(400)
    seen: list[tuple[Image.Image, int]] = []
    box = page.locator(".pg-world").bounding_box()
    clip = dict(x=0, y=box["y"] - 8, width=SIZE["width"], height=box["height"] + 16)

    def take(ms: int) -> None:
        shot = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
        seen.append((shot, ms))

    for i, guess in enumerate(GUESSES):
        if i:
            page.locator(".pg-next").click()
        page.wait_for_timeout(200)
        take(3200)
        page.locator(f"[data-guess={guess}]").click()
        page.wait_for_timeout(200)
        if i < 2:  # the run again, frame by frame, its answer hidden
            answered = page.locator(".pg-answer").inner_html()
            page.evaluate(RESTART)
            for _ in range(TRAINING):
                page.evaluate(f"() => {WORLD}.advance({STEPS // TRAINING + 1})")
                take(110)
            page.evaluate(ANSWER, answered)
        take(5200)
    return seen


WORLD = "document.querySelector('.pg').playground.weights"
RESTART = f"""() => {{
  document.querySelector('.pg-answer').textContent = 'They train …';
  {WORLD}.side('training');
  {WORLD}.again(false);
}}"""
ANSWER = f"""(text) => {{
  document.querySelector('.pg-answer').innerHTML = text;
  {WORLD}.side('test');
}}"""


def frontier(page: Page) -> bytes:
    """The third answer as a picture."""
    page.locator(".pg-steps button").nth(2).click()
    page.locator("[data-guess=yes]").click()
    page.wait_for_timeout(300)
    return page.locator(".pg-frontier").screenshot()


def draws(page: Page, scheme: str) -> bytes:
    """The experiment's first picture; on dark ground its light is turned round, not its colours."""
    cells = json.loads(EXPERIMENT.read_text(encoding="utf-8"))["cells"]
    data = (out.get("data", {}) for cell in cells for out in cell.get("outputs", []))
    png = next(d["image/png"] for d in data if "image/png" in d)
    turned = "" if scheme == "light" else "filter: invert(0.92) hue-rotate(180deg)"
    page.set_content(f'<img src="data:image/png;base64,{png}" style="{turned}">')
    return page.locator("img").screenshot()


def palette_of(picture: Image.Image) -> Image.Image:
    """128 colours of this picture, those of `KEY` among them and exact."""
    sample = picture.copy()
    for i, color in enumerate(KEY):
        sample.paste(color, (i * 90, 0, (i + 1) * 90, 90))
    palette = sample.quantize(128)
    colors = palette.getpalette()
    for exact in map(ImageColor.getrgb, KEY):
        for k in range(0, len(colors), 3):  # one that is as near would be taken in its place
            if max(abs(a - b) for a, b in zip(colors[k : k + 3], exact)) < 9:
                colors[k : k + 3] = exact
    palette.putpalette(colors)
    return palette


def main() -> None:
    """Write the loop, and the third answer by itself."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "play.html"
        path.write_text(playground_page(["weights"]), encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        pictures = frames(opened(browser, path, "light", SIZE))
        for scheme, out in FRONTIER.items():
            out.write_bytes(frontier(opened(browser, path, scheme, WIDE)))
        for scheme, out in DRAWS.items():
            out.write_bytes(draws(browser.new_page(), scheme))
        browser.close()
    palette = palette_of(pictures[TRAINING + 1][0])
    loop = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture, _ in pictures]
    times = [ms for _, ms in pictures]
    loop[0].save(
        OUT,
        save_all=True,
        append_images=loop[1:],
        duration=times,
        loop=0,
        optimize=True,
    )
    print(f"{OUT} written: {OUT.stat().st_size / 1e6:.1f} MB, {len(loop)} frames")


if __name__ == "__main__":
    main()
