"""The reference posterior: what is committed is what the command makes, and another network's is computed, not borrowed."""

import pytest
import torch

import flatviz as fv
from flatviz.cli import main
from flatviz.studies import reference as study


@pytest.fixture
def quick(monkeypatch, transferred, task, tmp_path):
    """Short chains on the network that the other tests share; nothing committed."""
    monkeypatch.setattr(study, "CHAINS", dict(n_draws=16, chains=4, burn_in=6))
    monkeypatch.setattr(study, "prepare", lambda model, seed: (transferred[0], task, transferred[1]))
    monkeypatch.setattr(study, "COMMITTED", tmp_path / "absent.pt")
    monkeypatch.setenv("FLATVIZ_CACHE", str(tmp_path / "cache"))
    return transferred[0], task, transferred[1]


def test_the_committed_result_is_of_ten_seeds_whose_chains_agree():
    held = fv.load(study.COMMITTED)
    assert (held["head_std"], held["kl_weight"], held["settings"]) == (study.HEAD_STD, study.KL_WEIGHT, study.CHAINS)
    for seed in range(10):
        part = held[f"seed {seed}"]
        probabilities = part["probabilities"].double()
        assert probabilities.shape == (897, 10) and probabilities.dtype == torch.float64
        torch.testing.assert_close(probabilities.sum(1), torch.ones(897).double(), rtol=0, atol=5e-3)  # ten of float16
        assert part["facts"]["halves_tv"] < 0.02 and part["facts"]["halves_agreement"] > 0.95
        worst = float(part["facts"]["probabilities"].split("R-hat at most ")[1].split(",")[0])
        assert worst < 1.1  # the worst of 997 over 8 chains of 50
    assert held["draws of seed 0"].ndim == 2
    assert study.COMMITTED.stat().st_size < 2_000_000


def test_the_command_writes_what_is_then_read_for_that_network_alone(quick, monkeypatch, tmp_path, capsys):
    pytest.importorskip("arviz")
    net, task, prior = quick
    path = tmp_path / "hmc.pt"
    assert main(["reference", "--seeds", "1", "--out", str(path)]) == 0
    assert "seed 0: nll" in capsys.readouterr().out
    monkeypatch.setattr(study, "COMMITTED", path)
    read = study.reference_probabilities(net, task, prior, seed=0)
    torch.testing.assert_close(read, fv.load(path)["seed 0"]["probabilities"].double(), rtol=0, atol=0)
    said = []
    other = fv.Gaussian(prior.mean + 0.1, prior.log_std, prior.factor)
    computed = study.reference_probabilities(net, task, other, seed=0, say=said.append)
    assert said == ["seed 0: HMC, which no committed result holds for this network"]
    assert fv.total_variation(computed, read) > 0.01
    again = study.reference_probabilities(net, task, other, seed=0, say=said.append)
    assert len(said) == 1 and torch.equal(again, computed)


def test_its_numbers_are_those_of_the_draws(quick):
    net, task, prior = quick
    found = study.sample_reference(net, task, prior, seed=0)
    wide = study.with_head_std(net, prior, study.HEAD_STD)
    q = fv.fit_hmc(net, task.train, wide, seed=0, kl_weight=study.KL_WEIGHT, **study.CHAINS)
    assert torch.equal(found.W, q.W)
    each = torch.stack([net(w, task.test.x).softmax(-1) for w in q.W])
    torch.testing.assert_close(found.probabilities, each.mean(0), rtol=1e-4, atol=1e-6)
    assert found.facts["halves_tv"] == pytest.approx(fv.total_variation(each[:8].mean(0), each[8:].mean(0)), rel=1e-4)
