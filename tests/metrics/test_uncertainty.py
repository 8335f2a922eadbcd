"""Uncertainty, diversity, out-of-distribution: identities, edges, scikit-learn."""

import math

import pytest
import torch
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

import flatviz as fv


@pytest.fixture
def prediction():
    g = torch.Generator().manual_seed(0)
    outputs = 2 * torch.randn(6, 50, 4, generator=g, dtype=torch.float64)
    return fv.Prediction(outputs, torch.randint(0, 4, (50,), generator=g))


def test_mutual_information_is_the_mean_divergence_of_the_draws_from_their_average(prediction):
    p, mean = prediction.probs, prediction.bma()
    kl = (p * (p / mean).log()).sum(-1).mean(0)
    torch.testing.assert_close(fv.metrics.mutual_information(prediction), kl)
    total = fv.metrics.aleatoric_entropy(prediction) + fv.metrics.mutual_information(prediction)
    torch.testing.assert_close(fv.metrics.predictive_entropy(prediction), total)
    torch.testing.assert_close(fv.metrics.predictive_entropy(prediction), torch.distributions.Categorical(mean).entropy())
    assert float(fv.metrics.mutual_information(prediction, n_draws=1).max()) == 0.0
    sure = fv.Prediction(torch.tensor([[[900.0, 0.0]], [[0.0, 900.0]]]))
    assert float(fv.metrics.mutual_information(sure)[0]) == pytest.approx(math.log(2))


def test_disagreement_of_each_pair(prediction):
    answers = prediction.outputs.argmax(-1)
    apart = fv.metrics.disagreement(prediction)
    for s in range(6):
        for t in range(6):
            assert float(apart[s, t]) == pytest.approx(float((answers[s] != answers[t]).double().mean()))


def test_out_of_distribution_scores_count_ties_by_half_and_do_not_see_a_monotone_map():
    g = torch.Generator().manual_seed(0)
    inside = torch.randn(300, generator=g).round(decimals=1)
    outside = (torch.randn(200, generator=g) + 1).round(decimals=1)
    scores = fv.metrics.ood_scores(inside, outside)
    by_pairs = (outside[:, None] > inside).double() + 0.5 * (outside[:, None] == inside).double()
    assert scores["auroc"] == pytest.approx(float(by_pairs.mean()))
    assert scores["auroc"] == pytest.approx(roc_auc_score([0] * 300 + [1] * 200, torch.cat([inside, outside]).numpy()))
    assert scores["base_out"] == 0.4 and scores["aupr_out"] > 0.4
    for moved in (fv.metrics.ood_scores(40 * inside, 40 * outside), fv.metrics.ood_scores(inside - 7, outside - 7)):
        assert moved == pytest.approx(scores)  # a sigmoid squeezed in between would change them
    with pytest.raises(ValueError, match=r"outside must have shape \(D,\)"):
        fv.metrics.ood_scores(inside, outside[None])


def test_fpr95_and_average_precision_of_seven_scores_counted_by_hand():
    scores = fv.metrics.ood_scores(torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([2.5, 3.5, 5.0]))
    # from the top: 5 out, 4 in, 3.5 out, 3 in, 2.5 out, 2 in, 1 in
    assert scores["aupr_out"] == pytest.approx((1 / 1 + 2 / 3 + 3 / 5) / 3)
    assert scores["aupr_in"] == pytest.approx((1 / 1 + 2 / 2 + 3 / 4 + 4 / 6) / 4)  # from the bottom
    assert scores["fpr95_out"] == pytest.approx(2 / 4)  # all outside are >= 2.5: so are 3 and 4 of the four inside
    assert scores["fpr95_in"] == pytest.approx(2 / 3)  # all inside are <= 4: so are 2.5 and 3.5 of the three outside


def test_out_of_distribution_scores_are_those_of_scikit_learn():
    g = torch.Generator().manual_seed(0)
    inside = torch.randn(200, generator=g, dtype=torch.float64)
    outside = 2 * torch.randn(150, generator=g, dtype=torch.float64) + 1  # another width: the two conventions part
    found = fv.metrics.ood_scores(inside, outside)
    score, is_out = torch.cat([inside, outside]).numpy(), [0] * 200 + [1] * 150
    for side, positive, s in (("out", is_out, score), ("in", [1 - v for v in is_out], -score)):
        fpr, tpr, _ = roc_curve(positive, s)
        assert found[f"fpr95_{side}"] == pytest.approx(fpr[tpr >= 0.95][0])
        assert found[f"aupr_{side}"] == pytest.approx(average_precision_score(positive, s))
    assert abs(found["fpr95_out"] - found["fpr95_in"]) > 0.1
