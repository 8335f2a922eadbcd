"""The other experiments, each computed once in its small form and read beside its stored table."""

import json
import math
import re

import numpy as np
import pandas as pd
import torch
from cases import net_of
from experiment_notebooks import executed, functions
from pytest import approx, mark
from torch import nn

import flatviz as fv
from flatviz.experiments import read_table
from flatviz.families.members import read_choices

pytestmark = mark.long
CELL = ("setting", "method", "radius")


def cells(table, *columns):
    """Which combinations there are; a column that is open in a row has -1 there."""
    return set(table[list(columns)].fillna(-1.0).itertuples(index=False, name=None))


def within(table, **columns):
    """Rows of a stored table whose columns have values of the other tables."""
    for name, other in columns.items():
        table = table[table[name].isin(other[name])]
    return table


def test_the_frontier_runs_on_the_cells_of_the_stored_table(run_small):
    small = dict(
        SEEDS=2,
        FEW=2,
        STEPS=3,
        EPOCHS=5,
        DRAWS=2,
        SPECTRA=1,
        TASKS="moons,digits-near",
    )
    said, found, _ = run_small("frontier", **small)
    stored = within(read_table("frontier"), setting=found, quantity=found)
    assert cells(found, *CELL, "T", "knob") == cells(stored, *CELL, "T", "knob")
    assert set(found.seed) == {10000, 10001}
    assert set(stored.quantity) == set(found.quantity)
    assert "failed" not in said


def test_the_frontier_interpolates_along_the_curve_of_each_seed():
    """A line of VI with λ1 = 3 T^0.5, NLL = log T and a training loss of T^2: a fit with loss 0.04
    has T* = 0.2."""
    space = functions("frontier")
    T = np.array([0.1, 0.3, 1.0])
    line = dict(T=T, train=T**2, kl=1 / T, lambda1=3 * T**0.5, nll=np.log(T))
    vi = space.logged(pd.DataFrame(line, index=[7] * 3))
    fit = pd.DataFrame(
        dict(
            T=0.5,
            train=0.04,
            kl=1.0,
            lambda1=2.0,
            nll=0.0,
        ),
        index=[7],
    )
    mine = space.logged(fit)
    there = space.on_curve(mine, vi, "train")
    assert np.exp(there["T"][7]) == approx(0.2)
    assert np.exp(there.lambda1[7]) == approx(3 * 0.2**0.5)
    assert there.nll[7] == approx(np.log(0.2))
    beyond = mine.assign(train=np.log(2.0))
    assert np.isnan(space.on_curve(beyond, vi, "train").nll[7])


def test_the_reference_samples_and_says_that_short_chains_do_not_agree(tmp_path):
    draws = tmp_path / "hmc.pt"
    small = dict(
        SEEDS=1,
        CONTROLS=0,
        N_DRAWS=16,
        CHAINS=4,
        BURN_IN=4,
        EPOCHS=5,
    )
    said = "\n".join(executed("reference", RUN=True, SAVE_DRAWS=str(draws), **small))
    assert "chains of 1 seeds do not agree: R-hat at most" in said
    assert draws.stat().st_size > 10_000


@mark.parametrize(
    "name, small", [("gaps", dict(TASKS="digits-near", METHODS="vi,sabma")), ("tasks", {})]
)
def test_tasks_and_gaps_run_on_the_cells_of_their_stored_tables(run_small, name, small):
    _, found, _ = run_small(name, SEEDS=1, STEPS=5, EPOCHS=5, **small)
    if small:  # gaps leaves the stored rows of other tasks
        found = found[found.setting == small["TASKS"]]
    stored = within(read_table(name), setting=found, method=found)
    assert set(found.quantity) == set(stored.quantity)
    assert found.value.notna().all()
    assert cells(found, "setting", "method") == cells(stored, "setting", "method")


def test_lengths_of_training_are_fitted_measured_and_compared(run_small):
    small = dict(
        SEEDS=2,
        LENGTHS="1,2",
        STEPS=3,
        EPOCHS=5,
        DRAWS=2,
        SPECTRA=1,
        GIBBS=3,
        EDGE=30,
    )
    # Beside the stored rows of the other task
    *_, path = run_small("along", DATA="digits", **small)
    said, found, _ = run_small("along", DATA="digits-near", TABLE=str(path), **small)
    near = {"tv", "agreement", "mmd"}  # to HMC, which a network of 60 epochs is compared with
    assert set(read_table("along").quantity) - near == set(found.quantity)
    assert found.value.notna().all()
    is_edge = found.experiment == "edge"
    settings = {"no KL", "T 0.03", "T 1", "near, T 0.03", "near, T 1"}
    assert set(found[~is_edge].setting) == settings
    assert set(found[is_edge].steps) == set(range(0, 31, 2))
    assert "vacuous at every length" in said  # a few steps bound nothing


