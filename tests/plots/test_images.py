"""Where draws disagree: the images are those of the largest measure, and what is drawn is what each draw says."""

import base64
import dataclasses

import numpy as np
import pytest
import torch
from browsing import plain

import flatviz as fv
from flatviz.families.family import extend
from flatviz.families.images import N_IMAGES, disputed, has_images
from flatviz.families.members import Fitting
from flatviz.pages.bundle import pack_members
from flatviz.pages.images import LEVELS
from flatviz.pages.views import views_of


def test_the_images_are_those_of_the_largest_mutual_information_at_every_ensemble_size(family, task):
    assert has_images(task)
    for i, p in enumerate(family.prediction):
        shown, nats = family[i].maps["shown"], family[i].maps["nats"]
        for n in range(2, p.n_draws + 1):
            every = fv.metrics.mutual_information(p, n_draws=n)  # the metric, in float32 and one size at a time
            assert float(every[shown[n - 1]].min()) >= float(every.topk(N_IMAGES).values.min()) - 1e-6
            torch.testing.assert_close(every[shown[n - 1]], nats[n - 1].float(), atol=1e-5, rtol=0)
        entropy = fv.metrics.predictive_entropy(p, n_draws=1)
        torch.testing.assert_close(entropy[shown[0]], entropy.topk(N_IMAGES).values, atol=1e-5, rtol=0)
    assert torch.equal(family[0].maps["shown"][0], family[0].maps["shown"][-1])  # MAP is one network at every size


def test_pixels_are_those_of_the_test_split(family, task):
    rows, pixels = family.images["index"], family.images["pixels"]
    torch.testing.assert_close(
        pixels.float() / 255, task.test.x[rows, 0], atol=0.51 / 255, rtol=0
    )  # half a grey level; digits are in 0..1


def test_an_output_that_diverged_is_never_among_the_most_disputed():
    outputs = torch.randn(3, 20, 4, generator=torch.Generator().manual_seed(0))
    outputs[1, 5] = torch.nan
    rows, nats = disputed(fv.Prediction(outputs, torch.zeros(20, dtype=torch.long)), 6)
    assert 5 not in rows[1:] and bool((nats >= 0).all())


def test_the_bytes_of_the_page_are_the_probabilities_of_each_draw(family, bundle):
    for i, meta in enumerate(bundle.index["members"]):
        said, p = meta["images"], family.prediction[i]
        levels = np.frombuffer(base64.b64decode(said["probs"]), np.uint8).reshape(p.n_draws, len(said["pool"]), -1)
        direct = p.outputs[:, said["pool"]].softmax(-1)
        np.testing.assert_allclose(levels / LEVELS, direct, atol=0.51 / LEVELS)  # half a level
        shown = np.array(said["pool"])[np.array(said["shown"])]
        assert np.array_equal(shown, family[i].maps["shown"])


def test_a_member_fitted_later_brings_the_images_it_adds(family, bundle, task, transferred):
    net, prior = transferred
    wide = fv.Gaussian(net.w, torch.full((net.dim,), -0.5))  # disagrees elsewhere
    more = extend(Fitting(net, task, prior, 0), family, "sabma", 9.0, wide)
    new = set(more.images["index"].tolist()) - set(family.images["index"].tolist())
    assert new
    meta = pack_members(bundle, more, [len(more) - 1]).index["members"][0]["images"]
    assert set(meta["rows"]) == new <= set(meta["pool"])
    pixels = np.frombuffer(base64.b64decode(meta["pixels"]), np.uint8).reshape(len(meta["rows"]), 8, 8)
    np.testing.assert_allclose(pixels / 255, task.test.x[meta["rows"], 0], atol=0.51 / 255)


def test_the_figure_shows_the_most_disputed_image_and_each_draw_of_it(family):
    i, n = family.index("sabma", 2.0), 4
    fig = fv.widgets.plot_view(family, "images", method="sabma", radius=2.0, n_draws=n)
    mosaic, labels, mean, draws = fig.data
    rows, p = family[i].maps["shown"][n - 1], family[i].prediction
    direct = p.outputs[:n, rows[0]].softmax(-1)
    torch.testing.assert_close(torch.tensor(plain(mean.y), dtype=torch.float32), direct.mean(0))
    lines = plain(draws.y).reshape(n, -1)
    np.testing.assert_allclose(lines[:, :-1], direct, rtol=1e-6)
    assert np.isnan(lines[:, -1]).all()  # the gap between two draws
    assert labels.text[0].startswith(f"{int(p.y[rows[0]])}, ")
    first = family.images["pixels"][torch.searchsorted(family.images["index"], rows[:1])][0]
    np.testing.assert_array_equal(plain(mosaic.z)[:8, :8, 0], first)


def test_a_family_without_images_has_no_such_view(family):
    bare = dataclasses.replace(family, images={})
    assert {v.name for v in views_of(family)} - {v.name for v in views_of(bare)} == {"images"}


@pytest.mark.parametrize("shape", [(6, 3, 80, 40), (6, 1, 8, 8)])
def test_large_images_are_averaged_down_and_colour_stays(shape):
    from flatviz.families.images import MOST_SIDE, _pixels

    x = torch.rand(shape, generator=torch.Generator().manual_seed(0))
    pixels = _pixels(fv.Data(x, torch.zeros(6, dtype=torch.long)), torch.tensor([1, 4]))
    assert pixels.dtype == torch.uint8 and pixels.shape == ((2, MOST_SIDE, 16, 3) if shape[1] == 3 else (2, 8, 8))
