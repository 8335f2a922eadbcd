"""The experiments on averaging, symmetry and transfer, each run once in its small form, and the
rules of their notebooks."""

import json
import math
import pickle
import runpy
from functools import partial
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import torch
from cases import rng
from experiment_notebooks import FOLDER, functions
from PIL import Image
from pytest import approx, fixture, mark, raises
from scipy import stats
from torch import arange, tensor, zeros
from torch.testing import assert_close
from torchvision import models

import flatviz as fv
from flatviz import symmetry


def values(table):
    """(experiment, setting, method, quantity) -> values over seeds."""
    return (
        table.groupby(["experiment", "setting", "method", "quantity"]).value.apply(list).to_dict()
    )


@mark.long
def test_averaging_meets_at_all_draws_and_keeps_to_weyls_bounds(run_small):
    said, table, _ = run_small("averaging", SEEDS=2, DRAWS=6, EPOCHS=2, STEPS=5, MODE_RUNS=1)
    assert "of 2 seeds:" in said
    table = values(table)
    for method in ("vi", "sabma"):
        of = {key[3]: np.array(v) for key, v in table.items() if key[1:3] == ("rank 5", method)}
        # Of all six draws: one ensemble
        np.testing.assert_allclose(of["nll, 30 sharp"], of["nll, 30 flat"], rtol=1e-4)
        assert (abs(of["nll, 1 sharp"] - of["nll, 1 flat"]) > 1e-4).all()
        assert (of["Weyl lower, sharp"] <= 1.01 * of["Weyl middle, sharp"]).all()
        # The same draws, sharp ones first and flat ones first
        assert (of["Weyl upper, sharp"] > of["Weyl upper, flat"]).all()
    assert len(table["two modes", "width ratio 5", "sabma", "in the wide mode"]) == 4


def test_correlations_are_scipys_and_the_partial_one_is_that_of_residual_ranks():
    a, b, given = torch.randint(0, 6, (3, 25), generator=rng()).double()
    found = functions("averaging")["correlations"](a, b, b, given)
    assert found["correlation with error"] == approx(stats.spearmanr(a, b).statistic, abs=1e-12)
    *ranks, given = (stats.rankdata(x) for x in (a, b, given))
    left = [r - np.polyval(np.polyfit(given, r, 1), given) for r in ranks]
    assert found["correlation with nll given train"] == approx(np.corrcoef(*left)[0, 1], abs=1e-10)


@mark.parametrize("rank", [1, 2, 4])
def test_a_truncated_swag_is_the_swag_of_that_rank(rank, tiny):
    net, data = tiny
    settings = dict(snapshots=6, batch_size=6, seed=0)
    short = functions("averaging")["of_rank"](fv.fit_swag(net, data, rank=4, **settings), rank)
    assert_close(short.factor, fv.fit_swag(net, data, rank=rank, **settings).factor)


def test_both_modes_are_equally_deep_and_runs_that_start_in_one_stay_there():
    space = functions("averaging")
    ends = tensor([-2.0, 2.0]).double()
    nothing = fv.Data(zeros(1, 1).double(), zeros(1, 1).double())
    # The other is 6 widths away
    assert space["loss"](ends, 2.0).tolist() == approx([math.log(2)] * 2, abs=1e-6)
    f = fv.nll(fv.Net.from_module(space["TwoModes"](2.0)), nothing, likelihood=1.0)
    by_hand = -math.log(
        0.5 * math.exp(-0.5 * (2.3 / 0.3) ** 2) + 0.5 * math.exp(-0.5 * (1.7 / 0.6) ** 2)
    )
    by_hand += 1 + 0.5 * math.log(2 * math.pi)
    assert f(tensor([0.3], dtype=torch.float64)) == approx(by_hand, abs=1e-12)
    settings = dict(kl_weight=0.1, steps=30, lr=0.02, momentum=0.9, likelihood=1.0)
    for start, radii, wide in ((1.5, (0.0, 0.5), 1.0), (-2.0, (0.0,), 0.0)):
        cells = [dict(setting="width ratio 5", radius=r, seed=s) for r in radii for s in (0, 1)]
        fits = space["fit_modes"](cells, start=start, settings=settings)
        assert [space["in_the_wide_mode"](q, cell)["in the wide mode"] for cell, q in fits] == [
            wide
        ] * len(cells)


