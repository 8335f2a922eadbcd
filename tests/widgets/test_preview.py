"""A radius that nobody fitted: first a preview, said to be one, of what is in sight; then the whole fit."""

import json

import numpy as np
import pytest
import torch

import flatviz as fv
import flatviz.families.members as members_of
from flatviz.pages.views import views_of
from flatviz.widgets.preview import STEPS, views_in_sight


@pytest.fixture
def lab(transferred, task, family):
    net, prior = transferred
    lab = fv.widgets.Lab(net, task, prior, family=family, fit={"steps": 60})
    lab.sent_messages = []
    lab.view.channel.send = lambda content, buffers=None: lab.sent_messages.append((content, buffers))
    yield lab
    lab.close()
    lab.wait(60)


def members(lab):
    """(its index, its record as numbers) of each member that was sent."""
    sent = [(json.loads(c["index"]), buffers[0]) for c, buffers in lab.sent_messages if c["kind"] == "member"]
    return [(index["members"][0], np.frombuffer(buffer, "<f4")) for index, buffer in sent]


def test_a_preview_is_labelled_shows_first_what_is_in_sight_and_gives_way_to_the_whole_fit(lab, transferred, task, monkeypatch):
    scored = []
    monkeypatch.setattr(members_of, "predict", lambda *given, **how: scored.append(given) or fv.predict(*given, **how))
    lab.method, lab.look = "sabma", {"tab": "Scores"}
    lab.radius = 1.2
    assert lab.wait(300) and lab.error == ""
    assert len(scored) == 2  # the preview and the whole fit
    (first, some), (last, whole) = members(lab)
    assert first["note"] == f", preview: {STEPS} steps from radius 2" and "note" not in last
    waiting = {v.name for v in views_of(lab.family) if v.group != "Scores"}
    assert set(first["waiting"]) == waiting and last["waiting"] == []
    fields = lab.view._bundle.index["fields"]
    for name, field in fields.items():
        size, view = int(np.prod(field["shape"])), name.split("/")[0]
        part = some[field["offset"] : field["offset"] + size]
        if "/" in name and view in waiting and size:
            assert np.isnan(part).all(), name  # nothing stands in for what was not measured
    assert not np.array_equal(some, whole, equal_nan=True)
    net, prior = transferred
    same = fv.fit_sabma(net, task.train, prior, seed=0, **fv.METHODS["sabma"].keywords(net, radius=1.2, settings={"steps": 60}))
    i = lab.family.index("sabma", 1.2)
    torch.testing.assert_close(lab.family.posterior[i].mean, same.mean, rtol=0, atol=0)
    direct = fv.predict(net, same, task.test, 6, seed=1).scores["nll"]
    sent = whole[fields["nll"]["offset"] :][: len(direct)]
    torch.testing.assert_close(torch.tensor(sent.copy()), direct.float(), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(lab.family.sharpest[i].values, _sharpest(net, task, lab.family, i), rtol=1e-5, atol=1e-6)


def _sharpest(net, task, family, i):
    surface = family.sharpest[i]
    return fv.slice_plane(
        fv.nll(net, task.train), surface.plane, extent=float(surface.a.max()), resolution=len(surface.a)
    ).values


def test_the_preview_is_the_short_fit_that_it_says(lab, transferred, task, monkeypatch):
    monkeypatch.setattr(members_of.Fitting, "member", lambda *given, **how: (_ for _ in ()).throw(RuntimeError("enough")))
    lab.method, lab.radius = "sam_mu", 0.3
    assert lab.wait(300) and "enough" in lab.error
    near = lab.family.posterior[lab.family.index("sam_mu", 0.2)]
    net, prior = transferred
    settings = fv.METHODS["sam_mu"].keywords(net, radius=0.3) | dict(steps=STEPS, start=near, start_scale=1.0)
    q = fv.fit_sabma(net, task.train, prior, mode="sam_mu", seed=0, **settings)
    direct = fv.predict(net, q, task.test, 6, seed=1).scores["nll"]
    ((_, sent),) = members(lab)
    offset = lab.view._bundle.index["fields"]["nll"]["offset"]
    torch.testing.assert_close(torch.tensor(sent[offset : offset + 6].copy()), direct.float(), rtol=1e-5, atol=1e-6)
    assert len(lab.family) == 7  # a preview is no member of the family


@pytest.mark.parametrize(
    ("look", "names"),
    [
        ({}, {"surface", "hidden"}),
        ({"tab": "Surface", "chosen": {"surface": "loss, 3-D relief"}}, {"relief", "hidden"}),
        ({"tab": "Surface", "chosen": {"surface": "accuracy, 2-D map"}}, {"accuracy", "hidden"}),
        ({"tab": "no such tab"}, None),
        ({"tab": "All"}, None),
    ],
)
def test_what_is_in_sight_is_one_view_of_each_slot_of_the_tab(family, look, names):
    every = {v.name for v in views_of(family)}
    assert {v.name for v in views_in_sight(family, look)} == (every if names is None else names)
