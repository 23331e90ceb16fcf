"""Tensors that follow from a few numbers: those of one value, ranges, and parts of matrices.

Source: TVM `topi.tensor`, `topi.transform` (`arange`, `trilu`, `eye`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.arith import Facts, simplify
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr, Var, const
from relaxscript.ir.scalar_functions import FUNCTIONS
from relaxscript.te.compute import compute, dtype_of, shape_of
from relaxscript.te.element import converted, one, select, zero
from relaxscript.te.tensor import Tensor, as_element

from .broadcast import elements
from .operands import topi_function

__all__ = ["arange", "eye", "full", "full_like", "trilu"]

INJECTIVE = "injective"
_INT64, _FLOAT64 = DataType("int64"), DataType("float64")


@topi_function
def full(shape: Any, dtype: Any, fill_value: Any) -> Any:
    """A tensor of a shape whose elements are all one value, converted to `dtype`."""
    return filled(shape_of(shape), dtype_of(dtype), fill_value, "T_full")


@topi_function
def full_like(x: Tensor, fill_value: Any) -> Any:
    """A tensor of the shape and dtype of `x` whose elements are all one value."""
    return filled(x.shape, x.dtype, fill_value, "T_full_like")


def filled(shape: Sequence[PrimExpr], dtype: DataType, value: Any, name: str) -> Tensor:
    """A tensor of one value, which is a scalar or a tensor of rank 0."""
    # The tensor is read in the loops: it has no element before they run.
    given = value if isinstance(value, Tensor) else as_element(value)
    made: Tensor = elements(shape, lambda e: converted(e, dtype), (given,), name, INJECTIVE)
    return made


def listed(values: Sequence[PrimExpr], dtype: DataType, name: str) -> Tensor:
    """A row of some scalars."""

    def element(ax0: Var) -> PrimExpr:
        found = const(0, dtype)
        for place, value in reversed(list(enumerate(values))):
            here = prim.EQ.make(ax0, const(place, ax0.dtype))
            found = select(here, converted(value, dtype), found)
        return found

    made: Tensor = compute((const(len(values), _INT64),), element, name=name, tag=INJECTIVE)
    return made


@topi_function
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "float32") -> Any:
    """The numbers from `start` up to `stop` in steps of `step`; with one they go from 0 up to it.

    Raises `OperandError` for a step of 0, and for numbers that are no integers, whose count is not
    known.
    """
    if stop is None:
        start, stop = 0, start
    first, last, by = (_whole(n, v) for n, v in (("start", start), ("stop", stop), ("step", step)))
    if isinstance(by, IntImm) and by.value == 0:
        raise OperandError(
            "step", "is 0", message="a step of 0 leads nowhere", code="RX0204",
        )  # fmt: skip
    count = simplify(FUNCTIONS["max"](0 - (first - last) // by, 0), Facts(nonnegative=False))
    return sequence((count,), first, by, dtype_of(dtype), "T_arange")


def _whole(name: str, value: Any) -> PrimExpr:
    e = as_element(value)
    if not e.dtype.is_integer:
        raise OperandError(
            name, f"is {e.dtype}", code="RX0502",
            message="the length of `topi.arange` follows from integers",
            help="multiply a range of integers, or use `R.arange`",
        )  # fmt: skip
    return converted(e, _INT64)


def sequence(
    shape: Sequence[PrimExpr], first: PrimExpr, by: PrimExpr, dtype: DataType, name: str
) -> Tensor:
    """The numbers from `first` on in steps, computed as int64 or float64 and converted once."""
    wide = _INT64 if first.dtype.is_integer and by.dtype.is_integer else _FLOAT64

    def element(ax0: Var) -> PrimExpr:
        return converted(converted(first, wide) + converted(by, wide) * converted(ax0, wide), dtype)

    made: Tensor = compute(shape, element, name=name, tag=INJECTIVE)
    return made


@topi_function
def eye(n: Any, m: Any = None, k: Any = 0, dtype: Any = "float32") -> Any:
    """The matrix of `n` rows and `m` columns with ones on its `k`-th diagonal, 0 elsewhere."""
    return diagonal(shape_of((n, n if m is None else m)), as_element(k), dtype_of(dtype), "T_eye")


def diagonal(shape: Sequence[PrimExpr], k: PrimExpr, dtype: DataType, name: str) -> Tensor:
    """A matrix of a shape with ones on its `k`-th diagonal."""

    def element(ax0: Var, ax1: Var) -> PrimExpr:
        return select(prim.EQ.make(*_places(ax0, ax1, k)), one(dtype), zero(dtype))

    made: Tensor = compute(shape, element, name=name, tag=INJECTIVE)
    return made


def _places(i: Var, j: Var, k: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
    """A column, and the column of the `k`-th diagonal in a row."""
    return converted(j, _INT64), converted(i, _INT64) + converted(k, _INT64)


@topi_function
def trilu(data: Tensor, k: Any, upper: bool) -> Any:
    """The matrices in the last two axes with zeros below their `k`-th diagonal, or above it.

    Raises `OperandError` for a tensor of less than two axes.
    """
    if data.ndim < 2:
        raise OperandError(
            "data", f"has rank {data.ndim}", code="RX0203", message="only matrices have triangles",
        )  # fmt: skip
    offset = as_element(k)

    def element(*indices: Var) -> PrimExpr:
        column, diagonal = _places(indices[-2], indices[-1], offset)
        kept = column >= diagonal if upper else column <= diagonal
        return select(kept, data[indices], zero(data.dtype))

    names = [f"ax{axis}" for axis in range(data.ndim)]
    return compute(data.shape, element, name="trilu", tag=INJECTIVE, varargs_names=names)
