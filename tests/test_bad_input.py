"""The boundary: each rule by itself, and each annotation of each public verb.

The verbs and their arguments come from the public names and the signatures, so that a new verb is
in it by itself.
"""

import inspect
import math
import pydoc
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import torch
from every_verb import public_names
from pytest import mark, raises
from torch import arange, nn, zeros

import flatviz as fv
from flatviz import checks
from flatviz.annotations import check_of
from flatviz.core.boundary import argument_checks
from flatviz.weight_space import AnyPosterior

PASSED_ON = ("plot", "explore")  # by the type of the first argument, to one of the others
VERBS = {n: v for n, v in public_names().items() if inspect.isfunction(v) and n not in PASSED_ON}
NAN = math.nan
INF = math.inf
line = zeros(3)
plane = fv.Plane(zeros(3), torch.eye(3)[:2], "distance")

RULES = {  # a type: values that pass, values that do not, with a part of the error
    "Count": (
        checks.Count,
        [1, np.int64(2)],
        {
            0: ">= 1, got 0",
            2**63: "below 2",
            True: ">= 1, got True",
            0.5: "got 0.5",
            "1": "got '1'",
        },
    ),
    "Whole": (checks.Whole, [0, 3], {-1: "a whole number >= 0, got -1", 1j: "got a complex"}),
    "Several": (checks.Several, [2], {1: "a whole number >= 2, got 1"}),
    "Seed": (
        checks.Seed,
        [0, 2**63 - 1],
        {0.5: "an int, got 0.5", -1: "from 0 to 2", 2**63: "from 0 to 2", True: "an int, got True"},
    ),
    "Number": (
        checks.Number,
        [-1, 0.5, np.float64(1)],
        {"1": "a number, got '1'", True: "a number, got True", 1j: "a number"},
    ),
    "Positive": (
        checks.Positive,
        [1e-9, 1e30],
        {0: "> 0, got 0", 10**400: "below 2", NAN: "> 0, got nan", INF: "> 0, got inf"},
    ),
    "NonNegative": (
        checks.NonNegative,
        [0, 1.0],
        {-1e-9: ">= 0, got -1e-09", NAN: ">= 0, got nan"},
    ),
    "Share": (checks.Share, [0, 1], {1.1: "from 0 to 1, got 1.1", NAN: "from 0 to 1, got nan"}),
    "PositiveShare": (
        checks.PositiveShare,
        [1e-9, 1],
        {0: "above 0 and at most 1, got 0", NAN: "at most 1, got nan"},
    ),
    "Radius": (
        checks.Radius,
        [0, 2.0],
        {-0.1: "a finite number >= 0, got -0.1: 0 is plain VI", INF: ">= 0, got inf"},
    ),
    "Rate": (checks.Rate, [0, 0.1], {-1: "a finite number >= 0, got -1", NAN: "got nan"}),
    "Momentum": (checks.Momentum, [0, 0.9], {1: "from 0 to below 1, got 1"}),
    "FilePath": (
        checks.FilePath,
        ["a", Path("b")],
        {"": "name a file, got ''", 3: "a path, got 3"},
    ),
    "Checkpoint": (
        Annotated[str | Path, checks.check_file],
        ["no.pt"],
        {"/": "name a file, got the folder '/'"},
    ),
    "Vector": (
        checks.Vector,
        [line],
        {
            line.view(1, 3): r"shape \(D,\), got \(1, 3\): one of its vectors is x\[0\]",
            arange(3): "floating-point torch.Tensor, got a int64 tensor",
            zeros(0): "at least one number",
            line / 0: "x must be finite, got 3 NaN",
        },
    ),
    "Vectors": (
        checks.Vectors,
        [line.view(1, 3)],
        {line: r"shape \(S, D\), got \(3,\): one vector is x\[None\]"},
    ),
    "Numbers": (
        checks.Numbers,
        [zeros(0, 3), line],
        {"text": "floating-point torch.Tensor, got 'text'"},
    ),
    "Labels": (
        checks.Labels,
        [arange(3)],
        {torch.tensor(1): r"shape \(N,\), got a single number", 1: "a tensor of labels"},
    ),
    "text": (str, ["", "a"], {1: "a text, got 1", None: "a text, got None"}),
    "flag": (bool, [True], {1: "True or False, got 1"}),
    "noun": (
        fv.Plane,
        [plane],
        {line: r"a Plane, got a float32 tensor of shape \(3,\): fv.plane_pca, fv.plane_random and"},
    ),
    "None": (checks.Count | None, [None, 1], {0: "a whole number >= 1, got 0"}),
    "either": (
        str | checks.Share,
        ["a", 0.5],
        {2.0: "from 0 to 1, got 2.0", line: "a text, or a number, got a float32 tensor"},
    ),
    "noun or list": (
        fv.Plane | Sequence[fv.Plane],
        [plane, [plane]],
        {
            1: r"a Plane, or a list of Planes \(fv.plane_.*\), got 1",
            (plane, 1): r"x\[1\] must be a Plane, got 1",
        },
    ),
    "noun or dict": (
        fv.Plane | Mapping[str, fv.Plane],
        [plane],
        {1: r"a Plane, or a dict from names to Planes \(fv.plane_.*\), got 1"},
    ),
    "list": (
        Sequence[checks.Radius],
        [[0.5], (1, 2), range(3)],
        {
            (): "at least 1 of numbers, got 0",
            "ab": "a list of numbers",
            (0, -1): r"x\[1\] must be a finite number >= 0, got -1",
        },
    ),
    "tuple": (tuple[str, ...], [(), ["a"]], {("a", 1): r"x\[1\] must be a text, got 1"}),
    "function": (
        Callable[[int], int],
        [len, fv.SAM(0.1)],
        {int: "a function, got a type", nn.Identity(): "a function, got a Identity"},
    ),
    "word": (
        Literal["a", "b"],
        ["a"],
        {"c": "one of 'a', 'b', got 'c'", 1: "one of 'a', 'b', got 1"},
    ),
    "word or noun": (
        Literal["a"] | fv.Plane,
        ["a", plane],
        {"c": "one of 'a', got 'c'", 1: r"'a', or a Plane \(.*\), got 1"},
    ),
    "anything": (Any, [None, 1, line], {}),
    "text beside": (Annotated[int, "steps"] | None, [1], {"a": "a number, got 'a'"}),
    "posterior": (
        AnyPosterior,
        [fv.Draws(zeros(2, 3)), zeros(2, 3)],
        {line: r"shape \(S, D\)", 1: "a posterior"},
    ),
}


