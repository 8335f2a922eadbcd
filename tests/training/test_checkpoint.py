"""A checkpoint is of one run: whatever argument is another, the file is refused."""

from functools import partial

import pytest
import torch
from torch import nn

import flatviz as fv
from flatviz.storage.digest import arguments_digest

SHORT = dict(seed=0, batch_size=4)
CHAIN = SHORT | dict(burn_in=2, thin=2, n_draws=2, lr=1e-3)
FEW = SHORT | dict(steps=3)
CASES = [
    ("fit_sgd", FEW, dict(batch_size=6)),
    ("fit_sgd", FEW, dict(ascent=fv.SAM(0.1))),
    ("fit_dropout", FEW | dict(n_draws=2, rate=0.1), dict(rate=0.6)),
    ("fit_sgld", CHAIN, dict(burn_in=3, n_draws=4, thin=1)),
    ("fit_sgld", CHAIN, dict(temperature=0.5)),
    ("fit_emcmc", CHAIN, dict(eta=0.02)),
    ("fit_csgld", SHORT | dict(cycles=2, cycle_steps=6, n_draws=2, lr=1e-3), dict(noisy_share=0.9)),
    ("fit_mfvi", FEW, dict(prior_std=0.7)),
    ("fit_bsam", FEW, dict(damping=0.5)),
    ("fit_swag", SHORT | dict(rank=2, snapshots=3), dict(rank=3)),
    ("fit_ensemble", FEW | dict(members=2), dict(weight_decay=0.1)),
    ("fit_laplace", FEW | dict(structure="diagonal"), dict(momentum=0.5)),
]


@pytest.mark.parametrize(("name", "settings", "other"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_the_file_of_a_run_with_another_argument_is_refused(name, settings, other, tiny, tmp_path):
    net, data = tiny
    if name == "fit_dropout":  # it masks Linear layers
        net = fv.Net.from_module(nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 3)).double())
    fit = partial(getattr(fv, name), checkpoint=tmp_path / "run", **settings)
    first = fit(net, data)
    assert torch.equal(first.center, fit(net, data).center)  # of the same run: read and given back
    for given, more in (((net, data), other), ((net.at(net.w + 1), data), {}), ((net, fv.Data(data.x, 2 - data.y)), {})):
        with pytest.raises(ValueError, match="checkpoint must be of this run"):
            fit(*given, **more)


def test_without_a_checkpoint_nothing_is_hashed():
    assert arguments_digest(dict(checkpoint=None, fit=len)) == ""
