"""Uncertainty in input space: what is drawn is what the draws predict."""

import pytest
import torch
from pagedrive import at, opened, same_traces, written

import flatviz as fv
from flatviz.families.inputs import has_input_maps, input_maps
from flatviz.pages.views import views_of
from flatviz.plots.inputs import plot_input_maps


@pytest.fixture(scope="module")
def shown(moons):
    """The family of two moons with maps of its inputs."""
    net, task, prior, family = moons
    return input_maps(net, task, family, seed=1, reference=fv.Draws(prior.sample(100, seed=3)), resolution=7)


@pytest.mark.browser
def test_in_the_page_both_sliders_draw_what_the_figure_has(shown, browser, tmp_path):
    page = opened(browser, written(shown, tmp_path))
    script = "() => JSON.parse(JSON.stringify(document.querySelector('[data-name=inputs] .js-plotly-plot').data))"
    for radius, n in ((2.0, 3), (2.0, 12), (0.5, 1)):
        at(page, f"method=sabma&radius={radius:g}&draws={n}&tab=Inputs", f"sabma/{radius:g}/{n}", "Inputs")
        page.locator("figure[data-name=inputs] .js-plotly-plot .main-svg").first.wait_for()
        direct = fv.widgets.plot_view(shown, "inputs", method="sabma", radius=radius, n_draws=n)
        assert same_traces(page.evaluate(script), direct, keys="z", rtol=1e-4, atol=1e-5) > 0
    assert not page.errors_met
    page.context.close()


def test_a_map_holds_the_averaged_probability_of_every_ensemble_size_at_every_input(moons, shown):
    net, task, prior, family = moons
    assert has_input_maps(task)
    maps, i = shown.inputs, family.index("sabma", 0.5)
    probs_of = shown[i].maps["probs"]
    W = family.posterior[i].sample(4, seed=1)
    x = torch.stack([maps["a"][2], maps["b"][5]])[None]
    probs = torch.stack([net(w, x).softmax(-1)[0, 1] for w in W])
    for n in (1, 3, 4):
        assert float(probs_of[n - 1, 5, 2]) == pytest.approx(float(probs[:n].mean()), abs=1e-5)
    sgd = shown[family.index("sgd")].maps["probs"]
    assert torch.equal(sgd[0], sgd[3])  # a point is every ensemble
    fig = plot_input_maps(shown, i)
    assert [a.text for a in fig.layout.annotations] == ["VI", "SA-BMA", "HMC", ""]
    live = next(p for p in fig.live if p.rows == "size")
    torch.testing.assert_close(torch.as_tensor(live.values), probs_of)
    assert {v.name for v in views_of(shown)} - {v.name for v in views_of(family)} == {"inputs"}


def test_a_family_of_images_has_no_map(family, task):
    assert not has_input_maps(task) and "inputs" not in {v.name for v in views_of(family)}
