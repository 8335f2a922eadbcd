"""A new posterior is one file and one line: it is then in the menu of the lab."""

from collections import Counter

import pytest
import torch
from cases import COARSE
from flatviz.posteriors.method import Method, Tuned, table

import flatviz as fv
from flatviz.catalog import LOOKS, Look
from flatviz.families import Fitting
from flatviz.plots.theme import style


def fit_toy(
    net,
    data,
    *,
    seed,
    width=0.1,
    ascent=None,
    checkpoint=None,
    progress=False,
):
    """N(w, width^2): every draw is where the net stands, plus noise of one width."""
    return fv.Gaussian(net.w, torch.full_like(net.w, width).log())


TOY = Method(fit=fit_toy, plain=Tuned(dict(width=0.05), tour=(0.0,), lab=(0.0,)))


@pytest.fixture
def toy(cache, monkeypatch):
    """Its one line in the table."""
    line = Look("toy", "Toy posterior", "#123456", "solid", "circle", "toy.METHOD", flat=True)
    for name, method in table([line], lambda _: TOY).items():
        monkeypatch.setitem(fv.METHODS, name, method)
        monkeypatch.setitem(LOOKS, name, method.look)


def test_it_is_in_the_menu_of_the_lab_and_in_its_own_colour(toy, transferred, task):
    net, prior = transferred
    radii = {"vi": (0.0,), "sabma": (0.0, 2.0), "toy": (0.0,)}
    lab = fv.widgets.Lab(Fitting(net, task, prior, 0, {"steps": 2}), radii=radii, measuring=COARSE)
    lab.run()
    assert lab.wait(300), lab.status
    lab.method = "toy"
    assert "toy" in lab.family.methods
    assert lab.view.method == "toy"
    assert (style("toy").label, style("toy").color) == ("Toy posterior", "#123456")


def test_no_two_methods_look_alike():
    drawn = Counter((look.color, look.dash, look.symbol) for look in LOOKS.values())
    assert not [
        look.name for look in LOOKS.values() if drawn[look.color, look.dash, look.symbol] > 1
    ]
    colors = Counter(method.look.color for method in fv.METHODS.values() if method.ascent is None)
    assert max(colors.values()) == 1
    assert style("swag").color == style("f-swag").color == fv.METHODS["swag"].look.color
