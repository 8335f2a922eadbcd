"""The step in phases, in the page: what is drawn in each of them, how it gets from one to the next,
and that the state has it."""

import itertools
import json

import numpy as np
from browsing import DRAWN, in_page, plain
from pagedrive import at, written
from pytest import fixture, mark

import flatviz as fv
from flatviz.plots.mechanism import PHASES

PLACE = in_page("place_of_the_step")


@fixture(scope="module")
def address(family, tmp_path_factory):
    return written(family, tmp_path_factory.mktemp("phases"), code=["family = FAMILY"])


def there(page, place):
    """Wait until the step is drawn at this place of its slider."""
    stands = (
        "(place) => document.querySelector('figure:not([hidden]) .js-plotly-plot').dataset.phase"
        " === String(place)"
    )
    page.wait_for_function(stands, arg=place, polling=100)


def traces(page, view):
    """What the page draws in a view, by name."""
    return {
        trace["name"]: trace for trace in page.locator(".flatviz").evaluate(DRAWN)[view]["data"]
    }


def same_step(page, view, figure):
    """Every line, dot and arrow of the page's step is that of the figure."""
    shown = traces(page, view)
    compared = [t for t in json.loads(figure.to_json())["data"] if t["name"] != "surface"]
    assert len(compared) > 12
    for trace in compared:
        for axis in "xy":
            np.testing.assert_allclose(
                plain(shown[trace["name"]][axis]), plain(trace[axis]), rtol=1e-5, atol=1e-6
            )
        if trace.get("marker", {}).get("symbol") == "arrow":
            np.testing.assert_allclose(
                shown[trace["name"]]["marker"]["size"], plain(trace["marker"]["size"]), atol=1e-6
            )


@mark.browser
def test_in_every_phase_the_page_draws_the_step_of_the_figure(page, family):
    at(page, "method=sabma&radius=2&draws=4&tab=Radius", "sabma/2/4", "Radius")
    there(page, len(PHASES) - 1)  # nothing chosen: the whole step
    slider = page.get_by_label("phase of the step")
    for place, phase in reversed(list(enumerate(PHASES))):
        slider.fill(str(place))
        there(page, place)
        assert slider.get_attribute("aria-valuetext") == f"{place + 1} of 5: {phase}"
        assert f"; {phase}. SA-BMA" in page.locator(
            "[data-name=mechanism] [role=group]"
        ).first.get_attribute("aria-label")
        assert page.locator(".fv-phases output").inner_text().startswith(f"{phase}: ")
        same_step(
            page,
            "mechanism",
            fv.widgets.plot_view(family, "mechanism", method="sabma", radius=2.0, phase=phase),
        )
    shown = traces(page, "mechanism")
    # Before the ascent it is q
    assert [shown["the worst q′"][axis] for axis in "xy"] == [shown["q"][axis] for axis in "xy"]


def played(page, ms=100):
    """Play the step; [phase that stands, or None; place of q'; place of the dot] every so many ms,
    until it is over."""
    button = page.locator(".fv-phases button")
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)
    button.click()
    found = []
    for _ in range(20_000 // ms):
        page.clock.run_for(ms)
        found.append(page.evaluate(PLACE))
        if button.inner_text() == "Play the step":
            return found
    raise AssertionError("it plays on and on")


def on_the_way(points, a, b):
    """Whether all points lie between a and b, in the order in which they were drawn."""
    a, b, points = (np.array(v, float) for v in (a, b, points))
    if (a == b).all():
        return np.allclose(points, a, atol=1e-5)
    shares = (points - a) @ (b - a) / ((b - a) @ (b - a))
    straight = np.allclose(points, a + shares[:, None] * (b - a), atol=1e-5)
    return straight and bool(
        (np.diff(shares) >= -1e-6).all() and shares.min() >= -1e-6 and shares.max() <= 1 + 1e-6
    )


@mark.browser
def test_play_goes_through_the_phases_once_and_everything_glides(visit, address, family):
    page = visit(address + "#method=sabma&radius=2&draws=4&tab=Radius&phase=1", clock=True)
    there(page, 0)
    found = [[None, *page.evaluate(PLACE)[1:]], *played(page)]
    names = [
        name for name, _ in itertools.groupby(phase for phase, *_ in found[1:] if phase is not None)
    ]
    assert names[-4:] == ["1", "2", "3", "4"]
    assert len(names) <= 5
    figures = [
        fv.widgets.plot_view(family, "mechanism", method="sabma", radius=2.0, phase=phase)
        for phase in PHASES
    ]
    traces = [
        {
            t["name"]: [plain(t[axis])[0] for axis in "xy"]
            for t in json.loads(f.to_json())["data"][1:]
        }
        for f in figures
    ]
    stands = [
        next(k for k, (phase, *_) in enumerate(found) if phase == str(p)) for p in range(1, 5)
    ]
    for p, (begin, end) in enumerate(itertools.pairwise([0, *stands])):
        between = [row for row in found[begin:end] if row[0] is None]
        assert len(between) >= 8  # 900 ms, one in 100
        for column, name in ((1, "the worst q′"), (2, "the mean now")):
            assert on_the_way(
                [row[column] for row in between], traces[p][name], traces[p + 1][name]
            )
    page.get_by_role("button", name="Undo").click()  # one step, however far it played
    page.clock.run_for(2000)
    there(page, 0)
    assert page.get_by_role("button", name="Undo").is_disabled()


def test_two_states_of_the_step_have_one_scale_and_the_caption_is_of_the_method(page):
    at(
        page,
        "#method=sabma&radius=2&draws=3&tab=Radius&b=0.2:sam_mu",
        "sabma/2/3",
        "Radius | sam_mu/0.2",
    )
    ends = page.evaluate(
        """() => [...document.querySelectorAll('[data-name=mechanism] .js-plotly-plot')].map(
      (p) => [p._fullLayout.xaxis.range, p._fullLayout.yaxis.range])"""
    )
    assert len(ends) == 2
    assert ends[0] == ends[1]
    caption = page.locator("[data-name=mechanism] figcaption")
    for hash, state, formula in (
        ("#method=sam_mu&radius=0.2&draws=3&tab=Radius", "sam_mu/0.2/3", "Δ = radius g / |g|"),
        ("#method=sabma&radius=0&draws=3&tab=Radius", "sabma/0/3", "At radius 0 there is no ball"),
        ("#method=sabma&radius=2&draws=3&tab=Radius", "sabma/2/3", "Δ = radius F⁻¹g"),
    ):
        at(page, hash, state, "Radius")
        assert formula in caption.text_content()
