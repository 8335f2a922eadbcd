"""The page: one file, nothing from elsewhere, and in a browser without network its sliders draw what plot_* draws."""

import base64
import dataclasses
import json
import re

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
import pytest
import torch
from browsing import DRAWN, SLOW, answer, plain, watched
from pagedrive import data_of

import flatviz as fv
from flatviz.pages import views
from flatviz.pages.bundle import pack, pack_members
from flatviz.pages.document import Script, json_for_html
from flatviz.pages.page import family_page, front_end
from flatviz.pages.table import family_rows, text_table, three
from flatviz.widgets.view import FamilyView


@pytest.fixture(scope="module")
def page_text(family):
    rows = family_rows(family)
    return family_page(
        family, title="a <page>", lead="lead", rows=rows, facts={"task": "digits </script>"}, start=("sabma", 0.5, 3)
    )


def test_the_page_holds_the_front_end_as_it_is_and_loads_nothing(page_text):
    from plotly.offline import get_plotlyjs

    plotlyjs = get_plotlyjs()
    rest = page_text.replace(plotlyjs, "")
    assert front_end() in rest and len(rest) < len(page_text) - 1_000_000
    assert not re.search(r"""(src|href)\s*=\s*["'](https?:)?//""", rest)
    assert not re.search(r"@import|import\s+.*from\s+['\"]http", rest)
    assert len(rest.encode()) < 5e6
    assert "digits &lt;/script&gt;" in rest and "<title>a &lt;page&gt;</title>" in rest


def test_records_hold_each_members_numbers_in_the_order_of_the_index(family):
    bundle = pack(family)
    index = json.loads(bundle.text)
    records = np.frombuffer(bundle.buffer, "<f4").reshape(len(family), index["record"])
    for record, meta, shown, prediction in zip(records, index["members"], family.projection, family.prediction):
        assert meta["unit"] == family.unit[family.index(meta["method"], meta["radius"])]
        x, nll = (read(record, index["fields"][name]) for name in (field_of(index, "surface", "samples", "x"), "nll"))
        n = len(shown.coords)
        np.testing.assert_allclose(x[:n], shown.coords[:, 0], rtol=1e-6)
        assert np.isnan(x[n:]).all()  # MAP is one sample
        np.testing.assert_allclose(nll[:n], prediction.scores["nll"], rtol=1e-6)
        np.testing.assert_allclose(nll[n:], prediction.scores["nll"][-1], rtol=1e-6)  # and a horizontal line


def read(record, field):
    size = int(np.prod(field["shape"]))
    return record[field["offset"] : field["offset"] + size].reshape(field["shape"])


def field_of(index, figure, trace, path):
    """The field that a property of a trace of a figure follows."""
    figure = next(f for f in index["figures"] if f["name"] == figure)
    (k,) = [k for k, t in enumerate(figure["data"]) if t["name"] == trace]
    return next(b["field"] for b in figure["binds"] if b["path"] == f"data.{k}.{path}")


def test_members_packed_later_carry_the_same_record_and_only_they_are_packed(family, monkeypatch):
    whole, last = pack(family), len(family) - 1
    drawn = []
    counted = [dataclasses.replace(v, draw=lambda s, i, v=v: (drawn.append(i), v.draw(s, i))[1]) for v in views.VIEWS]
    monkeypatch.setattr(views, "VIEWS", tuple(counted))
    late = pack_members(whole, family, [last])
    assert whole.buffer.endswith(late.buffer) and set(drawn) == {last}
    first = pack(family_of(family, range(last)))
    both = first.with_members(late)
    assert json.loads(both.text)["members"] == json.loads(whole.text)["members"] and both.buffer == whole.buffer


def family_of(family, members):
    return dataclasses.replace(family, members=tuple(family[i] for i in members))


def toy(scene, i):
    fig = fv.plots.theme.figure("Distances", "distance of each draw")
    distance = scene.family.projection[i].distance.numpy()
    fig.add_live(go.Scatter(y=distance, mode="markers", name="toy draws"), "y", rows="draws")
    fig.update_yaxes(range=[0, float(distance.max())])
    return fig


