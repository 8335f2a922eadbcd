"""Every public verb, called, leaves the user's module and every global random state as they were, to the bit."""

import inspect
import random

import numpy as np
import plotly.io as pio
import torch
from every_verb import TaskWithPath, calls, public_names
from torch import nn

import flatviz as fv


def states():
    return (
        random.getstate(),
        np.random.get_state()[1].tobytes(),
        torch.random.get_rng_state().numpy().tobytes(),
        torch.get_num_threads(),
        torch.is_grad_enabled(),
        torch.get_default_dtype(),
        pio.templates.default,
    )


def snapshot(module):
    tensors = {k: v.detach().clone() for k, v in module.state_dict().items()}
    flags = {n: (p.requires_grad, None if p.grad is None else p.grad.clone()) for n, p in module.named_parameters()}
    modes = {n: m.training for n, m in module.named_modules()}
    hooks = {n: len(m._forward_hooks) for n, m in module.named_modules()}
    return tensors, flags, modes, hooks


def assert_same(module, before):
    tensors, flags, modes, hooks = snapshot(module)
    assert all(torch.equal(v, before[0][k]) for k, v in tensors.items())
    assert {n: f[0] for n, f in flags.items()} == {n: f[0] for n, f in before[1].items()}
    assert all((f[1] is None) == (before[1][n][1] is None) for n, f in flags.items())
    assert (modes, hooks) == before[2:]


def test_every_public_verb_leaves_module_and_random_states_as_they_were(tmp_path):
    import loss_landscapes.metrics

    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3), nn.LayerNorm(3), nn.Linear(3, 2))
    for layer in (module[1], module[4]):
        nn.init.normal_(layer.bias)
    module.train()
    module(torch.randn(8, 3))  # BatchNorm statistics that are not the initial ones
    module[0].weight.requires_grad_(False)
    module[3].weight.grad = torch.ones_like(module[3].weight)
    x = torch.randn(20, 3)
    data = fv.Data(x, (x[:, 0] > 0).long())
    task = TaskWithPath(data, data, data, n_classes=2)
    object.__setattr__(task, "path", tmp_path / "q.pt")
    metric = loss_landscapes.metrics.Loss(nn.CrossEntropyLoss(), data.x, data.y)
    todo = calls(fv, module, data, task, metric)
    for name, call in todo.items():
        before_module, before = snapshot(module), states()
        call()
        assert states() == before, name
        assert_same(module, before_module)
    public = {n for n, value in public_names().items() if inspect.isfunction(value)} | {"widgets.Lab"}
    assert public <= set(todo), f"call these too: {public - set(todo)}"
