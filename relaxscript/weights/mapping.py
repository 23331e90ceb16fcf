"""`Weights`: the tensors of files by name, which are read when somebody looks at their elements."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from relaxscript.dtypes import DataType, converted
from relaxscript.errors import Diagnostic, DiagnosticError, meant_hint, nearest

from .header import Array, StoredTensor, array_of, stored_dtype

__all__ = ["FileTensor", "MappedFile", "Weights", "file_of"]


class MappedFile(mmap.mmap):
    """The bytes of a file, which the system reads when they are needed; `path` is the file."""

    path: str


class FileTensor(NamedTuple):
    """A tensor in a file, the name that it has there, and the dtype that is wanted of it."""

    content: MappedFile
    name: str
    tensor: StoredTensor
    dtype: DataType


class Weights(Mapping[str, Array]):
    """Arrays by name, out of files: `load_weights` gives one.

    The arrays are read-only views of the mapped files: what nobody looks at is not read. An array
    in another dtype than the file's is made when it is first asked for. `metadata` is what the
    files say of themselves. While there are views, nobody should write into a file; one that is
    replaced by another, as `save_weights` does, stays as it was.
    """

    def __init__(self, sources: Mapping[str, FileTensor], metadata: Mapping[str, str]) -> None:
        self._sources = dict(sources)
        self._arrays: dict[str, Array] = {}
        self.metadata = dict(metadata)

    def __getitem__(self, name: str) -> Array:
        found = self._arrays.get(name)
        if found is None:
            found = self._arrays[name] = _converted(name, self._source(name))
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)

    def __contains__(self, name: object) -> bool:
        return name in self._sources

    def __repr__(self) -> str:
        size = sum(source.tensor.end - source.tensor.begin for source in self._sources.values())
        files = {source.content.path for source in self._sources.values()}
        return (
            f"<{len(self):,} tensors of {size:,} bytes in {', '.join(sorted(files)) or 'no file'}>"
        )

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor. Reads nothing. Raises `KeyError` for a name that is not there."""
        return self._source(name).tensor.shape

    def dtype(self, name: str) -> DataType:
        """The dtype that a tensor has here. Reads nothing. Raises `KeyError` as `shape` does."""
        return self._source(name).dtype

    def file(self, name: str) -> str:
        """The file that a tensor is in. Raises `KeyError` as `shape` does."""
        return self._source(name).content.path

    def _source(self, name: str) -> FileTensor:
        try:
            return self._sources[name]
        except KeyError:
            hint = meant_hint(nearest(name, self._sources)) if isinstance(name, str) else ""
            raise KeyError(f"there is no tensor `{name}`{hint}") from None


def _converted(name: str, source: FileTensor) -> Array:
    array = array_of(source.content, source.tensor)
    if stored_dtype(source.tensor) == source.dtype:
        return array
    with np.errstate(all="ignore"):
        made: Array = converted(array, source.dtype.numpy)
    if (np.isfinite(array) & ~np.isfinite(made)).any():
        message = f"`{name}` has numbers that are too large for {source.dtype}"
        note = f"it is of dtype {stored_dtype(source.tensor)} in `{source.content.path}`"
        raise DiagnosticError(Diagnostic("RX0206", message, None, notes=(note,)))
    made.setflags(write=False)
    return made


def file_of(weights: Mapping[str, Any], name: str) -> str | None:
    """The file from which a mapping has what it has under a name, where that is known."""
    if isinstance(weights, Weights):
        return weights.file(name)
    value: Any = weights[name]
    while value is not None and not isinstance(value, MappedFile):
        value = getattr(value, "base", None)
    return None if value is None else str(value.path)
