"""Every argument of every public verb, fed with wrong values: a valid call's value, or one clear error at the verb.

The verbs and their arguments come from the public names and the signatures, so that a new verb is in it by itself.
"""

import inspect
import math
import traceback
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path

import numpy as np
import pytest
import torch
from every_verb import TaskWithPath, calls, public_names
from torch import Tensor, nn

import flatviz as fv

LIBRARY = str(Path(fv.__file__).parent)
WRONG = {
    "none": None, "true": True, "zero": 0, "one": 1, "negative": -1, "half": 0.5, "nan": math.nan,
    "inf": math.inf, "complex": 1j, "empty text": "", "text": "wrong", "bytes": b"x", "empty list": [],
    "list of int": [1], "empty tuple": (), "dict": {"a": 1},
    "object": object(), "function": lambda *_: None, "type": int, "array": np.ones(3), "path": Path("nowhere"),
    "scalar tensor": torch.tensor(1.0), "empty tensor": torch.zeros(0),
    "NaN tensor": torch.full((3,), math.nan), "cube": torch.zeros(2, 2, 2), "int tensor": torch.arange(3),
    "three numbers": torch.zeros(3), "module": nn.Linear(3, 2),
    "other Gaussian": fv.Gaussian(torch.zeros(3), torch.zeros(3)), "other data": fv.Data(torch.zeros(4, 7), torch.zeros(4).long()),
    "other plane": fv.Plane(torch.zeros(3), torch.eye(3)[:2], "distance"),
}  # fmt: skip
CLEAR = (", got ", "asked for", "do not pass", "must ", "needs ", "cannot ")
TYPES = {  # by the words of an annotation: which values may be right
    "int": lambda v: isinstance(v, Integral) and not isinstance(v, bool),
    "float": lambda v: isinstance(v, Real) and not isinstance(v, bool),
    "bool": lambda v: isinstance(v, bool), "str": lambda v: isinstance(v, str), "None": lambda v: v is None,
    "Path": lambda v: isinstance(v, Path), "Tensor": lambda v: isinstance(v, Tensor), "Any": lambda v: True,
    "object": lambda v: True, "Data": lambda v: isinstance(v, fv.Data), "Net": lambda v: isinstance(v, fv.Net),
    "Module": lambda v: isinstance(v, nn.Module), "Gaussian": lambda v: isinstance(v, fv.Gaussian),
    "Posterior": lambda v: isinstance(v, fv.Posterior), "Callable": callable, "Objective": callable, "ObjectiveLike": callable,
    "Ascent": callable, "Plane": lambda v: isinstance(v, fv.Plane), "slice": lambda v: isinstance(v, slice),
    "Sequence": lambda v: isinstance(v, Sequence), "tuple": lambda v: isinstance(v, Sequence), "Mapping": lambda v: isinstance(v, Mapping),
    "Theta": lambda v: isinstance(v, Sequence),
}  # fmt: skip
ALIASES = {
    "Likelihood": "str float", "Checkpoint": "str Path None", "Progress": "bool None Callable", "Cache": "bool str Path None",
    "Extent": "float str Sequence Tensor", "Choices": "Mapping", "Part": "slice Tensor None", "Treated": "str Callable",
}  # fmt: skip


FREE = {"title", "label", "key", "x_label", "name", "path", "method"}  # texts that name or label: any will do


class Recorder:
    """`flatviz` or a namespace of it, noting the arguments of the first call of each function."""

    def __init__(self, package=fv, prefix="", first=None):
        self.package, self.prefix, self.first = package, prefix, {} if first is None else first

    def __getattr__(self, name):
        value, full = getattr(self.package, name), self.prefix + name
        if inspect.ismodule(value):
            return Recorder(value, f"{full}.", self.first)
        if not inspect.isfunction(value):
            return value

        def noted(*args, **kwargs):
            if full not in self.first:
                self.first[full] = dict(inspect.signature(value).bind(*args, **kwargs).arguments)
            return value(*args, **kwargs)

        return noted


def may_be_right(value, annotation):
    words = set(
        str(annotation).replace("[", " ").replace("]", " ").replace(",", " ").replace("|", " ").replace(".", " ").split()
    )
    words |= {w for word in words for w in ALIASES.get(word, "").split()}
    return any(word in TYPES and TYPES[word](value) for word in words)


def run(verb, arguments):
    """Call with keywords, or by place where the signature wants it."""
    args, kwargs = [], {}
    for name, p in inspect.signature(verb).parameters.items():
        if name in arguments:
            if p.kind is p.VAR_POSITIONAL:
                args += list(arguments[name]) if isinstance(arguments[name], tuple) else [arguments[name]]
            elif p.kind is p.KEYWORD_ONLY:
                kwargs[name] = arguments[name]
            else:
                args.append(arguments[name])
    return verb(*args, **kwargs)