def test_a_view_is_one_entry_and_then_in_page_and_lab(family, monkeypatch):
    monkeypatch.setattr(views, "VIEWS", (*views.VIEWS, views.View("toy", toy, "A toy.", shared=("yaxis",))))
    rows = family_rows(family)
    page = family_page(family, title="t", lead="", rows=rows, facts={}, start=("vi", 0.0, 1))
    view, sent = FamilyView(), []
    view.channel.send = lambda content, buffers=None: sent.append((content, buffers[0]))
    view.show_family(family, stops={})
    (content, buffer), *_ = sent
    for index in (data_of(page, "flatviz-index"), json.loads(content["index"])):
        assert index["figures"][-1]["caption"] == "A toy."
        record = np.frombuffer(buffer, "<f4").reshape(len(family), index["record"])[-1]
        drawn = read(record, index["fields"][field_of(index, "toy", "toy draws", "y")])
        np.testing.assert_array_equal(drawn, family.projection[-1].distance)
        assert index["members"][-1]["ranges"]["toy"]["yaxis"] == [0, float(family.projection[-1].distance.max())]


def test_a_family_that_was_not_measured_is_refused(family):
    bare = family_of(family, [0]).each(prediction=[None])
    with pytest.raises(
        ValueError, match="the family must be measured before it is shown, got posteriors only: use fv.families.measure"
    ):
        pack(bare)


def test_the_table_has_a_row_for_each_posterior_and_radius_zero_stands_as_vi(family):
    rows = family_rows(family)
    assert [(r["method"], r["radius"]) for r in rows] == [
        ("SGD (MAP)", ""), ("VI", ""), ("SAM on the mean", "0.2"), ("SA-BMA", "0.5"), ("SA-BMA", "2")
    ]  # fmt: skip
    last = family.prediction[-1].scores
    assert rows[-1]["accuracy"] == f"{100 * float(last['accuracy'][-1]):.1f} %"
    assert rows[-1]["NLL"] == f"{float(last['nll'][-1]):.3f}"
    lines = text_table(rows).splitlines()
    assert len(lines) == 2 + len(rows) and len({len(line) for line in lines[2:]}) == 1


@pytest.mark.browser
def test_in_a_browser_without_network_both_sliders_and_the_menu_draw_what_the_plot_functions_draw(
    family, page_text, browser, tmp_path
):
    path = tmp_path / "tour.html"
    path.write_text(page_text, encoding="utf-8")
    context = browser.new_context(viewport={"width": 1440, "height": 950})
    context.set_offline(True)
    page, foreign, errors = watched(context, "file:")
    page.on("console", lambda m: errors.append(m.text) if m.type in ("error", "warning") else None)
    page.goto(path.as_uri() + "#tab=All", wait_until="commit")
    explorer = page.locator(".flatviz[data-state]")
    explorer.wait_for()
    assert explorer.get_attribute("data-state") == "sabma/0.5/3"
    check_drawn(explorer.evaluate(DRAWN), family, "sabma", 0.5, 3)

    page.get_by_label("radius", exact=True).fill("2")  # the stop of radius 2
    page.locator(".flatviz[data-state='sabma/2/3']").wait_for()
    check_drawn(explorer.evaluate(DRAWN), family, "sabma", 2.0, 3)
    assert "2 √(2 KL in nats)" in page.locator(".fv-controls").inner_text()

    assert "sharpest" in explorer.evaluate(DRAWN)
    page.get_by_label("plane of this picture").select_option("random directions")
    page.locator("[data-name=around] .main-svg").first.wait_for()
    check_drawn(explorer.evaluate(DRAWN), family, "sabma", 2.0, 3)

    page.get_by_label("ensemble size", exact=True).fill("6")
    page.locator(".flatviz[data-state='sabma/2/6']").wait_for()
    check_drawn(explorer.evaluate(DRAWN), family, "sabma", 2.0, 6)

    page.get_by_label("radius", exact=True).fill("0")
    page.locator(".flatviz[data-state='sabma/0/6']").wait_for()
    assert "(= VI)" in page.locator(".fv-controls").inner_text()

    page.get_by_label("method", exact=True).select_option("sam_mu")  # another unit: the radius is not carried over
    page.locator(".flatviz[data-state='sam_mu/0.2/6']").wait_for()
    check_drawn(explorer.evaluate(DRAWN), family, "sam_mu", 0.2, 6)

    page.get_by_label("method", exact=True).select_option("sgd")
    page.locator(".flatviz[data-state='sgd/0/6']").wait_for()
    assert page.get_by_label("radius", exact=True).is_disabled()
    assert page.locator(".js-plotly-plot .main-svg").count() >= 6
    assert not page.get_by_text("Share").count() and not page.locator("[data-title*='Chart Studio']").count()
    assert not page.locator(".modebar-btn").count()  # one menu instead
    page.get_by_role("tab", name="Flatness").click()
    page.locator(".flatviz[data-look=Flatness]").wait_for()
    page.locator(".fv-menu summary").click()
    with page.expect_download() as saved:  # an image of blob:, which the policy allows
        page.get_by_text("Save as PNG").click()
    assert saved.value.path().stat().st_size > 1000 and saved.value.suggested_filename.startswith("flatviz-")
    assert not foreign and not errors
    context.close()


