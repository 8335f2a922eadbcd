"""The transfer study on small image folders: what is split, what is said, what is kept, where it resumes."""

import csv
import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

import flatviz as fv
from flatviz.cli import main
from flatviz.families.members import fit_member
from flatviz.families.shift import SCORES
from flatviz.storage.committed import committed
from flatviz.studies.claims import Difference, judge
from flatviz.studies.transfer import TransferStudy, study_transfer
from flatviz.studies.transfer_claims import answer, compare_with
from flatviz.studies.transfer_seed import LEFT_OUT, QUANTITIES, Row, TargetSeed, risk_with_outside
from flatviz.studies.transfer_setting import Scheme, Sizes, method_of, network, split_classes, steps_of
from flatviz.studies.transfer_source import check_learned, source_network
from flatviz.studies.transfer_tuning import SPANS, read_source, tune_source, tune_transfer, with_source

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


@pytest.fixture(scope="module")
def grey(tmp_path_factory):
    """A folder of other images, of another size and without colour."""
    image = pytest.importorskip("PIL.Image")
    root, g = tmp_path_factory.mktemp("grey") / "noise", np.random.default_rng(1)
    for name in ("x", "y"):
        (root / name).mkdir(parents=True)
        for i in range(6):
            image.fromarray(g.integers(0, 255, (12, 12), dtype=np.uint8)).save(root / name / f"{i}.png")
    return root


def test_the_command_prints_its_tables_and_writes_page_and_csv(folder, grey, tmp_path, capsys):
    pytest.importorskip("torchvision")
    sizes = "--source-images 12 --epochs 25 --snapshots 5 --shots 3 --test-images 10 --out-images 8 --gradients 8 --draws 2 --spectra 1"
    command = f"transfer --data image-folder:{folder} --width 4 --seeds 2 --methods sam,vi,sabma --corruptions fog --severities 3 {sizes}"
    assert (
        main(
            [
                *command.split(),
                "--threads",
                "1",
                "--ood",
                f"image-folder:{grey}",
                "--trials",
                "2",
                "--out",
                str(tmp_path / "t.html"),
            ]
        )
        == 0
    )
    said = capsys.readouterr().out
    assert "sizes: 25 epochs on 12 images a source class" in said and "severity 3" in said
    assert "SA-BMA less VI" in said and "SA-BMA at equal gradients over 2 paired seeds: against VI" in said
    assert "BatchNorm frozen statistics" in said
    rows = list(csv.DictReader((tmp_path / "t.csv").open()))
    assert len(rows) == 3 * 2 * 2 and {r["method"] for r in rows} == {"f-sgd", "vi", "sabma"}
    assert {r["batchnorm"] for r in rows} == {"frozen"} and {r["severity"] for r in rows} == {"0", "3"}
    assert all(0 <= float(r["auroc noise"]) <= 1 and 0 <= float(r["fpr95_out noise"]) <= 1 for r in rows)
    assert "noise: AUROC" in said and "left-out classes: FPR95" in said
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert "flatviz transfer --data" in page and all(f'id="{name}"' in page for name in ("severity-fog", "risk-noise", "risk"))
    assert "chosen by 2 trials of each method on the validation splits of seeds 1000, 1001" in page
    chosen = json.loads((tmp_path / "t.tuned.json").read_text())
    assert {m: c["trials"] for m, c in chosen["methods"].items()} == {"f-sgd": 2, "vi": 2, "sabma": 2}
    again = f"{command} --tuned {tmp_path / 't.tuned.json'} --threads 1 --out {tmp_path / 'u.html'} --methods vi --seeds 1"
    assert main(again.split()) == 0
    first, second = (list(csv.DictReader((tmp_path / name).open())) for name in ("t.csv", "u.csv"))
    assert [r["nll"] for r in first if (r["method"], r["seed"]) == ("vi", "0")] == [r["nll"] for r in second]
    assert main([*again.split(), "--trials", "2"]) == 1 and "leave one of them out" in capsys.readouterr().err


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


