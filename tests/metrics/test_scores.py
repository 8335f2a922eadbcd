"""Scores, uncertainty, agreement and out-of-distribution: definitions, identities, edges,
scikit-learn."""

import math

import torch
from cases import rng
from pytest import approx, fixture, importorskip, mark, raises
from scipy.optimize import minimize_scalar
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    log_loss,
    roc_auc_score,
    roc_curve,
)
from torch import arange, float64, randn, tensor
from torch.testing import assert_close

import flatviz as fv
from flatviz import metrics
from flatviz.metrics.averaging import averaged


def predictions(seed, S=7, N=50):
    g = rng(seed)
    outputs = 2 * randn(S, N, 4, generator=g, dtype=float64)
    return fv.Prediction(outputs, torch.randint(0, 4, (N,), generator=g))


@fixture
def prediction():
    return predictions(0, S=6)


SCORES = [metrics.accuracy, metrics.nll, metrics.brier, metrics.ece]
FURTHER = [metrics.ace, metrics.class_ece]


def test_scores_of_every_size_equal_scikit_learn_on_averaged_probabilities(prediction):
    y = prediction.y.numpy()
    hot = torch.nn.functional.one_hot(prediction.y, 4).numpy()
    for size in range(1, 7):
        p = prediction.outputs[:size].softmax(-1).mean(0).numpy()
        found = [float(score(prediction)[size - 1]) for score in SCORES + FURTHER]
        assert found[:3] == approx(
            [accuracy_score(y, p.argmax(1)), log_loss(y, p), ((p - hot) ** 2).sum(1).mean()]
        )
        assert [float(score(prediction, n_draws=size)) for score in SCORES + FURTHER] == approx(
            found
        )
    with raises(ValueError, match="scores need labels, got none: predict on a Data"):
        metrics.accuracy(fv.Prediction(prediction.outputs))
    for shape in ((0, 4, 3), (2, 0, 3), (2, 4, 0)):
        with raises(ValueError, match="outputs must hold at least one number"):
            fv.Prediction(torch.zeros(shape))
    with raises(ValueError, match="y must hold 50 labels, one for each input, got 3"):
        prediction.changed(y=torch.zeros(3, dtype=torch.long))
    with raises(ValueError, match="asked for 7 draws, but this prediction has 6"):
        metrics.nll(prediction, n_draws=7)


def test_the_average_as_one_draw_has_the_scores_of_all_draws_together(prediction):
    one = averaged(prediction)
    for score in SCORES:
        assert_close(one.scores[score.__name__], score(prediction)[-1:])


def test_draws_that_are_sure_and_far_apart_have_a_finite_nll():
    sure = fv.Prediction(tensor([[[400.0, 0.0]], [[500.0, 0.0]]]), tensor([1]))
    assert metrics.nll(sure)[-1] == approx(400 + math.log(2))


def test_gaussian_nll_is_that_of_the_mixture():
    means = randn(3, 5, 1)
    y = randn(5)
    density = torch.distributions.Normal(means[..., 0], 0.4).log_prob(y).exp().mean(0)
    assert_close(metrics.nll(fv.Prediction(means, y, likelihood=0.4))[-1], -density.log().mean())


def test_equal_width_ece_equals_torchmetrics_and_confidence_one_falls_in_the_last_bin(prediction):
    sure = fv.Prediction(tensor([[[900.0, 0.0], [900.0, 0.0]]]), tensor([0, 1]))
    assert metrics.reliability(sure, n_draws=1)[:, 0].tolist() == [0.0] * 14 + [2.0]
    assert metrics.ece(sure)[0] == approx(0.5)
    theirs = importorskip("torchmetrics.functional.classification").multiclass_calibration_error
    for size in (1, 6):
        expected = theirs(prediction.bma(size), prediction.y, num_classes=4, n_bins=15, norm="l1")
        assert metrics.ece(prediction)[size - 1] == approx(float(expected), abs=1e-6)


