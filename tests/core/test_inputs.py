"""Images kept as bytes and inputs by name give what the same floats in one tensor, or the bare
module, give; names of classes."""

import dataclasses
import warnings

import torch
from brought import Reader
from cases import around, net_of, random_surface, rng, warned
from internals import pack
from oracles import equal
from pytest import fixture, mark, raises
from torch import arange, nn, ones, rand, randint, tensor, uint8, zeros
from torch.nn import Linear
from torch.testing import assert_close
from torch.utils.data import DataLoader, Subset, TensorDataset

import flatviz as fv
from flatviz import datasets
from flatviz.core import Pixels

ANIMALS = ("cat", "dog", "frog", "ship")


@fixture
def photos():
    """30 images of 3 x 8 x 8 as bytes, the same as floats, and a net with BatchNorm."""
    x = randint(0, 256, (30, 3, 8, 8), dtype=uint8)
    y = arange(30) % 3
    module = nn.Sequential(
        nn.Conv2d(3, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Flatten(),
        Linear(144, 3),
    )
    net = net_of(module, "norm+head")
    floats = x.float() / 255
    return net, fv.Data(x, y), fv.Data(floats, y)


def numbers(net, data):
    """What verbs of every kind give of these examples."""
    f = fv.nll(net, data)
    noise = torch.randn(3, net.dim, generator=rng(1))
    W = net.w + 0.1 * noise
    fresh = fv.engine.refresh_batchnorm(net, net.w, data, batch_size=12)
    prediction = fv.predict(net, W, data, 3, seed=0, batchnorm="frozen")
    return {
        "many": f.many(W),
        "surface": random_surface(f, resolution=5).values,
        "eigenvalues": fv.top_eigenpairs(f, net.w, 2).values,
        "outputs": prediction.outputs,
        "variance": fresh.buffers()["1.running_var"],
        "fit": fv.fit(net, data, fv.SGD(), seed=0, steps=5, batch_size=8).center,
        "members": fv.fit(
            net,
            data,
            fv.Ensemble(members=3),
            seed=0,
            steps=4,
            batch_size=7,
        ).W,
    }


def test_images_in_bytes_are_a_quarter_of_the_floats_and_give_the_same_numbers(photos):
    net, kept, floats = photos
    assert kept.x.bytes.dtype == uint8
    assert repr(kept) == "Data(30 examples, x (30, 3, 8, 8) uint8, classes 0..2)"
    assert equal(numbers(net, kept), numbers(net, floats))
    assert fv.nll(net, kept).key != fv.nll(net, floats).key != ""
    some = kept.subset(tensor([5, 6]))
    assert some.x.bytes.dtype == uint8
    got = some.batch(None)[0]
    assert equal(got, floats.x[5:7])
    double = kept.to(dtype=torch.float64)
    assert double.x.bytes.dtype == uint8
    assert double.batch(None)[0].dtype == torch.float64
    task = datasets.transfer_task(kept, kept, shots=3)
    plain = datasets.transfer_task(floats, floats, shots=3)
    got = task.test.batch(None)[0]
    assert equal(got, plain.test.x)
    assert task.input_shape == (3, 8, 8)
    noisy = datasets.corrupt(kept, "gaussian_noise", 3, seed=0)
    want = datasets.corrupt(floats, "gaussian_noise", 3, seed=0)
    assert noisy.x.bytes.dtype == uint8
    half = 0.5 / 255 + 1e-6
    found = noisy.batch(None)[0]
    assert_close(found, want.x, rtol=0, atol=half)


class Counted(torch.utils.data.Dataset):
    """Images that are not in memory, with a count of reads."""

    def __init__(self, x, y):
        self.x = x
        self.y = y
        self.reads = 0

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        self.reads += 1
        return self.x[i], int(self.y[i])


@mark.parametrize("streamed", [False, True])
def test_examples_too_many_to_become_floats_at_once_give_the_same_numbers(
    photos, monkeypatch, streamed
):
    net, kept, floats = photos
    want = numbers(net, floats)
    monkeypatch.setattr("flatviz.core.data.MAX_BYTES", 100)
    data = kept
    if streamed:
        data = datasets.stream(Counted(kept.x.bytes, kept.y))
    assert not data.in_memory
    for name, value in numbers(net, data).items():
        # Sums of other batches, in float32
        rtol = 1e-4 if name == "eigenvalues" else 1e-5
        assert_close(value, want[name], rtol=rtol, atol=1e-6)


def sentences():
    lengths = randint(2, 8, (24, 1))
    mask = (arange(7) < lengths).long()
    x = {"input_ids": randint(0, 9, (24, 7)), "attention_mask": mask}
    return fv.Data(x, arange(24) % 2)


def test_inputs_by_name_reach_the_module_as_keywords_in_every_verb():
    """Loss, surface and a fit of a classifier of text, against the module itself."""
    data = sentences()
    source = net_of(Reader().eval(), example=data.x)
    q = around(source, -3.0)
    net, prior = fv.transfer(source, q, treated="norm+head", head_std=0.3)

    def plain(w):
        module = net.to_module(w).eval()
        logits = module(**data.x.named)["logits"]
        return nn.functional.cross_entropy(logits, data.y).detach()

    f = fv.nll(net, data)
    noise = torch.randn(net.dim, generator=rng(2))
    w = net.w + 0.2 * noise
    plane = fv.plane_random(net, w, seed=0)
    surface = fv.slice_plane(f, plane, resolution=3, extent=0.5)
    points = plane.points(torch.cartesian_prod(surface.a, surface.b))
    want = torch.stack([plain(point) for point in points])
    found = surface.values.flatten().float()
    assert_close(found, want, rtol=1e-4, atol=1e-5)
    q = fv.fit(
        net,
        data,
        fv.SABMA(prior, radius=0.3, lr=0.05, kl_weight=0.0),
        seed=0,
        steps=40,
    )
    assert f(q.mean) < f(net.w)
    p = fv.predict(net, q, data, 4, seed=0)
    assert p.outputs.shape == (4, len(data), 2)
    few = data.subset(tensor([2, 0]))
    ids = data.x.named["input_ids"]
    assert equal(few.x.named["input_ids"], ids[[2, 0]])


def test_a_data_set_that_is_streamed_is_read_in_order_and_once_a_block(photos):
    net, kept, floats = photos
    examples = Counted(kept.x.bytes, kept.y)
    data = datasets.stream(examples)
    text = "Data(30 examples, x (30, 3, 8, 8) float32, streamed, classes 0..2)"
    assert repr(data) == text
    assert equal(data.y, kept.y)
    found = data.batch(tensor([7, 2]))[0]
    assert equal(found, floats.x[[7, 2]])
    for _ in range(2):  # the same order each time
        read = [x for x, _ in data.batches(8)]
        assert equal(torch.cat(read), floats.x)
    f = fv.nll(net, data)
    before = examples.reads
    random_surface(f, resolution=5)
    # Each batch is read once for all 25 points, not once a point
    assert examples.reads - before < 6 * len(data)
    task = datasets.transfer_task(data, data, shots=3)
    assert task.input_shape == (3, 8, 8)
    assert len(task.test) == 12


def test_a_stream_takes_loaders_and_has_no_hash(photos, tmp_path):
    net, _, floats = photos
    pairs = TensorDataset(floats.x, floats.y)
    data = datasets.stream(DataLoader(pairs, batch_size=4, shuffle=True))
    assert equal(data.batch(None)[0], floats.x)
    f = fv.nll(net, data)
    with warned("values not kept on disk"):  # the files behind it may change
        random_surface(f, resolution=3, cache=tmp_path)
    assert not list(tmp_path.iterdir())


class Augmented(Counted):
    """Every second time an image is read it is mirrored."""

    def __getitem__(self, i):
        x, y = super().__getitem__(i)
        if rand(()) < 0.5:
            x = x.flip(-1)
        return x, y


IDS = ones(4, 7).long()
LABELS = zeros(4).long()
NAN = float("nan")
BYTES = randint(0, 256, (30, 3, 2, 2), dtype=uint8)
TWO = {"input_ids": IDS, "attention_mask": IDS[:3]}
WRONG = [
    (
        lambda: Pixels(BYTES / 255),
        "pixels must be uint8 of shape",
    ),
    (
        lambda: fv.Data(TWO, LABELS),
        "attention_mask and y must be of one length, got 3 inputs and 4",
    ),
    (
        lambda: fv.Data({"input_ids": [1, 2]}, LABELS[:2]),
        "x must hold tensors by the module's argument names, or in their order, got",
    ),
    (
        lambda: fv.Data({"embeds": tensor([[NAN]])}, LABELS[:1]),
        "embeds must be finite, got 1 NaN",
    ),
    (
        lambda: fv.nll(
            net_of(Reader().eval(), example=sentences().x),
            fv.Data({"words": IDS}, LABELS),
        ),
        r"inputs words .* do not pass through .* as keywords.*unexpected keyword argument 'words'",
    ),
    (
        lambda: datasets.stream(pair for pair in ()),
        "a stream needs a data set with a length and examples.i., got generator: .*data_from",
    ),
    (
        lambda: datasets.stream([{"x": 1}]),
        r"each example must be a pair \(x tensor, y\), got dict",
    ),
    (
        lambda: next(datasets.stream([(tensor([NAN]), 0)]).batches(1)),
        "x must be finite, got NaN or inf .* in a batch",
    ),
    (
        lambda: next(datasets.stream([(zeros(2), 0), (zeros(3), 0)]).batches(2)),
        "inputs must be of one shape",
    ),
    (
        lambda: datasets.stream(Augmented(BYTES, arange(30))),
        r"must be the same each time they are read, got random ones \(augmentation\)",
    ),
    (
        lambda: fv.Data(ones(4, 2), arange(4), ("a", "b")),
        "name every class, 0 to 3, got 2 names",
    ),
    (
        lambda: fv.Data(ones(2, 2), arange(2), "ab"),
        "class_names must be a tuple of texts",
    ),
    (
        lambda: fv.Data(ones(2, 2), ones(2, 1), ("a",)),
        "class_names belong to class labels",
    ),
]


@mark.parametrize("make, text", WRONG)
def test_inputs_that_cannot_be_used_are_one_clear_error(make, text):
    with raises((ValueError, TypeError), match=text):
        make()


def test_names_stay_with_the_examples_wherever_these_go():
    images = randint(0, 255, (80, 3, 8, 8), dtype=uint8)
    data = fv.Data(images, arange(80) % 4, ANIMALS)
    task = datasets.transfer_task(data, data, shots=3, seed=0)
    moved = (
        *datasets.few_shot(data, 3, seed=0),
        *task.parts().values(),
        datasets.corrupt(data, "gaussian_noise", 1, seed=0),
        datasets.images_like(data, (1, 6, 6)),
        data.subset(tensor([1, 2])),
        data.to("cpu"),
    )
    assert {d.class_names for d in moved} == {ANIMALS}
    found = datasets.pick_classes(data, [3, 0]).class_names
    assert found == ("ship", "cat")


def test_a_data_set_of_someone_elses_gives_the_names_it_has():
    pairs = TensorDataset(rand(12, 3, 8, 8), arange(12) % 4)
    pairs.classes = list(ANIMALS)  # as torchvision's
    some = Subset(pairs, range(6))
    loader = DataLoader(pairs, batch_size=5)
    for given in (pairs, some, loader):
        assert datasets.data_from(given).class_names == ANIMALS
        assert datasets.stream(given).class_names == ANIMALS
    pairs.classes = ["cat", "dog"]  # too few of them are none
    assert datasets.data_from(pairs).class_names == ()


def test_a_prediction_has_the_names_of_its_data_and_a_file_gives_them_back(tmp_path):
    net = net_of(Linear(2, 3))
    data = fv.Data(ones(4, 2), tensor([0, 1, 1, 0]), ("cat", "dog"))
    prediction = fv.predict(net, net.w[None], data, 1, seed=0)
    back = fv.load(fv.save(prediction, tmp_path / "prediction.pt"))
    assert back.class_names == ("cat", "dog")
    assert back.classes == ("cat", "dog", "2")  # an output without a name has a number
    twice = dataclasses.replace(prediction, class_names=("crane", "crane"))
    assert twice.classes == ("crane (0)", "crane (1)", "2")  # a bar each


def test_pictures_and_their_words_call_classes_by_name(family):
    digits = tuple("zero one two three four five six seven eight nine".split())
    named = [p.changed(class_names=digits) for p in family.prediction]
    index = pack(family.each(prediction=tuple(named))).index
    for member in index["members"]:
        assert member["images"]["classes"] == list(digits)
    captions = {figure["name"]: figure["caption"] for figure in index["figures"]}
    assert "two×4 for two by four draws" in captions["images"]


def test_images_from_0_to_255_are_warned_of_and_others_not():
    module = nn.Sequential(nn.Conv2d(3, 2, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    net = fv.Net.from_module(module)
    bytes = torch.randint(0, 256, (6, 3, 8, 8), dtype=torch.uint8)
    y = torch.arange(6) % 2
    raw = bytes.float()
    with warned("from 0 to 1, or normalised .* got values up to 25.: give bytes"):
        fv.nll(net, fv.Data(raw, y))
    with warned("got values up to 25"):
        fv.predict(net, net.w[None], raw, 1, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (bytes, raw / 255, (raw / 255 - 0.5) / 0.2, raw / 16):
            fv.nll(net, fv.Data(x, y))
