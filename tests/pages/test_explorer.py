"""The front end by hand, as it were: tabs, two states, undo, addresses, code, linked draws, dark, narrow, print."""

import numpy as np
import pytest
from browsing import faults
from pagedrive import EXPLORE, at, code_of, drawn, figures_of, opened, same_traces, written

from flatviz.pages.story import tour_story

pytestmark = pytest.mark.browser
CODE = ["family = FAMILY"]
STATES = ("sabma", 0.5, 3)
SEEN = "(node) => { const { top, bottom } = node.getBoundingClientRect(); return top >= -1 && bottom <= innerHeight; }"


@pytest.fixture(scope="module")
def address(family, tmp_path_factory):
    """The page with article and code, open where all pictures are, as a file."""
    return written(family, tmp_path_factory.mktemp("explorer"), start=STATES, story=tour_story(family), code=CODE, look=EXPLORE)


@pytest.fixture(scope="module")
def page(browser, address):
    page = opened(browser, address)
    yield page
    page.context.close()


PLOTS = """() => JSON.parse(JSON.stringify(
  [...document.querySelectorAll('.flatviz figure:not([hidden]) .js-plotly-plot')].map((p) => ({ data: p.data, ranges:
    Object.fromEntries(Object.entries(p.layout).filter(([k]) => k.includes('axis')).map(([k, v]) => [k, v.range])) })),
  (key, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value)))"""


def same_picture(shown, figure):
    """As `same_traces`; a line that ends outside the axes is left out."""
    return same_traces(shown["data"], figure, skip=("equal",))


@pytest.mark.parametrize(
    ("hash", "state", "look"),
    [
        ("method=sabma&radius=0.5&draws=3&tab=Surface", "sabma/0.5/3", "Surface"),
        ("method=sabma&radius=2&draws=5&tab=Flatness&b=0:vi", "sabma/2/5", "Flatness | vi/0"),
        ("method=sam_mu&radius=0.2&draws=2&tab=Scores", "sam_mu/0.2/2", "Scores"),
        ("method=sabma&radius=2&draws=4&tab=Surface&see.surface=loss,+3-D+relief", "sabma/2/4", "Surface"),
        ("method=sabma&radius=2&draws=4&tab=Radius&phase=1", "sabma/2/4", "Radius"),
        (
            "method=sgd&radius=0&draws=4&tab=Flatness&see.directions=random+directions,+rise+of+the+loss,+2-D+map",
            "sgd/0/4",
            "Flatness",
        ),
    ],
)
def test_the_code_of_a_picture_makes_the_picture(page, family, hash, state, look):
    at(page, hash, state, look)
    figures = figures_of(code_of(page), family)
    shown = page.evaluate(PLOTS)
    assert len(figures) == len(shown) >= 2
    assert all(same_picture(a, b) > 2 for a, b in zip(shown, figures))


def test_undo_takes_back_one_change_and_reset_goes_to_the_start(page):
    at(page, "method=sabma&radius=0.5&draws=3&tab=Surface", "sabma/0.5/3", "Surface")
    page.get_by_label("ensemble size", exact=True).fill("5")
    drawn(page, "sabma/0.5/5")
    page.get_by_label("radius", exact=True).fill("2")
    drawn(page, "sabma/2/5")
    page.get_by_role("tab", name="Scores").click()
    drawn(page, "sabma/2/5", "Scores")
    for state, look in (("sabma/2/5", "Surface"), ("sabma/0.5/5", "Surface"), ("sabma/0.5/3", "Surface")):
        page.get_by_role("button", name="Undo").click()
        drawn(page, state, look)
    page.get_by_label("radius", exact=True).fill("2")
    drawn(page, "sabma/2/3")
    page.locator(".fv-menu summary").click()
    page.get_by_text("Reset").click()
    drawn(page, "sabma/0.5/3", "Surface")