def test_calibration_of_all_classes_is_that_of_torchmetrics_and_of_a_loop_over_bins(
    prediction,
):
    theirs = importorskip("torchmetrics.functional.classification").binary_calibration_error
    p = prediction.bma()
    expected = [
        float(theirs(p[:, c].contiguous(), (prediction.y == c).long(), n_bins=15, norm="l1"))
        for c in range(4)
    ]
    assert metrics.class_ece(prediction)[-1] == approx(sum(expected) / 4, abs=1e-6)
    each = [float(metrics.class_ece(prediction, label=c)[-1]) for c in range(4)]
    assert each == approx(expected, abs=1e-6)
    logit = prediction.outputs[..., :1]  # of a network with one output: the error of p(1)
    one = fv.Prediction(logit, prediction.y % 2, "bernoulli")
    p1 = logit.sigmoid().mean(0)[:, 0]
    want = float(theirs(p1, prediction.y % 2, n_bins=15, norm="l1"))
    assert metrics.class_ece(one, label=1)[-1] == approx(want, abs=1e-6)
    with raises(ValueError, match="label must be below 4, the number of classes, got 4"):
        metrics.class_ece(prediction, label=4)
    total = 0.0
    for c in range(4):
        order = sorted(range(50), key=lambda i: float(p[i, c]))
        for first in range(0, 50, 10):
            total += abs(
                sum(float(prediction.y[i] == c) - float(p[i, c]) for i in order[first : first + 10])
                / 10
            )
    assert metrics.ace(prediction, n_bins=5)[-1] == approx(total / (4 * 5))


def test_temperature_scaling_undoes_a_temperature_and_is_the_minimum_of_scipy(prediction):
    # Not the seed of y
    logits = randn(1, 20_000, 3, generator=rng(9), dtype=float64)
    y = torch.distributions.Categorical(logits=logits[0]).sample()  # calibrated by construction
    hot = fv.Prediction(3.0 * logits, y)
    assert metrics.fit_temperature(hot) == approx(3.0, rel=0.05)
    cooled = metrics.scale_temperature(hot, metrics.fit_temperature(hot))
    assert cooled.scores["ece"][0] < 0.02 < metrics.ece(hot)[0]
    assert torch.equal(cooled.scores["accuracy"], metrics.accuracy(hot))
    learned = fv.Prediction(
        prediction.outputs + 2 * torch.nn.functional.one_hot(prediction.y, 4), prediction.y
    )

    def nll(log_t):  # of an average of six draws
        return log_loss(learned.y, (learned.outputs / math.exp(log_t)).softmax(-1).mean(0))

    best = math.exp(
        minimize_scalar(nll, bounds=(-3, 3), method="bounded", options=dict(xatol=1e-9)).x
    )
    with torch.inference_mode():
        assert metrics.fit_temperature(learned) == approx(best, rel=1e-5)
    for outputs, y in (
        (logits[:, :9].double(), logits[0, :9].argmax(-1)),
        (logits[:, :9], logits[0, :9].argmin(-1)),
    ):
        with raises(ValueError, match="no best temperature between 1/100 and 100"):
            metrics.fit_temperature(fv.Prediction(outputs, y))
    learned.outputs[2, 7, 1] = math.nan
    with raises(ValueError, match="got NaN or inf: drop those draws"):
        metrics.fit_temperature(learned)


def test_a_temperature_is_that_of_the_log_probabilities_of_what_counts_whatever_the_likelihood():
    g = rng(26001)
    outputs = 3 * randn(2, 300, 3, generator=g, dtype=float64)
    y = (outputs[0] + 2 * randn(300, 3, generator=g, dtype=float64)).argmax(-1)
    plain = fv.Prediction(outputs, y)
    T = metrics.fit_temperature(plain)
    categorical = torch.distributions.Categorical
    probabilities = fv.Likelihood(lambda p: categorical(probs=p))
    same = fv.Prediction(outputs.softmax(-1), y, probabilities)
    assert metrics.fit_temperature(same) == approx(T, rel=1e-5)
    cooled, other = (metrics.scale_temperature(p, 3.0) for p in (plain, same))
    assert_close(other.probs, (outputs / 3).softmax(-1))
    assert_close(other.scores["nll"], cooled.scores["nll"])
    # labels that do not count lie anywhere: as without them
    keep = y != 0
    some = fv.Prediction(outputs, y, fv.Likelihood.categorical(ignore_index=0))
    alone = metrics.fit_temperature(fv.Prediction(outputs[:, keep], y[keep]))
    assert metrics.fit_temperature(some) == alone
    some = fv.Prediction(outputs, y.where(keep, -100), fv.Likelihood.categorical())
    assert metrics.fit_temperature(some) == alone
    kept = fv.Prediction(outputs[:, keep], y[keep])
    assert_close(metrics.ece(some), metrics.ece(kept))
    # tokens are rows; one logit z is two classes with logits 0 and z
    tokens = fv.Prediction(outputs.unflatten(1, (60, 5)), y.view(60, 5))
    assert metrics.fit_temperature(tokens) == T
    z = outputs[..., :1]
    two = fv.Prediction(torch.cat([torch.zeros_like(z), z], -1), (y == 0).long())
    one = fv.Prediction(z, (y == 0).long(), "bernoulli")
    assert metrics.fit_temperature(one) == approx(metrics.fit_temperature(two), rel=1e-6)
    assert_close(metrics.scale_temperature(one, 2.0).outputs, z / 2)


