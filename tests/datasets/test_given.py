"""Whatever form the same examples come in, `data_from` gives the same data, and leaves the user's
random numbers alone."""

import warnings

import brought
import numpy as np
import pandas as pd
import torch
from cases import net_of, refused, rng
from PIL import Image
from pytest import mark
from torch import nn
from torch.testing import assert_close
from torch.utils.data import (
    DataLoader,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)

import flatviz as fv
from flatviz.datasets import data_from

X = torch.rand(10, 3)
Y = torch.arange(10) % 3
IDS = torch.arange(40).view(10, 4)
MASK = torch.ones(10, 4).long()
NAMES = np.array(["ant", "bee", "cat"])
PAIRS = TensorDataset(X, Y)
# Hugging Face
ROWS = [
    {"input_ids": i.tolist(), "attention_mask": m.tolist(), "labels": int(y)}
    for i, m, y in zip(IDS, MASK, Y)
]


class Endless(IterableDataset):
    """Without a length, as a stream from a disk."""

    def __iter__(self):
        return zip(X, Y)


PLAIN = {
    "data": fv.Data(X, Y),
    "a pair of tensors": (X, Y),
    "arrays": (X.double().numpy(), Y.int().numpy()),
    "arrays of another machine": (X.numpy().astype(">f4"), Y.numpy().astype(">i8")),
    "arrays of which nothing is masked": (np.ma.array(X.numpy()), np.ma.array(Y.numpy())),
    "lists": (X.tolist(), Y.tolist()),
    "a list of numpy's numbers": (X.numpy(), list(Y.numpy())),
    "a list of tensors": (X, list(Y)),
    "labels in a tuple": (X.numpy(), tuple(Y.tolist())),
    "texts in a tuple": (X.tolist(), tuple(NAMES[Y])),
    "a frame and a series of a split": (
        pd.DataFrame(X.numpy(), index=range(5, 15)),
        pd.Series(Y.numpy(), index=range(90, 100)),
    ),
    "a column of labels": (X, Y[:, None]),
    "one-hot labels": (X, nn.functional.one_hot(Y).float()),
    "texts": (X, NAMES[Y]),
    "texts as bytes": (X, NAMES.astype("S")[Y]),
    "a frame of columns of several types": (pd.DataFrame(X.numpy()).astype({0: object}), Y),
    "texts in a series": (X, pd.Series(NAMES[Y]).astype("category")),
    "a list of arrays, as rows": (list(X.numpy()), Y.tolist()),
    "examples of numpy's numbers": [(list(x), int(y)) for x, y in zip(X.numpy(), Y)],
    "examples in lists": [[x.tolist(), int(y)] for x, y in PAIRS],
    "a data set": PAIRS,
    "a list of examples": list(PAIRS),
    "examples with texts": [(x, NAMES[y]) for x, y in PAIRS],
    "an iterable data set": Endless(),
    "a loader": DataLoader(PAIRS, batch_size=4),
    "a loader without batches": DataLoader(PAIRS, batch_size=None),
    "a loader of an iterable data set": DataLoader(Endless(), batch_size=4),
    "a loader of texts": DataLoader([(x, str(NAMES[y])) for x, y in PAIRS], batch_size=4),
}
AS_TENSORS = [{name: torch.tensor(v) for name, v in row.items()} for row in ROWS]
NESTED = [((i, m), y) for i, m, y in zip(IDS, MASK, Y)]
SEVERAL = {
    "a dict and labels": ({"input_ids": IDS, "attention_mask": MASK}, Y),
    "a dict of columns": {"input_ids": IDS, "attention_mask": MASK.numpy(), "labels": Y},
    "examples that are dicts": ROWS,
    "a loader of dicts": DataLoader(AS_TENSORS, batch_size=4),
    "pairs of a dict and a label": [
        ({"input_ids": i, "attention_mask": m}, y) for (i, m), y in NESTED
    ],
    "three tensors": TensorDataset(IDS, MASK, Y),
    "a loader of three": DataLoader(TensorDataset(IDS, MASK, Y), batch_size=3),
    "((x1, x2), y)": NESTED,
    "a loader of ((x1, x2), y)": DataLoader(NESTED, batch_size=4),
    "columns": ((IDS, MASK.numpy()), Y),
    "columns in a list": ([IDS, MASK], Y),
    "([x1, x2], y)": [([i, m], y) for (i, m), y in NESTED],
}


@mark.parametrize("given", PLAIN.values(), ids=PLAIN)
def test_one_input_and_a_label(given):
    data = data_from(given)
    assert torch.equal(data.x, X)
    assert torch.equal(data.y, Y)
    assert data.class_names in ((), tuple(NAMES))
    assert torch.equal(data_from(given, 7).y, Y[:7])


