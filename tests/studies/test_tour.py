"""The preparation and settings of the tour, on the conv net, which diverges at those of the MLP."""

import pytest

from flatviz.posteriors import METHODS
from flatviz.studies.members import fit_member
from flatviz.studies.tour import prepare


@pytest.fixture(scope="module")
def prepared():
    return prepare("conv", seed=2)


def test_the_conv_net_early_in_training_survives_its_swag():
    net, task, prior = prepare("conv", seed=0, epochs=2)  # at fit_swag's own rate of 0.05 this raises
    assert prior.dim == net.dim and len(task.train) == 100
    assert prior.mean.isfinite().all() and prior.log_std.isfinite().all()


@pytest.mark.parametrize("method", ["sam_mu", "sabma"])
def test_the_conv_net_learns_at_the_largest_radius_of_its_slider(prepared, method):
    net, task, prior = prepared
    q = fit_member(net, task, prior, method, METHODS[method].tuned(net).largest, seed=2)
    loss = q.history.loss
    assert loss[-20:].mean() < 0.85 * loss[:20].mean()  # at a rate of 0.05 it stays at that of guessing, or diverges