def test_equal_probabilities_count_with_their_mean_so_that_no_order_of_the_examples_matters():
    y = arange(200) // 100
    half = fv.Prediction(torch.zeros(1, 200, 2, dtype=float64), y)
    assert metrics.ace(half) == approx(0, abs=1e-12)  # half of each, at p = 1/2
    few = predictions(4, S=1, N=60)
    coarse = few.outputs.round()  # many ties
    order = torch.randperm(60, generator=rng(1))
    for score in (metrics.ace, metrics.risk_coverage):
        as_they_come = score(fv.Prediction(coarse, few.y))
        shuffled = score(fv.Prediction(coarse[:, order], few.y[order]))
        assert_close(shuffled, as_they_come, rtol=1e-12, atol=1e-12)
    tied = fv.Prediction(tensor([[[1.0, 0.0], [1.0, 0.0], [3.0, 0.0]]]), tensor([1, 0, 0]))
    # the sure one is right; of the two behind it one is wrong, whichever goes first
    assert metrics.risk_coverage(tied).tolist() == approx([0, 0.25, 1 / 3])


def test_predict_carries_the_scores_of_every_size(transferred, task):
    net, prior = transferred
    p = fv.predict(net, prior, task.test, 4, seed=0)
    for score in SCORES:
        assert_close(p.scores[score.__name__], score(p))
    assert_close(p.bins[2], metrics.reliability(p, n_draws=3), equal_nan=True)
    module = net.to_module(prior.sample(4, seed=0)[3])
    assert_close(p.outputs[3], module(task.test.x).detach(), rtol=1e-4, atol=1e-5)
    unlabelled = fv.predict(net, prior, task.test.x, 2, seed=0)
    assert_close(unlabelled.outputs, p.outputs[:2])
    labelled = unlabelled.changed(y=task.test.y)
    assert_close(labelled.scores["accuracy"], p.scores["accuracy"][:2])


def test_mutual_information_is_a_mean_divergence_and_disagreement_counts_pairs(
    prediction,
):
    p = prediction.probs
    mean = prediction.bma()
    kl = (p * (p / mean).log()).sum(-1).mean(0)
    assert_close(metrics.mutual_information(prediction), kl)
    total = metrics.aleatoric_entropy(prediction) + metrics.mutual_information(prediction)
    assert_close(metrics.predictive_entropy(prediction), total)
    assert_close(
        metrics.predictive_entropy(prediction), torch.distributions.Categorical(mean).entropy()
    )
    assert metrics.mutual_information(prediction, n_draws=1).max() == 0.0
    sure = fv.Prediction(tensor([[[900.0, 0.0]], [[0.0, 900.0]]]))
    assert metrics.mutual_information(sure)[0] == approx(math.log(2))
    answers = prediction.outputs.argmax(-1)
    assert_close(metrics.disagreement(prediction), (answers[:, None] != answers).double().mean(-1))


