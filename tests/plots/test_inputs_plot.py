"""Uncertainty in input space: what is drawn is what the draws predict."""

import pytest
import torch

import flatviz as fv
from flatviz.families.inputs import has_input_maps, input_maps
from flatviz.pages.views import views_of
from flatviz.plots.inputs import plot_input_maps


def test_a_map_holds_the_averaged_probability_of_every_ensemble_size_at_every_input(moons):
    net, task, prior, family = moons
    assert has_input_maps(task)
    shown = input_maps(net, task, family, seed=1, reference=fv.Draws(prior.sample(100, seed=3)), resolution=7)
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


def test_the_gap_has_no_data_and_every_method_predicts_there():
    data, x = fv.families.gap_regression(seed=1)
    assert not bool(((data.x > -1.0) & (data.x < 0.8)).any()) and len(data) == 40
    predictions = fv.families.predict_gap(radii=[0.5, 1.0], n_draws=3, steps=3, hmc=False)
    assert list(predictions) == ["vi", "sabma, radius 0.5", "sabma, radius 1"]
    assert all(p.outputs.shape == (3, 200, 1) and p.likelihood == 0.1 for p in predictions.values())
