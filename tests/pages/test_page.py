"""The page: one file, nothing from elsewhere, and in a browser without network its sliders draw what plot_* draws."""

import base64
import dataclasses
import json
import re

import numpy as np
import plotly.io as pio
import pytest
import torch
from browsing import DRAWN, watched

import flatviz as fv
from flatviz.pages.bundle import color_scale, pack, pack_members
from flatviz.pages.page import EXPLORER, family_page
from flatviz.pages.table import family_rows, text_table, three


@pytest.fixture(scope="module")
def page_text(family):
    rows = family_rows(family)
    return family_page(
        family, title="a <page>", lead="lead", rows=rows, facts={"task": "digits </script>"}, start=("sabma", 0.5, 3)
    )


def test_the_page_holds_the_explorer_file_as_it_is_and_loads_nothing(page_text):
    from plotly.offline import get_plotlyjs

    plotlyjs = get_plotlyjs()
    own = page_text.replace(plotlyjs, "")
    assert EXPLORER.read_text(encoding="utf-8") in own and len(own) < len(page_text) - 1_000_000
    assert not re.search(r"""(src|href)\s*=\s*["'](https?:)?//""", own)
    assert not re.search(r"@import|import\s+.*from\s+['\"]http", own)
    assert len(own.encode()) < 5e6
    assert "digits &lt;/script&gt;" in own and "<title>a &lt;page&gt;</title>" in own


def test_records_hold_each_members_numbers_in_the_order_of_the_index(family):
    bundle = pack(family)
    index = json.loads(bundle.index)
    records = np.frombuffer(bundle.buffer, "<f4").reshape(len(family), index["record"])
    for record, meta, shown, prediction in zip(records, index["members"], family.projection, family.prediction):
        assert meta["unit"] == family.unit[family.index(meta["method"], meta["radius"])]
        x, nll = (read(record, index["fields"][name]) for name in ("x", "nll"))
        n = len(shown.coords)
        np.testing.assert_allclose(x[:n], shown.coords[:, 0], rtol=1e-6)
        assert np.isnan(x[n:]).all()  # MAP is one sample
        np.testing.assert_allclose(nll[:n], prediction.scores["nll"], rtol=1e-6)
        np.testing.assert_allclose(nll[n:], prediction.scores["nll"][-1], rtol=1e-6)  # and a horizontal line


def read(record, field):
    size = int(np.prod(field["shape"]))
    return record[field["offset"] : field["offset"] + size].reshape(field["shape"])


def test_members_packed_later_carry_the_same_record(family):
    whole, late = pack(family), pack_members(family, [len(family) - 1])
    assert whole.buffer.endswith(late.buffer)
    assert json.loads(whole.index)["record"] == json.loads(late.index)["record"]


def test_a_family_that_was_not_measured_is_refused(family):
    bare = fv.Family(family.method, family.radius, family.unit, family.posterior)
    with pytest.raises(ValueError, match="the family must be measured before it is shown, got posteriors only: use fv.measure"):
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
    page.goto(path.as_uri(), wait_until="commit")
    explorer = page.locator(".flatviz[data-state]")
    explorer.wait_for()
    assert explorer.get_attribute("data-state") == "sabma/0.5/3"
    check_drawn(explorer.evaluate(DRAWN), family, "sabma", 0.5, 3)

    page.get_by_label("radius").fill("2")  # the stop of radius 2
    page.locator(".flatviz[data-state='sabma/2/3']").wait_for()
    check_drawn(explorer.evaluate(DRAWN), family, "sabma", 2.0, 3)
    assert "2 √(2 KL in nats)" in page.locator(".fv-controls").inner_text()

    page.get_by_label("ensemble size").fill("6")
    page.locator(".flatviz[data-state='sabma/2/6']").wait_for()
    check_drawn(explorer.evaluate(DRAWN), family, "sabma", 2.0, 6)

    page.get_by_label("radius").fill("0")
    page.locator(".flatviz[data-state='sabma/0/6']").wait_for()
    assert "(= VI)" in page.locator(".fv-controls").inner_text()

    page.get_by_label("method").select_option("sam_mu")  # another unit: the radius is not carried over
    page.locator(".flatviz[data-state='sam_mu/0.2/6']").wait_for()
    check_drawn(explorer.evaluate(DRAWN), family, "sam_mu", 0.2, 6)

    page.get_by_label("method").select_option("sgd")
    page.locator(".flatviz[data-state='sgd/0/6']").wait_for()
    assert page.get_by_label("radius").is_disabled()
    assert page.locator(".js-plotly-plot .main-svg").count() >= 6
    assert not page.get_by_text("Share").count() and not page.locator("[data-title*='Chart Studio']").count()
    assert not foreign and not errors
    context.close()


