"""The playground and the lab in a real JupyterLab, moved by real key presses: arrows move sliders, and no key reaches the notebook."""

import nbformat
import pytest
from browsing import RUN_ALL, SLOW, answer, jupyterlab, watched

SOURCES = [
    "import torch, flatviz as fv",
    "fv.playground(worlds=['weights'])",
    """data = fv.datasets.moons_transfer(seed=0)
module = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
pairs = [(d.x, d.y) for d in (data.source, data.test)]
fv.lab(module, *pairs, radii={"sabma": (0.0, 0.5)}, progress=False)""",
    "1 + 1",
]
STANDING = """() => { const nb = window.jupyterapp.shell.currentWidget.content;
  return { cells: nb.widgets.length, active: nb.activeCellIndex, mode: nb.mode }; }"""


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """The notebook, run."""
    root = tmp_path_factory.mktemp("root")
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = nbformat.v4.new_notebook(metadata=kernel, cells=[nbformat.v4.new_code_cell(source) for source in SOURCES])
    nbformat.write(notebook, root / "play.ipynb")
    with jupyterlab(root) as base:
        page, _, errors = watched(browser.new_context(viewport={"width": 1280, "height": 900}), base)
        page.goto(f"{base}/lab/tree/play.ipynb?reset")
        page.wait_for_function("() => window.jupyterapp?.shell?.currentWidget?.content?.widgets?.length > 0")
        assert answer(page, RUN_ALL) == []
        page.met = errors
        yield page


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.parametrize("view, label", [(".pg", "radius of SA-BMA"), (".flatviz[data-state]", "ensemble size")])
def test_keys_move_the_slider_and_leave_the_notebook_alone(page, view, label):
    slider = page.locator(view).get_by_label(label, exact=True)
    slider.scroll_into_view_if_needed(timeout=SLOW)
    slider.focus()
    before, value = page.evaluate(STANDING), float(slider.input_value())
    for key in ("ArrowLeft", "ArrowLeft", "ArrowDown", "b", "a", "j", "k"):
        page.keyboard.press(key)
    page.wait_for_timeout(300)
    assert float(slider.input_value()) == value - 3  # ArrowDown lowers a slider as well
    assert page.evaluate(STANDING) == before
    assert slider.evaluate("(e) => e === document.activeElement")
    assert page.met == []
