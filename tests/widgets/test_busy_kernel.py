"""JupyterLab, "Run all" with a long cell below: two labs draw while the kernel works; the
notebook saved and exported after that."""

import json

import nbformat
import papermill
from browsing import RUN_ALL, WAIT, answer, jupyterlab, limited, watched
from nbconvert import HTMLExporter
from pytest import fixture, mark

LAB = "fv.lab(net, task, prior=prior, radii={'vi': (0.0,), 'sabma': (0.0, 1.0)}, fit={'steps': %d})"
CELLS = (
    "import time, pathlib\n"
    "import flatviz as fv\n"
    "from flatviz.families.tour import prepare\n"
    "net, task, prior = prepare(task=fv.datasets.moons_transfer(seed=0), epochs=5)",
    f"first = {LAB % 150}\nfirst",
    f"second = {LAB % 100}\nsecond",
    "while not pathlib.Path('go').exists():\n    time.sleep(0.1)\nprint('the', 'end')",
)
# of each lab its state, whether that is a preview, and its line
SEEN = """() => [...document.querySelectorAll('.flatviz[data-state]')].map((e) =>
  [e.dataset.state, e.dataset.shown, e.querySelector('.fv-reading').innerText])"""
DRAWN = "([n, shown]) => document.querySelectorAll(`.flatviz[data-shown=${shown}]`).length >= n"
STATE = "(state) => document.querySelector('.flatviz[data-state]').dataset.state === state"
TO_ZERO = "(e) => { e.value = 0; e.dispatchEvent(new Event('input', { bubbles: true })); }"
KERNEL = "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status"
LIMIT = 4 * WAIT
pytestmark = [mark.browser, mark.long, mark.timeout(LIMIT + 180)]


@fixture(scope="module")
def seen(browser, tmp_path_factory):
    """What the page shows of both labs while the last cell waits, and after it."""
    root = tmp_path_factory.mktemp("busy")
    cells = [
        dict(
            cell_type="code",
            metadata={},
            outputs=[],
            execution_count=None,
            id=f"c{i}",
            source=c,
        )
        for i, c in enumerate(CELLS)
    ]
    kernel = dict(name="python3", display_name="Python 3", language="python")
    book = dict(
        cells=cells,
        metadata=dict(kernelspec=kernel),
        nbformat=4,
        nbformat_minor=5,
    )
    (root / "busy.ipynb").write_text(json.dumps(book), encoding="utf-8")
    with jupyterlab(root) as base, limited(LIMIT):
        page, _, errors = watched(browser.new_context(viewport=dict(width=1280, height=900)), base)
        page.goto(f"{base}/lab/tree/busy.ipynb?reset")
        wait = lambda truth, given=None: page.wait_for_function(truth, arg=given, polling=500)
        wait("() => window.jupyterapp?.shell?.currentWidget?.content?.widgets")
        page.evaluate(f"() => {{ window.ended = ({RUN_ALL})(); }}")
        wait(DRAWN, [1, "preview"])
        found = {"rough": page.evaluate(SEEN), "errors": errors}
        wait(DRAWN, [2, "fitted"])
        found["whole"] = page.evaluate(SEEN)
        view = page.locator(".flatviz[data-state]").first
        view.get_by_label("ensemble size", exact=True).fill("7")
        wait(STATE, "sabma/1/7")
        view.get_by_label("radius", exact=True).evaluate(TO_ZERO)
        wait(STATE, "sabma/0/7")
        found["kernel"] = page.evaluate(KERNEL), page.locator("text=the end").count()
        (root / "go").touch()
        found["cells"] = answer(page, "() => window.ended")
        wait("() => document.querySelectorAll('.flatviz-still img').length > 3")  # two of each lab
        answer(page, "async () => { await window.jupyterapp.commands.execute('docmanager:save'); }")
        found["saved"] = (root / "busy.ipynb").read_text(encoding="utf-8")
        page.context.close()
    return found


def exported(browser, text, folder):
    """What a reader sees of this notebook as HTML of nbconvert: text, and widths of pictures."""
    book = nbformat.reads(text, as_version=4)
    html, _ = HTMLExporter(require_js_url="", mathjax_url="").from_notebook_node(book)
    (folder / "book.html").write_text(html, encoding="utf-8")
    page, *_ = watched(browser.new_context(viewport=dict(width=1280, height=900)), "file:")
    page.goto((folder / "book.html").as_uri(), wait_until="domcontentloaded")
    widths = (
        "() => [...document.images].filter((i) => i.checkVisibility()).map((i) => i.naturalWidth)"
    )
    found = page.locator("body").inner_text(), page.evaluate(widths)
    page.context.close()
    return found


def test_both_labs_are_drawn_and_their_sliders_move_while_a_later_cell_runs(seen):
    assert seen["kernel"] == ("busy", 0)
    assert [shown for _, shown, _ in seen["whole"]] == ["fitted"] * 2
    assert seen["cells"] == []
    assert not seen["errors"]


def test_a_rough_picture_comes_first_and_says_that_it_is_one(seen):
    state, shown, line = seen["rough"][0]
    assert shown == "preview"
    assert state.startswith("sabma/1/")
    assert "rough: few of 150 steps" in line
    assert not any("rough" in line for *_, line in seen["whole"])


def test_no_message_of_the_kernel_is_saved_with_the_notebook(seen):
    assert '"the end' in seen["saved"]
    assert "post 0" not in seen["saved"]
    assert "plotly.js v" not in seen["saved"]


def test_a_saved_notebook_shows_the_last_picture_of_each_lab_without_its_kernel(
    seen, browser, tmp_path
):
    text, widths = exported(browser, seen["saved"], tmp_path)
    assert text.count("The last picture. Run the cell again for the live one.") == 2
    assert len(widths) == 4
    assert min(widths) > 200  # two of each; the second stands in a third
    assert text.count("SA-BMA, radius") >= 2


def test_a_saved_notebook_opened_again_in_jupyterlab_shows_the_last_pictures_until_it_is_run(
    seen, browser, tmp_path
):
    (tmp_path / "busy.ipynb").write_text(seen["saved"], encoding="utf-8")
    with jupyterlab(tmp_path) as base:
        page, *_ = watched(browser.new_context(viewport=dict(width=1280, height=2400)), base)
        page.goto(f"{base}/lab/tree/busy.ipynb?reset")
        page.wait_for_selector("text=The last picture.")
        notes = page.locator("text=The last picture. Run the cell again for the live one.").count()
        live = page.locator(".flatviz[data-state]").count()
        widths = page.evaluate(
            "() => [...document.querySelectorAll('.flatviz-still img')].map((i) => i.naturalWidth)"
        )
        page.context.close()
    assert notes == 2
    assert live == 0
    assert len(widths) == 4
    assert min(widths) > 200


def test_a_notebook_that_a_command_ran_says_how_to_see_the_lab_and_holds_no_front_end(
    browser, tmp_path
):
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(c) for c in (*CELLS[:2], "first.wait(300)")],
        metadata=dict(
            kernelspec=dict(
                name="python3",
                display_name="Python 3",
                language="python",
            )
        ),
    )
    nbformat.write(book, tmp_path / "book.ipynb")
    papermill.execute_notebook(
        tmp_path / "book.ipynb", tmp_path / "ran.ipynb", progress_bar=False, cwd=tmp_path
    )
    ran = (tmp_path / "ran.ipynb").read_text(encoding="utf-8")
    assert "plotly.js v" not in ran
    assert len(ran) < 100_000
    text, widths = exported(browser, ran, tmp_path)
    assert "open this notebook in JupyterLab and run the cell" in text
    assert not widths
