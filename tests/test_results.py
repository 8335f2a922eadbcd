"""The nouns: draws, mixtures, planes, saving."""

import math

import pytest
import torch
from oracles import random_gaussian

import flatviz as fv


def test_fewer_draws_are_a_prefix_of_more_and_the_seed_decides():
    q = random_gaussian(0)
    assert torch.equal(q.sample(5, seed=1), q.sample(30, seed=1)[:5])
    assert not torch.equal(q.sample(5, seed=1), q.sample(5, seed=2))
    draws = fv.Draws(torch.arange(12.0).reshape(6, 2))
    assert torch.equal(draws.sample(2, seed=0), draws.sample(6, seed=0)[:2])
    mixture = fv.Mixture((q, random_gaussian(1)))
    assert torch.equal(mixture.sample(3, seed=0), mixture.sample(8, seed=0)[:3])


def test_an_ensemble_gives_no_more_draws_than_members_and_its_center_is_a_member():
    draws = fv.Draws(torch.tensor([[0.0, 0.0], [1.0, 1.0], [1.2, 0.9], [9.0, 9.0]]))
    assert any(torch.equal(draws.center, w) for w in draws.W)
    with pytest.raises(ValueError, match="asked for 5 draws, but this ensemble has 4 members: lower n_draws, or train more"):
        draws.sample(5, seed=0)
    assert fv.Draws(torch.ones(1, 3)).sample(4, seed=0).shape == (4, 3)


def test_a_mixture_gives_every_part_its_share():
    parts = (fv.Draws(torch.zeros(1, 2)), fv.Draws(torch.ones(1, 2)))
    W = fv.Mixture(parts, (0.25, 0.75)).sample(40, seed=0)
    assert float(W.mean()) == pytest.approx(0.75)
    assert torch.equal(fv.Mixture(parts, (0.25, 0.75)).center, torch.ones(2))
    with pytest.raises(ValueError, match="sum to 1"):
        fv.Mixture(parts, (0.5, 0.6))


def test_every_noun_survives_saving(tmp_path, gaussians):
    q, _ = gaussians
    plane = fv.Plane(torch.zeros(7), torch.eye(7)[:2], "distance", explained=(0.5, 0.2), extent=((-1.0, 1.0), (-2.0, 2.0)))
    surface = fv.Surface(plane, torch.linspace(-1, 1, 3), torch.linspace(-1, 1, 2), torch.tensor([[1.0, math.nan]] * 3), n=9)
    prediction = fv.Prediction(torch.zeros(2, 4, 3), torch.zeros(4, dtype=torch.long), scores={"nll": torch.ones(2)})
    family = fv.Family(("vi",), (0.0,), ("x",), (q,), surface, prediction=(prediction,))
    path = fv.save({"family": family, "history": fv.History(torch.ones(3))}, tmp_path / "r.pt")
    back = fv.load(path)
    assert torch.equal(back["family"].posterior[0].sample(2, seed=0), q.sample(2, seed=0))
    assert back["family"].surface.plane.extent == plane.extent and back["family"].surface.n_diverged == 3
    assert torch.equal(back["family"].prediction[0].scores["nll"], torch.ones(2))
    assert back["history"].kl is None
    with pytest.raises(TypeError, match="cannot save a function"):
        fv.save(lambda: 0, tmp_path / "f.pt")
    assert [p.name for p in tmp_path.iterdir()] == ["r.pt"]  # a failed save leaves nothing


def test_an_oblique_plane_knows_its_lengths_and_angle():
    plane = fv.Plane(torch.zeros(2), torch.tensor([[2.0, 0.0], [1.0, 1.0]]), "step")
    assert plane.lengths == pytest.approx((2.0, math.sqrt(2)))
    assert plane.angle == pytest.approx(45.0)
    assert not plane.orthonormal and fv.Plane(torch.zeros(2), torch.eye(2), "step").orthonormal
    torch.testing.assert_close(plane.points(torch.tensor([[1.0, 2.0]])), torch.tensor([[4.0, 2.0]]))


def test_what_a_notebook_shows_of_data_and_gaussians_is_one_short_line(task):
    q = fv.Gaussian(torch.zeros(906), torch.zeros(906), torch.zeros(5, 906))
    assert repr(q) == "Gaussian(dim=906, rank=5)"
    assert repr(fv.Data(torch.zeros(4, 3), torch.tensor([0, 2, 1, 0]))) == "Data(4 examples, x (4, 3) float32, classes 0..2)"
    assert repr(fv.Data(torch.zeros(4, 3), torch.zeros(4, 2))) == "Data(4 examples, x (4, 3) float32, targets (4, 2))"
    shown = repr(task)
    assert shown.startswith("Task('digits, 10 shots") and "train 100" in shown and "10 classes" in shown and len(shown) < 200
