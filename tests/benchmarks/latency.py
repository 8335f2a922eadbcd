"""From the input event to the painted plot, in the page and in a real JupyterLab: `python tests/benchmarks/latency.py`.

Prints median and 95th percentile, in ms, of key presses on the sliders of ensemble size and fitted radius, for each tab; of
the page, from the start of its own script (plotly.js is parsed then) to the first picture; with --lab also of JupyterLab,
and of a radius that nobody fitted: seconds to the first picture and to all views.  Times hold for an idle machine only.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from browsing import RUN_ALL, chromium, jupyterlab, watched

PRESS = """async ([name, count]) => {
  const view = document.querySelector('.flatviz[data-state]'), slider = view.querySelector(name), times = [];
  const frame = () => new Promise((r) => requestAnimationFrame(r));
  const painted = () => new Promise((r) => requestAnimationFrame(() => {
    const c = new MessageChannel();
    c.port1.onmessage = r;
    c.port2.postMessage(0);
  }));
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < 6; k++) await frame();
    const before = view.dataset.state, at = Number(slider.value), [lo, hi] = [Number(slider.min), Number(slider.max)];
    slider.value = i % 2 || at >= hi ? Math.max(lo, at - 1) : at + 1;
    const start = performance.now();
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    for (let k = 0; k < 600 && view.dataset.state === before; k++) await frame();
    await painted();
    times.push(performance.now() - start);
  }
  return times;
}"""


FIRST = "performance.measure('first', 'flatviz-start', 'flatviz-drawn').duration"


def line(name: str, times: list[float]) -> None:
    """Median and 95th percentile."""
    print(
        f"{name:40s} median {statistics.median(times):6.1f} ms   p95 {sorted(times)[int(0.95 * (len(times) - 1))]:6.1f} ms",
        flush=True,
    )


def sliders(page, where: str, count: int) -> None:
    """Both sliders in every tab but the one that shows all."""
    tabs = page.locator(".flatviz [role=tab]")
    for i in range(tabs.count() - 1):
        name = tabs.nth(i).inner_text()
        tabs.nth(i).click()
        page.locator(f".flatviz[data-look={json.dumps(name)}]").wait_for()
        for slider, text in ((".fv-draws", "ensemble size"), (".fv-radius", "fitted radius")):
            line(f"{where}, {name}: {text}", page.evaluate(PRESS, [slider, count]))


def page_times(browser, path: Path, count: int) -> None:
    """The page: its start, and its sliders."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(path.as_uri(), wait_until="commit")
    page.locator(".flatviz[data-state]").wait_for()
    print(
        f"{'page: own script to first picture':40s} {page.evaluate(FIRST):6.0f} ms",
        flush=True,
    )
    sliders(page, "page", count)


def lab_times(browser, count: int) -> None:
    """JupyterLab: the tour's lab."""
    code = "import flatviz as fv\nfrom flatviz.studies.tour import run_tour\nt = run_tour()\n"
    code += "lab = fv.FlatnessLab(t.net, t.task, t.prior, family=t.family)\nlab"
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None, "source": code}
    with tempfile.TemporaryDirectory() as folder:
        notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
        notebook["metadata"]["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        (Path(folder) / "n.ipynb").write_text(json.dumps(notebook))
        with jupyterlab(Path(folder)) as base:
            page, _, errors = watched(browser.new_context(viewport={"width": 1280, "height": 800}), base)
            page.goto(f"{base}/lab/tree/n.ipynb?reset")
            page.wait_for_function("window.jupyterapp?.shell?.currentWidget?.content?.widgets")
            print(page.evaluate(RUN_ALL), errors)
            page.locator(".flatviz[data-state]").wait_for()
            sliders(page, "lab", count)


def main() -> int:
    """All of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path, nargs="?", help="what flatviz tour wrote; without it, it is made here")
    parser.add_argument("--lab", action="store_true", help="JupyterLab too")
    parser.add_argument("--count", type=int, default=30, help="key presses of each kind")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        if args.page is None:
            from flatviz.cli import main as flatviz

            args.page = Path(folder) / "tour.html"
            flatviz(["tour", "--out", str(args.page)])
        page_times(browser, args.page.absolute(), args.count)
        if args.lab:
            lab_times(browser, args.count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