def test_the_quadrature_is_that_of_a_gaussian_mode_and_vanishes_at_the_balance():
    space = functions("averaging")
    of = partial(tensor, dtype=torch.float64)
    g_mean, g_log_std = space["expected_gradient"](of(1.5), of(0.1), 1.0)
    assert g_mean == approx(-0.5 / 0.09, rel=1e-6)
    assert g_log_std == approx(0.01 / 0.09, rel=1e-4)
    assert abs(space["expected_gradient"](of(space["balance"](5.0)), of(0.5), 5.0)[0]) < 1e-9


def resnets(n, width, **how):
    """n small networks trained on 40 digits, and images to judge them on, two sets."""
    data = fv.datasets.digits_transfer().source
    train = data.subset(arange(40))
    test = data.subset(arange(40, 90))
    task = fv.Task(train, train, train, 10)
    nets = [
        fv.pretrain(fv.models.resnet20(task, width=width, seed=i), train, seed=i, lr=0.1, **how)
        for i in range(n)
    ]
    return nets, test, fv.Data(test.x.flip(-1), test.y)


def studied(folder, nets, *images, **small):
    """The study of a folder with these checkpoints: its table, and what the notebook defines."""
    folder.mkdir()
    for i, net in enumerate(nets):
        torch.save(net.to_module().state_dict(), folder / f"{i:02}.pth")
    space = functions("symmetry", MODEL="resnet20", PERMUTATIONS=9, STARTS=1, **small)
    return values(space["study_of"](str(folder), *images)), space


@mark.long
def test_a_folder_of_checkpoints_is_the_same_once_symmetries_are_removed(tmp_path):
    nets, *images = resnets(12, width=4, epochs=2)
    moved = []
    for i, net in enumerate(nets):
        units = symmetry.units_of(net)
        factor = symmetry.random_factor(units, 1, seed=i)
        order = symmetry.random_order(units, 1, seed=i)
        scaled = symmetry.rescale(units, units.extended(net)[None], factor)
        moved.append(units.net_at(net, symmetry.permute(units, scaled, order)[0]))
    plain, twin = (
        studied(tmp_path / name, given, *images, WIDTH=4, PER_SET=4)[0]
        for name, given in (("plain", nets), ("moved", moved))
    )
    # An alignment depends on the order it begins with, an ECE on BatchNorm's eps
    same = ("brier", "mi", "ood_mi", "mean inside", "mean outside")
    for key in plain:
        if key[3] in same or key[1::2] == ("max", "mmd"):
            assert twin[key][0] == approx(plain[key][0], rel=0.02, abs=0.01), key
    raw = {key[2:]: of[0] for key, of in plain.items() if key[1] == "raw"}
    assert raw["single", "mmd"] > raw["control", "mmd"] > 0
    assert raw["single", "mmd"] != approx(twin["checkpoints", "raw", "single", "mmd"][0], rel=0.02)
    assert raw["single", "mi"] == approx(0, abs=1e-6)


@mark.long
def test_fifty_checkpoints_have_the_scores_of_their_networks_and_are_fifty_functions(tmp_path):
    nets, test, outside = resnets(50, width=2, epochs=1, batch_size=10)
    small = dict(WIDTH=2, PER_SET=8, PAIRS=6)
    found, space = studied(tmp_path / "nets", nets, test, outside, **small)
    table = {key[1:]: of[0] for key, of in found.items()}
    _, _, sets, target = space["groups_of"](50)
    outputs = lambda chosen: torch.stack([nets[i](nets[i].w, test.x).detach() for i in chosen])
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


