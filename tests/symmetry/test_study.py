"""The study in its small form: its sets, its rules, its command, its page without a kernel, its widget."""

import json
import time

import pytest
import torch
from browsing import WAIT, watched
from symmetric_networks import network

import flatviz as fv
from flatviz.cli import main
from flatviz.cli.symmetry import mmd_rows
from flatviz.storage.committed import committed
from flatviz.studies.symmetric_draws import SMALL, digits, make_draws
from flatviz.studies.symmetric_evidence import CELLS, MEASURED, MEASURES, Survival
from flatviz.studies.symmetry import VARIANTS, removed, study_symmetry
from flatviz.studies.symmetry_trends import HOLDS, NOT, OPEN, _t1, _t2, _t4, _t5, _t6, _t7
from flatviz.symmetry.hidden import units_of


@pytest.fixture(scope="module")
def draws():
    return make_draws(SMALL, seed=0)


@pytest.fixture(scope="module")
def study():
    return study_symmetry(SMALL, seed=0)


def test_digits_are_all_there_once_and_upright():
    train, test, outside = digits(0)
    assert (len(train), len(test), len(outside)) == (1347, 450, 450)
    from sklearn.datasets import load_digits

    ours = {tuple(row) for row in (torch.cat([train.x, test.x]).flatten(1) * 16).round().int().tolist()}
    theirs = {tuple(row) for row in torch.as_tensor(load_digits().data).int().tolist()}
    assert ours == theirs
    assert torch.equal(outside.x.flatten(1).sort(1).values, test.x.flatten(1).sort(1).values)


def test_sets_share_no_network_and_copies_have_no_spread_of_their_own(draws):
    n = SMALL.draws
    assert all(len(W) == n for sets in draws.sets.values() for W in sets) and len(draws.sets) == 11
    assert len(draws.sets["control"][0].unique(dim=0)) == SMALL.modes and len(draws.sets["single"][0].unique(dim=0)) == 1
    used = torch.cat([draws.target, *draws.sets["ensemble"], *draws.sets["control"], draws.reference])
    assert len(used.unique(dim=0)) == len(draws.target) + SMALL.replicates * (n + SMALL.modes + 1)
    assert draws.runs("swag/multi", SMALL.modes).tolist() == [0, 0, 0, 1, 1, 1] and draws.runs("ensemble", 2) is None


def test_removal_changes_no_prediction_of_any_set(draws):
    units, x = units_of(draws.net), draws.test.x[:20]
    for name, sets in draws.sets.items():
        for variant in VARIANTS:
            W = removed(units, sets[0], variant, draws.reference[0], 1)
            for a, b in zip(sets[0], W):
                torch.testing.assert_close(draws.net(a, x), draws.net(b, x), rtol=1e-3, atol=1e-3, msg=f"{name}, {variant}")


def test_the_small_study_has_every_cell_and_a_verdict_for_every_trend(study):
    assert set(study.mmd) == set(VARIANTS)
    for variant in VARIANTS:
        for name, values in study.mmd[variant].items():
            assert values.shape == (SMALL.replicates, 2) and bool(torch.isfinite(values).all()), (variant, name)
    names = ["T1", "T2", "T3", "T4", "T5a", "T5b", "T5c", "T6", "T7", "T8", "T9", "control"]
    assert [t.name for t in study.trends] == names
    assert {t.verdict for t in study.trends} <= {HOLDS, NOT, OPEN} and all(t.figures for t in study.trends)
    rows = mmd_rows(study)
    assert len(rows) == 11 and all("±" in row["least mass, aligned"] for row in rows)
    assert study.line[2].barrier <= study.line[0].barrier


def test_rules_say_does_not_hold_where_the_figures_do_not():
    ring = torch.randn(400, 2, generator=torch.Generator().manual_seed(0))
    same = {"raw": ring, "scaled": ring, "sorted": ring}
    assert _t1(same).verdict == NOT
    assert _t1(same | {"sorted": 2 + 0.1 * ring}).verdict == HOLDS
    assert _t2({"a": torch.tensor([[1.3, 1.0], [1.2, 1.0]])}).verdict == HOLDS
    assert _t2({"a": torch.tensor([[1.0, 1.0], [1.0, 1.0]])}).verdict == NOT
    pairs = torch.linspace(0.1, 0.2, 50)
    found = {"in": pairs, "out": pairs * 3, "in disagreement": pairs, "out disagreement": pairs}
    assert [t.verdict for t in _t5(found)] == [HOLDS, NOT, NOT]
    assert _t5(found | {"in": pairs * 0})[0].verdict == NOT
    flat, one = torch.full((16,), 20), torch.tensor([100] + [0] * 15)
    names = [f"{m}/one" for m in ("swag", "dropout", "laplace", "sgld")]
    assert _t6({"target": flat, "ensemble": flat} | dict.fromkeys(names, one)).verdict == HOLDS
    assert _t6({"target": one, "ensemble": flat} | dict.fromkeys(names, one)).verdict == NOT
    rising, noise = (
        torch.linspace(0.5, 1.3, 30).clamp(max=1.0).repeat(5, 1),
        0.01 * torch.rand(5, 30, generator=torch.Generator().manual_seed(0)),
    )
    assert _t7({"tau": rising - noise}).verdict == HOLDS and _t7({"tau": (rising - noise).flip(1)}).verdict == NOT

    def cell(one, multi, de):
        methods = ("swag", "dropout", "laplace", "sgld")
        values = {f"{m}/{mode}": value for m in methods for mode, value in (("one", one), ("multi", multi))}
        return {name: torch.full((2, 2), value) for name, value in (values | {"ensemble": de}).items()}

    assert _t4({"raw": cell(60.0, 6.0, 0.0)}).verdict == HOLDS
    assert _t4({"raw": cell(60.0, 6.0, 0.0), "max": cell(5.0, 6.0, 0.0)}).verdict == NOT


