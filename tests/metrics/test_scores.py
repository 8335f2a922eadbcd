"""Scores, uncertainty, agreement and out-of-distribution: definitions, identities, edges,
scikit-learn."""

import math
from functools import partial

import torch
from cases import close, net_of, normals, refused, rng
from pytest import approx, fixture, mark
from scipy.optimize import minimize_scalar
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    log_loss,
    recall_score,
    roc_auc_score,
    roc_curve,
)
from torch import arange, float64, randn, stack, tensor
from torch.distributions import Categorical, Normal
from torch.nn.functional import one_hot
from torch.testing import assert_close
from torchmetrics.functional.classification import (
    binary_calibration_error,
    multiclass_calibration_error,
)

import flatviz as fv
from flatviz import metrics
from flatviz.metrics.averaging import averaged
from flatviz.metrics.scores import SCORES


def predictions(seed, S=7, N=50):
    g = rng(seed)
    outputs = 2 * normals(S, N, 4, source=g)
    y = torch.randint(0, 4, (N,), generator=g)
    return fv.Prediction(outputs, y)


@fixture
def prediction():
    return predictions(0, S=6)


CARRIED = [metrics.accuracy, metrics.nll, metrics.brier, metrics.ece]  # by every prediction


@mark.parametrize("size", range(1, 7))
def test_scores_of_every_size_equal_scikit_learn_on_averaged_probabilities(prediction, size):
    y = prediction.y.numpy()
    probs = prediction.outputs.softmax(-1)
    p = probs[:size].mean(0).numpy()
    squares = (p - one_hot(prediction.y, 4).numpy()) ** 2
    want = {
        metrics.accuracy: accuracy_score(y, p.argmax(1)),
        metrics.nll: log_loss(y, p),
        metrics.brier: squares.sum(1).mean(),
    }
    for score, value in want.items():
        close(score(prediction)[size - 1], value)
    for score in SCORES.values():
        alone = score(prediction, n_draws=size)
        close(alone, score(prediction)[size - 1])


def test_what_has_no_scores_is_told(prediction):
    with refused("scores need labels, got none: predict on a Data"):
        metrics.accuracy(fv.Prediction(prediction.outputs))
    without_draws = (0, 4, 3)
    without_inputs = (2, 0, 3)
    without_classes = (2, 4, 0)
    for shape in (without_draws, without_inputs, without_classes):
        with refused("outputs must hold at least one number"):
            fv.Prediction(torch.zeros(shape))
    with refused("y must hold 50 labels, one for each input, got 3"):
        prediction.changed(y=torch.zeros(3, dtype=torch.long))
    with refused("asked for 7 draws, but this prediction has 6"):
        metrics.nll(prediction, n_draws=7)


def test_the_average_as_one_draw_has_the_scores_of_all_draws_together(prediction):
    one = averaged(prediction)
    for score in CARRIED:
        of_all = score(prediction)[-1:]
        assert_close(one.scores[score.__name__], of_all)


def test_draws_that_are_sure_and_far_apart_have_a_finite_nll():
    outputs = tensor([[400.0, 0.0], [500.0, 0.0]])
    sure = fv.Prediction(outputs[:, None], tensor([1]))
    close(metrics.nll(sure)[-1], 400 + math.log(2))


def test_gaussian_nll_is_that_of_the_mixture():
    means = randn(3, 5, 1)
    y = randn(5)
    draws = Normal(means[..., 0], 0.4)
    density = draws.log_prob(y).exp().mean(0)
    found = metrics.nll(fv.Prediction(means, y, likelihood=0.4))
    assert_close(found[-1], -density.log().mean())


@mark.parametrize("size", [1, 6])
def test_equal_width_ece_equals_torchmetrics(prediction, size):
    p = prediction.bma(size)
    theirs = multiclass_calibration_error(
        p,
        prediction.y,
        num_classes=4,
        n_bins=15,
        norm="l1",
    )
    assert metrics.ece(prediction)[size - 1] == approx(float(theirs), abs=1e-6)


