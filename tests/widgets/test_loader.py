"""What every view carries, in a browser, with a kernel that stands in: it draws what comes through the channel."""

import base64
import dataclasses

import pytest
from kernel_stand_in import TOLD, send_members, shown

from flatviz.pages.bundle import pack, pack_members

pytestmark = pytest.mark.browser


def with_a_far_member(family, bundle):
    """(distance of its farthest draw from the plane, its record) for a copy of the last member, ten times as far off."""
    last = family.projection[-1]
    off = dataclasses.replace(last, distance=10 * last.distance)
    grown = family.add(dataclasses.replace(family[-1], radius=9.0, projection=off))
    return float(off.distance.max()), pack_members(bundle, grown, [len(grown) - 1])


def test_two_views_draw_what_the_channel_brings_and_follow_the_kernel(family, browser):
    bundle = pack(family, stops={}, live=True)
    page = shown(browser, bundle, {"radius": 0.5, "n_draws": 3, "method": "sabma", "look": {"tab": "Surface"}}, views=2)
    both = "(state) => [...document.querySelectorAll('.flatviz')].filter((e) => e.dataset.state === state).length === 2"
    page.wait_for_function(both, arg="sabma/0.5/3", polling=200)
    assert sorted(page.evaluate("window.asked")) == ["family", "front end"]  # once for two views
    page.evaluate("window.channel.tell('msg:custom', { kind: 'traits', traits: { radius: 2.0, n_draws: 5 } }, [])")
    page.wait_for_function(both, arg="sabma/2/5", polling=200)
    far, late = with_a_far_member(family, bundle)
    send_members(page, late, {"radius": 9.0})
    page.wait_for_function(both, arg="sabma/9/5", polling=200)
    ends = page.evaluate(
        "[...document.querySelectorAll('[data-name=hidden] .js-plotly-plot')].map((p) => p._fullLayout.yaxis.range[1])"
    )
    assert len(ends) == 2 and min(ends) > far  # its samples are inside the axes
    page.close()


def test_undo_outlives_a_family_that_is_sent_anew_and_a_lost_kernel_leaves_the_fitted_radii(family, browser):
    bundle = pack(family, stops={"sabma": [8.0]}, live=True)
    page = shown(browser, bundle, {"radius": 0.5, "n_draws": 3, "method": "sabma", "look": {"tab": "Surface"}})
    errors = []
    page.on("pageerror", lambda e: errors.append(str(e)))
    state = "(state) => document.querySelector('.flatviz')?.dataset.state === state"
    page.wait_for_function(state, arg="sabma/0.5/3", polling=200)
    page.get_by_label("ensemble size", exact=True).fill("5")
    page.wait_for_function(state, arg="sabma/0.5/5", polling=200)
    records = base64.b64encode(bundle.buffer).decode()
    page.evaluate("() => document.querySelector('.fv-bar').classList.add('former')")
    page.evaluate(TOLD, [[{"kind": "family", "index": bundle.text, "records": records}]])
    page.wait_for_function("() => document.querySelector('.fv-bar:not(.former)')", polling=200)
    page.get_by_role("button", name="Undo").click()
    page.wait_for_function(state, arg="sabma/0.5/3", polling=200)

    last = "Number(document.querySelector('.fv-radius').max)"
    stops = len(family.radii("sabma"))
    assert page.evaluate(last) == stops  # with one that nobody fitted
    page.evaluate("""() => { window.channel.send = () => { throw new Error('Cannot send'); }; }""")
    page.evaluate("document.querySelector('.fv-work button').click()")
    page.get_by_role("alert").wait_for(timeout=20_000)
    page.wait_for_function(f"() => {last} === {stops - 1}", polling=200)
    assert not errors
    page.close()
