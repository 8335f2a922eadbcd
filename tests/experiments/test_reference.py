"""The reference posterior: what is committed is what the command makes, and another network's is
computed, not borrowed."""

from types import SimpleNamespace

import torch
from cases import rng
from pytest import approx, fixture
from torch import zeros
from torch.testing import assert_close

import flatviz as fv
from flatviz.site import defined_in
from flatviz.symmetry.discrepancy import bandwidths, mean_kernel

STUDY = defined_in("reference")  # the globals of its functions
study = SimpleNamespace(**STUDY)
SHORT = dict(n_draws=16, chains=4, burn_in=6)


@fixture
def quick(cache, monkeypatch, transferred, task, tmp_path):
    """Short chains on the network that the other tests share; nothing committed."""
    monkeypatch.setitem(STUDY, "CHAINS_OF", SHORT)
    monkeypatch.setitem(STUDY, "COMMITTED", tmp_path / "absent.pt")
    return transferred[0], task, transferred[1]


def test_the_committed_result_is_of_ten_seeds_whose_chains_agree():
    held = fv.load(study.COMMITTED)
    assert (held["head_std"], held["kl_weight"], held["settings"]) == (
        study.HEAD_STD,
        study.KL_WEIGHT,
        study.CHAINS_OF,
    )
    for seed in range(10):
        part = held[f"seed {seed}"]
        probabilities = part["probabilities"].double()
        assert probabilities.shape == (897, 10)
        assert probabilities.dtype == torch.float64
        # Ten of float16
        assert_close(probabilities.sum(1), torch.ones(897).double(), rtol=0, atol=5e-3)
        facts = part["facts"]
        assert facts["halves_tv"] < 0.02
        assert facts["halves_agreement"] > 0.95
        assert facts["rhat"] < study.MAX_RHAT
        assert facts["ess"] >= study.MIN_ESS
        assert part["draws"].shape == (study.KEPT_DRAWS, 906)
        assert (
            abs(facts["halves_mmd"])
            < 5
            < 20
            < study._mmd(part["draws"].double(), 0 * part["draws"])
        )
    assert study.COMMITTED.stat().st_size < 2_000_000


def test_its_numbers_are_those_of_the_stored_draws_and_for_other_networks_computed_once(
    quick, monkeypatch, tmp_path
):
    net, task, prior = quick
    found = study.sample_reference(net, task, prior, seed=0, chains=SHORT)
    wide = study.with_head_std(net, prior, study.HEAD_STD)
    assert torch.equal(
        found.W,
        fv.fit_hmc(net, task.train, wide, seed=0, kl_weight=study.KL_WEIGHT, **SHORT).W,
    )
    each = torch.stack([net(w, task.test.x).softmax(-1) for w in found.W])
    assert_close(found.probabilities, each.mean(0), rtol=1e-4, atol=1e-6)
    assert found.facts["halves_tv"] == approx(
        fv.metrics.total_variation(each[:8].mean(0), each[8:].mean(0)), rel=1e-4
    )
    stored = {"probabilities": found.probabilities.half(), "draws": found.W.half()}
    path = fv.save(
        {"seed 0": {"mark": study.mark_of(prior), "facts": found.facts, **stored}},
        tmp_path / "hmc.pt",
    )
    monkeypatch.setitem(STUDY, "COMMITTED", path)
    read = study.reference_of(net, task, prior, seed=0)
    assert torch.equal(read.probabilities, stored["probabilities"].double())
    assert torch.equal(read.W, stored["draws"].double())
    said = []
    other = fv.Gaussian(prior.mean + 0.1, prior.log_std, prior.factor)
    computed = study.reference_of(net, task, other, seed=0, say=said.append)
    assert said == ["seed 0: HMC, which no committed result holds for this network"]
    assert fv.metrics.total_variation(computed.probabilities, read.probabilities) > 0.01
    again = study.reference_of(net, task, other, seed=0, say=said.append)
    assert len(said) == 1
    assert torch.equal(again.probabilities, computed.probabilities)
    assert torch.equal(again.W, computed.W)


def test_the_distance_of_weights_is_none_for_the_same_law_and_knows_a_point_and_an_ensemble():
    """A point's is that of the kernels by hand: 1 - 2 E k(h, x) + E k(h, h'), which copies of it
    have too."""
    g = rng()
    target = fv.Gaussian(zeros(6).double(), zeros(6).double())
    exact = study.Reference(zeros(1, 2), torch.randn(64, 6, generator=g).double())
    same, moved = (
        study.weights_mmd(fv.Gaussian(target.mean + m, target.log_std), exact, seed=1)
        for m in (0.0, 2.0)
    )
    assert abs(same) < 4 < 15 < moved  # 64 draws: the deviation of the estimate is about 1
    x = torch.full((1, 6), 0.5).double()
    h = bandwidths(exact.W)
    among = mean_kernel(exact.W, exact.W, h)
    across = mean_kernel(exact.W, x, h)
    by_hand = 1 - 2 * across.mean() + (among.sum() - among.trace()) / (64 * 63)
    assert study.weights_mmd(fv.Draws(x), exact, seed=0) == approx(100 * float(by_hand), rel=1e-9)
    ensemble = fv.Draws(torch.randn(5, 6, generator=g).double())
    assert study.weights_mmd(ensemble, exact, seed=0) == approx(
        study._mmd(exact.W, ensemble.W), rel=1e-9
    )
