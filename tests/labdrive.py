"""The tour notebook in a real JupyterLab, moved by hand as it were; what was seen goes to a file, for a test to judge.

It takes minutes in a kernel of its own: of the whole suite it is the first to start, and runs beside the other tests, as a
process that shares nothing with theirs.  It ends within `LIMIT` seconds, with what stood on the page where it failed.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from browsing import DRAWN, IN_KERNEL, RUN_ALL, WAIT, answer, chromium, end_browsers, jupyterlab, limited, standing, watched

NOTEBOOK = Path(__file__).resolve().parent.parent / "notebooks" / "00_tour.ipynb"
SLOW_PAGE = """((timeout) => {
  AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms === 2000 ? 0 : ms);
})(AbortSignal.timeout)"""  # anywidget gives a module two seconds to load: as on a machine that never makes it
SHOWS = "(state) => document.querySelector('.flatviz[data-state]').dataset.state === state"
FITTED = """(smaller) => {  // until then the nearest fitted radius is shown, and said to be that
  const view = document.querySelector('.flatviz[data-state]');
  const missing = view.querySelector('.fv-reading').textContent.includes('is not fitted');
  return !missing && Number(view.dataset.state.split('/')[1]) > Number(smaller);
}"""
PLOT = "[...document.querySelectorAll('.jupyter-widgets .js-plotly-plot')].find((p) => !p.closest('.flatviz'))"
SAMPLES = f"(n) => {PLOT}?._fullData?.find((t) => t.name === 'samples')?.x.length === n"
EXPLORED = f"() => {PLOT}.querySelectorAll('.scatterlayer .point').length"
VIEW = "document.querySelector('.flatviz[data-state]')"
RESIZED = """() => [...document.querySelectorAll('.flatviz figure:not([hidden]) .js-plotly-plot')]
  .every((p) => Math.abs(p._fullLayout?.width - p.clientWidth) < 2)"""
SCREEN = """(view) => {  // with the lab's controls at the top of the panel, then with the end of each picture at that of the panel
  const panel = view.closest('.jp-WindowedPanel-outer') ?? view.closest('.jp-Notebook'), box = (node) => node.getBoundingClientRect();
  const bar = view.querySelector('.fv-bar'), end = () => box(panel).top + panel.clientHeight;
  const move = (node, edge, to) => { panel.scrollTop += box(node)[edge] - to; };
  const plots = [...view.querySelectorAll('figure:not([hidden]) .fv-plot')];
  move(view, 'top', box(panel).top);
  const first = end() - box(plots[0]).bottom;
  return { first, all: plots.map((plot) => {
    move(plot, 'bottom', end());
    return { name: plot.closest('figure').dataset.name, controls: box(bar).top - box(panel).top, room: box(plot).top - box(bar).bottom };
  }) };
}"""
LIMIT = 4 * WAIT  # seconds for all of it
FOLDER = "FLATVIZ_TEST_DRIVE"  # where the drive writes: pytest-xdist's workers find there what their parent began


def start() -> None:
    """Begin, in a process of its own, in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="flatviz-drive-"))
    os.environ[FOLDER] = str(folder)
    with open(folder / "out", "wb") as out:
        command = [sys.executable, __file__, str(folder)]
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
    atexit.register(_remove, process, folder)
    threading.Thread(target=_watch, args=(process, folder), daemon=True).start()


