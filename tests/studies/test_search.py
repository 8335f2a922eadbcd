"""The search: a declared grid, choices made on validation splits, seeds that are fresh, claims named by rule."""

import json
import math
from pathlib import Path

import pytest
import torch

import flatviz as fv
from flatviz.cli import main
from flatviz.cli import search as command
from flatviz.studies import search as study
from flatviz.studies.cases import QUANTITIES, Case, grid
from flatviz.studies.search import BASELINES, Outcome, Searched, confirm, named, search
from flatviz.studies.search_file import balance, claim_rows, read_searched, rows


@pytest.fixture
def quick(monkeypatch, transferred, task, tmp_path):
    """A few steps from the network that the other tests share."""
    monkeypatch.setattr(study, "prepare", lambda model, **_: (transferred[0], task, transferred[1]))
    monkeypatch.setattr(study, "N_DRAWS", 3)
    monkeypatch.setenv("FLATVIZ_CACHE", str(tmp_path / "cache"))


def outcome(case, gains, seeds=(0, 1, 2, 3)):
    """An outcome in which SA-BMA's NLL is below every baseline's by `gains` (seeds,), all else equal."""
    values = {name: torch.zeros(len(seeds), len(QUANTITIES)).double() for name in ("SA-BMA", *BASELINES)}
    values["SA-BMA"][:, 0] -= torch.tensor(gains).double()
    return Outcome(case, seeds, {"sabma": 1.0, "sam_mu": 0.1, "vi": 300.0}, values)


@pytest.mark.parametrize(
    ("model", "width", "pairs"), [("mlp", "head_std", {("head_std", "kl_weight")}), ("conv", "scale", set())]
)
def test_the_grid_changes_one_factor_at_a_time_but_for_the_declared_pair(model, width, pairs):
    cases = grid(model)
    assert len(set(cases)) == len({str(c) for c in cases}) == len(cases)
    factors = ("steps", "head_std", "kl_weight", "rank", "scale", "shots", "degrees", "shift")
    changed = [tuple(f for f in factors if getattr(c, f) != getattr(Case(), f)) for c in cases]
    assert {c for c in changed if len(c) > 1} == pairs
    assert {c[0] for c in changed if len(c) == 1} == {"steps", width, "kl_weight", "rank", "shots", "degrees", "shift"}
    assert {c.shots for c in cases} == {2, 5, 10, 50}


def test_the_scale_of_a_case_is_that_of_its_prior():
    """SWAG's covariance times 4 is standard deviations times 2, of the weights that have no prior of their own."""
    bench = study.Bench("mlp", epochs=1)
    narrow, wide = (bench._of(Case(scale=scale), 0)[3] for scale in (16.0, 64.0))
    recipe = bench._of(Case(), 0)[3]
    assert torch.equal(wide.log_std, recipe.log_std) and torch.equal(wide.factor, recipe.factor)
    torch.testing.assert_close(narrow.factor * 2, wide.factor)


def test_a_choice_is_the_least_validation_nll_and_the_baselines_are_what_they_are_called(quick):
    case, seeds = Case(steps=4), (0, 1)
    (got,) = search([case], seeds)
    bench = study.Bench("mlp")
    q = {
        s: bench.fitted(case, s, (("sabma", (0.5, 1.0, 2.0)), ("sam_mu", (0.05, 0.1, 0.2)), ("vi", (2.0, 4.0, 8.0))))
        for s in seeds
    }
    for method, values in bench.candidates(case).items():
        by_hand = []
        for value in values:
            scores = []
            for seed in seeds:
                net, _, validation, _ = bench._of(case, seed)
                scores.append(float(fv.predict(net, q[seed][method, value], validation, 3, seed=seed + 1).scores["nll"][-1]))
            by_hand.append(sum(scores))
        assert got.choice[method] == values[by_hand.index(min(by_hand))]
    net, task, _, prior = bench._of(case, 1)
    settings = dict(weight_decay=5e-4, lr=0.05, kl_weight=0.0, seed=1)
    for name, steps in (("VI, equal steps", 4), ("VI, equal gradients", 8)):
        vi = fv.fit_vi(net, task.train, prior, steps=steps, **settings)
        nll = fv.predict(net, vi, task.test, 3, seed=2).scores["nll"][-1]
        assert float(got.values[name][1, 0]) == pytest.approx(float(nll), rel=1e-6)


