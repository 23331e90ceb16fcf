"""Writing weights as safetensors, in one file or several with an index.

    rx.save_weights({"fc1.weight": w, "fc1.bias": b}, "model.safetensors")

A file takes its place when it is complete; until then, what was there is untouched.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, NoReturn

import numpy as np

from relaxscript.errors import Diagnostic, DiagnosticError, VMError
from relaxscript.errors.exceptions import is_user_error
from relaxscript.errors.files import replaced
from relaxscript.runtime.values import DeviceTensor, to_tensor

from .header import Array, HeaderError, elements_of, header_of
from .names import require_mapping

__all__ = ["save_weights"]

__tracebackhide__ = is_user_error


def save_weights(
    weights: Mapping[str, Any],
    path: str | os.PathLike[str],
    *,
    metadata: Mapping[str, str] | None = None,
    max_shard_size: int | None = None,
) -> None:
    """Write tensors by name as safetensors, which `load_weights` and other libraries read.

    `weights` are arrays, or tensors of any library that speaks DLPack. `metadata` are strings by
    name; some readers want `{"format": "pt"}`. Where the elements have more than `max_shard_size`
    bytes, "m.safetensors" becomes "m-00001-of-00002.safetensors" and so on, and the index
    "m.safetensors.index.json" names them. A single tensor is never divided.

    What is there is replaced once all is written, an index last. Raises `DiagnosticError`: RX0206
    for what is no tensor, and for a dtype that the format has not. RX0712 where `weights` are no
    mapping, or a name is no string. RX0707 where a file cannot be written.
    """
    if isinstance(path, Mapping) and not isinstance(weights, Mapping):
        help = "write `save_weights(weights, path)`"
        raise DiagnosticError(
            Diagnostic("RX0712", "the weights come before the path", None, help=help)
        )
    require_mapping(weights)
    arrays = {_checked_name(name): _array(name, value) for name, value in weights.items()}
    said = dict(metadata or {})
    for key, value in said.items():
        if not _is_text(key) or not _is_text(value):
            message = f"metadata are strings by name, and {key!r} is given {type(value).__name__}"
            raise DiagnosticError(Diagnostic("RX0206", message, None))
    if max_shard_size is not None and max_shard_size <= 0:
        message = f"`max_shard_size` is a positive number of bytes, not {max_shard_size}"
        raise DiagnosticError(Diagnostic("RX0703", message, None))
    whole = os.fsdecode(path)
    shards = _shards(arrays, max_shard_size)
    files = [whole] if len(shards) == 1 else _shard_names(whole, len(shards))
    try:
        with ExitStack() as stack:
            if len(shards) > 1:  # entered first, and so put into its place last
                index = stack.enter_context(replaced(f"{whole}.index.json"))
                index.write(_index(shards, files, arrays))
            for names, file in zip(shards, files, strict=True):
                head, order = header_of({name: arrays[name] for name in names}, said)
                out = stack.enter_context(replaced(file))
                out.write(head)
                for name in order:
                    out.write(elements_of(arrays[name]).data)
    except HeaderError as error:
        raise DiagnosticError(Diagnostic("RX0206", str(error), None)) from None
    except OSError as error:
        _refuse(whole, error.strerror or str(error))


def _checked_name(name: Any) -> str:
    if _is_text(name) and name != "__metadata__":
        return str(name)
    message = f"a tensor has a string for its name, not {name!r}"
    if name == "__metadata__":
        message = "`__metadata__` is the name of what a file says of itself, and of no tensor"
    raise DiagnosticError(Diagnostic("RX0712", message, None))


def _is_text(value: Any) -> bool:
    """True for a string that can be written: half of a surrogate pair cannot."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def _array(name: str, value: Any) -> Array:
    try:
        tensor = to_tensor(value)
    except VMError as error:
        message = f"the value for `{name}` is no tensor: {error.diagnostic.message}"
        raise DiagnosticError(Diagnostic("RX0206", message, None)) from error
    return tensor.numpy() if isinstance(tensor, DeviceTensor) else np.asarray(tensor)


def _shards(arrays: Mapping[str, Array], limit: int | None) -> list[list[str]]:
    """The names of the tensors of each file, in the order in which they are given."""
    shards: list[list[str]] = [[]]
    size = 0
    for name, array in arrays.items():
        if limit is not None and shards[-1] and size + array.nbytes > limit:
            shards.append([])
            size = 0
        shards[-1].append(name)
        size += array.nbytes
    return shards


def _shard_names(path: str, count: int) -> list[str]:
    stem = path.removesuffix(".safetensors")
    return [f"{stem}-{i:05}-of-{count:05}.safetensors" for i in range(1, count + 1)]


def _index(shards: list[list[str]], files: list[str], arrays: Mapping[str, Array]) -> bytes:
    pairs = zip(shards, files, strict=True)
    table = {name: os.path.basename(file) for names, file in pairs for name in names}
    total = sum(array.nbytes for array in arrays.values())
    index = {"metadata": {"total_size": total}, "weight_map": table}
    return json.dumps(index, indent=2, ensure_ascii=False).encode()


def _refuse(path: str, reason: str) -> NoReturn:
    message = f"cannot write `{path}`: {reason}"
    raise DiagnosticError(Diagnostic("RX0707", message, None)) from None
