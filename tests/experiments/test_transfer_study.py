"""The experiment on transfer, and the paper's, in small form: images of a folder, weights of a
file, corrupted images as they are published."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from cases import refused
from experiment_notebooks import functions, values
from PIL import Image
from pytest import fixture, mark
from torch import arange, zeros
from torchvision import models

import flatviz as fv


@fixture(scope="module")
def folder(tmp_path_factory):
    """Five classes of stripes of 8 x 8 pixels, 20 images each, as PNG files."""
    root = tmp_path_factory.mktemp("stripes")
    g = np.random.default_rng(0)
    for c, name in enumerate(("ant", "bee", "cow", "dog", "eel")):
        (root / name).mkdir()
        for i in range(20):
            pixels = 40 * c + g.integers(0, 40, (8, 8, 3))
            pixels[c % 4 :: 4] += 60
            image = Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
            image.save(root / name / f"{i}.png")
    return root


@fixture
def small(folder):
    """Parameters of a run on the folder in seconds."""
    return dict(
        DATA=f"image-folder:{folder}",
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


def shares(table, *key, of):
    """Whether these quantities of a fit lie between 0 and 1."""
    found = np.array([table[*key, quantity] for quantity in of])
    return ((found >= 0) & (found <= 1)).all()


@mark.long
def test_transfer_on_a_folder_of_images_tunes_fits_and_compares(folder, small, run_small):
    said, table, _ = run_small("transfer", OOD=small["DATA"], TRIALS=2, **small)
    assert "SA-BMA at equal gradients over 2 paired seeds: against VI" in said
    assert "f-sgd: steps 4" in said  # equal gradients: two a step
    table = values(table)
    assert {key[2] for key in table} == {"f-sgd", "vi", "sabma"}
    assert all(len(v) == 2 for v in table.values())
    scores = ("accuracy", "auroc", f"fpr95_out {folder.name}", "accuracy, fog 3")
    assert shares(table, "transfer", "resnet20", "vi", of=scores)
    sabma = ("transfer", "resnet20", "sabma")
    assert table[*sabma, "nll, fog 3"] == table[*sabma, "shifted_nll"]


@mark.long
def test_a_late_treated_head_gives_the_scores_of_the_whole_network(small, run_small):
    """Without BatchNorm "refresh" does nothing but compute the trunk with every draw."""
    given = small | dict(
        MODEL="resnet20-group",
        WIDTH=8,
        PRIOR="moped",
        TREATED="head",
        SEEDS=1,
        EPOCHS=60,
        SOURCE_LR=0.03,
        METHODS="vi",
    )
    late, whole = (
        values(run_small("transfer", BATCHNORM=trunk, **given)[1])
        for trunk in ("frozen", "refresh")
    )
    for quantity in ("nll", "shifted_nll", "lambda1"):
        key = ("transfer", "resnet20-group", "vi", quantity)
        np.testing.assert_allclose(late[key], whole[key], rtol=1e-3, atol=1e-4)


def official_files(root, kinds, n, size=16):
    """Corrupted images in the layout of CIFAR-10-C: (5 n, H, W, 3) bytes a kind, the labels of all
    five severities in labels.npy."""
    root.mkdir(exist_ok=True)
    noise = np.random.default_rng(0)
    labels = np.tile(np.arange(n) % 4, 5)
    np.save(root / "labels.npy", labels.astype(np.uint8))
    for kind in kinds:
        pixels = noise.integers(0, 255, (5 * n, size, size, 3))
        # The severity in the row of the class
        pixels[np.arange(5 * n), labels * 4] = np.repeat(np.arange(5), n)[:, None, None]
        np.save(root / f"{kind}.npy", pixels.astype(np.uint8))


@fixture
def paper(folder, small, tmp_path):
    """Parameters of the paper's experiment: weights of a file, official corrupted images."""
    images = fv.datasets.image_folder(folder)
    network = fv.models.resnet20(fv.Task(images, images, images, 7), width=4)
    torch.save(network.state_dict(), tmp_path / "weights.pth")
    official_files(tmp_path / "C", ("fog", "snow"), 40)
    return dict(
        DATA=small["DATA"],
        TEST=small["DATA"],
        SIZE=16,
        CORRUPTED=str(tmp_path / "C"),
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
    )


@mark.long
def test_the_paper_is_run_from_a_file_of_weights_and_the_official_corrupted_images(
    paper, run_small
):
    every = "sgd,f-sgd,fisher_sam,bsam,swag,f-swag,vi,sgld,emcmc,ptl,sabma,rank1_pinv,authors_code"
    said, table, _ = run_small("paper", METHODS=every, SEEDS=2, TRIALS=0, **paper)
    assert "of 2 seeds: " in said
    assert "62.64±2.47" in said
    found = values(table)
    assert {key[2] for key in found} == set(every.split(","))
    assert all(len(v) == 2 for v in found.values())
    scores = ("accuracy", "shifted_ece", "accuracy, fog 5", "accuracy, snow 1")
    assert shares(found, "paper", "resnet20", "vi", of=scores)
    assert min(found["paper", "resnet20", "sgd", "ratio"]) >= 1


