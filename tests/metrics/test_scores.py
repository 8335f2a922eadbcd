"""Scores: definitions, edges, and every ensemble size in one pass."""

import math

import pytest
import torch
from sklearn.metrics import accuracy_score, log_loss

import flatviz as fv


@pytest.fixture
def prediction():
    g = torch.Generator().manual_seed(0)
    outputs = 2 * torch.randn(6, 50, 4, generator=g, dtype=torch.float64)
    return fv.Prediction(outputs, torch.randint(0, 4, (50,), generator=g))


def test_scores_of_every_size_equal_scikit_learn_on_averaged_probabilities(prediction):
    y = prediction.y.numpy()
    for size in range(1, 7):
        p = prediction.outputs[:size].softmax(-1).mean(0).numpy()
        assert float(fv.metrics.accuracy(prediction)[size - 1]) == pytest.approx(accuracy_score(y, p.argmax(1)))
        assert float(fv.metrics.nll(prediction)[size - 1]) == pytest.approx(log_loss(y, p, labels=range(4)))
        hot = torch.nn.functional.one_hot(prediction.y, 4).numpy()
        assert float(fv.metrics.brier(prediction)[size - 1]) == pytest.approx(((p - hot) ** 2).sum(1).mean())
        for score in (fv.metrics.accuracy, fv.metrics.nll, fv.metrics.brier, fv.metrics.ece):
            assert float(score(prediction, n_draws=size)) == pytest.approx(float(score(prediction)[size - 1]))


def test_nll_of_a_sure_mistake_is_finite_and_the_average_is_no_worse_than_its_members(prediction):
    sure = fv.Prediction(torch.tensor([[[400.0, 0.0]]]), torch.tensor([1]))
    assert float(fv.metrics.nll(sure)[0]) == pytest.approx(400.0)
    members = torch.stack([fv.metrics.nll(fv.Prediction(o[None], prediction.y))[0] for o in prediction.outputs])
    assert float(fv.metrics.nll(prediction)[-1]) <= float(members.mean())


def test_gaussian_nll_is_that_of_the_mixture():
    g = torch.Generator().manual_seed(1)
    means, y = torch.randn(3, 5, 1, generator=g), torch.randn(5, generator=g)
    p = fv.Prediction(means, y, likelihood=0.4)
    density = torch.distributions.Normal(means[..., 0], 0.4).log_prob(y).exp().mean(0)
    torch.testing.assert_close(fv.metrics.nll(p)[-1], -density.log().mean())


def test_confidence_one_falls_in_the_last_bin():
    sure = fv.Prediction(torch.tensor([[[900.0, 0.0], [900.0, 0.0]]]), torch.tensor([0, 1]))
    bins = fv.metrics.reliability(sure, n_draws=1)
    assert bins[:, 0].tolist() == [0.0] * 14 + [2.0]
    assert float(fv.metrics.ece(sure)[0]) == pytest.approx(0.5)


def test_equal_width_ece_equals_torchmetrics_where_no_confidence_is_one(prediction):
    theirs = pytest.importorskip("torchmetrics.functional.classification").multiclass_calibration_error
    for size in (1, 6):
        p = prediction.outputs[:size].softmax(-1).mean(0)
        expected = theirs(p, prediction.y, num_classes=4, n_bins=15, norm="l1")
        assert float(fv.metrics.ece(prediction)[size - 1]) == pytest.approx(float(expected), abs=1e-6)


def test_predict_carries_the_scores_of_every_size(transferred, task):
    net, prior = transferred
    p = fv.predict(net, prior, task.test, 4, seed=0)
    assert p.outputs.shape == (4, len(task.test), 10)
    for name, score in (
        ("accuracy", fv.metrics.accuracy),
        ("nll", fv.metrics.nll),
        ("ece", fv.metrics.ece),
        ("brier", fv.metrics.brier),
    ):
        torch.testing.assert_close(p.scores[name], score(p))
    torch.testing.assert_close(p.bins[2], fv.metrics.reliability(p, n_draws=3), equal_nan=True)
    module = net.to_module(prior.sample(4, seed=0)[3])
    torch.testing.assert_close(p.outputs[3], module(task.test.x).detach(), rtol=1e-4, atol=1e-5)
    unlabelled = fv.predict(net, prior, task.test.x, 2, seed=0)
    torch.testing.assert_close(unlabelled.outputs, p.outputs[:2])
    torch.testing.assert_close(fv.metrics.accuracy(unlabelled, task.test.y), p.scores["accuracy"][:2])
    assert math.isclose(float(p.bma(4).sum()), len(task.test), rel_tol=1e-5)


def test_scores_without_labels_or_with_too_many_draws_say_so(prediction):
    with pytest.raises(ValueError, match="scores need labels, got none: predict on a Data, or give y"):
        fv.metrics.accuracy(fv.Prediction(prediction.outputs))
    with pytest.raises(ValueError, match="y must hold 50 labels, got 3"):
        fv.metrics.accuracy(prediction, torch.zeros(3, dtype=torch.long))
    with pytest.raises(ValueError, match="asked for 7 draws, but this prediction has 6"):
        fv.metrics.nll(prediction, n_draws=7)
