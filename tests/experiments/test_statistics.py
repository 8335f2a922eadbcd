"""Paired differences, Holm's correction, verdicts and sentences, with known answers."""

import numpy as np
import pandas as pd
from cases import refused
from pytest import approx, mark
from scipy import stats

from flatviz.experiments import at, equivalent, holm, judged, paired, read_table, sentences
from flatviz.experiments.statistics import OPEN, mean_zero, signed_rank

SCORES = ["lambda1", "nll", "accuracy", "ece", "tv"]


def frames(change=0.0, quantity="nll", n=10):
    """Two frames of `n` seeds, which differ less from each other than their seeds do."""
    rng = np.random.default_rng(0)
    common = 1 + 10 * rng.random((n, 1))
    mine, theirs = common + 0.01 * rng.standard_normal((2, n, len(SCORES)))
    mine = pd.DataFrame(mine, columns=SCORES)
    mine[quantity] += change
    return mine, pd.DataFrame(theirs, columns=SCORES)


def compared(mine, theirs):
    """Judged rows by quantity."""
    table = judged(paired(mine, theirs), family="all").assign(claim="it", against="VI")
    return table.set_index("quantity", drop=False)


def changed(**values):
    """Judged rows of quantities with these differences."""
    mine = pd.DataFrame(values)
    return compared(mine, 0 * mine)


def test_means_intervals_and_p_are_scipys():
    mine, theirs = frames(0.002)
    table = compared(mine, theirs)
    for q in SCORES[1:]:
        test = stats.ttest_rel(mine[q], theirs[q])
        row = table.loc[q]
        interval = (row["mean"] - row.half, row["mean"] + row.half)
        assert row.p == approx(test.pvalue, rel=1e-9)
        assert interval == approx(tuple(test.confidence_interval(0.95)), rel=1e-9)
    logs = stats.ttest_rel(np.log(mine.lambda1), np.log(theirs.lambda1))
    assert table.p["lambda1"] == approx(logs.pvalue, rel=1e-9)
    assert table.gains["accuracy"] == sum(mine.accuracy > theirs.accuracy)
    assert table.gains["nll"] == sum(mine.nll < theirs.nll)


def test_the_same_seeds_meet():
    mine, theirs = frames()
    shuffled = compared(mine.sample(frac=1, random_state=1), theirs.drop(index=0))
    assert shuffled.n["nll"] == 9
    assert shuffled["mean"]["nll"] == approx((mine.nll - theirs.nll)[1:].mean())


@mark.parametrize("n, verdict", [(2, OPEN), (5, OPEN), (6, "holds"), (40, "holds")])
@mark.parametrize("noise", [0.0, 1e-17, 1e-6])
def test_no_p_is_below_that_of_a_sign_test(n, noise, verdict):
    """Equal differences, equal but for rounding, and of a spread that Student's t finds tiny."""
    values = 0.02 + noise * np.arange(n)
    found = changed(accuracy=values).loc["accuracy"]
    p = stats.binomtest(n, n).pvalue
    assert found.p == approx(p, rel=1e-9)
    assert found["rank"] >= p * (1 - 1e-9)
    assert found.verdict == verdict
    assert equivalent(found, 0.03) == approx(stats.binomtest(n, n, alternative="greater").pvalue)
    assert equivalent(found, 0.01) > 0.99


def test_equal_differences_have_no_interval_and_none_is_written():
    mine = pd.DataFrame({"accuracy": np.full(4, 0.02), "lambda1": np.full(4, 2.0)})
    found = compared(mine, mine - [0.02, 1.0])
    assert np.isnan(found.half).all()
    said = " ".join(sentences(found))
    assert "λ1 2.00 of VI's, better in 0 of 4" in said
    assert "accuracy % +2, better in 4 of 4" in said


def test_no_difference_at_all_is_no_evidence_of_one_but_of_equivalence():
    found = changed(accuracy=np.zeros(6)).loc["accuracy"]
    assert found.p == 1.0
    assert found.verdict == "inconclusive"
    assert equivalent(found, 0.01) == approx(2.0**-6)


@mark.parametrize(
    "quantity, change, n, verdict",
    [
        ("accuracy", 0.05, 10, "holds"),
        ("accuracy", -0.05, 10, "does not hold"),
        ("ece", 0.05, 10, "does not hold"),
        ("tv", 0.0, 10, "inconclusive"),
        ("nll", -5.0, 1, "inconclusive"),  # one seed decides nothing
        ("nll", -5.0, 5, "inconclusive"),  # nor do five: a sign test of five has p >= 1/16
    ],
)
def test_the_claimed_sign_depends_on_the_quantity(quantity, change, n, verdict):
    assert compared(*frames(change, quantity, n)).verdict[quantity] == verdict


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
    assert list(split.claims) == [3, 3, 2, 2, 3]
    assert list(split.corrected) == approx([0.02, 0.04, 0.06, 0.2, 0.003])
    assert set(judged(table, family="all").claims) == {5}


