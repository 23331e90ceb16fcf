"""Memory that results are in, used again when nobody refers to them any more.

Large arrays are costly to allocate: each page of them is made when it is first touched. So native
functions (`codegen/native/`) give results of 64 KiB and more memory that an earlier result had. A
block is an array of bytes, which the result keeps as its base. A block is free where its reference
count is 1: that reference is the pool's. Views of a result, and whatever else keeps its memory,
keep the block, also when the program is gone.

Native code looks for a free block by itself, in `TABLE`, and comes here only where there is none.
All of it happens under Python's lock.
"""

from __future__ import annotations

import ctypes
from collections import deque
from typing import Any

import numpy as np

from .forks import lock_across_forks

__all__ = ["ALIGNMENT", "BLOCKS", "CLASSES", "SMALLEST", "WAYS", "ResultBlocks", "size_class"]

Block = np.ndarray[Any, np.dtype[np.uint8]]

# The fewest bytes for which there are blocks: below, numpy's own allocator is as fast.
SMALLEST = 1 << 16
ALIGNMENT = 64
CLASSES, WAYS = 104, 8  # four sizes to each power of two, up to 2 TiB, and blocks of each
MOST_BYTES = 256 << 20  # of all blocks together


def size_class(size: int) -> tuple[int, int]:
    """The number of the class for so many bytes, and how many its blocks have.

    At most a quarter more. `codegen/native/support.py` computes the same.
    """
    exponent = (size - 1).bit_length() - 1
    quarters = size - 1 >> exponent - 2
    return (exponent - 15) * 4 + quarters - 4, quarters + 1 << exponent - 2


class ResultBlocks:
    """The blocks of the process. `table` has their addresses for native code, 0 for no block."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self.table = (ctypes.c_int64 * (CLASSES * WAYS))()
        self._blocks: dict[int, Block] = {}  # by their places in the table
        self._order: deque[int] = deque()
        self._lock = lock_across_forks()
        self._changing = False

    def new(self, size: int) -> Block | None:
        """A block for so many bytes, None where it is better to allocate an array as usual.

        That is also so while another thread, or what this one interrupted, is in here.
        """
        if not self._lock.acquire(blocking=False):
            return None
        try:
            if self._changing:
                return None
            self._changing = True
            try:
                return self._new(size)
            finally:
                self._changing = False
        finally:
            self._lock.release()

    def _new(self, size: int) -> Block | None:
        number, rounded = size_class(size)
        if not 0 <= number < CLASSES or rounded > self.most_bytes // 2:
            return None
        try:
            block = np.empty(rounded + ALIGNMENT, np.uint8)
        except MemoryError:
            return None
        ways = range(number * WAYS, (number + 1) * WAYS)
        place = next((place for place in ways if place not in self._blocks), None)
        if place is None:  # all are in use, and so many of one size are unlikely to come back
            place = next(place for place in self._order if place in ways)
            self._let_go(place)
        while self._order and self.held + rounded > self.most_bytes:
            self._let_go(self._order[0])
        self._blocks[place] = block
        self._order.append(place)
        self.table[place] = id(block)
        return block

    def _let_go(self, place: int) -> None:
        """Give up a block: its memory goes with the last that refers to it."""
        self.table[place] = 0
        self._order.remove(place)
        del self._blocks[place]

    @property
    def held(self) -> int:
        """The number of bytes of all blocks, in use or not."""
        return sum(block.nbytes for block in self._blocks.values())

    def clear(self) -> None:
        """Give up all blocks."""
        with self._lock:
            for place in [] if self._changing else list(self._order):
                self._let_go(place)


BLOCKS = ResultBlocks()
