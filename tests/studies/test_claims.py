"""Paired differences, Holm's correction and verdicts, on figures made up so that the answer is known."""

import math

import pytest
import torch

from flatviz.studies.claims import Difference, at_loss, differences, holm, judge, sentence
from flatviz.studies.evidence import QUANTITIES, Cell, Evidence

VI, FLAT = Cell("plain", "vi", 0.0), Cell("plain", "sabma", 2.0)


def evidence(**changes):
    """Ten seeds that differ far more among each other than methods within a seed do."""
    g = torch.Generator().manual_seed(0)
    common = 1 + 10 * torch.rand(10, 1, generator=g).double() * torch.ones(len(QUANTITIES)).double()
    noise = lambda: 0.01 * torch.randn(10, len(QUANTITIES), generator=g).double()  # noqa: E731
    values = {VI: common + noise(), FLAT: common + noise(), Cell("plain", "vi", 0.0, 2.0): 2 * common}
    for share in (0.25, 0.5):
        values[Cell("plain", "vi", 0.0, share)] = common / share
    for quantity, change in changes.items():
        values[FLAT][:, QUANTITIES.index(quantity)] += change
    return Evidence(values, tuple(range(10)))


def verdict(quantity, **changes):
    return next(v for v in judge(differences(evidence(**changes), "equal steps")) if v.difference.quantity == quantity)


def test_a_small_effect_shows_once_seeds_are_paired():
    """0.05 against a spread of 3 between seeds: lost unpaired, plain paired."""
    found = verdict("nll", nll=-0.05)
    assert found.word == "holds" and found.difference.n_better == 10
    assert found.difference.mean == pytest.approx(-0.05, abs=0.02) and found.difference.half < 0.02
    unpaired = evidence(nll=-0.05)
    assert float(unpaired.of(FLAT, "nll").std()) > 2


def test_the_claimed_sign_depends_on_the_quantity():
    assert verdict("accuracy", accuracy=0.05).word == "holds"
    assert verdict("accuracy", accuracy=-0.05).word == "does not hold"
    assert verdict("ece", ece=0.05).word == "does not hold"
    assert verdict("tv", nll=-0.05).word == "cannot tell"


def test_holm_is_its_definition():
    """p sorted: 0.01 x 4, 0.02 x 3, 0.03 x 2, 0.5 x 1, none below the one before."""
    assert holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])
    assert holm([0.4, 0.5]) == pytest.approx([0.8, 0.8])
    with_nan = holm([math.nan, 0.01])
    assert with_nan[1] == pytest.approx(0.02) and math.isnan(with_nan[0])


def test_of_pure_noise_a_claim_is_made_in_one_family_of_twenty():
    """400 families of 12 claims that are all false: 5 % of them have a verdict, within three binomial deviations."""
    g, wrong = torch.Generator().manual_seed(0), 0
    for _ in range(400):
        family = [Difference(FLAT, "equal steps", "nll", torch.randn(10, generator=g).double()) for _ in range(12)]
        wrong += any(v.word != "cannot tell" for v in judge(family))
    assert 0.05 - 0.033 < wrong / 400 < 0.05 + 0.033


def test_equal_gradients_is_vi_at_twice_the_steps_and_equal_loss_lies_between_its_lengths():
    found = evidence()
    twice = next(d for d in differences(found, "equal gradients") if d.quantity == "nll")
    torch.testing.assert_close(twice.values, found.of(FLAT, "nll") - found.of(Cell("plain", "vi", 0.0, 2.0), "nll"))
    losses = torch.tensor([[0.0, -1.0, -2.0, -3.0]]).double()
    values = torch.tensor([[8.0, 6.0, 5.0, 1.0]]).double()
    assert float(at_loss(losses, values, torch.tensor([-2.5]).double())) == pytest.approx(3.0)
    assert float(at_loss(losses, values, torch.tensor([-3.0]).double())) == pytest.approx(1.0)
    assert math.isnan(float(at_loss(losses, values, torch.tensor([0.5]).double())))  # nothing is extrapolated


def test_a_sentence_holds_its_figures_and_verdict():
    text = sentence(verdict("accuracy", accuracy=-0.05))
    assert text.startswith("SA-BMA at radius 2, equal steps: accuracy % -") and text.endswith(
        "better in 0 of 10 seeds: does not hold"
    )
    ratio = sentence(verdict("lambda1", lambda1=-0.5))
    assert "λ1 0." in ratio and "of VI's (0." in ratio


def test_one_seed_decides_nothing():
    one = Evidence({cell: values[:1] for cell, values in evidence(nll=-5.0).values.items()}, (0,))
    assert {v.word for v in judge(differences(one, "equal steps"))} == {"cannot tell"}
