"""The page: one file, nothing from elsewhere, and in a browser without network its sliders draw
what plot_* draws."""

import base64
import dataclasses
import json
import re

import numpy as np
import plotly.graph_objects as go
from browsing import answer, in_page, plain
from cases import refused
from internals import family_page, pack, pack_members
from pagedrive import data_of, opened
from pytest import fixture, mark

import flatviz as fv
from flatviz.pages import views
from flatviz.pages.document import Script, family_rows, json_for_html
from flatviz.pages.dots import dots_html


def text_of(family, start=("sabma", 0.5, 3), **told):
    """The text of the family's page."""
    rows = family_rows(family)
    given = dict(title="a <page>", lead="lead", facts={}, story=(), rows=rows)
    return family_page(family, start=start, **given | told)


@fixture(scope="module")
def page_text(family):
    return text_of(family, facts={"task": "digits </script>"})


@fixture
def save(tmp_path):
    """Write a text to a file; its address."""

    def saved(text):
        path = tmp_path / "page.html"
        path.write_text(text, encoding="utf-8")
        return path.as_uri()

    return saved


def test_members_packed_later_carry_the_same_record(family, bundle):
    last = len(family) - 1
    late = pack_members(bundle, family, [last])
    assert bundle.buffer.endswith(late.buffer)
    first = dataclasses.replace(family, members=family.members[:last])
    both = pack(first).with_members(late)
    assert both.index["members"] == bundle.index["members"]
    assert both.buffer == bundle.buffer


def toy(scene, i):
    fig = fv.plots.theme.figure("Distances", "distance of each draw")
    distance = scene.family.projection[i].distance.numpy()
    fig.add_live(
        go.Scatter(
            y=distance,
            mode="markers",
            name="toy draws",
        ),
        "y",
        rows="draws",
    )
    fig.update_yaxes(range=[0, float(distance.max())])
    return fig


def test_a_view_is_one_entry_and_then_in_page_and_lab(family, monkeypatch):
    view = views.View("toy", toy, "A toy.", shared=("yaxis",))
    monkeypatch.setattr(views, "VIEWS", (*views.VIEWS, view))
    bundle = pack(family)
    records = np.frombuffer(bundle.buffer, "<f4").reshape(len(family), -1)
    distance = family.projection[-1].distance
    for index in (data_of(text_of(family), "flatviz-index"), json.loads(bundle.text)):
        figure = index["figures"][-1]
        assert figure["caption"] == "A toy."
        (field,) = [bind["field"] for bind in figure["binds"] if bind["path"] == "data.0.y"]
        offset = index["fields"][field]["offset"]
        kept = records[-1, offset : offset + len(distance)]
        np.testing.assert_array_equal(kept, distance)
        assert index["members"][-1]["ranges"]["toy"]["yaxis"] == [0, float(distance.max())]


def test_the_table_has_a_row_for_each_posterior_and_radius_zero_stands_as_vi(family):
    rows = family_rows(family)
    assert [(row["method"], row["radius, T"]) for row in rows] == [
        ("SGD (MAP)", ""),
        ("VI", ""),
        ("SAM on the mean", "0.2"),
        ("SA-BMA", "0.5"),
        ("SA-BMA", "2"),
    ]
    last = family.prediction[-1].scores
    assert rows[-1]["accuracy"] == f"{100 * float(last['accuracy'][-1]):.1f} %"
    assert rows[-1]["NLL"] == f"{float(last['nll'][-1]):.3f}"


def test_each_posterior_has_a_dot_at_its_mean_over_seeds(family):
    dots = re.findall(r"<div style=.*?</div>", dots_html(family))
    marks = [float(re.findall(r"--at:([-\d.]+)", dot)[1]) for dot in dots]
    nll = np.array([float(p.scores["nll"][-1]) for p in family.prediction])
    places = 100 * (nll - nll.min()) / np.ptp(nll)
    of = {id(q): place for q, place in zip(family.posterior, places)}  # radius 0 is VI's
    np.testing.assert_allclose(marks, list(of.values()), atol=0.06)  # written with one digit


@mark.browser
def test_without_network_sliders_have_their_radius_in_words_and_the_menu_saves_a_picture(
    page_text, visit, save
):
    assert len(page_text.encode()) < 10e6  # half of it is plotly.js
    page = visit(f"{save(page_text)}#tab=All", width=1440, height=950, offline=True)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    for name, value, state in (
        ("radius", "2", "sabma/2/3"),
        ("radius", "0", "sabma/0/3"),
        ("method", "sam_mu", "sam_mu/0.2/3"),  # another unit: the radius is not carried over
        ("method", "sgd", "sgd/0/3"),
    ):
        control = page.get_by_label(name, exact=True)
        if name == "method":
            control.select_option(value)
        else:
            control.fill(value)
        page.locator(f".flatviz[data-state='{state}']").wait_for()
        said = page.locator(".fv-controls").inner_text()
        assert ("2 × the width of q" in said) == (state == "sabma/2/3")
        assert ("(= VI)" in said) == (state == "sabma/0/3")
    assert page.get_by_label("radius", exact=True).is_disabled()
    assert not page.locator(".modebar-btn").count()  # one menu instead
    page.get_by_role("tab", name="Flatness").click()
    page.locator(".flatviz[data-look=Flatness]").wait_for()
    page.locator(".fv-menu summary").click()
    with page.expect_download() as saved:  # an image of blob:, which the policy allows
        page.get_by_text("Save as PNG").click()
    assert saved.value.path().stat().st_size > 1000
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked)


