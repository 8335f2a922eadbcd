"""Wrong values into the fields of nouns and the arguments of verbs, data sets and models: each is
one clear error, or was right.

`FLATVIZ_FUZZ=500 python -m pytest -m long tests/test_fuzz_calls.py` draws more of them for verbs,
from other seeds.
"""

import dataclasses
import inspect
import os
import random
import warnings
from functools import partial

import every_verb
import numpy as np
import torch
from pytest import mark
from test_results import one_of_each
from torch import nn, ones, zeros

import flatviz
import flatviz as fv

X = torch.rand(30, 1, 8, 8)
Y = torch.arange(30) % 3
DATA = fv.Data(X, Y)
TASK = fv.Task(DATA, DATA, DATA, 3)
IMAGES = fv.Data((255 * X).byte(), Y)
WRONG = (
    None,
    "x",
    -1,
    0,
    2.5,
    float("nan"),
    float("inf"),
    True,
    {},
    [],
    (),
    [None],
    object(),
    zeros(0),
    torch.tensor(float("nan")),
    zeros(3, dtype=torch.complex64),
    zeros(2, 3),
    DATA,
    int,
    lambda: 0,
    b"x",
)
CALLS = {
    fv.Data: dict(x=X, y=Y, class_names=("a", "b", "c")),
    fv.Task: dict(
        source=DATA,
        train=DATA,
        test=DATA,
        n_classes=3,
        name="t",
        validation=DATA,
    ),
    fv.Likelihood.categorical: dict(
        weight=ones(3),
        label_smoothing=0.1,
        ignore_index=2,
        dim=1,
    ),
    fv.Likelihood.gaussian: dict(noise=0.5),
    fv.Likelihood: dict(
        of=torch.distributions.Exponential,
        name="a",
        ignore=2,
    ),
    fv.datasets.image_folder: dict(
        path="nowhere",
        size=4,
        per_class=2,
        classes=("a",),
        seed=0,
    ),
}
CLEAR = (TypeError, ValueError, FileNotFoundError, RuntimeError)
DEPTHS = (
    "has no attribute",
    "unsupported operand",
    "not subscriptable",
    "not iterable",
    "object is not",
    "() argument",
    "expected str",
    "has no len",
    "mat1",
    "Boolean value",
    "not supported between",
    "must be real number",
)


def fault(call, label, wrong, explained=()):
    """A list of one line where a call with a wrong value neither was right nor raised one clear
    error, else empty.

    explained: words of which one in an error makes it clear, whatever else it says.
    """
    try:
        call()
    except CLEAR as error:
        text = str(error)
        clear = any(words in text for words in explained) or not any(
            words in text for words in DEPTHS
        )
        return [] if clear else [f"{label}: {text}"]
    except Exception as error:
        return [f"{label}: {type(error).__name__}: {error}"]
    return (
        [f"{label} was taken"] if isinstance(wrong, (bytes, type)) or type(wrong) is object else []
    )


@mark.parametrize("seed", range(2))
def test_a_wrong_value_is_one_clear_error(seed, gaussians):
    nouns = one_of_each(gaussians[0]).values()
    calls = {
        type(noun): {f.name: getattr(noun, f.name) for f in dataclasses.fields(noun)}
        for noun in nouns
    } | CALLS
    draw = random.Random(seed)
    unclear = []
    for call, right in calls.items():
        for name in right:
            for wrong in draw.sample(WRONG, 8):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    unclear += fault(
                        partial(call, **{**right, name: wrong}),
                        f"{call.__name__}({name}={wrong!r:.40})",
                        wrong,
                    )
    assert not unclear, "\n".join(unclear)


EACH = int(os.environ.get("FLATVIZ_FUZZ", 0)) // 100 or 1  # wrong values of an argument
WRONG_HERE = [*WRONG, 10**30, np.zeros((2, 2)), [1, "a"], {"a": object()}, nn.Linear(2, 2)]
EXPLAINED = (", got ", "do not pass through")  # torch's reason may stand at the end
ENDLESS = ("steps", "fit", "effort")  # a value that is right takes its time


class Recorded:
    """The namespace, which keeps the first call of each verb."""

    def __init__(self, of, name, seen):
        self.of = of
        self.name = name
        self.seen = seen

    def __getattr__(self, name):
        value = getattr(self.of, name)
        name = f"{self.name}{name}"
        if inspect.ismodule(value):
            return Recorded(value, f"{name}.", self.seen)
        if not inspect.isfunction(value) or name == "lab":
            return value

        def call(*args, **how):
            self.seen.setdefault(
                name, (value, inspect.signature(value).bind(*args, **how).arguments)
            )
            return value(*args, **how)

        return call


@mark.long
@mark.filterwarnings("ignore")
def test_a_wrong_argument_of_a_verb_is_one_clear_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = {}
    draw = random.Random(EACH)
    unclear = []
    for call in every_verb.calls(
        Recorded(flatviz, "", seen), *every_verb.users_things(tmp_path / "draws.nc")
    ).values():
        call()
    assert len(seen) > 80
    seen.pop("expect")  # which compares anything
    for name, (verb, given) in seen.items():
        kinds = {k: p.kind for k, p in inspect.signature(verb).parameters.items()}
        for argument in [
            k
            for k in given
            if kinds[k] not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        ]:
            for wrong in draw.sample(WRONG_HERE, EACH if argument not in ENDLESS else 0):
                call = inspect.signature(verb).bind_partial()
                call.arguments.update({**given, argument: wrong})
                label = f"{name}({argument}={wrong!r:.40})"
                unclear += fault(partial(verb, *call.args, **call.kwargs), label, wrong, EXPLAINED)
    assert not unclear, "\n".join(unclear)