@mark.parametrize("name", RULES)
def test_a_rule_lets_what_keeps_it_pass_and_names_what_does_not(name):
    hint, right, wrong = RULES[name]
    check = check_of(hint)
    for value in right:
        check(value, "x")
    for value, said in wrong.items():
        with raises((TypeError, ValueError), match=said):
            check(value, "x")


def test_a_dict_is_asked_for_its_keys_and_its_values():
    check = check_of(Mapping[str, Mapping[str, checks.Count]])
    check({"a": {"b": 1}}, "x")
    wrong = (
        ({"a": {"b": 0}}, r"x\['a'\]\['b'\] must be .* >= 1"),
        ({1: {}}, "a key of x must be a text"),
        ([], "a dict"),
    )
    for value, said in wrong:
        with raises((TypeError, ValueError), match=said):
            check(value, "x")


@mark.parametrize("name", VERBS)
def test_every_argument_of_a_verb_refuses_what_it_cannot_be(name):
    """`object()` is right nowhere but where anything is, and the verb's first argument is refused
    by a call."""
    found = argument_checks(VERBS[name])
    # What they must be the verb itself knows
    free = {
        "result",
        "engine",
        "train",
        "test",
        "dataset",
        "inference",
        "how",
    }
    for argument, check in found.items():
        if argument not in free:
            with raises((TypeError, ValueError), match=rf"^{argument} must .*, got "):
                check(object(), argument)
    needed = [p for p in inspect.signature(VERBS[name]).parameters.values() if p.default is p.empty]
    given = [object() for p in needed if p.kind is p.POSITIONAL_OR_KEYWORD]
    if needed and needed[0].name not in free:
        with raises((TypeError, ValueError), match=rf"^{needed[0].name} must .*, got "):
            VERBS[name](*given, **{p.name: object() for p in needed if p.kind is p.KEYWORD_ONLY})


def test_a_wrong_call_gets_the_reason_the_nearest_keyword_and_the_arguments():
    with raises(
        TypeError, match=r"^plane_through: missing a required argument: 'c': it takes \(a, b, c\)$"
    ):
        fv.plane_through(line, line)
    said = (
        r"^slice_line: got an unexpected keyword argument 'resolutoin', did you mean"
        r" 'resolution'\?: it takes \(f, a, b, \*, res"
    )
    with raises(TypeError, match=said):
        fv.slice_line(line, resolutoin=3)


FITS = [name for name in VERBS if re.fullmatch(r"fit_\w+|pretrain", name)]


@mark.parametrize("name", FITS)
def test_help_on_a_fit_has_a_line_for_each_keyword_with_its_plain_type_and_its_default(name):
    shown = pydoc.render_doc(VERBS[name], renderer=pydoc.plaintext)
    parameters = inspect.signature(VERBS[name]).parameters
    assert len(parameters) > 5
    assert "how" not in parameters
    for p in parameters.values():
        assert re.search(rf"^ +{p.name}: \S", shown, re.M), p.name  # what it means
        assert p.default is p.empty or re.search(
            rf"\b{p.name}: [^=]+ = {re.escape(repr(p.default))}[,)\n]", shown
        ), p.name
    signature = shown.partition("\n    ")[0]
    assert not re.search(r"Annotated|\*\*how|0x[0-9a-f]+|: '", signature)


def test_the_defaults_of_a_fit_are_the_settings_of_its_method():
    """SWAG's minibatches alone differ: 64 for a source task, where a prior begins, 10 for the few
    shots of `METHODS`."""
    compared = 0
    for method in fv.METHODS.values():
        # A version of another method
        if not method.look.record.endswith(".METHOD") or method.ascent is not None:
            continue
        parameters = inspect.signature(method.fit).parameters
        default = {name: parameters[name].default for name in method.plain.settings}
        settings = method.plain.settings.items()
        # None: by the kind of net
        differ = {name for name, value in settings if default[name] not in (None, value)}
        differ -= {"settings", "batchnorm"}  # of the method inside; of a net that is trained whole
        assert differ == (
            {"batch_size"} if method.name in ("swa", "swag", "swag_diag") else set()
        ), method
        compared += len(default)
    assert compared > 60


def test_every_verb_is_checked_at_its_boundary():
    assert not [name for name in VERBS if not hasattr(VERBS[name], "__wrapped__")]