def check_drawn(drawn, family, method, radius, n):
    """The figures of the page against the plot functions, on the same member."""
    i = family.index(method, radius)
    p = family.projection[i]
    fewer = dataclasses.replace(p, coords=p.coords[:n], distance=p.distance[:n], values=p.values[:n])
    scale = color_scale(family)
    colors = dict(color_range=(scale.lo, scale.hi), log=scale.log)
    same_trace(drawn["surface"], fv.plot_surface(family.surface, fewer, **colors), "samples", "x", "y", "marker.color")
    same_trace(drawn["surface"], fv.plot_surface(family.surface, fewer, **colors), "surface", "z")
    same_trace(drawn["around"], fv.plot_surface(family.around[i], **colors), "surface", "z")
    same_trace(drawn["hidden"], fv.plot_projection(fewer, **colors), "samples", "x", "y")
    same_trace(drawn["spectrum"], fv.plot_spectrum(family.spectrum[i], method=method), "draws", "y")
    same_trace(drawn["reliability"], fv.plot_reliability(family.prediction[i], n_draws=n, method=method), "accuracy", "y")
    same_trace(drawn["reliability"], fv.plot_reliability(family.prediction[i], n_draws=n, method=method), "count", "y")
    mine = fv.plot_metrics({"selected": family.prediction[i]}, n_draws=n)
    same_trace(drawn["metrics"], mine, "selected", "y")
    assert drawn["metrics"]["shapes"][0]["x0"] == n


def same_trace(drawn, figure, name, *paths):
    expected = next(
        t for t in json.loads(pio.to_json(figure))["data"] if name in (t.get("name"), t.get("legendgroup"), t.get("meta"))
    )
    found = next(t for t in drawn["data"] if name in (t.get("name"), t.get("legendgroup"), t.get("meta")))
    for path in paths:
        mine, its = found, expected
        for key in path.split("."):
            mine, its = mine[key], its[key]
        np.testing.assert_allclose(plain(mine), plain(its), rtol=2e-5, atol=1e-6, err_msg=f"{name} {path}")


def plain(values):
    """Numbers as plotly keeps them: lists, or typed arrays as text; an open cell is None."""
    if isinstance(values, dict) and "bdata" in values:
        flat = np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).astype(float)
        return flat.reshape([int(s) for s in values["shape"].split(",")]) if "shape" in values else flat
    return np.array(values, float)


def test_diverged_draws_and_cells_do_not_break_the_page(family):
    values = family.surface.values.clone()
    values[0, 0] = torch.inf
    p = family.projection[-1]
    broken = p.values.clone()
    broken[0] = torch.nan
    worse = dataclasses.replace(
        family,
        surface=dataclasses.replace(family.surface, values=values),
        projection=(*family.projection[:-1], dataclasses.replace(p, values=broken)),
    )
    index = json.loads(pack(worse).index)  # no NaN in the JSON text: a browser would refuse it
    assert any("1 cell diverged" in json.dumps(f["layout"]) for f in index["figures"])


def test_measured_numbers_keep_their_zeros():
    assert [three(v) for v in (2.0, 2.4, 0.5, 14.26, 320.4, 0.0)] == ["2.00", "2.40", "0.500", "14.3", "320", "0.00"]
