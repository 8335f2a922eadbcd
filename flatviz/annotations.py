"""Checks of values by their annotations: one rule for each type that arguments and fields have."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from torch import Tensor

from flatviz.checks import (
    Check,
    anything,
    check_number,
    each,
    function,
    kind,
    made_by,
    shown,
    values,
)
from flatviz.words import check_choice


class Rule(NamedTuple):
    """Classes of the values of a type, their check, and their name in errors."""

    classes: tuple
    check: Check
    words: str
    advice: str = ""

    @property
    def plural(self) -> str:
        """Name of several values."""
        return self.words.removeprefix("a ") + "s"


PLAIN: dict[Any, Rule] = {
    float: Rule((Real,), check_number, "a number"),
    int: Rule((Integral,), check_number, "a whole number"),
    str: Rule((str,), kind(str, "a text"), "a text"),
    bool: Rule((bool,), kind(bool, "True or False"), "True or False"),
    dict: Rule((dict,), kind(dict, "a dict"), "a dict"),
    Callable: Rule((Callable,), function(), "a function"),
    NoneType: Rule((NoneType,), anything, "None"),
    Any: Rule((object,), anything, "anything"),
    object: Rule((object,), anything, "anything"),
    inspect.Parameter.empty: Rule((object,), anything, "anything"),
}


def rule_of(hint: Any) -> Rule:
    """Return the rule of a type; a check and a name beside it in `Annotated` replace its own."""
    origin = get_origin(hint) or hint
    parts = get_args(hint)
    if origin is Annotated:
        rule = rule_of(parts[0])
        check = next(filter(callable, parts[1:]), rule.check)
        named = [part for part in parts[1:] if isinstance(part, str)]
        return rule._replace(check=check, words=named[0] if named else rule.words)
    if origin in (Union, UnionType):
        return _either(list(map(rule_of, parts)))
    if origin is Literal:

        def check_word(value: Any, name: str) -> object:
            return check_choice(value, parts, name)

        return Rule((str,), check_word, ", ".join(map(repr, parts)))
    if origin in (Sequence, list, tuple) and parts:
        item = rule_of(parts[0])
        least = 0 if Ellipsis in parts else 1
        check = each(item.check, item.plural, least)
        words = f"a list of {item.plural}"
        return Rule((origin,), check, words, item.advice)
    if origin in (Mapping, dict) and parts:
        item = rule_of(parts[1])
        check = values(item.check, item.plural)
        words = f"a dict from names to {item.plural}"
        return Rule((origin,), check, words, item.advice)
    if origin in PLAIN:
        return PLAIN[origin]
    words = f"a {origin.__name__}"
    advice = made_by(origin)
    return Rule((origin,), kind(origin, words, advice), words, advice)


def _either(rules: list[Rule]) -> Rule:
    """Return the rule of several types: the first that the value has checks it."""
    wanted = [rule for rule in rules if rule is not PLAIN[NoneType]]
    words = ", or ".join(rule.words for rule in wanted)
    advice = next((rule.advice for rule in wanted if rule.advice), "")

    def check(value: object, name: str) -> object:
        for rule in rules:
            if isinstance(value, rule.classes):
                return rule.check(value, name)
        if len(wanted) == 1:
            return wanted[0].check(value, name)
        way_out = f" ({advice})" if advice else ""
        raise TypeError(f"{name} must be {words}{way_out}, got {shown(value)}")

    return Rule(tuple(rule.classes for rule in rules), check, words, advice)


def takes_tensors(hint: Any) -> bool:
    """Tell whether a type is that of tensors, also beside others."""
    return Tensor in _flat(rule_of(hint).classes)


def _flat(classes: tuple) -> list:
    """List classes of nested tuples."""
    found = []
    for one in classes:
        found += _flat(one) if isinstance(one, tuple) else [one]
    return found


def check_of(hint: Any) -> Check:
    """Return the check that a type's values must pass."""
    return rule_of(hint).check