def test_confidence_one_falls_in_the_last_bin():
    outputs = tensor([[900.0, 0.0], [900.0, 0.0]])
    sure = fv.Prediction(outputs[None], tensor([0, 1]))
    count = metrics.reliability(sure, n_draws=1)[:, 0]
    assert count.tolist() == [0.0] * 14 + [2.0]
    close(metrics.ece(sure)[0], 0.5)


def calibration_of(p, right):
    """Of one class, by torchmetrics."""
    error = binary_calibration_error(
        p.contiguous(),
        right.long(),
        n_bins=15,
        norm="l1",
    )
    return float(error)


def test_calibration_of_all_classes_is_that_of_torchmetrics(prediction):
    p = prediction.bma()
    expected = [calibration_of(p[:, c], prediction.y == c) for c in range(4)]
    near = partial(approx, abs=1e-6)
    assert metrics.class_ece(prediction)[-1] == near(sum(expected) / 4)
    for c in range(4):
        of_class = metrics.class_ece(prediction, label=c)
        assert of_class[-1] == near(expected[c])
    with refused("label must be below 4, the number of classes, got 4"):
        metrics.class_ece(prediction, label=4)


def test_calibration_of_a_network_with_one_output_is_that_of_its_probability_of_one(prediction):
    logit = prediction.outputs[..., :1]
    y = prediction.y % 2
    one = fv.Prediction(logit, y, "bernoulli")
    p = logit.sigmoid().mean(0)[:, 0]
    found = metrics.class_ece(one, label=1)
    assert found[-1] == approx(calibration_of(p, y), abs=1e-6)


def test_adaptive_calibration_is_that_of_a_loop_over_bins(prediction):
    p = prediction.bma()
    gaps = []
    for c in range(4):
        order = p[:, c].argsort()
        for bin in order.split(10):
            right = (prediction.y[bin] == c).double()
            gap = right.mean() - p[bin, c].mean()
            gaps.append(gap.abs())
    found = metrics.ace(prediction, n_bins=5)
    close(found[-1], stack(gaps).mean())


def test_temperature_scaling_undoes_a_temperature():
    # Not the seed of y
    logits = normals(1, 20_000, 3, source=9)
    y = Categorical(logits=logits[0]).sample()  # calibrated by construction
    hot = fv.Prediction(3.0 * logits, y)
    T = metrics.fit_temperature(hot)
    assert approx(3.0, rel=0.05) == T
    cooled = metrics.scale_temperature(hot, T)
    assert metrics.ece(hot) > 0.02
    assert metrics.ece(cooled) < 0.02
    assert torch.equal(cooled.scores["accuracy"], metrics.accuracy(hot))


def test_the_temperature_of_an_average_is_the_minimum_of_scipy(prediction):
    y = prediction.y
    outputs = prediction.outputs + 2 * one_hot(y, 4)

    def nll(log_t):
        p = (outputs / math.exp(log_t)).softmax(-1)
        return log_loss(y, p.mean(0))

    best = minimize_scalar(
        nll,
        bounds=(-3, 3),
        method="bounded",
        options=dict(xatol=1e-9),
    ).x
    with torch.inference_mode():
        T = metrics.fit_temperature(fv.Prediction(outputs, y))
    assert approx(math.exp(best), rel=1e-5) == T
    outputs[2, 7, 1] = math.nan
    with refused("got NaN or inf for 1 inputs: drop those draws"):
        metrics.fit_temperature(fv.Prediction(outputs, y))


@mark.parametrize("answer", [torch.argmax, torch.argmin])
def test_answers_that_are_all_right_or_all_wrong_have_no_best_temperature(answer):
    outputs = randn(1, 9, 3)
    prediction = fv.Prediction(outputs, answer(outputs[0], -1))
    with refused("no best temperature between .* and .*: predict on more"):
        metrics.fit_temperature(prediction)


@mark.parametrize("scale", [1e-7, 1e-3, 0.03, 300.0, 1e6])
def test_a_temperature_scales_with_the_logits_be_they_cosines_or_huge(scale):
    y = torch.randint(3, (500,), generator=rng(4))
    outputs = 2.0 * one_hot(y, 3) + normals(1, 500, 3, source=5)
    T = metrics.fit_temperature(fv.Prediction(outputs, y))
    found = metrics.fit_temperature(fv.Prediction(scale * outputs, y))
    assert approx(scale * T, rel=1e-6) == found


