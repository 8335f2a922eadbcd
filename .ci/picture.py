"""Make README's pictures, in light and dark: docs/lab.gif, the loss around draws of VI and SA-BMA
while the radius moves; docs/beside.png, what README's ten lines draw; docs/frontier.png, the
playground's third answer.

    python .ci/picture.py

Each frame of the moving picture is a fit of its own. It holds a digest of the lines that draw
it; a test compares it.
"""

from __future__ import annotations

import hashlib
import io
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from plotly.io import renderers

import flatviz as fv
from flatviz.pages.page import playground_page, plotlyjs
from flatviz.plots.theme import GRID, INK, MUTED, on_dark, style

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SCHEMES = {"light": "", "dark": "-dark"}
WIDE = dict(width=760, height=900)  # of the playground: two panels
DENSE = 1.5
HIDDEN = "h1, .lead, .pg-sides, .pg-first, .pg-run, .pg-more"

RADII = [k / 8 for k in range(17)]  # 0 to 2
N_DRAWS = 10
N_SPECTRA = 5
REACH = 0.8  # from a draw to the edge of the ground, in weight space
SIDE = 25  # points of the ground's side
SIZE = (780, 420)
FRAME = 165  # ms
REST = 3  # frames at each end
SCORES = {"accuracy": "accuracy", "nll": "NLL", "ece": "ECE"}
DARK = {"#ffffff": "#0d1117", INK: "#e4e7eb", MUTED: "#b1bac4", GRID: "#30363d"}


def digest() -> bytes:
    """Of the lines that draw the moving picture."""
    text = Path(__file__).read_text(encoding="utf-8")
    drawing = text[text.rindex("class Frame") : text.rindex("def write_film")]
    return hashlib.sha256(drawing.encode()).hexdigest().encode()


@dataclass(frozen=True)
class Shown:
    """What a frame shows of one posterior.

    rise: (SIDE, SIDE), of the loss above a draw's along its two sharpest directions, mean over
        draws.
    eigenvalues: (5,), mean over draws.
    scores: of the test split.
    """

    rise: torch.Tensor
    eigenvalues: torch.Tensor
    scores: dict[str, float]


def readme_code() -> str:
    """README's ten lines, but the one that opens the lab."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code = next(part for part in text.split("```python\n")[1:] if "plot_spectrum" in part)
    lines = code.split("```")[0].splitlines()
    return "\n".join(line for line in lines if "fv.lab(" not in line)


def shown(net, task, f, q) -> Shown:
    """Measure one posterior."""
    rises = []
    spectra = []
    for w in q.sample(N_SPECTRA, seed=1):
        pairs = fv.top_eigenpairs(f, w, k=5)
        plane = fv.Plane(w, pairs.vectors[:2], "distance in weight space")
        rise = fv.slice_plane(f, plane, extent=REACH, resolution=SIDE).values - f(w)
        rises.append((rise + rise.flip(0, 1)) / 2)  # an eigenvector has no sign: both ways
        spectra.append(pairs.values)
    scores = fv.predict(net, q, task.test, N_DRAWS, seed=1).scores
    return Shown(
        rise=torch.stack(rises).mean(0),
        eigenvalues=torch.stack(spectra).mean(0),
        scores={name: float(scores[name][-1]) for name in SCORES},
    )


def family(seen: dict) -> list[Shown]:
    """SA-BMA at every radius, fitted as by README's lines; at radius 0 it is VI."""
    net, task, prior = (seen[name] for name in ("net", "task", "prior"))
    f = fv.nll(net, task.train)
    members = []
    for radius in RADII:
        q = fv.fit(net, task.train, fv.SABMA(prior, radius=radius), seed=0)
        members.append(shown(net, task, f, q))
    return members


