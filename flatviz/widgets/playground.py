"""The playground in a notebook: training live in the browser, without the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import anywidget
import traitlets

from flatviz.core.boundary import public
from flatviz.pages.page import WORLDS, playground_code


class Playground(anywidget.AnyWidget):
    """The playground; `worlds` names what it shows.  The page computes everything: nothing is sent but the module."""

    _esm = f"{playground_code()}\nexport default flatvizPlayground.default;"
    worlds = traitlets.List(traitlets.Unicode()).tag(sync=True)


@public
def playground(worlds: Sequence[Literal["weights", "step", "network", "gap"]] = WORLDS) -> Playground:
    """Training live in a cell: gradient descent, SAM, VI, SA-BMA, SGLD and HMC with flatviz's updates, in the browser.

    Args:
        worlds: "weights", six grounds of two weights; "step", one step of SA-BMA phase by phase; "network", a small
            network on points of the plane, two methods side by side; "gap", one on a regression with a gap, beside HMC.

    Raises:
        ValueError: For another word.

    Example:
        >>> view = fv.playground(worlds=["weights"])
        >>> view.worlds
        ['weights']
        >>> view.close()
    """
    return Playground(worlds=list(worlds))
