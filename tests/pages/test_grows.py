"""A view in a lab whose kernel stands in: members fitted outside the family join curves and scales;
what a view carries."""

from __future__ import annotations

import base64
import json

import numpy as np
import torch
from browsing import SLOW, in_page
from internals import Fitting, bundled, extend, pack, pack_members
from plotly.offline import get_plotlyjs
from pytest import approx, fixture, mark

import flatviz as fv

CURVE = in_page("curve_over_radii")
LARGEST = torch.tensor(4.0).log10().item()


@fixture(scope="module")
def grown(family, task, transferred):
    """The small family with SA-BMA at radius 4, twice its largest."""
    net, prior = transferred
    q = fv.fit_sabma(net, task.train, prior, radius=4.0, seed=0, steps=40)
    return extend(Fitting(net, task, prior, 0), family, "sabma", 4.0, q)


def figures(bundle):
    """List what a page draws of each view at its first member, without the shared ranges."""
    entries = json.loads(bundle.text)["figures"]
    for entry in entries:
        for path in [bind["path"] for bind in entry["binds"]] + [
            f"layout.{axis}.range" for axis in entry["shared"]
        ]:
            *way, last = path.split(".")
            at = entry
            for key in way:
                at = at[int(key) if key.isdigit() else key]
            at[last] = None
    return {entry["name"]: (entry["data"], entry["layout"], entry["caption"]) for entry in entries}


def test_a_sent_member_gives_the_figures_of_the_larger_family_and_a_preview_changes_none(
    bundle, grown
):
    new = len(grown) - 1
    direct = figures(pack(grown))
    sent = pack_members(bundle, grown, [new])
    assert figures(bundle.with_members(sent)) == direct
    changed = {name for name, figure in figures(bundle).items() if figure != direct[name]}
    assert {"radius", "sharpest"} <= changed
    assert not {"surface", "spectrum", "images"} & changed
    assert {figure["name"] for figure in sent.index["figures"]} == changed  # nothing else travels
    preview = pack_members(bundle, grown, [new], note=", preview: 20 steps")
    later = bundle.with_members(preview)
    assert preview.index["figures"] == []
    assert [m["radius"] for m in preview.index["members"]] == [4.0]
    assert figures(later) == figures(bundle)
    # The whole fit takes its place
    assert figures(later.with_members(pack_members(later, grown, [new]))) == direct


def test_radius_zero_keeps_its_place_left_of_a_smaller_radius(family, bundle):
    nearer = family.each(radius=[0.1 if r == 0.5 else r for r in family.radius])
    later = bundle.with_members(pack_members(bundle, nearer, [family.radius.index(0.5)]))
    (entry,) = (e for e in later.index["figures"] if e["name"] == "radius")
    # Of a ring in the last column
    field = [bind["field"] for bind in entry["binds"] if bind["path"].endswith(".x")][-1]
    at = [m["method"] for m in later.index["members"]].index("vi") * later.index["record"]
    ring = np.frombuffer(later.buffer, "<f4")[at + later.index["fields"][field]["offset"]]
    assert ring < -1  # the place of 0.1 on the logarithmic axis


@mark.browser
def test_in_the_lab_the_curve_gains_the_new_radius_and_its_ring_and_axis_follow(
    family, grown, browser
):
    bundle = pack(family, stops={"sabma": [4.0]}, live=True)
    new = len(grown) - 1
    traits = {"radius": 2.0, "n_draws": 3, "method": "sabma", "look": {"tab": "Radius"}}
    page = shown(browser, bundle, traits, busy=True)
    drawn = (
        "(shown) => document.querySelector('.flatviz')?.dataset.shown === shown &&"
        " document.querySelector('.flatviz').dataset.state"
    )
    page.wait_for_function(drawn, arg="fitted", polling=100)
    former = page.evaluate(CURVE)
    preview = pack_members(bundle, grown, [new], note=", preview: 20 steps")
    send_members(page, preview, {"radius": 4.0})
    page.wait_for_function(drawn, arg="preview", polling=100)
    seen = page.evaluate(CURVE)
    assert [dots["x"] for dots in seen["dots"]] == [dots["x"] for dots in former["dots"]]
    assert seen["caption"] == former["caption"]
    send_members(page, pack_members(bundle.with_members(preview), grown, [new]), {"radius": 4.0})
    page.wait_for_function(drawn, arg="fitted", polling=100)
    seen = page.evaluate(CURVE)
    for dots, row in zip(seen["dots"], ("lambda1", "nll", "accuracy", "ece"), strict=True):
        assert dots["x"][-1] == approx(LARGEST, abs=1e-6)
        assert dots["range"][1] > LARGEST
        direct = (
            float(torch.stack([s.values[0] for s in grown[new].spectrum]).mean())
            if row == "lambda1"
            else float(grown.prediction[new].scores[row][-1])
        )
        assert dots["y"][-1] == approx(direct, rel=1e-5)
    assert [ring["x"] for ring in seen["rings"]] == [[approx(LARGEST, abs=1e-6)]] * 4
    for ring, dots in zip(seen["rings"], seen["dots"], strict=True):
        assert ring["y"] == [approx(dots["y"][-1], rel=1e-6)]  # one of them is float32
    assert "SA-BMA from radius 0 to 4" in seen["caption"]
    assert "preview" not in seen["caption"]
    page.close()


