"""Sliders and switches: what a control moves is drawn alone, and the picture is the one that
plotly.js makes from nothing."""

from browsing import DRAWN, in_page
from pagedrive import address_of, drawn, go, same_traces
from pytest import fixture, mark

import flatviz as fv

pytestmark = mark.browser

DIFFERENT = in_page("differs_when_drawn_anew")
WATCH = in_page("places_of_the_first_draw")


@fixture(scope="module", autouse=True)
def counted(page):
    page.evaluate(in_page("count_whole_redraws"))


@mark.parametrize("tab", ["Surface", "Radius", "Flatness", "Scores"])
def test_radius_and_ensemble_size_draw_their_traces_alone_and_right(page, tab):
    go(page, "sabma/0.5/3", tab)
    page.evaluate(DIFFERENT)  # colour bar and margins come to rest
    for states in (
        ["sabma/2/3"],
        ["sabma/2/5", "sabma/0.5/4", "sabma/2/1"],
        ["sabma/2/6", "sabma/0.5/6"],
    ):
        for state in states:
            go(page, state, tab)
        assert page.evaluate("() => window.reacted") == []
        assert page.evaluate(DIFFERENT) == []


def test_play_goes_through_the_fitted_radii_once_and_its_draws_glide(page):
    places = 0
    for _ in range(3):  # a busy machine leaves out frames
        go(page, "sabma/0/3", "Surface")
        page.get_by_role("button", name="Play").click()
        drawn(page, "sabma/0.5/3")
        places = max(places, page.evaluate(WATCH))  # on the way from radius 0.5 to 2
        drawn(page, "sabma/2/3")
        page.get_by_role("button", name="Play").wait_for()  # it ends by itself
        if places > 4:
            break
    assert places > 4
    assert page.evaluate(DIFFERENT) == []  # and stands where the figure of radius 2 has its draws
    page.get_by_role("button", name="Undo").click()
    drawn(page, "sabma/0/3")  # one step, however far it played


def test_the_reader_takes_over_from_play(page):
    go(page, "sabma/0/3", "Surface")
    page.get_by_role("button", name="Play").click()
    drawn(page, "sabma/0.5/3")
    page.get_by_label("ensemble size", exact=True).fill("5")  # in the middle of the way
    drawn(page, "sabma/2/5")
    page.get_by_label("radius", exact=True).fill("1")
    drawn(page, "sabma/0.5/5")
    assert page.get_by_role("button", name="Play").count() == 1
    page.wait_for_timeout(1500)
    drawn(page, "sabma/0.5/5")
    assert page.evaluate(DIFFERENT) == []


def test_nothing_glides_for_a_reader_who_wants_less_motion(visit, address):
    start = address_of("sabma/0/3", "Surface")
    still = visit(f"{address}#{start}", reduced_motion="reduce")
    still.get_by_role("button", name="Play").click()
    drawn(still, "sabma/0.5/3")
    assert still.evaluate(WATCH) <= 2  # there, and then at radius 2


def same_ground(page, family, name, radius, n):
    figure = fv.widgets.plot_view(
        family,
        name,
        method="sabma",
        radius=radius,
        n_draws=n,
    )
    shown = page.locator(".flatviz").evaluate(DRAWN)[name]["data"]
    assert same_traces(shown, figure, keys="xyz") > 0


def choose(page, menu, value, view):
    """Take a value of a menu of the first picture, and wait until the view is drawn."""
    figure = page.locator("figure:not([hidden])")
    figure.get_by_label(f"{menu} of this picture").select_option(value)
    page.locator(f"figure[data-name='{view}'] .main-svg").first.wait_for(state="attached")


def test_plane_and_dimensions_are_switched_and_all_else_stays(page, family):
    go(page, "sabma/2/5", "Flatness", more="draw=2")
    shown = page.locator("figure[data-name]:not([hidden])").first
    for menu, value, view in (
        ("view", "3-D relief", "sharpest relief"),
        ("plane", "random directions", "around relief"),
        ("view", "2-D map", "around"),
    ):
        choose(page, menu, value, view)
        assert shown.get_attribute("data-name") == view
        hash = page.evaluate("location.hash")
        assert "radius=2&draws=5" in hash
        assert "draw=2" in hash
        same_ground(page, family, view, 2.0, 5)


def test_a_relief_follows_the_ensemble_size_and_is_undone(page, family):
    go(page, "sabma/2/5", "Surface")
    choose(page, "view", "3-D relief", "relief")
    same_ground(page, family, "relief", 2.0, 5)
    page.get_by_label("ensemble size", exact=True).fill("2")
    drawn(page, "sabma/2/2", "Surface")
    same_ground(page, family, "relief", 2.0, 2)
    for _ in range(2):
        page.get_by_role("button", name="Undo").click()
    page.locator("figure[data-name='surface']").wait_for()
