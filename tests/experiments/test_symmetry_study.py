"""The experiment on symmetry: its small run, a folder of checkpoints, and the rules of its
verdicts."""

import runpy
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import torch
from experiment_notebooks import FOLDER, functions, values
from pytest import approx, fixture, mark
from sklearn.datasets import load_digits
from torch import arange

import flatviz as fv
from flatviz import symmetry

HOLDS = "holds"
NOT = "does not hold"
OPEN = "inconclusive"


@fixture(scope="module")
def study():
    return functions("symmetry")


@fixture(scope="module")
def rules():
    """The whole notebook, run on the stored table."""
    return SimpleNamespace(**runpy.run_path(str(FOLDER / "symmetry.py")))


def resnets(n, width, **how):
    """n small networks trained on 40 digits, and images to judge them on, two sets."""
    data = fv.datasets.digits_transfer().source
    train = data.subset(arange(40))
    test = data.subset(arange(40, 90))
    task = fv.Task(train, train, train, 10)
    starts = [fv.models.resnet20(task, width=width, seed=i) for i in range(n)]
    nets = [fv.pretrain(net, train, seed=i, lr=0.1, **how) for i, net in enumerate(starts)]
    return nets, test, fv.Data(test.x.flip(-1), test.y)


def moved(net, seed):
    """The same function: its units scaled and permuted at random."""
    units = symmetry.units_of(net)
    factor = symmetry.random_factor(units, 1, seed=seed)
    order = symmetry.random_order(units, 1, seed=seed)
    scaled = symmetry.rescale(units, units.extended(net)[None], factor)
    return units.net_at(net, symmetry.permute(units, scaled, order)[0])


def studied(folder, nets, *images, **small):
    """The study of a folder with these checkpoints: (variant, set, quantity) -> value, and the
    notebook's functions."""
    folder.mkdir()
    for i, net in enumerate(nets):
        torch.save(net.to_module().state_dict(), folder / f"{i:02}.pth")
    space = functions("symmetry", MODEL="resnet20", PERMUTATIONS=9, STARTS=1, **small)
    table = values(space.study_of(str(folder), *images))
    return {key[1:]: value for key, (value,) in table.items()}, space


@mark.long
def test_a_folder_of_checkpoints_is_the_same_once_symmetries_are_removed(tmp_path):
    nets, *images = resnets(12, width=4, epochs=2)
    small = dict(WIDTH=4, PER_SET=4)
    twins = [moved(net, seed) for seed, net in enumerate(nets)]
    plain, _ = studied(tmp_path / "plain", nets, *images, **small)
    twin, _ = studied(tmp_path / "moved", twins, *images, **small)
    # An alignment depends on the order it begins with, an ECE on BatchNorm's eps
    same = ("brier", "mi", "ood_mi", "mean inside", "mean outside")
    for key, value in plain.items():
        if key[2] in same or key[::2] == ("max", "mmd"):
            assert twin[key] == approx(value, rel=0.02, abs=0.01), key
    single = plain["raw", "single", "mmd"]
    assert single > plain["raw", "control", "mmd"] > 0
    assert single != approx(twin["raw", "single", "mmd"], rel=0.02)
    assert plain["raw", "single", "mi"] == approx(0, abs=1e-6)


@mark.long
def test_fifty_checkpoints_have_the_scores_of_their_networks_and_are_fifty_functions(tmp_path):
    nets, test, outside = resnets(50, width=2, epochs=1, batch_size=10)
    small = dict(WIDTH=2, PER_SET=8, PAIRS=6)
    table, space = studied(tmp_path / "nets", nets, test, outside, **small)
    _, _, sets, target = space.groups_of(50)

    def outputs(chosen):
        return torch.stack([nets[i](nets[i].w, test.x).detach() for i in chosen])

    prediction = fv.Prediction(outputs(sets["ensemble"]), test.y)
    for name in ("brier", "ece"):
        want = float(fv.score(prediction, name, n_draws=prediction.n_draws))
        assert table["raw", "ensemble", name] == approx(want, rel=1e-4, abs=1e-6), name
    # Copies of one network are not the target, with symmetries or without
    for variant in ("raw", "max", "aligned"):
        assert table[variant, "ensemble", "mmd"] < 1 < 10 < table[variant, "single", "mmd"]
        assert table[variant, "ensemble", "p"] > 0.1 >= table[variant, "single", "p"]
    # None of them is another
    pairs = [fv.Prediction(outputs(pair)) for pair in combinations(target[:6].tolist(), 2)]
    least = min(float(fv.metrics.mutual_information(p).mean()) for p in pairs)
    assert table["pairs", "target", "least inside"] == approx(least, rel=1e-4)
    assert least > 0.01


