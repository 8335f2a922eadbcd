"""A fit that diverges is `Diverged`, bad input is not, and a loss that ends far above where it began is said."""

from dataclasses import replace
from functools import partial

import pytest
import torch

import flatviz as fv
from flatviz.families.members import unless_diverged
from flatviz.families.own import _first

BEGAN = "the loss ends far above where it began"


@pytest.fixture
def case(small):
    net, data, prior = small
    return net, data, fv.Gaussian(net.w, torch.full_like(net.w, -1.0))


@pytest.fixture
def fits(case):
    """name -> a fit, with keywords to come."""
    net, data, prior = case
    chain = partial(fv.fit_sgld, net, data, n_draws=2, burn_in=40, thin=1)
    return {"sgd": partial(fv.fit_sgd, net, data), "sgld": chain, "sabma": partial(fv.fit_sabma, net, data, prior, radius=0.5)}


@pytest.mark.parametrize("name", ["sgd", "sgld", "sabma"])
def test_infinity_is_divergence_and_bad_input_is_an_error_of_its_own(name, fits):
    fit = partial(fits[name], seed=0)
    with pytest.raises(fv.Diverged, match="must stay finite"):
        fit(lr=1e300)
    assert unless_diverged(fit, lr=1e300) is None
    for wrong in (dict(lr=float("nan")), dict(radius=-1.0) if name == "sabma" else dict(weight_decay=-1.0)):
        with pytest.raises(ValueError, match="must be a finite number >= 0, got") as raised:
            unless_diverged(fit, **wrong)
        assert not isinstance(raised.value, fv.Diverged)


def test_wrong_labels_are_no_reason_to_try_other_rates(case):
    net, data, _ = case
    wrong, tried = replace(data, y=data.y + 5), []
    with pytest.raises(ValueError, match="labels"):
        _first((0.1, 0.01), lambda lr: tried.append(lr) or fv.pretrain(net, wrong, seed=0, epochs=1, lr=lr))
    assert tried == [0.1]


def test_a_loss_that_ends_far_above_where_it_began_is_said_and_a_good_fit_says_nothing(case, recwarn):
    net, data, prior = case
    f = fv.nll(net, data)
    fits = {
        "vi": lambda lr: fv.fit_vi(net, data, prior, seed=1, lr=lr, steps=300),
        "swag": lambda lr: fv.fit_swag(net, data, seed=1, lr=lr, rank=3, snapshots=10),
    }
    for fit in fits.values():
        assert fit(0.1).history.notes == () and not recwarn.list
        with pytest.warns(UserWarning, match=BEGAN):
            q = fit(60.0)
        assert float(f(q.center)) > 10 + float(f(net.w)) and q.history.notes[0].startswith(BEGAN)
    wide = fv.Gaussian(net.w, torch.full_like(net.w, 18.0))  # its first draws have a larger loss still
    with pytest.warns(UserWarning, match=BEGAN):
        assert fv.fit_vi(net, data, wide, seed=1, steps=50).history.notes[0].startswith(BEGAN)