def mixed(a: str, b: str, share: float) -> str:
    """A colour between two."""
    ends = [[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in (a, b)]
    return "#" + "".join(f"{round(x + (y - x) * share):02x}" for x, y in zip(*ends))


class Frame:
    """The text of an SVG, piece by piece."""

    def __init__(self, dark: bool) -> None:
        self.dark = dark
        self.parts: list[str] = []
        self.paper = "#0d1117" if dark else "#ffffff"  # GitHub's own
        self.ink = "#e4e7eb" if dark else INK
        self.soft = "#b1bac4" if dark else "#52606d"
        self.line = "#30363d" if dark else "#d9dee4"

    def color(self, method: str) -> str:
        """The method's on this ground."""
        color = style(method).color
        return on_dark(color) if self.dark else color

    def words(self, text: str, x: float, y: float, **look: object) -> None:
        """Write a text at its baseline."""
        size = look.get("size", 15)
        color = look.get("color", self.ink)
        weight = look.get("weight", 400)
        anchor = look.get("anchor", "start")
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{color}"'
            f' font-weight="{weight}" text-anchor="{anchor}">{text}</text>'
        )

    def box(self, x: float, y: float, width: float, height: float, color: str) -> None:
        """Fill a rectangle."""
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
            f' fill="{color}" rx="1.5"/>'
        )

    def dot(self, x: float, y: float, r: float, fill: str, edge: str) -> None:
        """Draw a disc with a rim."""
        self.parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" fill="{fill}" stroke="{edge}"'
            ' stroke-width="1.2"/>'
        )

    def ground(self, seen: Shown, method: str, at: tuple[float, float], top: float) -> None:
        """Draw the rise in relief, from behind, lit from the upper left.

        at: pixels of the center of the floor; top: rise of 160 px.
        """
        color = self.color(method)
        low = mixed(self.paper, color, 0.12)
        half = (SIDE - 1) / 2
        height = seen.rise.clamp(max=1.02 * top) / top

        def place(i: float, j: float, h: float) -> tuple[float, float]:
            u = (i - half) / half
            v = (j - half) / half
            return at[0] + 58 * (u - v), at[1] + 30 * (u + v) - 160 * h

        cells = [(i, j) for i in range(SIDE - 1) for j in range(SIDE - 1)]
        for i, j in sorted(cells, key=sum):
            corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            h = [float(height[c]) for c in corners]
            path = " ".join(
                "{:.1f},{:.1f}".format(*place(*c, value)) for c, value in zip(corners, h)
            )
            share = min(1.0, sum(h) / 4)
            toward_left = (h[1] + h[2] - h[0] - h[3]) / 2  # rises to the lower right: bright
            bright = max(-0.3, min(0.3, 2.2 * toward_left))
            fill = mixed(low, color, share**0.7)
            fill = mixed(fill, "#ffffff" if bright > 0 else "#000000", abs(bright))
            edge = mixed(fill, self.paper, 0.35)
            self.parts.append(
                f'<polygon points="{path}" fill="{fill}" stroke="{edge}" stroke-width=".6"/>'
            )

    def bars(self, vi: Shown, flat: Shown, top: float) -> None:
        """Draw the five eigenvalues of both."""
        x, y, tall = 548, 190, 108
        self.words("Hessian eigenvalues", x, 30, weight=600)
        for k in range(5):
            for n, (method, seen) in enumerate((("vi", vi), ("sabma", flat))):
                height = tall * float(seen.eigenvalues[k]) / top
                self.box(x + 43 * k + 17 * n, y - height, 15, height, self.color(method))
            self.words(f"λ{'₁₂₃₄₅'[k]}", x + 43 * k + 16, y + 18, size=13, anchor="middle")
        self.box(x, y, 206, 1, self.line)

    def scores(self, vi: Shown, flat: Shown) -> None:
        """Write the three scores of both."""
        x = 548
        self.words("Test scores", x, 246, weight=600)
        for k, (name, label) in enumerate(SCORES.items()):
            y = 272 + 25 * k
            self.words(label, x, y, color=self.soft)
            for n, (method, seen) in enumerate((("vi", vi), ("sabma", flat))):
                text = f"{seen.scores[name]:.3f}"
                right = x + 140 + 66 * n
                self.words(
                    text, right, y, color=self.color(method), weight=600, anchor="end", size=16
                )

    def slider(self, radius: float) -> None:
        """Draw the radius and its knob."""
        left, right, y = 160, 640, 382
        share = radius / RADII[-1]
        x = left + (right - left) * share
        color = self.color("sabma")
        self.words("radius", left - 18, y + 5, weight=600, anchor="end", size=16)
        self.box(left, y - 3, right - left, 6, self.line)
        self.box(left, y - 3, x - left, 6, color)
        self.dot(x, y, 11, color, self.paper)
        self.words(f"{radius:.2f}", right + 20, y + 6, weight=600, size=18)

    def svg(self) -> str:
        """The whole."""
        width, height = SIZE
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
            ' font-family="system-ui, Segoe UI, DejaVu Sans, sans-serif" style="display:block">'
            f'<rect width="{width}" height="{height}" fill="{self.paper}"/>'
            f"{''.join(self.parts)}</svg>"
        )


