"""What people bring, what they write and what they get: the table of chapter 13, made and run from
one list.

`python tests/brought.py` writes it into the chapter's source.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import torch
from PIL import Image
from scipy.sparse.linalg import eigsh  # noqa: F401 (rows name it)
from torch import nn
from torch.distributions import Poisson  # noqa: F401 (rows name it)
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset, TensorDataset  # noqa: F401

import flatviz as fv

CHAPTER = Path(__file__).parent.parent / "notebooks" / "src" / "13_your_own_network.py"
LOADED = lambda got, module: (
    "a copy with its weights" if torch.equal(got.weight, module.weight) else "another network"
)
HEAD = "# | you bring | you write | you get |"
ROWS = [  # what it is, the call, and what of its result is shown
    ("arrays", "fv.datasets.data_from((x.numpy(), y.numpy()))", "got"),
    ("a pandas `DataFrame` and `Series`", "fv.datasets.data_from((frame, series))", "got"),
    ("class names as labels", 'fv.datasets.data_from((x, ["cat", "dog"] * 6)).class_names', "got"),
    ("one-hot labels", "fv.datasets.data_from((x, F.one_hot(y)))", "got"),
    ("a `Dataset`", "fv.datasets.data_from(pairs)", "got"),
    ("a `DataLoader`", "fv.datasets.data_from(DataLoader(pairs, batch_size=5))", "got"),
    ("an `IterableDataset`", "fv.datasets.data_from(endless, 7)", "got"),
    (
        "tokenized text (Hugging Face)",
        "fv.datasets.data_from(rows)",
        "f'{len(got)} examples of {\", \".join(got.x.named)}'",
    ),
    ("a classifier of text", "fv.Net.from_module(reader, example=rows_as_data)", "got"),
    (
        "its posterior",
        "fv.fit(reads, rows_as_data, fv.Ensemble(members=3), steps=9, seed=0)",
        "got",
    ),
    ("two inputs", "fv.Data((x, x), y)", "got"),
    ("a class folder", "fv.datasets.image_folder(folder)", "got"),
    ("data beyond memory", "fv.datasets.stream(pairs)", "got"),
    (
        "a checkpoint of Lightning",
        "fv.models.load_weights(module, lightning)",
        "LOADED(got, module)",
    ),
    (
        "a checkpoint of DataParallel or `torch.compile`",
        "fv.models.load_weights(module, compiled)",
        "LOADED(got, module)",
    ),
    ("frozen layers", "fv.Net.from_module(frozen)", "got"),
    (
        "a part by name (an adapter, LoRA)",
        'fv.Net.from_module(frozen, lambda name: name.startswith("2."))',
        "got",
    ),
    (
        "a head of many classes (a language model)",
        'fv.fit(tagger, fv.Data(words, tags), fv.Laplace(structure="diagonal"), seed=0, steps=9)',
        "got",
    ),
    (
        "an LSTM",
        "fv.fit(fv.Net.from_module(lstm), sequences, fv.Ensemble(members=2), steps=2, seed=0)",
        "got",
    ),
    (
        "unequal classes",
        "fv.nll(net, data, likelihood=fv.Likelihood.categorical(weight=torch.tensor([1.0, 3.0])))",
        "value",
    ),
    (
        "label smoothing",
        "fv.nll(net, data, likelihood=fv.Likelihood.categorical(label_smoothing=0.1))",
        "value",
    ),
    ("segmentation, (N, C, H, W)", "fv.nll(pixels, fv.Data(images, masks))", "value"),
    ("tokens, (N, T, C), with -100", "fv.nll(tagger, fv.Data(words, tags))", "value"),
    ("one logit", 'fv.nll(line, data, likelihood="bernoulli")', "value"),
    ("several labels an example", 'fv.nll(net, fv.Data(x, many), likelihood="bernoulli")', "value"),
    ("a regression of known noise", "fv.nll(line, fv.Data(x, t), likelihood=0.5)", "value"),
    ("mean and variance as outputs", 'fv.nll(net, fv.Data(x, t), likelihood="gaussian")', "value"),
    (
        "a noise to be learned",
        "fv.Net.from_module(fv.models.learned_noise(nn.Linear(3, 1)))",
        "got",
    ),
    (
        "another distribution",
        "fv.nll(line, fv.Data(x, counts),"
        " likelihood=fv.Likelihood(lambda o: Poisson(o[:, 0].exp())))",
        "value",
    ),
    ("a module that ends in `Softmax`", "fv.nll(soft, data)", "error"),
    ("outputs of another library", "fv.Prediction(logits, y)", "', '.join(got.scores)"),
    (
        "predictions of two models",
        'fv.plots.plot_reliability({"A": mine, "B": theirs})',
        "' and '.join(line.name for line in got.data[1:])",
    ),
    ("weights that you sampled", "fv.predict(net, W, data, 3, seed=0)", "', '.join(got.scores)"),
    (
        "two models",
        "fv.slice_line(fv.nll(net, data), W[0], W[1], resolution=5).barrier",
        "f'{got:.2g}'",
    ),
    (
        "a plain loss function",
        "fv.top_eigenpairs(lambda w: (w**4).sum(), torch.ones(3), 1)",
        "f'λ₁ = {float(got.values[0]):.3f}'",
    ),
    (
        "an image or a row to vary",
        "fv.top_eigenpairs(fv.input_nll(net, data), x.flatten(), 1)",
        "f'λ₁ = {float(got.values[0]):.3f} in the inputs'",
    ),
    (
        "activations (n, d)",
        "fv.top_eigenpairs(lambda h: F.cross_entropy(h, y), logits[0], 1)",
        "f'λ₁ = {float(got.values[0]):.3f}'",
    ),
    (
        "a solver of scipy",
        "eigsh(fv.landscape.curvature_operator(fv.nll(net, data), net.w), 1)[0]",
        "f'λ₁ = {float(got[0]):.3f}'",
    ),
    (
        "minibatches",
        "fv.landscape.batch_eigenvalues(fv.nll(net, data), net.w, batch_size=4)",
        'f\'λ₁ = {", ".join(f"{float(s.values[0]):.3f}" for s in got)} of three batches\'',
    ),
    (
        "derivatives inside the loss (PINN)",
        "fv.hessian_trace(physics, torch.ones(4), products=6)",
        "f'trace {float(got[0]):.3f}'",
    ),
    ("a training loop", "fv.record_path(module, every=5)", "looped(got, data)"),
    ("a logger", "fv.record_path(module, data=data, log=writer.add_scalar)", "looped(got, data)"),
    (
        "two networks to compare",
        "fv.compare(net, net.at(W[0]), data)",
        "got.sentence.rstrip('.')",
    ),
]


class Endless(IterableDataset):
    """A data set without a length."""

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __iter__(self):
        while True:
            yield from zip(self.x, self.y)


class Reader(nn.Module):
    """Text to logits, by an embedding and a transformer's encoder, as Hugging Face's models take
    and return them."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(9, 4)
        self.classifier = nn.Linear(4, 2)
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 1, enable_nested_tensor=False
        )

    def forward(self, input_ids, attention_mask):
        read = self.encoder(self.embed(input_ids), src_key_padding_mask=attention_mask == 0)
        return {"logits": self.classifier(read[:, 0])}


