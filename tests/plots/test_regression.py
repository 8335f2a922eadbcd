"""The live regression with a gap: its curves are those of direct fits, and the page computes the bands that plotly draws."""

import dataclasses
import json

import numpy as np
import pytest
import torch
from browsing import plain
from pagedrive import at, opened, same_traces, written

import flatviz as fv
from flatviz.families import regression
from flatviz.families.inputs import input_maps
from flatviz.families.regression import NOISE
from flatviz.plots.regression import plot_gap


@pytest.fixture(scope="module")
def curves(moons):
    """The family of two moons with maps of its inputs and the curves of its gap."""
    net, task, prior, family = moons
    family = input_maps(net, task, family, seed=1, reference=fv.Draws(prior.sample(100, seed=3)), resolution=5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regression, "STEPS", 30)
        patch.setattr(regression, "CHAINS", dict(kl_weight=1.0, chains=2, burn_in=4, n_draws=8, most_steps=4))
        patch.setattr(regression, "REFERENCE_DRAWS", 8)
        yield regression.gap_curves(family, seed=0)


def test_curves_are_draws_of_the_method_at_its_radius(curves):
    net, data, prior, x = regression._setting(0)
    start = fv.Gaussian(net.w, torch.full_like(net.w, 0.02).log(), prior.factor)
    how = dict(start=start, start_scale=1.0, kl_weight=1.0, seed=0, steps=30, likelihood=NOISE)
    q = fv.fit_sabma(net, data, prior, radius=2.0, **how)  # alone, not beside other radii
    i, vi = curves.index("sabma", 2.0), curves.index("vi")
    drawn = [m.maps["curves"] for m in curves]
    torch.testing.assert_close(drawn[i], torch.stack([net(w, x)[:, 0] for w in q.sample(12, seed=1)]), rtol=1e-4, atol=1e-5)
    q = fv.fit_vi(net, data, prior, **how)
    torch.testing.assert_close(drawn[vi], torch.stack([net(w, x)[:, 0] for w in q.sample(12, seed=1)]), rtol=1e-4, atol=1e-5)
    assert torch.equal(drawn[vi], drawn[curves.index("sabma", 0.0)])  # radius 0 is VI
    assert int(drawn[curves.index("sgd")].isfinite().all(1).sum()) == 1  # a point
    assert not torch.equal(drawn[curves.index("sam_mu", 0.1)], drawn[vi])


def test_mean_and_bands_are_two_standard_deviations_of_the_draws_with_and_without_noise(curves):
    i, n = curves.index("sabma", 2.0), 4
    fig = json.loads(fv.widgets.plot_view(curves, "regression", method="sabma", radius=2.0, n_draws=n).to_json())["data"]
    mine, outputs = [t for t in fig if t.get("xaxis") == "x2"], curves[i].maps["curves"][:n].double()
    mean, var = outputs.mean(0), outputs.var(0)
    for name, noise in (("with noise", NOISE), ("two standard deviations", 0.0)):
        (band,), wide = [t for t in mine if t["name"] == name], 2 * (var + noise**2).sqrt()
        np.testing.assert_allclose(plain(band["y"]), torch.cat([mean - wide, (mean + wide).flip(0)]), rtol=1e-5, atol=1e-6)
    (line,) = [t for t in mine if t["name"] == "mean"]
    np.testing.assert_allclose(plain(line["y"]), mean, rtol=1e-5, atol=1e-6)
    (lines,) = [t for t in mine if t["name"] == "draws"]
    single = plain(lines["y"]).reshape(n, -1)[:, :-1]
    np.testing.assert_allclose(single, curves[i].maps["curves"][:n], rtol=1e-6)


def test_a_fit_that_diverged_leaves_its_panel_empty(curves):
    nan = torch.full_like(curves[-1].maps["curves"], torch.nan)
    fig = plot_gap(curves.add(dataclasses.replace(curves[-1], maps={"curves": nan})), len(curves))
    drawn = [t for t in fig.data if t.xaxis == "x2" and t.name != "data"]
    assert not any(np.isfinite(np.array(t.y, float)).any() for t in drawn)


def test_a_member_that_joins_has_its_own_curves(curves):
    member = curves[curves.index("sabma", 2.0)]
    (row,) = regression.curve_rows(curves, [member], curves.n_draws, seed=0)
    torch.testing.assert_close(row["curves"], member.maps["curves"], rtol=1e-4, atol=1e-5)


@pytest.mark.browser
def test_in_the_page_both_sliders_draw_what_the_figure_has(curves, browser, tmp_path):
    page = opened(browser, written(curves, tmp_path))
    script = "(name) => JSON.parse(JSON.stringify(document.querySelector(`[data-name=${name}] .js-plotly-plot`).data))"
    for method, radius, n in (("sabma", 2.0, 3), ("sabma", 2.0, 12), ("sabma", 0.5, 1), ("sam_mu", 0.1, 5), ("sgd", 0.0, 5)):
        for tab, keys in (("Regression", "y"), ("Inputs", "z"))[
            : 1 + (method == "sabma")
        ]:  # where names are those of the start
            at(page, f"method={method}&radius={radius:g}&draws={n}&tab={tab}", f"{method}/{radius:g}/{n}", tab)
            page.locator(f"figure[data-name={tab.lower()}] .js-plotly-plot .main-svg").first.wait_for()
            direct = fv.widgets.plot_view(curves, tab.lower(), method=method, radius=radius, n_draws=n)
            assert same_traces(page.evaluate(script, tab.lower()), direct, keys=keys, rtol=1e-4, atol=1e-5) > 0
    assert not page.errors_met
    page.context.close()
