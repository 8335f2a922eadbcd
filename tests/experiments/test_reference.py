"""The reference posterior: what is committed is what the command makes, and another network's is
computed, not borrowed."""

import torch
from cases import close, rng
from experiment_notebooks import functions
from pytest import fixture, mark
from torch import randn, zeros
from torch.testing import assert_close

import flatviz as fv

SHORT = dict(n_draws=16, chains=4, burn_in=6)


@fixture
def study():
    return functions("reference")


@fixture
def quick(cache, study, tmp_path):
    """Short chains, and nothing committed."""
    study.CHAINS_OF = SHORT
    study.COMMITTED = tmp_path / "absent.pt"
    return study


@fixture
def problem(transferred, task):
    """(net, task, prior) of the network that the other tests share."""
    net, prior = transferred
    return net, task, prior


def distance(target, W):
    """100 MMD^2 of two sets of draws."""
    return 100 * float(fv.symmetry.mmd(target, {"W": W}, permutations=0)["W"].value)


def test_the_committed_result_has_the_settings_of_the_study(study):
    held = fv.load(study.COMMITTED)
    assert held["head_std"] == study.HEAD_STD
    assert held["kl_weight"] == study.KL_WEIGHT
    assert held["settings"] == study.CHAINS_OF
    assert study.COMMITTED.stat().st_size < 2_000_000


@mark.parametrize("seed", range(10))
def test_the_chains_of_each_committed_seed_agree(study, seed):
    part = fv.load(study.COMMITTED)[f"seed {seed}"]
    probabilities = part["probabilities"].double()
    assert probabilities.shape == (897, 10)
    assert (probabilities.sum(1) - 1).abs().max() < 5e-3  # ten of float16
    facts = part["facts"]
    assert facts["halves_tv"] < 0.02
    assert facts["halves_agreement"] > 0.95
    assert facts["rhat"] < study.MAX_RHAT
    assert facts["ess"] >= study.MIN_ESS
    draws = part["draws"].double()
    assert draws.shape == (study.KEPT_DRAWS, 906)
    from_zero = distance(draws, 0 * draws)
    assert abs(facts["halves_mmd"]) < 5 < 20 < from_zero


def test_a_reference_is_hmc_and_its_numbers_are_those_of_its_draws(quick, problem):
    net, task, prior = problem
    found = quick.sample_reference(*problem, seed=0, chains=SHORT)
    wide = quick.with_head_std(net, prior, quick.HEAD_STD)
    direct = fv.fit(net, task.train, fv.HMC(prior=wide, kl_weight=quick.KL_WEIGHT, **SHORT), seed=0)
    assert torch.equal(found.W, direct.W)
    each = torch.stack([net(w, task.test.x).softmax(-1) for w in found.W])
    assert_close(found.probabilities, each.mean(0), rtol=1e-4, atol=1e-6)
    first, second = (half.mean(0) for half in each.chunk(2))
    close(found.facts["halves_tv"], fv.metrics.total_variation(first, second), 1e-4)


def test_a_stored_reference_is_read_for_its_own_prior_alone(quick, problem, tmp_path):
    net, task, prior = problem
    stored = {
        "probabilities": torch.rand(897, 10).softmax(1).half(),
        "draws": randn(16, 906).half(),
    }
    about = {"mark": quick.mark_of(prior), "facts": {}}
    quick.COMMITTED = fv.save({"seed 0": about | stored}, tmp_path / "hmc.pt")
    said = []
    read = quick.reference_of(*problem, seed=0, say=said.append)
    assert torch.equal(read.probabilities, stored["probabilities"].double())
    assert torch.equal(read.W, stored["draws"].double())
    assert said == []
    other = fv.Gaussian(prior.mean + 0.1, prior.log_std, prior.factor)
    computed, again = (
        quick.reference_of(net, task, other, seed=0, say=said.append) for _ in range(2)
    )
    assert said == ["seed 0: HMC, which no committed result holds for this network"]  # once
    assert fv.metrics.total_variation(computed.probabilities, read.probabilities) > 0.01
    assert torch.equal(again.probabilities, computed.probabilities)
    assert torch.equal(again.W, computed.W)


def test_the_distance_of_weights_is_none_for_the_same_law_and_knows_a_point_and_an_ensemble(study):
    """A point's is that of copies of it."""
    g = rng()
    normal = fv.Gaussian(zeros(6).double(), zeros(6).double())
    exact = study.Reference(zeros(1, 2), randn(64, 6, generator=g).double())

    def found(q):
        return study.weights_mmd(q, exact, seed=1)

    moved = fv.Gaussian(normal.mean + 2.0, normal.log_std)
    assert abs(found(normal)) < 4  # 64 draws: the deviation of the estimate is about 1
    assert found(moved) > 15
    x = torch.full((1, 6), 0.5).double()
    close(found(fv.Draws(x)), distance(exact.W, x.repeat(64, 1)), 1e-9)
    ensemble = fv.Draws(randn(5, 6, generator=g).double())
    close(found(ensemble), distance(exact.W, ensemble.W), 1e-9)
