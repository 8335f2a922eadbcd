"""What a hash of a network or of settings sees: whatever changes the values, and nothing that
another process changes."""

import copy
import functools
import importlib
import itertools
import math  # noqa: F401, named in MAKERS, as other modules
import re  # noqa: F401
import threading
import types  # noqa: F401
from enum import Enum
from functools import partial  # noqa: F401
from pathlib import Path  # noqa: F401
from unittest.mock import Mock

import numpy as np  # noqa: F401
import torch
from cases import warned
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import cache_key, cached, value_digest
from pytest import fixture, mark, raises
from torch import nn
from torch.nn import functional as F

import flatviz as fv
from flatviz.storage.digest import CannotHashError

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
        self.layer = nn.Linear(3, 2)
        self.temperature = temperature
        self.shift = torch.tensor(shift)


def digest(module):
    x = torch.ones(4, 3)
    y = torch.arange(4) % 2
    data = fv.Data(x, y)
    f = fv.nll(fv.Net.from_module(module), data)
    return f.key


def hooked():
    module = Own()
    module.layer.register_forward_hook(lambda m, x, out: 2 * out)
    return module


CHANGES = {  # another module, or a patch of what the same one uses
    "attribute": lambda patch: Own(temperature=5.0),
    "tensor attribute": lambda patch: Own(shift=1.0),
    "hook": lambda patch: hooked(),
    "helper function": lambda patch: patch.setitem(globals(), "helper", lambda x: 3 * x),
    "constant": lambda patch: patch.setitem(globals(), "FACTOR", 5.0),
    "base class": lambda patch: patch.setattr(Base, "act", lambda self, x: torch.tanh(x)),
}


@mark.parametrize("name", CHANGES)
def test_what_changes_a_networks_values_changes_its_hash(name, monkeypatch):
    before = digest(Own())
    assert digest(Own()) == before
    assert digest(CHANGES[name](monkeypatch) or Own()) != before


def test_a_function_of_ones_own_never_meets_the_file_of_a_named_quantity_or_of_another_function(
    tiny,
):
    net, data = tiny
    own = [
        fv.quantity(net, data, f).key for f in (lambda out, y: out.mean(), lambda out, y: out.sum())
    ]
    score = fv.quantity(net, data, "accuracy")
    assert len({*own, score.key}) == 3


# functions that differ in one thing each; all of them, and twice the same, are told apart below
MAKERS = {
    "code": [
        "lambda x: x + 1",
        "lambda x: x - 1",
        "lambda x: 1 + x",
        "lambda y: y + 1",
        "lambda x: x + 1.0",
        "lambda x: x + True",
    ],
    "default": [f"lambda x, k={k}: x" for k in ("1", "1.0", "True", "-0.0", "0.0", "b'1'", "{1}")],
    "keyword default": [
        "lambda x, *, k=1: x",
        "lambda x, *, k=2: x",
        "lambda x, *, j=1: x",
        "lambda x, k=None: x",
    ],
    "closed over": [
        f"(lambda k: lambda x: k)({k})"
        for k in (
            "{'a': 1, 'b': 2}",
            "{'b': 2, 'a': 1}",
            "{1, 2}",
            "frozenset({1, 2})",
            "torch.zeros(2)",
            "torch.zeros(2).double()",
            "torch.zeros(1, 2)",
            "nn.ReLU()",
            "nn.Tanh()",
            "nn.ReLU",
            "torch.relu",
            "torch.tanh",
            "math.sin",
            "math.cos",
            "np.zeros(2)",
            "np.ones(2)",
            "np.add",
            "np.float32(1)",
            "torch.float32",
            "partial(max, 1)",
            "partial(max, 2)",
            "re.compile('a')",
            "Path('a')",
            "Own().act",
            "torch.Generator().manual_seed(0)",
            "torch.Generator().manual_seed(1)",
            "Held(1)",
            "Held(2)",
            "Slotted(1)",
            "Slotted(2)",
            "Color.RED",
            "Color.BLUE",
            "[].append",
            "types.MethodType(lambda s: 1, 3)",
            "types.MethodType(lambda s: 2, 3)",
            "type(None)",
            "fv.pretrain",
            "fv.SAM(0.1)",
            "fv.SAM(0.2)",
            "nn.functional.max_pool2d",
            "torch.no_grad",
            "torch.device('cpu')",
            "np.array([None])",
        )
    ],
    "nested": [
        "lambda x: (lambda y: y + 1)(x)",
        "lambda x: (lambda y: y + 2)(x)",
        "lambda x: [helper(y) for y in x]",
    ],
    "class": [f"type('C', (), {{'f': lambda s: {k}}})" for k in (1, 2)]
    + ["type('C', (Held,), {})", "type('C', (), {'f': 1})"],
}


