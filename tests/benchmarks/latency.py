"""From an input event to the painted plot of the tour page: `python tests/benchmarks/latency.py tour.html [slowdown ...]`.

Prints ms from the page's own script (plotly.js is parsed then) to the first picture, and median and 95th percentile of moves of the
sliders of ensemble size and radius in each tab.  Times hold for an idle machine only: its load stands beside them.
"""

import os
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from browsing import answer, chromium, in_page
from pagedrive import opened

MOVES = in_page("moves_of_a_slider")
FIRST = "performance.measure('first', 'flatviz-start', 'flatviz-drawn').duration"


def main() -> None:
    """A row a tab and slider."""
    path, slowdowns = Path(sys.argv[1]).absolute(), [int(s) for s in sys.argv[2:]] or [1]
    with chromium() as browser:
        for slowdown in slowdowns:
            page = opened(browser, f"{path.as_uri()}#step=0", reduced_motion="reduce")
            print(f"slowed {slowdown} times; first picture, not slowed: {page.evaluate(FIRST):.0f} ms")
            page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slowdown})
            for tab in page.get_by_role("tab").all()[:-1]:
                tab.click()
                page.wait_for_timeout(1500)
                for slider in (".fv-draws", ".fv-radius"):
                    times = sorted(answer(page, MOVES, [slider, 30]))
                    said = f"median {statistics.median(times):4.0f}, p95 {times[int(0.95 * len(times))]:4.0f} ms"
                    print(f"{tab.inner_text():<10} {slider[4:]:<7} {said}", flush=True)
            page.context.close()
    print(f"load average {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
