"""`flatviz run`: parameters reach the notebook, its page needs no network, and what is wrong is one line."""

import json

import jupytext
import pytest

import flatviz.cli.run

TOY = """
# %% [markdown]
# # Toy
#
# Does it run? See [another](other.ipynb).

# %% tags=["parameters"]
RUN = False
SAVE = ""
SEEDS = 2
DEVICE = "cpu"

# %%
import plotly.express as px

if SEEDS > 99:
    raise ValueError(f"seeds must be below 100, got {SEEDS}")
print("run", RUN, "seeds", SEEDS, "device", DEVICE)
if SAVE:
    open(SAVE, "w").write("a table")

# %%
px.line(x=[1, 2, 3], y=[3.5, 1.25, SEEDS])
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A folder of notebooks with one experiment; a place to write to."""
    folder = tmp_path / "notebooks" / "experiments"
    folder.mkdir(parents=True)
    notebook = jupytext.reads(TOY, fmt="py:percent")
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    jupytext.write(notebook, folder / "toy.ipynb")
    monkeypatch.setattr(flatviz.cli.run, "folder_of_notebooks", lambda: folder.parent)
    return tmp_path / "out"


def test_parameters_reach_the_notebook_and_its_page_draws_without_network(toy, printed, browser):
    page, table = toy / "toy.html", toy / "toy.csv"
    words = "run", "toy", "-p", "seeds=7", "--device", "auto", "--out", page, "--table", table
    assert "run True seeds 7 device auto" in printed(*words).out and table.read_text() == "a table"
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_offline(True)
    seen, errors, asked = context.new_page(), [], []
    seen.on("pageerror", lambda error: errors.append(str(error)))
    seen.on("request", lambda request: asked.append(request.url))
    seen.goto(page.as_uri())
    seen.wait_for_selector(".js-plotly-plot .main-svg")
    text = seen.inner_text("body")
    assert "See another." in text and not seen.locator("a[href$='.ipynb']").count() and "import plotly" not in text  # no code
    assert seen.evaluate("[...document.querySelector('.js-plotly-plot')._fullData[0].y]") == [3.5, 1.25, 7]
    assert not errors and all(url.startswith(("file:", "data:", "blob:")) for url in asked)
    context.close()


def test_stored_reads_the_table_and_without_a_name_the_experiments_are_listed_with_their_parameters(toy, printed):
    assert "run False seeds 5 device cpu" in printed("run", "toy", "--stored", "--seeds", 5).out
    assert printed("run").out == 'toy: run=False, save="", seeds=2, device="cpu"\n'


@pytest.mark.parametrize(("words", "text"), [
    (["toy", "-p", "draws=3"], "NAME one of save, seeds, device for toy, got 'draws=3'"),
    (["toy", "-p", "seeds"], "a parameter must be NAME=VALUE with NAME one of save, seeds, device for toy, got 'seeds'"),
    (["toy", "--data", "moons"], "NAME one of save, seeds, device for toy, got 'data=moons'"),
    (["toi"], "NAME must be one of 'toy', got 'toi': did you mean 'toy'?"),
    (["toy", "-p", "seeds=100"], "toy, cell 3: ValueError: seeds must be below 100, got 100"),
])  # fmt: skip
def test_what_is_wrong_is_one_line(toy, words, text, printed):
    assert printed("run", *words, status=1).err.strip().splitlines()[-1].endswith(text)


def test_values_are_numbers_truth_or_text():
    known = dict.fromkeys(("A", "B", "C", "D"), "")
    found = flatviz.cli.run.parsed(["a=1", "b=0.5", "c=true", "d=image-folder:/x=y"], known, "toy")
    assert found == {"A": 1, "B": 0.5, "C": True, "D": "image-folder:/x=y"} and json.dumps(found)


@pytest.mark.long
def test_no_module_of_the_current_folder_is_run(tmp_path, monkeypatch):
    (tmp_path / "colorsys.py").write_text("raise SystemExit('code of the current folder')")
    notebook = jupytext.reads("import colorsys\n\nprint(colorsys.__file__)", fmt="py:percent")
    jupytext.write(notebook, tmp_path / "toy.ipynb")
    monkeypatch.chdir(tmp_path)
    flatviz.cli.run.executed(tmp_path / "toy.ipynb", {})
