"""What a hash of a network or of settings sees: whatever changes the values, and nothing that another process changes."""

import subprocess
import sys

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import flatviz as fv
from flatviz.storage.digest import net_digest, value_digest

FACTOR = 2.0


def helper(x):
    return FACTOR * x


class Base(nn.Module):
    def forward(self, x):
        return self.layer(self.act(helper(x)) / self.temperature) + self.shift

    def act(self, x):
        return F.relu(x)


class Own(Base):
    def __init__(self, temperature=1.0, shift=0.0):
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.temperature, self.shift = nn.Linear(3, 2), temperature, torch.tensor(shift)


def digest(module):
    return net_digest(fv.Net.from_module(module))


def hooked():
    module = Own()
    module.layer.register_forward_hook(lambda m, x, out: 2 * out)
    return module


def with_another_function(monkeypatch):
    monkeypatch.setitem(globals(), "helper", lambda x: 3 * x)
    return Own()


def with_another_constant(monkeypatch):
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    return Own()


def with_another_base(monkeypatch):
    monkeypatch.setattr(Base, "act", lambda self, x: torch.tanh(x))
    return Own()


@pytest.mark.parametrize(
    "other",
    [
        lambda _: Own(temperature=5.0),
        lambda _: Own(shift=1.0),
        lambda _: hooked(),
        with_another_function,
        with_another_constant,
        with_another_base,
    ],
    ids=["attribute", "tensor attribute", "hook", "helper function", "constant", "base class"],
)
def test_what_changes_a_networks_values_changes_its_hash(other, monkeypatch):
    before = digest(Own())
    assert digest(Own()) == before
    assert digest(other(monkeypatch)) != before


def test_settings_inside_a_layer_of_torch_are_seen():
    def encoder(**settings):
        torch.manual_seed(0)
        return nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True, **settings)

    kinds = [digest(encoder(**s)) for s in ({}, {"norm_first": True}, {"activation": "gelu"})]
    assert len(set(kinds)) == 3 and digest(encoder()) == kinds[0]


def test_functions_by_code_and_by_what_they_close_over():
    def scaled(by):
        return lambda x: by * x

    told = [value_digest(f) for f in (scaled(1), scaled(1), scaled(2), lambda x: x + 1, lambda x: x - 1)]
    assert told[0] == told[1] and len(set(told)) == 4


def test_another_process_writes_the_same_hash():
    code = (
        "from flatviz.posteriors import METHODS; from flatviz.storage.digest import value_digest; print(value_digest(METHODS))"
    )
    told = {subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout for _ in range(2)}
    assert len(told) == 1


def test_a_function_of_ones_own_never_meets_the_file_of_a_named_quantity_or_of_another_function(tiny):
    net, data = tiny
    own = [fv.quantity(net, data, f, key="accuracy").key for f in (lambda out, y: out.mean(), lambda out, y: out.sum())]
    assert len({*own, fv.quantity(net, data, "accuracy").key}) == 3