@mark.long
def test_symmetry_has_every_cell_and_a_verdict_on_every_trend(run_small):
    small = dict(
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
    _, first, path = run_small("symmetry", **small)
    # Beside the stored rows of the other task
    first = first[first.task == "digits"].reset_index(drop=True)
    said, both, _ = run_small(
        "symmetry", DATA="digits-near", TABLE=str(path), **small | {"EPOCHS": 12}
    )
    # The other task's rows stay
    pd.testing.assert_frame_equal(both[both.task == "digits"].reset_index(drop=True), first)
    kinds = lambda rows: set(zip(rows.experiment, rows.setting, rows.method))
    assert kinds(first) - kinds(both[both.task == "digits-near"]) == {("sides", "toy", "")}
    assert (
        said.index("digits-near:") < said.index("T2 ") < said.index("digits:") < said.index("T1 ")
    )
    table = values(first)
    assert sum(len(v) for k, v in table.items() if k[0] == "sets" and k[3] == "mmd") == 4 * 15 * 2
    assert all(math.isfinite(v) for of in table.values() for v in of)
    for name in ("T1", "T2", "T3", "T4", "T5a", "T5b", "T5c", "T6", "T7", "T8", "T9", "control"):
        assert f"\n{name:8} " in f"\n{said}", name
    for kind in ("SAM on the mean 0.2, T 0.03", "deep ensemble", "ten networks copied (control)"):
        assert kind in said
    mass, least = (
        np.array(table["sides", "mass, lr 0.1, batch 16, wd 2e-4", "", q])
        for q in ("mass", "least mass")
    )
    assert (mass > least).all()
    assert (least > 0).all()


def test_digits_are_all_there_once_and_upright():
    from sklearn.datasets import load_digits

    train, test, outside = functions("symmetry")["splits_of"]("digits", 0)
    assert (len(train), len(test), len(outside)) == (1347, 450, 450)
    ours = torch.cat([train.x, test.x]).flatten(1) * 16
    theirs = torch.as_tensor(load_digits().data)
    assert torch.equal(ours.round().int().unique(dim=0), theirs.int().unique(dim=0))
    assert torch.equal(outside.x.flatten(1).sort(1).values, test.x.flatten(1).sort(1).values)


def test_removal_changes_no_prediction():
    space = functions("symmetry")
    net = space["net"]
    x = space["test"].x[:20]
    W = net.w * (1 + 0.5 * torch.randn(3, net.dim, generator=rng()))
    for variant in space["VARIANTS"]:
        for a, b in zip(W, space["removed"](W, variant, W[2])):
            assert_close(net(a, x), net(b, x), rtol=1e-3, atol=1e-3, msg=variant)


def test_units_are_the_same_where_each_holds_its_largest_weight_equally_often():
    space = functions("symmetry")
    incoming = space["weights_in"](space["units"], space["units"].permuted[0])  # of each unit
    even, one = zeros(2, 32, space["net"].dim)
    even[arange(32), incoming[arange(32) % 16, 0]] = 1.0
    one[:, incoming[3, 0]] = 1.0
    assert space["same_units"](even)["same units"] == approx(1)
    assert space["same_units"](one)["same units"] < 1e-50


def test_a_ring_that_gathers_is_seen_and_one_that_stays_is_not():
    ring = torch.randn(400, 2, generator=rng())
    values_of = functions("symmetry")["toy_values"]
    found, still = (
        values_of({"raw": ring, "scaled": ring, "sorted": s}) for s in (2 + 0.1 * ring, ring)
    )
    assert found["spread raw"] > 0.95
    assert found["spread removed"] < 0.1
    assert found["fall, low"] > 0.1
    assert still["fall, high"] == approx(0, abs=1e-6)


def test_rules_say_does_not_hold_where_the_figures_do_not():
    rules = runpy.run_path(str(FOLDER / "symmetry.py"))
    verdict = lambda name, *figures: rules[name](*figures)["verdict"]
    found = dict(rules["single"]("toy"))
    assert verdict("t1", found) == "holds"
    assert verdict("t1", found | {"fall, low": -0.1, "fall, high": 0.05}) == "does not hold"
    excess = lambda *values: pd.DataFrame(dict(setting="mass, a", excess=values))
    said = [verdict("t2", excess(*v)) for v in ([30.0] * 8, [0.0] * 8, [30.0, 20.0])]
    assert said == ["holds", "does not hold", "inconclusive"]
    pairs = dict(rules["single"]("pairs"))
    alike = {"mean inside": 0.1, "sd inside": 0.02, "mean outside": 0.3, "Spearman": 1.0}
    # Of the pairs, 0.2 of the mean inside
    for sd, said in (
        (0.04, "does not hold"),
        (0.05, "inconclusive"),
        (0.1, "holds"),
    ):
        found = [row["verdict"] for row in rules["t5"](pairs | alike | {"sd outside": sd})]
        assert found == ["holds", said, "does not hold"]
    assert rules["t5"](pairs | {"least inside": 0.0})[0]["verdict"] == "does not hold"
    units = lambda ensemble: (
        lambda variant, name, what: np.full(3, ensemble if name == "ensemble" else 1e-9)
    )
    for ensemble, target, said in (
        (0.3, 0.5, "holds"),
        (0.3, 1e-6, "does not hold"),
        (1e-6, 0.5, "does not hold"),
    ):
        assert verdict("t6", units(ensemble), target) == said
    # One mode is not shown to differ
    assert verdict("t6", lambda *_: np.full(3, 0.3), 0.5) == "inconclusive"
    early = [0.7, 0.72, 0.71]
    late = [1.0, 0.99, 0.995]
    for first, then, said in ((early, late, "holds"), (late, early, "does not hold")):
        assert (
            verdict("t7", pd.DataFrame({"tau, early": first, "tau, late": then, "epochs": 10}))
            == said
        )


def test_a_conclusion_survives_where_both_intervals_lie_on_one_side():
    rules = runpy.run_path(str(FOLDER / "symmetry.py"))
    for ratio, said in ((0.5, "below VI"), (1.5, "above VI"), (0.99, "open")):
        of = {"vi": np.ones(3), "sabma": ratio * (1 + 0.01 * np.arange(3))}
        table = [
            pd.DataFrame(dict(setting="no KL", method=m, seed=range(3), quantity="sam", value=v))
            for m, v in of.items()
        ]
        table = pd.concat(table)
        assert rules["conclusion"](table, "no KL", "sabma", "sam")[1] == said
        for least, word in (
            ((0.5, "survives"), (0.99, "no longer shown"), (1.5, "reversed"))
            if ratio == 0.5
            else ()
        ):
            value = np.where(table.method == "vi", 1.0, table.value * least / ratio)
            moved = table.assign(quantity="sam at least mass", value=value)
            assert (
                rules["survival"](pd.concat([table, moved]), "no KL", "sabma", "sam")["then"]
                == word
            )


def test_the_control_fails_where_one_method_is_farther_than_copies():
    rules = runpy.run_path(str(FOLDER / "symmetry.py"))
    for far, said in (
        ([0.3, 0.4, 0.5], "holds"),
        ([1.49, 1.5, 1.51], "does not hold"),
        ([0.5, 1.0, 1.6], "inconclusive"),
    ):
        value = {"control": np.ones(3), "swag/multi": np.array(far)}
        default = np.array([0.3, 0.31, 0.32])
        of = lambda variant, name, quantity: value.get(name, default)  # noqa: B023
        assert rules["control"](of)["verdict"] == said


@fixture(scope="module")
def folder(tmp_path_factory):
    """Five classes of stripes of 8 x 8 pixels, 20 images each, as PNG files."""
    root = tmp_path_factory.mktemp("stripes")
    g = np.random.default_rng(0)
    for c, name in enumerate(("ant", "bee", "cow", "dog", "eel")):
        (root / name).mkdir()
        for i in range(20):
            pixels = np.full((8, 8, 3), 40 * c) + g.integers(0, 40, (8, 8, 3))
            pixels[c % 4 :: 4] += 60
            Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(root / name / f"{i}.png")
    return root


SMALL = dict(
    WIDTH=4,
    SEEDS=2,
    METHODS="f-sgd,vi,sabma",
    SHOTS=3,
    SOURCE_IMAGES=12,
    EPOCHS=25,
    TEST_IMAGES=10,
    OUT_IMAGES=8,
    CORRUPTIONS="fog",
    SEVERITIES="3",
    GRADIENTS=8,
    DRAWS=2,
)


@mark.long
def test_transfer_on_a_folder_of_images_tunes_fits_and_compares(folder, run_small):
    said, table, _ = run_small(
        "transfer", DATA=f"image-folder:{folder}", OOD=f"image-folder:{folder}", TRIALS=2, **SMALL
    )
    assert "SA-BMA less VI" in said
    assert "SA-BMA at equal gradients over 2 paired seeds: against VI" in said
    table = values(table)
    assert {key[2] for key in table} == {"f-sgd", "vi", "sabma"}
    assert all(len(v) == 2 for v in table.values())
    for quantity in ("accuracy", "auroc", f"fpr95_out {folder.name}", "accuracy, fog 3"):
        assert all(0 <= v <= 1 for v in table["transfer", "resnet20", "vi", quantity])
    assert (
        table["transfer", "resnet20", "sabma", "nll, fog 3"]
        == table["transfer", "resnet20", "sabma", "shifted_nll"]
    )
    assert "f-sgd: steps 4" in said  # equal gradients: two a step


@mark.long
def test_a_network_without_batchnorm_and_with_a_late_treated_head_gives_the_plain_scores(
    folder, run_small
):
    given = SMALL | dict(
        DATA=f"image-folder:{folder}",
        MODEL="resnet20-group",
        WIDTH=8,
        PRIOR="moped",
        TREATED="head",
        SEEDS=1,
        EPOCHS=60,
        SOURCE_LR=0.03,
        METHODS="vi",
    )
    # without BatchNorm "refresh" does nothing but compute the trunk with every draw
    found = [
        values(run_small("transfer", BATCHNORM=trunk, **given)[1])
        for trunk in ("frozen", "refresh")
    ]
    for quantity in ("nll", "shifted_nll", "lambda1"):
        a, b = (table["transfer", "resnet20-group", "vi", quantity] for table in found)
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


def official_files(root, kinds, n, size=16):
    """Corrupted images in the layout of CIFAR-10-C: (5 n, H, W, 3) bytes a kind, the labels of all
    five severities in labels.npy."""
    noise = np.random.default_rng(0)
    labels = np.tile(np.arange(n) % 4, 5)
    np.save(root / "labels.npy", labels.astype(np.uint8))
    for kind in kinds:
        pixels = noise.integers(0, 255, (5 * n, size, size, 3))
        # The severity in the row of the class
        pixels[np.arange(5 * n), labels * 4] = np.repeat(np.arange(5), n)[:, None, None]
        np.save(root / f"{kind}.npy", pixels.astype(np.uint8))


@mark.long
def test_the_paper_is_run_from_a_file_of_weights_and_the_official_corrupted_images(
    folder, run_small, tmp_path
):
    images = fv.datasets.image_folder(folder)
    torch.save(
        fv.models.resnet20(fv.Task(images, images, images, 7), width=4).state_dict(),
        tmp_path / "weights.pth",
    )
    (tmp_path / "C").mkdir()
    official_files(tmp_path / "C", ("fog", "snow"), 40)
    every = "sgd,f-sgd,fisher_sam,bsam,swag,f-swag,vi,sgld,emcmc,ptl,sabma,rank1_pinv,authors_code"
    name = f"image-folder:{folder}"
    corrupted = str(tmp_path / "C")
    small = dict(
        DATA=name,
        TEST=name,
        SIZE=16,
        CORRUPTED=corrupted,
        SEVERITIES="1,5",
        TARGET_CLASSES="ant,bee,cow,dog",
        SHOTS=3,
        TEST_IMAGES=9,
        MODEL="resnet20",
        WIDTH=4,
        SPECTRA=1,
        DRAWS=2,
        DEVICE="cpu",
        WEIGHTS=str(tmp_path / "weights.pth"),
        CHOICES=str(tmp_path / "choices.json"),
        GRADIENTS=6,
        BATCH=8,
        TRIALS=0,
    )
    said, table, _ = run_small("paper", METHODS=every, SEEDS=2, **small)
    assert "SA-BMA: NLL" in said
    assert "of 2 seeds: " in said
    assert "62.64±2.47" in said
    found = values(table)
    assert {key[2] for key in found} == set(every.split(","))
    assert all(len(v) == 2 for v in found.values())
    for quantity in ("accuracy", "shifted_ece", "accuracy, fog 5", "accuracy, snow 1"):
        assert all(0 <= v <= 1 for v in found["paper", "resnet20", "vi", quantity])
    assert all(v >= 1 for v in found["paper", "resnet20", "sgd", "ratio"])
    swag = dict(
        PRIOR="swag", SOURCE=name, SOURCE_IMAGES=12, SNAPSHOTS=20, SWAG_LR=0.1, PRECISION="bfloat16"
    )
    given = small | swag | dict(METHODS="vi,sabma", SEEDS=1, TRIALS=2)
    said, table, _ = run_small("paper", **given)  # SWAG on the source, from the weights of the file
    assert "source network: accuracy" in said
    assert set(json.loads((tmp_path / "choices.json").read_text())["methods"]) == {
        "vi",
        "sabma",
    }
    # WORKERS: another call than the one that `executed` keeps
    again, same, _ = run_small("paper", WORKERS=1, **given)
    assert "vi: " not in again
    assert "reused" in again
    assert same.value.equals(table.value)


@mark.long
@mark.parametrize(
    "study, model, dim",
    [("paper", "vit_b_16", 3 * 16 + 5 * 9), ("transfer", "vit", 9 * 64 + 5 * 33)],
)
def test_norm_layers_and_head_of_a_vision_transformer_that_is_pre_trained_here(
    study, model, dim, folder, monkeypatch
):
    tiny = dict(image_size=16, patch_size=8, num_layers=1, num_heads=2, hidden_dim=8, mlp_dim=8)
    monkeypatch.setattr(models, "get_model", lambda name, **how: models.VisionTransformer(**tiny))
    images = f"image-folder:{folder}"
    small = SMALL | dict(
        DATA=images,
        SOURCE=images,
        SOURCE_CLASSES="none",
        LEFT_OUT="none",
        MODEL=model,
        PRIOR="moped",
        METHODS="vi,sabma",
        SEEDS=1,
        GRADIENTS=4,
        EPOCHS=60,
        SOURCE_LR=0.3,
        PRECISION="bfloat16",
    )
    space = functions("transfer", **small)
    found = values(space["study"](study))
    assert {key[2] for key in found} == {"vi", "sabma"}
    assert all(math.isfinite(v) for of in found.values() for v in of)
    net = space["prepared"](0, "cpu").late
    assert net.dim == dim, net
    assert {
        type(net.module.get_submodule(b.name.rpartition(".")[0])).__name__ for b in net.blocks
    } <= {"LayerNorm", "Linear"}


def test_torchvisions_weights_of_a_file_make_the_source_and_its_moped_prior(tmp_path):
    from torchvision.models import resnet18

    torch.save((whole := resnet18(num_classes=7)).state_dict(), tmp_path / "weights.pth")
    space = functions(
        "transfer", MODEL="resnet18", WEIGHTS=str(tmp_path / "weights.pth"), PRIOR="moped", SIDE=40
    )
    images = fv.Data(zeros(4, 3, 8, 8, dtype=torch.uint8), arange(4))
    net, prior = space["source_network"](images, [], "cpu")
    assert torch.equal(net.module.network.layer4[1].bn2.weight, whole.layer4[1].bn2.weight)
    assert net.module.side == 40
    assert torch.equal(prior.mean, net.w)
    assert net.w.shape[0] == sum(p.numel() for p in whole.parameters()) - 5 * 513


def test_classes_that_are_named_leave_the_others_to_the_rest():
    split = functions("transfer")["split_classes"]
    names = list("abcdefghij")
    assert [sorted(sum(p, [])) for p in (split(names), split(names, ("", "c,d", "")))] == [
        list(range(10))
    ] * 2
    assert split(names, ("", "d,c", "none"))[1:] == ([3, 2], [])
    assert split(names, ("none", "all", "none")) == ([], list(range(10)), [])
    with raises(ValueError, match="classes must be of a, b, .* got y, z: correct the names"):
        split(names, ("", "a,z,y", ""))
    with raises(
        ValueError, match="two classes to pre-train on and two to learn, got 0 and 10 of 10"
    ):
        split(names, ("", "all", ""))


def test_official_files_are_read_by_severity_and_class_and_cifar_in_the_layout_of_its_pickles(
    tmp_path, monkeypatch
):
    official_files(tmp_path, ["fog"], 40)
    space = functions(
        "transfer", CORRUPTED=str(tmp_path), CORRUPTIONS="", SEVERITIES="2,5", TEST_IMAGES=0
    )
    space["setup"] = SimpleNamespace(classes=([], [2, 0], []))
    case = SimpleNamespace(seed=0, net=SimpleNamespace(device="cpu"))
    for kind, severity, images in space["corrupted"](case):
        assert kind == "fog"
        assert len(images) == 20
        assert images.y.bincount().tolist() == [10, 10]
        for x, y in zip((255 * images.batch(None)[0]).round(), images.y.tolist()):
            assert (x[:, 4 * (2, 0)[y]] == severity - 1).all()
    (tmp_path / "labels.npy").unlink()
    with raises(ValueError, match="CORRUPTED must be a folder with labels.npy"):
        next(space["corrupted"](case))
    for name in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]:
        batch = {"data": np.full((10, 3072), len(name), np.uint8), "labels": list(range(10))}
        (tmp_path / "cifar-10-batches-py").mkdir(exist_ok=True)
        (tmp_path / "cifar-10-batches-py" / name).write_bytes(pickle.dumps(batch))
    meta = {"label_names": [f"kind {c}" for c in range(10)]}
    (tmp_path / "cifar-10-batches-py" / "batches.meta").write_bytes(pickle.dumps(meta))
    monkeypatch.setattr(
        "torchvision.datasets.utils.check_integrity", lambda path, md5=None: Path(path).is_file()
    )
    monkeypatch.setattr(
        "torchvision.datasets.cifar.check_integrity", lambda path, md5=None: Path(path).is_file()
    )
    train, test = (
        space["read_images"](f"cifar10:{tmp_path}", None, train=t) for t in (True, False)
    )
    assert len(train) == 50
    assert len(test) == 10
    assert train.class_names[3] == "kind 3"
    assert train.y.bincount().tolist() == [5] * 10
