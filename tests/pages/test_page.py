"""The page: one file, nothing from elsewhere, and in a browser without network its sliders draw
what plot_* draws."""

import base64
import dataclasses
import json
import re

import numpy as np
import plotly.graph_objects as go
from browsing import answer, in_page, plain
from internals import family_page, pack, pack_members
from pagedrive import data_of, opened
from pytest import fixture, mark, raises
from torch import tensor

import flatviz as fv
from flatviz.pages import views
from flatviz.pages.document import Script, family_rows, json_for_html
from flatviz.pages.dots import dots_html


@fixture(scope="module")
def page_text(family):
    told = dict(story=(), rows=family_rows(family), facts={"task": "digits </script>"})
    return family_page(family, title="a <page>", lead="lead", start=("sabma", 0.5, 3), **told)


def test_members_packed_later_carry_the_same_record(family, bundle):
    last = len(family) - 1
    late = pack_members(bundle, family, [last])
    assert bundle.buffer.endswith(late.buffer)
    both = pack(dataclasses.replace(family, members=family.members[:last])).with_members(late)
    assert json.loads(both.text)["members"] == json.loads(bundle.text)["members"]
    assert both.buffer == bundle.buffer


def toy(scene, i):
    fig = fv.plots.theme.figure("Distances", "distance of each draw")
    distance = scene.family.projection[i].distance.numpy()
    fig.add_live(go.Scatter(y=distance, mode="markers", name="toy draws"), "y", rows="draws")
    fig.update_yaxes(range=[0, float(distance.max())])
    return fig


def test_a_view_is_one_entry_and_then_in_page_and_lab(family, monkeypatch):
    monkeypatch.setattr(
        views, "VIEWS", (*views.VIEWS, views.View("toy", toy, "A toy.", shared=("yaxis",)))
    )
    page = family_page(
        family,
        title="t",
        lead="",
        rows=family_rows(family),
        facts={},
        start=("vi", 0.0, 1),
        story=(),
    )
    bundle = pack(family)
    distance = family.projection[-1].distance
    for index in (data_of(page, "flatviz-index"), json.loads(bundle.text)):
        figure = index["figures"][-1]
        assert figure["caption"] == "A toy."
        (field,) = [
            index["fields"][bind["field"]] for bind in figure["binds"] if bind["path"] == "data.0.y"
        ]
        record = np.frombuffer(bundle.buffer, "<f4").reshape(len(family), index["record"])[-1]
        np.testing.assert_array_equal(record[field["offset"] :][: len(distance)], distance)
        assert index["members"][-1]["ranges"]["toy"]["yaxis"] == [0, float(distance.max())]


