"""Atoms: what polynomials are made of.

An atom is a variable, or the value of an operation that no polynomial can express: a division, a
maximum, a choice, a comparison, a load. Equal atoms of one `Space` are one object, and the operands
of an atom use only atoms of lower numbers.
"""

from __future__ import annotations

from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.ir.prim import PrimExpr

from .polynomial import Poly

__all__ = ["INT32", "INT64", "Atom", "is_index"]

INT32, INT64 = DataType("int32"), DataType("int64")


def is_index(dtype: DataType) -> bool:
    """True if values of `dtype` are read as mathematical integers."""
    return dtype is INT64 or dtype is INT32


class Atom:
    """One atom: its kind, its operands, and inclusive bounds of its value (None: unbounded).

    Kinds of integers: "var"; "floordiv" and "div" (truncating) of two operands; "max" and "min" of
    any number; "select" of a condition and two values; "abs"; "cast"; "bits" (an operation on bits,
    `detail` says which); "multiple" (a variable divided by what it is known to be a multiple of).
    Kinds of bools: "ge0" and "eq0" compare one operand with zero, "and" and "or". Everything else
    is "opaque". `node` is the expression that the atom was first met in. `detail` is what an atom
    of its kind needs besides. `depth` counts how deep atoms are nested in it.
    """

    __slots__ = (
        "args", "depth", "detail", "high", "kind", "low", "node", "number",
    )  # fmt: skip

    def __init__(
        self,
        number: int,
        kind: str,
        args: tuple[Poly, ...],
        node: PrimExpr,
        low: int | None = None,
        high: int | None = None,
        detail: Any = None,
        depth: int = 0,
    ) -> None:
        self.number = number
        self.kind = kind
        self.args = args
        self.node = node
        self.low = low
        self.high = high
        self.detail = detail
        self.depth = depth