class Reader(nn.Module):
    """Bilinear in both inputs, so that neither can be dropped."""

    def __init__(self):
        super().__init__()
        self.head = nn.Bilinear(4, 4, 3)

    def forward(self, input_ids, attention_mask):
        return {"logits": self.head(input_ids.float(), 0.1 + attention_mask.float())}


@mark.parametrize("given", SEVERAL.values(), ids=SEVERAL)
def test_inputs_by_name_or_in_order_reach_the_module(given):
    data = data_from(given)
    module = Reader()
    want = module(IDS, MASK)["logits"].detach()
    inputs = dict(data.x.named)
    if "input_ids" not in inputs:
        inputs = tuple(inputs.values())
    for example in (None, inputs, data.x, data):
        net = net_of(module, example=example)
        assert_close(net(net.w, inputs), want)
        assert_close(fv.nll(net, data)(net.w), nn.functional.cross_entropy(want, Y))
    assert fv.fit(
        net,
        data,
        fv.Ensemble(members=2),
        seed=0,
        steps=2,
    ).W.shape == (2, net.dim)


SIZED = TensorDataset(torch.arange(40.0)[:, None], torch.arange(40) // 10)


def fixed(sampler):
    return torch.utils.data.BatchSampler(sampler, 4, drop_last=False)


class Twice(torch.utils.data.Sampler):
    """A sampler of the user's own."""

    def __iter__(self):
        return iter([0, 0, 1, 1])

    def __len__(self):
        return 4


WEIGHTED = WeightedRandomSampler(torch.arange(40.0), 40)
MATTERING = {
    "weights": dict(batch_size=8, sampler=WEIGHTED),
    "weights in a sampler of batches": dict(batch_sampler=fixed(WEIGHTED)),
    "an own sampler": dict(sampler=Twice()),
    "an own sampler of batches": dict(batch_sampler=[[0, 1], [1]]),
    "the last rows dropped": dict(batch_size=16, drop_last=True),
    "a part of several machines": dict(
        sampler=DistributedSampler(SIZED, num_replicas=2, rank=0, shuffle=False)
    ),
}
ALIKE = {
    "shuffled": dict(batch_size=16, shuffle=True, drop_last=True),
    "with replacement": dict(sampler=RandomSampler(SIZED, replacement=True)),
    "none dropped": dict(batch_size=10, drop_last=True),
    "without batches": dict(batch_size=None),
    "own collation": dict(collate_fn=lambda rows: tuple(map(torch.stack, zip(*rows)))),
}


@mark.parametrize("options", [*MATTERING.values(), *ALIKE.values()], ids=[*MATTERING, *ALIKE])
def test_a_loader_stands_for_its_data_set_and_says_where_its_passes_are_others(options):
    loader = DataLoader(SIZED, **options)
    for read in (data_from, fv.datasets.stream):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            data = read(loader)
        assert torch.equal(data.tensor(), SIZED.tensors[0])
        assert torch.equal(data.y, SIZED.tensors[1])
        said = [str(w.message) for w in seen if "the loader's data set" in str(w.message)]
        assert len(said) == (options in MATTERING.values())
        assert all(w.filename == __file__ for w in seen)


@mark.parametrize("sampler", [SubsetRandomSampler([7, 3, 5]), [7, 3, 5]], ids=["random", "list"])
def test_of_a_loader_that_lists_its_indices_the_data_are_those(sampler):
    """A split in training and validation, as tutorials make it."""
    loader = DataLoader(SIZED, sampler=sampler)
    for read in (data_from, fv.datasets.stream):
        assert read(loader).tensor()[:, 0].tolist() == [3, 5, 7]


def test_some_examples_of_a_loader_that_shuffles_are_of_all_classes():
    """The data set is sorted by class, as folders are."""
    some = data_from(DataLoader(SIZED, shuffle=True), 20)
    assert some.y.unique().tolist() == [0, 1, 2, 3]
    assert torch.equal(some.x, data_from(DataLoader(SIZED, shuffle=True), 20).x)
    assert data_from(DataLoader(SIZED), 20).y.unique().tolist() == [0, 1]


class Pictures:
    """Images of PIL in one mode, without a transform."""

    def __init__(self, mode):
        self.mode = mode

    def __len__(self):
        return 6

    def __getitem__(self, i):
        return self.array(i)[1], i % 2

    def array(self, i):
        colour = np.random.default_rng(i).integers(0, 255, (9, 7, 3), dtype=np.uint8)
        image = Image.fromarray(colour).convert(self.mode)
        plain = {"P": "RGB", "1": "L"}.get(self.mode, self.mode)
        return np.array(image.convert(plain)), image


@mark.parametrize("mode, channels", [("RGB", 3), ("L", 1), ("RGBA", 4), ("P", 3), ("1", 1)])
@mark.parametrize("read", [data_from, fv.datasets.stream])
def test_images_of_pil_are_bytes_with_channels_first(read, mode, channels):
    given = Pictures(mode)
    data = read(given)
    assert data.x.shape == (6, channels, 9, 7)
    for i in range(6):
        want = torch.from_numpy(given.array(i)[0]).view(9, 7, channels).permute(2, 0, 1) / 255
        assert_close(data.x[i], want)


BYTES = torch.randint(0, 255, (6, 9, 7, 3), dtype=torch.uint8, generator=rng(0))


@mark.parametrize(
    "given",
    [
        (BYTES, torch.arange(6)),
        (BYTES.numpy(), np.arange(6)),
        (BYTES.movedim(-1, 1), torch.arange(6)),
        list(zip(BYTES.numpy(), range(6))),
        DataLoader(TensorDataset(BYTES, torch.arange(6)), batch_size=4),
    ],
    ids=["tensor", "array", "channels first", "examples", "loader"],
)
def test_bytes_with_channels_last_become_channels_first(given):
    data = data_from(given)
    assert_close(data.x[:], BYTES.movedim(-1, 1) / 255)


def test_bytes_that_are_no_images_stay():
    tokens = BYTES[:, :, 0]  # (N, 9, 3)
    assert torch.equal(data_from((tokens, torch.arange(6))).x, tokens)


@mark.parametrize("generator", [None, rng(1)])
def test_a_loader_is_read_without_moving_any_generator_of_the_users(generator):
    loader = DataLoader(PAIRS, batch_size=4, shuffle=True, generator=generator)
    before = torch.get_rng_state()
    own = None if generator is None else generator.get_state()
    assert sorted(data_from(loader).x[:, 0].tolist()) == sorted(X[:, 0].tolist())
    assert torch.equal(before, torch.get_rng_state())
    assert own is None or torch.equal(own, generator.get_state())


def test_a_loaders_sampler_is_read_without_moving_its_generator():
    generator = rng(1)
    before = generator.get_state()
    data_from(DataLoader(PAIRS, batch_size=4, sampler=RandomSampler(PAIRS, generator=generator)))
    assert torch.equal(before, generator.get_state())


def test_dates_are_one_clear_error():
    with refused("x must hold numbers .* transform to tensors", TypeError):
        data_from((np.array(["2026-11-27", "2026-11-28"], dtype="datetime64[D]"), [0, 1]))


def test_texts_of_a_test_set_are_numbered_as_those_of_the_training_set():
    train = data_from((X, NAMES[Y]))
    assert data_from((X[:2], ["cat", "ant"]), classes=train.class_names).y.tolist() == [2, 0]
    with refused(r"labels must be of the classes .*, got 'dog'"):
        data_from((X[:1], ["dog"]), classes=train.class_names)


def test_one_example_may_have_a_text_as_label():
    data = data_from((X[:1], ["dog"]))
    assert data.y.tolist() == [0]
    assert data.class_names == ("dog",)
    assert data_from([(X[0], "dog")]).y.tolist() == [0]


FRAME = pd.DataFrame({"age": [1.0, 2.0], "city": ["x", "y"]})
WRONG = {
    "a dict alone": (
        [{"x": 1}],
        TypeError,
        "example 0 must have inputs and one of labels, .* got .'x'.",
    ),
    "x alone": (
        [X],
        TypeError,
        r"each example must be a pair \(x, y\), or a dict with labels, got Tensor in example 0",
    ),
    "none": ([], ValueError, "at least one"),
    "empty arrays": ((X[:0].numpy(), Y[:0].numpy()), ValueError, "at least one example"),
    "masked values": (
        (np.ma.array(X.numpy(), mask=X.numpy() > 0.5), Y),
        ValueError,
        "x must have no masked values, got [1-9]",
    ),
    "a sparse tensor": ((X.to_sparse(), Y), TypeError, r"x must be a dense .*x.to_dense\(\)"),
    "a list of batches": (
        list(DataLoader(PAIRS, batch_size=4)),
        ValueError,
        r"one shape, got \(4, 3\) and \(2, 3\): .*the loader itself",
    ),
    "sentences of several lengths": (
        [([1, 2], 0), ([1], 1)],
        ValueError,
        r"one shape, got \(2,\) and \(1,\): pad",
    ),
    "texts as inputs": (
        [("a film", 0)],
        TypeError,
        "x must hold numbers of one shape, got a str .*tokenize",
    ),
    "a frame with texts": (
        (FRAME, [0, 1]),
        TypeError,
        "a DataFrame .texts, as in .1.0, 'x'",
    ),
    "a missing label": ((X[:2], ["ant", None]), ValueError, "labels must all be texts, got None"),
    "NaN as a label": (
        (X[:2], ["ant", float("nan")]),
        ValueError,
        "labels must all be texts, got nan",
    ),
    "texts and numbers": (
        [(X[0], "ant"), (X[1], 1)],
        ValueError,
        "labels must all be texts, got 1",
    ),
    "a number": (3, TypeError, r"examples must be \(x, y\), a data set or a loader, got int"),
}


@mark.parametrize("given, kind, text", WRONG.values(), ids=WRONG)
def test_what_is_no_data_is_one_clear_error(given, kind, text):
    with refused(text, kind):
        data_from(given)


def test_the_table_of_chapter_13_is_what_its_rows_give():
    text = brought.CHAPTER.read_text(encoding="utf-8")
    assert len(brought.ROWS) >= 30 and brought.written(text) == text, (
        "run python tests/brought.py, then .ci/sync_notebooks.py"
    )


class Listed:
    """A data set that lists its labels; reading an example is counted."""

    targets = Y.tolist()

    def __init__(self):
        self.reads = 0

    def __len__(self):
        return 10

    def __getitem__(self, i):
        self.reads += 1
        return X[i], int(Y[i])


class Halved(Listed):
    """As a `target_transform`: labels that are not those of the list."""

    def __getitem__(self, i):
        return X[i], int(Y[i]) // 2


class Unlisted(Listed):
    targets = None


class Texts(Listed):
    targets = [NAMES[y] for y in Y]

    def __getitem__(self, i):
        return X[i], NAMES[Y[i]]


ONE_HOT = list(zip(X, nn.functional.one_hot(Y).float()))


@mark.parametrize("given", [Halved(), Unlisted(), Texts(), ONE_HOT, list(zip(X, NAMES[Y]))])
def test_a_stream_has_the_labels_of_the_same_data_in_memory(given):
    streamed = fv.datasets.stream(given)
    data = data_from(given)
    assert streamed.y.dtype == data.y.dtype == torch.int64
    assert torch.equal(streamed.y, data.y)
    assert streamed.class_names == data.class_names


def test_whole_numbers_among_objects_are_classes():
    flags = (Y == 0).numpy()
    for given in (pd.Series(Y.numpy(), dtype=object), flags.astype(object)):
        y = data_from((X, given)).y
        assert y.dtype == torch.int64
        assert y.tolist() == given.tolist()


def test_a_stream_takes_the_list_of_labels_and_reads_examples_when_they_are_needed():
    """Eight examples are read twice, to see that they stay the same."""
    source = Listed()
    data = fv.datasets.stream(source)
    assert source.reads == 16
    assert torch.equal(data.y, Y)
    assert torch.equal(data.tensor(), X)
    assert source.reads == 26


@mark.parametrize("columns", [True, False])
def test_a_square_list_holds_rows_of_one_input(columns):
    rows = [row.numpy() for row in X[:3]]
    y = [0, 1, 0] if columns else torch.tensor([0, 1, 0])
    assert torch.equal(data_from((rows, y)).x, X[:3])


@mark.parametrize(
    "targets",
    [pd.Series(Y.numpy(), index=range(90, 100)), [[0]] * 9 + [[1, 2]]],
    ids=["a series with an index of its own", "lists of several lengths"],
)
def test_a_stream_reads_the_labels_of_examples_whatever_targets_are(targets):
    source = Listed()
    source.targets = targets
    assert torch.equal(fv.datasets.stream(source).y, Y)


def test_a_curvature_reads_again_only_examples_whose_graphs_are_not_kept(monkeypatch):
    monkeypatch.setattr("flatviz.objectives.curvature.batch_that_fits", lambda *_: 4)
    source = Listed()
    net = net_of(nn.Linear(3, 3))
    f = fv.nll(net, fv.datasets.stream(source))
    product = f.operator(net.w)
    v = torch.randn(net.dim)
    first = product(v)
    before = source.reads
    again = product(v)
    assert source.reads - before == 6  # of ten: the graph of four is kept
    assert_close(again, first)
    assert_close(again, fv.nll(net, fv.Data(X, Y)).hvp(net.w, v))
