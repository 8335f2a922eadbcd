"""Reader of users' data: arrays, frames, data sets, loaders."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Subset

from flatviz.checks import check_count, check_dense, each, kind
from flatviz.core import Data, saved_rng
from flatviz.core.data import inputs_of

LABELS = ("labels", "label", "targets", "target", "y")  # names under which a dict holds them


def data_from(
    examples: object, n: int | None = None, *, classes: Sequence[str] | None = None
) -> Data:
    """Read examples into a `Data`, all or the first `n`, in order.

    Args:
        examples: A pair (x, y) of tensors, arrays, lists or frames; x may be a dict or a tuple of
            them, which the module takes as keywords or in order.  A dict of columns, one of them
            "labels".  A `torch.utils.data.Dataset`, also without a length, or any iterable, of
            examples (x, y), (x1, x2, y), ((x1, x2), y), ({"input_ids": ...}, y) or
            {"input_ids": ..., "labels": y}; a `DataLoader` of batches of these.  A `Data` is
            returned as it is.  Floats of arrays and frames take torch's default dtype.  y: class
            numbers; texts, numbered in alphabetical order; one-hot rows, which become class
            numbers; floating targets of a regression.
        n: Largest number of examples, also of an endless data set.
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
        each(kind(str, "a text"), "texts")(classes, "classes")
    if isinstance(examples, Data):
        return examples if n is None or n >= len(examples) else examples.subset(torch.arange(n))
    with saved_rng():
        fields, y = _columns(examples) or _collected(examples, n)
    y, names = _labels_of(y, classes)
    parts = {name: _tensor(value, name)[:n] for name, value in fields.items()}
    x = parts[None] if None in parts else inputs_of(parts)
    return Data(x, y[:n], names or class_names_of(examples, y))


def _columns(given: Any) -> tuple[dict, object] | None:
    """Return inputs by name and labels of all examples, or None where they come one by one."""
    if isinstance(given, Mapping):
        return _split(given, "the data")
    several = isinstance(given, tuple) and len(given) > 2
    pair = isinstance(given, (tuple, list)) and len(given) == 2
    return _split(given, "the data") if (several or pair) and _is_column(given[-1]) else None


def _is_column(y: object) -> bool:
    """Tell whether this holds a value for each of several examples."""
    if isinstance(y, list):
        return bool(y) and isinstance(y[0], (str, int, float, list))
    return hasattr(y, "__array__") and np.ndim(y) > 0


def _split(given: object, where: str) -> tuple[dict, object]:
    """Split an example, a batch or all data into inputs (by name, position or None) and label."""
    if isinstance(given, Mapping):
        label = next((name for name in LABELS if name in given), None)
        if label is None or len(given) == 1:
            raise TypeError(
                f"{where} must have inputs and one of {', '.join(LABELS)}, got {list(given)}:"
                " rename the label"
            )
        return {str(name): v for name, v in given.items() if name != label}, given[label]
    if not isinstance(given, (tuple, list)) or len(given) < 2:
        raise TypeError(
            f"each example must be a pair (x, y), or a dict with labels, got {type(given).__name__}"
            f" in {where}: give a transform"
        )
    *inputs, y = given
    x = inputs[0] if len(inputs) == 1 else tuple(inputs)
    if isinstance(x, Mapping):
        return {str(name): v for name, v in x.items()}, y
    if not isinstance(x, (tuple, list)) or not all(hasattr(v, "__array__") for v in x):
        return {None: x}, y
    if isinstance(x, list) and hasattr(y, "__len__") and any(len(v) != len(y) for v in x):
        return {None: x}, y  # rows, one for each label
    return dict(enumerate(x)), y


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
    seen = 0
    with _restored(loader):
        for i, example in enumerate(examples):
            fields, y = _split(example, f"example {i}")
            values: dict[object, Any] = {k: _tensor(value, k) for k, value in fields.items()}
            values[LABELS] = y if isinstance(y, Tensor) else np.asarray(y)
            for name, value in values.items():
                columns.setdefault(name, []).append(value if batched else value[None])
            seen += len(columns[LABELS][-1])
            if n is not None and seen >= n:
                break
    if not columns:
        raise ValueError("examples must hold at least one (x, y), got an empty set")
    joined = {name: _joined(name, values) for name, values in columns.items()}
    return joined, joined.pop(LABELS)


