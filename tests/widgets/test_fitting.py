"""What the lab fits behind: the first family, Stop, errors, and threads that end with it."""

import dataclasses
import json
import time

import pytest
import torch
from ipywidgets.widgets import widget as widgets

import flatviz as fv
from flatviz.families.family import repeat_family
from flatviz.families.members import Fitting
from flatviz.widgets import cells

COARSE = {"n_draws": 4, "n_spectra": 1, "k": 2, "resolution": 7, "around_resolution": 5}  # enough to be a family


def button(lab):
    """Whether the page's button offers to stop."""
    return lab.view._status["busy"]


def test_stop_keeps_what_was_found_and_says_so(transferred, task, family):
    net, prior = transferred
    lab = fv.widgets.Lab(net, task, prior, family=family, fit={"steps": 1_000_000})
    lab.method, lab.radius = "sabma", 1.3
    before = lab.family
    assert lab.busy and button(lab)
    lab.stop()
    assert lab.wait(60)
    assert lab.family is before and "stopped" in lab.status and not button(lab)


def fitting(lab):
    """Wait until a fit of a million steps is under way."""
    end = time.monotonic() + 60
    while "/1000000" not in lab.status and time.monotonic() < end:
        time.sleep(0.05)
    return lab.status


def test_stop_ends_the_first_family_after_the_step_in_progress(transferred, task):
    net, prior = transferred
    lab = fv.widgets.Lab(net, task, prior, radii={"sgd": (0.0,), "vi": (0.0,)}, fit={"steps": 1_000_000})
    assert "/1000000" in fitting(lab)
    lab.stop()
    assert lab.wait(20) and "stopped" in lab.status and lab.family is None
    assert not button(lab)


def test_close_stops_the_work_and_leaves_neither_thread_nor_widget(transferred, task, family, left_over):
    net, prior = transferred
    before = len(widgets._instances)
    lab = fv.widgets.Lab(net, task, prior, family=family, fit={"steps": 1_000_000})
    lab.method, lab.radius = "sabma", 1.3
    fitting(lab)
    lab.close()
    assert lab.wait(20) and not left_over()
    assert len(widgets._instances) == before
    lab.radius = 1.4  # closed: nothing begins
    lab.run()
    assert lab.wait(1) and not left_over()


def test_an_error_is_whole_with_method_and_radius_and_what_could_be_fitted_stays(transferred, task, monkeypatch):
    net, prior = transferred
    real = fv.METHODS["sam_mu"].fit
    long = "the loss must stay finite, got nan: " + "lower lr or radius; " * 20

    def fails(*args, **settings):
        if settings["radius"] > 0.1:
            raise ValueError(long)
        return real(*args, **settings)

    broken = dataclasses.replace(fv.METHODS["sam_mu"], fit=fails, at_once=False)
    monkeypatch.setitem(fv.METHODS, "sam_mu", broken)
    lab = fv.widgets.Lab(net, task, prior, radii={"vi": (0.0,), "sam_mu": (0.0, 0.05, 0.2)}, fit={"steps": 2}, measuring=COARSE)
    assert lab.wait(120)
    assert lab.error == f"SAM on the mean, radius 0.2: ValueError: {long}"
    assert lab.family.radii("sam_mu") == (0.0, 0.05) and lab.view._status["error"] == lab.error
    lab.radius, lab.method = 0.08, "sam_mu"
    assert lab.wait(120) and lab.error == "" and 0.08 in lab.family.radii("sam_mu")  # a fit that goes well clears it
    lab.close()


class Shell:
    """Stands in for the kernel's shell: one cell, run several times."""

    kernel = object()

    def __init__(self):
        self.execution_count = 1

    def get_parent(self):
        return {"metadata": {"cellId": "the-cell"}}


def test_running_a_cell_again_closes_its_former_lab_and_leaves_no_thread_or_widget(
    transferred, task, family, monkeypatch, left_over
):
    net, prior = transferred
    shell = Shell()
    monkeypatch.setattr(cells, "_shell", lambda: shell)
    lab = fv.widgets.Lab(net, task, prior, family=family, fit={"steps": 1_000_000})
    count, former = len(widgets._instances), []
    for _ in range(2):
        lab.method, lab.radius = "sabma", 1.3
        assert "/1000000" in fitting(lab) and "SA-BMA, radius 1.3" in lab.status
        former.append(lab)
        shell.execution_count += 1
        lab = fv.widgets.Lab(net, task, prior, family=family, fit={"steps": 1_000_000})
    assert all(old.wait(20) for old in former)
    assert len(widgets._instances) == count and not left_over()
    second = fv.widgets.Lab(net, task, prior, family=family)  # in the same run of the cell: both stay
    assert len(widgets._instances) == 2 * count - (count - len(lab_widgets(lab)))
    second.close()
    lab.close()


def lab_widgets(lab):
    return {lab.model_id, lab.layout.model_id, lab.view.model_id, lab.view.layout.model_id, lab.view.channel.model_id}


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
    direct = repeat_family(Fitting(net, task, prior, 0, fit), before, [1, 2])
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
