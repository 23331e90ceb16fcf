"""The address and layout of a buffer, and the options of generated code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from operator import mul

from relaxscript.dtypes import DataType

from .ir_writer import Value
from .proofs import BoundedInteger

__all__ = ["BufferAddress", "CodegenOptions"]


@dataclass(frozen=True)
class CodegenOptions:
    """The options of generated code: `check`s of indices, and the `level` of LLVM's optimisation.

    With `zero_memory`, new memory begins as zeros. With `profile`, code takes the times of the
    PrimFuncs that it calls.
    """

    check: bool = True
    level: int = 2
    zero_memory: bool = False
    profile: bool = False


@dataclass(frozen=True)
class BufferAddress:
    """The address of a buffer and its layout; `extents` are its dimensions as they are known."""

    pointer: Value
    dtype: DataType
    shape: tuple[Value, ...]
    extents: tuple[BoundedInteger, ...]
    strides: tuple[Value, ...] | None = None

    @cached_property
    def literal_strides(self) -> tuple[int, ...] | None:
        """The strides of a compact buffer, in elements, where they are known now."""
        inner = [extent.text for extent in self.shape[1:]]
        if self.strides is not None or any(text[0] == "%" for text in inner):
            return None
        steps = accumulate(map(int, reversed(inner)), mul, initial=1)
        return tuple(steps)[::-1][: len(self.shape)]