class Lstm(nn.Module):
    """The last state of a sequence to logits."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, batch_first=True)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


def descended(module, data):
    """Twenty steps of anybody's loop."""
    optimiser = torch.optim.SGD(module.parameters(), lr=0.1)
    for _ in range(20):
        optimiser.zero_grad()
        F.cross_entropy(module(data.x), data.y).backward(), optimiser.step()


def looped(path, data):
    """What a recorded loop leaves."""
    with path:
        descended(path.module, data)
    return path if path.watch is None else curvature(path)


def curvature(path):
    """First and last value."""
    first, *_, last = (f"{value:.3f}" for value in path.history.lambda1.tolist())
    return f"λ₁ {first} at step 0, {last} at step {path.steps[-1]}"


def things(folder):
    """What the rows name."""
    torch.default_generator.manual_seed(0)  # of the table that is stored
    x = torch.randn(12, 3)
    y = torch.arange(12) % 2
    module = nn.Linear(3, 2)
    frozen = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
    frozen[0].requires_grad_(False)
    state = module.state_dict()
    lightning = folder / "epoch.ckpt"
    compiled = folder / "compiled.pt"
    folder = folder / "photos"
    parts = {f"model.{k}": v for k, v in state.items()}
    kept = {"state_dict": parts, "hyper_parameters": argparse.Namespace(lr=0.1)}
    torch.save(kept, lightning)
    torch.save({f"module._orig_mod.{k}": v for k, v in state.items()}, compiled)
    grey = Image.fromarray(np.full((8, 8, 3), 99, dtype=np.uint8))
    for name in ("cat", "dog"):
        (folder / name).mkdir(parents=True)
        grey.save(folder / name / "1.gif")
    rows = [
        {"input_ids": [i % 9] * 5, "attention_mask": [1] * 5, "labels": i % 2} for i in range(12)
    ]
    net = fv.Net.from_module(module)
    line = fv.Net.from_module(nn.Linear(3, 1))
    reader = Reader().eval()
    rows_as_data = fv.datasets.data_from(rows)
    reads = fv.Net.from_module(reader, "head", example=rows_as_data)
    frame = pd.DataFrame(x.numpy())
    series = pd.Series(y.numpy())
    pairs = TensorDataset(x, y)
    endless = Endless(x, y)
    lstm = Lstm()
    sequences = fv.Data(torch.randn(12, 5, 3), y)
    data = fv.Data(x, y)
    pixels = fv.Net.from_module(nn.Conv2d(3, 2, 1))
    images = torch.randn(12, 3, 4, 4)
    masks = torch.randint(0, 2, (12, 4, 4))
    tagger = fv.Net.from_module(nn.Linear(5, 2))
    words = torch.randn(12, 4, 5)
    tags = y[:, None].expand(-1, 4).clone()
    tags[:, 3] = -100
    many = torch.randint(0, 2, (12, 2))
    writer = SimpleNamespace(add_scalar=lambda name, value, step: None)
    t = torch.randn(12, 1)
    counts = torch.arange(12)
    logits = torch.randn(3, 12, 2)
    soft = fv.Net.from_module(nn.Sequential(nn.Linear(3, 2), nn.Softmax(-1)))
    mine = fv.predict(net, net.w[None], data, 1, seed=0)
    theirs = fv.predict(net, -net.w[None], data, 1, seed=0)
    W = net.w + 0.5 * torch.randn(3, net.dim)

    def physics(w):
        t = torch.linspace(0, 1, 5, dtype=w.dtype).requires_grad_(True)
        u = (w * torch.stack([t, t**2, t**3, t.sin()], 1)).sum()
        (slope,) = torch.autograd.grad(u, t, create_graph=True)
        return ((slope - 1) ** 2).mean()

    return globals() | locals()


def got(row, given):
    """The last column of a row."""
    _, write, show = row
    try:
        value = eval(write, given)
    except ValueError as error:
        assert show == "error", (write, error)
        return str(error).partition(":")[0].partition(", of which")[0]
    if show == "value":
        return f"{float(value(value.net.w)):.3f} nats"
    return str(eval(show, given | {"got": value}))


def table():
    """The rows as markdown in a comment."""
    with tempfile.TemporaryDirectory() as folder:
        given = things(Path(folder))
        lines = [HEAD, "# |---|---|---|"]
        for row in ROWS:
            lines.append(f"# | {row[0]} | `{row[1]}` | {got(row, given)} |")
    return "\n".join(lines) + "\n"


def written(text):
    """The chapter with the table in place of the one that it has."""
    start = text.index(HEAD)
    end = text.index("\n#\n", start) + 1
    return text[:start] + table() + text[end:]


if __name__ == "__main__":
    CHAPTER.write_text(written(CHAPTER.read_text(encoding="utf-8")), encoding="utf-8")
