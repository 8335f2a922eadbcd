"""The part of a state that is neither method nor radius nor ensemble size: which views are in sight, and how."""

from __future__ import annotations

from collections.abc import Sequence

from flatviz.checks import check_choice, check_count, check_is, check_radius

ALL = "All"  # the tab of all views
LOOK = {"tab": "", "compare": None, "picked": None, "chosen": {}, "step": -1, "phase": None, "moment": None}


def check_look(look: object, methods: Sequence[str]) -> dict:
    """A dict with names of `LOOK` only, whose `compare` is None or names one of `methods` and a radius; phase and moment count from 0.

    Raises:
        TypeError: See above.
        ValueError: Otherwise.
    """
    check_is(look, dict, "look", f"its names are {', '.join(LOOK)}")
    for name in look:
        check_choice(name, tuple(LOOK), "a name of look")
    if (other := look.get("compare")) is not None:
        check_is(other, dict, "compare", '{"method": "vi", "radius": 0.0}')
        check_choice(other.get("method"), tuple(methods), "method of compare")
        check_radius(other.get("radius"), "radius")
    for name in ("phase", "moment"):
        if look.get(name) is not None:
            check_count(look[name], name, least=0)
    return look
