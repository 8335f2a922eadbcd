"""The same seed gives the same bytes in another process."""

import os
import subprocess
import sys

RUN = """
import hashlib
from flatviz.storage.digest import value_digest
import torch, flatviz as fv
task = fv.datasets.moons_transfer(seed=0)
source = fv.pretrain(fv.models.mlp(task, hidden=(8,)), task.source, seed=0, epochs=2)
swag = fv.fit(source, task.source, fv.SWAG(rank=2, snapshots=3), seed=0)
net, prior = fv.transfer(source, swag, treated="norm+head")
q = fv.fit(net, task.train, fv.SABMA(prior, radius=0.5), seed=0, steps=5)
whole = fv.Net.from_module(source.to_module())
draws = [
    fv.fit(whole, task.train, fv.Ensemble(members=2), seed=0, steps=5, batch_size=8).W,
    fv.fit(whole, task.train, fv.SGLD(n_draws=3, burn_in=2, thin=1), seed=0, batch_size=8).W,
    fv.fit(whole, task.train, fv.Dropout(n_draws=3, rate=0.2), seed=0, steps=5).W,
]
f, plane = fv.nll(net, task.train), fv.plane_random(net, q.mean, seed=0)
spectrum = fv.top_eigenpairs(f, q.mean, 2)
values = [source.w, prior.mean, prior.factor, q.mean, q.log_std, q.factor, *draws]
values += [
    fv.slice_plane(f, plane, extent=1.0, resolution=9).values,
    spectrum.values,
    fv.predict(net, q, task.test, 3, seed=0).outputs,
    fv.hessian_trace(f, q.mean, products=6)[0],
]
content = b"".join(torch.as_tensor(v).numpy().tobytes() for v in values)
print(hashlib.sha256(content).hexdigest(), value_digest(fv.METHODS))
"""


def test_two_processes_give_the_same_bytes_for_the_same_seed_and_the_same_key_of_a_cached_result():
    def run(hash_seed):
        env = {**os.environ, "PYTHONHASHSEED": hash_seed}
        return subprocess.run(
            [sys.executable, "-c", RUN], env=env, capture_output=True, text=True, check=True
        ).stdout

    assert run("1") == run("2") != ""
