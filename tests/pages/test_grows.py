"""A view in a lab whose kernel stands in: members fitted outside the family join curves and scales;
what a view carries."""

from __future__ import annotations

import base64
import json

import numpy as np
import torch
from browsing import SLOW, in_page
from internals import bundled, extend, pack, pack_members
from pagedrive import until
from plotly.offline import get_plotlyjs
from pytest import approx, fixture, mark

import flatviz as fv
from flatviz.families import Fitting

CURVE = in_page("curve_over_radii")
TOLD = in_page("told_by_the_kernel")
NEW = 4.0  # the radius of the member that joins, twice the family's largest
PREVIEW = ", preview: 20 steps"


@fixture(scope="module")
def grown(family, task, transferred):
    """The small family with SA-BMA at another radius, its last member."""
    net, prior = transferred
    q = fv.fit(net, task.train, fv.SABMA(prior, radius=NEW), seed=0, steps=40)
    return extend(Fitting(net, task, prior, 0), family, "sabma", NEW, q)


def emptied(entry, path):
    """Set what stands at a path of an entry to None."""
    *way, last = path.split(".")
    for key in way:
        entry = entry[int(key) if key.isdigit() else key]
    entry[last] = None


def figures(bundle):
    """What a page draws of each view at its first member, without the shared ranges."""
    entries = json.loads(bundle.text)["figures"]
    for entry in entries:
        for bind in entry["binds"]:
            emptied(entry, bind["path"])
        for axis in entry["shared"]:
            emptied(entry, f"layout.{axis}.range")
    return {entry["name"]: (entry["data"], entry["layout"], entry["caption"]) for entry in entries}


def test_a_sent_member_gives_the_figures_of_the_larger_family(bundle, grown):
    direct = figures(pack(grown))
    sent = pack_members(bundle, grown, [len(grown) - 1])
    assert figures(bundle.with_members(sent)) == direct
    changed = {name for name, figure in figures(bundle).items() if figure != direct[name]}
    assert {"radius", "sharpest"} <= changed
    assert not {"surface", "spectrum", "images"} & changed
    assert {figure["name"] for figure in sent.index["figures"]} == changed  # nothing else travels


def test_a_preview_changes_no_figure_and_the_whole_fit_takes_its_place(bundle, grown):
    new = [len(grown) - 1]
    preview = pack_members(bundle, grown, new, note=PREVIEW)
    assert preview.index["figures"] == []
    assert [member["radius"] for member in preview.index["members"]] == [NEW]
    later = bundle.with_members(preview)
    assert figures(later) == figures(bundle)
    whole = later.with_members(pack_members(later, grown, new))
    assert figures(whole) == figures(pack(grown))


def test_radius_zero_keeps_its_place_left_of_a_smaller_radius(family, bundle):
    nearer = family.each(radius=[0.1 if r == 0.5 else r for r in family.radius])
    later = bundle.with_members(pack_members(bundle, nearer, [family.radius.index(0.5)]))
    index = later.index
    (entry,) = [figure for figure in index["figures"] if figure["name"] == "radius"]
    # Of a ring in the last column
    *_, field = [bind["field"] for bind in entry["binds"] if bind["path"].endswith(".x")]
    records = np.frombuffer(later.buffer, "<f4").reshape(-1, index["record"])
    vi = [member["method"] for member in index["members"]].index("vi")
    ring = records[vi, index["fields"][field]["offset"]]
    assert ring < -1  # the place of 0.1 on the logarithmic axis


def sent(kind, packed):
    """A message of the kernel with an index and records."""
    records = base64.b64encode(packed.buffer).decode()
    return {"kind": kind, "index": packed.text, "records": records}


def told(page, *contents):
    """Send each of these contents to the page."""
    page.evaluate(TOLD, [contents])


@fixture
def show(browser):
    """Open a page with a view of a bundle, at a tab of SA-BMA; a busy kernel sends and does not
    hear."""
    pages = []

    def shown(bundle, radius, tab, *, busy=False):
        page = browser.new_page(viewport={"width": 1300, "height": 900})
        page.set_default_timeout(SLOW)
        page.on("pageerror", lambda error: page.errors_met.append(str(error)))
        page.errors_met = []
        pages.append(page)
        page.set_content("<div></div>")
        traits = {"radius": radius, "n_draws": 3, "method": "sabma", "look": {"tab": tab}}
        code = {"loader": bundled("loader"), "explorer": bundled("explorer")}
        given = code | {"plotly": get_plotlyjs(), "traits": traits, "busy": busy}
        page.evaluate(in_page("kernel_stand_in"), given | sent("family", bundle))
        return page

    yield shown
    for page in pages:
        assert not page.errors_met
        page.close()


