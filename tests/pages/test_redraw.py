"""What a control moves is drawn alone, and the picture is then the one that plotly.js makes of the same figure from nothing."""

import pytest
from pagedrive import drawn, opened

from flatviz.pages.page import family_page
from flatviz.pages.table import family_rows

pytestmark = pytest.mark.browser

COUNT = """() => {
  window.reacted = [];
  const react = Plotly.react;
  Plotly.react = (plot, ...rest) => { window.reacted.push(plot.closest('figure').dataset.name); return react(plot, ...rest); };
}"""
DIFFERENT = """async () => {
  const parts = ['.subplot .plot', '.overplot', '.errorbars', '.shapelayer', '.annotation', '.xtick', '.ytick', '.legend'], found = [];
  const look = (plot, part) => [...plot.querySelectorAll(part)].map((node) => node.innerHTML).join('').replace(/ style="opacity: 1;"/g, '');
  for (const plot of document.querySelectorAll('figure:not([hidden]) .js-plotly-plot')) {
    const before = parts.map((part) => look(plot, part)), layout = { ...plot.layout, datarevision: Math.random() };
    await Plotly.react(plot, plot.data.map((trace) => ({ ...trace, uid: trace.uid })), layout, plot._context);
    parts.forEach((part, i) => {
      const [a, b] = [before[i], look(plot, part)], at = [...a].findIndex((c, k) => c !== b[k]);
      const near = (text) => text.slice(Math.max(0, at - 150), at + 100);
      if (a !== b) found.push([plot.closest('figure').dataset.name, part, near(a), near(b)]);
    });
  }
  window.reacted = [];
  return found;
}"""


@pytest.fixture(scope="module")
def page(family, browser, tmp_path_factory):
    path = tmp_path_factory.mktemp("redraw") / "page.html"
    text = family_page(family, title="t", lead="l", rows=family_rows(family), facts={}, start=("sabma", 0.5, 3))
    path.write_text(text, encoding="utf-8")
    page = opened(browser, path.as_uri())
    page.evaluate(COUNT)
    yield page
    page.context.close()


@pytest.mark.parametrize("tab", ["Surface", "Radius", "Flatness", "Scores"])
def test_radius_and_ensemble_size_draw_their_traces_alone_and_right(page, tab):
    page.evaluate("(tab) => { location.hash = `method=sabma&radius=0.5&draws=3&tab=${tab}`; }", tab)
    drawn(page, "sabma/0.5/3", tab)
    page.evaluate(DIFFERENT)  # colour bar and margins come to rest
    for moves in (((2, 3),), ((2, 5), (0.5, 4), (2, 1)), ((2, 6), (0.5, 6))):
        for radius, draws in moves:
            to = [radius, draws, tab]
            page.evaluate("([r, n, t]) => { location.hash = `method=sabma&radius=${r}&draws=${n}&tab=${t}`; }", to)
            drawn(page, f"sabma/{radius}/{draws}", tab)
        assert page.evaluate("() => window.reacted") == []
        assert page.evaluate(DIFFERENT) == []
