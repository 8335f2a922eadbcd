"""Wrong values into the fields of nouns and the arguments of data sets and models: each is one clear error, or was right."""

import dataclasses
import random
import warnings
from functools import partial

import pytest
import torch
from test_results import one_of_each

import flatviz as fv

X, Y = torch.rand(30, 1, 8, 8), torch.arange(30) % 3
DATA = fv.Data(X, Y)
TASK = fv.Task(DATA, DATA, DATA, 3)
IMAGES = fv.Data((255 * X).byte(), Y)
WRONG = (None, "x", -1, 0, 2.5, float("nan"), float("inf"), True, {}, [], (), [None], object(), torch.zeros(0), torch.tensor(float("nan")),
         torch.zeros(3, dtype=torch.complex64), torch.zeros(2, 3), DATA, int, lambda: 0, b"x")  # fmt: skip
CALLS = {
    fv.Data: dict(x=X, y=Y, class_names=("a", "b", "c")),
    fv.Task: dict(source=DATA, train=DATA, test=DATA, n_classes=3, name="t", validation=DATA, source_classes=3),
    fv.datasets.few_shot: dict(data=DATA, shots=2, seed=0),
    fv.datasets.pick_classes: dict(data=DATA, classes=[0, 2]),
    fv.datasets.transfer_task: dict(source=DATA, target=DATA, shots=2, seed=0),
    fv.datasets.images_like: dict(images=IMAGES, shape=(3, 4, 4)),
    fv.datasets.corrupt: dict(data=IMAGES, kind="fog", severity=1, seed=0),
    fv.datasets.data_from: dict(examples=(X, Y), n=3, classes=("a", "b", "c")),
    fv.datasets.stream: dict(examples=list(zip(X, Y)), workers=1),
    fv.datasets.moons_transfer: dict(shots=2, noise=0.1, seed=0),
    fv.datasets.image_folder: dict(path="nowhere", size=4, per_class=2, classes=("a",), seed=0),
    fv.models.mlp: dict(task=TASK, hidden=(4,), seed=0),
    fv.models.convnet: dict(task=TASK, channels=(2, 2), seed=0),
    fv.models.learned_noise: dict(module=torch.nn.Linear(2, 1), noise=0.5),
    fv.Likelihood.categorical: dict(weight=torch.ones(3), label_smoothing=0.1, ignore_index=2, dim=1),
    fv.Likelihood.gaussian: dict(noise=0.5),
    fv.Likelihood: dict(of=torch.distributions.Exponential, name="a", ignore=2),
}
CLEAR = (TypeError, ValueError, FileNotFoundError, RuntimeError)
DEPTHS = ("has no attribute", "unsupported operand", "not subscriptable", "not iterable", "object is not", "() argument",
          "expected str", "has no len", "mat1", "Boolean value", "not supported between", "must be real number")  # fmt: skip


def fault(call, label, wrong, explained=()):
    """A list of one line where a call with a wrong value neither was right nor raised one clear error, else empty.

    explained: words of which one in an error makes it clear, whatever else it says.
    """
    try:
        call()
    except CLEAR as error:
        text = str(error)
        clear = any(words in text for words in explained) or not any(words in text for words in DEPTHS)
        return [] if clear else [f"{label}: {text}"]
    except Exception as error:
        return [f"{label}: {type(error).__name__}: {error}"]
    return [f"{label} was taken"] if isinstance(wrong, (bytes, type)) or type(wrong) is object else []


@pytest.mark.parametrize("seed", range(2))
def test_a_wrong_value_is_one_clear_error(seed, gaussians):
    nouns = [noun for noun in one_of_each(gaussians[0]).values()]
    calls = {type(noun): {f.name: getattr(noun, f.name) for f in dataclasses.fields(noun)} for noun in nouns} | CALLS
    draw, unclear = random.Random(seed), []
    for call, right in calls.items():
        for name in right:
            for wrong in draw.sample(WRONG, 8):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    unclear += fault(partial(call, **{**right, name: wrong}), f"{call.__name__}({name}={wrong!r:.40})", wrong)
    assert not unclear, "\n".join(unclear)