class Held:
    def __init__(self, value):
        self.value = value


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Color(Enum):
    RED = 1
    BLUE = 2


def test_other_code_defaults_or_closures_have_another_hash_and_equal_functions_the_same():
    digests, again = (
        {m: value_digest(eval(m)) for group in MAKERS.values() for m in group} for _ in range(2)
    )
    assert digests == again
    assert not [
        pair for pair in itertools.combinations(digests, 2) if digests[pair[0]] == digests[pair[1]]
    ]


@given(
    st.recursive(
        st.integers() | st.floats() | st.text() | st.binary() | st.booleans() | st.none(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.tuples(inner, inner)
            | st.dictionaries(st.text(), inner, max_size=3)
        ),
    ),
    st.data(),
)
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
def test_two_closed_over_values_share_a_hash_only_if_they_read_the_same(value, data):
    def over(closed):
        return lambda: closed

    other = data.draw(
        st.just(copy.deepcopy(value)) | st.integers() | st.text() | st.lists(st.floats())
    )
    found = value_digest(over(value)) == value_digest(over(other))
    assert (found) == (repr(value) == repr(other))


def test_recursive_functions_and_rings_have_a_hash():
    def rec(base):
        f = lambda n: base if n == 0 else f(n - 1)
        return f

    ring = [1]
    ring.append(ring)
    assert value_digest(rec(1)) == value_digest(rec(1)) != value_digest(rec(2))
    assert value_digest(ring) != value_digest([1, [1]])