def test_a_shift_changes_the_shifted_score_alone(quick):
    plain, turned = search([Case(steps=4), Case(steps=4, shift="rotate", severity=5)], (0, 1))
    assert plain.choice == turned.choice and turned.case.quantities == ("shifted_nll",)
    for name in plain.values:
        assert torch.equal(plain.values[name][:, :3], turned.values[name][:, :3])
    assert (turned.values["SA-BMA"][:, 3] != plain.values["SA-BMA"][:, 3]).all()


def test_claims_are_gains_in_which_all_seeds_agree_the_clearest_first(monkeypatch):
    clear, weak, split = (
        outcome(Case(), [1.0, 1.1, 0.9, 1.0]),
        outcome(Case(shots=2), [1.0, 3.0, 0.1, 2.0]),
        [1.0, 1.0, 1.0, -0.1],
    )
    claims = named(Searched.of([weak, outcome(Case(rank=2), split), clear]))
    assert {c.quantity for c in claims} == {"nll"} and {str(c.case) for c in claims} == {
        "the published scripts' setting",
        "shots 2",
    }
    assert [c.baseline for c in claims] == [b for b in BASELINES for _ in range(2)]
    monkeypatch.setitem(study.MOST_SETTINGS, "mlp", 1)
    assert {str(c.case) for c in named(Searched.of([weak, clear]))} == {"the published scripts' setting"}


def test_a_confirmation_takes_fresh_seeds_and_what_the_search_chose(monkeypatch):
    found = [outcome(Case(), [1.0, 1.1, 0.9, 1.0])]
    with pytest.raises(ValueError, match=r"seeds of a confirmation must be fresh, got \[3\] of the search: take others"):
        confirm(Searched.of(found), [3, 4])
    asked = {}

    def again(cases, seeds, *, choices, **_):
        asked.update(choices)
        return [outcome(case, [0.1, -0.1, 0.2, -0.3], tuple(seeds)) for case in cases]

    monkeypatch.setattr(study, "search", again)
    fresh, verdicts = confirm(Searched.of(found), range(100, 104))
    assert asked == {Case(): found[0].choice} and fresh[0].seeds == (100, 101, 102, 103)
    assert [v.word for v in verdicts] == ["cannot tell"] * len(BASELINES)
    json.dumps([rows(fresh), claim_rows(verdicts)], allow_nan=False)


def test_a_fit_that_diverged_is_not_chosen_and_decides_no_claim(quick, monkeypatch):
    whole = study._members

    def one_lost(*args):
        return {member: q for member, q in whole(*args).items() if member != ("sabma", 1.0)}

    monkeypatch.setattr(study, "_members", one_lost)
    bench = study.Bench("mlp")
    assert bench.run(Case(steps=2), (0, 1))["choice"]["sabma"] != 1.0
    lost = bench.run(Case(steps=2), (0, 1), {"sabma": 1.0, "sam_mu": 0.1, "vi": 2.0})
    assert lost["values"]["SA-BMA"].isnan().all()
    (row,) = rows([Outcome(Case(steps=2), (0, 1), lost["choice"], lost["values"])])
    assert row["differences"]["SAM on the mean"]["nll"][:2] == [None, None]