def test_logits_of_classes_that_are_ruled_out_do_not_widen_the_search():
    y = torch.randint(3, (500,), generator=rng(4))
    outputs = 1e-3 * (2.0 * one_hot(y, 3) + normals(1, 500, 3, source=5))
    T = metrics.fit_temperature(fv.Prediction(outputs, y))
    ruled_out = torch.full((1, 500, 1), -math.inf)
    found = metrics.fit_temperature(fv.Prediction(torch.cat([outputs, ruled_out], -1), y))
    assert approx(T, rel=1e-6) == found


class TestTemperature:
    """It is that of the log-probabilities of what counts, whatever the likelihood."""

    g = rng(26001)
    outputs = 3 * normals(2, 300, 3, source=g)
    noise = 2 * normals(300, 3, source=g)
    y = (outputs[0] + noise).argmax(-1)
    plain = fv.Prediction(outputs, y)
    T = metrics.fit_temperature(plain)

    def test_of_probabilities_is_that_of_their_logits(self):
        likelihood = fv.Likelihood(lambda p: Categorical(probs=p))
        same = fv.Prediction(self.outputs.softmax(-1), self.y, likelihood)
        close(metrics.fit_temperature(same), self.T, 1e-5)
        cooled = metrics.scale_temperature(self.plain, 3.0)
        other = metrics.scale_temperature(same, 3.0)
        assert_close(other.probs, (self.outputs / 3).softmax(-1))
        assert_close(other.scores["nll"], cooled.scores["nll"])

    @mark.parametrize("ignored", [0, -100])
    def test_leaves_out_labels_that_do_not_count(self, ignored):
        keep = self.y != 0
        likelihood = fv.Likelihood.categorical(ignore_index=ignored)
        labels = self.y.where(keep, ignored)
        some = fv.Prediction(self.outputs, labels, likelihood)
        kept = fv.Prediction(self.outputs[:, keep], self.y[keep])
        assert metrics.fit_temperature(some) == metrics.fit_temperature(kept)
        assert_close(metrics.ece(some), metrics.ece(kept))

    def test_takes_tokens_as_rows(self):
        outputs = self.outputs.unflatten(1, (60, 5))
        tokens = fv.Prediction(outputs, self.y.view(60, 5))
        assert metrics.fit_temperature(tokens) == self.T

    def test_takes_one_logit_as_two(self):
        y = (self.y == 0).long()
        z = self.outputs[..., :1]
        one = fv.Prediction(z, y, "bernoulli")
        logits = torch.cat([0 * z, z], -1)
        two = fv.Prediction(logits, y)
        close(metrics.fit_temperature(one), metrics.fit_temperature(two), 1e-6)
        assert_close(metrics.scale_temperature(one, 2.0).outputs, z / 2)


def test_equal_probabilities_count_with_their_mean():
    y = arange(200) // 100
    half = fv.Prediction(torch.zeros(1, 200, 2, dtype=float64), y)
    assert metrics.ace(half) == approx(0, abs=1e-12)  # half of each, at p = 1/2
    outputs = tensor([[1.0, 0.0], [1.0, 0.0], [3.0, 0.0]])
    tied = fv.Prediction(outputs[None], tensor([1, 0, 0]))
    # the sure one is right; of the two behind it one is wrong, whichever goes first
    close(metrics.risk_coverage(tied), [0, 0.25, 1 / 3])


@mark.parametrize("score", [metrics.ace, metrics.risk_coverage])
def test_no_order_of_the_examples_matters(score):
    few = predictions(4, S=1, N=60)
    outputs = few.outputs.round()  # many ties
    order = torch.randperm(60, generator=rng(1))
    plain = fv.Prediction(outputs, few.y)
    shuffled = fv.Prediction(outputs[:, order], few.y[order])
    close(score(shuffled), score(plain), 1e-12)