@mark.long
def test_the_paper_makes_a_swag_prior_chooses_settings_and_reuses_what_ended(paper, run_small):
    given = paper | dict(
        METHODS="vi,sabma",
        SEEDS=1,
        TRIALS=2,
        PRIOR="swag",
        SOURCE=paper["DATA"],
        SOURCE_IMAGES=12,
        SNAPSHOTS=20,
        SWAG_LR=0.1,
        PRECISION="bfloat16",
    )
    said, table, _ = run_small("paper", **given)
    assert "source network: accuracy" in said
    choices = json.loads(Path(paper["CHOICES"]).read_text())
    assert set(choices["methods"]) == {"vi", "sabma"}
    # WORKERS: another call than the one that `executed` keeps
    again, same, _ = run_small("paper", WORKERS=1, **given)
    assert "reused" in again
    assert same.value.equals(table.value)


@mark.long
@mark.parametrize(
    "study, model, dim",
    [("paper", "vit_b_16", 3 * 16 + 5 * 9), ("transfer", "vit", 9 * 64 + 5 * 33)],
)
def test_norm_layers_and_head_of_a_vision_transformer_that_is_pre_trained_here(
    study, model, dim, small, monkeypatch
):
    tiny = dict(
        image_size=16,
        patch_size=8,
        num_layers=1,
        num_heads=2,
        hidden_dim=8,
        mlp_dim=8,
    )
    monkeypatch.setattr(models, "get_model", lambda name, **how: models.VisionTransformer(**tiny))
    given = small | dict(
        SOURCE=small["DATA"],
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
    space = functions("transfer", **given)
    found = space.study(study)
    assert set(found.method) == {"vi", "sabma"}
    assert np.isfinite(found.value).all()
    net = space.prepared(0, "cpu").net
    assert net.dim == dim, net


def test_torchvisions_weights_of_a_file_make_the_source_and_its_moped_prior(tmp_path):
    path = tmp_path / "weights.pth"
    whole = models.resnet18(num_classes=7)
    torch.save(whole.state_dict(), path)
    given = dict(MODEL="resnet18", WEIGHTS=str(path), PRIOR="moped", SIDE=40)
    images = fv.Data(zeros(4, 3, 8, 8, dtype=torch.uint8), arange(4))
    net, prior = functions("transfer", **given).source_network(images, [], "cpu")
    assert torch.equal(net.module.network.layer4[1].bn2.weight, whole.layer4[1].bn2.weight)
    assert net.module.side == 40
    assert torch.equal(prior.mean, net.w)
    without_3_classes = sum(p.numel() for p in whole.parameters()) - 5 * 513
    assert net.dim == without_3_classes


def test_classes_that_are_named_leave_the_others_to_the_rest():
    split = functions("transfer").split_classes
    names = list("abcdefghij")
    for parts in (split(names), split(names, ("", "c,d", ""))):
        assert sorted(sum(parts, [])) == list(range(10))
    assert split(names, ("", "d,c", "none"))[1:] == ([3, 2], [])
    assert split(names, ("none", "all", "none")) == ([], list(range(10)), [])
    with refused("classes must be of a, b, .* got y, z: correct the names"):
        split(names, ("", "a,z,y", ""))
    with refused("two classes to pre-train on .* got 0 and 10 of 10"):
        split(names, ("", "all", ""))


def test_official_files_are_read_by_severity_and_class(tmp_path):
    official_files(tmp_path, ["fog"], 40)
    given = dict(
        CORRUPTED=str(tmp_path),
        CORRUPTIONS="",
        SEVERITIES="2,5",
        TEST_IMAGES=0,
    )
    space = functions("transfer", **given)
    space.setup = SimpleNamespace(classes=([], [2, 0], []))
    case = SimpleNamespace(seed=0, net=SimpleNamespace(device="cpu"))
    for kind, severity, images in space.corrupted(case):
        assert kind == "fog"
        assert images.y.bincount().tolist() == [10, 10]
        bytes_of = (255 * images.batch(None)[0]).round()
        for x, y in zip(bytes_of, images.y.tolist()):
            row_of_class = 4 * (2, 0)[y]
            assert (x[:, row_of_class] == severity - 1).all()
    (tmp_path / "labels.npy").unlink()
    with refused("CORRUPTED must be a folder with labels.npy"):
        next(space.corrupted(case))
