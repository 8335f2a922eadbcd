"""Paired differences, Holm's correction, verdicts and sentences, with known answers."""

import numpy as np
import pandas as pd
from pytest import approx, raises
from scipy import stats

from flatviz.experiments import at, equivalent, holm, judged, paired, read_table, sentences
from flatviz.experiments.statistics import mean_zero


def frames(change=0.0, quantity="nll", n=10):
    """Two frames of `n` seeds, which differ less from each other than their seeds do."""
    rng = np.random.default_rng(0)
    columns = ["lambda1", "nll", "accuracy", "ece", "tv"]
    common = 1 + 10 * rng.random(n)
    mine, theirs = (
        pd.DataFrame({q: common + 0.01 * rng.standard_normal(n) for q in columns}) for _ in range(2)
    )
    mine[quantity] += change
    return mine, theirs


def verdict(quantity, change, n=10):
    table = judged(paired(*frames(change, quantity, n)), family="all").assign(
        claim="it", against="VI"
    )
    return table[table.quantity == quantity].iloc[0]


def test_means_intervals_and_p_are_scipys():
    mine, theirs = frames(0.002)
    table = paired(mine, theirs).set_index("quantity")
    for q in ("nll", "accuracy", "ece", "tv"):
        test = stats.ttest_rel(mine[q], theirs[q])
        interval = table["mean"][q] - table.half[q], table["mean"][q] + table.half[q]
        assert (table.p[q], *interval) == approx(
            (test.pvalue, *test.confidence_interval(0.95)), rel=1e-9
        )
    assert table.p["lambda1"] == approx(
        stats.ttest_rel(np.log(mine.lambda1), np.log(theirs.lambda1)).pvalue, rel=1e-9
    )
    assert table.gains["accuracy"] == sum(mine.accuracy > theirs.accuracy)
    assert table.gains["nll"] == sum(mine.nll < theirs.nll)
    # The same seeds meet
    shuffled = paired(mine.sample(frac=1, random_state=1), theirs.drop(index=0)).set_index(
        "quantity"
    )
    assert shuffled.n["nll"] == 9
    assert shuffled["mean"]["nll"] == approx((mine.nll - theirs.nll)[1:].mean())
    ones = pd.DataFrame({"nll": np.ones(4)})
    # Certain or nothing
    assert list(paired(ones, ones).p) == [1.0]
    assert list(paired(ones, 2 * ones).p) == [0.0]


def test_the_claimed_sign_depends_on_the_quantity():
    assert verdict("accuracy", 0.05).verdict == "holds"
    assert verdict("accuracy", -0.05).verdict == "does not hold"
    assert verdict("ece", 0.05).verdict == "does not hold"
    assert verdict("tv", 0.0).verdict == "inconclusive"


def test_holm_is_its_definition():
    """p sorted: 0.01 x 4, 0.02 x 3, 0.03 x 2, 0.5 x 1, none below the one before."""
    assert holm([0.03, 0.01, 0.5, 0.02]) == approx([0.06, 0.04, 0.5, 0.06])
    assert holm([0.4, 0.5]) == approx([0.8, 0.8])
    assert holm([np.nan, 0.01]) == approx([np.nan, 0.02], nan_ok=True)


def test_each_family_is_corrected_by_itself_and_named():
    p = [0.01, 0.04, 0.03, 0.2, 0.001]
    table = pd.DataFrame({"p": p, "gain": 1.0, "setting": list("aabba"), "baseline": "steps"})
    split = judged(table, family=["setting", "baseline"])
    assert list(split.family) == [f"{name}, steps" for name in "aabba"]
    assert list(split.claims) == [
        3,
        3,
        2,
        2,
        3,
    ]
    assert list(split.corrected) == approx([0.02, 0.04, 0.06, 0.2, 0.003])
    assert set(judged(table, family="all").claims) == {5}


def test_of_pure_noise_a_claim_is_made_in_one_family_of_twenty():
    """400 families of 12 claims that are all false: 5 % of them have a verdict, within three
    binomial deviations."""
    rng = np.random.default_rng(0)
    zero = pd.DataFrame({i: np.zeros(10) for i in range(12)})
    better = dict.fromkeys(range(12), 1)
    wrong = 0
    for _ in range(400):
        table = judged(
            paired(pd.DataFrame(rng.standard_normal((10, 12))), zero, better, ()), family="noise"
        )
        wrong += (table.verdict != "inconclusive").any()
    assert 0.05 - 0.033 < wrong / 400 < 0.05 + 0.033


def test_one_seed_decides_nothing_and_neither_does_a_value_that_is_not_finite():
    assert verdict("nll", -5.0, n=1).verdict == "inconclusive"
    mine, theirs = frames(-5.0)
    theirs.loc[3, "nll"] = np.nan
    table = judged(paired(mine, theirs), family="all").set_index("quantity")
    assert table.verdict["nll"] == "not comparable"
    assert table.n["nll"] == 10
    assert np.isnan(table.p["nll"])
    assert "nll" not in set(paired(mine.assign(nll=np.nan), theirs).quantity)  # not measured at all


