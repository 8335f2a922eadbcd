"""Frames a second of the playground's worlds in headless Chromium: `python tests/benchmarks/frames.py [slowdown ...]`.

The network world, the gap beside HMC and the two weights each play for a while at 390 px, at the processor's speed and slowed
four times: a phone of five years ago.  Without a GPU a canvas is painted by the processor too.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from browsing import chromium

from flatviz.pages.playground import playground_page

SECONDS, PHONE = 6, {"width": 390, "height": 844}
PLAY = """(name) => { const w = document.querySelector('.pg').playground[name];
  window.spent = [];
  w.clock.frame = (passed) => { const from = performance.now(); w.frame(passed); window.spent.push(performance.now() - from); };
  w.node.scrollIntoView();
  w.play(true); }"""
RATE = """(name) => { const w = document.querySelector('.pg').playground[name], { seconds } = w.clock;
  w.play(false);
  return [w.clock.rate, 1000 * [...seconds].sort((a, b) => a - b)[Math.floor(0.95 * seconds.length)], w.steps,
    window.spent.reduce((sum, s) => sum + s, 0) / window.spent.length]; }"""


def main() -> None:
    """A row a world and slowdown."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        path = Path(folder) / "playground.html"
        path.write_text(playground_page(), encoding="utf-8")
        for slowdown in map(int, sys.argv[1:] or (1, 4)):
            for world in ("weights", "network", "gap"):
                page = browser.new_context(viewport=PHONE, device_scale_factor=2, reduced_motion="reduce").new_page()
                page.goto(path.as_uri())
                page.wait_for_function("() => document.querySelector('.pg')?.playground")
                page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slowdown})
                page.evaluate(PLAY, world)
                page.wait_for_timeout(1000 * SECONDS)
                rate, late, steps, own = page.evaluate(RATE, world)
                said = f"{rate:5.1f} frames/s, p95 {late:4.0f} ms; the page's own code {own:4.1f} ms a frame; {steps} steps"
                print(f"{world:<10} processor slowed {slowdown} times: {said}", flush=True)
                page.context.close()


if __name__ == "__main__":
    main()