def test_the_file_of_a_module_of_ones_own_that_a_function_names_counts(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "of_ones_own.py"
    file.write_text("FACTOR = 2\n")
    f = eval(
        "lambda x: x * of_ones_own.FACTOR", {"of_ones_own": importlib.import_module("of_ones_own")}
    )
    before = value_digest(f)
    for text, same in (("FACTOR = 3\n", False), ("FACTOR = 2\n", True)):
        file.write_text(text)
        assert (value_digest(f) == before) is same


def undecidable():
    return {
        "open file": open(__file__),
        "lock": threading.Lock(),
        "generator": (i for i in range(3)),
        "function in C without a version": type(
            "B", (), {"__reduce_ex__": Mock(side_effect=OSError("gone"))}
        )(),
        "sparse tensor": torch.eye(2).to_sparse(),
        "deep list": functools.reduce(lambda inner, _: [inner], range(100_000), []),
    }


@mark.parametrize("name", undecidable())
def test_what_cannot_be_decided_is_one_error_wherever_it_sits(name):
    value = undecidable()[name]

    class Layer(nn.Module):
        def forward(self, x):
            return x if value else -x

    for holder in (value, {"a": (value,)}, lambda: value, Held(value), Layer()):
        with raises(CannotHashError, match="cannot|nested|hashed"):
            value_digest(holder)


class Copied:
    """A lock that a network may be copied with."""

    def __init__(self):
        self.lock = threading.Lock()

    def __deepcopy__(self, memo):
        return self


@fixture
def locked():
    module = nn.Linear(2, 3).double()
    module.lock = Copied()
    return fv.Net.from_module(module)


def test_values_of_what_cannot_be_hashed_are_computed_without_a_file_and_it_is_said(
    locked, tiny, tmp_path
):
    _, data = tiny
    plane = fv.plane_random(locked, locked.w, seed=0)
    f = fv.quantity(locked, data, lambda o, y: o.sum())
    with warned("values not kept on disk: .* cannot be hashed .*lock"):
        surface = fv.slice_plane(f, plane, resolution=3, cache=tmp_path)
        values = surface.values
    assert torch.equal(values, fv.slice_plane(f, plane, resolution=3).values)
    assert not list(tmp_path.iterdir())


def test_a_cached_result_whose_settings_cannot_be_hashed_is_computed_and_said(cache):
    said = []
    found = cached("rows", lambda: 5, say=said.append, how=threading.Lock())
    assert found == (5, False)
    assert "rows: not kept in the cache" in said[0]
    assert "lock" in said[0]
    assert not list(cache.rglob("*.safetensors"))


def test_a_checkpoint_of_a_run_whose_arguments_cannot_be_hashed_is_one_clear_error(
    locked, tiny, tmp_path
):
    with raises(
        CannotHashError,
        match="arguments that can be hashed, got net with .*lock.*: leave checkpoint out",
    ):
        fv.fit(locked, tiny[1], fv.SGD(), seed=0, steps=1, checkpoint=tmp_path / "c")
    assert not list(tmp_path.iterdir())


def test_a_setting_may_have_the_name_of_a_part_of_the_key():
    assert cache_key(code=1) != cache_key(code=2)


def test_hooks_on_all_modules_and_autocast_change_a_key():
    before = cache_key(a=1)
    with nn.modules.module.register_module_forward_hook(lambda module, args, out: 2 * out):
        hooked = cache_key(a=1)
    with torch.autocast("cpu", torch.bfloat16):
        cast = cache_key(a=1)
    assert len({before, hooked, cast}) == 3
    assert cache_key(a=1) == before


SCALE = 1.0


def in_lambda(o):
    return (lambda: SCALE * o)()


def in_comprehension(o):
    return [SCALE * v for v in o]


def in_function(o):
    def inner():
        def innermost():
            return SCALE * o

        return innermost()

    return inner()


class InMethod:
    def __call__(self, o):
        return {k: SCALE * v for k, v in enumerate(o)}


class InDefault(nn.Module):
    def forward(self, x):
        return sum(map(lambda v: SCALE * v, x))


@mark.parametrize(
    "made", [in_lambda, in_comprehension, in_function, InMethod(), InDefault()], ids=type
)
def test_a_global_that_code_inside_a_function_reads_changes_its_digest(made, monkeypatch):
    before = value_digest(made)
    assert value_digest(made) == before
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    assert value_digest(made) != before


def test_a_variable_of_a_users_module_changes_the_digest_of_what_reads_it(monkeypatch, tmp_path):
    (tmp_path / "settings_of_mine.py").write_text("NOISE = 1.0\nOTHER = 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    import settings_of_mine

    scope = {"settings": settings_of_mine, "__name__": "__main__"}
    exec("def scaled(o):\n    return [settings.NOISE * v for v in o]", scope)
    before = value_digest(scope["scaled"])
    settings_of_mine.OTHER = 2.0
    assert value_digest(scope["scaled"]) == before
    settings_of_mine.NOISE = 2.0
    assert value_digest(scope["scaled"]) != before


@mark.parametrize("source", ["globals()['SCALE'] * o", "eval('SCALE') * o"])
def test_code_that_may_read_any_variable_cannot_be_hashed(source):
    scope = {"SCALE": 1.0, "__name__": "__main__"}
    exec(f"def scaled(o):\n    return [{source} for _ in range(2)]", scope)
    with raises(CannotHashError, match="scaled calls .*any variable"):
        value_digest(scope["scaled"])