def test_out_of_distribution_scores_are_those_of_scikit_learn_and_invariant_to_monotone_maps():
    # another width: the two conventions part
    inside = randn(200)
    outside = 2 * randn(150) + 1
    for a, b in (
        (inside.double(), outside.double()),
        (inside.round(decimals=1), outside.round(decimals=1)),
    ):
        found = metrics.ood_scores(a, b)
        score = torch.cat([a, b]).numpy()
        is_out = [0] * 200 + [1] * 150
        for side, positive, s in (("out", is_out, score), ("in", [1 - v for v in is_out], -score)):
            fpr, tpr, _ = roc_curve(positive, s)
            assert found[f"fpr95_{side}"] == approx(fpr[tpr >= 0.95][0])
            assert found[f"aupr_{side}"] == approx(average_precision_score(positive, s))
        assert found["auroc"] == approx(roc_auc_score(is_out, score))
        assert found["base_out"] == approx(150 / 350)
        for moved in (metrics.ood_scores(40 * a, 40 * b), metrics.ood_scores(a - 7, b - 7)):
            assert moved == approx(found)  # a sigmoid squeezed in between would change them
    assert abs(found["fpr95_out"] - found["fpr95_in"]) > 0.1
    with raises(ValueError, match=r"outside must have shape \(D,\)"):
        metrics.ood_scores(inside, outside[None])


def test_both_equal_their_definitions_input_by_input():
    a = predictions(0)
    b = predictions(1, S=3)
    same = 0
    apart = 0.0
    for n in range(50):
        p, r = (
            sum(torch.softmax(outputs[n], 0) for outputs in x.outputs) / len(x.outputs)
            for x in (a, b)
        )
        same += int(p.argmax()) == int(r.argmax())
        events = [sum((p - r)[c] for c in range(4) if chosen >> c & 1) for chosen in range(16)]
        apart += float(max(events))  # the largest difference in the probability of any event
    assert metrics.agreement(a, b) == same / 50
    assert metrics.total_variation(a, b) == approx(apart / 50)
    assert metrics.total_variation(a, b) == metrics.total_variation(b, a)
    assert metrics.agreement(a, a) == 1
    assert metrics.total_variation(a, a) == 0
    averaged = b.log_probs.exp().mean(0)  # in place of draws
    assert metrics.total_variation(a, averaged) == approx(metrics.total_variation(a, b), rel=1e-6)
    assert metrics.agreement(averaged, a) == metrics.agreement(b, a)


A = predictions(0)


@mark.parametrize(
    "reference, kind, text",
    [
        (
            predictions(0, N=20),
            ValueError,
            r"both must be of the same inputs and classes, got \(50, 4\), \(20, 4\)",
        ),
        (
            A.outputs,
            ValueError,
            r"reference must hold averaged class probabilities \(N, C\), got shape \(7, 50, 4\)",
        ),
        ([], TypeError, r"must be a Prediction, or averaged probabilities \(N, C\), got a list"),
        (
            A.outputs[0],
            ValueError,
            "reference must hold class probabilities, rows >= 0 that sum to 1, got others",
        ),
        (
            torch.ones(50, 4),
            ValueError,
            "reference must hold class probabilities, rows >= 0 that sum to 1, got others",
        ),
    ],
)
def test_what_is_no_reference_of_these_inputs_is_told_and_diverged_predictions_agree_with_nothing(
    reference, kind, text
):
    spoiled = fv.Prediction(A.outputs.clone().index_fill_(0, tensor([2]), math.nan))
    for metric in (metrics.agreement, metrics.total_variation):
        assert math.isnan(metric(spoiled, A))
        with raises(kind, match=text):
            metric(A, reference)


@mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_scores_of_half_precision_are_those_of_its_numbers_in_double(dtype):
    """Counts in eight bits stand still at 256."""
    outputs = randn(2, 20_000, 3, generator=rng()).to(dtype)
    y = arange(20_000) % 3
    half, double = (fv.Prediction(o, y) for o in (outputs, outputs.double()))
    for name in half.scores:
        assert_close(half.scores[name].double(), double.scores[name], rtol=1e-4, atol=1e-6)
    assert half.bins[..., 0].sum(-1).tolist() == [20_000, 20_000]
    for f in (metrics.mutual_information, metrics.disagreement):
        assert_close(f(half).double(), f(double), rtol=1e-4, atol=1e-5)
