"""Scores under shift, risk against coverage, and their figures: against loops over corrupted copies
and counts by hand."""

import torch
from cases import around, refused, rng
from pytest import approx, fixture, mark
from torch import arange, nn
from torch.testing import assert_close

import flatviz as fv


@fixture(scope="module")
def pictures():
    g = rng()
    x = torch.rand(40, 1, 8, 8, generator=g)
    data = fv.Data(x, arange(40) % 3)
    module = nn.Sequential(nn.BatchNorm2d(1), nn.Flatten(), nn.Linear(64, 3))
    net = fv.pretrain(module, data, seed=0, epochs=3)
    return net, around(net, -2.0), data


def test_shifted_scores_are_those_of_each_corrupted_copy(pictures):
    net, q, data = pictures
    how = dict(kinds=["fog", "contrast"], severities=[1, 4], n_draws=3, seed=5)
    shift = fv.families.shifted_scores(net, q, data, batchnorm="frozen", **how)
    assert shift.severities == (0, 1, 4)
    assert (shift.n, shift.n_draws, shift.batchnorm) == (40, 3, "frozen")

    def scores_of(kind, severity):
        there = fv.datasets.corrupt(data, kind, severity, seed=5) if severity else data
        return fv.predict(net, q, there, 3, seed=5, batchnorm="frozen").scores

    for row, kind in enumerate(shift.kinds):
        for column, severity in enumerate(shift.severities):
            want = scores_of(kind, severity)
            for name in ("nll", "accuracy"):
                found = float(shift.scores[name][row, column])
                assert found == approx(float(want[name][-1]), rel=1e-6)
    assert_close(shift.mean("ece"), shift.scores["ece"].mean(0))
    fresh = fv.families.shifted_scores(net, q, data, batchnorm=data, **how)
    assert fresh.batchnorm == "re-estimated"


@mark.parametrize(
    "wrong, text",
    [
        (dict(batchnorm=None), "its statistics must be chosen, got batchnorm=None"),
        (dict(kinds=["frost"]), "a kind must be one of .*, got 'frost'"),
        (dict(severities=[3, 6]), r"severities must rise, from 1 to 5, got \[3, 6\]"),
        (dict(severities=[3, 1]), r"severities must rise, from 1 to 5, got \[3, 1\]"),
    ],
)
def test_bad_kinds_severities_and_statistics_say_what_to_do(pictures, wrong, text):
    how = (
        dict(
            kinds=["fog"],
            severities=[3],
            seed=0,
            batchnorm="frozen",
        )
        | wrong
    )
    with refused(text):
        fv.families.shifted_scores(*pictures, **how)


def test_risk_at_each_coverage_is_a_count_of_mistakes_among_the_surest():
    prediction = fv.Prediction(torch.randn(4, 30, 3), arange(30) % 3)
    p = prediction.bma()
    surest = p.amax(1).argsort(descending=True)
    wrong = (p.argmax(1) != prediction.y)[surest].float()
    by_hand = wrong.cumsum(0) / arange(1, 31)
    assert_close(fv.metrics.risk_coverage(prediction), by_hand)
    error = 1 - float(fv.metrics.accuracy(prediction, n_draws=2))
    found = fv.metrics.risk_coverage(prediction, n_draws=2)[-1]
    assert found == approx(error)
    fig = fv.plots.plot_risk_coverage({"vi": torch.linspace(0, 0.3, 50), "sgd": by_hand})
    assert [t.name for t in fig.data] == ["VI", "SGD (MAP)"]
    assert (fig.data[0].x[-1], fig.data[0].y[-1]) == (1, approx(0.3))


def test_the_severity_figure_draws_means_over_kinds():
    rows = torch.tensor([[0.9, 0.8, 0.5], [0.9, 0.7, 0.6]])
    scores = dict.fromkeys(("accuracy", "nll", "ece"), rows)
    shift = fv.results.Shift(("fog", "contrast"), (0, 1, 3), scores, 50, 4)
    fig = fv.plots.plot_severity({"vi": shift, "sabma": shift})
    lines = [t for t in fig.data if t.mode == "lines+markers"]
    assert [t.name for t in lines if t.showlegend] == ["VI", "SA-BMA"]
    assert lines[0].y.tolist() == approx([0.9, 0.75, 0.55])
    assert "mean over fog, contrast" in fig.layout.title.text
    other = fv.results.Shift(("fog",), (0, 1), {}, 50, 4)
    with refused("same kinds and severities, got 2 different"):
        fv.plots.plot_severity({"vi": shift, "sabma": other})
