"""Results as .safetensors, which other programs read: tensors under their fields' names, the rest as one JSON text."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from flatviz.results import from_plain, to_plain
from flatviz.storage.files import DamagedFileError, atomic_path
from flatviz.storage.tensors import from_bytes, to_bytes

SUFFIX = ".safetensors"
TEXT = "flatviz"  # name of the JSON text


def split(result: Any) -> tuple[dict[str, Tensor], str]:
    """Its tensors by the path of their field ("plane.axes"), and the rest as JSON in which {"tensor": path} stands for one."""
    tensors: dict[str, Tensor] = {}
    rest = json.dumps(_without_tensors(to_plain(result), "", tensors))
    return tensors, json.dumps({"sha256": _checksum(tensors, rest), "result": rest})


def joined(tensors: dict[str, Tensor], text: str) -> Any:
    """What `split` took apart.  Raises ValueError or KeyError where the parts do not belong together."""
    parts = json.loads(text)
    if parts["sha256"] != _checksum(tensors, parts["result"]):
        raise ValueError("its checksum is that of other content")
    return from_plain(_with_tensors(json.loads(parts["result"]), tensors))


def _checksum(tensors: dict[str, Tensor], rest: str) -> str:
    digest = hashlib.sha256(rest.encode())
    for name, t in sorted(tensors.items()):
        digest.update(f"{name} {t.dtype} {tuple(t.shape)}\n".encode())
        digest.update(t.contiguous().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def write_open(result: Any, path: str | Path) -> None:
    """Write a .safetensors file, whole or not at all.  Raises TypeError for what cannot be saved."""
    tensors, text = split(result)
    body = to_bytes(tensors, **{TEXT: text})
    with atomic_path(path) as partial:
        partial.write_bytes(body)


def read_open(path: str | Path) -> Any:
    """Read what `write_open` wrote; no code in the file is run.  Raises DamagedFileError for any other file."""
    try:
        tensors, texts = from_bytes(Path(path).read_bytes())
        return joined(tensors, texts[TEXT])
    except ImportError:
        raise
    except Exception as error:  # readers of damaged files raise what they like
        kind = type(error).__name__
        raise DamagedFileError(
            f"expected a result that fv.save wrote, got another or a damaged file ({kind}: {error})"
        ) from error


def _without_tensors(plain: Any, path: str, tensors: dict[str, Tensor]) -> Any:
    below = f"{path}." if path else ""
    if isinstance(plain, Tensor):
        path = path or "values"
        while path in tensors:  # {"a.b": t, "a": {"b": t}}
            path += "_"
        tensors[path] = plain
        return {"tensor": path}
    if isinstance(plain, dict):
        fields = [
            [_without_tensors(k, "", {}), _without_tensors(v, f"{below}{k}", tensors)] for k, v in plain["fields"].items()
        ]
        return {"noun": plain["noun"], "fields": fields}
    if isinstance(plain, (tuple, list)):
        items = [_without_tensors(item, f"{below}{i}", tensors) for i, item in enumerate(plain)]
        return {"tuple": items} if isinstance(plain, tuple) else items
    return plain


def _with_tensors(value: Any, tensors: dict[str, Tensor]) -> Any:
    if isinstance(value, list):
        return [_with_tensors(item, tensors) for item in value]
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        return tensors[value["tensor"]]
    if "tuple" in value:
        return tuple(_with_tensors(item, tensors) for item in value["tuple"])
    return {"noun": value["noun"], "fields": {_with_tensors(k, {}): _with_tensors(v, tensors) for k, v in value["fields"]}}