def stands(page, name, value):
    """Wait until the view says so of itself."""
    is_so = "([name, value]) => document.querySelector('.flatviz')?.dataset[name] === value"
    until(page, is_so, [name, value])


@mark.browser
def test_in_the_lab_the_curve_gains_the_new_radius_and_its_ring_and_axis_follow(
    family, grown, show
):
    new = len(grown) - 1
    place = approx(np.log10(NEW), abs=1e-6)
    bundle = pack(family, stops={"sabma": [NEW]}, live=True)
    page = show(bundle, 2.0, "Radius", busy=True)
    stands(page, "shown", "fitted")
    former = page.evaluate(CURVE)
    there = {"kind": "traits", "traits": {"radius": NEW}}
    preview = pack_members(bundle, grown, [new], note=PREVIEW)
    told(page, sent("member", preview), there)
    stands(page, "shown", "preview")
    seen = page.evaluate(CURVE)
    assert [dots["x"] for dots in seen["dots"]] == [dots["x"] for dots in former["dots"]]
    assert seen["caption"] == former["caption"]
    whole = pack_members(bundle.with_members(preview), grown, [new])
    told(page, sent("member", whole), there)
    stands(page, "shown", "fitted")
    seen = page.evaluate(CURVE)
    scores = grown.prediction[new].scores
    eigenvalues = torch.stack([spectrum.values[0] for spectrum in grown.spectrum[new]])
    heights = [eigenvalues.mean(), *(scores[name][-1] for name in ("nll", "accuracy", "ece"))]
    for dots, ring, height in zip(seen["dots"], seen["rings"], heights, strict=True):
        assert dots["x"][-1] == place
        assert dots["range"][1] > np.log10(NEW)
        assert dots["y"][-1] == approx(float(height), rel=1e-5)
        assert ring["x"] == [place]
        assert ring["y"] == [approx(dots["y"][-1], rel=1e-6)]  # one of them is float32
    assert "SA-BMA from radius 0 to 4" in seen["caption"]
    assert "preview" not in seen["caption"]


@mark.browser
def test_undo_outlives_a_family_that_is_sent_anew(family, show):
    bundle = pack(family, live=True)
    page = show(bundle, 0.5, "Surface")
    stands(page, "state", "sabma/0.5/3")
    page.get_by_label("ensemble size", exact=True).fill("5")
    stands(page, "state", "sabma/0.5/5")
    page.evaluate("() => document.querySelector('.fv-bar').classList.add('former')")
    again = sent("family", bundle)
    told(page, again)  # the same once more changes nothing
    assert page.locator(".fv-bar.former").count() == 1
    told(page, again | {"index": bundle.text + " "})
    page.locator(".fv-bar:not(.former)").wait_for()
    page.get_by_role("button", name="Undo").click()
    stands(page, "state", "sabma/0.5/3")


@mark.browser
def test_a_lost_kernel_leaves_the_fitted_radii(family, show):
    page = show(pack(family, stops={"sabma": [8.0]}, live=True), 0.5, "Surface")
    stands(page, "state", "sabma/0.5/3")
    stops = len(family.radii("sabma"))
    last = "(stop) => Number(document.querySelector('.fv-radius').max) === stop"
    assert page.evaluate(last, stops)  # with one that nobody fitted
    page.evaluate("() => { window.channel.send = () => { throw new Error('Cannot send'); }; }")
    page.evaluate("document.querySelector('.fv-work button').click()")
    page.get_by_role("alert").wait_for()
    until(page, last, stops - 1)


@mark.browser
def test_the_picture_for_a_saved_notebook_is_whole_and_waits_where_it_is_scrolled_away(
    family, show
):
    page = show(pack(family, note=", rough", live=True), 2.0, "Surface", busy=True)
    page.evaluate("() => { channel.send = ({ want }) => (window.asked ??= []).push(want); }")
    asked = "() => window.asked ?? []"
    status = {"kind": "status", "share": 0.5, "text": "fitting", "busy": True, "error": ""}
    told(page, status)
    stands(page, "shown", "preview")
    page.wait_for_timeout(4000)  # twice the rest before a picture is taken
    assert page.evaluate(asked) == []
    page.evaluate("() => { window.place = document.querySelector('.flatviz'); place.remove(); }")
    told(page, sent("family", pack(family, live=True)), status | {"busy": False})
    page.wait_for_timeout(2000)
    assert page.evaluate(asked) == []
    page.evaluate("() => document.body.append(window.place)")
    until(page, "() => window.asked?.includes('picture')")
    stands(page, "shown", "fitted")
