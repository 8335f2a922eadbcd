"""The front end by hand, as it were: tabs, two states, undo, addresses, code, linked draws, dark,
narrow, print."""

import numpy as np
from browsing import faults, in_page
from internals import tour_story
from pagedrive import (
    EXPLORE,
    address_of,
    at,
    code_of,
    drawn,
    figures_of,
    go,
    resized,
    same_traces,
    until,
    written,
)
from pytest import fixture, mark

pytestmark = mark.browser
SEEN = (
    "(node) => { const { top, bottom } = node.getBoundingClientRect(); return top >= -1 && bottom"
    " <= innerHeight; }"
)
INTO_SIGHT = "(node) => node.scrollIntoView()"


@fixture(scope="module")
def address(family, tmp_path_factory):
    """The page with article and code, open below the article, where the tabs are."""
    folder = tmp_path_factory.mktemp("explorer")
    return written(
        family,
        folder,
        story=tour_story(family),
        code=["family = FAMILY"],
        look=EXPLORE,
    )


PLOTS = in_page("plots_in_sight")
POINT = in_page("point_at_a_draw")
LEAVE = "document.querySelector('[data-name=surface] .js-plotly-plot').emit('plotly_unhover', {})"
MAPS = "see.directions=random+directions,+2-D+map"


def reading(page):
    """The line above the pictures."""
    return page.locator(".fv-reading").first.inner_text()


@mark.parametrize(
    "state, tab, more",
    [
        ("sabma/0.5/3", "Surface", {}),
        ("sabma/2/5", "Flatness", {"compare": "vi/0"}),
        ("sam_mu/0.2/2", "Scores", {}),
        ("sgd/0/2", "Scores", {}),
        ("sabma/2/4", "Surface", {"more": "see.surface=loss,+3-D+relief"}),
        ("sabma/2/4", "Radius", {}),
        ("sgd/0/4", "Flatness", {"more": MAPS}),
    ],
)
def test_the_code_of_a_picture_makes_the_picture(page, family, state, tab, more):
    go(page, state, tab, **more)
    figures = figures_of(code_of(page), family)
    shown = page.evaluate(PLOTS)
    assert len(figures) == len(shown) >= (1 if tab == "Radius" else 2)
    for picture, figure in zip(shown, figures):  # a line that ends outside the axes is left out
        assert same_traces(picture["data"], figure, skip=("equal",)) > 2


def test_undo_takes_back_one_change_and_reset_goes_to_the_start(page):
    go(page, "sabma/0.5/3", "Surface")
    page.get_by_label("ensemble size", exact=True).fill("5")
    drawn(page, "sabma/0.5/5")
    page.get_by_label("radius", exact=True).fill("2")
    drawn(page, "sabma/2/5")
    page.get_by_role("tab", name="Scores").click()
    drawn(page, "sabma/2/5", "Scores")
    for state in ("sabma/2/5", "sabma/0.5/5", "sabma/0.5/3"):
        page.get_by_role("button", name="Undo").click()
        drawn(page, state, "Surface")
    page.get_by_label("radius", exact=True).fill("2")
    drawn(page, "sabma/2/3")
    page.locator(".fv-menu summary").click()
    page.get_by_text("Reset").click()
    drawn(page, "sabma/0.5/3", "Surface")


def test_the_address_holds_the_state_and_a_second_page_opens_at_it(page, visit):
    go(page, "sabma/2/5", "Flatness", compare="vi/0", more=f"draw=2&{MAPS}")
    until(page, "() => location.hash.includes('draw=2')")
    other = visit(page.evaluate("location.href"))
    drawn(other, "sabma/2/5", "Flatness | vi/0")
    assert other.locator("[data-name=around]").count() == 1
    assert other.locator(".fv-ring").count() > 0
    assert other.evaluate(PLOTS) == page.evaluate(PLOTS)


@mark.parametrize(
    "wrong", ["method=nope&radius=x&draws=-3&tab=9&b=:&draw=0&step=99", "%%%", "radius=NaN"]
)
def test_an_address_of_nonsense_opens_the_page(visit, address, wrong):
    visit(f"{address}#{wrong}")


def test_pointing_at_a_draw_lights_it_up_in_every_view_that_shows_it(page, family):
    go(page, "sabma/2/5", "All")
    i = family.index("sabma", 2.0)
    projection = family.projection[i]
    page.evaluate(POINT, 1)
    places = page.evaluate(in_page("places_of_a_draw"))
    on_the_plane = [projection.coords[1].tolist()]
    near = dict(rtol=0.02, atol=0.05)
    np.testing.assert_allclose(places["surface"], on_the_plane, **near)
    ((_, off_the_plane),) = places["hidden"]
    np.testing.assert_allclose(off_the_plane, projection.distance[1], **near)
    eigenvalues = [y for _, y in places["spectrum"]]
    np.testing.assert_allclose(eigenvalues, family.spectrum[i][1].values, **near)
    np.testing.assert_allclose(places["metrics"], [[2]], atol=0.1)
    assert not places["sharpest"]
    assert not places["reliability"]
    assert f"Draw 2: training loss {float(projection.values[1]):.3g}" in reading(page)
    page.evaluate(LEAVE)
    assert page.locator(".fv-ring").count() == 0


