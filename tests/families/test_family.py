"""Families: shared noise, planes and scales, and statistics of the seeds."""

import math

import pytest
import torch

import flatviz as fv
from flatviz.families.family import SURFACES, complete, extend, fit_member
from flatviz.results import interval


def test_radius_zero_of_every_method_is_the_one_vi(family):
    vi = family.posterior[family.index("vi")]
    for method in ("sam_mu", "sabma"):
        assert family.posterior[family.index(method, 0.0)] is vi


def test_the_default_family_has_at_least_eight_radii_of_sabma():
    radii = fv.METHODS["sabma"].plain.tour
    assert len(radii) >= 8 and radii[0] == 0.0
    steps = [b / a for a, b in zip(radii[1:], radii[2:])]
    assert max(steps) / min(steps) < 1.1  # log steps


def test_surface_samples_and_spectra_are_those_of_the_verbs(family, transferred, task):
    net, _ = transferred
    f = fv.nll(net, task.train)
    i = family.index("sabma", 2.0)
    W = family.posterior[i].sample(6, seed=1)
    for k, w in enumerate(W):
        torch.testing.assert_close(family.projection[i].values[k], f(w), rtol=1e-4, atol=1e-6)
    again = fv.top_eigenpairs(f, W[0], 3)
    torch.testing.assert_close(family.spectrum[i][0].values, again.values, rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(family.surface.values[5, 5], f(family.surface.plane.origin), rtol=1e-4, atol=1e-6)
    assert family.surface.n == len(task.train) and family.prediction[i].n_draws == 6


def test_map_is_one_draw(family):
    i = family.index("sgd")
    assert family.prediction[i].n_draws == 1 and len(family.projection[i].coords) == 1


def test_a_member_fitted_later_lives_on_the_same_plane_and_directions(family, transferred, task):
    net, prior = transferred
    q = fit_member(net, task, prior, "sabma", 1.0, seed=0, fit={"steps": 5})
    more = extend(net, task, family, "sabma", 1.0, q, seed=1)
    assert len(more) == len(family) + 1 and more.surface is family.surface
    assert more.projection[-1].plane is family.surface.plane
    assert more.prediction[-1].n_draws == 6 and len(more.spectrum[-1]) == 2


def test_a_member_completed_later_is_the_member_measured_at_once(family, transferred, task):
    net, prior = transferred
    q = fit_member(net, task, prior, "sabma", 1.0, seed=0, fit={"steps": 5})
    whole = extend(net, task, family, "sabma", 1.0, q, seed=1)
    part = extend(net, task, family, "sabma", 1.0, q, surfaces=[], seed=1)
    near = family.index("sabma", 1.0)
    assert part.around[-1] is family.around[near] and part.sharpest[-1] is family.sharpest[near]
    assert torch.equal(part[-1].maps["draws accuracy"], family[near].maps["draws accuracy"])
    twice = complete(net, task, complete(net, task, part, SURFACES[:2], seed=1), SURFACES[2:], seed=1)
    for name in ("around", "sharpest"):
        assert torch.equal(getattr(twice, name)[-1].values, getattr(whole, name)[-1].values)
        assert not torch.equal(getattr(twice, name)[-1].values, getattr(part, name)[-1].values)
    assert twice[-1].maps.keys() == whole[-1].maps.keys() == family[near].maps.keys()
    for name, held in whole[-1].maps.items():
        one, other = (v.values if isinstance(v, fv.Surface) else v for v in (held, twice[-1].maps[name]))
        torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize(("values", "half"), [([1.0, 2.0, 3.0], 4.302653 / math.sqrt(3)), ([1.0, 1.0], 0.0)])
def test_the_interval_is_students(values, half):
    mean, found = interval(torch.tensor(values))
    assert mean == pytest.approx(sum(values) / len(values)) and found == pytest.approx(half, rel=1e-5)


def test_one_seed_has_no_interval():
    assert math.isnan(interval(torch.tensor([1.0]))[1])
