"""Planes and dimensions: each figure is what a direct computation gives, and a switch keeps the others' state."""

import numpy as np
import pytest
from browsing import DRAWN
from pagedrive import at, drawn, same_traces

import flatviz as fv
from flatviz.pages.views import views_of


def test_a_relief_has_the_heights_that_the_map_has_as_colours_and_they_are_kept_once(family, bundle):
    index = bundle.index
    entries = {f["name"]: f for f in index["figures"]}
    for name in ("sharpest", "around"):
        flat, relief = (fv.widgets.plot_view(family, n, method="sabma", radius=2.0) for n in (name, f"{name} relief"))
        np.testing.assert_array_equal(flat.data[0].z, relief.data[0].z)
        np.testing.assert_array_equal(flat.data[0].customdata, relief.data[0].customdata)
        kept = [{b["path"]: b["field"] for b in entries[n]["binds"]}["data.0.z"] for n in (name, f"{name} relief")]
        assert kept[0] == kept[1]
    for view in views_of(family):  # whatever is like another is drawn from what that one keeps
        assert {b["field"] for b in entries[view.name]["binds"]} <= set(index["fields"]) | set(index["members"][0]["words"])


def same_ground(page, family, name, radius, n):
    figure = fv.widgets.plot_view(family, name, method="sabma", radius=radius, n_draws=n)
    same_traces(page.locator(".flatviz").evaluate(DRAWN)[name]["data"], figure, keys="xyz")


@pytest.mark.browser
def test_plane_and_dimensions_are_switched_and_all_else_stays(page, family):
    at(page, "method=sabma&radius=2&draws=5&tab=Flatness&draw=2", "sabma/2/5", "Flatness")
    menu = lambda name: page.locator("figure:not([hidden])").get_by_label(f"{name} of this picture")  # noqa: E731
    seen = page.locator("figure[data-name]:not([hidden])").first
    steps = (("view", "3-D relief", "sharpest relief"), ("plane", "random directions", "around relief"),
             ("view", "2-D map", "around"))  # fmt: skip
    for name, value, view in steps:
        menu(name).select_option(value)
        page.locator(f"figure[data-name='{view}'] .main-svg").first.wait_for(state="attached")
        assert seen.get_attribute("data-name") == view
        assert "radius=2&draws=5" in page.evaluate("location.hash") and "draw=2" in page.evaluate("location.hash")
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
