"""The tour with its page, the lab, and an experiment, on the second device."""

from functools import partial

import pytest
import torch
from every_verb import FAMILY, SMALL
from internals import TourSettings, family_page, run_tour
from pytest import mark
from torch import cuda

import flatviz as fv
from flatviz.core import pick
from flatviz.experiments import run
from flatviz.pages.document import family_rows


@mark.parametrize("model", ["mlp", "conv"])
def test_the_tour_ends_with_its_table_and_page(model, device, task, request, monkeypatch, cache):
    net, prior = request.getfixturevalue({"mlp": "transferred", "conv": "conv"}[model])
    monkeypatch.setattr("flatviz.families.tour.prepare", lambda *_, **__: (net, task, prior))
    radii = {"sgd": (0.0,), "vi": (0.0,), "sabma": (0.0, 1.0)}
    settings = TourSettings(
        radii=radii,
        fit={"steps": 3},
        measured=SMALL,
        repeats=1,
    )
    run_again = partial(
        run_tour,
        model,
        task=task,
        device=device,
        settings=settings,
    )
    tour = run_again()
    assert tour.net.device == device
    rows = family_rows(tour.family)
    given = dict(title="tour", lead="", facts={}, start=("sabma", 1.0, 3))
    assert len(rows) == 3
    found = len(family_page(tour.family, rows=rows, **given))
    assert found > 10**5
    again = run_again()
    assert len(again.cached) >= 4  # found again, and moved
    assert torch.equal(again.family.surface.values, tour.family.surface.values)


def test_the_lab_fits_a_member_on_the_device_and_shows_it(device, task, transferred, cache):
    # the prior stays on the CPU: it is moved where it is used
    net, prior = transferred
    task = task.to(device)
    net = net.to(device)
    family = fv.families.fit_family(net, task, prior, seed=0, **FAMILY)
    family = fv.families.measure(net, task, family, seed=1, **SMALL)
    assert {q.center.device for q in family.posterior} == {device}
    lab = fv.lab(net, task, prior=prior, family=family, fit=FAMILY["fit"])
    try:
        lab.method = "sabma"
        lab.radius = 1.0
        assert lab.wait(120)
        assert not lab.error
        assert 1.0 in lab.family.radii("sabma")
    finally:
        lab.close()


def test_an_experiment_fits_on_the_device_and_its_table_is_that_of_the_cpu(
    device, task, transferred
):
    source, prior = transferred

    def fit(cells, device):
        net = source.to(device)
        data = task.to(device)
        for cell in cells:
            yield cell, (net, data, fv.fit(net, data.train, fv.VI(prior), seed=0, steps=2))

    def measure(fitted, cell):
        net, data, q = fitted
        scores = fv.predict(net, q, data.test, 2, seed=0).scores
        return {"on": float(net.device.type == "cpu"), "nll": scores["nll"][-1]}

    def row(name):
        how = dict(name="devices", cache=False, say=lambda text: None)
        table = run([dict(seed=0)], fit, measure, device=name, **how)
        return dict(zip(table["quantity"], table["value"]))

    here = row("cpu")
    there = row(str(device))
    assert (here["on"], there["on"]) == (1, 0)
    assert there["nll"] == pytest.approx(here["nll"], rel=1e-4)  # roundings of float32


def test_auto_takes_the_card_for_a_network_that_is_large_enough_to_gain(monkeypatch, task):
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    monkeypatch.setattr(cuda, "get_device_name", lambda *_: "a card")
    small = fv.models.mlp(task)
    large = fv.models.resnet20(task)
    assert pick("auto", small)[0].type == "cpu"
    assert "is faster there" in pick("auto", small)[1]
    assert pick("auto", large) == (torch.device("cuda"), "a card") == pick("auto")
    assert pick("cuda", small) == (torch.device("cuda"), "as asked")