def _watch(process: subprocess.Popen, folder: Path) -> None:
    """Say when the process is over, whatever ended it."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(LIMIT + 90)  # it ends itself before
    with contextlib.suppress(OSError):
        (folder / "over").touch()


def _remove(process: subprocess.Popen, folder: Path) -> None:
    """End the process, which then ends browser and server, and remove what it wrote."""
    process.terminate()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def seen() -> dict:
    """What `drive` wrote, once it has ended; AssertionError with its last words if it failed."""
    if FOLDER not in os.environ:
        start()
    folder = Path(os.environ[FOLDER])
    end = time.monotonic() + LIMIT + 120
    while not (folder / "over").exists() and time.monotonic() < end:
        time.sleep(0.5)
    found = folder / "seen.json"
    assert found.exists(), (folder / "out").read_text(errors="replace")
    return json.loads(found.read_text(encoding="utf-8"))


def picture() -> Path:
    """The screenshot that `drive` took."""
    return Path(os.environ[FOLDER]) / "lab.png"


def drive(folder: Path) -> int:
    """Run the notebook with a second view of the lab, move each control, save; write seen.json and lab.png."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    explored = "explored = fv.explore(surface, fv.project(flat.sample(6, seed=1), plane, f))\nexplored"
    for name, source in (("a-second-view", "lab"), ("explored", explored)):
        cell = {"cell_type": "code", "id": name, "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        notebook["cells"].append(cell)
    root = folder / "root"
    root.mkdir()
    (root / "tour.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    with jupyterlab(root) as base, chromium() as browser, limited(LIMIT):
        page, foreign, errors = watched(browser.new_context(viewport={"width": 1500, "height": 1100}), base)
        page.add_init_script(SLOW_PAGE)
        frames: list[int] = []
        page.on("websocket", lambda s: s.on("framereceived", lambda data: frames.append(len(data))))
        try:
            seen = _move(page, base, frames, folder / "lab.png")
        except Exception:
            print(f"{len(frames)} frames of {sum(frames)} bytes; errors {errors}; the page: {standing()}", flush=True)
            raise
        seen |= {"saved": (root / "tour.ipynb").read_text(encoding="utf-8"), "frames": frames}
        seen |= {"foreign": foreign, "errors": errors}
    (folder / "seen.json").write_text(json.dumps(seen), encoding="utf-8")
    return 0


def _move(page, base: str, frames: list[int], picture: Path) -> dict:
    page.goto(f"{base}/lab/tree/tour.ipynb?reset")
    _until(page, "() => window.jupyterapp?.shell?.currentWidget?.content?.widgets")
    seen = {"notebook": answer(page, RUN_ALL, seconds=2 * WAIT)}
    _until(page, "() => document.querySelectorAll('.flatviz[data-state]').length === 2")  # fitted behind the page
    view = page.locator(".flatviz[data-state]").first
    view.scroll_into_view_if_needed()
    view.get_by_role("tab", name="All").dispatch_event("click")
    _until(page, "() => document.querySelector('.flatviz[data-state]').dataset.look === 'All'")
    seen["first"] = look(view)
    method, radius, _ = seen["first"]["state"].split("/")

    sent = "print({k: n for k, n in lab.view.sent.items()})"
    seen["sent"] = [answer(page, IN_KERNEL, sent)]
    for size in ("13", "17"):
        view.get_by_label("ensemble size", exact=True).fill(size)
        _until(page, SHOWS, f"{method}/{radius}/{size}")
        seen["sent"].append(answer(page, IN_KERNEL, sent))
    seen["more draws"] = look(view)

    _until(page, SAMPLES, 6)
    answer(page, IN_KERNEL, "explored.controls['samples'].value = 2")
    _until(page, SAMPLES, 2)
    seen["explored"] = page.evaluate(EXPLORED)

    largest = answer(page, IN_KERNEL, "print(max(lab.family.radii('sabma')))").strip()
    to_its_end = "(e) => { e.value = e.max; e.dispatchEvent(new Event('input', { bubbles: true })); }"
    view.get_by_label("radius", exact=True).evaluate(
        to_its_end
    )  # the last stop was not fitted: the kernel does it behind the picture
    _until(page, FITTED, largest)
    seen["larger radius"] = look(view)
    view.scroll_into_view_if_needed()
    page.screenshot(path=str(picture))

    view.get_by_label("method", exact=True).select_option("vi")
    _until(page, SHOWS, "vi/0/17")
    seen["in the kernel"] = answer(page, IN_KERNEL, "print(lab.method, lab.n_draws)").split()
    answer(page, "async () => { await window.jupyterapp.commands.execute('docmanager:save'); }")
    seen["screens"] = _screens(page, view)
    return seen


def _screens(page, view) -> dict:
    """By tab, on a screen of 1280 x 800: the first and the other pictures of the lab, as `SCREEN` has them."""
    page.set_viewport_size({"width": 1280, "height": 800})
    found = {}
    for name in view.get_by_role("tab").all_inner_texts():
        view.get_by_role("tab", name=name, exact=True).dispatch_event("click")
        _until(page, f"(name) => {VIEW}.dataset.look === name && ({RESIZED})()", name)
        found[name] = view.evaluate(SCREEN)
    return found


def _until(page, truth: str, argument: str | int | None = None) -> None:
    """Wait; ask once a second and not once a frame, which alone keeps a slow machine busy."""
    page.wait_for_function(truth, arg=argument, polling=1000)


def look(view) -> dict:
    """The state that a view says it draws, and the data that it draws."""
    return {"state": view.get_attribute("data-state"), "drawn": view.evaluate(DRAWN)}


if __name__ == "__main__":
    signal.signal(
        signal.SIGTERM, lambda *_: end_browsers()
    )  # an exception raised here would end Playwright's loop, not the wait
    sys.exit(drive(Path(sys.argv[1])))
