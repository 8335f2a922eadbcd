"""Plain figures in a dark JupyterLab: the style sheet that comes with each colours what plotly drew, and nothing that holds data in 3-D."""

import re
from pathlib import Path

import IPython.display
import plotly.io as pio
import pytest

import flatviz as fv
from flatviz.plots.notebook import dark_style
from flatviz.plots.theme import DARK, DARK_PAPER, INK, dark_colors

COLORS = """() => { const of = (where, name) => getComputedStyle(document.querySelector(where))[name];
  return { paper: of('.main-svg', 'backgroundColor'), title: of('.gtitle', 'fill'), ticks: of('.xtick text', 'fill') }; }"""
PLACE = """([light]) => { document.body.dataset.jpThemeLight = light;
  document.querySelector('.js-plotly-plot').classList.add('jp-RenderedPlotly'); }"""


def rgb(color):
    return f"rgb({', '.join(str(int(color[i : i + 2], 16)) for i in (1, 3, 5))})"


@pytest.fixture
def figure(family):
    return fv.plot_spectrum(family.spectrum[-1][0])


def test_colours_that_carry_no_data_are_those_of_page_and_lab(family):
    front = Path(fv.__file__).with_name("pages") / "front" / "colors.js"
    pairs = dict(re.findall(r'"(#\w{6})": "(#\w{6})"', front.read_text(encoding="utf-8")))
    assert pairs == DARK


def test_a_figure_in_a_notebook_brings_its_style_sheet_and_elsewhere_does_not(figure, monkeypatch):
    shown = []
    monkeypatch.setattr(IPython.display, "display", lambda bundle, **_: shown.append(bundle))
    monkeypatch.setattr(type(figure), "show", lambda self: shown.append(self))
    for renderer, count in (("plotly_mimetype", 2), ("json", 1)):
        monkeypatch.setattr(pio.renderers, "default", renderer)
        figure._ipython_display_()
        assert len(shown) == count and shown[0] is figure  # first: a plot below another output may be drawn without its height
        shown.clear()


@pytest.mark.browser
def test_a_figure_is_dark_in_a_dark_jupyterlab_and_white_in_a_light_one(figure, browser):
    page = browser.new_page()
    page.set_default_timeout(30_000)
    page.set_content(dark_style(dark_colors() | DARK) + figure.to_html(include_plotlyjs=True))
    page.wait_for_selector(".gtitle")
    page.evaluate(PLACE, ["false"])
    dark = page.evaluate(COLORS)
    assert dark["paper"] == rgb(DARK_PAPER) and dark["title"] == dark["ticks"] == rgb(DARK[INK])
    page.evaluate(PLACE, ["true"])
    assert page.evaluate(COLORS)["paper"] == "rgb(255, 255, 255)" and page.evaluate(COLORS)["title"] == rgb(INK)
    page.close()
