"""A family of SA-BMA posteriors trained together is the family trained alone."""

import pytest
import torch
from torch import nn

import flatviz as fv


@pytest.mark.parametrize(
    "settings",
    [
        dict(kl_weight=1.0),
        dict(kl_weight=0.0, weight_decay=0.01, batch_size=8, blocks="mean+std+factor"),
        dict(mode="sam_mu", joint=False),
        dict(joint=False, blocks="mean+std+factor"),
        dict(mode="sam_theta", blocks="mean+std+factor", mc_samples=2),
        dict(mode="rank1_pinv"),
        dict(mode="rank1_damped", kl_weight=0.0),
        dict(mode="authors_code", switches=("z2_mean_bug",), kl_weight=0.0),
    ],
)
def test_fifty_steps_of_a_family_together_are_those_of_each_member_alone(settings, small):
    net, data, prior = small
    found = fv.fit_sabma(net, data, prior, radius=[0.0, 0.3], seed=[0, 1], steps=50, **settings)
    assert list(found) == [(0.0, 0), (0.0, 1), (0.3, 0), (0.3, 1)]
    for (radius, seed), q in list(found.items())[1:3]:
        alone = fv.fit_sabma(net, data, prior, radius=radius, seed=seed, steps=50, **settings)
        for name in ("mean", "log_std", "factor"):
            torch.testing.assert_close(getattr(q, name), getattr(alone, name), rtol=1e-8, atol=1e-8)
        torch.testing.assert_close(q.history.loss, alone.history.loss, rtol=1e-8, atol=1e-8)
        if settings.get("kl_weight", 1.0):
            torch.testing.assert_close(q.history.kl, alone.history.kl, rtol=1e-7, atol=1e-7)


def test_what_cannot_run_together_runs_one_after_the_other(small):
    module = nn.Sequential(nn.Linear(2, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 3)).double()
    net, data = fv.Net.from_module(module, "norm+head"), small[1]
    prior = fv.Gaussian(net.w, torch.full_like(net.w, -1.5))
    for settings in (dict(), dict(mode="sam_theta", mc_samples=2), dict(batchnorm="train")):
        found = fv.fit_sabma(net, data, prior, radius=[0.3], seed=[0, 1], steps=2, **settings)
        alone = fv.fit_sabma(net, data, prior, radius=0.3, seed=1, steps=2, **settings)
        torch.testing.assert_close(found[0.3, 1].mean, alone.mean)


def test_a_member_that_diverges_is_named_and_the_others_are_returned(small):
    net, data, prior = small
    settings = dict(seed=[0, 1], steps=20, kl_weight=0.0)
    with pytest.warns(UserWarning, match="2 of 4 members diverged and are left out: radius 1e.30 with seed 0, radius 1e.30"):
        grid = fv.fit_sabma(net, data, prior, radius=[0.3, 1e30], **settings)
    assert list(grid) == [(0.3, 0), (0.3, 1)]
    whole = fv.fit_sabma(net, data, prior, radius=[0.3, 0.0], **settings)
    for member, q in grid.items():
        torch.testing.assert_close(q.mean, whole[member].mean, rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="all 2 members diverged, radius 1e.30 with seed 0, .* got NaN or inf at step 1 of 20"):
        fv.fit_sabma(net, data, prior, radius=[1e30], **settings)
    with pytest.raises(ValueError, match="the loss must stay finite, got NaN or inf .* lower lr or radius"):
        fv.fit_sabma(net, data, prior, radius=1e30, seed=0, steps=20)
