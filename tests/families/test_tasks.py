"""Fits as tasks of two worker processes, one of which is killed: results are the local ones, kept as they come."""

import os
import signal
import time
from pathlib import Path

import pytest
import torch

from flatviz.cli import main
from flatviz.families.family import fit_family
from flatviz.families.tasks import cached_each, each


def squares(given, item):
    """given + item^2; leaves a note of who did it, and takes its time."""
    folder, base = given
    (Path(folder) / f"{item} {os.getpid()}").touch()
    time.sleep(0.05)
    return base + item**2


def test_what_is_in_the_cache_is_not_computed_and_the_rest_is_kept_as_it_comes(tmp_path, monkeypatch):
    monkeypatch.setenv("FLATVIZ_CACHE", str(tmp_path))
    asked, settings = [], [dict(number=i) for i in range(4)]

    def compute(missing):
        asked.append(missing)
        for at in reversed(range(len(missing))):
            if len(asked) == 1 and at == 0:
                raise KeyboardInterrupt
            yield at, torch.tensor(missing[at])

    with pytest.raises(KeyboardInterrupt):
        cached_each("tasks", settings, compute)
    assert torch.stack(cached_each("tasks", settings, compute)).tolist() == asked[0] == [0, 1, 2, 3]
    assert asked[1:] == [[0]]


def test_a_family_on_workers_is_the_local_one(client, transferred, task):
    (net, prior), radii = transferred, {"vi": (0.0,), "swag": (0.0,), "sabma": (0.0, 0.25, 0.5, 1.0)}
    fit = dict(seed=0, radii=radii, fit={"steps": 8, "snapshots": 6, "rank": 3})
    local = fit_family(net, task, prior, **fit)
    far = fit_family(net, task, prior, engine=client, **fit)
    assert (far.method, far.radius, far.unit) == (local.method, local.radius, local.unit)
    for a, b in zip(far.posterior, local.posterior):
        torch.testing.assert_close(a.center, b.center, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(a.sample(2, seed=1), b.sample(2, seed=1), rtol=1e-5, atol=1e-6)
    assert far.posterior[0] is far.posterior[2]  # radius 0, once
    with pytest.raises(TypeError, match=r"engine must be a dask.distributed Client, got str: Client\(...\) makes one"):
        fit_family(net, task, prior, engine="two", **fit)


def test_commands_join_a_scheduler_or_start_a_secured_one_and_close_what_they_opened(client, monkeypatch, capsys, tmp_path):
    seen = []

    def computes(*args, engine, **settings):
        seen.append((engine.scheduler.address, len(engine.scheduler_info()["workers"]), engine))
        raise ValueError("enough")

    address = client.scheduler.address
    monkeypatch.setattr("flatviz.cli.tour.run_tour", computes)
    out = ["--out", str(tmp_path / "x.html")]
    assert main(["tour", "--scheduler", address, *out]) == 1 and "enough" in capsys.readouterr().err
    assert [(where, n) for where, n, _ in seen] == [(address, 2)] and {engine.status for *_, engine in seen} == {"closed"}
    monkeypatch.setattr("flatviz.families.tasks.SCHEDULER_WAIT", "0.2s")
    assert main(["tour", "--scheduler", "tcp://127.0.0.1:9", *out]) == 1
    assert capsys.readouterr().err.startswith("flatviz tour: ")
    assert main(["tour", "--workers", "0", *out]) == 1 and "workers must be" in capsys.readouterr().err
    assert main(["tour", "--workers", "1", *out]) == 1 and seen[-1][0].startswith(
        "tls://"
    )  # nobody else on the machine gets in


def test_a_killed_worker_costs_only_its_tasks(client, tmp_path):
    killed = []

    def kill_one(done, total, label):
        if done == 2 and not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    found = dict(each(squares, (str(tmp_path), 0), range(12), engine=client, progress=kill_one))
    assert killed and found == {i: i**2 for i in range(12)}
    done = [tuple(map(int, path.name.split())) for path in tmp_path.iterdir()]
    assert len({i for i, _ in done}) == 12 and 12 <= len(done) < 24 and killed[0] in {pid for _, pid in done}