def test_of_pure_noise_a_claim_is_made_in_one_family_of_twenty():
    """200 families of 12 claims that are all false: 5 % of them have a verdict, within three
    binomial deviations."""
    rng = np.random.default_rng(0)
    names = [f"claim {i}" for i in range(12)]
    wrong = 0
    for _ in range(200):
        noise = pd.DataFrame(rng.standard_normal((10, 12)), columns=names)
        table = paired(noise, 0 * noise, dict.fromkeys(names, 1), ())
        verdict = judged(table, family="noise").verdict
        wrong += (verdict != "inconclusive").any()
    assert wrong / 200 == approx(0.05, abs=0.046)


@mark.parametrize("value", [np.nan, np.inf, -np.inf])
@mark.parametrize("quantity", ["nll", "lambda1"])
def test_a_seed_without_a_finite_value_makes_its_quantity_not_comparable(value, quantity):
    mine, theirs = frames(-5.0)
    theirs.loc[3, quantity] = value
    found = compared(mine, theirs)
    row = found.loc[quantity]
    assert row.verdict == "not comparable"
    assert row.by_rank == "not comparable"
    assert row.n == 10
    assert np.isnan(row.p)
    assert np.isnan(equivalent(row, 100.0))
    (said,) = sentences(found.loc[[quantity]])
    assert "nan" not in said
    assert "inf" not in said
    assert said.endswith(": not comparable")
    assert "nll" not in compared(mine.assign(nll=np.nan), theirs).index  # not measured at all


def test_the_rank_test_is_scipys_corrected_alike_and_said_where_it_gives_another_verdict():
    """One seed of forty is far on the other side: Student's t sees a wide spread, ranks see 39
    seeds of one sign."""
    change = np.r_[np.linspace(-0.02, -0.01, 39), 0.5]
    found = changed(nll=change, ece=change)
    p = stats.wilcoxon(change).pvalue
    assert list(found["rank"]) == approx([p, p], rel=1e-12)
    assert list(found.corrected_rank) == approx([2 * p, 2 * p])
    assert set(found.verdict) == {"inconclusive"}
    assert set(found.by_rank) == {"holds"}
    said = "better in 39 of 40 seeds: inconclusive (by the rank test: holds)"
    assert sentences(found)[0].endswith(said)


@mark.parametrize(
    "change, by_rank",
    [
        (np.r_[np.zeros(10), -np.arange(1.0, 8)], "holds"),  # ties are ignored
        (np.r_[-np.full(22, 0.01), np.full(18, 1.0)], "does not hold"),  # few large losses
    ],
)
def test_the_rank_test_ignores_ties_and_points_where_the_ranks_do(change, by_rank):
    found = changed(nll=change).loc["nll"]
    assert found["rank"] == approx(stats.wilcoxon(change[change != 0]).pvalue)
    assert found.by_rank == by_rank


def test_a_rank_test_of_too_few_seeds_is_not_mentioned():
    found = changed(nll=-1.0 - 0.01 * np.arange(5))
    assert found.by_rank["nll"] == "inconclusive"
    assert "rank" not in sentences(found)[0]


def test_a_sentence_holds_its_figures_and_verdict():
    table = compared(*frames(-0.05, "accuracy"))
    text = dict(zip(table.quantity, sentences(table)))
    mean = 100 * table["mean"]["accuracy"]
    half = 100 * table.half["accuracy"]
    assert text["accuracy"].startswith(f"it: accuracy % {mean:+.2g} ± {half:.2g}, ")
    assert text["accuracy"].endswith("better in 0 of 10 seeds: does not hold")
    assert text["lambda1"].startswith("it: λ1 1.00 of VI's (")


def test_at_picks_one_cell():
    columns = ["method", "seed", "quantity", "value"]
    rows = [("vi", 1, "nll", 4), ("vi", 0, "nll", 3), ("vi", 1, "ece", 4), ("vi", 0, "ece", 3)]
    table = pd.DataFrame(rows, columns=columns)
    frame = at(table, method="vi")
    assert list(frame.columns) == ["nll", "ece"]
    assert frame.nll.to_dict() == {0: 3, 1: 4}
    with refused("at must pick one cell, got no row"):
        at(table, method="sam")
    with refused("got several rows"):
        at(pd.concat([table, table]), method="vi")


def test_two_one_sided_tests_are_the_ninety_percent_interval_within_the_margin():
    """p is below 5 % exactly where the 90 % interval of the mean lies within the margin; at its
    edge p is 5 %."""
    values = np.random.default_rng(1).normal(0.002, 0.01, 12)
    row = changed(nll=values).loc["nll"]
    low, high = stats.t.interval(0.9, 11, loc=values.mean(), scale=stats.sem(values))
    edge = max(-low, high)
    assert equivalent(row, edge) == approx(0.05, rel=1e-6)
    assert equivalent(row, 1.01 * edge) < 0.05 < equivalent(row, 0.99 * edge)
    above = stats.ttest_1samp(values, -0.01, alternative="greater").pvalue
    below = stats.ttest_1samp(values, 0.01, alternative="less").pvalue
    assert equivalent(row, 0.01) == approx(max(above, below), rel=1e-9)


