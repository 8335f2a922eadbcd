"""Words that commands and verbs take, and the nearest one to a misspelt word.

Without torch, so that a command checks its words before it loads anything.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Real
from types import NoneType
from typing import TypeVar

Word = TypeVar("Word", bound=str | None)

NETWORKS = ("mlp", "conv", "resnet20")
OFFLINE = ("digits", "digits-near", "moons")  # tasks that need no files
DEFAULT = "digits-near"  # task of tour, lab and course
FOLDER = "image-folder"
# name -> torchvision's class
PUBLIC = dict(
    mnist="MNIST", fashion_mnist="FashionMNIST", cifar10="CIFAR10", cifar100="CIFAR100", svhn="SVHN"
)
PLACED = {FOLDER: "PATH"} | {name.replace("_", "-"): "ROOT" for name in PUBLIC}
TASKS = (*OFFLINE, *(f"{name}:{place}" for name, place in PLACED.items()))
DEVICES = ("auto", "cpu", "cuda", "mps", "xpu")


LONGEST = 200  # characters of a value in an error


def quoted(value: object) -> str:
    """Write a value as in code, cut where it is long."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... of {len(text)} characters"


def brief(error: Exception) -> str:
    """Return an error's first line, cut where it is long; the whole error is its cause."""
    line = str(error).partition("\n")[0]
    return line if len(line) <= 2 * LONGEST else f"{line[: 2 * LONGEST]} ..."


def meant(given: object, choices: Iterable[str | None]) -> str:
    """Text that names the nearest choice, ": did you mean 'digits'?"; empty where none is near."""
    near = get_close_matches(str(given), [word for word in choices if word is not None], 1)
    return f": did you mean {near[0]!r}?" if near else ""


def check_choice(value: Word, choices: tuple[str | None, ...], name: str) -> Word:
    """One of the given words."""
    if not isinstance(value, (str, NoneType)) or value not in choices:
        plain = isinstance(value, (str, bool, Real, NoneType))
        got = quoted(value) if plain else f"a {type(value).__name__}"
        listed = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {listed}, got {got}{meant(value, choices)}")
    return value


def check_task(name: str) -> str:
    """A name of a task: one of `OFFLINE`, or one of `PLACED` and its folder."""
    kind, _, place = name.partition(":")
    if name in OFFLINE or kind in PLACED and place:
        return name
    if kind in PLACED:
        raise ValueError(
            f"data must be {kind}:{PLACED[kind]}, got {quoted(name)}: give the folder after the"
            " colon"
        )
    near = meant(kind, [*OFFLINE, *PLACED])
    raise ValueError(f"data must be one of {', '.join(TASKS)}, got {quoted(name)}{near}")


def check_device_word(name: str) -> str:
    """The name of a kind of device, with or without a number; whether it is there, torch knows."""
    kind, colon, number = name.partition(":")
    if kind not in DEVICES or colon and not number.isdigit():
        known = ", ".join(DEVICES)
        raise ValueError(f"device must be one of {known} or cuda:N, got {quoted(name)}")
    return name