def test_predict_carries_the_scores_of_every_size(transferred, task):
    net, prior = transferred
    p = fv.predict(net, prior, task.test, 4, seed=0)
    for score in CARRIED:
        assert_close(p.scores[score.__name__], score(p))
    assert_close(p.bins[2], metrics.reliability(p, n_draws=3), equal_nan=True)
    last = prior.sample(4, seed=0)[3]
    outputs = net.to_module(last)(task.test.x)
    assert_close(p.outputs[3], outputs.detach(), rtol=1e-4, atol=1e-5)
    unlabelled = fv.predict(net, prior, task.test.x, 2, seed=0)
    assert_close(unlabelled.outputs, p.outputs[:2])
    labelled = unlabelled.changed(y=task.test.y)
    assert_close(labelled.scores["accuracy"], p.scores["accuracy"][:2])


def test_mutual_information_is_a_mean_divergence_and_disagreement_counts_pairs(prediction):
    p = prediction.probs
    mean = prediction.bma()
    information = metrics.mutual_information(prediction)
    divergence = (p * (p / mean).log()).sum(-1)
    assert_close(information, divergence.mean(0))
    whole = metrics.predictive_entropy(prediction)
    assert_close(whole, Categorical(mean).entropy())
    assert_close(metrics.aleatoric_entropy(prediction) + information, whole)
    assert metrics.mutual_information(prediction, n_draws=1).max() == 0.0
    outputs = tensor([[900.0, 0.0], [0.0, 900.0]])
    sure = fv.Prediction(outputs[:, None])
    close(metrics.mutual_information(sure)[0], math.log(2))
    answers = prediction.outputs.argmax(-1)
    differ = answers[:, None] != answers
    assert_close(metrics.disagreement(prediction), differ.double().mean(-1))


def by_scikit_learn(is_out, score):
    """FPR at a TPR of 95 %, and AUPR, of what is_out says is positive."""
    fpr, tpr, _ = roc_curve(is_out, score)
    return fpr[tpr >= 0.95][0], average_precision_score(is_out, score)


@mark.parametrize("decimals", [None, 1])  # with ties
def test_out_of_distribution_scores_are_those_of_scikit_learn(decimals):
    # another width: the two conventions part
    a = randn(200).double()
    b = 2 * randn(150).double() + 1
    if decimals is not None:
        a = a.round(decimals=decimals)
        b = b.round(decimals=decimals)
    found = metrics.ood_scores(a, b)
    score = torch.cat([a, b]).numpy()
    is_out = (arange(350) >= 200).numpy()
    out = found["fpr95_out"], found["aupr_out"]
    close(out, by_scikit_learn(is_out, score))
    inside = found["fpr95_in"], found["aupr_in"]
    close(inside, by_scikit_learn(~is_out, -score))
    close(found["auroc"], roc_auc_score(is_out, score))
    close(found["base_out"], 150 / 350)
    assert abs(found["fpr95_out"] - found["fpr95_in"]) > 0.1
    # a sigmoid squeezed in between would change them
    assert metrics.ood_scores(40 * a - 7, 40 * b - 7) == approx(found)
    with refused(r"outside must have shape \(D,\)"):
        metrics.ood_scores(a, b[None])


def test_agreement_and_total_variation_equal_their_definitions_input_by_input():
    a = predictions(0)
    b = predictions(1, S=3)
    p = a.outputs.softmax(-1).mean(0)
    r = b.outputs.softmax(-1).mean(0)
    # the largest difference in the probability of any event
    in_or_out = tensor([0.0, 1.0]).double()
    events = torch.cartesian_prod(*[in_or_out] * 4)
    differences = (p - r) @ events.T
    apart = differences.amax(1).mean()
    same = p.argmax(1) == r.argmax(1)
    close(metrics.agreement(a, b), same.double().mean())
    close(metrics.total_variation(a, b), apart)
    assert metrics.total_variation(a, b) == metrics.total_variation(b, a)
    assert metrics.agreement(a, a) == 1
    assert metrics.total_variation(a, a) == 0
    # probabilities in place of draws
    close(metrics.total_variation(a, r), metrics.total_variation(a, b), 1e-6)
    assert metrics.agreement(r, a) == metrics.agreement(b, a)


A = predictions(0)
NO_ROWS = "reference must hold class probabilities, rows >= 0 that sum to 1, got others"