def test_the_command_writes_a_file_that_it_shows_again(quick, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(command, "grid", lambda model: (Case(steps=2), Case(steps=2, shots=5)))
    monkeypatch.setattr(study, "Case", lambda **_: Case(steps=2))
    out, picture = tmp_path / "s.json", tmp_path / "s.html"
    assert main(["search", "--seeds", "2", "--fresh", "2", "--out", str(out)]) == 0
    first = capsys.readouterr().out
    result = json.loads(out.read_text())["mlp"]
    assert result["about"]["fresh"] == [200, 201] and len(result["search"]) == 2
    assert all(claim["sentence"] in first for claim in result["claims"])
    assert main(["search", "--show", str(out), "--picture", str(picture)]) == 0
    assert first.split("SA-BMA less each")[1] in capsys.readouterr().out
    assert "shots 5" in picture.read_text(encoding="utf-8")
    again = tmp_path / "again.json"
    assert main(["search", "--fresh", "2", "--searched", str(out), "--out", str(again)]) == 0
    repeated = json.loads(again.read_text())["mlp"]
    assert {part: repeated[part] for part in ("search", "confirmation", "claims")} == {
        part: result[part] for part in ("search", "confirmation", "claims")
    }
    assert repeated["about"]["searched"]["command"] == result["about"]["command"]
    assert main(["search", "--model", "conv", "--searched", str(out), "--out", str(again)]) == 1
    assert "--searched must hold a search of conv" in capsys.readouterr().err
    assert main(["search", "--show", str(picture)]) == 1
    assert "--show must be a file that flatviz search wrote" in capsys.readouterr().err


def test_a_stored_search_names_the_claims_of_the_outcomes_themselves():
    """p from an interval is p of the values, up to the four digits of the file."""
    cases = (Case(), Case(shots=2), Case(rank=2))
    found = [outcome(c, g) for c, g in zip(cases, ([1.0, 1.1, 0.9, 1.0], [1.0, 3.0, 0.1, 2.0], [1.0, 1.0, 1.0, -0.1]))]
    live = Searched.of(found)
    read = read_searched({"about": {"seeds": [0, 1, 2, 3]}, "search": json.loads(json.dumps(rows(found)))}, cases)
    assert (read.seeds, read.choices) == (live.seeds, live.choices)
    for a, b in zip(live.gains, read.gains):
        assert (a.case, a.baseline, a.quantity, a.agreed) == (b.case, b.baseline, b.quantity, b.agreed)
        assert b.p_value == pytest.approx(a.p_value, rel=2e-3)
    assert [(g.case, g.quantity) for g in named(live)] == [(g.case, g.quantity) for g in named(read)]
    with pytest.raises(ValueError, match="a stored search must be of the 1 declared cases, got 3 others: search again"):
        read_searched({"about": {"seeds": [0]}, "search": rows(found)}, cases[:1])


def test_the_balance_counts_gains_and_losses_alike():
    """One NLL told lower, one told higher, and all that is equal open: a gain of accuracy has the other sign."""
    values = {name: torch.zeros(4, 4).double() for name in ("SA-BMA", *BASELINES)}
    values["SA-BMA"][:, 0] -= torch.tensor([1.0, 1.1, 0.9, 1.0])
    values["SA-BMA"][:, 1] -= torch.tensor([1.0, 1.1, 0.9, 1.0])
    done = rows([Outcome(Case(), (0, 1, 2, 3), {}, values)])
    assert balance({"confirmation": done})[0] == "against VI, equal steps: better in 1, worse in 1, open in 2 of 4"


COMMITTED = json.loads((Path(fv.__file__).parent.parent / "data" / "when_sabma_helps.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("model", ["mlp", "conv"])
def test_what_is_committed_is_of_the_declared_grid_with_verdicts_that_follow_from_its_figures(model):
    result = COMMITTED[model]
    declared = [str(case) for case in grid(model)]
    assert [row["case"] for row in result["search"]] == declared[: len(result["search"])]
    assert model == "conv" or len(result["search"]) == len(declared)
    fresh_seeds, used = set(result["about"]["fresh"]), {*result["about"]["seeds"], *range(10), 1000, 1001}
    assert not used & fresh_seeds and len(fresh_seeds) == 10
    fresh = {row["case"]: row for row in result["confirmation"]}
    for claim in result["claims"]:
        mean, half, _ = fresh[claim["case"]]["differences"][claim["baseline"]][claim["quantity"]]
        better = (1 if claim["quantity"] == "accuracy" else -1) * mean > 0
        assert claim["verdict"] == ("cannot tell" if claim["corrected_p"] >= 0.05 else "holds" if better else "does not hold")
        assert claim["verdict"] == "cannot tell" or abs(mean) > half  # a corrected p is never below the plain one


def test_gains_lie_right_of_zero_and_fresh_ones_are_filled():
    row = {"shots 2": {"nll": (0.1, 0.02), "accuracy": (0.01, 0.002)}, "rank 2": {"nll": (math.nan, math.nan)}}
    fig = fv.plot_gains({"vi": row, "sam_mu": row}, confirmed={"vi": {"shots 2": {"nll": (0.05, 0.01)}}})
    by_name = {(t.name, t.xaxis): t for t in fig.data}
    assert list(by_name["VI", "x"].x) == [0.1] and list(by_name["VI", "x2"].x) == [1.0]  # points
    assert by_name["VI", "x"].marker.symbol == ("square-open",)
    assert by_name["VI, fresh seeds", "x"].marker.symbol == ("square",)
    assert list(fig.layout.yaxis.ticktext) == ["shots 2", "rank 2"]
    far = {f"rank {i}": {"nll": (0.01 * (-1) ** i, 0.01)} for i in range(20)} | {"shots 2": {"nll": (-5.0, 0.1)}}
    beyond = fv.plot_gains({"vi": far}).data[0]
    assert beyond.marker.symbol[20] == "arrow-left-open" and beyond.x[20] > -0.1 and beyond.customdata[20] == -5.0
    assert beyond.error_x.array[20] == 0.0 and set(beyond.marker.symbol[:20]) == {"square-open"}
    with pytest.raises(ValueError, match="plot_gains needs at least one gain, got none"):
        fv.plot_gains({"vi": {}})
