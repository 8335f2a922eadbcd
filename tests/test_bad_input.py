"""The boundary: each rule by itself, and each annotation of each public verb.

The verbs and their arguments come from the public names and the signatures, so that a new verb is
in it by itself.
"""

import inspect
import math
import pydoc
import re

import numpy as np
import torch
from cases import fitted_by, refused
from every_verb import public_names
from pytest import mark, raises
from torch import arange, nn, zeros

import flatviz as fv
from flatviz.core.boundary import argument_checks

PASSED_ON = ("plot", "explore")  # by the type of the first argument, to one of the others
VERBS = {n: v for n, v in public_names().items() if inspect.isfunction(v) and n not in PASSED_ON}
NAN = math.nan
INF = math.inf
line = zeros(3)
plane = fv.Plane(zeros(3), torch.eye(3)[:2], "distance")
spectrum = fv.Spectrum(zeros(1), zeros(1, 3), zeros(1), 1)

KEYWORDS = {  # of a fit: values that are right, values that are not with a part of the error
    "steps": (
        [1, np.int64(2)],
        {0: ">= 1, got 0", 2**63: "below 2", True: ">= 0, got True", "1": "got '1'"},
    ),
    "seed": (
        [0, 2**63 - 1],
        {0.5: "an int, got 0.5", -1: "from 0 to 2", 2**63: "from 0 to 2", True: "an int, got True"},
    ),
    "lr": ([0, np.float64(0.1)], {-1: ">= 0, got -1", NAN: "got nan", "1": "a number, got '1'"}),
    "momentum": ([0, 0.9], {1: "from 0 to below 1, got 1"}),
    "batch_size": ([None, 2], {0: "a whole number >= 1, got 0"}),
    "checkpoint": (
        [None],
        {"/": "name a file, got the folder '/'", 3: "a path, got 3", "": "name"},
    ),
    "batchnorm": (["frozen"], {"c": "one of 'frozen', .*, got 'c'", 1: "one of .*, got 1"}),
    "ascent": ([fv.SAM(0.1)], {int: "a function, got a type", nn.Identity(): "got a Identity"}),
    "progress": ([False], {1: "True or False|a function"}),
}


@mark.parametrize("name", KEYWORDS)
def test_a_keyword_of_a_fit_takes_what_is_right_and_names_what_is_not(name, tiny):
    right, wrong = KEYWORDS[name]
    fit = lambda value: fitted_by(fv.SGD)(*tiny, **dict(seed=0, steps=1) | {name: value})
    for value in right:
        fit(value)
    for value, said in wrong.items():
        with raises((TypeError, ValueError), match=said):
            fit(value)


CALLS = [  # to verbs with arguments of other types
    (lambda: fv.SAM(-0.1), "a finite number >= 0, got -0.1"),
    (lambda: fv.slice_line(torch.sum, line.view(1, 3), line), r"shape \(D,\), got \(1, 3\)"),
    (lambda: fv.slice_line(torch.sum, arange(3), line), "floating-point torch.Tensor, got a int64"),
    (lambda: fv.slice_line(torch.sum, zeros(0), line), "at least one number"),
    (lambda: fv.slice_line(torch.sum, line / 0, line), "must be finite, got 3 NaN"),
    (lambda: fv.slice_path(torch.sum, line), r"shape \(S, D\), got \(3,\): one vector is"),
    (
        lambda: fv.slice_plane(torch.sum, line),
        r"a Plane, got a float32 .*: fv.plane_pca, fv.plane_",
    ),
    (lambda: fv.metrics.pac_bayes_bound(1.1, 2.0, 50), "from 0 to 1, got 1.1"),
    (lambda: fv.plot_spectrum(1), r"a Spectrum, or a list of .*, got 1"),
    (lambda: fv.plot_spectrum([spectrum, 1]), r"\[1\] must be a Spectrum, got 1"),
    (lambda: fv.plot_spectrum([]), "at least 1 of .*, got 0"),
    (lambda: fv.plots.plot_sharpness({1: {}}), "a key of .* must be a text"),
    (lambda: fv.predict(None, line, line, 1, seed=0), "net must be a Net, got None"),
]


@mark.parametrize("call, text", CALLS)
def test_an_argument_of_another_type_is_named(call, text):
    with raises((TypeError, ValueError), match=text):
        call()


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
        "value",  # of `expect`, which compares anything
        "expected",
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
    with refused(
        r"^plane_through: missing a required argument: 'c': it takes \(a, b, c\)$", TypeError
    ):
        fv.plane_through(line, line)
    said = (
        r"^slice_line: got an unexpected keyword argument 'resolutoin', did you mean"
        r" 'resolution'\?: it takes \(f, a, b, \*, res"
    )
    with raises(TypeError, match=said):
        fv.slice_line(line, resolutoin=3)


def test_the_defaults_of_a_fit_are_the_settings_of_its_method():
    """SWAG's minibatches alone differ: 64 for a source task, where a prior begins, 10 for the few
    shots of `METHODS`."""
    compared = 0
    for method in fv.METHODS.values():
        # A version of another method
        variant = method.ascent or method.look.perturbation not in (None, "kl_exact")
        if (
            variant
            or method.inner
            or method.name in ("moped", "csghmc", "vi_t", "sabma_t", "fisher_sam")
        ):
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


FITS = [name for name in VERBS if re.fullmatch(r"fit_\w+|pretrain", name)]


@mark.parametrize("name", FITS)
def test_help_on_a_fit_has_a_line_for_each_keyword_with_its_default_and_plain_types(name):
    shown = pydoc.render_doc(VERBS[name], renderer=pydoc.plaintext)
    signature, _, text = shown.partition("\n    ")
    for p in inspect.signature(VERBS[name]).parameters.values():
        assert re.search(rf"^ +{p.name}: \S", text, re.M), p.name  # what it means
        if p.default is not p.empty:
            default = re.escape(repr(p.default))
            assert re.search(rf"\b{p.name}: [^=]+ = {default}[,)]", signature), p.name
    assert not re.search(r"Annotated|0x[0-9a-f]+|: '", signature)
