"""The tour notebook in a real JupyterLab, moved by hand as it were; what was seen goes to a file, for a test to judge.

It takes minutes in a kernel of its own: of the whole suite it is the first to start, and runs beside the other tests.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
import time
from pathlib import Path

from browsing import DRAWN, IN_KERNEL, RUN_ALL, chromium, jupyterlab, watched
from forked import forked

NOTEBOOK = Path(__file__).resolve().parent.parent / "notebooks" / "00_tour.ipynb"
SLOW_PAGE = """((timeout) => {
  AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms === 2000 ? 0 : ms);
})(AbortSignal.timeout)"""  # anywidget gives a module two seconds to load: as on a machine that never makes it
STANDING = """() => ({
  views: [...document.querySelectorAll('.flatviz')].map((e) => e.dataset.state ?? e.textContent.slice(0, 80)),
  status: [...document.querySelectorAll('.widget-label')].map((e) => e.textContent),
  kernel: window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel?.status,
  cells: window.jupyterapp?.shell?.currentWidget?.content?.widgets.map((c) => c.model.executionCount ?? null),
})"""  # what is to be told of a page that did not come to its end
SHOWS = "(state) => document.querySelector('.flatviz[data-state]').dataset.state === state"
FITTED = """(smaller) => {  // until then the nearest fitted radius is shown, and said to be that
  const view = document.querySelector('.flatviz[data-state]');
  const missing = view.querySelector('.fv-reading').textContent.includes('is not fitted');
  return !missing && Number(view.dataset.state.split('/')[1]) > Number(smaller);
}"""
MINUTES = 20  # for the whole drive: a kernel trains and measures a family in it, on a machine busy with other tests
FOLDER = "FLATVIZ_TEST_DRIVE"  # where the drive writes: pytest-xdist's workers find there what their parent began


def start() -> None:
    """Begin, in a process of its own, in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="flatviz-drive-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ[FOLDER] = str(folder)
    forked(lambda: ended(folder), folder / "out", folder / "errors")


def ended(folder: Path) -> int:
    """`drive`, and a file that says it is over, come what may."""
    try:
        return drive(folder)
    finally:
        (folder / "over").touch()


def seen() -> dict:
    """What `drive` wrote, once it has ended; AssertionError with its last words if it failed."""
    if FOLDER not in os.environ:
        start()
    folder = Path(os.environ[FOLDER])
    limit = time.monotonic() + 60 * MINUTES
    while not (folder / "over").exists() and time.monotonic() < limit:
        time.sleep(0.5)
    found = folder / "seen.json"
    assert found.exists(), (folder / "out").read_text() + (folder / "errors").read_text()
    return json.loads(found.read_text(encoding="utf-8"))


def picture() -> Path:
    """The screenshot that `drive` took."""
    return Path(os.environ[FOLDER]) / "lab.png"


def drive(folder: Path) -> int:
    """Run the notebook with a second view of the lab, move each control, save; write seen.json and lab.png."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    notebook["cells"].append(
        {"cell_type": "code", "id": "a-second-view", "metadata": {}, "outputs": [], "execution_count": None, "source": "lab"}
    )
    root = folder / "root"
    root.mkdir()
    (root / "tour.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    with chromium() as browser, jupyterlab(root) as base:
        page, foreign, errors = watched(browser.new_context(viewport={"width": 1500, "height": 1100}), base)
        page.set_default_timeout(60_000 * MINUTES)
        page.add_init_script(SLOW_PAGE)
        frames: list[int] = []
        page.on("websocket", lambda s: s.on("framereceived", lambda data: frames.append(len(data))))
        try:
            seen = _move(page, base, frames, folder / "lab.png")
        except Exception:
            print(f"{len(frames)} frames of {sum(frames)} bytes; errors {errors}; the page:", page.evaluate(STANDING))
            page.screenshot(path=str(folder / "lab.png"))
            raise
        seen |= {"saved": (root / "tour.ipynb").read_text(encoding="utf-8"), "frames": frames}
        seen |= {"foreign": foreign, "errors": errors}
        (folder / "seen.json").write_text(json.dumps(seen), encoding="utf-8")
        (folder / "over").touch()  # before the browser closes, which a busy machine can make long
    return 0


def _move(page, base: str, frames: list[int], picture: Path) -> dict:
    page.goto(f"{base}/lab/tree/tour.ipynb?reset")
    _until(page, "() => window.jupyterapp?.shell?.currentWidget?.content?.widgets")
    seen = {"notebook": page.evaluate(RUN_ALL)}
    _until(page, "() => document.querySelectorAll('.flatviz[data-state]').length === 2")  # fitted behind the page
    view = page.locator(".flatviz[data-state]").first
    view.scroll_into_view_if_needed()
    view.get_by_role("tab", name="All").dispatch_event("click")
    _until(page, "() => document.querySelector('.flatviz[data-state]').dataset.look === 'All'")
    seen["first"] = look(view)
    method, radius, _ = seen["first"]["state"].split("/")

    sent = "print({k: n for k, n in lab.view.sent.items()})"
    before = page.evaluate(IN_KERNEL, sent)
    view.get_by_label("ensemble size", exact=True).fill("17")
    _until(page, SHOWS, f"{method}/{radius}/17")
    seen["more draws"] = look(view)
    seen["sent"] = [before, page.evaluate(IN_KERNEL, sent)]

    largest = page.evaluate(IN_KERNEL, "print(max(lab.family.radii('sabma')))").strip()
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
    seen["in the kernel"] = page.evaluate(IN_KERNEL, "print(lab.method, lab.n_draws)").split()
    page.evaluate("async () => { await window.jupyterapp.commands.execute('docmanager:save'); }")
    return seen


def _until(page, truth: str, argument: str | None = None) -> None:
    """Wait; ask once a second and not once a frame, which alone keeps a slow machine busy."""
    page.wait_for_function(truth, arg=argument, polling=1000)


def look(view) -> dict:
    """The state that a view says it draws, and the data that it draws."""
    return {"state": view.get_attribute("data-state"), "drawn": view.evaluate(DRAWN)}