def test_a_folder_larger_than_memory_is_read_batch_by_batch_and_gives_the_same_rows(folder, stripes, monkeypatch):
    streamed = fv.datasets.image_folder(folder, memory=1000)
    assert "streamed" in repr(streamed) and "streamed" not in repr(stripes)
    most, batch = [], type(streamed.x)._batch
    monkeypatch.setattr(type(streamed.x), "_batch", lambda self, rows: most.append(len(rows)) or batch(self, rows))
    classes, make = split_classes(("ant", "bee", "cow", "dog", "eel")), network("resnet20", width=4)
    settings = dict(methods=["sgd", "vi"], seeds=1, sizes=replace(SMALL, snapshots=5), scheme=Scheme())
    here, there = (study_transfer(data, classes, make, **settings) for data in (stripes, streamed))
    for quantity in ("accuracy", "nll", "shifted_nll", "auroc", "lambda1"):
        assert torch.equal(here.of("vi", quantity), there.of("vi", quantity)), quantity
    assert 0 < max(most) <= 24 < len(streamed)  # two source classes of twelve; the third part is held, as bytes
    heard = []
    study_transfer(streamed, classes, make, **settings, say=heard.append)
    assert any("pre-trained network: reused" in text for text in heard)  # files that did not change are known
    (folder / "ant" / "0.png").touch()
    study_transfer(fv.datasets.image_folder(folder, memory=1000), classes, make, **settings, say=heard.append)
    assert any("pre-trained network: computing" in text for text in heard)


def test_settings_are_tried_equally_often_the_records_first_and_scored_on_the_validation_split(stripes):
    classes, make = split_classes(("ant", "bee", "cow", "dog", "eel")), network("resnet20", width=4)
    settings = dict(sizes=SMALL, scheme=Scheme(prior="moped"))
    tunings = tune_transfer(stripes, classes, make, methods=["sgd", "swag", "sabma"], trials=3, seeds=[1000], **settings)
    source = source_network(stripes, classes, make, pretrained=False, **settings)
    one = TargetSeed.of(stripes, classes, source.net, source.prior, SMALL, Scheme(prior="moped"), 1000)
    assert {name: len(t.trials) for name, t in tunings.items()} == {"sgd": 3, "swag": 3, "sabma": 3}
    for name in ("sgd", "swag"):  # the first trial is what the study does without a choice
        fit = steps_of(fv.METHODS[name], one.net, SMALL.gradients) | ({"snapshots": 20} if name == "swag" else {})
        q = fit_member(one.net, one.task, one.prior, name, seed=1000, fit=fit)
        W = q.W if name == "sgd" else q.sample(30, seed=1001)
        log_p = torch.stack([one.net(w, one.task.validation.x[:]).log_softmax(-1) for w in W]).logsumexp(0) - math.log(len(W))
        nll = -float(log_p.gather(1, one.task.validation.y[:, None]).mean())
        assert tunings[name].trials[0].nll[0] == pytest.approx(nll, rel=1e-4)
    rates = [t.choice.settings["lr"] for t in tunings["sabma"].trials]
    assert len(set(rates)) == 3 and len({t.choice.radius for t in tunings["sabma"].trials}) == 3
    assert {t.choice.settings["steps"] for t in tunings["sabma"].trials} == {4}  # equal gradients: two a step
    best = tunings["sgd"].best
    assert best.score == min(t.score for t in tunings["sgd"].trials)
    tuned = {"sgd": best.choice}
    study = study_transfer(stripes, classes, make, methods=["sgd", "vi"], seeds=1, tuned=tuned, **settings)
    assert study.tuned == tuned
    plain = study_transfer(stripes, classes, make, methods=["sgd", "vi"], seeds=1, **settings)
    assert torch.equal(study.of("vi", "nll"), plain.of("vi", "nll"))
    assert (best is tunings["sgd"].trials[0]) == torch.equal(study.of("sgd", "nll"), plain.of("sgd", "nll"))


