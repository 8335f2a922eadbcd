"""Words of the pictures have room: inside their figure and apart from each other, in every tab, narrow and wide, alone and in pairs."""

import pytest
from pagedrive import EXPLORE, at, opened, written

from flatviz.pages.story import tour_story
from flatviz.plots.radius import ROWS, values_of

pytestmark = pytest.mark.browser
START = ("sabma", 2.0, 3)

CROWDED = """() => {
  const met = [], kinds = { title: '.gtitle', legend: '.legendtext', axis: '.infolayer > g[class*=title] text:not(.gtitle)',
    note: '.annotation-text', bar: '.cbtitle text', 'tick of bar': '.cbaxis text',
    'tick of x': '.xaxislayer-above text, .xaxislayer-below text', 'tick of y': '.yaxislayer-above text, .yaxislayer-below text' };
  for (const plot of document.querySelectorAll('.flatviz figure:not([hidden]) .js-plotly-plot')) {
    const name = plot.closest('figure').dataset.name, out = plot.getBoundingClientRect();
    const box = (kind) => (text) => {
      const { left, right, top, bottom } = text.getBoundingClientRect();
      return { kind, says: text.textContent, left, right, top, bottom, node: text };
    };
    const words = Object.entries(kinds).flatMap(([kind, where]) => [...plot.querySelectorAll(where)].map(box(kind)))
      .filter((w) => w.right - w.left > 0 && w.bottom - w.top > 0);
    for (const w of words) {
      const cut = w.left < out.left - 2 || w.right > out.right + 2 || w.top < out.top - 2 || w.bottom > out.bottom + 2;
      if (cut) met.push(`${name}: "${w.says}" (${w.kind}) is cut by its figure`);
      const ground = w.kind === 'legend' && plot.querySelector('.legend .bg').getBoundingClientRect();
      if (ground && w.right > ground.right + 2) met.push(`${name}: "${w.says}" is cut by the legend`);
    }
    const shared = (a, b, from, to) => Math.min(a[to], b[to]) - Math.max(a[from], b[from]);  // px
    const apart = (a, b) => shared(a, b, 'left', 'right') < 2 || shared(a, b, 'top', 'bottom') < 3;
    words.forEach((a, i) => words.slice(i + 1).forEach((b) => {
      if (!apart(a, b)) met.push(`${name}: "${a.says}" (${a.kind}) lies over "${b.says}" (${b.kind})`);
    }));
    const bars = [...plot.querySelectorAll('.cbfills')].map(box('bar'));
    for (const bar of bars) for (const w of words.filter((word) => !apart(bar, word))) {
      met.push(`${name}: "${w.says}" (${w.kind}) lies over the colour bar`);
    }
  }
  return met;
}"""


SETTLED = """() => [...document.querySelectorAll('.flatviz figure:not([hidden]) .js-plotly-plot')].every((p) =>
  Math.abs(p._fullLayout?.width - p.clientWidth) < 2 && Math.abs(p._fullLayout.height - p.clientHeight) < 2)"""


@pytest.fixture(scope="module")
def address(family, tmp_path_factory):
    seeds = family.each(over_seeds=[{q: values_of(family, q)[i].repeat(3) for q in ROWS} for i in range(len(family))])
    return written(seeds, tmp_path_factory.mktemp("room"), start=START, story=tour_story(family), look=EXPLORE)


@pytest.mark.parametrize("width", (400, 1280))
def test_no_word_of_a_picture_is_cut_or_lies_over_another(browser, address, width):
    page = opened(browser, address, width=width)
    met = []
    for tab in ("Surface", "Radius", "Flatness", "Scores"):
        for pair, look in (("", ""), ("&b=0:vi", " | vi/0")):
            at(page, f"method=sabma&radius=2&draws=3&tab={tab}&step=0{pair}", "sabma/2/3", tab + look)
            page.wait_for_function(SETTLED, polling=100, timeout=40_000)
            met += [f"{tab}{look}: {words}" for words in page.evaluate(CROWDED)]
    page.context.close()
    assert not met, "\n".join(met)
