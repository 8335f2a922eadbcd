"""BatchNorm: re-estimated statistics, and the choice that must be made."""

import pytest
import torch
from torch import nn

import flatviz as fv


@pytest.fixture
def net_and_data():
    module = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3))
    net = fv.Net.from_module(module)
    return net, fv.Data(torch.randn(50, 4) + 2, torch.randint(0, 3, (50,)))


def test_refreshed_statistics_are_the_weighted_moments_of_the_data(net_and_data):
    net, data = net_and_data
    w = net.w + 0.1
    fresh = fv.refresh_batchnorm(net, w, data, batch_size=16)  # 16, 16, 16 and a ragged 2
    h = fresh.to_module()[0](data.x)
    torch.testing.assert_close(fresh.buffers()["1.running_mean"], h.mean(0).detach(), rtol=1e-4, atol=1e-5)
    batches = [b.var(0) * len(b) for b in h.split(16)]
    torch.testing.assert_close(fresh.buffers()["1.running_var"], (sum(batches) / 50).detach(), rtol=1e-4, atol=1e-5)


def test_refreshing_changes_only_the_copy(net_and_data):
    net, data = net_and_data
    before = {k: v.clone() for k, v in net.buffers().items()}
    x = data.x[:3]
    own = net(net.w, x)
    fresh = fv.refresh_batchnorm(net, net.w, data)
    assert not torch.allclose(fresh(fresh.w, x), own)
    torch.testing.assert_close(net(net.w, x), own, rtol=0, atol=0)
    assert all(torch.equal(v, before[k]) for k, v in net.buffers().items())


def test_predict_asks_for_the_choice_and_records_it(net_and_data):
    net, data = net_and_data
    q = fv.Gaussian(net.w, torch.full_like(net.w, -3.0))
    with pytest.raises(ValueError, match=r"batchnorm='frozen'.*batchnorm=data.*re-estimates them for each draw"):
        fv.predict(net, q, data, 2, seed=0)
    frozen = fv.predict(net, q, data, 2, seed=0, batchnorm="frozen")
    fresh = fv.predict(net, q, data, 2, seed=0, batchnorm=data)
    assert (frozen.batchnorm, fresh.batchnorm) == ("frozen", "re-estimated")
    w = q.sample(2, seed=0)[1]
    torch.testing.assert_close(fresh.outputs[1], fv.refresh_batchnorm(net, w, data)(w, data.x))
    assert fv.slice_plane(fv.nll(net, data), fv.plane_random(net, net.w, seed=0), resolution=3).batchnorm == "frozen"
    assert fv.top_eigenpairs(fv.nll(net, data), net.w, 2).batchnorm == "frozen"


def test_training_with_batch_statistics_returns_a_net_with_its_own(net_and_data):
    net, data = net_and_data
    trained = fv.fit_sgd(net, data, seed=0, steps=20).net
    assert not torch.equal(trained.buffers()["1.running_mean"], net.buffers()["1.running_mean"])
    frozen = fv.fit_sgd(net, data, seed=0, steps=20, batchnorm="frozen").net
    assert torch.equal(frozen.buffers()["1.running_mean"], net.buffers()["1.running_mean"])


def test_refreshing_repairs_a_deep_batchnorm_net_after_weight_averaging():
    layers = []
    generator = torch.Generator().manual_seed(0)
    state = torch.random.get_rng_state()
    torch.manual_seed(0)
    for _ in range(6):
        layers += [nn.Linear(8, 8), nn.BatchNorm1d(8), nn.ReLU()]
    module = nn.Sequential(*layers, nn.Linear(8, 2))
    torch.random.set_rng_state(state)
    x = torch.randn(200, 8, generator=generator)
    data = fv.Data(x, (x[:, 0] * x[:, 1] > 0).long())
    net = fv.pretrain(module, data, seed=0, epochs=3, lr=0.2)
    rows = [fv.pretrain(net, data, seed=s, epochs=20, lr=0.2).w for s in range(4)]
    averaged = torch.stack(rows).mean(0)
    stale = float(fv.nll(net, data)(averaged))
    fresh = float(fv.nll(fv.refresh_batchnorm(net, averaged, data), data)(averaged))
    assert fresh < 0.5 * stale  # 0.58 against 2.4, and 0.64 against 3.6 with another seed
