"""The simple cache: one tensor that grows along its first axis.

Source: TVM `vm.builtin.attention_kv_cache_create` and its like.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.errors import VMError
from relaxscript.errors.exceptions import is_user_error
from relaxscript.runtime.values import kind_of

from .kv_state import cache_error

__all__ = ["AttentionKVCache"]

__tracebackhide__ = is_user_error

Array = np.ndarray[Any, Any]


class AttentionKVCache:
    """A tensor to which rows are appended; memory for more than it has is doubled.

    It begins with `init_data`, of whose rows the first `init_fill_count` count, or all where that
    is negative. `reserve_shape` is the shape for which there is memory at first.
    """

    def __init__(self, init_data: Array, reserve_shape: tuple[int, ...], init_fill_count: int = -1):
        name = "attention_kv_cache_create"
        if type(init_data) is not np.ndarray or init_data.ndim == 0:
            text = "`init_data` is a tensor on the host with an axis to grow along"
            raise cache_error(name, f"{text}, got {kind_of(init_data)}")
        if tuple(reserve_shape[1:]) != init_data.shape[1:] or not reserve_shape:
            text = f"`init_data` has shape {init_data.shape}"
            raise cache_error(name, f"{text}, and {tuple(reserve_shape)} is reserved")
        if init_fill_count > max(len(init_data), reserve_shape[0]):
            text = f"{init_fill_count} rows cannot be filled of {tuple(reserve_shape)}"
            raise cache_error(name, text)
        try:
            self._data = np.zeros(reserve_shape, init_data.dtype)
        except (MemoryError, ValueError) as error:
            text = f"cannot allocate a cache of shape {tuple(reserve_shape)}: {error}"
            raise VMError(text, code="RX0606") from error
        self.length = 0
        self._next = 0  # where the next row of a window goes
        self._wrapped = False
        self.append(init_data)
        if init_fill_count >= 0:
            self.length = self._next = init_fill_count

    def __repr__(self) -> str:
        return f"<KV cache of shape {self.view().shape} and dtype {self._data.dtype.name}>"

    def append(self, value: Array) -> None:
        """Append rows."""
        self._require_rows("append", value)
        end = self.length + len(value)
        self._reserve(end)
        self._data[self.length : end] = value
        self.length = self._next = end

    def update(self, value: Array) -> None:
        """Replace all rows; there must be as many."""
        self._require_rows("update", value)
        if len(value) != self.length:
            raise cache_error("update", f"the cache has {self.length} rows, got {len(value)}")
        self._data[: self.length] = value

    def view(self, shape: tuple[int, ...] | None = None) -> Array:
        """The rows as one tensor, which shares the cache's memory; `shape` is what it must be."""
        rows = self._data[: self.length]
        if shape is not None and rows.shape != tuple(shape):
            raise cache_error("view", f"the cache has shape {rows.shape}, not {tuple(shape)}")
        return rows

    def window_override(self, value: Array, max_cache_size: int, num_sinks: int = 0) -> None:
        """Append rows; behind `max_cache_size` rows they replace those that are there longest.

        The first `num_sinks` rows stay.
        """
        name = "window_override"
        self._require_rows(name, value)
        if not 0 <= num_sinks < max_cache_size:
            text = f"a window of {max_cache_size} rows cannot have {num_sinks} sinks"
            raise cache_error(name, text)
        if self._next > max_cache_size:
            text = f"the cache has {self.length} rows, and a window of {max_cache_size} has fewer"
            raise cache_error(name, text)
        behind = min(len(value), max_cache_size - self._next)
        rest = len(value) - behind
        if rest > max_cache_size - num_sinks:
            text = f"{len(value)} rows do not fit a window of {max_cache_size} with {num_sinks}"
            raise cache_error(name, f"{text} sinks")
        self._reserve(self._next + behind)
        self._data[self._next : self._next + behind] = value[:behind]
        self.length = max(self.length, self._next + behind)
        self._next += behind
        if rest:
            self._data[num_sinks : num_sinks + rest] = value[behind:]
            self._next, self._wrapped = num_sinks + rest, True

    def popn(self, n: int) -> None:
        """Forget the last `n` rows."""
        self.require_popn(n)
        self.length = self._next = self.length - n

    def require_popn(self, n: int) -> None:
        """Raise `VMError` where the last `n` rows cannot be popped."""
        if not 0 <= n <= self.length:
            raise cache_error("popn", f"the cache has {self.length} rows, of which {n} cannot go")
        if n and self._wrapped:
            raise cache_error("popn", "the last rows of a window that has slid are not known")

    def clear(self) -> None:
        """Forget all rows."""
        self.length = self._next = 0
        self._wrapped = False

    def _reserve(self, rows: int) -> None:
        size = max(len(self._data), 1)
        if rows <= len(self._data):
            return
        while size < rows:
            size *= 2
        larger = np.zeros((size, *self._data.shape[1:]), self._data.dtype)
        larger[: self.length] = self._data[: self.length]
        self._data = larger

    def _require_rows(self, name: str, value: Any) -> None:
        row, dtype = self._data.shape[1:], self._data.dtype
        fits = type(value) is np.ndarray and value.ndim and value.shape[1:] == row
        if fits and value.dtype == dtype:
            return
        sizes = ", ".join(["_", *map(str, row)])
        text = f"rows of shape ({sizes}) and dtype {dtype.name} are in the cache"
        raise cache_error(name, f"{text}, got {kind_of(value)}")