@mark.parametrize("width", [500, 880, 1130, 1280])
def test_no_picture_moves_when_the_reader_points_at_a_draw(page, width):
    go(page, "sabma/2/3", "Surface")
    resized(page, width)
    plot = page.locator("figure:not([hidden]) .fv-plot").first
    bar = page.locator(".fv-bar").first
    before = plot.bounding_box(), bar.bounding_box()
    page.evaluate(POINT, 1)
    assert "Draw 2: training loss" in reading(page)
    assert (plot.bounding_box(), bar.bounding_box()) == before
    page.evaluate(LEAVE)


@mark.parametrize(
    "method, words",
    [
        ("sgd", "SGD (MAP), 1 draw:"),
        ("vi", "VI, 5 draws:"),
        ("sabma", "SA-BMA, radius 0, which is VI, 5 draws:"),
    ],
)
def test_the_reading_says_how_many_draws_there_are_and_which_posterior_radius_0_is(
    page, method, words
):
    go(page, f"{method}/0/5", "Scores")
    assert reading(page).startswith(words)


def test_an_address_of_no_method_opens_the_pages_first_one(page):
    at(page, address_of("nope/2/5", "Surface"), "sabma/2/5", "Surface")


@mark.parametrize("width", [1280, 960, 600, 390, 320])
def test_each_section_sets_the_controls_where_it_is_read_beside_its_pictures_or_below_them(
    visit, address, family, width
):
    page = visit(f"{address}#step=1", width=width)
    story = tour_story(family)
    for number, step in list(enumerate(story))[1:]:
        title = page.locator(".fv-article h2").nth(number)
        title.evaluate("(node) => node.parentNode.scrollIntoView()")
        method, radius, tab = (step.set[name] for name in ("method", "radius", "tab"))
        other = " | vi/0" if "compare" in step.set else ""
        drawn(page, f"{method}/{radius:g}/6", tab + other)  # ten draws are asked for, six are there
        assert title.evaluate(SEEN)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        exploring = number == len(story) - 1
        assert page.get_by_role("tablist").is_visible() == exploring
        if not exploring:
            plot = page.locator("figure:not([hidden]) .fv-plot").first
            assert plot.evaluate(SEEN)
            picture = plot.bounding_box()
            text = title.bounding_box()
            if width >= 960:
                assert text["x"] + text["width"] <= picture["x"], step.title
            else:
                assert text["y"] >= picture["y"] + picture["height"], step.title


def test_each_section_is_in_the_state_it_describes_and_the_last_one_stays_as_left(
    visit, address, family
):
    page = visit(f"{address}#step=2&see.ascent=3-D relief")
    story = tour_story(family)
    last = len(story) - 1
    large = f"sabma/{story[2].set['radius']:g}/6"

    def read(number, state):
        page.locator(".fv-article section").nth(number).evaluate(INTO_SIGHT)
        drawn(page, state)

    drawn(page, "sabma/0.5/3")
    page.get_by_label("radius", exact=True).fill("0")
    drawn(page, "sabma/0/3")
    # What was chosen in one leaks into no other
    read(2, large)
    read(1, "vi/0/6")
    read(last, large)
    assert page.evaluate("location.hash.includes('see.')") is False
    page.get_by_label("radius", exact=True).fill("0")
    drawn(page, "sabma/0/6")
    read(2, large)
    read(last, "sabma/0/6")


def test_the_keyboard_meets_the_controls_and_one_menu_before_the_pictures(page):
    go(page, "sabma/0.5/3", "Surface")
    page.locator(".fv-method").first.focus()
    for _ in range(16):
        page.keyboard.press("Tab")
        if page.evaluate("Boolean(document.activeElement.closest('.fv-figures'))"):
            break
    else:
        raise AssertionError("16 controls before the pictures")
    assert page.locator(".modebar-btn").count() == 0


def test_dark_ground_has_light_ink_and_its_data_are_the_same(visit, address, page):
    state = ("sabma/0.5/3", "Scores")
    dark = visit(f"{address}#{address_of(*state)}", color_scheme="dark")
    go(page, *state)
    look = (
        "(({ paper_bgcolor, font }) => [paper_bgcolor,"
        " font.color])(document.querySelector('.js-plotly-plot')._fullLayout)"
    )
    assert dark.evaluate(look) == ["#15191e", "#e4e7eb"]
    heights = lambda plots: [[trace.get("y") for trace in plot["data"]] for plot in plots]
    assert heights(dark.evaluate(PLOTS)) == heights(page.evaluate(PLOTS))


@mark.parametrize("width, scheme, step", [(1280, "light", 2), (400, "dark", 2), (400, "light", 0)])
def test_axe_finds_nothing_serious_light_or_dark_narrow_or_wide(
    visit, address, width, scheme, step
):
    hash = address_of("sabma/0.5/3", "Flatness", compare="vi/0", more=f"step={step}")
    page = visit(f"{address}#{hash}", width=width, color_scheme=scheme)
    assert faults(page) == []
