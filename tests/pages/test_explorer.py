"""The front end by hand, as it were: tabs, two states, undo, addresses, code, linked draws, dark,
narrow, print."""

import numpy as np
from browsing import faults, in_page
from internals import tour_story
from pagedrive import EXPLORE, at, code_of, drawn, figures_of, resized, same_traces, written
from pytest import fixture, mark

pytestmark = mark.browser
SEEN = (
    "(node) => { const { top, bottom } = node.getBoundingClientRect(); return top >= -1 && bottom"
    " <= innerHeight; }"
)


@fixture(scope="module")
def address(family, tmp_path_factory):
    """The page with article and code, open below the article, where the tabs are."""
    folder = tmp_path_factory.mktemp("explorer")
    return written(family, folder, story=tour_story(family), code=["family = FAMILY"], look=EXPLORE)


PLOTS = in_page("plots_in_sight")


POINT = in_page("point_at_a_draw")
LEAVE = "document.querySelector('[data-name=surface] .js-plotly-plot').emit('plotly_unhover', {})"
MAPS = "see.directions=random+directions,+2-D+map"


@mark.parametrize(
    "hash, state, look",
    [
        ("method=sabma&radius=0.5&draws=3&tab=Surface", "sabma/0.5/3", "Surface"),
        ("method=sabma&radius=2&draws=5&tab=Flatness&b=0:vi", "sabma/2/5", "Flatness | vi/0"),
        ("method=sam_mu&radius=0.2&draws=2&tab=Scores", "sam_mu/0.2/2", "Scores"),
        ("method=sgd&radius=0&draws=2&tab=Scores", "sgd/0/2", "Scores"),
        (
            "method=sabma&radius=2&draws=4&tab=Surface&see.surface=loss,+3-D+relief",
            "sabma/2/4",
            "Surface",
        ),
        ("method=sabma&radius=2&draws=4&tab=Radius", "sabma/2/4", "Radius"),
        (f"method=sgd&radius=0&draws=4&tab=Flatness&{MAPS}", "sgd/0/4", "Flatness"),
    ],
)
def test_the_code_of_a_picture_makes_the_picture(page, family, hash, state, look):
    at(page, hash, state, look)
    figures = figures_of(code_of(page), family)
    shown = page.evaluate(PLOTS)
    assert len(figures) == len(shown) >= 2
    for picture, figure in zip(shown, figures):  # a line that ends outside the axes is left out
        assert same_traces(picture["data"], figure, skip=("equal",)) > 2


def test_undo_takes_back_one_change_and_reset_goes_to_the_start(page):
    at(page, "method=sabma&radius=0.5&draws=3&tab=Surface", "sabma/0.5/3", "Surface")
    page.get_by_label("ensemble size", exact=True).fill("5")
    drawn(page, "sabma/0.5/5")
    page.get_by_label("radius", exact=True).fill("2")
    drawn(page, "sabma/2/5")
    page.get_by_role("tab", name="Scores").click()
    drawn(page, "sabma/2/5", "Scores")
    for state, look in (
        ("sabma/2/5", "Surface"),
        ("sabma/0.5/5", "Surface"),
        ("sabma/0.5/3", "Surface"),
    ):
        page.get_by_role("button", name="Undo").click()
        drawn(page, state, look)
    page.get_by_label("radius", exact=True).fill("2")
    drawn(page, "sabma/2/3")
    asks = page.locator(".flatviz details summary").all_inner_texts()
    assert "What is this?" in asks or any(text.endswith(": what is this?") for text in asks)
    page.locator(".fv-menu summary").click()
    page.get_by_text("Reset").click()
    drawn(page, "sabma/0.5/3", "Surface")


def test_the_address_holds_the_state_and_a_second_page_opens_at_it(page, visit, address):
    at(
        page,
        f"method=sabma&radius=2&draws=5&tab=Flatness&b=0:vi&draw=2&{MAPS}",
        "sabma/2/5",
        "Flatness | vi/0",
    )
    page.wait_for_function("() => location.hash.includes('draw=2')", polling=100)
    other = visit(page.evaluate("location.href"))
    drawn(other, "sabma/2/5", "Flatness | vi/0")
    assert other.locator("[data-name=around]").count() == 1
    assert other.locator(".fv-ring").count() > 0
    assert other.evaluate(PLOTS) == page.evaluate(PLOTS)
    for wrong in ("#method=nope&radius=x&draws=-3&tab=9&b=:&draw=0&step=99", "#%%%", "#radius=NaN"):
        other.goto("about:blank")
        other.goto(address + wrong)
        other.locator(".flatviz[data-state]").wait_for()


def test_pointing_at_a_draw_lights_it_up_in_every_view_that_shows_it(page, family):
    at(page, "method=sabma&radius=2&draws=5&tab=All", "sabma/2/5", "All")
    d = 1
    i = family.index("sabma", 2.0)
    page.evaluate(POINT, d)
    places = page.evaluate(in_page("places_of_a_draw"))
    p = family.projection[i]
    spectrum = family.spectrum[i][d]
    np.testing.assert_allclose(places["surface"], [p.coords[d].tolist()], rtol=0.02, atol=0.05)
    np.testing.assert_allclose([places["hidden"][0][1]], [p.distance[d]], rtol=0.02)
    np.testing.assert_allclose(
        [y for _, y in places["spectrum"]], spectrum.values, rtol=0.02, atol=0.02
    )
    np.testing.assert_allclose(places["metrics"], [[d + 1]], atol=0.1)
    assert not places["sharpest"]
    assert not places["reliability"]
    assert (
        f"Draw {d + 1}: training loss {float(p.values[d]):.3g}"
        in page.locator(".fv-reading").first.inner_text()
    )
    page.evaluate(LEAVE)
    assert page.locator(".fv-ring").count() == 0


