"""A page with views whose kernel stands in: it sends what a test gives it."""

from __future__ import annotations

import base64

from browsing import SLOW, in_page
from plotly.offline import get_plotlyjs

from flatviz.pages.page import bundled

STAND_IN = in_page("kernel_stand_in")

TOLD = in_page("told_by_the_kernel")


def shown(browser, bundle, traits, *, views=1):
    """A page with views of this bundle, at these traits."""
    page = browser.new_page(viewport={"width": 1300, "height": 900})
    page.set_default_timeout(SLOW)
    page.set_content("<div></div>" * views)
    given = {"loader": bundled("loader"), "explorer": bundled("explorer"), "plotly": get_plotlyjs(), "traits": traits}
    page.evaluate(STAND_IN, given | {"index": bundle.text, "records": base64.b64encode(bundle.buffer).decode()})
    return page


def send_members(page, added, traits):
    """Members that the kernel measured, and where the controls stand then."""
    records = base64.b64encode(added.buffer).decode()
    told = [{"kind": "member", "index": added.text, "records": records}, {"kind": "traits", "traits": traits}]
    page.evaluate(TOLD, [told])
