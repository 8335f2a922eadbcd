"""What is shown before a fit is whole: a preview of a member, and a rough family, each said to be
one."""

import json

import numpy as np
import torch
from cases import fitted_by
from internals import views_of
from pytest import fixture, mark
from torch.testing import assert_close

import flatviz as fv
from flatviz.families import Fitting
from flatviz.widgets.members import views_in_sight
from flatviz.widgets.session import ROUGH_STEPS, STEPS, rough_family


@fixture
def fit_at(make_lab, family):
    """A lab whose fits are worth a preview, once it has fitted a radius while it shows scores."""

    def fitted(method, radius):
        lab = make_lab(family=family, fit={"steps": 60})
        lab.method = method
        lab.look = {"tab": "Scores"}
        lab.radius = radius
        assert lab.wait(300)
        assert lab.error == ""
        return lab

    return fitted


def members(lab):
    """(its index, its record as numbers) of each member that was sent."""
    found = []
    for content, buffers in lab.sent_messages:
        if content["kind"] == "member":
            (member,) = json.loads(content["index"])["members"]
            found.append((member, np.frombuffer(buffers[0], "<f4")))
    return found


def part_of(lab, record, name):
    """What the record has of a field."""
    field = lab.view._bundle.index["fields"][name]
    size = int(np.prod(field["shape"]))
    return record[field["offset"] : field["offset"] + size]


def same_nll(lab, record, net, task, q):
    """The record has the scores of this posterior."""
    direct = fv.predict(net, q, task.test, 6, seed=1).scores["nll"]
    np.testing.assert_allclose(part_of(lab, record, "nll"), direct, rtol=1e-5, atol=1e-6)


def test_a_preview_is_labelled_and_shows_what_is_in_sight(fit_at):
    lab = fit_at("sabma", 1.2)
    (first, some), (last, whole) = members(lab)
    assert first["note"] == f", preview: {STEPS} steps from radius 2"
    assert "note" not in last
    waiting = {view.name for view in views_of(lab.family) if view.group != "Scores"}
    assert set(first["waiting"]) == waiting
    assert last["waiting"] == []
    for name in lab.view._bundle.index["fields"]:
        view, slash, _ = name.partition("/")
        if slash and view in waiting:  # nothing stands in for what was not measured
            assert np.isnan(part_of(lab, some, name)).all(), name
    assert not np.array_equal(some, whole, equal_nan=True)


def test_the_whole_fit_is_that_of_the_verbs(fit_at, transferred, task):
    net, prior = transferred
    lab = fit_at("sabma", 1.2)
    settings = fv.METHODS["sabma"].keywords(net, radius=1.2, settings={"steps": 60})
    same = fitted_by(fv.SABMA)(net, task.train, prior, seed=0, **settings)
    i = lab.family.index("sabma", 1.2)
    assert torch.equal(lab.family.posterior[i].mean, same.mean)
    _, (_, whole) = members(lab)
    same_nll(lab, whole, net, task, same)
    seen = lab.family.sharpest[i]
    on_the_grid = dict(extent=float(seen.a.max()), resolution=len(seen.a))
    again = fv.slice_plane(fv.nll(net, task.train), seen.plane, **on_the_grid)
    assert_close(seen.values, again.values, rtol=1e-5, atol=1e-6)


def test_the_preview_is_the_short_fit_that_it_says(fit_at, transferred, task):
    net, prior = transferred
    lab = fit_at("sam_mu", 0.3)
    assert len(lab.family) == 8  # a preview is no member of the family
    near = lab.family.posterior[lab.family.index("sam_mu", 0.2)]
    short = dict(steps=STEPS, start=near, start_scale=1.0)
    settings = fv.METHODS["sam_mu"].keywords(net, radius=0.3) | short
    q = fitted_by(fv.SABMA)(net, task.train, prior, mode="sam_mu", seed=0, **settings)
    (_, some), _ = members(lab)
    same_nll(lab, some, net, task, q)


@mark.parametrize(
    "look, names",
    [
        ({}, {"surface", "hidden"}),
        ({"tab": "Surface", "chosen": {"surface": "3-D relief"}}, {"relief", "hidden"}),
        ({"tab": "no such tab"}, None),
        ({"tab": "All"}, None),
    ],
)
def test_what_is_in_sight_is_one_view_of_each_slot_of_the_tab(family, look, names):
    every = {view.name for view in views_of(family)}
    assert {view.name for view in views_in_sight(family, look)} == (names or every)


RADII = {"vi": (0.0,), "sabma": (0.0, 1.0)}


def test_a_rough_family_is_few_steps(transferred, task):
    net, prior = transferred
    steps = 2 * ROUGH_STEPS + 1
    rough = rough_family(Fitting(net, task, prior, 0, {"steps": steps}), RADII)
    assert rough.family.measured
    assert rough.family.method == ("vi", "sabma")
    settings = fv.METHODS["vi"].keywords(net, settings={"steps": ROUGH_STEPS})
    direct = fitted_by(fv.VI)(net, task.train, prior, seed=0, **settings)
    assert torch.equal(rough.family[0].posterior.mean, direct.mean)
    assert f"few of {steps} steps" in rough.note


@mark.parametrize(
    "steps, radii", [(2 * ROUGH_STEPS, RADII), (1000, {"vi": (0.0,), "swag": (0.0,)})]
)
def test_there_is_no_rough_family_where_a_whole_fit_is_hardly_longer(
    transferred, task, steps, radii
):
    net, prior = transferred
    assert rough_family(Fitting(net, task, prior, 0, {"steps": steps}), radii) is None
