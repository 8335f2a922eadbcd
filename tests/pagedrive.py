"""The page of a family in a browser: open it, go to a state, wait until it is drawn."""

from __future__ import annotations

import base64
import json
import re
import zlib

import numpy as np
from browsing import in_page, plain, watched
from internals import family_page

EXPLORE = {"step": -1}  # below the article, where the tabs are


def written(family, folder, *, start=("sabma", 0.5, 3), title="t", lead="l", **more):
    """The address of the family's page, a file in the folder."""
    path = folder / "tour.html"
    text = family_page(
        family, title=title, lead=lead, facts={}, start=start, **{"story": (), **more}
    )
    path.write_text(text, encoding="utf-8")
    return path.as_uri()


def data_of(text, name):
    """What the text of a page holds deflated under this name, read from JSON."""
    held = json.loads(
        re.search(f'<script [^>]*id="{name}">(.*?)</script>', text, re.DOTALL).group(1)
    )
    return json.loads(zlib.decompress(base64.b64decode(held)))


def opened(
    browser,
    address,
    *,
    width=1280,
    height=800,
    clock=False,
    ready=".flatviz[data-state]",
    **context,
):
    """The page at a size, once what is `ready` is there; its errors are in `page.errors_met`.
    clock: time is the test's, `page.clock`."""
    page, _, page.errors_met = watched(
        browser.new_context(viewport={"width": width, "height": height}, **context), address
    )
    told = lambda m: (
        m.type in ("error", "warning") and "WebGL" not in m.text and "Canvas2D" not in m.text
    )
    page.on("console", lambda m: page.errors_met.append(m.text) if told(m) else None)
    if clock:
        page.clock.install()
    page.goto(address, wait_until="commit")
    page.locator(ready).first.wait_for()
    return page


def code_of(page):
    """What the menu copies."""
    page.locator(".fv-menu summary").click()
    page.get_by_text("Copy as code").click()
    text = page.locator(".fv-code").input_value()
    page.locator(".fv-reading").first.click()
    return text


def figures_of(code, family):
    """The figures that the last lines of copied code make; the line before them reads `family =
    FAMILY`."""
    names = {"FAMILY": family}
    lines = code.splitlines()
    calls = [i for i, line in enumerate(lines) if line.startswith("fv.widgets.plot_view(")]
    exec("\n".join(lines[: calls[0]]), names)
    return [eval(lines[i], names) for i in calls]


def same_traces(
    shown, figure, *, keys=("x", "y", "z", "customdata"), skip=(), rtol=3e-5, atol=2e-6
):
    """Every array of numbers of the page's traces is that of the figure's, open cells left out; how
    many were compared."""
    direct = json.loads(figure.to_json())["data"]
    assert [t["name"] for t in shown] == [t["name"] for t in direct]
    compared = 0
    for a, b in zip(shown, direct):
        for key in keys if b["name"] not in skip else ():
            if b.get(key) is not None and not (
                isinstance(b[key], list) and isinstance(b[key][0], str)
            ):
                left, right = (
                    v[np.isfinite(v)] for v in (plain(a[key]).ravel(), plain(b[key]).ravel())
                )
                np.testing.assert_allclose(
                    left, right, rtol=rtol, atol=atol, err_msg=f"{a['name']} {key}"
                )
                compared += 1
    return compared


def until(page, truth, argument=None):
    """Wait until a function of the page is true."""
    page.wait_for_function(truth, arg=argument, polling=100)


def address_of(state, tab, *, compare="", more=""):
    """The part after # for a state "method/radius/draws", a tab, another state beside it
    ("method/radius"), and what else there is."""
    method, radius, draws = state.split("/")
    parts = [f"method={method}&radius={radius}&draws={draws}&tab={tab}"]
    if compare:
        other, _, other_radius = compare.partition("/")
        parts.append(f"b={other_radius}:{other}")
    return "&".join([*parts, more] if more else parts)


def go(page, state, tab, *, compare="", more=""):
    """Go to a state in a tab, and wait until its pictures are drawn."""
    look = f"{tab} | {compare}" if compare else tab
    at(page, address_of(state, tab, compare=compare, more=more), state, look)


def at(page, hash, state, look):
    """Go to an address, and wait until its pictures are drawn."""
    page.evaluate("(hash) => { location.hash = hash; }", hash)
    drawn(page, state, look)


def resized(page, width, height=800):
    """Give the window a size, and wait until pictures and text stand still in it."""
    page.set_viewport_size({"width": width, "height": height})
    until(page, in_page("fits_the_window"), width)
    boxes = in_page("boxes_in_sight")
    before = ""
    now = page.evaluate(boxes)
    for _ in range(100):
        if now == before:
            break
        page.wait_for_timeout(200)
        before = now
        now = page.evaluate(boxes)


def drawn(page, state, look=None):
    """Wait until the pictures of this state are drawn, and under this tab where one is named."""
    until(page, in_page("state_is_drawn"), [state, look])
