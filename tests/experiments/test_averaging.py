"""The experiment on averaging: its small run, and the functions that it measures with."""

import numpy as np
import torch
from cases import rng
from experiment_notebooks import functions, values
from pytest import approx, fixture, mark
from scipy import stats
from torch.testing import assert_close

import flatviz as fv


@fixture(scope="module")
def study():
    return functions("averaging")


@mark.long
def test_averaging_meets_at_all_draws_and_keeps_to_weyls_bounds(run_small):
    said, table, _ = run_small(
        "averaging",
        SEEDS=2,
        DRAWS=6,
        EPOCHS=2,
        STEPS=5,
        MODE_RUNS=1,
    )
    assert "of 2 seeds:" in said
    table = values(table)
    for method in ("vi", "sabma"):
        fits = [key for key in table if key[1:3] == ("rank 5", method)]
        of = {key[3]: np.array(table[key]) for key in fits}
        # Of all six draws: one ensemble
        np.testing.assert_allclose(of["nll, 30 sharp"], of["nll, 30 flat"], rtol=1e-4)
        assert (abs(of["nll, 1 sharp"] - of["nll, 1 flat"]) > 1e-4).all()
        assert (of["Weyl lower, sharp"] <= 1.01 * of["Weyl middle, sharp"]).all()
        # The same draws, sharp ones first and flat ones first
        assert (of["Weyl upper, sharp"] > of["Weyl upper, flat"]).all()
    assert len(table["two modes", "width ratio 5", "sabma", "in the wide mode"]) == 4


def test_correlations_are_scipys_and_the_partial_one_is_that_of_residual_ranks(study):
    a, b, given = torch.randint(0, 6, (3, 25), generator=rng()).double()
    found = study.correlations(a, b, b, given)
    assert found["correlation with error"] == approx(stats.spearmanr(a, b).statistic, abs=1e-12)
    *ranks, given = (stats.rankdata(x) for x in (a, b, given))
    left = [r - np.polyval(np.polyfit(given, r, 1), given) for r in ranks]
    partial = np.corrcoef(*left)[0, 1]
    assert found["correlation with nll given train"] == approx(partial, abs=1e-10)


@mark.parametrize("rank", [1, 2, 4])
def test_a_truncated_swag_is_the_swag_of_that_rank(rank, tiny, study):
    net, data = tiny
    settings = dict(batch_size=6, seed=0)
    fields = dict(snapshots=6)
    short = study.of_rank(fv.fit(net, data, fv.SWAG(rank=4, **fields), **settings), rank)
    assert_close(short.factor, fv.fit(net, data, fv.SWAG(rank=rank, **fields), **settings).factor)


@mark.parametrize("start, radii, share", [(1.5, (0.0, 0.5), 1.0), (-2.0, (0.0,), 0.0)])
def test_runs_that_start_in_a_mode_stay_there(start, radii, share, study):
    settings = dict(
        kl_weight=0.1,
        steps=30,
        lr=0.02,
        momentum=0.9,
        likelihood=1.0,
    )
    cells = [
        dict(
            setting="width ratio 5",
            radius=r,
            seed=s,
        )
        for r in radii
        for s in (0, 1)
    ]
    for cell, q in study.fit_modes(cells, start=start, settings=settings):
        assert study.in_the_wide_mode(q, cell) == {"in the wide mode": share}