FILM = """async (url) => {
  const video = document.createElement('video'), canvas = document.createElement('canvas'), shown = [];
  video.muted = true;
  await new Promise((done, failed) => { video.onloadeddata = done; video.onerror = failed; video.src = url; });
  for (const share of [0.08, 0.48, 0.95]) {                // radius 0, the largest, 0 again
    await new Promise((done) => { video.onseeked = done; video.currentTime = share * video.duration; });
    Object.assign(canvas, { width: video.videoWidth, height: video.videoHeight });
    canvas.getContext('2d').drawImage(video, 0, 0);
    shown.push([...canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data]);
  }
  const far = (a, b) => a.filter((v, i) => Math.abs(v - b[i]) > 90).length;
  return { width: video.videoWidth, there: far(shown[0], shown[1]), back: far(shown[0], shown[2]) };
}"""


@pytest.mark.browser
def test_the_film_of_the_radius_goes_there_and_back_and_the_page_stands_where_it_stood(page_text, browser, tmp_path):
    page, reports = opened(browser, page_text, tmp_path / "tour.html")
    page.locator(".flatviz[data-state='sabma/0.5/3']").wait_for()
    page.locator(".fv-menu summary").click()
    with page.expect_download() as saved:
        page.get_by_text("Save film of the radius").click()
    page.locator(".flatviz[data-state='sabma/0.5/3']").wait_for()
    name, film = saved.value.suggested_filename, saved.value.path().read_bytes()
    assert name.startswith("flatviz-sabma-radius.") and not reports
    page.goto("about:blank")  # the policy of a page allows no video
    seen = answer(page, FILM, f"data:video/{name.rpartition('.')[2]};base64,{base64.b64encode(film).decode()}")
    assert seen["width"] > 400 and seen["there"] > 500 > 10 * seen["back"]
    page.context.close()


NASTY = '"</script><script>window.injected = 1</script><img src=x onerror="window.injected = 2">\u2028'


def test_what_stands_in_a_script_cannot_end_it():
    text = json_for_html({NASTY: [NASTY, "&<!--"]})
    assert not set(text) & set("<>&\u2028\u2029") and json.loads(text) == {NASTY: [NASTY, "&<!--"]}
    with pytest.raises(ValueError, match="must not hold </script"):
        _ = Script("f('</SCRIPT>')").html


