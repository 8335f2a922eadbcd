"""A new posterior is one file and one line: it is then in the menu of the lab."""

from collections import Counter

import pytest
import torch
from cases import COARSE

import flatviz as fv
from flatviz.catalog import LOOKS, Look
from flatviz.checks import Positive
from flatviz.families import Fitting
from flatviz.plots.theme import style
from flatviz.posteriors.entries import Entry, Tuned, table
from flatviz.training.gradient import Ascent
from flatviz.training.method import Method


class Toy(Method):
    """N(w, width^2): every draw is where the net stands, plus noise of one width."""

    width: Positive = 0.1
    ascent: Ascent | None = None

    def fitted(self, problem, run):
        w = problem.net.w
        return fv.Gaussian(w, torch.full_like(w, self.width).log())


TOY = Entry(Toy, plain=Tuned(dict(width=0.05), tour=(0.0,), lab=(0.0,)))


@pytest.fixture
def toy(cache, monkeypatch):
    """Its one line in the table."""
    line = Look("toy", "Toy posterior", "#123456", "solid", "circle", flat=True)
    for name, method in table([line], {"toy": TOY}).items():
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
