"""Methods against VI along its temperature, at equal training loss."""

import torch
from pytest import fixture, mark
from torch import eye, tensor, zeros

import flatviz as fv
from flatviz.plots import plot_frontier

PLANE = fv.plane_pca(eye(3)[:, :2])
SCORES = dict(nll=0.9, ece=0.1, accuracy=0.7)


def member(method, radius, loss):
    """A measured member with this training loss."""
    scores = {name: tensor([value]) for name, value in SCORES.items()}
    prediction = fv.Prediction(zeros(1, 4, 2), zeros(4, dtype=torch.long), scores=scores)
    return fv.results.Member(
        method,
        radius,
        "",
        fv.Gaussian(zeros(2), zeros(2)),
        projection=fv.Projection(PLANE, zeros(1, 2), zeros(1), tensor([loss])),
        spectrum=(fv.Spectrum(tensor([2.0]), eye(2)[:1], zeros(1), 1),),
        prediction=prediction,
    )


@fixture
def drawn():
    """Call it with losses: the frontier of VI at two temperatures, VI, and SA-BMA at the last."""

    def of(low, high, plain, selected, **how):
        members = (
            member("vi_t", 0.01, low),
            member("vi_t", 0.1, high),
            member("vi", 0.0, plain),
            member("sabma", 1.0, selected),
        )
        return plot_frontier(fv.Family(members), method="sabma", radius=1.0, **how)

    return of


def crosses(fig):
    """Whether each panel has its cross."""
    return [t.y[0] is not None and t.y[0] == t.y[0] for t in fig.data if t.name == "VI at T*"]


def test_the_title_is_the_users(drawn):
    assert drawn(0.1, 0.4, 0.3, 0.2, title="Mine").layout.title.text.startswith("Mine")
    usual = drawn(0.1, 0.4, 0.3, 0.2).layout.title.text
    assert usual.startswith("Flatness and scores at equal fit")


@mark.parametrize("selected, has_equal", [(0.2, True), (0.5, False), (0.05, False)])
def test_the_cross_is_drawn_where_the_text_names_its_temperature(drawn, selected, has_equal):
    """Beyond the temperatures VI has that loss at none that is known."""
    fig = drawn(0.1, 0.4, 0.6, selected)
    assert set(crosses(fig)) == {has_equal}
    assert ("VI at T* = " in fig.layout.annotations[-1].text) == has_equal


def test_a_density_of_negative_loss_has_a_linear_axis(drawn):
    fig = drawn(-0.5, -0.1, -0.05, -0.3)
    lo, hi = fig.layout.xaxis.range
    assert fig.layout.xaxis.type != "log"
    assert lo < -0.5
    assert hi > -0.05
    assert all(crosses(fig))
    assert "VI at T* = 0.0316" in fig.layout.annotations[-1].text