def test_no_picture_moves_and_no_other_draw_is_told_of_when_the_reader_points_at_one(page):
    for width in (500, 880, 1130, 1280):
        at(page, "method=sabma&radius=2&draws=3&tab=Surface", "sabma/2/3", "Surface")
        resized(page, width)
        places = [
            page.locator(where).first for where in ("figure:not([hidden]) .fv-plot", ".fv-bar")
        ]
        before = [place.bounding_box() for place in places]
        page.evaluate(POINT, 1)
        assert "Draw 2: training loss" in page.locator(".fv-reading").first.inner_text()
        assert [place.bounding_box() for place in places] == before, width
        page.evaluate(LEAVE)


def test_the_reading_says_how_many_draws_there_are_and_which_posterior_radius_0_is(page):
    said = {
        "sgd": "SGD (MAP), 1 draw:",
        "vi": "VI, 5 draws:",
        "sabma": "SA-BMA, radius 0, which is VI, 5 draws:",
    }
    for method, words in said.items():
        at(page, f"method={method}&radius=0&draws=5&tab=Scores", f"{method}/0/5", "Scores")
        assert page.locator(".fv-reading").first.inner_text().startswith(words)
    # No such method: the page's first one
    at(page, "method=nope&radius=2&draws=5&tab=Surface", "sabma/2/5", "Surface")


@mark.parametrize("width", (1280, 960, 600, 390, 320))
def test_each_section_sets_the_controls_where_it_is_read_beside_its_pictures_or_below_them(
    visit, address, family, width
):
    page = visit(address + "#step=1", width=width)
    story = tour_story(family)
    for number, step in list(enumerate(story))[1:]:
        title = page.locator(".fv-article h2").nth(number)
        title.evaluate("(node) => node.parentNode.scrollIntoView()")
        other = " | vi/0" if "compare" in step.set else ""
        state = (  # ten draws are asked for, six are there
            f"{step.set['method']}/{step.set['radius']:g}/6"
        )
        drawn(page, state, step.set["tab"] + other)
        exploring = number == len(story) - 1
        assert page.get_by_role("tablist").is_visible() == exploring
        assert title.evaluate(SEEN)
        if not exploring:
            plot = page.locator("figure:not([hidden]) .fv-plot").first
            assert plot.evaluate(SEEN)
            left, top = map(plot.bounding_box().get, "xy")
            text = title.bounding_box()
            below = text["y"] >= top + plot.bounding_box()["height"]
            assert text["x"] + text["width"] <= left if width >= 960 else below, (width, step.title)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_each_section_is_in_the_state_it_describes_and_the_last_one_stays_as_left(
    visit, address, family
):
    page = visit(address + "#step=2&see.ascent=3-D relief")
    story = tour_story(family)
    drawn(page, "sabma/0.5/3")
    page.get_by_label("radius", exact=True).fill("0")
    drawn(page, "sabma/0/3")
    large = f"sabma/{story[2].set['radius']:g}/6"
    # What was chosen in one leaks into no other
    for number, state in (
        (2, large),
        (1, "vi/0/6"),
        (len(story) - 1, large),
    ):
        page.locator(".fv-article section").nth(number).evaluate("(node) => node.scrollIntoView()")
        drawn(page, state)
    assert page.evaluate("location.hash.includes('see.')") is False
    page.get_by_label("radius", exact=True).fill("0")
    drawn(page, "sabma/0/6")
    for number, state in ((2, large), (len(story) - 1, "sabma/0/6")):
        page.locator(".fv-article section").nth(number).evaluate("(node) => node.scrollIntoView()")
        drawn(page, state)


def test_the_keyboard_meets_the_controls_and_one_menu_before_the_pictures(page):
    at(page, "method=sabma&radius=0.5&draws=3&tab=Surface", "sabma/0.5/3", "Surface")
    page.locator(".fv-method").first.focus()
    inside = "Boolean(document.activeElement.closest('.fv-figures'))"
    presses = next(n for n in range(1, 20) if page.keyboard.press("Tab") or page.evaluate(inside))
    assert presses <= 16
    assert page.locator(".modebar-btn").count() == 0


def test_dark_ground_has_light_ink_and_its_data_are_the_same(visit, address, page):
    dark = visit(address + "#method=sabma&radius=0.5&draws=3&tab=Scores", color_scheme="dark")
    at(page, "method=sabma&radius=0.5&draws=3&tab=Scores", "sabma/0.5/3", "Scores")
    look = (
        "(({ paper_bgcolor, font }) => [paper_bgcolor,"
        " font.color])(document.querySelector('.js-plotly-plot')._fullLayout)"
    )
    assert dark.evaluate(look) == ["#15191e", "#e4e7eb"]
    arrays = lambda plots: [[t.get("y") for t in p["data"]] for p in plots]
    assert arrays(dark.evaluate(PLOTS)) == arrays(page.evaluate(PLOTS))


def test_axe_finds_nothing_serious_light_or_dark_narrow_or_wide(visit, address):
    for context, step in (
        (dict(width=1280), 2),
        (dict(width=400, color_scheme="dark"), 2),
        (dict(width=400), 0),
    ):
        assert (
            faults(
                visit(
                    f"{address}#method=sabma&radius=0.5&draws=3&tab=Flatness&b=0:vi&step={step}",
                    **context,
                )
            )
            == []
        )
