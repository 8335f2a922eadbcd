"""The tour notebook in a real JupyterLab, moved by hand as it were; what was seen, for tests to judge."""

from __future__ import annotations

import json
from pathlib import Path

from browsing import DRAWN, IN_KERNEL, RUN_ALL, WAIT, answer, in_page, jupyterlab, limited, watched

NOTEBOOK = Path(__file__).resolve().parent.parent / "notebooks" / "00_tour.ipynb"
SLOW_PAGE = in_page("slow_to_load")
SHOWS = "(state) => document.querySelector('.flatviz[data-state]').dataset.state === state"
FITTED = in_page("fitted")
VIEW = "document.querySelector('.flatviz[data-state]')"
RESIZED = """() => [...document.querySelectorAll('.flatviz figure:not([hidden]) .js-plotly-plot')]
  .every((p) => Math.abs(p._fullLayout?.width - p.clientWidth) < 2)"""
SCREEN = in_page("screen_of_the_lab")
LIMIT = 4 * WAIT  # seconds for all of it


def drive(browser, root: Path) -> dict:
    """Run the notebook with a second view of the lab, move each control, save."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    cell = {"cell_type": "code", "id": "again", "metadata": {}, "outputs": [], "execution_count": None, "source": "lab"}
    notebook["cells"].append(cell)
    (root / "tour.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    with jupyterlab(root) as base, limited(LIMIT):
        page, foreign, errors = watched(browser.new_context(viewport={"width": 1500, "height": 1100}), base)
        page.add_init_script(SLOW_PAGE)
        frames: list[int] = []
        page.on("websocket", lambda s: s.on("framereceived", lambda data: frames.append(len(data))))
        seen = _move(page, base) | {"saved": (root / "tour.ipynb").read_text(encoding="utf-8"), "frames": frames}
        page.context.close()
    return seen | {"foreign": foreign, "errors": errors}


def _move(page, base: str) -> dict:
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

    largest = answer(page, IN_KERNEL, "print(max(lab.family.radii('sabma')))").strip()
    to_its_end = "(e) => { e.value = e.max; e.dispatchEvent(new Event('input', { bubbles: true })); }"
    view.get_by_label("radius", exact=True).evaluate(to_its_end)  # a stop not fitted: the kernel does it behind the picture
    _until(page, FITTED, largest)
    seen["larger radius"] = look(view)

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
