"""The site works without network: links, search, formulas, figures, sliders, slides, on wide and
narrow windows.

A site with the results of two chapters is built and looked at here; each page of the whole one in
the tests marked slow. Every wait has a limit: see `answer` and `limited` in tests/browsing.py.
"""

import contextlib
import functools
import html
import http.server
import inspect
import re
import shutil
import threading
import urllib.parse

import nbformat
from browsing import answer, faults, in_page, limited, watched
from cases import text_of
from course import NOTEBOOKS, executed
from every_verb import public_names
from internals import bundled, run_tour
from nbformat.v4 import new_code_cell, new_output
from playwright.sync_api import TimeoutError
from plotly.offline import get_plotlyjs
from pytest import fixture, mark, param

import flatviz as fv
from flatviz.cli.docs import SMALL_TOUR
from flatviz.site.build import DOCS, build, in_columns
from flatviz.site.run import family_html

pytestmark = mark.long

FEW = ("contents", "01_network_is_a_vector", "03_curvature")
WITH_AXE = ("index", "playground", "03_curvature", "reference/engine")  # it takes the most time
LOOKED_AT = (
    *WITH_AXE,
    *FEW[:2],
    "install",
    "experiments/frontier",
    "search",
    "reference/objectives",
)


def made(folder, notebooks):
    """The site of these notebooks; Sphinx has nothing to say against it."""
    live = family_html(run_tour(settings=SMALL_TOUR).family, start=("sabma", 1.0, 3))
    warnings = build({p.stem: executed(p) for p in notebooks}, live, folder)
    assert not warnings
    return folder


@fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, two chapters with their results."""
    return made(tmp_path_factory.mktemp("site"), [p for p in NOTEBOOKS if p.stem in FEW])


@fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of the site of all notebooks, in their small form."""
    return made(tmp_path_factory.mktemp("whole"), NOTEBOOKS)


def pages(site):
    return sorted(p for p in site.rglob("*.html") if "_static" not in p.parts)


def name(path, site):
    """As an address in the site begins: reference/engine."""
    return path.relative_to(site).with_suffix("").as_posix()


@fixture(params=["site", param("whole", marks=[mark.slow, mark.timeout(3600)])])
def either(request):
    """Each of the two sites."""
    return request.getfixturevalue(request.param)


def test_no_page_loads_anything_from_another_host(either):
    for path in [*pages(either), *either.rglob("*.css")]:
        text = text_of(path)
        loaded = re.findall(
            r"""(?:src=|<link[^>]+href=|url\(|@import )["']?(https?:)?//[^"')]+""", text
        )
        assert not loaded, path


def test_every_link_inside_the_site_leads_somewhere(either):
    ids = {p: set(re.findall(r"""\bid=["']([^"']+)["']""", text_of(p))) for p in pages(either)}
    for path in ids:
        for link in re.findall(r"""<a [^>]*?href=["']([^"']*)["']""", text_of(path)):
            if re.match(r"\w+:", link):
                continue
            file, _, anchor = html.unescape(link).removesuffix("?slides").partition("#")
            target = (path.parent / file).resolve() if file else path
            assert target.exists(), f"{path.name}: {link}"
            if anchor and target in ids:
                assert urllib.parse.unquote(anchor) in ids[target], f"{path.name}: {link}"


def test_nothing_is_written_beside_the_site_and_the_playground_is_a_page_of_its_own(site):
    assert not (site.parent / "jupyter_execute").exists()
    assert "Plotly" not in text_of(site / "play.html")


def test_every_public_name_stands_in_the_reference(site):
    text = "".join(text_of(p) for p in (site / "reference").glob("*.html"))
    names = [
        n.removeprefix("fv.")
        for n, v in public_names().items()
        if inspect.isfunction(v) or inspect.isclass(v)
    ]
    missing = [n for n in names if f'id="flatviz.{n}"' not in text]
    assert len(names) > 100
    assert not missing


def test_the_first_page_begins_with_two_weights_and_is_small(site):
    text = text_of(site / "index.html")
    assert text.index('id="playground-weights"') < text.index('class="fv-lab"')
    assert len(text.encode()) < 2_000_000


def test_a_chapter_offers_itself_with_blanks(site):
    page = text_of(site / "03_curvature.html")
    given, blank = (
        nbformat.read(site / link, as_version=4)
        for link in re.findall(r'href="([^"]*03_curvature.ipynb)"', page)
    )
    said = ["\n".join(cell.source for cell in notebook.cells) for notebook in (given, blank)]
    assert ["Solution" in text for text in said] == [True, False]
    assert "# your code" in said[1]


@mark.parametrize("name", ["frontier", "reference", "coverage"])
def test_an_experiment_begins_with_question_and_finding_and_folds_the_rest(site, name):
    page = text_of(site / "experiments" / f"{name}.html")
    article = page[page.index("<article") : page.index("</article>")]
    open_part, *folded = article.split('<details class="fv-fold">')
    heads = re.findall(r"<h2>([^<]+)", re.sub(r"<details.*?</details>", "", article, flags=re.S))
    assert heads == ["In short", "What would change our mind"]
    assert open_part.index("Question.") < open_part.index("In short")
    assert len(folded) >= 2
    assert len(re.findall("<li>", open_part)) + open_part.count("<td") > 0


