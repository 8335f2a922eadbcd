"""Controls, text and pictures are in sight together, and no picture moves away below the pointer."""

import pytest
from pagedrive import EXPLORE, at, opened, resized, written

from flatviz.pages.story import tour_story

pytestmark = pytest.mark.browser

PLACES = """() => { const box = (node) => (({ left, right, top, bottom }) => ({ left, right, top, bottom }))(node.getBoundingClientRect());
  const places = ['figure:not([hidden]) .fv-plot', '.fv-article section:nth-of-type(3) h2', '.fv-bar'];
  const [figure, text, bar] = places.map((where) => box(document.querySelector(where)));
  return { figure, text, bar }; }"""
POINT = """(d) => { const plot = document.querySelector('[data-name=surface] .js-plotly-plot');
  const curveNumber = plot.data.findIndex((t) => t.name === 'samples');
  plot.emit('plotly_hover', { points: [{ data: plot.data[curveNumber], pointNumber: d, curveNumber }] }); }"""


@pytest.fixture(scope="module")
def page(family, browser, tmp_path_factory):
    address = written(family, tmp_path_factory.mktemp("sight"), start=("sabma", 2.0, 3), story=tour_story(family), look=EXPLORE)
    page = opened(browser, address)
    yield page
    assert not page.errors_met
    page.context.close()


def test_pictures_stand_beside_the_text_where_there_is_room_and_above_it_elsewhere(page):
    for width, look in ((960, "beside"), (1280, "beside"), (600, "above"), (320, "above")):
        at(page, "method=sabma&radius=2&draws=3&tab=Surface&step=3", "sabma/2/3", "Surface")
        resized(page, width)
        page.locator(f".fv-{look}.fv-reads").wait_for(state="attached")
        page.locator(".fv-article section").nth(2).evaluate("(node) => node.scrollIntoView()")
        found = page.evaluate(PLACES)
        figure, text = found["figure"], found["text"]
        assert figure["bottom"] <= 800 and text["top"] >= -1, (width, found)
        assert text["right"] <= figure["left"] if look == "beside" else text["top"] >= figure["bottom"], (width, found)


def test_no_picture_moves_and_no_other_draw_is_told_of_when_the_reader_points_at_one(page):
    for width in (500, 880, 1130, 1280):
        at(page, "method=sabma&radius=2&draws=3&tab=Surface", "sabma/2/3", "Surface")
        resized(page, width)
        before = page.evaluate(PLACES)
        page.evaluate(POINT, 1)
        assert "Draw 2: training loss" in page.locator(".fv-reading").first.inner_text()
        assert page.evaluate(PLACES) == before, width
        page.evaluate("document.querySelector('[data-name=surface] .js-plotly-plot').emit('plotly_unhover', {})")
