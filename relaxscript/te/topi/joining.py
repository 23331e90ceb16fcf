"""Functions that join tensors, split one, and make grids of rows of numbers.

Source: TVM `topi.transform` (`concatenate`, `stack`, `split`, `meshgrid`), numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.arith import NO, format_expr, prove_equal, simplify
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.scalar_functions import if_then_else
from relaxscript.te.compute import shape_of
from relaxscript.te.element import maximum, minimum
from relaxscript.te.tensor import Tensor

from .operands import topi_function
from .transform import axis_in, injective, number

__all__ = ["concatenate", "meshgrid", "split", "stack"]


def _one_of(
    number: PrimExpr, starts: Sequence[Any], element: Callable[[int], PrimExpr]
) -> PrimExpr:
    """The value of the part in which a number lies; the first part begins at 0.

    As many comparisons as the logarithm of the parts; what is not chosen is not read.
    """

    def among(low: int, high: int) -> PrimExpr:
        if high - low == 1:
            return element(low)
        middle = (low + high) // 2
        return if_then_else(number < starts[middle], among(low, middle), among(middle, high))

    return among(0, len(starts))


def _sums(dims: Sequence[PrimExpr]) -> list[PrimExpr]:
    """The sums of the dimensions before each one, and of all."""
    found: list[PrimExpr] = [prim.const(0, dims[0].dtype)]
    for dim in dims:
        found.append(simplify(found[-1] + dim))
    return found


@topi_function
def concatenate(a_tuple: Sequence[Tensor], axis: int = 0) -> Tensor:
    """The tensors one after the other along an axis."""
    first = _first("topi.concatenate", a_tuple)
    place = axis_in("topi.concatenate", axis, first.ndim)
    for k, tensor in enumerate(a_tuple):
        _require_alike("topi.concatenate", k, tensor, first, place)
    *starts, total = _sums([tensor.shape[place] for tensor in a_tuple])

    def element(*i: Any) -> Any:
        def part(k: int) -> PrimExpr:
            index = i[place] if k == 0 else i[place] - starts[k]
            found: PrimExpr = a_tuple[k][(*i[:place], index, *i[place + 1 :])]
            return found

        return _one_of(i[place], starts, part)

    dims = [*first.shape[:place], total, *first.shape[place + 1 :]]
    return injective(dims, element, "T_concat")


@topi_function
def stack(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """The tensors, all of one shape, one after the other along a new axis."""
    first = _first("topi.stack", tensors)
    place = axis_in("topi.stack", axis, first.ndim + 1)
    for k, tensor in enumerate(tensors):
        _require_alike("topi.stack", k, tensor, first, None)

    def element(*i: Any) -> Any:
        rest = (*i[:place], *i[place + 1 :])
        return _one_of(i[place], range(len(tensors)), lambda k: tensors[k][rest])

    count = number(len(tensors))
    return injective([*first.shape[:place], count, *first.shape[place:]], element, "T_stack")


def _first(callee: str, tensors: Sequence[Tensor]) -> Tensor:
    if not tensors:
        raise OperandError(
            "tensors", "is empty", message=f"`{callee}` joins one tensor at least", code="RX0203"
        )
    return tensors[0]


def _require_alike(
    callee: str, number: int, tensor: Tensor, first: Tensor, place: int | None
) -> None:
    """Refuse a tensor of another rank, or other dimensions except along `place`, than the first."""
    for axis, (a, b) in enumerate(zip(first.shape, tensor.shape)):
        if axis != place and prove_equal(a, b) is NO:
            raise OperandError(
                f"tensors[{number}]", f"has {format_expr(b)} elements along axis {axis}",
                also={"tensors[0]": f"has {format_expr(a)}"}, code="RX0203",
                message=f"`{callee}` joins tensors that differ along no other axis",
            )  # fmt: skip
    if (tensor.ndim, tensor.dtype) != (first.ndim, first.dtype):
        raise OperandError(
            f"tensors[{number}]", f"has rank {tensor.ndim} and dtype {tensor.dtype}",
            also={"tensors[0]": f"has rank {first.ndim} and dtype {first.dtype}"}, code="RX0203",
            message=f"`{callee}` joins tensors of one rank and dtype",
        )  # fmt: skip


# ---------------------------------------------------------------- splitting


@topi_function
def split(ary: Tensor, indices_or_sections: int | Sequence[Any], axis: int = 0) -> list[Tensor]:
    """Consecutive parts of a tensor along an axis: a number of them, or where each begins.

    Of a number of parts all have one length, rounded up; the last may be shorter.
    """
    place = axis_in("topi.split", axis, ary.ndim)
    size = ary.shape[place]
    starts: list[PrimExpr]
    if isinstance(indices_or_sections, int):
        if indices_or_sections < 1:
            raise OperandError(
                "indices_or_sections", f"is {indices_or_sections}", code="RX0204",
                message="`topi.split` makes one part at least",
            )  # fmt: skip
        length = simplify((size + (indices_or_sections - 1)) // indices_or_sections)
        starts = [simplify(minimum(length * k, size)) for k in range(indices_or_sections)]
    else:
        starts = [prim.const(0, size.dtype), *shape_of(tuple(indices_or_sections))]
    ends = [*starts[1:], size]
    lengths = [simplify(_not_negative(end - start)) for start, end in zip(starts, ends)]
    return parts_of(ary, place, starts, lengths)


def _not_negative(length: PrimExpr) -> PrimExpr:
    length = simplify(length)
    return prim.const(max(length.value, 0), length.dtype) if isinstance(length, IntImm) else (
        maximum(length, 0)
    )  # fmt: skip


def parts_of(
    a: Tensor, place: int, starts: Sequence[PrimExpr], lengths: Sequence[PrimExpr]
) -> list[Tensor]:
    """The parts of a tensor that begin somewhere along an axis."""

    def part(start: PrimExpr, length: PrimExpr) -> Tensor:
        is_first = isinstance(start, IntImm) and start.value == 0

        def element(*i: Any) -> Any:
            index = i[place] if is_first else i[place] + start
            return a[(*i[:place], index, *i[place + 1 :])]

        dims = [*a.shape[:place], length, *a.shape[place + 1 :]]
        return injective(dims, element, "T_split")

    return [part(start, length) for start, length in zip(starts, lengths, strict=True)]


# ---------------------------------------------------------------- grids


@topi_function
def meshgrid(a_tuple: Sequence[Tensor], indexing: str) -> list[Tensor]:
    """For each row of numbers a tensor over the grid of all of them, which varies along its axis.

    With `indexing` "xy" the first two axes are exchanged; with "ij" they are as the rows.
    """
    if indexing not in ("ij", "xy"):
        raise OperandError(
            "indexing", f"is {indexing!r}", code="RX0204",
            message='the indexing of a grid is "ij" or "xy"',
        )  # fmt: skip
    axes = list(range(len(a_tuple)))
    if indexing == "xy":
        axes[:2] = reversed(axes[:2])
    one = number(1)
    dims = [(*a_tuple[row].shape, one)[0] for row in axes]

    def row(number: int) -> Tensor:
        tensor, axis = a_tuple[number], axes.index(number)
        return injective(dims, lambda *i: tensor[i[axis : axis + tensor.ndim]], "T_meshgrid")

    return [row(k) for k in range(len(a_tuple))]
