"""The transfer study on small image folders: what is split, what is said, what is kept, where it resumes."""

import csv
import math

import numpy as np
import pytest
import torch

import flatviz as fv
from flatviz.cli import main
from flatviz.studies.claims import Difference, judge
from flatviz.studies.transfer import QUANTITIES, Row, TransferStudy, check_learned, study_transfer
from flatviz.studies.transfer_claims import answer, compare_with
from flatviz.studies.transfer_setting import Scheme, Sizes, method_of, network, split_classes, steps_of

SMALL = Sizes(
    12, 4, snapshots=3, shots=3, n_test=10, n_out=8, kinds=("fog",), severities=(3,), gradients=8, n_draws=2, n_spectra=1
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Five classes of stripes of 8 x 8 pixels, 20 images each, as PNG files."""
    image = pytest.importorskip("PIL.Image")
    root, g = tmp_path_factory.mktemp("stripes"), np.random.default_rng(0)
    for c, name in enumerate(("ant", "bee", "cow", "dog", "eel")):
        (root / name).mkdir()
        for i in range(20):
            pixels = np.full((8, 8, 3), 40 * c) + g.integers(0, 40, (8, 8, 3))
            pixels[c % 4 :: 4] += 60
            image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(root / name / f"{i}.png")
    return root


@pytest.fixture(scope="module")
def stripes(folder):
    pytest.importorskip("torchvision")
    return fv.datasets.image_folder(folder)


def test_the_command_prints_its_tables_and_writes_page_and_csv(folder, tmp_path, capsys):
    pytest.importorskip("torchvision")
    sizes = "--source-images 12 --epochs 25 --snapshots 5 --shots 3 --test-images 10 --out-images 8 --gradients 8 --draws 2 --spectra 1"
    command = f"transfer --data image-folder:{folder} --width 4 --seeds 2 --methods sam,vi,sabma --corruptions fog --severities 3 {sizes}"
    assert main([*command.split(), "--threads", "1", "--out", str(tmp_path / "t.html")]) == 0
    said = capsys.readouterr().out
    assert "sizes: 25 epochs on 12 images a source class" in said and "severity 3" in said
    assert "SA-BMA less VI" in said and "SA-BMA at equal gradients over 2 paired seeds: against VI" in said
    assert "BatchNorm frozen statistics" in said
    rows = list(csv.DictReader((tmp_path / "t.csv").open()))
    assert len(rows) == 3 * 2 * 2 and {r["method"] for r in rows} == {"f-sgd", "vi", "sabma"}
    assert {r["batchnorm"] for r in rows} == {"frozen"} and {r["severity"] for r in rows} == {"0", "3"}
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert "flatviz transfer --data" in page and 'id="severity-fog"' in page


def test_a_stopped_study_resumes_and_gives_the_same_rows(stripes):
    classes, make = split_classes(("ant", "bee", "cow", "dog", "eel")), network("resnet20", width=4)
    heard = []
    settings = dict(methods=["sgd", "vi"], sizes=SMALL, scheme=Scheme(prior="moped"), say=heard.append)

    def stop(done, total, label):
        if label == "seed 1" and done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study_transfer(stripes, classes, make, seeds=2, progress=stop, **settings)
    resumed = study_transfer(stripes, classes, make, seeds=2, **settings)
    again = study_transfer(stripes, classes, make, seeds=2, **settings)
    for quantity in QUANTITIES:
        assert torch.equal(resumed.of("vi", quantity), again.of("vi", quantity))
    assert sum("pre-trained network: computing" in text for text in heard) == 1
    assert sum("pre-trained network: reused" in text for text in heard) == 2


def test_refreshed_statistics_downstream_prior_and_groups_are_named_in_the_result(stripes):
    classes = split_classes(("ant", "bee", "cow", "dog", "eel"))
    scheme = Scheme(prior="downstream", batchnorm="refresh")
    study = study_transfer(stripes, classes, network("resnet20", width=4), methods=["vi"], seeds=1, sizes=SMALL, scheme=scheme)
    assert study.rows["vi"][0].shift.batchnorm == "re-estimated" and study.rows["vi"][0].shift.trunk == "fixed"
    make = network("resnet20-group", width=8)  # pretrained: its random weights are taken as they are
    group = study_transfer(
        stripes,
        classes,
        make,
        methods=["vi"],
        seeds=1,
        sizes=SMALL,
        scheme=Scheme(prior="moped", trunk="sampled"),
        pretrained=True,
    )
    assert group.rows["vi"][0].shift.batchnorm is None and group.rows["vi"][0].shift.trunk == "sampled"


def test_with_the_head_alone_treated_the_trunk_is_kept_and_the_scores_are_the_plain_ones(stripes, monkeypatch, tmp_path):
    classes = split_classes(("ant", "bee", "cow", "dog", "eel"))
    settings = dict(methods=["vi"], seeds=1, sizes=SMALL, scheme=Scheme(prior="moped", treated="head"), pretrained=True)
    make = network("resnet20-group", width=8)  # without BatchNorm both paths fit by the same settings of the records
    kept = study_transfer(stripes, classes, make, **settings)
    batch = study_transfer(stripes, classes, network("resnet20", width=4), **settings)
    assert batch.rows["vi"][0].shift.batchnorm == "frozen" and kept.rows["vi"][0].shift.batchnorm is None
    monkeypatch.setattr(Scheme, "keeps_trunk", False)
    monkeypatch.setenv("FLATVIZ_CACHE", str(tmp_path))  # an empty one
    plain = study_transfer(stripes, classes, make, **settings)
    for quantity in ("nll", "shifted_nll", "lambda1"):
        torch.testing.assert_close(kept.of("vi", quantity), plain.of("vi", quantity), rtol=1e-3, atol=1e-4)


def test_a_dead_network_is_not_transferred(stripes):
    heard = []
    check_learned(0.8, stripes, 2, heard.append)
    assert heard == ["pre-trained: accuracy 80.0 % on 100 other images of the source classes, chance 50 %"]
    with pytest.raises(ValueError, match="pre-training must learn its 2 classes, got accuracy 60 % where chance is 50 %"):
        check_learned(0.6, stripes, 2, heard.append)


def test_every_method_takes_the_same_gradients(stripes):
    net = fv.Net.from_module(network("resnet20", width=4)(fv.Task(stripes, stripes, stripes, 5)).eval(), example=stripes.x[:2])
    steps = {name: steps_of(fv.METHODS[name], net, 100)["steps"] for name in ("sgd", "f-sgd", "vi", "sabma", "swag", "f-swag")}
    snapshots = fv.METHODS["swag"].tuned(net).settings["snapshots"]
    assert steps == {"sgd": 100, "f-sgd": 50, "vi": 100, "sabma": 50, "swag": 100 - snapshots, "f-swag": 50 - snapshots}
    assert method_of("sam") == "f-sgd"


def test_classes_are_split_into_three_disjoint_parts():
    names = tuple("abcdefghij")
    parts = split_classes(names)
    assert sorted(parts.source + parts.target + parts.out) == list(range(10))
    assert (len(parts.source), len(parts.target), len(parts.out)) == (4, 4, 2)
    with pytest.raises(ValueError, match="data must have at least 5 classes"):
        split_classes(("a", "b"))


def study_of(values):
    """A study of `nll` alone, one list of seeds a method; the other quantities are equal for all."""
    rows = {
        m: tuple(Row({q: v if q == "nll" else 1.0 for q in QUANTITIES}, None, None) for v in of_seeds)
        for m, of_seeds in values.items()
    }
    return TransferStudy(rows, split_classes(tuple("abcde")), Sizes(), Scheme(), 1.0, "")


def test_the_sentence_follows_from_the_paired_differences():
    base = [1.0, 1.3, 0.9, 1.1, 1.2, 1.4]
    noise = [0.001, -0.001, 0.002, 0.0, 0.001, -0.002]
    study = study_of(
        {"sabma": [b - 0.1 + n for b, n in zip(base, noise)], "vi": base, "f-sgd": [b + n for b, n in zip(base, noise)]}
    )
    verdicts = {(v.difference.cell[1], v.difference.quantity): v for v in compare_with(study)}
    assert verdicts["vi", "nll"].word == "holds" and verdicts["vi", "accuracy"].word == "cannot tell"
    assert verdicts["vi", "nll"].difference.mean == pytest.approx(-0.1, abs=1e-3)
    assert "against VI better in NLL; undecided in accuracy" in answer(list(verdicts.values()))
    assert "over 6 paired seeds" in answer(list(verdicts.values())) and "no more" in answer(list(verdicts.values()))
    worse = compare_with(study_of({"sabma": [b + 0.1 + n for b, n in zip(base, noise)], "vi": base}))
    assert "worse in NLL" in answer(worse)
    assert "undecided in all 7 quantities" in answer(compare_with(study_of({"sabma": base[::-1], "vi": base})))
    assert compare_with(study_of({"vi": base})) == [] and "not compared" in answer([])
    diverged = compare_with(study_of({"sabma": [math.nan, *base[1:]], "vi": base}))
    assert len(next(v for v in diverged if v.difference.quantity == "nll").difference.values) == 5
    assert judge([Difference(("sabma", "vi"), "", "nll", torch.tensor([0.0, 0.0]))])[0].word == "cannot tell"