def test_the_rank_test_is_scipys_corrected_alike_and_said_where_it_gives_another_verdict():
    """One seed of forty is far on the other side: Student's t sees a wide spread, ranks see 39
    seeds of one sign."""
    change = np.r_[np.linspace(-0.02, -0.01, 39), 0.5]
    mine = pd.DataFrame({"nll": change, "ece": change})
    table = paired(mine, 0 * mine)
    assert table["rank"][0] == approx(stats.wilcoxon(change).pvalue, rel=1e-12)
    found = judged(table, family="all").assign(claim="it", against="VI")
    assert list(found.corrected_rank) == approx([2 * table["rank"][0]] * 2)
    assert set(found.verdict) == {"inconclusive"}
    assert set(found.by_rank) == {"holds"}
    assert sentences(found)[0].endswith(
        "better in 39 of 40 seeds: inconclusive (by the rank test: holds)"
    )


def test_a_sentence_holds_its_figures_and_verdict():
    table = judged(paired(*frames(-0.05, "accuracy")), family="all").assign(
        claim="SA-BMA, equal steps", against="VI"
    )
    text = dict(zip(table.quantity, sentences(table)))
    assert text["accuracy"].startswith("SA-BMA, equal steps: accuracy % -4.9 ± 0.84, ")
    assert text["accuracy"].endswith("better in 0 of 10 seeds: does not hold")
    assert text["lambda1"].startswith("SA-BMA, equal steps: λ1 1.00 of VI's (")


def test_at_picks_one_cell():
    cells = [(s, q) for q in ("nll", "ece") for s in (1, 0)]
    table = pd.DataFrame(
        [dict(method="vi", seed=s, quantity=q, value=s + len(q)) for s, q in cells]
    )
    frame = at(table, method="vi")
    assert list(frame.columns) == ["nll", "ece"]
    assert list(frame.index) == [0, 1]
    assert frame.nll[1] == 4
    with raises(ValueError, match="at must pick one cell, got no row"):
        at(table, method="sam")
    with raises(ValueError, match="got several rows"):
        at(pd.concat([table, table]), method="vi")


def test_two_one_sided_tests_are_the_ninety_percent_interval_within_the_margin():
    """p is below 5 % exactly where the 90 % interval of the mean lies within the margin; at its
    edge p is 5 %."""
    values = pd.Series(np.random.default_rng(1).normal(0.002, 0.01, 12))
    low, high = stats.t.interval(0.9, 11, loc=values.mean(), scale=stats.sem(values))
    edge = max(-low, high)
    row = mean_zero(values)
    assert equivalent(row, edge) == approx(0.05, rel=1e-6)
    assert equivalent(row, 1.01 * edge) < 0.05 < equivalent(row, 0.99 * edge)
    sides = [
        stats.ttest_1samp(values, -0.01, alternative="greater"),
        stats.ttest_1samp(values, 0.01, alternative="less"),
    ]
    assert equivalent(row, 0.01) == approx(max(side.pvalue for side in sides), rel=1e-9)


def test_transfer_beats_fits_without_the_source_on_the_near_task_alone():
    """By scipy's paired test on the stored table, each of the four comparisons corrected for nine
    tasks, two fits, two scores."""
    table = read_table("tasks")
    for task, side in (("15 degrees, 2 shots", "greater"), ("90 degrees, 10 shots", "less")):
        right = {
            m: at(table, setting=task, method=m)["accuracy"] for m in ("vi", "logistic", "scratch")
        }
        for other in ("logistic", "scratch"):
            assert len(right["vi"]) >= 10
            assert stats.ttest_rel(right["vi"], right[other], alternative=side).pvalue < 0.05 / 36


def test_the_rank_test_ignores_ties_and_points_where_the_ranks_do():
    """Ten seeds without a difference and seven gains are a gain; few large losses outweigh many
    small gains."""
    change = {
        "nll": np.r_[np.zeros(10), -np.arange(1.0, 8)],
        "ece": np.r_[-np.full(22, 0.01), np.full(18, 1.0)],
    }
    for name, gain in (("nll", True), ("ece", False)):
        mine = pd.DataFrame({name: change[name]})
        moved = change[name][change[name] != 0]
        table = paired(mine, 0 * mine, {name: -1}, ())
        assert bool(table.rank_gain[0] > 0) is gain
        assert table["rank"][0] == approx(stats.wilcoxon(moved).pvalue)
        assert judged(table, family="one").by_rank[0] == ("holds" if gain else "does not hold")


def test_a_rank_test_of_too_few_seeds_is_not_mentioned():
    mine = pd.DataFrame({"nll": -1.0 - 0.01 * np.arange(5)})
    table = judged(paired(mine, 0 * mine, {"nll": -1}, ()), family="one").assign(
        claim="A", against="B"
    )
    assert table.verdict[0] == "holds"
    assert table.by_rank[0] == "inconclusive"
    assert sentences(table)[0].endswith("holds")
