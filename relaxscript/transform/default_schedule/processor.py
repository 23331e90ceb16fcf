"""Facts of the processor on which programs run, by which schedules choose sizes."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Processor", "this_processor"]

# The names by which numpy tells that vectors of so many bytes are there.
_BYTES = {64: {"AVX512F", "AVX512_SKX", "X86_V4"}, 32: {"AVX2", "FMA3", "X86_V3"}}


class Processor(NamedTuple):
    """`vector_bytes` is the size of a register for vectors, of which there are some."""

    vector_bytes: int = 16
    vector_registers: int = 16

    def lanes(self, itemsize: int) -> int:
        """The number of elements of so many bytes that one register holds."""
        return max(self.vector_bytes // itemsize, 1)


@cache
def this_processor() -> Processor:
    """The processor of this computer, as numpy found it."""
    config: Any = np.show_config(mode="dicts")
    simd = config.get("SIMD Extensions", {})
    found = {*simd.get("baseline", ()), *simd.get("found", ())}
    size = next((size for size, names in _BYTES.items() if names & found), 16)
    many = size == 64 or not found.isdisjoint({"ASIMD", "NEON"})
    return Processor(size, 32 if many else 16)
