"""Agreement and total variation to a reference's predictions, against their definitions written out."""

import math

import pytest
import torch

import flatviz as fv


def predictions(seed, S=7, N=50, C=4):
    return fv.Prediction(2 * torch.randn(S, N, C, generator=torch.Generator().manual_seed(seed)))


def test_both_equal_their_definitions_input_by_input():
    a, b = predictions(0), predictions(1, S=3)
    same, apart = 0, 0.0
    for n in range(50):
        p, r = (sum(torch.softmax(x.outputs[s, n].double(), 0) for s in range(len(x.outputs))) / len(x.outputs) for x in (a, b))
        same += int(p.argmax()) == int(r.argmax())
        events = [sum((p - r)[c] for c in range(4) if chosen >> c & 1) for chosen in range(16)]
        apart += float(max(events))  # the largest difference in the probability of any event
    assert fv.metrics.agreement(a, b) == same / 50
    assert fv.metrics.total_variation(a, b) == pytest.approx(apart / 50, rel=1e-6)  # log-softmax runs in float32
    assert fv.metrics.total_variation(a, b) == fv.metrics.total_variation(b, a)
    assert fv.metrics.agreement(a, a) == 1 and fv.metrics.total_variation(a, a) == 0


def test_averaged_probabilities_serve_in_place_of_draws():
    a, b = predictions(0), predictions(1)
    averaged = b.log_probs.exp().mean(0)
    assert fv.metrics.total_variation(a, averaged) == pytest.approx(fv.metrics.total_variation(a, b), rel=1e-6)
    assert fv.metrics.agreement(averaged, a) == fv.metrics.agreement(b, a)


def test_bad_input_and_diverged_predictions_are_told():
    a = predictions(0)
    spoiled = fv.Prediction(a.outputs.clone().index_fill_(0, torch.tensor([2]), math.nan))
    assert math.isnan(fv.metrics.agreement(spoiled, a)) and math.isnan(fv.metrics.total_variation(spoiled, a))
    with pytest.raises(ValueError, match=r"must be of the same inputs and classes, got \(50, 4\), \(20, 4\)"):
        fv.metrics.agreement(a, predictions(0, N=20))
    with pytest.raises(ValueError, match=r"reference must hold averaged class probabilities \(N, C\), got shape \(7, 50, 4\)"):
        fv.metrics.total_variation(a, a.outputs)
    with pytest.raises(TypeError, match=r"prediction must be a Prediction, or averaged probabilities \(N, C\), got a list"):
        fv.metrics.agreement([], a)


@pytest.mark.parametrize("table", (torch.randn(50, 4), torch.ones(50, 4)))
def test_logits_are_no_probabilities(table):
    for metric in (fv.metrics.agreement, fv.metrics.total_variation):
        with pytest.raises(ValueError, match=r"reference must hold class probabilities, rows >= 0 that sum to 1, got others"):
            metric(predictions(0), table)
