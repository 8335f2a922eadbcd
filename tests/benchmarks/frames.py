"""Frames a second of the playground's worlds at 390 px in headless Chromium: `python tests/benchmarks/frames.py [slowdown ...]`.

A processor slowed four times is a phone of five years ago.  Without a GPU a canvas is painted by the processor too.
"""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from browsing import chromium, in_page
from playground.test_page import opened

from flatviz.pages.page import playground_page

SECONDS = 6
PLAY = in_page("play_a_world")
RATE = in_page("rate_of_frames")


def main() -> None:
    """A row a world and slowdown."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        path = Path(folder) / "playground.html"
        path.write_text(playground_page(), encoding="utf-8")
        for slowdown in map(int, sys.argv[1:] or (1, 4)):
            for world in ("weights", "network", "gap"):
                page = opened(browser, path.as_uri(), width=390, height=844, device_scale_factor=2, reduced_motion="reduce")
                page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slowdown})
                page.evaluate(PLAY, world)
                page.wait_for_timeout(1000 * SECONDS)
                rate, late, own, most, steps = page.evaluate(RATE, world)
                said = f"{rate:5.1f} frames/s, p95 {late:4.0f} ms; own code {own:4.1f} ms a frame, p95 {most:4.1f}"
                print(f"{world:<8} slowed {slowdown} times: {said}; {steps} steps", flush=True)
                page.context.close()
    print(f"load average {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
