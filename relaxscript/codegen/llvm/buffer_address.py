"""Where buffers lie in memory, and how their accesses are written."""

from __future__ import annotations

from dataclasses import dataclass

from relaxscript.dtypes import DataType

from .ir_writer import Value
from .proofs import Term

__all__ = ["BufferAddress", "Options"]


@dataclass(frozen=True)
class Options:
    """How code is made: with `check`s of indices, at a `level` of optimisation by LLVM.

    With `zero_memory`, new memory begins as zeros.
    """

    check: bool = True
    level: int = 3
    zero_memory: bool = False


@dataclass(frozen=True)
class BufferAddress:
    """Where a buffer lies; `extents` are its dimensions as they are known."""

    pointer: Value
    dtype: DataType
    shape: tuple[Value, ...]
    extents: tuple[Term, ...]
    strides: tuple[Value, ...] | None = None
