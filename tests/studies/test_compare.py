"""The comparison: every method runs in it, its table and page hold what was measured, and a diverged run is said."""

import csv
import json
import math
import re
from dataclasses import replace

import pytest
import torch

import flatviz as fv
from flatviz.cli import main
from flatviz.cli.compare import closeness_rows, means, table_rows
from flatviz.experiments.reference import Reference
from flatviz.studies import compare as study

SHORT = {"steps": 3, "snapshots": 5, "n_draws": 4, "burn_in": 1, "thin": 1, "cycles": 2, "cycle_steps": 10}


def short(settings):
    return {k: short(v) if k == "settings" else SHORT.get(k, v) for k, v in settings.items()}


@pytest.fixture
def quick(monkeypatch, transferred, task, tmp_path):
    """Every method at its least: a few steps from the network that the other tests share."""
    for name, method in fv.METHODS.items():
        plain = replace(method.plain, settings=short(method.plain.settings))
        monkeypatch.setitem(fv.METHODS, name, replace(method, plain=plain))
    monkeypatch.setattr(study, "N_DRAWS", 4)
    uniform = torch.full((len(task.test), task.n_classes), 1 / task.n_classes)
    exact = Reference(uniform, transferred[1].sample(8, seed=5))
    monkeypatch.setattr(study, "reference_of", lambda *_, **__: exact)
    monkeypatch.setattr(study, "prepare", lambda model, **_: (transferred[0], task, transferred[1]))
    monkeypatch.setenv("FLATVIZ_CACHE", str(tmp_path / "cache"))


def test_every_method_and_its_flat_version_are_in_the_comparison():
    flat = {n for n in fv.METHODS if n.startswith("f-")}
    assert {"f-swa", "f-swag", "f-vi", "f-sgld", "f-dropout", "f-ensemble", "f-laplace"} <= flat
    assert not {"f-sabma", "f-bsam"} & flat  # flat by themselves


def test_the_command_writes_table_csv_and_page_and_reuses_the_cache(quick, tmp_path, capsys):
    out, table = tmp_path / "c.html", tmp_path / "c.csv"
    options = [
        "compare",
        "--seeds",
        "1",
        "--methods",
        "sgd,swag,f-swag,laplace,ptl,multiswag",
        "--out",
        str(out),
        "--csv",
        str(table),
    ]
    assert main(options) == 0
    printed = capsys.readouterr().out
    assert all(f"\n{label} " in printed for label in ("SGD (MAP)", "SWAG", "F-SWAG", "Laplace", "PTL", "MultiSWAG"))
    rows = list(csv.DictReader(table.open(encoding="utf-8")))
    assert [r["method"] for r in rows] == ["sgd", "swag", "f-swag", "laplace", "ptl", "multiswag"]
    assert [float(r["gradients"]) for r in rows] == [1, 1, 2, 1, 1, 3]
    assert all(0 <= float(r["accuracy"]) <= 1 and float(r["lambda1"]) > 0 and float(r["mi"]) >= 0 for r in rows)
    assert all(0 < float(r["tv"]) < 1 and 0 <= float(r["agreement"]) <= 1 for r in rows)
    assert all(-1 < float(r["mmd"]) < 250 for r in rows)
    page = out.read_text(encoding="utf-8")
    assert "F-SWAG" in page and 'src="http' not in page
    before = table.read_text()
    assert main(options) == 0 and table.read_text() == before  # seconds too: nothing was computed again


def test_an_unknown_method_is_one_line(quick, capsys):
    assert main(["compare", "--seeds", "1", "--methods", "swagger"]) == 1
    assert "flatviz compare: method must be one of 'sgd'" in capsys.readouterr().err


def test_a_diverged_seed_is_left_out_of_the_mean_and_said():
    good = torch.tensor([0.9, 0.5, 0.1, 0.2, 0.0, 10.0, 2.0, 0.9, 0.1, 50.0, 1.0, 1.0])
    found = study.Comparison({"sgd": torch.stack([good, good, torch.full((12,), math.nan)])}, (0, 1, 2), "digits")
    assert means(found)["sgd"]["nll"][0] == pytest.approx(0.5)
    assert table_rows(found)[0]["method"] == "SGD (MAP) (1 diverged)"


def test_the_figure_shows_means_with_intervals_and_menus_for_both_axes():
    row = {"nll": (0.5, 0.1), "lambda1": (10.0, 2.0), "ece": (0.1, 0.01)}
    fig = fv.plot_comparison({"swag": row, "f-swag": row | {"nll": (0.4, 0.1)}})
    arrow, plain, flat = fig.data
    assert arrow.name == "SWAG to F-SWAG" and (plain.name, flat.name) == ("SWAG", "F-SWAG") and flat.y == (0.4,)
    assert flat.marker.symbol.endswith("-open") and plain.error_x.array == (2.0,)
    text = json.loads(fig.to_json())["layout"]["updatemenus"]
    assert [b["label"] for b in text[1]["buttons"]] == ["x: NLL (nats)", "x: ECE", "x: λ1 of the training loss"]
    change = fig.layout.updatemenus[0].buttons[1].args
    assert list(change[0]["y"][0]) == [0.1, 0.1] and list(change[0]["y"][1]) == [0.1] and re.search("ECE", str(change[1]))
    with pytest.raises(ValueError, match="an axis must be one of 'nll', 'ece', 'lambda1', got 'brier'"):
        fv.plot_comparison({"swag": row}, y="brier")


def test_plain_and_flat_fits_lie_on_one_row_and_the_closest_row_is_first():
    near, far = {"tv": (0.1, 0.01), "mmd": (30.0, 1.0)}, {"tv": (0.3, 0.02), "mmd": (90.0, 2.0)}
    rows = closeness_rows({"swag": far, "f-swag": near, "vi": near, "f-vi": {"tv": (math.nan, 0.0), "mmd": (10.0, 1.0)}})
    assert list(rows) == ["VI", "SWAG"] and list(rows["SWAG"]) == ["swag", "f-swag"]
    fig = fv.plot_closeness(rows, floor={"tv": 0.01})
    points = {(t.name, t.xaxis): t for t in fig.data if t.mode == "markers"}
    assert points["SWAG", "x"].x == (0.3,) and points["F-SWAG", "x2"].x == (30.0,)
    assert ("F-VI", "x") not in points and points["F-VI", "x2"].error_x.array == (1.0,)  # a diverged fit has no marker
    assert points["F-SWAG", "x"].marker.symbol.endswith("-open") and not points["SWAG", "x"].marker.symbol.endswith("-open")
    assert {round(t.y[0]) for t in fig.data if t.name in ("SWAG", "F-SWAG")} == {1}
    assert [s.x0 for s in fig.layout.shapes] == [0.01] and list(fig.layout.yaxis.ticktext) == list(rows)
    with pytest.raises(ValueError, match="plot_closeness needs at least one distance, got none: its distances are tv, mmd"):
        fv.plot_closeness({"VI": {"vi": {"nll": (0.1, 0.1)}}})
