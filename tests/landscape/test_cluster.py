"""Two worker processes, one of which is killed: the values are the local ones."""

import os
import signal
from functools import partial

import pytest
import torch
from torch import nn

import flatviz as fv

Future = pytest.importorskip("distributed").Future


def problem():
    net = fv.Net.from_module(nn.Sequential(nn.Linear(6, 9), nn.BatchNorm1d(9), nn.ReLU(), nn.Linear(9, 4)))
    return fv.nll(net, fv.Data(torch.randn(40, 6), torch.arange(40) % 4)), fv.plane_random(net, net.w, seed=0)


def test_a_cluster_gives_the_local_values_and_survives_a_lost_worker(client, tmp_path):
    run, killed = partial(fv.slice_plane, *problem(), resolution=21), []
    whole = run().values
    torch.testing.assert_close(run(engine=client).values, whole, rtol=1e-5, atol=1e-7)

    def kill_one(done, total, label):
        if done == 1 and not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    again = run(engine=client, progress=kill_one, cache=tmp_path).values
    assert killed
    torch.testing.assert_close(again, whole, rtol=1e-5, atol=1e-7)
    assert torch.equal(run(cache=tmp_path).values, again)  # all on disk


def test_a_finished_block_that_does_not_arrive_is_sent_again(client, monkeypatch):
    run, result, late = partial(fv.slice_plane, *problem(), resolution=9), Future.result, []

    def arrives(future, timeout=None):
        if not late:
            late.append(future.key)
            raise TimeoutError
        return result(future, timeout)

    monkeypatch.setattr(Future, "result", arrives)
    torch.testing.assert_close(run(engine=client).values, run().values, rtol=1e-5, atol=1e-7)
    assert late


def test_what_workers_do_not_have_is_refused_and_so_is_a_closed_client(client):
    run = partial(fv.slice_plane, *problem(), resolution=3)
    for state, said in (
        (nn.modules.module.register_module_forward_hook(lambda module, args, out: 2 * out), "_global_forward_hooks"),
        (torch.autocast("cpu", torch.bfloat16), "autocast on cpu"),
    ):
        with state, pytest.raises(ValueError, match=f"must compute as this process does, got {said} that its workers lack"):
            run(engine=client)
    other = type(client)(client.scheduler.address)
    other.close()
    with pytest.raises(ValueError, match="engine must be a running Client, got one that is closed: make another"):
        run(engine=other)