def opened(browser, text, path):
    """The page with this text, and the errors and reports of its console."""
    path.write_text(text, encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(SLOW)
    reports = []
    page.on("console", lambda m: reports.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda e: reports.append(str(e)))
    page.goto(path.as_uri(), wait_until="commit")
    return page, reports


@pytest.mark.browser
def test_a_nasty_method_name_title_or_caption_is_shown_and_does_not_run(family, browser, tmp_path, monkeypatch):
    nasty_view = dataclasses.replace(views.VIEWS[0], caption=NASTY)
    monkeypatch.setattr(views, "VIEWS", (nasty_view, *views.VIEWS[1:]))
    named = family.each(method=[NASTY if m == "sabma" else m for m in family.method])
    text = family_page(named, title=NASTY, lead=NASTY, rows=family_rows(named), facts={NASTY: NASTY}, start=(NASTY, 0.5, 3))
    page, reports = opened(browser, text, tmp_path / "nasty.html")
    page.locator(".flatviz[data-state]").wait_for()
    assert page.locator(".flatviz").get_attribute("data-state") == f"{NASTY}/0.5/3"
    assert page.evaluate("window.injected") is None and not reports
    assert NASTY.strip() in page.locator("figcaption").first.inner_text()
    page.close()


@pytest.mark.browser
def test_a_page_runs_no_script_but_its_own(page_text, browser, tmp_path):
    inside = "<p onclick='window.injected = 1'>x</p><script>window.injected = 2</script>"
    page, reports = opened(browser, page_text.replace("<main>", "<main>" + inside), tmp_path / "altered.html")
    page.locator(".flatviz[data-state]").wait_for()
    page.locator("main > p").first.dispatch_event("click")
    assert page.evaluate("window.injected") is None and all("Content Security Policy" in r for r in reports) and reports
    page.close()


def check_drawn(drawn, family, method, radius, n):
    """The figures of the page against the plot functions, on the same member."""
    i = family.index(method, radius)
    p = family.projection[i]
    fewer = dataclasses.replace(p, coords=p.coords[:n], distance=p.distance[:n], values=p.values[:n])
    colors = views.Scene(family).colors
    same_trace(drawn["surface"], fv.plot_surface(family.surface, fewer, **colors), "samples", "x", "y", "marker.line.color")
    same_trace(drawn["surface"], fv.plot_surface(family.surface, fewer, **colors), "surface", "z")
    for name in {"around", "sharpest"} & set(drawn):  # one of the two
        basin = fv.plots.plot_basin(getattr(family, name)[i], color_range=views.Scene(family).rises[name])
        same_trace(drawn[name], basin, "surface", "z")
        same_trace(drawn[name], basin, "level", "z")
    same_trace(drawn["hidden"], fv.plot_projection(fewer, **colors), "samples", "x", "y")
    same_trace(drawn["spectrum"], fv.plot_spectrum(family.spectrum[i], method=method), "draws", "y")
    same_trace(drawn["reliability"], fv.plots.plot_reliability(family.prediction[i], n_draws=n, method=method), "accuracy", "y")
    same_trace(drawn["reliability"], fv.plots.plot_reliability(family.prediction[i], n_draws=n, method=method), "count", "y")
    mine = fv.plot_metrics(family.prediction[i], method=method, reference={"sgd": family.prediction[0]}, n_draws=n)
    shown = [t for t in drawn["metrics"]["data"] if t["name"] != "noise"]
    wanted = [t for t in mine.data if t.name != "noise"]
    for row in range(3):  # the last curve of each row is the selected method's
        curves = shown[row * 3 : row * 3 + 3]
        y = [v for v in curves[-1]["y"] if v is not None and v == v]
        np.testing.assert_allclose(y, wanted[2 * row + 1].y, rtol=2e-5)
        assert curves[-1]["name"] == wanted[1].name and curves[-1]["line"]["color"] == wanted[1].line.color
    assert drawn["metrics"]["shapes"][0]["x0"] == n


def same_trace(drawn, figure, name, *paths):
    expected = next(t for t in json.loads(pio.to_json(figure))["data"] if t["name"] == name)
    shown = next(t for t in drawn["data"] if t["name"] == name)
    for path in paths:
        mine, its = shown, expected
        for key in path.split("."):
            mine, its = mine[key], its[key]
        np.testing.assert_allclose(plain(mine), plain(its), rtol=2e-5, atol=1e-6, err_msg=f"{name} {path}")


def test_diverged_draws_and_cells_do_not_break_the_page(family):
    values = family.surface.values.clone()
    values[0, 0] = torch.inf
    p = family.projection[-1]
    broken = p.values.clone()
    broken[0] = torch.nan
    worse = family.each(projection=[*family.projection[:-1], dataclasses.replace(p, values=broken)])
    worse = dataclasses.replace(worse, surface=dataclasses.replace(family.surface, values=values))
    index = json.loads(pack(worse).text)  # no NaN in the JSON text: a browser would refuse it
    assert any("1 cell diverged" in json.dumps(f["layout"]) for f in index["figures"])


def test_measured_numbers_keep_their_zeros():
    assert [three(v) for v in (2.0, 2.4, 0.5, 14.26, 320.4, 0.0)] == ["2.00", "2.40", "0.500", "14.3", "320", "0.00"]
