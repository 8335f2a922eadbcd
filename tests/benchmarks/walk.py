"""Ten calls of a user, in turn with the same calls of another commit:
`python tests/benchmarks/walk.py [REVISION] [rounds=5]`.

REVISION is the last tag before this commit if none is given.  Two processes, each with the flatviz
of its own checkout, take every call in turn, so that a slow moment of the machine hits both.
Printed are the seconds of the revision and of this checkout, and the median of their ratio.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from torch import nn

ROOT = Path(__file__).resolve().parents[2]


def calls(state):
    """Name and function of each call; each uses what those before it left in `state`."""
    import torch

    import flatviz as fv

    def task():
        return fv.datasets.digits_transfer(shots=2, degrees=15, seed=0)

    def pretrain():
        return fv.pretrain(fv.models.mlp(state["task"], seed=0), state["task"].source, seed=0)

    def transfer():
        swag = fv.fit(state["pretrain"], state["task"].source, fv.SWAG(rank=5), seed=0)
        how = dict(treated="norm+head", head_std=0.3, scale=64)
        return fv.transfer(state["pretrain"], swag, **how)

    def fit_sabma():
        net, prior = state["transfer"]
        return fv.fit(net, state["task"].train, fv.SABMA(prior, radius=2.0), seed=0)

    def slice_plane():
        net, _ = state["transfer"]
        W = state["fit_sabma"].sample(30, seed=1)
        plane = fv.plane_pca(W)
        f = fv.nll(net, state["task"].train)
        return fv.slice_plane(f, plane, resolution=41), fv.project(W, plane)

    def plot_surface():
        return fv.plot_surface(*state["slice_plane"]).to_json()

    def top_eigenpairs():
        net, _ = state["transfer"]
        f = fv.nll(net, state["task"].train)
        return fv.top_eigenpairs(f, state["fit_sabma"].center, k=5)

    def fit_family():
        net, prior = state["transfer"]
        radii = {"sabma": (0.0, 0.5, 1.0, 2.0)}  # the first family of a lab
        return fv.families.fit_family(net, state["task"], prior, radii=radii, seed=0)

    def predict():
        net, _ = state["transfer"]
        return fv.predict(net, state["fit_sabma"], state["task"].test, n_draws=30, seed=0)

    def laplace():
        torch.manual_seed(0)
        data = fv.Data(torch.randn(500, 64), torch.arange(500) % 10)
        module = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
        return fv.fit(fv.Net.from_module(module, "head"), data, fv.Laplace(), seed=0)

    steps = [task, pretrain, transfer, fit_sabma, slice_plane, plot_surface, top_eigenpairs]
    for call in [*steps, fit_family, predict, laplace]:
        yield call.__name__, call


def work():
    """Read the number of a call a line, and answer with its name and seconds."""
    state = {}
    todo = list(calls(state))
    for line in sys.stdin:
        name, call = todo[int(line)]
        start = time.perf_counter()
        state[name] = call()
        print(json.dumps([name, time.perf_counter() - start]), flush=True)


class Worker:
    """A process whose flatviz is that of a checkout."""

    def __init__(self, checkout):
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", __file__, "work"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=checkout,
            env=os.environ | {"PYTHONPATH": str(checkout)},
        )

    def take(self, call):
        """Name and seconds of one call."""
        print(call, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"call {call} failed in {self.process.args}")
        return tuple(json.loads(answer))


def main(revision, rounds):
    """Print a line a call."""
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "other"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(other), revision], check=True)
        workers = [Worker(other), Worker(ROOT)]
        seconds = {}
        try:
            for _ in range(rounds + 1):
                for call in range(10):
                    taken = [worker.take(call) for worker in workers]
                    seconds.setdefault(taken[0][0], []).append([t for _, t in taken])
        finally:
            for worker in workers:
                worker.process.kill()
                worker.process.wait()
            subprocess.run([*git, "remove", "--force", str(other)], check=True)
    print(f"| call | {revision}, s | here, s | here / {revision} | in the first round |")
    print("|---|---|---|---|---|")
    for name, (first, *later) in seconds.items():
        before, after = (median(column) for column in zip(*later))
        ratio = median(b / a for a, b in later)
        print(f"| {name} | {before:.3f} | {after:.3f} | {ratio:.2f} | {first[1] / first[0]:.2f} |")


if __name__ == "__main__":
    words = sys.argv[1:]
    if words == ["work"]:
        work()
    else:
        numbers = [int(w.removeprefix("rounds=")) for w in words if w.startswith("rounds=")]
        names = [w for w in words if not w.startswith("rounds=")]
        tag = ["git", "-C", str(ROOT), "describe", "--tags", "--abbrev=0", "HEAD^"]
        found = names or [subprocess.run(tag, capture_output=True, text=True).stdout.strip()]
        if not found[0]:
            sys.exit("there is no tag yet: name a revision, python tests/benchmarks/walk.py HEAD~1")
        main(found[0], *(numbers or [5]))
