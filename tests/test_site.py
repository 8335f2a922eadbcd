"""The notebooks run in their small form and have the form of a chapter; the site made of them works without network."""

import functools
import html
import http.server
import importlib.util
import inspect
import json
import os
import re
import tempfile
import threading
import urllib.parse
from pathlib import Path

import nbformat
import pytest
import torch
from browsing import CHROMIUM, watched

import flatviz as fv
from flatviz.cli import main
from flatviz.cli.docs import SMALL_TOUR, evidence_page
from flatviz.core.seeds import saved_rng
from flatviz.pages.views import VIEWS
from flatviz.posteriors import METHODS
from flatviz.site.build import build, for_site
from flatviz.site.run import CellError, run
from flatviz.site.shown import family_html
from flatviz.site.slides import write_slides
from flatviz.site.source import CONTENTS, notebooks, read
from flatviz.storage.committed import committed
from flatviz.studies.source_claims import read_claims
from flatviz.studies.tour import run_tour

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = notebooks()
CHAPTERS = [p for p in NOTEBOOKS if re.fullmatch(r"\d\d|[A-Z]", p.stem.split("_")[0])]
IN_LAB = "00_tour"  # with a browser, tests/widgets/test_in_jupyterlab.py runs it in a kernel, and looks


def name(path):
    return path.stem


def executed(path, done={}):  # noqa: B006  one run serves the test of the notebook and the site
    if path.stem not in done:
        notebook, threads, before = read(path, fast=True), torch.get_num_threads(), Path.cwd()
        try:
            with saved_rng(), tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)  # what a cell writes is left there
                run(notebook, path.stem)
                done[path.stem] = notebook
        finally:
            os.chdir(before)
            torch.set_num_threads(threads)
    return done[path.stem]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_the_notebook_runs_in_its_small_form(path):
    cells = executed(path).cells
    shown = [o.data.get("text/html", "") for c in cells if c.cell_type == "code" for o in c.outputs if "data" in o]
    assert not [text[:200] for text in shown if 'aria-label=""' in text], "every figure has words: layout.meta['alt']"


@pytest.mark.skipif(CHROMIUM is not None, reason="the browser's JupyterLab runs it")
def test_the_tour_runs_in_a_kernel(monkeypatch):
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))
    notebook = read(next(p for p in NOTEBOOKS if p.stem == IN_LAB), fast=True)
    NotebookClient(notebook, timeout=1800, kernel_name="python3").execute()
    assert all(c.execution_count for c in notebook.cells if c.cell_type == "code")


@pytest.mark.parametrize("path", CHAPTERS, ids=name)
def test_the_notebook_has_the_form_of_a_chapter(path):
    cells = nbformat.read(path, as_version=4).cells
    head = cells[0].source
    assert head.startswith("# ") and "**Takes** " in head, "the first cell: a title, and after **Takes** the minutes"
    if any(c.cell_type == "code" for c in cells):
        assert cells[1].metadata.get("tags") == ["parameters"] and cells[1].source.startswith("FAST = False")
    levels = [len(m) for c in cells if c.cell_type == "markdown" for m in re.findall(r"^(#+) ", c.source, re.M)]
    assert levels.count(1) == 1 and all(b <= a + 1 for a, b in zip(levels, levels[1:])), "one title; no level is skipped"
    for cell in cells:
        if cell.cell_type == "code":
            lines = [line for line in cell.source.splitlines() if line.strip()]
            assert len(lines) <= 6, f"a cell has at most six lines, got {len(lines)}:\n{cell.source}"


def test_the_table_of_contents_links_every_chapter():
    table = nbformat.read(next(p for p in NOTEBOOKS if p.stem == CONTENTS), as_version=4).cells[0].source
    assert [p.name for p in NOTEBOOKS if p.stem != CONTENTS] == re.findall(r"\]\((\w+\.ipynb)\)", table)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_every_mention_of_a_chapter_is_a_link_to_it(path):
    text = "\n".join(c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "markdown")
    text = text.replace("Matrix Computations, 4th edition, chapter 10", "")  # of another book
    assert not re.findall(r"(?<!\[)\b[Cc]hapters? (?:\d\d|[A-C])\b", text), "write [chapter NN](NN_name.ipynb)"
    for number, target in re.findall(r"\[(?:[Cc]hapter )?(\d\d|[A-C])\]\((\w+)\.ipynb\)", text):
        assert target.startswith(f"{number}_") and path.with_name(f"{target}.ipynb").exists()