def test_the_table_has_a_row_for_each_posterior_and_radius_zero_stands_as_vi(family):
    rows = family_rows(family)
    assert [(r["method"], r["radius, T"]) for r in rows] == [
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
    rows = re.findall(r"<div style=.*?</div>", dots_html(family))
    assert len(rows) == len(family_rows(family))
    nll = tensor([float(p.scores["nll"][-1]) for p in family.prediction])
    shown = [
        i
        for i, q in enumerate(family.posterior)
        if all(q is not earlier for earlier in family.posterior[:i])
    ]
    low = float(nll.min())
    at = [100 * (float(nll[i]) - low) / (float(nll.max()) - low) for i in shown]
    marks = [float(re.findall(r"--at:([-\d.]+)", row)[1]) for row in rows]
    np.testing.assert_allclose(marks, at, atol=0.06)  # written with one digit


@mark.browser
def test_without_network_sliders_have_their_radius_in_words_and_the_menu_saves_a_picture(
    page_text, visit, tmp_path
):
    assert len(page_text.encode()) < 10e6  # half of it is plotly.js
    page = visit(file_of(page_text, tmp_path) + "#tab=All", width=1440, height=950, offline=True)
    asked = []
    page.on(
        "request", lambda r: r.url.startswith(("file:", "data:", "blob:")) or asked.append(r.url)
    )
    for name, value, state in (
        ("radius", "2", "sabma/2/3"),
        ("radius", "0", "sabma/0/3"),
        ("method", "sam_mu", "sam_mu/0.2/3"),  # another unit: the radius is not carried over
        ("method", "sgd", "sgd/0/3"),
    ):
        control = page.get_by_label(name, exact=True)
        control.select_option(value) if name == "method" else control.fill(value)
        page.locator(f".flatviz[data-state='{state}']").wait_for()
        said = page.locator(".fv-controls").inner_text()
        assert ("2 × the width of q" in said) == ("/2/" in state)
        assert ("(= VI)" in said) == (state == "sabma/0/3")
    assert page.get_by_label("radius", exact=True).is_disabled()
    assert not page.locator(".modebar-btn").count()  # one menu instead
    page.get_by_role("tab", name="Flatness").click()
    page.locator(".flatviz[data-look=Flatness]").wait_for()
    page.locator(".fv-menu summary").click()
    with page.expect_download() as saved:  # an image of blob:, which the policy allows
        page.get_by_text("Save as PNG").click()
    assert saved.value.path().stat().st_size > 1000
    assert not asked


def test_views_draw_what_the_plot_functions_draw(family):
    i = family.index("sabma", 2.0)
    n = 3
    p = family.projection[i]
    whole = family.prediction[i]

    def view(name):
        # The function draws the whole ensemble
        n_draws = whole.n_draws if name == "reliability" else n
        return fv.widgets.plot_view(family, name, method="sabma", radius=2.0, n_draws=n_draws)

    fewer = dataclasses.replace(
        p, coords=p.coords[:n], distance=p.distance[:n], values=p.values[:n]
    )
    for name, figure, trace, keys in (
        ("surface", fv.plot_surface(family.surface, fewer), "samples", "xy"),
        ("surface", fv.plot_surface(family.surface, fewer), "surface", "z"),
        ("around", fv.plots.plot_basin(family.around[i]), "surface", "z"),
        ("hidden", fv.plot_projection(fewer), "samples", "xy"),
        ("spectrum", fv.plot_spectrum(family.spectrum[i], method="sabma"), "draws", "y"),
        ("reliability", fv.plots.plot_reliability(whole, method="sabma"), "accuracy", "y"),
    ):
        a, b = (
            next(t for t in json.loads(f.to_json())["data"] if t["name"] == trace)
            for f in (view(name), figure)
        )
        for key in keys:
            mine, its = (values[np.isfinite(values)] for values in (plain(a[key]), plain(b[key])))
            np.testing.assert_allclose(mine, its, rtol=2e-5, atol=1e-6, err_msg=f"{name} {key}")
    with raises(ValueError, match="view must be one of 'surface'.*got 'nope'"):
        fv.widgets.plot_view(family, "nope")


def test_a_relief_has_the_heights_that_the_map_has_as_colours_and_they_are_kept_once(
    family, bundle
):
    index = bundle.index
    entries = {f["name"]: f for f in index["figures"]}
    for name in ("sharpest", "around"):
        flat, relief = (
            fv.widgets.plot_view(family, n, method="sabma", radius=2.0)
            for n in (name, f"{name} relief")
        )
        np.testing.assert_array_equal(flat.data[0].z, relief.data[0].z)
        np.testing.assert_array_equal(flat.data[0].customdata, relief.data[0].customdata)
        kept = [
            {b["path"]: b["field"] for b in entries[n]["binds"]}["data.0.z"]
            for n in (name, f"{name} relief")
        ]
        assert kept[0] == kept[1]
    # Whatever is like another is drawn from what that one keeps
    for view in views.views_of(family):
        assert {b["field"] for b in entries[view.name]["binds"]} <= set(index["fields"]) | set(
            index["members"][0]["words"]
        )


FILM = in_page("frames_of_a_film")


@mark.browser
def test_the_film_of_the_radius_goes_there_and_back_and_the_page_stands_where_it_stood(
    page_text, visit, tmp_path
):
    page = visit(file_of(page_text, tmp_path))
    page.locator(".fv-menu summary").click()
    with page.expect_download() as saved:
        page.get_by_text("Save film of the radius").click()
    page.locator(".flatviz[data-state='sabma/0.5/3']").wait_for()
    name = saved.value.suggested_filename
    film = saved.value.path().read_bytes()
    assert name.startswith("flatviz-sabma-radius.")
    page.goto("about:blank")  # the policy of a page allows no video
    seen = answer(
        page, FILM, f"data:video/{name.rpartition('.')[2]};base64,{base64.b64encode(film).decode()}"
    )
    assert seen["width"] > 400 and seen["there"] > max(500, 5 * seen["back"]), seen


NASTY = (
    '"</script><script>window.injected = 1</script><img src=x onerror="window.injected = 2">\u2028'
)


def test_what_stands_in_a_script_cannot_end_it():
    text = json_for_html({NASTY: [NASTY, "&<!--"]})
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == {NASTY: [NASTY, "&<!--"]}
    with raises(ValueError, match="must not hold </script"):
        _ = Script("f('</SCRIPT>')").html


@mark.browser
def test_a_nasty_method_name_title_or_caption_is_shown_and_does_not_run(
    family, visit, tmp_path, monkeypatch
):
    nasty_view = dataclasses.replace(views.VIEWS[0], caption=NASTY)
    monkeypatch.setattr(views, "VIEWS", (nasty_view, *views.VIEWS[1:]))
    named = family.each(method=[NASTY if m == "sabma" else m for m in family.method])
    told = dict(title=NASTY, lead=NASTY, rows=family_rows(named), facts={NASTY: NASTY}, story=())
    text = family_page(named, start=(NASTY, 0.5, 3), **told)
    page = visit(file_of(text, tmp_path))
    assert page.locator(".flatviz").get_attribute("data-state") == f"{NASTY}/0.5/3"
    assert page.evaluate("window.injected") is None
    assert NASTY.strip() in page.locator("figcaption").first.inner_text()


@mark.browser
def test_a_page_runs_no_script_but_its_own(page_text, browser, tmp_path):
    inside = "<p onclick='window.injected = 1'>x</p><script>window.injected = 2</script>"
    page = opened(browser, file_of(page_text.replace("<main>", "<main>" + inside), tmp_path))
    page.locator("main > p").first.dispatch_event("click")
    met = page.errors_met
    assert page.evaluate("window.injected") is None
    assert all("Content Security Policy" in text for text in met)
    assert met
    page.context.close()


def file_of(text, folder):
    """The address of a file with this text."""
    (folder / "page.html").write_text(text, encoding="utf-8")
    return (folder / "page.html").as_uri()
