"""Random bits as a function of a key and a counter: Threefry-2x32 of 20 rounds.

Source: J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as
1, 2, 3" (2011).
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["PARITY", "ROTATIONS", "random_bits", "threefry"]

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = np.uint32(0x1BD11BDA)


def threefry(key: Any, first: Any, second: Any) -> tuple[Any, Any]:
    """The two words for each counter of two words; all are uint32, and wrap around."""
    words = (key[0], key[1], key[0] ^ key[1] ^ PARITY)
    x, y = first + words[0], second + words[1]
    for group in range(5):
        for by in ROTATIONS[group % 2]:
            x = x + y
            y = ((y << np.uint32(by)) | (y >> np.uint32(32 - by))) ^ x
        x = x + words[(group + 1) % 3]
        y = y + words[(group + 2) % 3] + np.uint32(group + 1)
    return x, y


def random_bits(key: Any, start: int, count: int) -> Any:
    """64 bits for each of some numbers in row: the counter is the place, its high word first."""
    place = np.arange(start, start + count, dtype=np.uint64)
    high, low = (place >> np.uint64(32)).astype(np.uint32), place.astype(np.uint32)
    x, y = threefry(key, high, low)
    return (x.astype(np.uint64) << np.uint64(32)) | y.astype(np.uint64)
