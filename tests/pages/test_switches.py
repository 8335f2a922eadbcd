"""Planes, quantities and dimensions: each figure is what a direct computation gives, and a switch keeps the others' state."""

import numpy as np
import pytest
import torch
from browsing import DRAWN
from pagedrive import at, drawn, same_traces

import flatviz as fv
from flatviz.pages.views import views_of


def test_the_ascents_plane_holds_sigma_g_and_g_and_its_values_are_the_losses_there(family, task, transferred):
    net, _ = transferred
    f = fv.nll(net, task.train)
    for i in (family.index("sabma", 2.0), family.index("sgd")):
        q, surface = family[i].posterior, family[i].maps["ascent"]
        w = q.center.clone().requires_grad_(True)
        (g,) = torch.autograd.grad(torch.nn.functional.cross_entropy(net(w, task.train.x), task.train.y), w)
        axes = surface.plane.axes
        torch.testing.assert_close((g @ axes.T) @ axes, g, rtol=1e-3, atol=1e-5)  # g lies in the plane
        if isinstance(q, fv.Gaussian):
            along = (2 * q.log_std).exp() * g + q.factor.T @ (q.factor @ g)
            assert float(along @ axes[0]) == pytest.approx(float(along.norm()), rel=1e-4)
        at_point = q.center + surface.a[1] * axes[0] + surface.b[3] * axes[1]
        assert float(surface.values[1, 3]) == pytest.approx(float(f(at_point)), rel=1e-4)


def test_accuracies_are_shares_of_training_examples_that_are_right(family, task, transferred):
    net, _ = transferred
    i = family.index("sabma", 2.0)
    right = lambda w: float((net(w, task.train.x).argmax(-1) == task.train.y).float().mean())  # noqa: E731
    surface = family.maps["accuracy"]
    w = surface.plane.origin + surface.a[2] * surface.plane.axes[0] + surface.b[4] * surface.plane.axes[1]
    assert float(surface.values[2, 4]) == pytest.approx(right(w), abs=1.01 / len(task.train))  # a tie may round
    W = family.posterior[i].sample(3, seed=1)
    assert [float(v) for v in family[i].maps["draws accuracy"][:3]] == pytest.approx([right(w) for w in W])
    assert bool(family[family.index("sgd")].maps["draws accuracy"][1:].isnan().all())


def test_a_relief_has_the_heights_that_the_map_has_as_colours_and_they_are_kept_once(family, bundle):
    index = bundle.index
    entries = {f["name"]: f for f in index["figures"]}
    for name in ("sharpest", "around", "ascent"):
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
def test_plane_quantity_and_dimensions_are_switched_and_all_else_stays(page, family):
    at(page, "method=sabma&radius=2&draws=5&tab=Flatness&draw=2", "sabma/2/5", "Flatness")
    menu = lambda name: page.locator("figure:not([hidden])").get_by_label(f"{name} of this picture")  # noqa: E731
    seen = page.locator("figure[data-name]:not([hidden])").first
    steps = (("view", "3-D relief", "sharpest relief"), ("plane", "random directions", "around relief"),
             ("plane", "the ascent's directions", "ascent relief"), ("view", "2-D map", "ascent"))  # fmt: skip
    for name, value, view in steps:
        menu(name).select_option(value)
        page.locator(f"figure[data-name='{view}'] .main-svg").first.wait_for(state="attached")
        assert seen.get_attribute("data-name") == view
        assert "radius=2&draws=5" in page.evaluate("location.hash") and "draw=2" in page.evaluate("location.hash")
        same_ground(page, family, view, 2.0, 5)
    page.get_by_role("tab", name="Surface").click()
    drawn(page, "sabma/2/5", "Surface")
    steps = (("view", "3-D relief", "relief"), ("quantity", "accuracy", "accuracy relief"), ("view", "2-D map", "accuracy"))
    for name, value, view in steps:
        menu(name).select_option(value)
        page.locator(f"figure[data-name='{view}'] .main-svg").first.wait_for(state="attached")
        same_ground(page, family, view, 2.0, 5)
    page.get_by_label("ensemble size", exact=True).fill("2")
    drawn(page, "sabma/2/2", "Surface")
    same_ground(page, family, "accuracy", 2.0, 2)
    for _ in range(2):
        page.get_by_role("button", name="Undo").click()
    page.locator("figure[data-name='accuracy relief']").wait_for()