@mark.parametrize(
    "reference, kind, text",
    [
        (predictions(0, N=20), ValueError, r"the same inputs .*, got \(50, 4\), \(20, 4\)"),
        (A.outputs, ValueError, r"probabilities \(N, C\), got shape \(7, 50, 4\)"),
        ([], TypeError, r"must be a Prediction, or averaged probabilities \(N, C\), got a list"),
        (A.outputs[0], ValueError, NO_ROWS),
        (torch.ones(50, 4), ValueError, NO_ROWS),
    ],
)
@mark.parametrize("metric", [metrics.agreement, metrics.total_variation])
def test_what_is_no_reference_of_these_inputs_is_told(metric, reference, kind, text):
    with refused(text, kind):
        metric(A, reference)


def test_diverged_predictions_agree_with_nothing():
    outputs = A.outputs.clone()
    outputs[2] = math.nan
    spoiled = fv.Prediction(outputs)
    assert math.isnan(metrics.agreement(spoiled, A))
    assert math.isnan(metrics.total_variation(spoiled, A))


@mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_scores_of_half_precision_are_those_of_its_numbers_in_double(dtype):
    """Counts in eight bits stand still at 256."""
    outputs = normals(2, 20_000, 3).to(dtype)
    y = arange(20_000) % 3
    half = fv.Prediction(outputs, y)
    double = fv.Prediction(outputs.double(), y)
    near = dict(rtol=1e-4, atol=1e-5, check_dtype=False)
    for name, scores in half.scores.items():
        assert_close(scores, double.scores[name], **near)
    counts = half.bins[..., 0].sum(-1)
    assert counts.tolist() == [20_000, 20_000]
    for f in (metrics.mutual_information, metrics.disagreement):
        assert_close(f(half), f(double), **near)


def test_the_false_rate_is_read_at_the_first_threshold_that_reaches_95_percent():
    """Every value stands once on each side: the curve is a diagonal of 20 steps, whose inner points
    lie on one line."""
    score = arange(20).double()
    found = metrics.ood_scores(score, score)
    assert found["fpr95_in"] == approx(0.95)
    assert found["fpr95_out"] == approx(0.95)


@mark.parametrize("size", [1, 4, 6])
def test_scores_of_rare_classes_are_scikit_learns(prediction, size):
    y = prediction.y.numpy()
    p = prediction.bma(size).numpy()
    found = metrics.recall(prediction, n_draws=size)
    close(found, tensor(recall_score(y, p.argmax(1), average=None)), 1e-6)
    balanced = metrics.balanced_accuracy(prediction)[size - 1]
    close(balanced, balanced_accuracy_score(y, p.argmax(1)), 1e-6)
    for label in range(4):
        area = metrics.auroc(prediction, label=label)[size - 1]
        close(area, roc_auc_score(y == label, p[:, label]), 1e-6)