def test_the_lesson_names_sliders_tabs_and_claims_that_there_are():
    text = nbformat.read(next(p for p in NOTEBOOKS if p.stem == "lesson"), as_version=4).cells[0].source
    tabs = set(re.findall(r"tab \**(\w+)\**", text))
    assert tabs and tabs <= {view.group for view in VIEWS}
    radii = METHODS["sabma"].plain.tour
    assert "radius** 0" in text and f"to {radii[-1]:g}" in text and "ten stops" in text and len({0.0, *radii}) == 10
    claims = {c.name: c.verdict for c in reversed(read_claims(committed("claims.json")))}  # of T5 the first row: NLL
    assert len({claims[f"SA-BMA {row}"] for row in ("T4", "T5", "T6")}) == 3, "three rows, three different verdicts"


def test_a_link_to_a_notebook_that_is_not_built_is_its_text():
    source = "See [chapter 03](03_curvature.ipynb) and [this](00_tour.ipynb)."
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(source)])
    assert for_site(notebook, "x", ["x", "00_tour"]).cells[0].source == "See chapter 03 and [this](00_tour.ipynb)."


def test_every_plot_has_its_picture_in_the_gallery():
    source = (ROOT / "notebooks" / "src" / "gallery.py").read_text(encoding="utf-8")
    entries = re.findall(r"^# ## ([a-z]\w+)$", source, re.M)
    assert {n for n in fv.__all__ if n.startswith(("plot_", "animate_"))} <= set(entries), "add it to notebooks/src/gallery.py"
    for name in entries:
        code = source.split(f"# ## {name}\n")[1].split("# %%\n")[1].split("\n# %%")[0]
        assert f"fv.{name}(" in code and len(code.strip().splitlines()) <= 6, name


def cell(source, tags=()):
    return nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)})


def test_a_run_keeps_what_cells_print_return_and_display():
    notebook = nbformat.v4.new_notebook(
        cells=[
            cell("print('a')\nx = 2\nx + 1"),
            cell("from IPython.display import display, HTML\ndisplay(HTML('<b>b</b>'))\nx;"),
        ]
    )
    assert run(notebook, "n") > 0
    first, second = (c.outputs for c in notebook.cells)
    assert first[0].text == "a\n" and first[1].data["text/plain"] == "3" and len(first) == 2
    assert second[0].data["text/html"] == "<b>b</b>" and len(second) == 1


def test_names_of_one_notebook_are_unknown_to_the_next():
    run(nbformat.v4.new_notebook(cells=[cell("x = 1")]), "one")
    with pytest.raises(CellError, match=r"two, code cell 1: NameError: name 'x' is not defined\n    x"):
        run(nbformat.v4.new_notebook(cells=[cell("x")]), "two")


def test_a_figure_is_an_element_with_its_words_and_data():
    cells = [
        cell("import flatviz as fv, torch\nq = fv.Draws(torch.eye(3))"),
        cell("p = fv.project(q.W, fv.plane_pca(q.W))\nfv.plot_projection(p)"),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    run(notebook, "n")
    (shown,) = notebook.cells[1].outputs
    assert 'class="fv-figure" role="group" aria-label="' in shown.data["text/html"] and '"data":' in shown.data["text/html"]


def test_an_interact_is_one_element_with_a_picture_at_every_stop():
    cells = [
        cell("import ipywidgets, plotly.graph_objects as go"),
        cell("look = lambda a, way: go.Figure(go.Scatter(x=[0, a], y=[0, 1], name=way))"),
        cell("_ = ipywidgets.interact(look, a=(0, 100), way=['up', 'down'])"),
        cell("_ = ipywidgets.interact(lambda a: 1 / 0 if a == 3 else go.Figure(), a=(0, 3))"),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    with pytest.raises(CellError, match="ZeroDivisionError"):  # the widget itself would have hidden it
        run(notebook, "n")
    (shown,) = notebook.cells[2].outputs
    data = json.loads(re.search(r'<script type="application/json">(.*)</script>', shown.data["text/html"])[1])
    stops = [float(label) for label in data["controls"][0]["labels"]]
    assert stops[0] == 0 and stops[-1] == 100 and 50 in stops and len(data["figures"]) == 2 * len(stops) <= 42
    assert [f["data"][0]["x"][1] for f in data["figures"]] == [s for s in stops for _ in "ud"]
    assert stops[data["controls"][0]["start"]] == 50 and data["controls"][1]["labels"] == ["up", "down"]


def test_the_parameters_cell_shrinks_the_run_and_must_say_so(tmp_path):
    path = tmp_path / "x.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell("FAST = False  # small", ["parameters"])]), path)
    assert read(path).cells[0].source == "FAST = False  # small"
    assert read(path, fast=True).cells[0].source == "FAST = True  # small"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell("QUICK = 1", ["parameters"])]), path)
    with pytest.raises(ValueError, match="must say FAST = False once"):
        read(path)