@contextmanager
def _restored(loader: DataLoader | None) -> Iterator[None]:
    """Restore the state of a loader's generator after the block."""
    source = None if loader is None else loader.generator
    if source is None:
        yield
        return
    state = source.get_state()
    try:
        yield
    finally:
        source.set_state(state)


def _joined(name: object, values: list) -> object:
    shapes = list(dict.fromkeys(tuple(v.shape[1:]) for v in values))
    if len(shapes) > 1:
        what = "labels" if name is LABELS else "inputs" if name is None else f"inputs {name!r}"
        raise ValueError(
            f"{what} must be of one shape, got {shapes[0]} and {shapes[1]}: pad or resize all"
            " alike; of batches give the loader itself"
        )
    if all(isinstance(v, Tensor) for v in values):
        return torch.cat(values)
    return np.concatenate(list(map(np.asarray, values)))


def _tensor(value: Any, name: object) -> Tensor:
    """Convert numbers to a tensor, copied so that a user's array is not shared."""
    what = "x" if name is None else name if isinstance(name, str) else f"x[{name}]"
    if isinstance(value, Tensor):
        check_dense(value, what)
        return value
    if hidden := int(np.ma.count_masked(value)) if np.ma.isMaskedArray(value) else 0:
        raise ValueError(f"{what} must have no masked values, got {hidden}: fill or remove them")
    try:
        array = _numbers(value)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{what} must hold numbers of one shape, got a {type(value).__name__} ({error}):"
            " encode texts as numbers, tokenize, pad, or give a transform to tensors"
        ) from error
    tensor = torch.tensor(array)
    return tensor.to(torch.get_default_dtype()) if tensor.dtype == torch.float64 else tensor


def _numbers(value: Any) -> np.ndarray:
    """Convert to an array in a dtype that torch takes; an error for what holds other things."""
    array = np.asarray([np.asarray(v) for v in value] if isinstance(value, list) else value)
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
        return any(isinstance(v, (str, bytes)) for v in array.flat)
    return array.dtype.kind in "US"


def _labels_of(y: object, classes: Sequence[str] | None) -> tuple[Tensor, tuple[str, ...]]:
    """Return class numbers or targets, and names of the classes, () where they have none."""
    names = () if classes is None else tuple(classes)
    if not isinstance(y, Tensor) and _texts(array := np.asarray(y)):
        if absent := [v for v in array.flat if not isinstance(v, (str, bytes))]:
            raise ValueError(
                f"labels must all be texts, got {absent[0]!r} among them: remove what has no label"
            )
        texts = [v.decode() if isinstance(v, bytes) else str(v) for v in array.flat]
        numbers = {text: i for i, text in enumerate(names or sorted(set(texts)))}
        if unknown := set(texts) - numbers.keys():
            raise ValueError(
                f"labels must be of the classes {tuple(numbers)}, got {min(unknown)!r}: give"
                " classes=, or mend it"
            )
        numbered = torch.tensor([numbers[text] for text in texts]).view(array.shape)
        return numbered.squeeze(-1 if array.ndim == 2 else 0), tuple(numbers)
    y = _tensor(y, "labels")
    y = y.long() if y.dtype == torch.bool else y
    if y.ndim != 2:
        return y, names
    one_hot = bool(((y == 0) | (y == 1)).all() and (y.sum(1) == 1).all())
    if y.shape[1] > 1 and one_hot:
        return y.argmax(1), names
    if y.shape[1] == 1 and not y.is_floating_point():
        return y[:, 0], names
    return y, names


def class_names_of(examples: object, y: Tensor) -> tuple[str, ...]:
    """Read the class names of another library's data set, such as torchvision's `classes`.

    Return () where there are none.
    """
    if isinstance(examples, DataLoader):
        examples = examples.dataset
    while isinstance(examples, Subset):
        examples = examples.dataset
    names = getattr(examples, "classes", ())  # of a foreign class
    texts = isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names)
    if not texts or not names or y.is_floating_point() or len(names) <= int(y.max()):
        return ()
    return tuple(names)