def test_a_conclusion_survives_where_both_intervals_lie_on_one_side():
    def cells(ratio):
        vi, other = torch.ones(3, 2, 4), torch.ones(3, 2, 4)
        other[:, 0] = 0.5
        other[:, 1] = ratio
        noise = 1 + 0.01 * torch.arange(3.0)[:, None, None]
        return Survival({("plain", "vi"): vi, ("plain", "sabma"): other * noise}, torch.zeros(3), 0.0)

    assert cells(0.6).conclusion("plain", "sabma", "lambda1", False) == "below VI"
    assert cells(0.6).conclusion("plain", "sabma", "lambda1", True) == "below VI"
    assert cells(1.5).conclusion("plain", "sabma", "lambda1", True) == "above VI"
    assert cells(0.99).conclusion("plain", "sabma", "lambda1", True) == "open"


def test_the_command_prints_the_table_and_trends_and_its_page_works_without_a_kernel(tmp_path, capsys, request):
    page, numbers = tmp_path / "symmetry.html", tmp_path / "numbers.json"
    assert main(["symmetry", "--small", "--seeds", "0", "--out", str(page), "--json", str(numbers)]) == 0
    said = capsys.readouterr().out
    assert "ten networks copied (control)" in said and "T9" in said and "holds" in said
    made = json.loads(numbers.read_text(encoding="utf-8"))
    assert made["made"]["made by"].endswith("flatviz symmetry --task digits --seed 0 --seeds 0 --small")
    assert set(made["mmd"]) == set(VARIANTS) and len(made["trends"]) == 12
    browser = request.getfixturevalue("browser")  # last, so that all above runs without one
    view, foreign, errors = watched(browser.new_context(viewport={"width": 1200, "height": 900}), page.as_uri())
    view.goto(page.as_uri())
    until(lambda: view.evaluate("document.querySelectorAll('.js-plotly-plot .main-svg').length") >= 14)
    assert not foreign and not errors
    names = view.evaluate("[...document.querySelectorAll('.js-plotly-plot')].map((e) => e.id)")
    assert names == ["distances", "triptych", "marginals", "mass", "pairs", "barrier", "orbit"]
    line = "document.getElementById('orbit').layout.shapes[0].x0"
    before = view.evaluate(line)
    rail = view.locator("#orbit .slider-rail-touch-rect")

    def moved():  # clicked again where the figures above, as they are drawn, had pushed the slider away
        rail.scroll_into_view_if_needed()
        box = rail.bounding_box()
        view.mouse.click(box["x"] + box["width"] - 3, box["y"] + box["height"] / 2)
        return view.evaluate(line) > before + 1

    until(moved)
    assert "largest change of a logit" in view.evaluate("document.getElementById('orbit').layout.xaxis.title.text")


def until(true, seconds=WAIT):
    """Wait for what the page will say; its policy lets no text be run as code, so the page cannot wait by itself."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_a_slider_moves_the_weights_and_the_sharpness_and_no_output():
    net, units, x = network("mlp")
    box = fv.explore_symmetry(net, fv.Data(x, torch.arange(20) % 3))
    first, flat = box.figure.data[0].y.copy(), box.figure.data[1].y.copy()
    assert flat == pytest.approx([1.0] * 7)
    box.controls["scale"].value = 2.0
    assert float(abs(box.figure.data[0].y - first).max()) > 0.1
    assert box.figure.data[1].y[0] > 1.5 and box.figure.data[1].y[5] == pytest.approx(1.0)
    assert float(box.text.value.split("change of an output ")[1].split(" of ")[0]) < 1e-10
    box.controls["scale"].value, box.controls["order"].value = 0.0, 3
    assert float(abs(box.figure.data[0].y - first).max()) > 0.1 and box.figure.data[1].y[0] == pytest.approx(1.0, rel=1e-4)
    tanh, _, _ = network("tanh")
    with pytest.raises(ValueError, match="got Tanh"):
        fv.explore_symmetry(tanh, fv.Data(x, torch.arange(20) % 3))


def test_the_stored_conclusions_on_flatness_are_of_settings_that_methods_share():
    """What is tuned has a radius and a prior a method: at the setting's own it would be the tempered one twice."""
    held = json.loads(committed("symmetry_digits.json").read_text(encoding="utf-8"))
    rows = held["evidence at least mass"]
    assert {row["method"].rpartition(", ")[2] for row in rows} == {"plain", "tempered"} == set(MEASURED)
    assert len(rows) == len(MEASURED) * len(CELLS) * len(MEASURES)
