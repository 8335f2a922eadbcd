"""Names of classes go with the data into every picture, and back from a file."""

import dataclasses

import pytest
import torch
from torch.utils.data import DataLoader, Subset, TensorDataset

import flatviz as fv
from flatviz.families.own import examples
from flatviz.pages.bundle import pack

ANIMALS = ("cat", "dog", "frog", "ship")


@pytest.fixture
def data():
    return fv.Data(torch.randint(0, 255, (80, 3, 8, 8), dtype=torch.uint8), torch.arange(80) % 4, ANIMALS)


def test_names_stay_with_the_examples_wherever_these_go(data):
    parts = fv.datasets.few_shot(data, 3, seed=0)
    task = fv.datasets.transfer_task(data, data, shots=3, seed=0)
    altered = fv.datasets.corrupt(data, "gaussian_noise", 1, seed=0), fv.datasets.images_like(data, (1, 6, 6))
    subsets = data.subset(torch.tensor([1, 2])), data.to("cpu"), task.to("cpu").test
    assert {d.class_names for d in (*parts, task.train, task.validation, task.test, *altered, *subsets)} == {ANIMALS}
    assert fv.datasets.pick_classes(data, [3, 0]).class_names == ("ship", "cat")
    assert fv.datasets.pick_classes(dataclasses.replace(data, class_names=()), [3, 0]).class_names == ()


def test_a_data_set_of_someone_elses_gives_the_names_it_has():
    pairs = TensorDataset(torch.rand(12, 3, 8, 8), torch.arange(12) % 4)
    pairs.classes = list(ANIMALS)  # as torchvision's
    for given in (pairs, Subset(pairs, range(6)), DataLoader(pairs, batch_size=5)):
        assert fv.datasets.data_from(given).class_names == fv.datasets.stream(given).class_names == ANIMALS
        assert examples(given, "train").class_names == ANIMALS
    pairs.classes = ["cat", "dog"]  # too few of them are none
    assert fv.datasets.data_from(pairs).class_names == ()


@pytest.mark.parametrize(("y", "names", "error"), [
    (torch.arange(4), ("a", "b"), "must name every class, 0 to 3, got 2 names"),
    (torch.arange(2), "ab", "class_names must be a tuple of texts"),
    (torch.arange(2), (0, 1), "class_names must be a tuple of texts"),
    (torch.rand(2, 1), ("a",), "class_names belong to class labels"),
])  # fmt: skip
def test_names_that_do_not_fit_are_refused(y, names, error):
    with pytest.raises((ValueError, TypeError), match=error):
        fv.Data(torch.zeros(len(y), 2), y, names)


def test_a_prediction_has_the_names_of_its_data_and_a_file_gives_them_back(tmp_path):
    net, data = fv.Net.from_module(torch.nn.Linear(2, 3)), fv.Data(torch.ones(4, 2), torch.tensor([0, 1, 1, 0]), ("cat", "dog"))
    prediction = fv.predict(net, fv.Gaussian(net.w, torch.full((net.dim,), -2.0)), data, 2, seed=0)
    fv.save(prediction, tmp_path / "prediction.pt")
    for p in (prediction, fv.load(tmp_path / "prediction.pt")):
        assert p.class_names == ("cat", "dog") and p.classes == ("cat", "dog", "2")  # an output without a name has a number
    twice = dataclasses.replace(prediction, class_names=("crane", "crane"))
    assert twice.classes == ("crane (0)", "crane (1)", "2")  # a bar each


def test_pictures_and_their_words_call_classes_by_name(family):
    digits = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    family = family.each(prediction=tuple(dataclasses.replace(p, class_names=digits) for p in family.prediction))
    index = pack(family).index
    assert all(meta["images"]["classes"] == list(digits) for meta in index["members"])
    (caption,) = [f["caption"] for f in index["figures"] if f["name"] == "images"]
    assert "two×4 for two by four draws" in caption
