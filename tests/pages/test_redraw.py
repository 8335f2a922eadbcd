"""Sliders and switches: what a control moves is drawn alone, and the picture is the one
that plotly.js makes from nothing."""

from browsing import DRAWN, in_page
from pagedrive import at, drawn, same_traces
from pytest import fixture, mark

import flatviz as fv

pytestmark = mark.browser

COUNT = in_page("count_whole_redraws")
DIFFERENT = in_page("differs_when_drawn_anew")


@fixture(scope="module", autouse=True)
def counted(page):
    page.evaluate(COUNT)


@mark.parametrize("tab", ["Surface", "Radius", "Flatness", "Scores"])
def test_radius_and_ensemble_size_draw_their_traces_alone_and_right(page, tab):
    at(page, f"method=sabma&radius=0.5&draws=3&tab={tab}", "sabma/0.5/3", tab)
    page.evaluate(DIFFERENT)  # colour bar and margins come to rest
    for moves in (((2, 3),), ((2, 5), (0.5, 4), (2, 1)), ((2, 6), (0.5, 6))):
        for radius, draws in moves:
            at(
                page,
                f"method=sabma&radius={radius}&draws={draws}&tab={tab}",
                f"sabma/{radius}/{draws}",
                tab,
            )
        assert page.evaluate("() => window.reacted") == []
        assert page.evaluate(DIFFERENT) == []


WATCH = in_page("places_of_the_first_draw")


def test_play_goes_through_the_fitted_radii_once_and_its_draws_glide(page):
    places = 0
    for _ in range(3):  # a busy machine leaves out frames
        at(page, "method=sabma&radius=0&draws=3&tab=Surface", "sabma/0/3", "Surface")
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
    page.get_by_role("button", name="Play").click()
    drawn(page, "sabma/0.5/3")
    page.get_by_label("ensemble size", exact=True).fill("5")  # in the middle of the way
    drawn(page, "sabma/2/5")
    page.get_by_label("radius", exact=True).fill("1")  # the reader takes over
    drawn(page, "sabma/0.5/5")
    assert page.get_by_role("button", name="Play").count() == 1
    page.wait_for_timeout(1500)
    drawn(page, "sabma/0.5/5")
    assert page.evaluate(DIFFERENT) == []


def test_nothing_glides_for_a_reader_who_wants_less_motion(visit, address):
    still = visit(address + "#method=sabma&radius=0&draws=3&tab=Surface", reduced_motion="reduce")
    still.get_by_role("button", name="Play").click()
    drawn(still, "sabma/0.5/3")
    assert still.evaluate(WATCH) <= 2  # there, and then at radius 2


def same_ground(page, family, name, radius, n):
    figure = fv.widgets.plot_view(family, name, method="sabma", radius=radius, n_draws=n)
    same_traces(page.locator(".flatviz").evaluate(DRAWN)[name]["data"], figure, keys="xyz")


@mark.browser
def test_plane_and_dimensions_are_switched_and_all_else_stays(page, family):
    at(page, "method=sabma&radius=2&draws=5&tab=Flatness&draw=2", "sabma/2/5", "Flatness")
    menu = lambda name: page.locator("figure:not([hidden])").get_by_label(f"{name} of this picture")
    seen = page.locator("figure[data-name]:not([hidden])").first
    steps = (
        ("view", "3-D relief", "sharpest relief"),
        ("plane", "random directions", "around relief"),
        ("view", "2-D map", "around"),
    )
    for name, value, view in steps:
        menu(name).select_option(value)
        page.locator(f"figure[data-name='{view}'] .main-svg").first.wait_for(state="attached")
        assert seen.get_attribute("data-name") == view
        assert "radius=2&draws=5" in page.evaluate("location.hash")
        assert "draw=2" in page.evaluate("location.hash")
        same_ground(page, family, view, 2.0, 5)
    page.get_by_role("tab", name="Surface").click()
    drawn(page, "sabma/2/5", "Surface")
    menu("view").select_option("3-D relief")
    page.locator("figure[data-name='relief'] .main-svg").first.wait_for(state="attached")
    same_ground(page, family, "relief", 2.0, 5)
    page.get_by_label("ensemble size", exact=True).fill("2")
    drawn(page, "sabma/2/2", "Surface")
    same_ground(page, family, "relief", 2.0, 2)
    for _ in range(2):
        page.get_by_role("button", name="Undo").click()
    page.locator("figure[data-name='surface']").wait_for()
