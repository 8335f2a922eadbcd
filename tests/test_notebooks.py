"""The notebooks run in their small form and have the form of a chapter; what the site shows of a
cell."""

import ast
import asyncio
import dis
import inspect
import json
import re
from pathlib import Path
from queue import Empty

import nbformat
from cases import refused
from course import CHAPTERS, NO_ALT, NOTEBOOKS, CellError, Channel, executed, name, run
from internals import main
from pytest import mark, raises

import flatviz as fv
from flatviz.site import CONTENTS, EXPERIMENTS, read, with_blanks

ROOT = Path(__file__).resolve().parent.parent


@mark.long
@mark.parametrize("path", NOTEBOOKS, ids=name)
def test_the_notebook_runs_in_its_small_form(path):
    cells = executed(path).cells
    shown = [
        o.data.get("text/html", "")
        for c in cells
        if c.cell_type == "code"
        for o in c.outputs
        if "data" in o
    ]
    silent = [
        text[:200] for text in shown if f'aria-label="{NO_ALT}"' in text or 'aria-label=""' in text
    ]
    assert not silent, (
        "a figure needs words: flatviz.plots.theme.figure(title, alt), or layout.meta['alt']"
    )


@mark.parametrize("path", CHAPTERS, ids=name)
def test_no_cell_of_a_chapter_stops_after_a_readers_change(path):
    """`fv.expect` says there what has become of the text, and is an assertion where these run."""
    source = (ROOT / "notebooks" / "src" / f"{path.stem}.py").read_text(encoding="utf-8")
    stops = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Assert)]
    assert not stops, f"line {stops[0].lineno}: write fv.expect(value, text)"


def test_no_notebook_has_the_same_cell_twice():
    for path in NOTEBOOKS:
        cells = [c.source for c in nbformat.read(path, as_version=4).cells if "\n" in c.source]
        assert len(set(cells)) == len(cells), path.name


def statements(code):
    """Count the statements that are no block of others."""
    found = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.stmt)]
    return sum(not hasattr(node, "body") for node in found)


@mark.parametrize("path", CHAPTERS, ids=name)
def test_the_notebook_has_the_form_of_a_chapter(path):
    cells = nbformat.read(path, as_version=4).cells
    head = cells[0].source
    assert head.startswith("# ") and "**Takes** " in head, (
        "the first cell: a title, and after **Takes** the minutes"
    )
    if any(c.cell_type == "code" for c in cells):
        assert cells[1].metadata.get("tags") == ["parameters"]
        assert cells[1].source.startswith("FAST = False")
    levels = [
        len(m)
        for c in cells
        if c.cell_type == "markdown"
        for m in re.findall(r"^(#+) ", c.source, re.M)
    ]
    assert levels.count(1) == 1 and all(b <= a + 1 for a, b in zip(levels, levels[1:])), (
        "one title; no level is skipped"
    )
    for cell in cells:
        if cell.cell_type == "code":
            assert statements(cell.source) <= 6, (
                f"a cell has at most six statements:\n{cell.source}"
            )


@mark.parametrize("path", CHAPTERS, ids=name)
def test_the_students_version_has_a_blank_for_each_exercise_and_needs_no_line_of_a_solution(path):
    chapter = read(path)
    student = with_blanks(chapter)
    text = "\n".join(c.source for c in student.cells if c.cell_type == "markdown")
    exercises = "\n".join(c.source for c in chapter.cells if c.cell_type == "markdown")
    exercises = re.findall(
        r"^\*\*\d+\.\*\* ", exercises.partition("\n## Exercises\n")[2], re.MULTILINE
    )
    assert (
        text.count("*Your answer:*")
        == len(exercises)
        == [c.source for c in student.cells].count("# your code")
        > 1
    )
    assert "Solution" not in text
    assert nbformat.validate(student) is None
    kept = [c.source for c in student.cells if c.cell_type == "code"]
    gone = [c.source for c in chapter.cells if c.cell_type == "code" and c.source not in kept]
    (set_there, _) = mentioned(gone)
    (set_here, read_here) = mentioned(kept)
    assert gone
    assert not (set_there - set_here) & read_here


def mentioned(cells):
    """The names that these lines of code set, arguments of functions and imports among them, and
    those that they read."""
    lines = "\n".join(
        line for cell in cells for line in cell.splitlines() if not line.startswith("%")
    )
    nodes = list(ast.walk(ast.parse(lines)))
    stored, loaded = (
        {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, k)}
        for k in (ast.Store, ast.Load)
    )
    imported = {n.asname or n.name for n in nodes if isinstance(n, ast.alias)}
    return stored | imported | {n.arg for n in nodes if isinstance(n, ast.arg)}, loaded


def test_the_table_of_contents_links_every_chapter():
    table = (
        nbformat.read(next(p for p in NOTEBOOKS if p.stem == CONTENTS), as_version=4)
        .cells[0]
        .source
    )
    course = [p.name for p in NOTEBOOKS if p.stem != CONTENTS and p.parent.name != EXPERIMENTS]
    assert course == re.findall(r"\]\((\w+\.ipynb)\)", table)


