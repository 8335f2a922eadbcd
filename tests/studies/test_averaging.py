"""The study of averaging: its correlations against SciPy, its ranks against refits, verdicts on figures made up, the command."""

import functools
import json
import math

import pytest
import torch
from scipy import stats

import flatviz as fv
import flatviz.cli.averaging
from flatviz.cli import main
from flatviz.studies.averaging import RANKS, SIZES, Averaging, measure_averaging, of_rank, partial_spearman, spearman
from flatviz.studies.averaging_claims import claims, sentences


def test_spearman_is_scipys_with_ties_and_the_partial_one_is_that_of_residual_ranks():
    g = torch.Generator().manual_seed(0)
    a, b, given = torch.randint(0, 6, (3, 25), generator=g).double()
    assert spearman(a, b) == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-12)
    ranks = [torch.tensor(stats.rankdata(x)) for x in (a, b, given)]
    line = torch.stack([torch.ones(25).double(), ranks[2]], 1)
    left = [r - line @ torch.linalg.lstsq(line, r).solution for r in ranks[:2]]
    assert partial_spearman(a, b, given) == pytest.approx(float(torch.corrcoef(torch.stack(left))[0, 1]), abs=1e-10)


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_a_truncated_swag_is_the_swag_of_that_rank(rank, tiny):
    net, data = tiny
    settings = dict(snapshots=6, batch_size=6, seed=0)
    short = of_rank(fv.fit_swag(net, data, rank=4, **settings), rank)
    torch.testing.assert_close(short.factor, fv.fit_swag(net, data, rank=rank, **settings).factor)


def made_up(gain):
    """Ten seeds whose spread of 1 is common to the orders; flat-first ensembles of VI better by `gain` at sizes below all."""
    g = torch.Generator().manual_seed(1)
    noise = lambda *shape: 0.01 * torch.randn(10, *shape, generator=g).double()  # noqa: E731
    common = torch.rand(10, 1, 1, 1, generator=g).double() + 1
    ensembles = {m: common + noise(3, len(SIZES), 3) for m in ("vi", "sabma")}
    ensembles["vi"][:, 2, :-1] -= gain
    correlation = {"vi": 0.6 + noise(4), "sabma": noise(4)}
    weyl = {m: torch.tensor([1.0, 2.0, 3.0]).double().expand(10, 3, 3) for m in ("vi", "sabma")}
    rank = {k: common[:, 0, 0] + noise(4) for k in RANKS}
    return Averaging(correlation, ensembles, weyl, rank, tuple(range(10)))


def test_an_effect_that_seeds_hide_is_found_in_pairs_and_none_where_there_is_none():
    found = made_up(gain=0.1)
    said = {line.split(": ")[0]: line for line in sentences(claims(found))}
    line = said["VI, 5 flattest draws less 5 random"]
    assert "lower NLL: -0.09" in line and line.endswith("10 of 10 seeds: holds")
    assert said["SA-BMA, 5 flattest draws less 5 sharpest"].endswith("cannot tell")
    worse = {line.split(": ")[0]: line for line in sentences(claims(made_up(gain=-0.1)))}
    assert worse["VI, 1 flattest draws less 1 sharpest"].endswith("does not hold")
    both = sentences(claims(found))
    assert both[0].startswith("VI, over draws: λ1 and test NLL rise together (Spearman): +0.60 (") and both[0].endswith("holds")


def test_verdicts_count_all_claims_of_the_study():
    """One p of 0.01 alone would hold; among all claims it does not."""
    found = made_up(gain=0.0)
    g = torch.Generator().manual_seed(3)
    z = torch.randn(10, generator=g).double()
    z = (z - z.mean()) / z.std()
    found.correlation["sabma"][:, 0] = (z + stats.t.isf(0.005, 9) / math.sqrt(10)).mul(0.1).tanh()
    line = next(s for s in sentences(claims(found)) if s.startswith("SA-BMA, over draws: λ1 and test NLL rise"))
    assert line.endswith("cannot tell")


def test_the_orders_of_a_measured_seed_meet_at_all_draws_and_the_bounds_hold(monkeypatch, tmp_path):
    monkeypatch.setenv("FLATVIZ_CACHE", str(tmp_path))
    found = measure_averaging(1, n_draws=6, epochs=2, steps=5)
    for method, values in found.ensembles.items():
        last = values[0, :, -1]  # of all six draws: sizes beyond them are the same ensemble
        torch.testing.assert_close(last, last[:1].expand_as(last), rtol=1e-5, atol=1e-5)
        assert bool((values[0, :, 0, 0] - values[0, 0, 0, 0]).abs().max() > 1e-4)  # single draws differ
        low, middle, high = found.weyl[method][0].unbind(1)
        assert bool((low <= middle * 1.01).all()) and bool((middle <= high * 1.01).all())
        assert float(found.weyl[method][0, 0, 2]) > float(found.weyl[method][0, 2, 2])  # sharp draws first, flat draws last
    assert all(v.shape == (1, 4) for v in found.rank.values())


def test_the_command_prints_tables_and_verdicts_and_writes_every_figure(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(flatviz.cli.averaging, "measure_averaging", lambda seeds, **_: made_up(gain=0.1))
    few = functools.partial(lambda radii, *, ratio, seeds: torch.ones(len(radii), len(seeds)).bool())
    monkeypatch.setattr(flatviz.cli.averaging, "end_in_wide", few)
    assert main(["averaging", "--seeds", "10", "--json", str(tmp_path / "a.json")]) == 0
    printed = capsys.readouterr().out
    assert "10 of 10" in printed and "20 of 20" in printed and "corrected by Holm for these 26" in printed
    kept = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert kept["command"] == "flatviz averaging --seeds 10" and len(kept["ensembles"]["vi"]) == 10
    assert len(kept["verdicts"]) == 26 and kept["axes"]["ensembles"][1] == ["sharp", "random", "flat"]
