"""Fits as tasks of any executor: results are the local ones, kept as they come; a lost process is
one error."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import distributed
import torch
from cases import refused
from internals import main
from pytest import mark
from torch import nn
from torch.testing import assert_close

from flatviz.families import fit_family
from flatviz.families.tasks import executor, run_each


def squares(base, item):
    """(base + item^2, who did it); takes its time."""
    time.sleep(0.05)
    return base + item**2, os.getpid()


def test_a_family_of_an_executor_is_the_local_one(transferred, task):
    net, prior = transferred
    radii = {"vi": (0.0,), "swag": (0.0,), "sabma": (0.0, 0.25, 0.5, 1.0)}
    fit = dict(
        seed=0,
        radii=radii,
        fit={"steps": 8, "snapshots": 6, "rank": 3},
    )
    local = fit_family(net, task, prior, **fit)
    with ThreadPoolExecutor(2) as pool:
        far = fit_family(net, task, prior, engine=pool, **fit)
    assert (far.method, far.radius) == (local.method, local.radius)
    for a, b in zip(far.posterior, local.posterior):
        assert_close(a.center, b.center, rtol=1e-5, atol=1e-6)
        found = a.sample(2, seed=1)
        want = b.sample(2, seed=1)
        assert_close(found, want, rtol=1e-5, atol=1e-6)
    assert far.posterior[0] is far.posterior[2]  # radius 0, once
    text = "engine must be an executor of concurrent.futures, got 'two': concurrent.futures.Proc"
    with refused(text, TypeError):
        fit_family(net, task, prior, engine="two", **fit)


@mark.long  # processes that import torch
def test_tasks_on_the_workers_of_a_scheduler(tmp_path):
    how = dict(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=None,
        local_directory=tmp_path,
        death_timeout=300,
    )
    with (
        distributed.LocalCluster(**how) as cluster,
        distributed.Client(cluster, timeout=300) as client,
    ):
        done = dict(run_each(squares, 5, range(6), engine=client.get_executor(pure=False)))
    pids = {pid for _, pid in done.values()}
    found = {i: value for i, (value, _) in done.items()}
    want = {i: 5 + i**2 for i in range(6)}
    assert found == want
    assert os.getpid() not in pids


def test_what_other_processes_do_not_have_is_refused():
    for state, said in (
        (
            nn.modules.module.register_module_forward_hook(lambda module, args, out: 2 * out),
            "_global_forward_hooks",
        ),
        (torch.autocast("cpu", torch.bfloat16), "autocast on cpu"),
    ):
        with (
            state,
            refused(
                f"must compute as this process does, got {said} that its workers lack",
            ),
        ):
            next(run_each(squares, 0, range(2), engine=ThreadPoolExecutor(1)))


@mark.long  # processes that import torch
def test_a_pool_of_processes_listens_nowhere_and_ends_with_one_error_where_one_is_lost():
    given = 3
    killed = []
    with (
        executor(2) as pool,
        refused("a worker process must live until its task ends, got one that", RuntimeError),
    ):
        for _, (_, pid) in run_each(squares, given, range(40), engine=pool):
            if not killed:
                killed.append(pid)
                assert pid != os.getpid() and not Path(f"/proc/{pid}").exists() or not listens(pid)
                os.kill(pid, signal.SIGTERM)
    assert killed


def listens(pid):
    """Tell whether a socket of the process listens: state 0A in the kernel's table."""
    inodes = {os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if link.exists()}
    rows = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]
    ]
    return any(row[3] == "0A" and f"socket:[{row[9]}]" in inodes for row in rows)


def test_commands_take_one_kind_of_executor_and_close_it(monkeypatch, capsys, tmp_path):
    seen = []

    def computes(*args, engine, **settings):
        seen.append(engine)
        raise ValueError("enough")

    monkeypatch.setattr("flatviz.cli.tour.run_tour", computes)
    out = ["--out", str(tmp_path / "x.html")]
    assert main(["tour", "--workers", "2", *out]) == 1
    assert "enough" in capsys.readouterr().err
    with refused("after shutdown", RuntimeError):
        seen[0].submit(int)
    assert main(["tour", "--workers", "0", *out]) == 2
    assert "'--workers': 0 is not" in capsys.readouterr().err