@mark.parametrize(
    "printed, table",
    [("name  a  b\nVI    1  2\n", True), ("loss 0.1 of VI\nloss  0.2\nand", False)],
)
def test_a_printed_table_keeps_its_columns_on_a_phone(printed, table):
    cell = new_code_cell("", outputs=[new_output("stream", text=printed)])
    assert in_columns(cell) is table


@mark.parametrize("page, link", [("contents", r"\d\d_\w+\.html"), ("gallery", r"#[\w-]+")])
def test_contents_and_gallery_have_thumbnails(site, page, link):
    text = text_of(site / f"{page}.html")
    shown = re.findall(rf'<a href="{link}"><img src="([^"]+)"', text)
    assert len(shown) >= 15
    assert all((site / source).exists() for source in shown)


WIDE = "() => document.documentElement.scrollWidth - innerWidth"
LOOK = in_page("look_at_a_page")
BROKEN = in_page("broken_words")
SCHEMES = ("light", "dark")
PAGE = 60  # seconds for one page; a tenth of that is usual on a busy machine


def looks(site, browser, paths, schemes=SCHEMES, axe=WITH_AXE):
    """Page -> what was seen in a wide and in a narrow window, from the disk, the browser offline,
    the schemes by turns."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_offline(True)
    seen = {}
    for i, path in enumerate(paths):
        # A page that stands still ends the browser, and the error names the page
        with limited(4 * PAGE):
            seen[name(path, site)] = look(
                context, path, schemes[i % len(schemes)], name(path, site) in axe
            )
    context.close()
    return seen


def look(context, path, scheme, with_axe):
    page, foreign, errors = watched(context, "file:")
    page.set_default_timeout(1000 * PAGE)
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.emulate_media(color_scheme=scheme)
    page.goto(path.as_uri(), wait_until="load")
    seen = answer(page, LOOK, seconds=PAGE)
    broken = page.evaluate(BROKEN)
    page.set_viewport_size({"width": 400, "height": 900})
    page.wait_for_timeout(500)  # the theme looks after a moment at what scrolls now
    with contextlib.suppress(TimeoutError):  # figures are drawn anew
        page.wait_for_function(f"() => ({WIDE})() <= 0", timeout=5000)
    seen |= {"wide on a phone": page.evaluate(WIDE), "foreign": foreign, "errors": errors}
    seen["broken words"] = broken + page.evaluate(BROKEN)
    seen["faults"] = faults(page) if with_axe else []
    page.close()
    return seen


SMALL = """() => [...document.querySelectorAll(
    'button, select, summary, .pg input, .bd-breadcrumbs a, .fv-thumbs a')]
  .filter((c) => c.checkVisibility() && c.offsetWidth)
  .filter((c) => c.offsetHeight < 43.5 || c.offsetWidth < 43.5).map((c) => c.outerHTML)"""


@mark.browser
@mark.parametrize("name", ["index", "playground", "contents", "gallery"])
def test_on_the_smallest_phone_nothing_scrolls_sideways_and_targets_are_as_large_as_a_finger(
    site, browser, name
):
    page = browser.new_context(
        viewport={"width": 320, "height": 640}, is_mobile=True, has_touch=True
    ).new_page()
    page.goto((site / f"{name}.html").as_uri())
    answer(page, LOOK, seconds=PAGE)
    assert page.evaluate(WIDE) <= 0
    assert page.evaluate(SMALL) == []
    page.context.close()


NONE = {
    "errors": [],
    "foreign": [],
    "undrawn": 0,
    "formulas": 0,
    "wide": 0,
    "wide on a phone": 0,
    "broken words": [],
    "faults": [],
}


@fixture(scope="module")
def visited(site, browser):
    """What was seen on a page of each kind."""
    return looks(site, browser, [site / f"{page}.html" for page in LOOKED_AT])


@mark.browser
@mark.parametrize("what", NONE)
def test_a_page_of_each_kind_is_whole_without_network(visited, what):
    assert not {where: seen[what] for where, seen in visited.items() if seen[what] != NONE[what]}


@mark.slow
@mark.browser
@mark.timeout(3600)
@mark.parametrize("scheme", SCHEMES)
def test_every_page_is_whole_and_axe_finds_no_serious_fault_in_either_scheme(
    whole, browser, scheme
):
    found = looks(whole, browser, pages(whole), [scheme], [name(p, whole) for p in pages(whole)])
    wrong = {
        f"{where}: {what}": seen[what]
        for where, seen in found.items()
        for what in NONE
        if seen[what] != NONE[what]
    }
    assert len(found) > 40
    assert not wrong


def a_chapter(folder, n_figures):
    """A page with a figure below each of a few screens of text, and what it loads."""
    figure = fv.plots.theme.figure("title", "alt").to_json()
    text = "<p>Text of the chapter.</p>" * 60
    parts = (
        f'{text}<div class="fv-figure"><script type="application/json">{figure}</script></div>'
        * n_figures
    )
    (folder / "page.html").write_text(
        f'<meta charset="utf-8"><script src="fv-site.js"></script>{parts}', encoding="utf-8"
    )
    for name in ("fv-site.js", "fv-layout.js"):
        shutil.copy(DOCS / "static" / name, folder)
    (folder / "plotly.min.js").write_text(get_plotlyjs(), encoding="utf-8")
    (folder / "explorer.js").write_text(bundled("explorer"), encoding="utf-8")
    return (folder / "page.html").as_uri()


WIDTHS = "() => [...document.querySelectorAll('.js-plotly-plot')].map((p) => p._fullLayout.width)"


@mark.browser
def test_on_paper_every_figure_is_drawn_and_as_wide_as_the_sheet_allows(browser, tmp_path):
    page, _, errors = watched(browser, "file:")
    page.set_default_timeout(1000 * PAGE)
    page.goto(a_chapter(tmp_path, 4))
    # Loaded once the page rests
    page.wait_for_function(
        "() => globalThis.Plotly && globalThis.flatvizExplorer && globalThis.flatvizLayout",
        polling=100,
    )
    assert len(page.evaluate(WIDTHS)) < 4  # those that nobody has scrolled to
    page.evaluate("() => { window.dispatchEvent(new Event('beforeprint')); }")
    assert page.evaluate(WIDTHS) == [660] * 4
    page.evaluate("() => { window.dispatchEvent(new Event('afterprint')); }")
    assert min(page.evaluate(WIDTHS)) > 700
    assert not errors
    page.close()


@mark.browser
def test_a_figure_is_reached_by_keys_where_it_scrolls_at_any_width(browser, tmp_path):
    page, _, errors = watched(browser, "file:")
    page.set_default_timeout(1000 * PAGE)
    page.goto(a_chapter(tmp_path, 1))
    page.add_style_tag(
        content=".fv-figure { overflow-x: auto } .fv-figure > div { min-width: 600px !important }"
    )
    figure = page.locator(".fv-figure")
    figure.scroll_into_view_if_needed()
    page.locator(".fv-figure[data-drawn]").wait_for()
    for width, key in ((1280, None), (400, "0"), (1280, None)):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(
            "(key) => document.querySelector('.fv-figure').getAttribute('tabindex') === key",
            arg=key,
            polling=100,
        )
    assert not errors
    page.close()


@mark.browser
def test_the_search_finds_a_word_of_a_chapter(site, browser):
    # A search reads pages, which a browser allows of a server only
    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            base = f"http://127.0.0.1:{server.server_port}/"
            page, foreign, errors = watched(browser, base)
            page.goto(f"{base}search.html?q=mixing+desk")
            page.locator("#search-results a[href*='01_network_is_a_vector']").first.wait_for()
            assert not foreign
            assert not errors
            page.close()
        finally:
            server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        """Nothing is printed."""


@mark.browser
def test_slides_turn_by_keys_and_draw_their_figures_without_network(site, browser):
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_offline(True)
    page, foreign, errors = watched(context, "file:")
    page.goto((site / "01_network_is_a_vector.html").as_uri() + "?slides")
    page.locator(".slide:not([hidden])").wait_for()
    count = page.locator(".slide").count()
    assert count > 10
    assert page.locator(".slide:not([hidden]) h1").count() == 1
    drawn = 0
    for i in range(1, count):
        page.keyboard.press("ArrowRight")
        shown = page.locator(".slide:not([hidden])")
        assert shown.get_attribute("aria-label") == f"slide {i + 1} of {count}"
        assert shown.locator("h2, h3").count() >= 1
        assert len(shown.inner_text()) > 20
        for figure in shown.locator(".fv-figure").all():
            figure.locator(".main-svg").first.wait_for()
            drawn += 1
    twice = (
        "() => [...document.querySelectorAll('.katex-mathml')].filter((n) =>"
        " n.getBoundingClientRect().width > 1).length"
    )
    # Formulas once, code folded
    assert page.evaluate(twice) == 0
    assert page.locator(".slide .cell_input:visible").count() == 0
    assert drawn
    assert not foreign
    assert not errors
    assert not faults(page)
    context.close()


@mark.browser
def test_the_sliders_of_an_interact_move_its_picture_without_python(site, browser):
    page, _, errors = watched(browser, "file:")
    page.goto(next(site.rglob("03_curvature.html")).as_uri())
    node = page.locator(".fv-live")
    node.scroll_into_view_if_needed()
    page.wait_for_selector(".fv-live[data-drawn] .main-svg")
    title = lambda: page.evaluate(
        "document.querySelector('.fv-live .js-plotly-plot').layout.title.text"
    )
    before = title()
    node.get_by_label("rank").fill("0")
    page.wait_for_function(
        "(t) => document.querySelector('.fv-live .js-plotly-plot').layout.title.text !== t",
        arg=before,
    )
    assert "v1" in title()
    assert not errors
    page.close()