def test_a_class_without_labels_has_no_recall_and_does_not_count():
    logits = tensor([[[2.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    prediction = fv.Prediction(logits, tensor([0, 1, 1]))
    recall = metrics.recall(prediction, n_draws=1)
    assert recall.isnan().tolist() == [False, False, True]
    assert float(metrics.balanced_accuracy(prediction, n_draws=1)) == 0.75


def test_the_area_of_two_classes_counts_ties_by_half_and_sees_past_certainty():
    """Of logits 60 and 80 both probabilities are 1 in float32."""
    z = tensor([0.0, 0.0, 60.0, 80.0, 80.0])
    y = tensor([0, 1, 0, 1, 0])
    for outputs, likelihood in ((z[None, :, None], "bernoulli"), (two(z), "categorical")):
        area = metrics.auroc(fv.Prediction(outputs, y, likelihood), n_draws=1)
        close(area, roc_auc_score(y, z), 1e-6)


def two(z):
    """Logits (1, N, 2) of one logit an example."""
    return stack([0 * z, z], -1)[None]


def test_an_area_needs_a_class_and_others(prediction):
    with refused("auroc needs label="):
        metrics.auroc(prediction)
    with refused("label must be below 4"):
        metrics.auroc(prediction, label=4)
    with refused("auroc needs inputs of class 1 and of others, got 0 of 3"):
        metrics.auroc(fv.Prediction(two(tensor([0.0, 1.0, 2.0])), tensor([0, 0, 0])))
    with refused("'auroc' is of a class, and a function"):
        fv.score(prediction, "auroc")


@mark.parametrize("weight", [[0.5, 10.0, 1.0], tensor([0.5, 10.0, 1.0])])
def test_of_class_weights_there_is_a_score_with_and_one_without(weight):
    g = rng(3)
    y = torch.randint(0, 3, (80,), generator=g)
    x = normals(80, 2, source=g)
    likelihood = fv.Likelihood.categorical(weight=weight)
    net = net_of(torch.nn.Linear(2, 3).double())
    logits = net(net.w, x).detach()
    prediction = fv.Prediction(logits[None], y, likelihood)
    of_torch = torch.nn.functional.cross_entropy(logits, y, weight=torch.as_tensor(weight).double())
    close(fv.score(prediction, "weighted_nll", n_draws=1), of_torch, 1e-6)
    close(fv.nll(net, fv.Data(x, y), likelihood=likelihood)(net.w).detach(), of_torch, 1e-6)
    close(fv.score(prediction, "nll", n_draws=1), log_loss(y, logits.softmax(1)), 1e-6)
    plain = prediction.changed(likelihood="categorical")
    assert torch.equal(metrics.weighted_nll(plain), metrics.nll(plain))


def test_scores_of_logits_need_no_labels_and_tell_what_is_outside():
    outputs = normals(3, 40, 5, source=rng(5))
    prediction = fv.Prediction(outputs)
    close(metrics.energy(prediction, n_draws=2), -outputs[:2].exp().sum(-1).log().mean(0), 1e-6)
    close(metrics.max_logit(prediction), -outputs.max(-1).values.mean(0), 1e-6)
    inside = fv.Prediction(outputs + 6 * one_hot(arange(40) % 5, 5))
    for score in (metrics.energy, metrics.max_logit):
        found = metrics.ood_scores(score(inside).numpy(), score(prediction).numpy())
        assert found["auroc"] > 0.95
        with refused("needs those of one label an example"):
            score(fv.Prediction(outputs, likelihood="bernoulli"))


def test_a_mean_of_classes_names_the_averaged_probabilities(prediction):
    with refused(r"a mean needs a regression, got classes: read bma\(\)"):
        _ = prediction.mean


class TwoInputs(torch.nn.Module):
    """A bilinear form, of which both inputs count."""

    def __init__(self):
        super().__init__()
        self.head = torch.nn.Bilinear(3, 2, 4)

    def forward(self, left, right):
        return self.head(left, right)


@mark.parametrize("form", [dict, tuple])
@mark.parametrize("link", ["probit", "mc"])
def test_predictions_take_inputs_of_several_tensors_with_and_without_labels(form, link):
    g = rng(8)
    parts = {
        "left": torch.randn(7, 3, generator=g),
        "right": torch.randn(7, 2, generator=g),
    }
    x = parts if form is dict else tuple(parts.values())
    net = fv.Net.from_module(TwoInputs())
    q = fv.Gaussian(net.w, torch.full_like(net.w, -1.0))
    data = fv.Data(x, arange(7) % 4)
    linear = metrics.predict_linearised
    pairs = [
        (fv.predict(net, q, x, 5, seed=0), fv.predict(net, q, data, 5, seed=0)),
        (linear(net, q, x, link=link, seed=0), linear(net, q, data, link=link, seed=0)),
    ]
    for alone, labelled in pairs:
        assert alone.y is None
        assert torch.equal(labelled.y, data.y)
        assert torch.equal(alone.outputs, labelled.outputs)


def test_a_linearised_prediction_of_inputs_alone_takes_any_posterior():
    g = rng(9)
    x = torch.randn(40, 2, generator=g)
    data = fv.Data(x, arange(40) % 3)
    net = fv.Net.from_module(torch.nn.Linear(2, 3))
    q = fv.fit(net, data, fv.Laplace(), seed=0, steps=0)
    alone = metrics.predict_linearised(net, q, x.numpy())
    assert torch.equal(alone.outputs, metrics.predict_linearised(net, q, data).outputs)
    with refused("do not pass through"):
        metrics.predict_linearised(net, q, x[:, :1])
