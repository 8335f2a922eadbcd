"""The lab's own first family: it has the mechanism, and bands over seeds where somebody asks for them."""

import json

import pytest
import torch

import flatviz as fv


def test_the_labs_own_family_has_the_mechanism_and_gets_its_bands_when_asked(transferred, task):
    net, prior = transferred
    fit, radii = {"steps": 10}, {"vi": (0.0,), "sabma": (0.0, 0.5, 2.0)}
    lab = fv.widgets.Lab(net, task, prior, radii=radii, fit=fit)
    assert lab.wait(300) and lab.error == ""
    names = [figure["name"] for figure in lab.view._bundle.index["figures"]]
    assert "mechanism" in names and "radius" in names and lab.view._bundle.index["seeds"] == 1
    before, sent = lab.family, []
    lab.radius = 2.0
    lab.view.channel.send = lambda content, buffers=None: sent.append(content)
    lab.view._answer(lab.view, {"want": "seeds"}, [])  # what the page's button asks
    assert lab.busy
    lab.radius, lab.look = 0.5, {"tab": "Scores"}  # looking around at what is fitted ends nothing
    assert lab.wait(300) and lab.error == "" and lab.radius == 0.5
    direct = fv.families.repeat_family(net, task, prior, before, seeds=[1, 2], fit=fit)
    for one, other in zip(lab.family, direct, strict=True):
        torch.testing.assert_close(one.over_seeds, other.over_seeds, rtol=1e-5, atol=1e-6, equal_nan=True)
    index = json.loads(next(c["index"] for c in sent if c["kind"] == "family"))
    bands = [t for f in index["figures"] if f["name"] == "radius" for t in f["data"] if t["name"] == "SA-BMA, seeds"]
    assert index["seeds"] == 3 and bands
    lab.close()
    lab.wait(60)


def test_bands_need_a_family(transferred, task):
    net, prior = transferred
    lab = fv.widgets.Lab(net, task, prior, radii={"vi": (0.0,)}, fit={"steps": 1_000_000})
    with pytest.raises(ValueError, match="got none yet: call lab.wait"):
        lab.repeat()
    lab.close()
    assert lab.wait(60)
