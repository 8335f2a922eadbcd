"""What every view carries, in a browser, with a kernel that stands in: it draws what comes through the channel."""

import base64

import pytest
from kernel_stand_in import TOLD, shown

from flatviz.pages.bundle import pack

pytestmark = pytest.mark.browser


def test_undo_outlives_a_family_that_is_sent_anew_and_a_lost_kernel_leaves_the_fitted_radii(family, browser):
    bundle = pack(family, stops={"sabma": [8.0]}, live=True)
    page = shown(browser, bundle, {"radius": 0.5, "n_draws": 3, "method": "sabma", "look": {"tab": "Surface"}})
    errors = []
    page.on("pageerror", lambda e: errors.append(str(e)))
    state = "(state) => document.querySelector('.flatviz')?.dataset.state === state"
    page.wait_for_function(state, arg="sabma/0.5/3", polling=200)
    page.get_by_label("ensemble size", exact=True).fill("5")
    page.wait_for_function(state, arg="sabma/0.5/5", polling=200)
    page.evaluate("() => document.querySelector('.fv-bar').classList.add('former')")
    sent = {"kind": "family", "index": bundle.text, "records": base64.b64encode(bundle.buffer).decode()}
    page.evaluate(TOLD, [[sent]])  # the same once more changes nothing
    assert page.evaluate("() => document.querySelector('.fv-bar').classList.contains('former')")
    page.evaluate(TOLD, [[sent | {"index": bundle.text + " "}]])
    page.wait_for_function("() => document.querySelector('.fv-bar:not(.former)')", polling=200)
    page.get_by_role("button", name="Undo").click()
    page.wait_for_function(state, arg="sabma/0.5/3", polling=200)

    last, stops = "Number(document.querySelector('.fv-radius').max)", len(family.radii("sabma"))
    assert page.evaluate(last) == stops  # with one that nobody fitted
    page.evaluate("""() => { window.channel.send = () => { throw new Error('Cannot send'); }; }""")
    page.evaluate("document.querySelector('.fv-work button').click()")
    page.get_by_role("alert").wait_for(timeout=20_000)
    page.wait_for_function(f"() => {last} === {stops - 1}", polling=200)
    assert not errors
    page.close()
