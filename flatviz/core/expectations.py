"""`expect`: one printed sentence on whether a cell's value is the one in the text, never a stop.

A reader who changes a line of a chapter is told how far its numbers moved.  In a test, and when the
site is built, nobody has changed a line, and the same call is an assertion: see `SWITCH`.
"""

import os

import torch
from torch import Tensor

from flatviz.checks import NonNegative, shown
from flatviz.core.boundary import public

SWITCH = "FLATVIZ_EXPECT"  # "raise" in the environment: what is otherwise raises AssertionError
TEXT = "the text"
LONGEST = 120  # characters of an object that is shown whole


@public
def expect(
    value: object,
    expected: object,
    *,
    atol: NonNegative = 0.0,
    rtol: NonNegative = 1e-3,
    by: str = TEXT,
) -> None:
    """Compare a value with what a text says of it, print the outcome, and go on in either case.

    The other value is not called wrong: after a change of a line it may well be right.  With the
    environment variable `FLATVIZ_EXPECT=raise`, which the tests of a course set, it is an
    AssertionError instead.

    Args:
        value: The outcome.  One truth where `expected` is a sentence, else a number, a tensor or
            an array of any shape, or any object that can be compared by `==`.
        expected: The text's value: a number, tensor or array that broadcasts with `value`
            (compared as |value - expected| <= atol + rtol |expected|), another object (compared by
            `==`), or a sentence, which holds where `value` is true.
        atol: How far a number may be off, in its unit.
        rtol: How far it may be off, as a share of what is expected.  With both 0 numbers are equal.
        by: Source of the expected value: "the formula", "the library".

    Raises:
        AssertionError: Under `FLATVIZ_EXPECT=raise`, if the value is another.
        TypeError: If `expected` is a sentence and `value` is not one truth.

    Example:
        >>> fv.expect(0.1 / (2.0 * (2 - 0.1 * 2.0)), 0.0278)
        as in the text: 0.0278
        >>> fv.expect(0.3 / (2.0 * (2 - 0.3 * 2.0)), 0.0278)
        you changed something: 0.107 instead of 0.0278
        >>> fv.expect(1 < 2, "one is less than two")
        as in the text: one is less than two
    """
    if isinstance(expected, str) and not isinstance(value, str):
        holds = _truth(value)
        said = f": {expected}"
        otherwise = f": this no longer holds: {expected}"
    elif (pair := _numbers(value, expected)) is not None:
        holds = bool(torch.isclose(*pair, rtol=rtol, atol=atol).all())
        said, otherwise = _compared(*pair, by)
    else:
        holds = value == expected
        said = f": {_brief(expected)}"
        otherwise = _instead(_brief(value), _brief(expected), by)
    if holds:
        print(f"as in {by}{said}")
    elif os.environ.get(SWITCH) == "raise":
        raise AssertionError(f"not as in {by}{otherwise}: correct the text, or the code")
    else:
        print(f"you changed something{otherwise}")


def _truth(value: object) -> bool:
    """Convert a truth of Python, NumPy or torch."""
    is_truth = isinstance(value, bool) or str(getattr(value, "dtype", "")).endswith("bool")
    if not is_truth or (hasattr(value, "ndim") and value.ndim):
        raise TypeError(
            f"value must be one truth beside a sentence, got {shown(value)}: compare it, and use"
            " .all() where there are several"
        )
    return bool(value)


def _numbers(value: object, expected: object) -> tuple[Tensor, Tensor] | None:
    """Convert both to float64 tensors of one shape; None where that is impossible."""
    if isinstance(expected, (tuple, list)):  # a shape, or names
        return None
    try:
        pair = [torch.as_tensor(v).detach().cpu().double() for v in (value, expected)]
        return tuple(torch.broadcast_tensors(*pair))  # type: ignore[return-value]
    except (TypeError, ValueError, RuntimeError):
        return None


def _compared(value: Tensor, expected: Tensor, by: str) -> tuple[str, str]:
    """Say what is expected and what came, of one number or of several."""
    if value.numel() == 1:
        came, told = (_digits(v.item(), 3) for v in (value, expected))
        if came != told:
            return f": {told} (here {came})", _instead(came, told, by)
        came, precise = (_digits(v.item(), 6) for v in (value, expected))
        return f": {told}", _instead(came, precise, by)
    off = (value - expected).abs()
    most = off.max().item() if off.numel() else 0.0
    count = f": {value.numel()} numbers"
    held = f"{count}, off by at most {most:.1g}" if most else f"{count}, equal"
    return held, f"{count}, off by up to {most:.1g}"


def _digits(value: float, digits: int) -> str:
    """Format with so many digits; a whole number with all of its own."""
    return f"{value:.0f}" if abs(value) < 1e6 and value == int(value) else f"{value:.{digits}g}"


def _instead(came: str, told: str, by: str) -> str:
    return f": {came} instead of {told}" + ("" if by == TEXT else f" in {by}")


def _brief(value: object) -> str:
    """Describe an object: its text where that is short."""
    text = str(value)
    return text if len(text) <= LONGEST else shown(value)