def test_every_plot_has_its_picture_in_the_gallery():
    source = (ROOT / "notebooks" / "src" / "gallery.py").read_text(encoding="utf-8")
    entries = re.findall(r"^# ## ([a-z]\w+)$", source, re.M)
    plots = {n for n in (*dir(fv.plots), "plot_view") if n.startswith(("plot_", "animate_"))}
    assert plots <= set(entries), "add it to notebooks/src/gallery.py"
    for entry in entries:
        code = source.split(f"# ## {entry}\n")[1].split("# %%\n")[1].split("\n# %%")[0]
        assert f".{entry}(" in code and statements(code) <= 6, entry


def cell(source, tags=()):
    return nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)})


def test_a_run_keeps_what_cells_print_return_and_display():
    display = "from IPython.display import display, HTML\ndisplay(HTML('<b>b</b>'))\nx;"
    notebook = nbformat.v4.new_notebook(cells=[cell("print('a')\nx = 2\nx + 1"), cell(display)])
    assert run(notebook, "n") > 0
    first, second = (c.outputs for c in notebook.cells)
    assert first[0].text == "a\n"
    assert first[1].data["text/plain"] == "3"
    assert len(first) == 2
    assert second[0].data["text/html"] == "<b>b</b>"
    assert len(second) == 1


def test_names_of_one_notebook_are_unknown_to_the_next():
    run(nbformat.v4.new_notebook(cells=[cell("x = 1")]), "one")
    with refused(r"two, code cell 1: NameError: name 'x' is not defined\n    x", CellError):
        run(nbformat.v4.new_notebook(cells=[cell("x")]), "two")


def test_an_interact_is_one_element_with_a_picture_at_every_stop():
    cells = [
        cell("import ipywidgets, plotly.graph_objects as go"),
        cell("look = lambda a, way: go.Figure(go.Scatter(x=[0, a], y=[0, 1], name=way))"),
        cell("_ = ipywidgets.interact(look, a=(0, 100), way=['up', 'down'])"),
        cell("_ = ipywidgets.interact(lambda a: 1 / 0 if a == 3 else go.Figure(), a=(0, 3))"),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    # The widget itself would have hidden it
    with refused("ZeroDivisionError", CellError):
        run(notebook, "n")
    (shown,) = notebook.cells[2].outputs
    data = json.loads(
        re.search(r'<script type="application/json">(.*)</script>', shown.data["text/html"])[1]
    )
    stops = [float(label) for label in data["controls"][0]["labels"]]
    assert stops[0] == 0
    assert stops[-1] == 100
    assert 50 in stops
    assert len(data["figures"]) == 2 * len(stops) <= 42
    assert [f["data"][0]["x"][1] for f in data["figures"]] == [s for s in stops for _ in "ud"]
    assert stops[data["controls"][0]["start"]] == 50
    assert data["controls"][1]["labels"] == [
        "up",
        "down",
    ]


def test_a_small_run_says_so_in_the_parameters_cell(tmp_path):
    path = tmp_path / "x.ipynb"
    nbformat.write(
        nbformat.v4.new_notebook(cells=[cell("FAST = False  # small", ["parameters"])]), path
    )
    assert read(path).cells[0].source == "FAST = False  # small"
    assert read(path, fast=True).cells[0].source == "FAST = True  # small"


def test_the_command_prints_the_time_of_each_notebook_and_which_failed(capsys, monkeypatch):
    assert main(["docs", "--run", "--fast", "contents"]) == 0
    assert re.search(r"^contents +\d+\.\d s$", capsys.readouterr().out, re.M)
    assert main(["docs", "--run", "nothing"]) == 1
    assert "a notebook must be one of contents, 00_tour" in capsys.readouterr().err


def parts(code):
    """The functions that a compiled cell or function defines."""
    return [inner for inner in code.co_consts if inspect.iscode(inner)]


def names(code, operation):
    return {step.argval for step in dis.get_instructions(code) if step.opname == operation}


def read_by(code, known, seen=frozenset()):
    """Names of the notebook that a function reads, with those that the functions it calls read."""
    read = names(code, "LOAD_GLOBAL").union(
        *(read_by(inner, known, seen) for inner in parts(code)), set()
    )
    return read.union(
        *(read_by(known[n], known, seen | read) for n in (read - seen) & known.keys()), set()
    )


@mark.parametrize("path", NOTEBOOKS, ids=name)
def test_no_later_cell_gives_another_value_to_what_a_slider_reads(path):
    cells = [c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    compiled = [compile(source, "cell", "exec") for source in cells]
    known = {}
    for i, source in enumerate(cells):
        known |= {code.co_name: code for code in parts(compiled[i])}
        for called in re.findall(r"ipywidgets\.interact\((\w+)", source):
            later = set().union(*(names(code, "STORE_NAME") for code in compiled[i + 1 :]))
            assert not read_by(known[called], known) & later, (
                f"{called} moves later with another value: give that another name"
            )


class Signalless:
    """A socket with a message whose signal is lost: only who asks anew is told of it."""

    def __init__(self):
        self.polls = 0

    async def poll(self, _):
        self.polls += 1
        return self.polls > 1

    async def recv_multipart(self):
        return "the reply"


def test_a_reply_whose_signal_is_lost_is_found(monkeypatch):
    channel = Channel.__new__(Channel)
    channel.socket = Signalless()
    monkeypatch.setattr(Channel, "_recv", lambda self: self.socket.recv_multipart())
    assert asyncio.run(channel.get_msg()) == "the reply"
    channel.socket = Signalless()
    with raises(Empty):
        asyncio.run(channel.get_msg(timeout=0))