def test_the_command_prints_the_time_of_each_notebook_and_which_failed(capsys, monkeypatch):
    assert main(["docs", "--run", "--fast", "contents"]) == 0
    assert re.search(r"^contents +\d+\.\d s$", capsys.readouterr().out, re.M)
    assert main(["docs", "--run", "nothing"]) == 1
    assert "a notebook must be one of contents, 00_tour" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------ the site


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, of small runs of all notebooks."""
    out = tmp_path_factory.mktemp("site")
    family = run_tour(**SMALL_TOUR).family
    live = family_html(family, start=("sabma", 1.0, 3))
    warnings = build({p.stem: executed(p) for p in NOTEBOOKS}, {"evidence.md": evidence_page()}, live, out)
    assert not warnings
    return out


def pages(site):
    return sorted(p for p in site.rglob("*.html") if "_static" not in p.parts)


def test_no_page_loads_anything_from_another_host(site):
    for path in [*pages(site), *site.rglob("*.css")]:
        text = path.read_text(encoding="utf-8")
        loaded = re.findall(r"""(?:src=|<link[^>]+href=|url\(|@import )["']?(https?:)?//[^"')]+""", text)
        assert not loaded, path


def test_every_link_inside_the_site_leads_somewhere(site):
    ids = {p: set(re.findall(r"""\bid=["']([^"']+)["']""", p.read_text(encoding="utf-8"))) for p in pages(site)}
    for path in ids:
        for link in re.findall(r"""<a [^>]*?href=["']([^"']*)["']""", path.read_text(encoding="utf-8")):
            if re.match(r"\w+:", link):
                continue
            file, _, anchor = html.unescape(link).partition("#")
            target = (path.parent / file).resolve() if file else path
            assert target.exists(), f"{path.name}: {link}"
            if anchor and target in ids:
                assert urllib.parse.unquote(anchor) in ids[target], f"{path.name}: {link}"


def test_every_public_name_stands_in_the_reference(site):
    text = "".join(p.read_text(encoding="utf-8") for p in (site / "reference").glob("*.html"))
    names = [n for n in fv.__all__ if inspect.isfunction(v := getattr(fv, n)) or inspect.isclass(v)]
    missing = [n for n in names if f">{n}<" not in text]
    assert len(names) > 100 and not missing


WIDE = "() => document.documentElement.scrollWidth - innerWidth"
LOOK = """async () => {
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const open = () => [...document.querySelectorAll('.fv-figure, .fv-live, .fv-lab, .math')].filter((e) =>
    !('drawn' in e.dataset) || (!e.classList.contains('math') && !e.querySelector('.main-svg')));
  for (const node of document.querySelectorAll('.fv-figure, .fv-live, .fv-lab')) { node.scrollIntoView(); await wait(30); }
  for (let i = 0; i < 400 && open().length; i++) { open()[0].scrollIntoView(); await wait(50); }
  const wide = document.documentElement.scrollWidth - innerWidth;
  return { undrawn: open().length, wide, formulas: document.querySelectorAll('.katex-error').length };
}"""
AXE = """async () => (await axe.run({ resultTypes: ['violations'], preload: false })).violations
  .filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => [v.id, v.nodes[0].html.slice(0, 200), v.nodes.length])"""
SCHEMES = ("light", "dark")


@pytest.fixture(scope="module")
def visited(site, browser):
    """Page -> what was seen in a wide and in a narrow window, from the disk, the browser offline.

    axe, which takes the most time, looks at the first page, every third other and one of the reference, in the light and the
    dark scheme by turns; the slow test below at all pages in both.
    """
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_offline(True)
    seen = {}
    for i, path in enumerate(pages(site)):
        page, foreign, errors = watched(context, "file:")
        page.on("console", lambda m, errors=errors: errors.append(m.text) if m.type == "error" else None)
        page.emulate_media(color_scheme=SCHEMES[i % 2])
        page.goto(path.as_uri(), wait_until="load")
        look = page.evaluate(LOOK)
        page.set_viewport_size({"width": 400, "height": 900})
        page.wait_for_timeout(500)  # the theme looks after a moment at what scrolls now
        look |= {"wide on a phone": page.evaluate(WIDE), "foreign": foreign, "errors": errors}
        look["faults"] = faults(page) if path.stem in ("index", "engine") or (path.parent == site and i % 3 == 0) else []
        seen[str(path.relative_to(site))] = look
        page.close()
    context.close()
    return seen


def faults(page):
    """What axe finds serious or critical."""
    package = Path(importlib.util.find_spec("axe_playwright_python").origin)
    page.evaluate(package.with_name("axe.min.js").read_text(encoding="utf-8"))
    return page.evaluate(AXE)


@pytest.mark.browser
@pytest.mark.parametrize(
    ("what", "none"),
    [
        ("errors", []),
        ("foreign", []),
        ("undrawn", 0),
        ("formulas", 0),
        ("wide", 0),
        ("wide on a phone", 0),
        ("faults", []),
    ],
)
def test_every_page_is_whole_without_network(visited, what, none):
    assert not {where: look[what] for where, look in visited.items() if look[what] != none}


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_no_serious_fault_on_any_page_in_either_scheme(site, browser, scheme):
    page = browser.new_context(color_scheme=scheme).new_page()
    found = {}
    for path in pages(site):
        page.goto(path.as_uri(), wait_until="load")
        page.evaluate(LOOK)
        found[path.name] = faults(page)
    assert not {name: what for name, what in found.items() if what}


@pytest.mark.browser
def test_the_search_finds_a_word_of_a_chapter(site, browser):
    handler = functools.partial(Quiet, directory=str(site))  # a search reads pages, which a browser allows of a server only
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}/"
        page, foreign, errors = watched(browser, base)
        page.goto(f"{base}search.html?q=mixing+desk")
        page.locator("#search-results a[href*='01_network_is_a_vector']").first.wait_for()
        assert not foreign and not errors
        page.close()
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        """Nothing is printed."""


@pytest.mark.browser
def test_slides_turn_by_keys_and_draw_their_figures_without_network(site, browser):
    (path,) = write_slides(site, ["01_network_is_a_vector"])
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_offline(True)
    page, foreign, errors = watched(context, "file:")
    page.goto(path.as_uri())
    count = page.evaluate("slides.length")
    assert count > 10 and page.locator(".slide:not([hidden]) h1").count() == 1
    drawn = 0
    for i in range(1, count):
        page.keyboard.press("ArrowRight")
        shown = page.locator(".slide:not([hidden])")
        assert shown.get_attribute("aria-label") == f"slide {i + 1} of {count}"
        assert shown.locator("h2, h3").count() >= 1 and len(shown.inner_text()) > 20
        for figure in shown.locator(".fv-figure").all():
            figure.locator(".main-svg").first.wait_for()
            drawn += 1
    assert drawn and not foreign and not errors and not faults(page)
    context.close()


@pytest.mark.browser
def test_the_sliders_of_the_first_page_move_the_pictures_without_python(site, browser):
    page, _, errors = watched(browser, "file:")
    page.goto((site / "index.html").as_uri())
    view = page.locator(".flatviz[data-state]")
    view.wait_for()
    view.get_by_role("slider", name="ensemble size", exact=True).fill("5")
    page.wait_for_function("() => document.querySelector('.flatviz').dataset.state === 'sabma/1/5'")
    view.get_by_role("slider", name="radius", exact=True).fill("0")
    page.wait_for_function("() => document.querySelector('.flatviz').dataset.state === 'sabma/0/5'")
    assert not errors
    page.close()


@pytest.mark.browser
def test_the_sliders_of_an_interact_move_its_picture_without_python(site, browser):
    page, _, errors = watched(browser, "file:")
    page.goto(next(site.rglob("03_curvature.html")).as_uri())
    node = page.locator(".fv-live")
    node.scroll_into_view_if_needed()
    page.wait_for_selector(".fv-live[data-drawn] .main-svg")
    title = lambda: page.evaluate("document.querySelector('.fv-live .js-plotly-plot').layout.title.text")  # noqa: E731
    before = title()
    node.get_by_label("rank").fill("0")
    page.wait_for_function("(t) => document.querySelector('.fv-live .js-plotly-plot').layout.title.text !== t", arg=before)
    assert "v1" in title() and not errors
    page.close()