def frame(members: list[Shown], k: int, dark: bool) -> str:
    """The picture at the k-th radius, on the scales of all."""
    vi, flat = members[0], members[k]
    edge = max(float(m.rise.max()) for m in members)
    highest = max(float(m.eigenvalues[0]) for m in members)
    picture = Frame(dark)
    picture.words("Rise of the loss around draws", 24, 30, weight=600)
    for x, method, seen in ((142, "vi", vi), (394, "sabma", flat)):
        picture.ground(seen, method, (x, 274), edge)
        label = style(method).label
        picture.words(
            label, x, 340, color=picture.color(method), weight=700, size=17, anchor="middle"
        )
    picture.bars(vi, flat, highest)
    picture.scores(vi, flat)
    picture.slider(RADII[k])
    return picture.svg()


def film(page: Page, members: list[Shown], dark: bool) -> list[Image.Image]:
    """The radius from 0 to 2 and back, from the first frame."""
    stills = []
    for k in range(len(RADII)):
        page.set_content(f'<body style="margin:0">{frame(members, k, dark)}</body>')
        shot = page.locator("svg").screenshot()
        stills.append(Image.open(io.BytesIO(shot)).convert("RGB"))
    last = len(RADII) - 1
    order = [*range(last + 1), *[last] * REST, *range(last - 1, -1, -1), *[0] * (REST - 1)]
    return [stills[k] for k in order]


def write_film(pictures: list[Image.Image], out: Path) -> None:
    """Write a loop with one palette, so that colours do not flicker."""
    ends = Image.new("RGB", (pictures[0].width, 2 * pictures[0].height))
    ends.paste(pictures[0], (0, 0))
    ends.paste(pictures[len(RADII)], (0, pictures[0].height))
    palette = ends.quantize(160)
    loop = [p.quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures]
    times = dict(duration=FRAME, loop=0)
    loop[0].save(
        out, save_all=True, append_images=loop[1:], optimize=True, comment=digest(), **times
    )
    size = out.stat().st_size / 1e6
    print(f"{out.name}: {size:.2f} MB, {len(loop)} frames, {len(loop) * FRAME / 1000:.1f} s")


def beside(page: Page, figure: fv.plots.theme.Figure, dark: bool) -> bytes:
    """README's plot; on dark ground with the colours that pages have there."""
    text = figure.to_json()
    if dark:
        colors = [style(method).color for method in ("vi", "sabma")]
        dark_of = {**DARK, **{c: on_dark(c) for c in colors}}
        text = re.sub("|".join(dark_of), lambda light: dark_of[light[0]], text)
    width, height = 640, 400
    size = f"width:{width}px;height:{height}px"
    page.set_content(f'<body style="margin:0"><div id="plot" style="{size}"></div></body>')
    page.add_script_tag(content=plotlyjs().text)
    page.evaluate(
        f"""async (text) => {{
          const {{ data, layout }} = JSON.parse(text);
          Object.assign(layout, {{ width: {width}, height: {height} }});
          await Plotly.newPlot("plot", data, layout, {{ staticPlot: true, displayModeBar: false }});
        }}""",
        text,
    )
    return page.locator("#plot").screenshot()


def frontier(browser: Browser, path: Path, scheme: str) -> bytes:
    """The playground's third answer as a picture."""
    page = browser.new_page(
        viewport=WIDE, reduced_motion="reduce", color_scheme=scheme, device_scale_factor=DENSE
    )
    page.goto(path.as_uri())
    page.wait_for_selector(".pg canvas")
    page.add_style_tag(content=f"{HIDDEN} {{ display: none !important; }}")
    page.wait_for_timeout(600)
    page.locator(".pg-steps button").nth(2).click()
    page.locator("[data-guess=yes]").click()
    page.wait_for_timeout(300)
    return page.locator(".pg-frontier").screenshot()


def main() -> None:
    """Write all."""
    renderers.default = "json"  # no browser opens
    seen: dict = {}
    exec(readme_code(), seen)
    members = family(seen)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "play.html"
        path.write_text(playground_page(["weights"]), encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for scheme, end in SCHEMES.items():
            dark = scheme == "dark"
            page = browser.new_page(device_scale_factor=DENSE)
            write_film(film(page, members, dark), DOCS / f"lab{end}.gif")
            (DOCS / f"beside{end}.png").write_bytes(beside(page, seen["fig"], dark))
            (DOCS / f"frontier{end}.png").write_bytes(frontier(browser, path, scheme))
        browser.close()


if __name__ == "__main__":
    main()
