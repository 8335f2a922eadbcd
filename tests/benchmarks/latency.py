"""From the input event to the painted plot, in the page and in a real JupyterLab: `python tests/benchmarks/latency.py --lab`.

Prints one table: median and 95th percentile, in ms, of key presses on the sliders of ensemble size and fitted radius, for each
tab; of the page, from the start of its own script (plotly.js is parsed then) to the first picture; with --lab also of
JupyterLab, and of a radius that nobody fitted: ms until the preview's first picture is painted, until all its views are
measured, and until the whole fit has taken its place.  Times hold for an idle machine only: the load stands beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from browsing import IN_KERNEL, RUN_ALL, SLOW, answer, chromium, jupyterlab, watched

PRESS = """async ([name, count, stops]) => {
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
    const all = stops ?? Array.from({ length: hi - lo + 1 }, (_, k) => lo + k), here = all.indexOf(at);
    slider.value = all[i % 2 || here >= all.length - 1 ? Math.max(0, here - 1) : here + 1];
    const start = performance.now();
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    for (let k = 0; k < 600 && view.dataset.state === before; k++) await frame();
    await painted();
    times.push(performance.now() - start);
  }
  return times;
}"""


UNFITTED = """async ([stop, limit]) => {
  const view = document.querySelector('.flatviz[data-state]'), slider = view.querySelector('.fv-radius'), times = {};
  const frame = () => new Promise((r) => requestAnimationFrame(r));
  const stages = ['preview of what is in sight', 'preview', 'fitted'], method = view.dataset.state.split('/')[0];
  slider.value = stop;
  const before = view.dataset.state, start = performance.now();
  slider.dispatchEvent(new Event('input', { bubbles: true }));
  while (!times.fitted && performance.now() - start < limit) {
    await frame();
    const { state, shown } = view.dataset, wanted = !view.querySelector('.fv-reading').textContent.includes('is not fitted');
    if (state === before || !state.startsWith(method) || !wanted) continue;
    for (const stage of stages.slice(0, stages.indexOf(shown) + 1)) times[stage] ??= performance.now() - start + 17;
  }
  return stages.map((stage) => times[stage] ?? NaN);
}"""
STOPS = """
radii = lab.family.radii(lab.method)
print([sorted({*radii, *lab.stops[lab.method]}).index(r) for r in radii])
"""
FIRST = "performance.measure('first', 'flatviz-start', 'flatviz-drawn').duration"
Row = tuple[str, str, list[float]]  # where, what, ms


def sliders(page, where: str, count: int, fitted: list[int] | None = None) -> list[Row]:
    """Both sliders in every tab but the one that shows all; fitted: stops of the radius slider that are fitted, None for all."""
    rows = []
    tabs = page.locator(".flatviz").first.get_by_role("tab")
    for i in range(tabs.count() - 1):
        name = tabs.nth(i).inner_text()
        tabs.nth(i).click()
        page.locator(f".flatviz[data-look={json.dumps(name)}]").first.wait_for()
        for slider, text, stops in ((".fv-draws", "ensemble size", None), (".fv-radius", "fitted radius", fitted)):
            rows.append((f"{where}, {name}", text, answer(page, PRESS, [slider, count, stops])))
            told(*rows[-1])
    return rows


def page_times(browser, path: Path, count: int) -> list[Row]:
    """The page: its start, and its sliders."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(SLOW)
    page.goto(path.as_uri(), wait_until="commit")
    page.locator(".flatviz[data-state]").wait_for()
    rows = [("page", "own script to first picture", [page.evaluate(FIRST)]), *sliders(page, "page", count)]
    page.close()
    return rows


def lab_times(browser, count: int) -> list[Row]:
    """JupyterLab with the tour's family: its sliders, then radii that nobody fitted."""
    code = "import flatviz as fv\nfrom flatviz.families.tour import run_tour\nt = run_tour()\n"
    code += "lab = fv.widgets.Lab(t.net, t.task, t.prior, family=t.family)\nlab"
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None, "source": code}
    with tempfile.TemporaryDirectory() as folder:
        notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
        notebook["metadata"]["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        (Path(folder) / "n.ipynb").write_text(json.dumps(notebook))
        with jupyterlab(Path(folder)) as base:
            page, _, errors = watched(browser.new_context(viewport={"width": 1280, "height": 800}), base)
            page.goto(f"{base}/lab/tree/n.ipynb?reset")
            page.wait_for_function("window.jupyterapp?.shell?.currentWidget?.content?.widgets")
            if failed := answer(page, RUN_ALL):
                raise RuntimeError(f"the notebook failed: {failed}")
            view = page.locator(".flatviz[data-state]").first
            view.wait_for()
            view.scroll_into_view_if_needed()
            fitted = json.loads(answer(page, IN_KERNEL, STOPS))
            rows = sliders(page, "lab", count, fitted) if count else []
            rows += unfitted(page, fitted)
            if errors:
                print("errors of the page:", errors)
    return rows


def unfitted(page, fitted: list[int]) -> list[Row]:
    """Six stops of the slider between fitted radii, with the Surface tab in sight."""
    page.locator(".flatviz").first.get_by_role("tab").first.click()
    names, found = ("first picture of the preview", "all views of the preview", "whole fit"), []
    for stop in [i for i in range(fitted[1], fitted[-1]) if i not in fitted][:6]:
        found.append(answer(page, UNFITTED, [stop, 60_000]))
        told("lab, Surface", "unfitted radius", found[-1])
    return [("lab, unfitted radius", name, list(times)) for name, times in zip(names, zip(*found))]


def told(where: str, what: str, times: list[float]) -> None:
    """A line as soon as it is measured."""
    print(f"  measured {where}: {what}, {len(times)}", file=sys.stderr, flush=True)


def table(rows: list[Row], load: tuple[float, ...]) -> str:
    """Median and 95th percentile of each row, and the load of the machine before and after."""
    lines = [f"{'where':24s} {'what':30s} {'median':>8s} {'p95':>8s}   ms"]
    for where, what, times in rows:
        ordered = sorted(times)
        p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
        lines.append(f"{where:24s} {what:30s} {statistics.median(ordered):8.0f} {p95:8.0f}   of {len(ordered)}")
    loads = " ".join(f"{v:.2f}" for v in load), " ".join(f"{v:.2f}" for v in os.getloadavg())
    lines.append(f"load average {loads[0]} before, {loads[1]} after, on {os.cpu_count()} cores")
    return "\n".join(lines)


def main() -> int:
    """All of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path, nargs="?", help="what flatviz tour wrote; without it, it is made here")
    parser.add_argument("--lab", action="store_true", help="JupyterLab too")
    parser.add_argument("--count", type=int, default=30, help="key presses of each kind")
    args, load = parser.parse_args(), os.getloadavg()
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        if args.page is None:
            from flatviz.cli import main as flatviz

            args.page = Path(folder) / "tour.html"
            flatviz(["tour", "--out", str(args.page)])
        rows = page_times(browser, args.page.absolute(), args.count) if args.count else []
        if args.lab:
            rows += lab_times(browser, args.count)
    print(table(rows, load))
    return 0


if __name__ == "__main__":
    sys.exit(main())
