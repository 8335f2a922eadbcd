"""Readers of users' data: arrays, frames, data sets, loaders; into memory, or batch by batch.

A data set may have these attributes, as torchvision's have: `targets` or `labels`, the labels of
all examples, and `classes`, their names.

A loader stands for its data set, in the order of that: a sampler says how to train, not what the
data are.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    SubsetRandomSampler,
    default_collate,
    default_convert,
)

from flatviz.checks import check_count, check_dense, each, kind
from flatviz.core import Data, Stream, generator, pair_of, random_state, saved_rng
from flatviz.core.data import inputs_of
from flatviz.core.inputs import channels_first
from flatviz.core.streams import LOOKED_AT, Examples, Reading, collated

AT_ONCE = 64  # examples of a loader whose own batches are of several sizes
WHOLE = (int, np.integer, np.bool_)  # labels in an array of objects that are class numbers
LABELS = ("labels", "label", "targets", "target", "y")  # names under which a dict holds them
check_texts = each(kind(str, "a text"), "texts")


def data_from(
    examples: object, n: int | None = None, *, classes: Sequence[str] | None = None
) -> Data:
    """Read examples into a `Data`, all or the first `n`, in order.

    Args:
        examples: A pair (x, y) of tensors, arrays, lists or frames; x may be a dict or a tuple of
            them, which the module takes as keywords or in order.  A dict of columns, one of them
            "labels".  A `torch.utils.data.Dataset`, also without a length, or any iterable, of
            examples (x, y), (x1, x2, y), ((x1, x2), y), ({"input_ids": ...}, y) or
            {"input_ids": ..., "labels": y}; a `DataLoader` of batches of these, which stands for
            its data set, or for the indices that its sampler lists.  A `Data` is returned as it
            is.  Floats of arrays and frames take torch's default dtype.  Images of PIL, and bytes
            with channels last, (H, W, C), become (C, H, W).  y: class numbers; texts, numbered in
            alphabetical order; one-hot rows, which become class numbers; floating targets of a
            regression.
        n: Largest number of examples, also of an endless data set.  A loader that shuffles gives n
            of its data set by chance, the same at each call.
        classes: Names of all classes in the order of their numbers: `train.class_names`, for a test
            set that lacks some.

    Raises:
        TypeError: For examples without a label, and for inputs that are no numbers.
        ValueError: For no examples, for several shapes, and for a text that is no class.

    Example:
        >>> import torch, flatviz as fv
        >>> pairs = torch.utils.data.TensorDataset(torch.rand(6, 3), torch.arange(6) % 2)
        >>> fv.datasets.data_from(torch.utils.data.DataLoader(pairs, batch_size=4), 5)
        Data(5 examples, x (5, 3) float32, classes 0..1)
        >>> fv.datasets.data_from(([[0.0, 1.0], [2.0, 3.0]], ["dog", "cat"])).class_names
        ('cat', 'dog')
    """
    n = None if n is None else check_count(n, "n")
    if classes is not None:
        check_texts(classes, "classes")
    if isinstance(examples, Data):
        if n is None or n >= len(examples):
            return examples
        return examples.subset(torch.arange(n))
    if isinstance(examples, DataLoader):
        examples = _in_order(examples, n)
    with saved_rng():
        fields, y = _columns(examples) or _collected(examples, n)
    y, names = _labels_of(y, classes)
    parts = {}
    for name, value in fields.items():
        parts[name] = _tensor(value, name)[:n]
    x = parts[None] if None in parts else inputs_of(parts)
    names = names or class_names_of(examples, y)
    return Data(x, y[:n], names)


def _columns(given: Any) -> tuple[dict, object] | None:
    """Return inputs by name and labels of all examples, or None where they come one by one."""
    if isinstance(given, Mapping):
        return _split(given, "the data")
    several = isinstance(given, tuple) and len(given) > 2  # a longer list holds examples
    pair = isinstance(given, (tuple, list)) and len(given) == 2
    if not several and not pair:
        return None
    *inputs, y = given
    if isinstance(y, tuple) and not isinstance(inputs[0], (tuple, list)):
        y = list(y)  # an array is no example, so this tuple is no second example
    return _split((*inputs, y), "the data", is_whole=True) if _is_column(y) else None


def _is_column(y: object) -> bool:
    """Tell whether this holds a value for each of several examples."""
    if isinstance(y, tuple):  # of texts: an example (x, y) has numbers as x
        return bool(y) and all(isinstance(value, str) for value in y)
    if isinstance(y, list):
        rows = all(isinstance(value, list) for value in y)  # else an example [[0.0, 1.0], 0]
        return bool(y) and (rows or _is_scalar(y[0]))
    return hasattr(y, "__array__") and np.ndim(y) > 0


def _is_scalar(value: object) -> bool:
    """Tell whether this is one number or text."""
    return np.isscalar(value) or (isinstance(value, Tensor) and value.ndim == 0)


def _split(given: object, where: str, *, is_whole: bool = False) -> tuple[dict, object]:
    """Split an example, a batch or all data into inputs (by name, position or None) and label.

    is_whole: `given` holds all data.

    Raises:
        TypeError: Without a label.
    """
    if isinstance(given, Mapping):
        label = next((name for name in LABELS if name in given), None)
        if label is None or len(given) == 1:
            raise TypeError(
                f"{where} must have inputs and one of {', '.join(LABELS)}, got {list(given)}:"
                " rename the label"
            )
        fields = {str(name): value for name, value in given.items()}
        return fields, fields.pop(label)
    if not isinstance(given, (tuple, list)) or len(given) < 2:
        raise TypeError(
            f"each example must be a pair (x, y), or a dict with labels, got {type(given).__name__}"
            f" in {where}: give a transform"
        )
    *inputs, y = given
    x = inputs[0] if len(inputs) == 1 else tuple(inputs)
    if isinstance(x, Mapping):
        return {str(name): v for name, v in x.items()}, y
    return (dict(enumerate(x)) if _are_several(x, y, is_whole) else {None: x}), y


def _are_several(x: object, y: Any, is_whole: bool) -> bool:
    """Tell whether `x` holds several inputs: a tuple of arrays, or a list of columns.

    A loader makes lists of tuples.  A list may also hold the rows of one input.
    """
    if not isinstance(x, (tuple, list)) or not all(hasattr(v, "__array__") for v in x):
        return False
    if isinstance(x, tuple):
        return True
    if any(np.ndim(v) == 0 for v in x) or (is_whole and len(x) == len(y)):
        return False
    return np.ndim(y) == 0 or all(len(v) == len(y) for v in x)


def _collected(examples: Any, n: int | None) -> tuple[dict, object]:
    """Collect columns from examples, or from the batches of a loader."""
    loader = examples if isinstance(examples, DataLoader) else None
    batched = loader is not None and loader.batch_sampler is not None
    if not hasattr(examples, "__iter__") and not hasattr(examples, "__getitem__"):
        raise TypeError(
            f"examples must be (x, y), a data set or a loader, got {type(examples).__name__}: see"
            " data_from"
        )
    if loader is None and hasattr(examples, "__len__"):  # its __getitem__ may accept any index
        n = len(examples) if n is None else min(n, len(examples))
    columns: dict[object, list] = {}
    labels: list = []
    seen = 0
    for i, example in enumerate(examples):
        fields, y = _split(example, f"example {i}")
        for name, value in fields.items():
            tensor = _tensor(value, name, one=not batched)
            columns.setdefault(name, []).append(tensor if batched else tensor[None])
        y = y if isinstance(y, Tensor) else _label_array(y)
        labels.append(y if batched else y[None])
        seen += len(labels[-1])
        if n is not None and seen >= n:
            break
    if not labels:
        raise ValueError("examples must hold at least one (x, y), got an empty set")
    inputs = {}
    for name, values in columns.items():
        what = "inputs" if name is None else f"inputs {name!r}"
        inputs[name] = _joined(values, what)
    return inputs, _joined(labels, "labels")


def _in_order(loader: DataLoader, n: int | None = None) -> DataLoader:
    """Return a loader of the same data set in its order, with every row, by the same workers."""
    return DataLoader(
        _source(loader, n),
        loader.batch_size or (None if loader.batch_sampler is None else AT_ONCE),
        collate_fn=loader.collate_fn,
        num_workers=loader.num_workers,
        worker_init_fn=loader.worker_init_fn,
        multiprocessing_context=loader.multiprocessing_context,
        timeout=loader.timeout,
    )


def _source(loader: DataLoader, n: int | None = None) -> Any:
    """Return the data set of a loader, or the part of it that its sampler lists.

    It warns where the examples of a pass are others: repeated, left out, or the last ones dropped.
    A loader that does not keep the order gives n by chance, as a data set may be sorted by class.
    """
    examples: Any = loader.dataset
    if isinstance(examples, IterableDataset) or not isinstance(examples, Examples):
        return examples
    batches: Any = loader.batch_sampler
    plain = type(batches) is BatchSampler
    sampler: Any = batches.sampler if plain else loader.sampler
    own_batches = batches is not None and not plain
    if own_batches:
        sampler = batches
    shuffled = isinstance(sampler, SubsetRandomSampler)
    listed = isinstance(sampler, (list, tuple, range, np.ndarray, Tensor)) and not own_batches
    if shuffled or listed:
        indices = list(map(int, sampler.indices if shuffled else sampler))
        part = sorted(set(indices))
        repeats = len(part) < len(indices)
        examples = Subset(loader.dataset, part)
    else:
        repeats = not isinstance(sampler, (SequentialSampler, RandomSampler))
    in_order = listed or isinstance(sampler, SequentialSampler)
    lost = len(examples) % batches.batch_size if plain and batches.drop_last and in_order else 0
    note = ""
    if repeats:
        note = (
            f"its {type(sampler).__name__}, which may repeat or leave out some, is not used;"
            " weights of classes are likelihood=fv.Likelihood.categorical(weight=...)"
        )
    elif lost:
        note = f"the last {lost}, which its drop_last leaves out of each pass, are among them"
    if note:
        n_all = len(examples)
        text = f"the data are the {n_all} examples of the loader's data set, once each: {note}"
        warnings.warn(text, stacklevel=4)
    if n is None or n >= len(examples) or in_order:
        return examples
    chosen = torch.randperm(len(examples), generator=generator(0))[:n]
    return Subset(examples, chosen.sort().values.tolist())


def _joined(values: list, what: str) -> object:
    """Join the batches of one column, which `what` names in errors."""
    shapes = list(dict.fromkeys(tuple(v.shape[1:]) for v in values))
    if len(shapes) > 1:
        raise ValueError(
            f"{what} must be of one shape, got {shapes[0]} and {shapes[1]}: pad or resize all"
            " alike; if these are batches, give the loader itself"
        )
    if all(isinstance(v, Tensor) for v in values):
        return torch.cat(values)
    return np.concatenate(list(map(np.asarray, values)))


def _tensor(value: Any, name: object, *, one: bool = False) -> Tensor:
    """Convert numbers, of `one` example or several, to a tensor; arrays are copied."""
    what = name if isinstance(name, str) else f"x[{name}]"
    if name is None:
        what = "x"
    value = channels_first(value, 3 if one else 4)
    if isinstance(value, Tensor):
        check_dense(value, what)
        return value
    hidden = np.ma.count_masked(value) if np.ma.isMaskedArray(value) else 0
    if hidden:
        raise ValueError(f"{what} must have no masked values, got {hidden}: fill or remove them")
    try:
        tensor = torch.tensor(_numbers(value))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{what} must hold numbers of one shape, got a {type(value).__name__} ({error}):"
            " encode texts as numbers, tokenize, pad, or give a transform to tensors"
        ) from error
    if tensor.dtype == torch.float64:
        return tensor.to(torch.get_default_dtype())
    return tensor


def _numbers(value: Any) -> np.ndarray:
    """Convert to an array in a dtype that torch takes; an error for what holds other things."""
    rows = list(map(np.asarray, value)) if isinstance(value, list) else value
    array = np.asarray(rows)
    if _texts(array):
        raise TypeError("text" if array.ndim < 2 else f"texts, as in {array[0].tolist()}")
    if array.dtype.kind == "O":  # columns of several types
        array = array.astype(np.float64)
    if array.dtype.kind == "u" and array.dtype.itemsize > 1:  # torch computes with few of these
        array = array.astype(np.int64)
    array = np.ascontiguousarray(array)
    return array.astype(array.dtype.newbyteorder("="))


def _texts(array: np.ndarray) -> bool:
    """Tell whether an array holds texts."""
    if array.dtype.kind == "O":
        return any(isinstance(value, (str, bytes)) for value in array.flat)
    return array.dtype.kind in "US"


def _label_array(y: object) -> np.ndarray:
    """Convert labels to an array; texts stay objects, as numpy makes texts of what is beside them.

    NaN, for a label that is missing, would be a class "nan".
    """
    array = np.asarray(y)
    return np.asarray(y, dtype=object) if array.dtype.kind in "US" else array


def _labels_of(y: object, classes: Sequence[str] | None) -> tuple[Tensor, tuple[str, ...]]:
    """Return class numbers or targets, and names of the classes, () where they have none."""
    names = () if classes is None else tuple(classes)
    if not isinstance(y, Tensor):
        array = _label_array(y)
        if _texts(array):
            return _numbered(array, names)
        if array.dtype.kind == "O" and all(isinstance(v, WHOLE) for v in array.flat):
            y = array.astype(np.int64)
    y = _tensor(y, "labels")
    if y.dtype == torch.bool:
        y = y.long()
    if y.ndim != 2:
        return y, names
    n_columns = y.shape[1]
    is_binary = ((y == 0) | (y == 1)).all()
    is_one_hot = is_binary and (y.sum(1) == 1).all()
    if n_columns > 1 and is_one_hot:
        return y.argmax(1), names
    if n_columns == 1 and not y.is_floating_point():
        return y[:, 0], names
    return y, names


def _numbered(array: np.ndarray, names: tuple[str, ...]) -> tuple[Tensor, tuple[str, ...]]:
    """Number texts in the order of `names`, or without those in alphabetical order."""
    texts = []
    for value in array.flat:
        if not isinstance(value, (str, bytes)):
            raise ValueError(
                f"labels must all be texts, got {value!r} among them: remove what has no label"
            )
        texts.append(value.decode() if isinstance(value, bytes) else str(value))
    names = names or tuple(sorted(set(texts)))
    numbers = {text: i for i, text in enumerate(names)}
    if unknown := set(texts) - numbers.keys():
        raise ValueError(
            f"labels must be of the classes {names}, got {min(unknown)!r}: give classes=, or mend"
            " it"
        )
    y = torch.tensor([numbers[text] for text in texts])
    shape = array.shape[:1] if array.shape[1:] == (1,) else array.shape
    return y.view(shape), names


def stream(examples: object, *, workers: int | None = None) -> Data:
    """Read a Dataset of (x, y) pairs, or a DataLoader's, as a `Data` that reads on demand.

    The order is always that of the data set, so that an objective stays one function of the
    weights; a minibatch reads only its examples, once a step.  A full-batch gradient reads them
    all.  Labels are the data set's `targets` or `labels`; without those every example is read once
    for its label.

    Args:
        examples: A `torch.utils.data.Dataset` with a length and `examples[i]`, x of one shape.  A
            `DataLoader` stands for its data set, as in `data_from`, and reads as it says: its
            workers, collate_fn, worker_init_fn, multiprocessing_context, prefetch_factor, timeout.
        workers: Processes that read the next minibatches while one is computed, as `num_workers`
            of a `DataLoader`; None: those of the loader, else 0.

    Raises:
        TypeError: For a data set without a length or without `examples[i]`: `data_from` reads those
            into memory.
        ValueError: For one with random transforms.

    Example:
        >>> import torch, flatviz as fv
        >>> pairs = torch.utils.data.TensorDataset(torch.rand(6, 3), torch.arange(6) % 2)
        >>> fv.datasets.stream(pairs)
        Data(6 examples, x (6, 3) float32, streamed, classes 0..1)
    """
    reading = Reading()
    if isinstance(examples, DataLoader):
        reading = _reading(examples)
        examples = _in_order(examples).dataset
    if workers is not None:
        reading = reading._replace(num_workers=check_count(workers, "workers", least=0))
    if not reading.num_workers:
        reading = Reading(collate_fn=reading.collate_fn)
    if isinstance(examples, IterableDataset) or not isinstance(examples, Examples):
        raise TypeError(
            "a stream needs a data set with a length and examples[i], got"
            f" {type(examples).__name__}: fv.datasets.data_from reads it into memory"
        )
    if len(examples) == 0:
        raise ValueError("examples must hold at least one (x, y), got an empty set")
    pairs = _read_twice(examples, reading)
    first, _ = next(iter(pairs.values()))
    is_image = first.dtype == torch.uint8 and first.ndim == 3
    dtype = torch.float32 if is_image else first.dtype
    y, names = _labels_of(_labels(examples, pairs), None)
    index = torch.arange(len(examples))
    # What was read already, except what its first use in a fit must refuse
    looked = {i: x for i, (x, _) in pairs.items() if x.shape == first.shape and x.isfinite().all()}
    x = Stream(examples, index, first.shape, reading, dtype=dtype, looked=looked)
    return Data(x, y, names or class_names_of(examples, y))


def _reading(loader: DataLoader) -> Reading:
    """Return how a loader reads."""
    named = {name: getattr(loader, name) for name in Reading._fields}
    if named["collate_fn"] in (default_collate, default_convert):
        named["collate_fn"] = None
    return Reading(**named)


def _read_twice(examples: Examples, reading: Reading) -> dict[int, tuple[Tensor, object]]:
    """Read a few examples by index, twice; refuse random transforms."""
    before = random_state()
    n = len(examples)
    spread = torch.linspace(0, n - 1, min(n, LOOKED_AT), dtype=torch.float64)
    few = spread.round().long().tolist()

    def read() -> list[tuple[Tensor, object]]:
        pairs = [pair_of(examples[i], i) for i in few]
        if reading.collate_fn is None:
            return pairs
        x, y = collated(reading.collate_fn, pairs)
        return list(zip(x, y))

    pairs = read()
    same = all(_equal(x, again) for (x, _), (again, _) in zip(pairs, read()))
    if before != random_state() or not same:
        raise ValueError(
            "examples must be the same each time they are read, got random ones (augmentation), of"
            " which no surface has one value: leave random transforms out of the data set and give"
            " them to the fit, augment=transform, which draws anew in each step; or draw once for"
            " all with fv.datasets.data_from"
        )
    return dict(zip(few, pairs))


def _equal(a: Tensor, b: Tensor) -> bool:
    """Tell whether two tensors are the same, also in their NaN."""
    return a.shape == b.shape and torch.allclose(a, b, rtol=0, atol=0, equal_nan=True)


def _labels(examples: Examples, pairs: Mapping[int, tuple[Tensor, object]]) -> object:
    """Return the list of labels that torchvision's data sets have, or read every example once.

    The list is used where it has the labels of `pairs`, which were read: a `target_transform`
    changes them.
    """
    for name in ("targets", "labels"):
        listed: Any = getattr(examples, name, None)
        if not hasattr(listed, "__len__") or len(listed) != len(examples):
            continue
        try:
            array = _array(listed)
        except ValueError:  # of several lengths
            continue
        if all(np.array_equal(array[i], _array(y)) for i, (_, y) in pairs.items()):
            return listed if isinstance(listed, Tensor) else array
    labels = []
    for i in range(len(examples)):
        _, y = pair_of(examples[i], i)
        labels.append(y)
    if _texts(np.asarray(labels[0])):
        return labels
    return torch.stack([torch.as_tensor(y) for y in labels])


def _array(labels: Any) -> np.ndarray:
    return np.asarray(labels.cpu() if isinstance(labels, Tensor) else labels)


def in_memory(data: Data) -> Data:
    """Read a stream into memory, images in bytes as bytes; return other data as they are."""
    if isinstance(data.x, Stream):
        return replace(data, x=data.x.read())
    return data


def class_names_of(examples: object, y: Tensor) -> tuple[str, ...]:
    """Read the class names of another library's data set, such as torchvision's `classes`.

    Return () where there are none.
    """
    if isinstance(examples, DataLoader):
        examples = examples.dataset
    while isinstance(examples, Subset):
        examples = examples.dataset
    names = getattr(examples, "classes", ())
    if not isinstance(names, (list, tuple)) or not names or y.is_floating_point():
        return ()
    texts = all(isinstance(name, str) for name in names)
    named = texts and len(names) > int(y.max())
    return tuple(names) if named else ()
