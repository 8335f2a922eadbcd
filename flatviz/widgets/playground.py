"""The playground of the browser in a notebook."""

from collections.abc import Sequence

import anywidget
import traitlets

from flatviz.core import public
from flatviz.pages.page import WORLDS, World, playground_code
from flatviz.widgets.view import FixedLayout


class Playground(anywidget.AnyWidget):
    """The playground in a notebook; `worlds` names its parts.

    The page computes everything: only the module is sent.
    """

    _esm = f"{playground_code()}\nexport default flatvizPlayground.default;"
    worlds = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def set_state(self, sync_data: dict) -> None:
        """Take nothing of a page."""


@public
def playground(worlds: Sequence[World] = WORLDS) -> Playground:
    """Show training live in a cell: SGD, SAM, VI, SA-BMA, SGLD and HMC in the browser.

    The updates are flatviz's.

    Args:
        worlds: "weights", six grounds of two weights; "step", one step of SA-BMA phase by phase;
            "network", a small network on points of the plane, two methods side by side; "gap", one
            on a regression with a gap, beside HMC.

    Raises:
        ValueError: For another word.

    Example:
        >>> view = fv.playground(worlds=["weights"])
        >>> view.worlds
        ['weights']
        >>> view.close()
    """
    return Playground(worlds=list(worlds), layout=FixedLayout())
