"""Storages that are used again: the pooled allocator of a machine.

Only what a program allocates as a storage comes from here; a tensor of its own is numpy's, whose
allocator keeps what it freed as well. A storage goes back when nothing refers to it any more: the
program has killed it (or has left the function that held it). No tensor that was cut out of it has
got anywhere else. So a tensor that a packed function keeps, a closure captures or a function
returns keeps its storage. It is not used again, whatever the program says.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from .result_blocks import BLOCKS

__all__ = ["Pool"]

_Storage = np.ndarray[Any, np.dtype[np.uint8]]


class _Lease(weakref.ref[Any]):
    """Watches over a storage that is in use; `memory` is what it uses."""

    __slots__ = ("memory",)
    memory: memoryview


class Pool:
    """Memory by size classes, four to each power of two. May be used from many threads at once."""

    def __init__(self) -> None:
        self._idle: dict[int, list[memoryview]] = {}
        self._used: dict[int, _Lease] = {}

    def storage(self, size: int) -> _Storage:
        """A storage of `size` bytes, all zero: a program gives the same on every run.

        Raises what numpy raises when there is no memory.
        """
        rounded = size_class(size)
        try:
            memory, written = self._idle[rounded].pop(), True
        except (KeyError, IndexError):
            memory, written = np.zeros(rounded, np.uint8).data, False
        # Every array that is cut out of this one, however often, refers to this one: numpy goes
        # back to the first array, and behind that is no array.
        storage: _Storage = np.frombuffer(memory, np.uint8, size)
        if written:
            storage.fill(0)
        lease = _Lease(storage, self._take_back)
        lease.memory = memory
        self._used[id(lease)] = lease
        return storage

    def _take_back(self, lease: weakref.ref[Any]) -> None:
        """Nothing refers to a storage. Comes at any time, in any thread: no lock is taken."""
        memory = self._used.pop(id(lease)).memory
        self._idle.setdefault(memory.nbytes, []).append(memory)

    def clear(self) -> tuple[()]:
        """Let go of all memory that nobody uses, also that which results of the process had."""
        self._idle.clear()
        BLOCKS.clear()
        return ()

    @property
    def used(self) -> int:
        """The number of bytes in use."""
        return sum(lease.memory.nbytes for lease in list(self._used.values()))

    @property
    def idle(self) -> int:
        """The number of bytes that wait to be used again."""
        return sum(memory.nbytes for held in list(self._idle.values()) for memory in list(held))


def size_class(size: int) -> int:
    """The number of bytes allocated for `size`: at most a quarter more, and at least 64."""
    if size <= 64:
        return 64
    step = 1 << (size - 1).bit_length() - 3
    return -(-size // step) * step