@mark.browser
def test_undo_outlives_a_family_that_is_sent_anew_and_a_lost_kernel_leaves_the_fitted_radii(
    family, browser
):
    bundle = pack(family, stops={"sabma": [8.0]}, live=True)
    page = shown(
        browser,
        bundle,
        {"radius": 0.5, "n_draws": 3, "method": "sabma", "look": {"tab": "Surface"}},
    )
    errors = []
    page.on("pageerror", lambda e: errors.append(str(e)))
    state = "(state) => document.querySelector('.flatviz')?.dataset.state === state"
    page.wait_for_function(state, arg="sabma/0.5/3", polling=200)
    page.get_by_label("ensemble size", exact=True).fill("5")
    page.wait_for_function(state, arg="sabma/0.5/5", polling=200)
    page.evaluate("() => document.querySelector('.fv-bar').classList.add('former')")
    sent = {
        "kind": "family",
        "index": bundle.text,
        "records": base64.b64encode(bundle.buffer).decode(),
    }
    page.evaluate(TOLD, [[sent]])  # the same once more changes nothing
    assert page.evaluate("() => document.querySelector('.fv-bar').classList.contains('former')")
    page.evaluate(TOLD, [[sent | {"index": bundle.text + " "}]])
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


@mark.browser
def test_the_picture_for_a_saved_notebook_is_whole_and_waits_where_it_is_scrolled_away(
    family, browser
):
    bundle = pack(family, note=", rough", live=True)
    traits = {"radius": 2.0, "n_draws": 3, "method": "sabma", "look": {"tab": "Surface"}}
    page = shown(browser, bundle, traits, busy=True)
    page.evaluate("() => { channel.send = ({ want }) => (window.asked ??= []).push(want); }")
    status = {"kind": "status", "share": 0.5, "text": "fitting", "busy": True, "error": ""}
    page.evaluate(TOLD, [[status]])
    drawn = "(shown) => document.querySelector('.flatviz')?.dataset.shown === shown"
    page.wait_for_function(drawn, arg="preview", polling=100)
    page.wait_for_timeout(4000)  # twice the rest before a picture is taken
    assert page.evaluate("() => window.asked ?? []") == []
    page.evaluate("() => { window.place = document.querySelector('.flatviz'); place.remove(); }")
    whole = pack(family, live=True)
    records = base64.b64encode(whole.buffer).decode()
    sent = {"kind": "family", "index": whole.text, "records": records}
    page.evaluate(TOLD, [[sent, status | {"busy": False}]])
    page.wait_for_timeout(2000)
    assert page.evaluate("() => window.asked ?? []") == []
    page.evaluate("() => document.body.append(window.place)")
    page.wait_for_function("() => window.asked?.includes('picture')", polling=100)
    assert page.evaluate(drawn, "fitted")
    page.close()


STAND_IN = in_page("kernel_stand_in")

TOLD = in_page("told_by_the_kernel")


def shown(browser, bundle, traits, *, views=1, busy=False):
    """A page with views of this bundle, at these traits; a busy kernel sends and does not hear."""
    page = browser.new_page(viewport={"width": 1300, "height": 900})
    page.set_default_timeout(SLOW)
    page.set_content("<div></div>" * views)
    given = {
        "loader": bundled("loader"),
        "explorer": bundled("explorer"),
        "plotly": get_plotlyjs(),
        "traits": traits,
        "busy": busy,
    }
    page.evaluate(
        STAND_IN,
        given | {"index": bundle.text, "records": base64.b64encode(bundle.buffer).decode()},
    )
    return page


def send_members(page, added, traits):
    """Members that the kernel measured, and where the controls stand then."""
    records = base64.b64encode(added.buffer).decode()
    told = [
        {"kind": "member", "index": added.text, "records": records},
        {"kind": "traits", "traits": traits},
    ]
    page.evaluate(TOLD, [told])