def ours(error):
    """Whether the last frame is not of the function among the wrong values, called as a fit: its own error is the user's."""
    return "<lambda>()" not in str(error)


def complaint(verb, arguments, argument, value, annotation):
    """What is wrong with how the verb takes this value; "" where nothing is."""
    try:
        run(verb, arguments | {argument: value})
    except (ValueError, TypeError, OSError) as error:
        if not ours(error):
            return ""
        where = traceback.extract_tb(error.__traceback__)[-1].filename
        if not where.startswith(LIBRARY):
            return f"{type(error).__name__} from {where}: {error}"
        if not any(word in str(error) for word in CLEAR):
            return f"unclear: {error}"
        return ""
    except Exception as error:  # any other kind is the finding
        return f"{type(error).__name__}: {error}"
    nothing_more = inspect.signature(verb).parameters[argument].kind is inspect.Parameter.VAR_POSITIONAL and value == ()
    return "" if nothing_more or may_be_right(value, annotation) else "accepted in silence"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Arguments of one valid call of every verb."""
    import loss_landscapes.metrics

    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 6), nn.LayerNorm(6), nn.ReLU(), nn.Linear(6, 2)).eval()
    nn.init.normal_(module[1].bias)
    x = torch.randn(20, 3)
    data = fv.Data(x, (x[:, 0] > 0).long())
    task = TaskWithPath(data, data, data, n_classes=2)
    object.__setattr__(task, "path", tmp_path_factory.mktemp("bad") / "q.pt")
    recorder = Recorder()
    for call in calls(
        recorder, module, data, task, loss_landscapes.metrics.Loss(nn.CrossEntropyLoss(), data.x, data.y)
    ).values():
        call()
    return recorder.first


VERBS = {  # but for those that pass their arguments on, by the type of the first, to one of the others
    n: v for n, v in public_names().items() if inspect.isfunction(v) and n not in ("plot", "explore")
}


@pytest.mark.parametrize("name", VERBS)
def test_wrong_values_give_one_clear_error_at_the_verb(name, recorded, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # a path among the wrong values writes here
    verb = VERBS[name]
    bad = []
    for argument, parameter in inspect.signature(verb).parameters.items():
        for kind, value in WRONG.items():
            said = complaint(verb, recorded[name], argument, value, parameter.annotation)
            if said:
                bad.append(f"{argument} = {kind}: {said[:200]}")
    assert not bad, f"{len(bad)} of {len(WRONG) * len(inspect.signature(verb).parameters)}:\n" + "\n".join(bad)


WORDS = [(name, arg) for name in VERBS for arg, p in inspect.signature(VERBS[name]).parameters.items()
         if {"str", "Treated", "Likelihood"} & set(str(p.annotation).split(" | ")) and arg not in FREE]  # fmt: skip


@pytest.mark.parametrize("name, argument", WORDS)
def test_a_word_that_an_argument_does_not_have_is_refused(name, argument, recorded):
    with pytest.raises((ValueError, TypeError), match="|".join(CLEAR)):
        run(VERBS[name], recorded[name] | {argument: "wrong"})


def test_every_verb_is_checked_at_its_boundary():
    assert not [name for name in VERBS if not hasattr(VERBS[name], "__wrapped__")]


def test_values_that_a_docstring_allows_pass_the_boundary():
    line, ends = (lambda w: w.square().sum()), (torch.zeros(2), torch.ones(2))
    assert len(fv.slice_line(line, *ends, resolution=3, progress=None).values) == 3
    assert fv.landscape.connect(line, *ends, bends=0, resolution=3).name == "straight line"
    plane = fv.Plane(torch.zeros(2), torch.eye(2), "distance")
    assert fv.project(torch.ones(2), plane).coords.tolist() == [[1.0, 1.0]]
    net, data = fv.Net.from_module(nn.Linear(2, 2)), fv.Data(torch.randn(6, 2), torch.arange(6) % 2)
    assert torch.equal(fv.fit_laplace(net, data, steps=0, prior_precision=1.0, seed=0).mean, net.w)
    flat = fv.Gaussian(torch.zeros(2), torch.zeros(2))  # rank 0: the gradient of its factor is empty
    assert fv.perturb(flat, (torch.ones(2), torch.ones(2), flat.factor), radius=0.1)[2].shape == (0, 2)
    table = torch.tensor([[0.9, 0.1]])
    assert fv.metrics.agreement(table, table) == 1.0 and fv.metrics.total_variation(table, table) == 0.0
