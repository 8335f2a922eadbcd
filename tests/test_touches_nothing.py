"""Every public verb, called: it leaves the user's things as they were, measures in IEEE float32,
and gives the same in every mode."""

import contextlib
import inspect
import random
from dataclasses import dataclass, field

import numpy as np
import plotly.io as pio
import pytest
import torch
from cases import blobs
from every_verb import WITHOUT_A_NETWORK, calls, public_names, users_things
from oracles import IEEE, Looks, float32_flags, tensors, tf32
from pytest import mark
from torch import Tensor, enable_grad, inference_mode, nn, randn

import flatviz as fv

TRAINING = ("convergence_gap", "pretrain", "record_path", "fit", "lab", "train_pool")


@dataclass
class Seen:
    """What was seen of one call."""

    changed: list = field(default_factory=list)  # of the user's module and of global states
    arithmetic: set = field(default_factory=set)  # flags in the passes of its networks
    tensors: list = field(default_factory=list)


def states():
    return {
        "random": random.getstate(),
        "numpy": np.random.get_state()[1].tobytes(),
        "torch": torch.random.get_rng_state().numpy().tobytes(),
        "threads": torch.get_num_threads(),
        "grad": torch.is_grad_enabled(),
        "dtype": torch.get_default_dtype(),
        "template": pio.templates.default,
        "float32": float32_flags(),
    }


def snapshot(module):
    grads = {
        f"grad of {n}": p.grad if p.grad is None else p.grad.clone()
        for n, p in module.named_parameters()
    }
    rest = {f"{n} requires grad": p.requires_grad for n, p in module.named_parameters()}
    rest |= {
        f"mode and hooks of {n}": (m.training, len(m._forward_hooks))
        for n, m in module.named_modules()
    }
    return {k: v.detach().clone() for k, v in module.state_dict().items()} | grads | rest


def differing(before, after):
    same = lambda a, b: (
        torch.equal(a, b) if isinstance(a, Tensor) and isinstance(b, Tensor) else a is b or a == b
    )
    return [name for name in before if not same(before[name], after[name])]


def called(mode, path, inside=contextlib.nullcontext):
    """Name -> `Seen` of every verb; module, data and calls made inside of `mode`, in a user's own
    arithmetic (TF32); calls alone `inside` of another."""
    seen = {}
    with tf32(), torch.random.fork_rng(), mode():
        torch.manual_seed(0)
        module, data, task = users_things(path, Looks)
        module[0].weight.requires_grad_(False)
        if mode is enable_grad:
            module[3].weight.grad = torch.ones_like(module[3].weight)
        for name, call in calls(fv, module, data, task).items():
            was = snapshot(module) | states()
            Looks.seen = set()
            with inside():
                result = tensors(call())
            seen[name] = Seen(differing(was, snapshot(module) | states()), Looks.seen, result)
        return seen, float32_flags()


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return called(enable_grad, tmp_path_factory.mktemp("plain") / "q.pt")


def test_every_public_verb_leaves_module_and_global_states_as_they_were(plain):
    seen, _ = plain
    assert not {name: one.changed for name, one in seen.items() if one.changed}
    verbs = {n for n, value in public_names().items() if inspect.isfunction(value)}
    public = verbs - set(WITHOUT_A_NETWORK) | {"widgets.Lab"}
    assert public <= set(seen), (
        f"call these in tests/every_verb.py, scores by `SCORES`: {public - set(seen)}"
    )


def test_measuring_verbs_run_in_ieee_and_training_in_what_the_user_set(plain):
    seen, users = plain
    ours = {name: one.arithmetic for name, one in seen.items()}
    training = {name for name in ours if name.rpartition(".")[2].startswith(TRAINING)}
    assert not {
        n: a for n, a in ours.items() if not a <= ({IEEE, users} if n in training else {IEEE})
    }
    assert sum(map(bool, ours.values())) > 40
    assert sum(users in ours[name] for name in training) > 20


@contextlib.contextmanager
def float64_by_default():
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


@mark.long
@mark.parametrize(
    "mode, inside", [(inference_mode, contextlib.nullcontext), (enable_grad, float64_by_default)]
)
def test_every_verb_gives_its_values_in_every_mode(plain, tmp_path, mode, inside):
    got, _ = called(mode, tmp_path / "q.pt", inside)
    for name, want in plain[0].items():
        assert len(got[name].tensors) == len(want.tensors), name
        # The same operations in the same order: a few roundings of float32
        for a, b in zip(got[name].tensors, want.tensors):
            torch.testing.assert_close(
                a,
                b,
                rtol=1e-4,
                atol=1e-5,
                equal_nan=True,
                msg=name,
            )


def test_a_result_made_in_inference_mode_is_of_use_outside_of_it():
    with inference_mode():
        net = fv.Net.from_module(nn.Linear(3, 2)).at(torch.ones(8))
        data = blobs(12, 3, 2)
        prior = fv.Gaussian(net.w + 0, torch.zeros(8))
        draws = fv.Draws(randn(4, 8))
        w = randn(8)
    q = fv.fit(net, data, fv.VI(prior), seed=0, steps=2)
    assert not q.mean.is_inference()
    f = fv.nll(net, data)
    fv.top_eigenpairs(f, w, 1)
    fv.hvp(f, w, net.w)
    fv.sharpness(f, draws.W, iters=5)
    net(w.clone().requires_grad_(True), data.x).sum().backward()
