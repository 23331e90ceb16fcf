"""The address and layout of a buffer, and the options of generated code."""

from __future__ import annotations

from dataclasses import dataclass

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
