"""Where draws disagree, over images and over inputs in the plane: what is drawn is what each draw
says."""

import base64
import dataclasses

import numpy as np
import torch
from browsing import DRAWN
from cases import refused, rng
from internals import extend, pack_members, views_of
from pagedrive import at, opened, same_traces, written
from pytest import approx, fixture, mark
from torch.testing import assert_close

import flatviz as fv
from flatviz.families import Fitting
from flatviz.families.maps import MAX_SIDE, _pixels, disputed, input_maps
from flatviz.plots.inputs import plot_input_maps


def names(family):
    return {view.name for view in views_of(family)}


def test_the_images_are_those_of_the_largest_mutual_information_at_every_ensemble_size(family):
    for member in family:
        shown = member.maps["shown"]
        nats = member.maps["nats"]
        for n in range(2, member.prediction.n_draws + 1):
            # The metric, in float32 and one size at a time
            every = fv.metrics.mutual_information(member.prediction, n_draws=n)
            rows = shown[n - 1]
            least = float(every.topk(len(rows)).values.min())
            assert every[rows].min() >= least - 1e-6
            assert_close(every[rows], nats[n - 1].float(), atol=1e-5, rtol=0)
        entropy = fv.metrics.predictive_entropy(member.prediction, n_draws=1)
        first = entropy[shown[0]]
        assert_close(first, entropy.topk(len(first)).values, atol=1e-5, rtol=0)
    # MAP is one network at every size
    assert torch.equal(family[0].maps["shown"][0], family[0].maps["shown"][-1])


def test_an_output_that_diverged_is_never_among_the_most_disputed():
    outputs = torch.randn(3, 20, 4, generator=rng())
    outputs[1, 5] = torch.nan
    rows, nats = disputed(fv.Prediction(outputs, torch.zeros(20, dtype=torch.long)), 6)
    assert 5 not in rows[1:]
    assert (nats >= 0).all()


def test_a_member_fitted_later_brings_the_images_it_adds(family, bundle, task, transferred):
    net, prior = transferred
    wide = fv.Gaussian(net.w, torch.full_like(net.w, -0.5))  # disagrees elsewhere
    more = extend(Fitting(net, task, prior, 0), family, "sabma", 9.0, wide)
    new = set(more.images["index"].tolist()) - set(family.images["index"].tolist())
    assert new
    (member,) = pack_members(bundle, more, [len(more) - 1]).index["members"]
    images = member["images"]
    rows = images["rows"]
    assert set(rows) == new <= set(images["pool"])
    pixels = np.frombuffer(base64.b64decode(images["pixels"]), np.uint8)
    shown = pixels.reshape(len(rows), 8, 8) / 255
    np.testing.assert_allclose(shown, task.test.x[rows, 0], atol=0.51 / 255)


def test_only_a_family_with_images_has_their_view(family):
    without = dataclasses.replace(family, images={})
    assert names(family) - names(without) == {"images"}
    with refused("view must be one of"):
        fv.widgets.plot_view(family, "images")


@mark.parametrize(
    "shape, shown", [((6, 3, 80, 40), (2, MAX_SIDE, 16, 3)), ((6, 1, 8, 8), (2, 8, 8))]
)
def test_large_images_are_averaged_down_and_colour_stays(shape, shown):
    data = fv.Data(torch.rand(shape, generator=rng()), torch.zeros(6, dtype=torch.long))
    pixels = _pixels(data, torch.tensor([1, 4]))
    assert pixels.dtype == torch.uint8
    assert pixels.shape == shown


@fixture(scope="module")
def shown(moons):
    """The family of two moons with maps of its inputs."""
    net, task, prior, family = moons
    reference = fv.Draws(prior.sample(100, seed=3))
    return input_maps(
        net,
        task,
        family,
        seed=1,
        reference=reference,
        resolution=7,
    )


@mark.browser
def test_in_the_page_both_sliders_draw_what_the_figure_has(shown, browser, tmp_path):
    page = opened(browser, written(shown, tmp_path))
    for radius, n in ((2.0, 3), (2.0, 12), (0.5, 1)):
        address = f"method=sabma&radius={radius:g}&draws={n}&tab=Inputs"
        at(page, address, f"sabma/{radius:g}/{n}", "Inputs")
        page.locator("figure[data-name=inputs] .js-plotly-plot .main-svg").first.wait_for()
        direct = fv.widgets.plot_view(
            shown,
            "inputs",
            method="sabma",
            radius=radius,
            n_draws=n,
        )
        drawn = page.locator(".flatviz").evaluate(DRAWN)["inputs"]["data"]
        assert same_traces(drawn, direct, keys="z", rtol=1e-4, atol=1e-5) > 0
    assert not page.errors_met
    page.context.close()


def test_a_map_holds_the_averaged_probability_of_every_ensemble_size_at_every_input(moons, shown):
    net, _, _, family = moons
    i = family.index("sabma", 0.5)
    found = shown[i].maps["probs"]
    x = torch.stack([shown.inputs["a"][2], shown.inputs["b"][5]])
    W = family.posterior[i].sample(4, seed=1)
    probs = torch.stack([net(w, x[None]).softmax(-1)[0, 1] for w in W])
    for n in (1, 3, 4):
        assert found[n - 1, 5, 2] == approx(float(probs[:n].mean()), abs=1e-5)
    sgd = shown[family.index("sgd")].maps["probs"]
    assert torch.equal(sgd[0], sgd[3])  # a point is every ensemble
    fig = plot_input_maps(shown, i)
    assert [note.text for note in fig.layout.annotations] == ["VI", "SA-BMA", "HMC", ""]
    (live,) = [part for part in fig.live if part.rows == "size"]
    assert_close(torch.as_tensor(live.values), found)
    assert names(shown) - names(family) == {"inputs"}