SMALL = dict(
    TARGET=16,
    REPLICATES=2,
    MODES=2,
    PER_SET=6,
    EPOCHS=4,
    TOY=40,
    MASS=4,
    MASS_EPOCHS=8,
    LARGE=2,
    PAIRS=8,
    ORDERS=3,
    PERMUTATIONS=19,
    STARTS=1,
    SEEDS=2,
    DRAWS=2,
    FIT_EPOCHS=4,
    STEPS=10,
)


@mark.long
def test_symmetry_has_every_cell_and_keeps_the_rows_of_the_other_task(run_small):
    _, first, path = run_small("symmetry", **SMALL)
    # Beside the stored rows of the other task
    first = first[first.task == "digits"].reset_index(drop=True)
    more = SMALL | {"EPOCHS": 12}
    said, both, _ = run_small("symmetry", DATA="digits-near", TABLE=str(path), **more)
    kept = both[both.task == "digits"].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, first)
    near = both[both.task == "digits-near"]
    cells, near_cells = (
        set(zip(rows.experiment, rows.setting, rows.method)) for rows in (first, near)
    )
    assert cells - near_cells == {("sides", "toy", "")}
    table = values(first)
    distances = [key for key in table if (key[0], key[3]) == ("sets", "mmd")]
    assert sum(len(table[key]) for key in distances) == 4 * 15 * 2
    assert np.isfinite(first.value).all()
    for name in ("T1", "T2", "T3", "T4", "T5a", "T5b", "T5c", "T6", "T7", "T8", "T9", "control"):
        assert f"\n{name:8} " in f"\n{said}", name
    recipe = "mass, lr 0.1, batch 16, wd 2e-4"
    mass = np.array(table["sides", recipe, "", "mass"])
    least = np.array(table["sides", recipe, "", "least mass"])
    assert (mass > least).all()
    assert (least > 0).all()


def test_digits_are_all_there_once_and_upright(study):
    train, test, outside = study.splits_of("digits", 0)
    assert (len(train), len(test), len(outside)) == (1347, 450, 450)
    ours = torch.cat([train.x, test.x]).flatten(1) * 16
    theirs = torch.as_tensor(load_digits().data)
    assert torch.equal(ours.round().int().unique(dim=0), theirs.int().unique(dim=0))
    assert torch.equal(outside.x.flatten(1).sort(1).values, test.x.flatten(1).sort(1).values)


@mark.parametrize(
    "ensemble, one_mode, target, said",
    [
        (0.3, 1e-9, 0.5, HOLDS),
        (0.3, 1e-9, 1e-6, NOT),
        (1e-6, 1e-9, 0.5, NOT),
        (0.3, 0.3, 0.5, OPEN),  # one mode is not shown to differ
    ],
)
def test_units_differ_in_one_mode_alone(ensemble, one_mode, target, said, rules):
    def p_values(variant, name, what):
        return np.full(3, ensemble if name == "ensemble" else one_mode)

    assert rules.t6(p_values, target)["verdict"] == said


@mark.parametrize(
    "ratio, least, said",
    [
        (0.5, 0.5, "survives"),
        (0.5, 0.99, "no longer shown"),
        (0.5, 1.5, "reversed"),
        (1.5, 1.5, "survives"),
        (0.99, 0.5, "open; then below VI"),
    ],
)
def test_a_conclusion_survives_where_both_intervals_lie_on_one_side(ratio, least, said, rules):
    spread = 1 + 0.01 * np.arange(3)
    methods = ["vi"] * 3 + ["sabma"] * 3
    rows = pd.DataFrame({"setting": "no KL", "method": methods, "seed": [0, 1, 2] * 2})
    drawn = rows.assign(quantity="sam", value=[1.0] * 3 + list(ratio * spread))
    at_least = rows.assign(quantity="sam at least mass", value=[1.0] * 3 + list(least * spread))
    both = pd.concat([drawn, at_least])
    assert rules.survival(both, "no KL", "sabma", "sam")["then"] == said


@mark.parametrize(
    "far, said",
    [([0.3, 0.4, 0.5], HOLDS), ([1.49, 1.5, 1.51], NOT), ([0.5, 1.0, 1.6], OPEN)],
)
def test_the_control_fails_where_one_method_is_farther_than_copies(far, said, rules):
    distance = {"control": np.ones(3), "swag/multi": np.array(far)}
    near = np.array([0.3, 0.31, 0.32])
    distances = lambda variant, name, quantity: distance.get(name, near)
    assert rules.control(distances)["verdict"] == said