def arrays(fig, name, keys):
    """The finite numbers of a trace."""
    (trace,) = [t for t in json.loads(fig.to_json())["data"] if t["name"] == name]
    values = [plain(trace[key]) for key in keys]
    return [v[np.isfinite(v)] for v in values]


def test_views_draw_what_the_plot_functions_draw(family):
    i = family.index("sabma", 2.0)
    whole = family.prediction[i]
    p = family.projection[i]
    parts = {name: getattr(p, name)[:3] for name in ("coords", "distance", "values")}
    three = dataclasses.replace(p, **parts)
    for name, n, figure, trace, keys in (
        ("surface", 3, fv.plot_surface(family.surface, three), "samples", "xy"),
        ("surface", 3, fv.plot_surface(family.surface, three), "surface", "z"),
        ("around", 3, fv.plots.plot_basin(family.around[i]), "surface", "z"),
        ("hidden", 3, fv.plot_projection(three), "samples", "xy"),
        ("spectrum", 3, fv.plot_spectrum(family.spectrum[i], method="sabma"), "draws", "y"),
        ("reliability", whole.n_draws, fv.plots.plot_reliability(whole), "accuracy", "y"),
    ):
        view = fv.widgets.plot_view(
            family,
            name,
            method="sabma",
            radius=2.0,
            n_draws=n,
        )
        for mine, its in zip(arrays(view, trace, keys), arrays(figure, trace, keys)):
            np.testing.assert_allclose(
                mine,
                its,
                rtol=2e-5,
                atol=1e-6,
                err_msg=name,
            )
    with refused("view must be one of 'surface'.*got 'nope'"):
        fv.widgets.plot_view(family, "nope")


@mark.parametrize("name", ["sharpest", "around"])
def test_a_relief_has_the_heights_that_the_map_has_as_colours_and_they_are_kept_once(
    family, bundle, name
):
    kept = []
    drawn = []
    for view in (name, f"{name} relief"):
        (entry,) = [figure for figure in bundle.index["figures"] if figure["name"] == view]
        kept += [bind["field"] for bind in entry["binds"] if bind["path"] == "data.0.z"]
        fig = fv.widgets.plot_view(family, view, method="sabma", radius=2.0)
        drawn.append(fig.data[0])
    flat, relief = drawn
    np.testing.assert_array_equal(flat.z, relief.z)
    np.testing.assert_array_equal(flat.customdata, relief.customdata)
    assert kept[0] == kept[1]


def test_every_bind_of_a_view_names_a_field_or_words_that_are_there(bundle):
    index = bundle.index
    there = {*index["fields"], *index["members"][0]["words"]}
    for figure in index["figures"]:
        assert {bind["field"] for bind in figure["binds"]} <= there


@mark.browser
def test_the_film_of_the_radius_goes_there_and_back_and_the_page_stands_where_it_stood(
    page_text, visit, save
):
    page = visit(save(page_text))
    page.locator(".fv-menu summary").click()
    with page.expect_download() as saved:
        page.get_by_text("Save film of the radius").click()
    page.locator(".flatviz[data-state='sabma/0.5/3']").wait_for()
    name, _, kind = saved.value.suggested_filename.partition(".")
    assert name == "flatviz-sabma-radius"
    film = base64.b64encode(saved.value.path().read_bytes()).decode()
    page.goto("about:blank")  # the policy of a page allows no video
    seen = answer(page, in_page("frames_of_a_film"), f"data:video/{kind};base64,{film}")
    assert seen["width"] > 400, seen
    assert seen["there"] > max(500, 5 * seen["back"]), seen


NASTY = (
    '"</script><script>window.injected = 1</script><img src=x onerror="window.injected = 2">\u2028'
)


def test_what_stands_in_a_script_cannot_end_it():
    text = json_for_html({NASTY: [NASTY, "&<!--"]})
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == {NASTY: [NASTY, "&<!--"]}
    with refused("must not hold </script"):
        _ = Script("f('</SCRIPT>')").html


@mark.browser
def test_a_nasty_method_name_title_or_fact_is_shown_and_does_not_run(family, visit, save):
    named = family.each(method=[NASTY if m == "sabma" else m for m in family.method])
    told = dict(title=NASTY, lead=NASTY, facts={NASTY: NASTY})
    page = visit(save(text_of(named, start=(NASTY, 0.5, 3), **told)))
    assert page.locator(".flatviz").get_attribute("data-state") == f"{NASTY}/0.5/3"
    assert page.locator("h1").inner_text().strip() == NASTY.strip()
    assert page.evaluate("window.injected") is None


@mark.browser
def test_a_page_runs_no_script_but_its_own(page_text, browser, save):
    inside = "<p onclick='window.injected = 1'>x</p><script>window.injected = 2</script>"
    page = opened(browser, save(page_text.replace("<main>", f"<main>{inside}")))
    page.locator("main > p").first.dispatch_event("click")
    assert page.evaluate("window.injected") is None
    assert page.errors_met
    assert all("Content Security Policy" in text for text in page.errors_met)
    page.context.close()