def test_pretraining_and_swag_are_tried_too_and_a_recipe_that_learns_nothing_is_not_chosen(stripes, monkeypatch, tmp_path):
    classes, make = split_classes(("ant", "bee", "cow", "dog", "eel")), network("resnet20", width=4)
    monkeypatch.setitem(SPANS, "source_lr", (1e-9, 2e-9))  # of the second trial
    sizes = replace(SMALL, snapshots=5, epochs=20)
    found = tune_source(stripes, classes, make, trials=2, seeds=[1000], sizes=sizes)
    assert found.tried[0] == pytest.approx({"source_lr": 0.1, "swag_lr": 0.005, "scale": 1.0}) and found.best == found.tried[0]
    assert math.isfinite(found.nll[0]) and found.nll[1] == math.inf
    assert found.to_dict()["did_not_learn"] == 1
    dead = "flatviz.studies.transfer_source.fit_swag"
    monkeypatch.setattr(dead, lambda net, *_, **__: fv.Gaussian(torch.zeros_like(net.w), torch.zeros_like(net.w)))
    with pytest.raises(ValueError, match="SWAG must leave a network that learned, got .* lower its rate"):
        source_network(stripes, classes, make, pretrained=False, sizes=replace(sizes, swag_lr=0.7), scheme=Scheme())
    (tmp_path / "t.json").write_text(json.dumps({"methods": {}, "source": found.to_dict()}))
    assert read_source(tmp_path / "t.json") == pytest.approx(found.best)
    assert with_source(sizes, Scheme(), {**found.best, "scale": 7.0})[1].scale == 7.0


def test_risk_with_images_from_outside_counts_every_answer_to_one_as_a_mistake():
    logits = torch.tensor([[[3.0, 0.0], [0.0, 1.0], [2.0, 0.0]]])
    clean, out = fv.Prediction(logits, torch.tensor([0, 0, 0])), fv.Prediction(torch.tensor([[[0.0, 2.5], [0.1, 0.0]]]))
    # by largest probability: 3.0 right, 2.5 outside, 2.0 right, 1.0 wrong, 0.1 outside
    torch.testing.assert_close(risk_with_outside(clean, out), torch.tensor([0.0, 1 / 2, 1 / 3, 2 / 4, 3 / 5]))


def test_every_set_of_images_outside_is_scored_for_every_method(stripes):
    classes, make = split_classes(("ant", "bee", "cow", "dog", "eel")), network("resnet20", width=4)
    black = fv.Data(torch.zeros(9, 3, 8, 8, dtype=torch.uint8), torch.zeros(9).long())
    settings = dict(methods=["sgd", "vi"], seeds=1, sizes=SMALL, scheme=Scheme(prior="moped"))
    study = study_transfer(stripes, classes, make, outside={"black": black}, **settings)
    assert study.outside == [LEFT_OUT, "black"]
    for method in ("sgd", "vi"):
        assert torch.equal(study.ood(method, LEFT_OUT, "auroc"), study.of(method, "auroc"))
        assert study.ood(method, "black", "base_out").tolist() == pytest.approx([9 / (9 + 10)])
        risks = study.risks_with("black")[method]
        assert risks.shape == (1, 19)
        assert float(risks[0, -1]) == pytest.approx((9 + 10 * (1 - float(study.of(method, "accuracy")))) / 19)


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
    return TransferStudy(rows, split_classes(tuple("abcde")), Sizes(), Scheme(), 1.0)


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


def test_the_committed_table_gives_the_sentence_of_its_readme():
    lines = list(csv.DictReader(committed("transfer_cifar10.csv").open(encoding="utf-8")))
    rows = {}
    for method in dict.fromkeys(line["method"] for line in lines):
        rows[method] = []
        for seed in sorted({int(line["seed"]) for line in lines}):
            of = [line for line in lines if (line["method"], int(line["seed"])) == (method, seed)]
            parts = {"": [r for r in of if r["severity"] == "0"], "shifted_": [r for r in of if r["severity"] != "0"]}
            values = {f"{part}{q}": sum(float(r[q]) for r in some) / len(some) for part, some in parts.items() for q in SCORES}
            values |= {q: float(of[0][q]) for q in ("auroc", "lambda1", "seconds")}
            rows[method].append(Row(values, None, None))
    study = TransferStudy({m: tuple(r) for m, r in rows.items()}, split_classes(tuple("abcdefghij")), Sizes(), Scheme(), 1.0)
    told = [v for v in compare_with(study) if v.word != "cannot tell"]
    print(answer(compare_with(study)))
    assert [(v.difference.cell[1], v.difference.quantity, v.word) for v in told] == [("vi", "shifted_nll", "holds")]
    assert len(compare_with(study)) == 14 and set(rows) == {"sgd", "f-sgd", "swag", "f-swag", "vi", "sabma"}