def accuracies(rng, n, images, worse=0.0):
    """Differences of `n` seeds between two networks of 95 % and 95 % - worse, by their right
    answers on `images` images: with ties, the more the fewer images."""
    right = rng.binomial(images, [[0.95], [0.95 - worse]], size=(2, n))
    return pd.Series((right[0] - right[1]) / images)


def simulated(n, images, *, repeats, families, claims=12, seed=0):
    """Shares of what may be wrong, of differences whose true mean is 0, or is the margin."""
    rng = np.random.default_rng(seed)
    null = pd.DataFrame([mean_zero(accuracies(rng, n, images)) for _ in range(repeats)])
    ranked = [signed_rank(accuracies(rng, n, images))["rank"] for _ in range(families)]
    edge = [
        equivalent(mean_zero(accuracies(rng, n, images, worse=0.05)), 0.05) for _ in range(repeats)
    ]
    with_interval = null[null.half.notna()]
    tables = []
    for _ in range(families):
        rows = [mean_zero(accuracies(rng, n, images)) for _ in range(claims)]
        tables.append((judged(pd.DataFrame(rows), family="null").verdict != "inconclusive").any())
    return {
        "false positives": (null.p < 0.05).mean(),
        "by ranks": (np.array(ranked) < 0.05).mean(),
        "outside the interval": (with_interval["mean"].abs() > with_interval.half).mean(),
        "equivalent at the margin": (np.array(edge) < 0.05).mean(),
        "tables with a claim": np.mean(tables),
    }, {
        "false positives": repeats,
        "by ranks": families,
        "outside the interval": len(with_interval),
        "equivalent at the margin": repeats,
        "tables with a claim": families,
    }


def at_most_a_twentieth(shares, counts):
    """Each share is 5 % or less, within three binomial deviations."""
    for name, share in shares.items():
        assert share <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / counts[name]), name


@mark.parametrize("n", [2, 5, 40])
def test_of_equal_networks_with_ties_at_most_a_twentieth_is_claimed(n):
    """Accuracies of 20 images, the worst case of the table below."""
    at_most_a_twentieth(*simulated(n, 20, repeats=200, families=25))


@mark.slow
@mark.parametrize(
    "n, images, expected",
    [
        (2, 20, [0.00, 0.00, 0.00, 0.00, 0.00]),
        (2, 100, [0.00, 0.00, 0.05, 0.00, 0.00]),
        (2, 360, [0.00, 0.00, 1.28, 0.00, 0.00]),
        (3, 20, [0.00, 0.00, 0.98, 0.00, 0.00]),
        (3, 100, [0.00, 0.00, 3.57, 0.00, 0.00]),
        (3, 360, [0.00, 0.00, 4.14, 0.00, 0.00]),
        (5, 20, [0.00, 0.00, 4.19, 3.35, 0.00]),
        (5, 100, [0.00, 0.00, 4.93, 5.75, 0.00]),
        (5, 360, [0.00, 0.00, 5.17, 5.22, 0.00]),
        (10, 20, [3.12, 3.00, 4.00, 4.70, 1.00]),
        (10, 100, [4.80, 5.50, 4.83, 5.67, 4.75]),
        (10, 360, [4.80, 6.25, 4.80, 5.17, 3.75]),
        (40, 20, [4.38, 7.00, 4.38, 5.22, 4.50]),
        (40, 100, [4.80, 5.75, 4.80, 5.30, 3.75]),
        (40, 360, [4.67, 4.75, 4.67, 5.22, 4.25]),
    ],
)
def test_shares_of_wrong_claims_are_those_of_the_table(n, images, expected):
    """In percent: false positives by t and by ranks, 95 % intervals without 0, equivalence found
    where the difference is the margin, tables of 12 claims by Holm with a claim; 4,000 repeats, of
    ranks and tables 400.  2 to 5 seeds can claim no difference, since a sign test of 5 has p of
    1/16 or more; 5 can claim equivalence, of which each test has one side."""
    shares, counts = simulated(n, images, repeats=4000, families=400)
    at_most_a_twentieth(shares, counts)
    assert [100 * share for share in shares.values()] == approx(expected, abs=0.06)


@mark.parametrize("other", ["logistic", "scratch"])
@mark.parametrize(
    "task, side", [("15 degrees, 2 shots", "greater"), ("90 degrees, 10 shots", "less")]
)
def test_transfer_beats_fits_without_the_source_on_the_near_task_alone(task, side, other):
    """By scipy's paired test on the stored table, each of the four comparisons corrected for nine
    tasks, two fits, two scores."""
    table = read_table("tasks")
    right, others = (at(table, setting=task, method=method)["accuracy"] for method in ("vi", other))
    assert len(right) >= 10
    assert stats.ttest_rel(right, others, alternative=side).pvalue < 0.05 / 36
