"""The real thing: JupyterLab, the tour notebook, both sliders, two views, a playground, nothing
asked of another host."""

import json
from pathlib import Path

from browsing import (
    DRAWN,
    IN_KERNEL,
    RUN_ALL,
    SLOW,
    WAIT,
    answer,
    in_page,
    jupyterlab,
    limited,
    watched,
)
from pytest import fixture, mark

import flatviz as fv

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "00_tour.ipynb"
SLOW_PAGE = in_page("slow_to_load")
SHOWS = "(state) => document.querySelector('.flatviz[data-state]').dataset.state === state"
FITTED = in_page("fitted")
VIEW = "document.querySelector('.flatviz[data-state]')"
RESIZED = """() => [...document.querySelectorAll('.flatviz figure:not([hidden]) .js-plotly-plot')]
  .every((p) => Math.abs(p._fullLayout?.width - p.clientWidth) < 2)"""
SCREEN = in_page("screen_of_the_lab")
ACTIVE = """() => { const nb = window.jupyterapp.shell.currentWidget.content;
  return { cells: nb.widgets.length, active: nb.activeCellIndex, mode: nb.mode }; }"""
LIMIT = 4 * WAIT  # seconds for all of it


def drive(browser, root: Path) -> dict:
    """Run the notebook with a second view of the lab and a playground, move each control, save."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    for i, source in enumerate(("lab", "fv.playground(worlds=['weights'])")):
        cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        notebook["cells"].append(cell | {"id": f"more-{i}", "source": source})
    (root / "tour.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    with jupyterlab(root) as base, limited(LIMIT):
        page, foreign, errors = watched(
            browser.new_context(viewport={"width": 1500, "height": 1100}), base
        )
        page.add_init_script(SLOW_PAGE)
        frames: list[int] = []
        page.on("websocket", lambda s: s.on("framereceived", lambda data: frames.append(len(data))))
        seen = _move(page, base) | {
            "saved": (root / "tour.ipynb").read_text(encoding="utf-8"),
            "frames": frames,
        }
        page.context.close()
    return seen | {"foreign": foreign, "errors": errors}


def _move(page, base: str) -> dict:
    page.goto(f"{base}/lab/tree/tour.ipynb?reset")
    _until(page, "() => window.jupyterapp?.shell?.currentWidget?.content?.widgets")
    seen = {"notebook": answer(page, RUN_ALL, seconds=2 * WAIT)}
    # Fitted behind the page: the rough picture has fewer draws than the family that follows it
    _until(page, "() => document.querySelectorAll('.flatviz[data-state]').length === 2")
    most = f"() => {VIEW}.querySelector('[aria-label=\"ensemble size\"]').max === '30'"
    _until(page, most)
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
    to_its_end = (
        "(e) => { e.value = e.max; e.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    # A stop not fitted: the kernel does it behind the picture
    view.get_by_label("radius", exact=True).evaluate(to_its_end)
    _until(page, FITTED, largest)
    seen["larger radius"] = look(view)

    view.get_by_label("method", exact=True).select_option("vi")
    _until(page, SHOWS, "vi/0/17")
    seen["in the kernel"] = answer(page, IN_KERNEL, "print(lab.method, lab.n_draws)").split()
    answer(page, "async () => { await window.jupyterapp.commands.execute('docmanager:save'); }")
    seen["screens"] = _screens(page, view)
    sliders = (
        view.get_by_label("ensemble size", exact=True),
        page.locator(".pg").get_by_label("radius of SA-BMA", exact=True),
    )
    return seen | {"keys": [_pressed(page, slider) for slider in sliders]}


def _pressed(page, slider) -> tuple:
    """By how much keys move a slider that has the focus, whether they leave it that, and whether
    the notebook stays as it was."""
    slider.scroll_into_view_if_needed(timeout=SLOW)
    slider.focus()
    before = page.evaluate(ACTIVE)
    value = float(slider.input_value())
    for key in ("ArrowLeft", "ArrowLeft", "ArrowDown", "b", "a", "j", "k"):
        page.keyboard.press(key)
    page.wait_for_timeout(300)
    focused = slider.evaluate("(e) => e === document.activeElement")
    return float(slider.input_value()) - value, focused, page.evaluate(ACTIVE) == before


def _screens(page, view) -> dict:
    """By tab, on a screen of 1280 x 800: the first and the other pictures of the lab, as `SCREEN`
    has them."""
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


pytestmark = [mark.browser, mark.long, mark.timeout(LIMIT + 180)]


@fixture(scope="module")
def seen(browser, tmp_path_factory):
    return drive(browser, tmp_path_factory.mktemp("drive"))


def samples(look):
    return next(t for t in look["drawn"]["surface"]["data"] if t.get("name") == "samples")


def test_the_tour_notebook_runs_to_its_end_and_nothing_is_asked_of_another_host(seen):
    assert seen["notebook"] == []
    assert not seen["foreign"]
    # The page was made too slow for it
    assert set(seen["errors"]) <= {"[anywidget] Failed to initialize model."}


def test_the_ensemble_size_draws_again_from_what_is_there(seen):
    first = seen["first"]
    second = seen["more draws"]
    assert second["state"] != first["state"]
    assert len(samples(second)["x"]) == 17
    # What is out of sight may not be drawn yet
    both = first["drawn"].keys() & second["drawn"].keys()
    assert any(second["drawn"][name]["data"] != first["drawn"][name]["data"] for name in both)
    sent = seen[
        "sent"
        # Before, between and after two moves; a page of a busy kernel may ask for the family once
    ]
    # No move sends arrays
    assert "family" in sent[0]
    assert sent[0] == sent[1] or sent[1] == sent[2]


def test_a_radius_that_nobody_fitted_is_fitted_and_drawn(seen):
    second = seen["more draws"]
    third = seen["larger radius"]
    assert second["state"].startswith("sabma/")
    # None of those the lab began with
    assert float(third["state"].split("/")[1]) > max(fv.METHODS["sabma"].plain.lab)
    assert samples(third)["x"] != samples(second)["x"]
    assert third["drawn"]["spectrum"]["data"] != second["drawn"]["spectrum"]["data"]


def test_the_kernel_knows_what_the_page_chose(seen):
    assert seen["in the kernel"] == ["vi", "17"]


def test_the_saved_notebook_is_small_and_plotly_comes_once_with_each_cell_that_shows_a_view(seen):
    assert '"outputs"' in seen["saved"]
    assert "plotly.js v" not in seen["saved"]
    assert len(seen["saved"].encode()) < 1_400_000  # a picture of each figure, and the lab twice
    assert sum(n > 3_000_000 for n in seen["frames"]) == 2


def test_in_every_tab_controls_and_picture_are_on_one_screen_of_1280_by_800(seen):
    assert list(seen["screens"]) == ["Surface", "Radius", "Flatness", "Scores", "Images", "All"]
    for tab, screen in seen["screens"].items():
        # With the controls at the top of the panel
        assert tab == "All" or screen["first"] >= -1, (
            tab,
            screen,
        )
        for picture in screen["all"]:  # with its end at that of the panel
            assert picture["controls"] >= -1 and picture["room"] >= -1, (tab, picture)


def test_keys_move_a_slider_and_leave_the_notebook_alone(seen):
    # ArrowDown lowers a slider as well, and no key reaches the notebook
    assert seen["keys"] == [(-3, True, True)] * 2
