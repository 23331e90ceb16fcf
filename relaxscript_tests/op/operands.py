"""How the operands of example calls are described: a tensor, a shape, any other value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from relaxscript.ir.struct_info import StructInfo


@dataclass(frozen=True)
class T:
    """A tensor operand of some shape; without `dtype` it takes the one that is being tried."""

    shape: tuple[int, ...]
    dtype: str | None = None
    below: int = 5  # integers are drawn from 0 (or its negative) to below this
    values: tuple[float, ...] = ()  # what floats are drawn from, where it is said
    ordered: bool = False  # along the last axis


@dataclass(frozen=True)
class S:
    """A shape operand that a variable holds."""

    dims: tuple[int, ...]


@dataclass(frozen=True)
class Value:
    """Any other operand that a variable holds, with its StructInfo."""

    value: Any
    info: StructInfo
