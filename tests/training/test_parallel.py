"""Two processes that share each minibatch make the steps of one that has it all (gloo, on the CPU)."""

import contextlib
import os
import random
import socket
from functools import partial

import pytest
import torch
import torch.distributed as dist
from forked import forked
from torch import nn

import flatviz as fv
from flatviz.training import driver

PROCESSES = 2


@pytest.fixture
def case():
    module = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3))
    x, y = torch.randn(23, 1, 6, 6), torch.randint(0, 3, (23,))
    return fv.Net.from_module(module.eval()), fv.Data(x, y), fv.Data(x[:9] + 0.1, y[:9])


def fits(net, data, validation, folder, parallel=False):
    """name -> fit, each of 12 steps of 7 examples, an odd share for each process."""
    prior = fv.Gaussian(net.w, torch.full_like(net.w, -3.0), torch.full((2, net.dim), 0.02))
    how, kept = partial(fv.Training, parallel=parallel), folder and folder / "vi"
    few = dict(seed=0, steps=12, batch_size=7, batchnorm="frozen", training=how())
    chosen = few | dict(training=how(validation=validation, patience=3))
    return {
        "sgd": partial(fv.fit_sgd, net, data, ascent=fv.SAM(0.05), **chosen),
        "vi": partial(fv.fit_vi, net, data, prior, checkpoint=kept, **few | dict(training=how(accumulate=2))),
        "sabma": partial(fv.fit_sabma, net, data, prior, radius=0.5, **few),
        "full": partial(fv.fit_sabma, net, data, prior, radius=0.5, **few | dict(batch_size=None, steps=3)),
        "ensemble": partial(fv.fit_ensemble, net, data, members=2, **chosen),
        "sgld": partial(fv.fit_sgld, net, data, seed=0, n_draws=4, chains=2, burn_in=2, thin=1, batch_size=7, training=how()),
        "one": partial(fv.fit_sgd, net, data, **few | dict(batch_size=1)),  # the second process has no example at all
    }


def values(fit):
    return fit.W[-1] if isinstance(fit, fv.Draws) else torch.cat([fit.mean, fit.log_std, fit.factor.flatten()])


def work(rank, port, case, folder):
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(PROCESSES)}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}  # what torchrun sets
    driver.SAVE_EVERY = 0.0
    torch.set_num_threads(1)
    found = {name: values(fit()) for name, fit in fits(*case, folder, parallel=True).items()}
    net, data, _ = case
    how = dict(seed=0, batch_size=8, training=fv.Training(parallel=True))
    trained = fv.fit_sgd(net, data, steps=4, batchnorm="train", **how)
    found["batchnorm"] = torch.cat([b.flatten().float() for b in trained.buffers.values()])
    found["pretrain"] = fv.pretrain(net.to_module(), data, epochs=2, **how).w
    torch.save(found, folder / f"{rank}.pt")
    dist.destroy_process_group()
    return 0


def free_port():
    """A port below those that the system gives to others by itself."""
    for port in random.SystemRandom().sample(range(20000, 30000), 100):
        with contextlib.suppress(OSError), socket.socket() as free:
            free.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no free port among a hundred")


@pytest.mark.skipif(not dist.is_available() or not dist.is_gloo_available(), reason="no gloo in this torch")
def test_two_processes_make_the_steps_of_one_on_the_joined_batch(case, tmp_path):
    port, errors = free_port(), [tmp_path / f"err{r}" for r in range(PROCESSES)]
    processes = [forked(partial(work, r, port, case, tmp_path), tmp_path / f"out{r}", errors[r]) for r in range(PROCESSES)]
    alone = {name: values(fit()) for name, fit in fits(*case, None).items()}
    for process, said in zip(processes, errors):
        process.join(300)
        assert process.exitcode == 0, said.read_text()
    first, second = (torch.load(tmp_path / f"{r}.pt") for r in range(PROCESSES))
    for name, value in alone.items():
        torch.testing.assert_close(first[name], value, rtol=1e-5, atol=1e-5)
    for name, value in first.items():
        assert torch.equal(value, second[name]), name  # so no process goes its own way later on
    assert (tmp_path / "vi").exists()
