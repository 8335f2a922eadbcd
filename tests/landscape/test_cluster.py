"""Two worker processes, one of which is killed: the values are the local ones."""

import os
import signal

import pytest
import torch
from torch import nn
from workers import two_workers

import flatviz as fv

Future = pytest.importorskip("distributed").Future


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with two_workers(tmp_path_factory.mktemp("dask")) as found:
        yield found


def problem():
    module, x = nn.Sequential(nn.Linear(6, 9), nn.BatchNorm1d(9), nn.ReLU(), nn.Linear(9, 4)), torch.randn(40, 6)
    net = fv.Net.from_module(module)
    return fv.nll(net, fv.Data(x, torch.arange(40) % 4)), fv.plane_random(net, net.w, seed=0)


def test_a_cluster_gives_the_local_values_and_survives_a_lost_worker(client, tmp_path):
    f, plane = problem()
    local = fv.slice_plane(f, plane, resolution=9)
    torch.testing.assert_close(fv.slice_plane(f, plane, resolution=9, engine=client).values, local.values, rtol=1e-5, atol=1e-7)
    killed = []

    def kill_one(done, total, label):
        if done == 1 and not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    again = fv.slice_plane(f, plane, resolution=21, engine=client, progress=kill_one, cache=tmp_path)
    assert killed
    whole = fv.slice_plane(f, plane, resolution=21)
    torch.testing.assert_close(again.values, whole.values, rtol=1e-5, atol=1e-7)
    assert torch.equal(fv.slice_plane(f, plane, resolution=21, cache=tmp_path).values, again.values)  # all on disk


def test_a_finished_block_that_does_not_arrive_is_sent_again(client, monkeypatch):
    f, plane = problem()
    result, late = Future.result, []

    def arrives(future, timeout=None):
        if not late:
            late.append(future.key)
            raise TimeoutError
        return result(future, timeout)

    monkeypatch.setattr(Future, "result", arrives)
    again = fv.slice_plane(f, plane, resolution=9, engine=client)
    assert late
    torch.testing.assert_close(again.values, fv.slice_plane(f, plane, resolution=9).values, rtol=1e-5, atol=1e-7)


def test_what_workers_do_not_have_is_refused_and_so_is_a_closed_client(client):
    f, plane = problem()
    text = "engine must compute as this process does, got _global_forward_hooks that its workers"
    with (
        nn.modules.module.register_module_forward_hook(lambda module, args, out: 2 * out),
        pytest.raises(ValueError, match=text),
    ):
        fv.slice_plane(f, plane, resolution=3, engine=client)
    with torch.autocast("cpu", torch.bfloat16), pytest.raises(ValueError, match="got autocast on cpu that its workers lack"):
        fv.slice_plane(f, plane, resolution=3, engine=client)
    other = type(client)(client.scheduler.address)
    other.close()
    with pytest.raises(ValueError, match="engine must be a running Client, got one that is closed: make another"):
        fv.slice_plane(f, plane, resolution=3, engine=other)