def test_open_questions_are_asked_on_the_cells_of_the_stored_table(run_small):
    said, found, _ = run_small(
        "questions",
        SEEDS=2,
        LONGER=1,
        STEPS=4,
        EPOCHS=5,
        SIZES="1,2,4",
    )
    stored = read_table("questions")
    for experiment, keys in (
        ("widths", ("setting", "quantity")),
        ("questions", (*CELL, "steps")),
    ):
        small, whole = (table[table.experiment == experiment] for table in (found, stored))
        assert cells(small, *keys) == cells(whole, *keys)
    assert found.value.notna().all()
    assert "with 2 draws against VI with 4: " in said


def test_learning_coefficients_are_sampled_compared_and_left_alone_by_permutations(run_small):
    small = dict(
        SEEDS=2,
        STEPS=20,
        DRAWS=32,
        BURN_IN=8,
        SGLD_BURN_IN=5,
        THIN=1,
    )
    said, found, _ = run_small("learning", **small)
    assert cells(found, *CELL, "quantity") == cells(read_table("learning"), *CELL, "quantity")
    assert found.value.notna().all()
    was, now = re.search(r"permuted: λ̂ ([\d.]+) becomes ([\d.]+);", said).groups()
    assert float(was) == approx(float(now), abs=2e-4)  # float32
    moved = re.search(r"rescaled end (\S+) of the norm", said)[1]
    assert float(moved) < 1e-4


def test_both_samplers_of_the_learning_coefficient_have_the_same_localised_target():
    space = functions(
        "learning",
        DRAWS=1600,
        BURN_IN=40,
        SGLD_BURN_IN=100,
        THIN=20,
    )
    module = nn.Linear(1, 2, bias=False)
    nn.init.zeros_(module.weight)
    net = net_of(module)
    data = fv.Data(torch.ones(200, 1), torch.arange(200) % 2)
    task = fv.Task(data, data, data, n_classes=2)
    exact = 0.5 * 0.5 / (0.5 + 100 * math.log(200) / 200)  # one curvature, 1/2, against gamma = 100
    f = fv.nll(net, task.train)
    sampled = space.sampled(net, task, net.w, 100.0, 0)
    del sampled["sgld 0.1"]  # its step is too long for so strong a pull
    for name, q in sampled.items():
        found = fv.metrics.learning_coefficient(f, net.w, q.W, n=200)
        assert found == approx(exact, rel=0.15), name


def test_compare_runs_and_what_it_writes_reads_the_same(run_small):
    small = dict(
        METHODS="sgd,f-sgd,vi",
        SEEDS=2,
        EPOCHS=2,
        STEPS=3,
        DRAWS=3,
        SPECTRA=1,
    )
    printed, table, path = run_small("compare", **small)
    # Twice as long, beside F-SGD
    assert set(table[table.steps == 2].method) == {"sgd"}
    again = "\n".join(executed("compare", TABLE=str(path), **small))
    verdicts = re.findall(".* against .*", printed)
    assert verdicts == re.findall(".* against .*", again) != []


def test_each_split_chooses_by_its_validation_nll_and_its_test_nll_is_that_of_its_choice():
    """All splits together choose trial 0, the third alone trial 1; trial 2 is the best of all, but
    for the split where it diverged."""
    nll = {"trial 0": (1.0, 1.0, 1.3), "trial 1": (1.2, 1.2, 1.1), "trial 2": (1.1, math.inf, 1.2)}
    wide = pd.DataFrame(nll).rename_axis("seed").reset_index()
    rows = wide.melt("seed", var_name="setting", value_name="nll")
    rows["test"] = rows.nll + 10
    rows = rows.melt(["setting", "seed"], var_name="quantity").assign(method="vi")
    net = net_of(nn.Sequential(nn.Linear(2, 2)))
    found = functions("tune").choices_in(rows, net, trials=3)
    assert found["trial"] == "trial 0"
    assert found["trial_by_split"] == ["trial 0", "trial 0", "trial 1"]
    assert found["test_nll"] == [11.0, 11.0, 11.3]
    assert found["test_nll_by_split"] == [11.0, 11.0, 11.1]
    assert found["validation_nll"] == approx(1.1)
    assert found["diverged"] == 1


def test_tune_writes_choices_that_the_tour_reads(tmp_path):
    path = tmp_path / "tuned.json"
    small = dict(METHODS="vi,sgd", TRIALS=2, SEEDS=2, DATA="moons", EPOCHS=8)
    said = "\n".join(executed("tune", RUN=True, SAVE=str(path), **small))
    written = json.loads(path.read_text(encoding="utf-8"))["methods"]
    assert set(written) == {"vi", "sgd"}
    for about in written.values():
        assert about["trials"] == 2
        assert about["validation_nll"] <= about["validation_nll_of_the_record"]
        assert len(about["trial_by_split"]) == len(about["test_nll_by_split"]) == 2
    steps = written["vi"]["settings"]["steps"]
    assert read_choices(path)["vi"].settings["steps"] == approx(steps)
    verdict = re.search(r".*: NLL .* better in \d of 2 seeds: .*", said)[0]
    assert verdict in "\n".join(executed("tune", TABLE=str(path)))