def test_the_address_holds_the_state_and_a_second_page_opens_at_it(page, browser, address):
    at(
        page,
        "method=sabma&radius=2&draws=5&tab=Flatness&b=0:vi&draw=2&see.directions=random+directions,+rise+of+the+loss,+2-D+map",
        "sabma/2/5",
        "Flatness | vi/0",
    )
    page.wait_for_function("() => location.hash.includes('draw=2')", polling=100)
    other = opened(browser, page.evaluate("location.href"))
    drawn(other, "sabma/2/5", "Flatness | vi/0")
    assert other.locator("[data-name=around]").count() == 1 and other.locator(".fv-ring").count() > 0
    assert other.evaluate(PLOTS) == page.evaluate(PLOTS)
    for wrong in ("#method=nope&radius=x&draws=-3&tab=9&b=:&draw=0&step=99", "#%%%", "#radius=NaN"):
        other.goto("about:blank")
        other.goto(address + wrong)
        other.locator(".flatviz[data-state]").wait_for()
    assert not other.errors_met and not page.errors_met
    other.context.close()


def test_pointing_at_a_draw_lights_it_up_in_every_view_that_shows_it(page, family):
    at(page, "method=sabma&radius=2&draws=5&tab=All", "sabma/2/5", "All")
    d, i = 1, family.index("sabma", 2.0)
    page.evaluate(
        """(d) => {
          const plot = document.querySelector('[data-name=surface] .js-plotly-plot');
          const curveNumber = plot.data.findIndex((t) => t.name === 'samples');
          plot.emit('plotly_hover', { points: [{ data: plot.data[curveNumber], pointNumber: d, curveNumber }] });
        }""",
        d,
    )
    places = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('figure:has(.js-plotly-plot)')].map((f) => {
          const plot = f.querySelector('.js-plotly-plot'), at = (r) => ['left', 'top'].map((k) => parseFloat(r.style[k]));
          const back = (r, xa, ya) => [xa.p2d(at(r)[0] - plot.offsetLeft - xa._offset), ya.p2d(at(r)[1] - plot.offsetTop - ya._offset)];
          const { xaxis, yaxis } = plot._fullLayout;
          return [f.dataset.name, [...f.querySelectorAll('.fv-ring')].map((r) => back(r, xaxis, yaxis))
            .concat([...f.querySelectorAll('.fv-rule')].map((r) => [xaxis.p2d(at(r)[0] - plot.offsetLeft - xaxis._offset)]))];
        }))"""
    )
    p, spectrum = family.projection[i], family.spectrum[i][d]
    np.testing.assert_allclose(places["surface"], [p.coords[d].tolist()], rtol=0.02, atol=0.05)
    np.testing.assert_allclose([places["hidden"][0][1]], [p.distance[d]], rtol=0.02)
    np.testing.assert_allclose([y for _, y in places["spectrum"]], spectrum.values, rtol=0.02, atol=0.02)
    np.testing.assert_allclose(places["metrics"], [[d + 1]], atol=0.1)
    assert not places["sharpest"] and not places["reliability"]
    assert f"Draw {d + 1}: training loss {float(p.values[d]):.3g}" in page.locator(".fv-reading").first.inner_text()
    page.evaluate("document.querySelector('[data-name=surface] .js-plotly-plot').emit('plotly_unhover', {})")
    assert page.locator(".fv-ring").count() == 0


def test_the_reading_says_how_many_draws_there_are_and_which_posterior_radius_0_is(page):
    for method, words in (
        ("sgd", "SGD (MAP), 1 draw:"),
        ("vi", "VI, 5 draws:"),
        ("sabma", "SA-BMA, radius 0, which is VI, 5 draws:"),
    ):
        at(page, f"method={method}&radius=0&draws=5&tab=Scores", f"{method}/0/5", "Scores")
        assert page.locator(".fv-reading").first.inner_text().startswith(words)
    at(page, "method=nope&radius=2&draws=5&tab=Surface", "sabma/2/5", "Surface")  # no such method: the page's first one


@pytest.mark.parametrize("width", (1280, 390))
def test_each_section_sets_the_controls_where_it_is_read_and_its_pictures_are_in_sight(browser, address, family, width):
    page, story = opened(browser, address + "#step=1", width=width), tour_story(family)
    for number in range(1, len(story)):
        step, title = story[number], page.locator(".fv-article h2").nth(number)
        title.evaluate("(node) => node.parentNode.scrollIntoView()")
        method, radius = step.set["method"], step.set["radius"]
        other = " | vi/0" if "compare" in step.set else ""
        drawn(page, f"{method}/{radius:g}/6", step.set["tab"] + other)  # ten draws are asked for, six are there
        exploring = number == len(story) - 1
        assert page.get_by_role("tablist").is_visible() == exploring and title.evaluate(SEEN)
        if not exploring:
            assert page.locator("figure:not([hidden]) .fv-plot").first.evaluate(SEEN)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not page.errors_met
    page.context.close()


def test_each_section_is_in_the_state_of_which_it_speaks_and_the_last_one_stays_as_the_reader_left_it(browser, address, family):
    page, story = opened(browser, address + "#step=2&see.ascent=accuracy, 3-D relief"), tour_story(family)
    drawn(page, "sabma/0.5/3")
    page.get_by_label("radius", exact=True).fill("0")
    drawn(page, "sabma/0/3")
    large = f"sabma/{story[2].set['radius']:g}/6"
    for number, state in ((2, large), (1, "vi/0/6"), (len(story) - 1, large)):  # what was chosen in one leaks into no other
        page.locator(".fv-article section").nth(number).evaluate("(node) => node.scrollIntoView()")
        drawn(page, state)
    assert page.evaluate("location.hash.includes('see.')") is False
    page.get_by_label("radius", exact=True).fill("0")
    drawn(page, "sabma/0/6")
    for number, state in ((2, large), (len(story) - 1, "sabma/0/6")):
        page.locator(".fv-article section").nth(number).evaluate("(node) => node.scrollIntoView()")
        drawn(page, state)
    page.context.close()


def test_the_keyboard_meets_the_controls_and_one_menu_before_the_pictures(page):
    at(page, "method=sabma&radius=0.5&draws=3&tab=Surface", "sabma/0.5/3", "Surface")
    page.locator(".fv-method").first.focus()
    inside = "Boolean(document.activeElement.closest('.fv-figures'))"
    presses = next(n for n in range(1, 20) if page.keyboard.press("Tab") or page.evaluate(inside))
    assert presses <= 16 and page.locator(".modebar-btn").count() == 0


def test_dark_ground_has_light_ink_and_its_data_are_the_same(browser, address, page):
    dark = opened(browser, address + "#method=sabma&radius=0.5&draws=3&tab=Scores", color_scheme="dark")
    at(page, "method=sabma&radius=0.5&draws=3&tab=Scores", "sabma/0.5/3", "Scores")
    look = dark.evaluate(
        "(() => { const l = document.querySelector('.js-plotly-plot')._fullLayout; return [l.paper_bgcolor, l.font.color]; })()"
    )
    assert look == ["#15191e", "#e4e7eb"]
    arrays = lambda plots: [[t.get("y") for t in p["data"]] for p in plots]  # noqa: E731
    assert arrays(dark.evaluate(PLOTS)) == arrays(page.evaluate(PLOTS))
    dark.context.close()


def test_axe_finds_nothing_serious_light_or_dark_narrow_or_wide(browser, address):
    for context, step in ((dict(width=1280), 2), (dict(width=400, color_scheme="dark"), 2), (dict(width=400), 0)):
        page = opened(browser, f"{address}#method=sabma&radius=0.5&draws=3&tab=Flatness&b=0:vi&step={step}", **context)
        assert faults(page) == []
        page.context.close()
