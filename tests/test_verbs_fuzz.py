"""A wrong value in place of one argument of each public verb's small call is refused in one sentence, or was right.

`FLATVIZ_FUZZ=500 python -m pytest -m long tests/test_verbs_fuzz.py` draws more of them than the default, from other seeds.
"""

import inspect
import os
import random
from functools import partial

import every_verb
import numpy as np
import pytest
import torch
from test_nouns_fuzz import WRONG, fault

import flatviz

EACH = int(os.environ.get("FLATVIZ_FUZZ", 0)) // 100 or 1  # wrong values of an argument
WRONG_HERE = [*WRONG, 10**30, np.zeros((2, 2)), [1, "a"], {"a": object()}, torch.nn.Linear(2, 2)]
EXPLAINED = (", got ", "do not pass through")  # torch's reason may stand at the end
ENDLESS = ("steps", "fit", "effort")  # a value that is right takes its time


class Recorded:
    """The namespace, which keeps the first call of each verb."""

    def __init__(self, of, name, seen):
        self.of, self.name, self.seen = of, name, seen

    def __getattr__(self, name):
        value, name = getattr(self.of, name), f"{self.name}{name}"
        if inspect.ismodule(value):
            return Recorded(value, f"{name}.", self.seen)
        if not inspect.isfunction(value) or name == "lab":
            return value

        def call(*args, **how):
            self.seen.setdefault(name, (value, inspect.signature(value).bind(*args, **how).arguments))
            return value(*args, **how)

        return call


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_argument_of_a_verb_is_one_clear_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen, draw, unclear = {}, random.Random(EACH), []
    for call in every_verb.calls(Recorded(flatviz, "", seen), *every_verb.users_things(tmp_path / "draws.nc")).values():
        call()
    assert len(seen) > 100
    for name, (verb, given) in seen.items():
        kinds = {k: p.kind for k, p in inspect.signature(verb).parameters.items()}
        for argument in [k for k in given if kinds[k] not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)]:
            for wrong in draw.sample(WRONG_HERE, EACH if argument not in ENDLESS else 0):
                call = inspect.signature(verb).bind_partial()
                call.arguments.update({**given, argument: wrong})
                label = f"{name}({argument}={wrong!r:.40})"
                unclear += fault(partial(verb, *call.args, **call.kwargs), label, wrong, EXPLAINED)
    assert not unclear, "\n".join(unclear)
