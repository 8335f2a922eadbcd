"""Families: shared noise, planes and scales, and statistics of the seeds."""

import dataclasses
import math

import torch
from internals import extend, repeat_family
from oracles import tensors
from pytest import approx, fixture, mark
from torch import float64
from torch.testing import assert_close

import flatviz as fv
from flatviz.core import as_objective
from flatviz.families import Fitting
from flatviz.families.maps import RISE, TICKS, input_maps, rise_distance


def test_radius_zero_of_every_method_is_the_one_vi_and_map_is_one_draw(family):
    vi = family.posterior[family.index("vi")]
    for method in ("sam_mu", "sabma"):
        assert family.posterior[family.index(method, 0.0)] is vi
    point = family.index("sgd")
    assert family.prediction[point].n_draws == 1 == len(family.projection[point].coords)


def test_surface_samples_and_spectra_are_those_of_the_verbs(family, transferred, task):
    net, _ = transferred
    f = fv.nll(net, task.train)
    i = family.index("sabma", 2.0)
    W = family.posterior[i].sample(6, seed=1)
    for k, w in enumerate(W):
        assert_close(family.projection[i].values[k], f(w), rtol=1e-4, atol=1e-6)
    again = fv.top_eigenpairs(f, W[0], 3)
    assert_close(family.spectrum[i][0].values, again.values, rtol=1e-3, atol=1e-4)
    want = f(family.surface.plane.origin)
    assert_close(family.surface.values[5, 5], want, rtol=1e-4, atol=1e-6)
    assert family.surface.n == len(task.train)
    assert family.prediction[i].n_draws == 6


@fixture(scope="module")
def joined(moons):
    """The moons with all that a tour gives their family."""
    net, task, prior, family = moons
    family = repeat_family(Fitting(net, task, prior, 0, {"steps": 3}), family, [9])
    return (
        net,
        task,
        prior,
        input_maps(
            net,
            task,
            family,
            seed=1,
            reference=family.posterior[1],
            resolution=5,
        ),
    )


@mark.parametrize("where", ["digits", "moons"])
def test_a_member_measured_beside_a_family_is_the_one_measured_within(where, request):
    if where == "moons":
        *given, known = request.getfixturevalue("joined")
    else:
        (net, prior), task, known = map(request.getfixturevalue, ("transferred", "task", "family"))
        given = net, task, prior
    for i in (known.index("sgd"), known.index("sabma", 2.0)):
        member = extend(
            Fitting(*given, 0), known, known.method[i], known.radius[i], known.posterior[i]
        )[-1]
        assert all(
            v[0] == known[i].over_seeds[k][0] and v[1:].isnan().all()
            for k, v in member.over_seeds.items()
        )
        assert member.maps.keys() == known[i].maps.keys()
        one = tensors(dataclasses.replace(member, over_seeds={}))
        other = tensors(dataclasses.replace(known[i], over_seeds={}))
        assert_close(one, other, rtol=1e-4, atol=1e-5, equal_nan=True)


def rise_of(loss):
    """How far a plane about 0 goes in four dimensions, and the largest loss at its ends."""
    f = as_objective(loss)
    center = torch.zeros(4, dtype=float64)
    spectrum = fv.top_eigenpairs(f, center, 2, seed=0)
    distance = rise_distance(f, center, spectrum)
    return distance, max(
        float(f(center + s * distance * v)) for v in spectrum.vectors for s in (1, -1)
    )


def test_a_plane_ends_where_the_sharpest_axis_of_the_loss_has_risen_or_where_it_is_not_finite():
    scales = torch.tensor([4.0, 1.0, 0.5, 0.1], dtype=float64)
    found = rise_of(lambda w: 0.5 * (scales * w * w).sum())[0]
    assert found == approx(math.sqrt(2 * RISE / 4.0), rel=1 / TICKS)
    # Than its curvature says
    faster, end = rise_of(lambda w: 0.005 * (w * w).sum() + (w**4).sum().clamp(max=1e9))
    assert faster < 0.2 * math.sqrt(2 * RISE / 0.01)
    assert end >= RISE
    found = rise_of(lambda w: 0.5 * (w * w).sum() + torch.where(w.norm() > 0.5, math.nan, 0.0))[0]
    assert found < 0.6
