"""More elements around a tensor, and between those that it has.

Source: TVM `topi.nn.pad`, `topi.nn.mirror_pad`, `topi.nn.dilate`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from relaxscript import dtypes
from relaxscript.arith import simplify
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim, tir_functions
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.scalar_functions import if_then_else
from relaxscript.te.compute import compute
from relaxscript.te.element import converted
from relaxscript.te.tensor import Tensor, as_element
from relaxscript.te.topi.operands import topi_function
from relaxscript.te.topi.tensor import INJECTIVE

__all__ = ["circular_pad", "dilate", "mirror_pad", "pad", "reflect_pad", "replicate_pad"]

PAD = f"{INJECTIVE},pad"


@topi_function
def pad(
    data: Tensor, pad_before: Sequence[Any], pad_after: Sequence[Any] | None = None,
    pad_value: Any = 0.0, name: str = "PadInput", attrs: Mapping[str, Any] | None = None,
) -> Any:  # fmt: skip
    """`data` with so many elements of one value before and behind each axis.

    Behind there are as many as before where nothing else is said. Raises `OperandError` for more
    or fewer numbers than axes.
    """
    before, after = _widths("topi.nn.pad", data, pad_before, pad_after)
    value = element_of(pad_value, data.dtype)

    def element(*indices: Any) -> Any:
        places, conditions = [], list[PrimExpr]()
        for index, low, high, size in zip(indices, before, after, data.shape):
            places.append(_moved(index, low))
            conditions += [] if _is_zero(low) else [prim.GE(index, low)]
            conditions += [] if _is_zero(high) else [prim.LT(index, simplify(prim.Add(size, low)))]
        return where(conditions, data[tuple(places)], value)

    return compute(_padded(data, before, after), element, name=name, tag=PAD, attrs=attrs)


def where(conditions: Sequence[PrimExpr], e: PrimExpr, otherwise: PrimExpr) -> PrimExpr:
    """An element where all conditions hold, and what else is there; it is not read elsewhere."""
    return if_then_else(tir_functions.all(*conditions), e, otherwise) if conditions else e


def element_of(value: Any, dtype: DataType) -> PrimExpr:
    """A number or a scalar as an element of a tensor, a number rounded once."""
    if not isinstance(value, (bool, int, float)):
        return converted(as_element(value), dtype)
    return prim.const(dtypes.converted(np.asarray(value), dtype.numpy).item(), dtype)


def _widths(
    callee: str, data: Tensor, before: Sequence[Any], after: Sequence[Any] | None
) -> tuple[list[PrimExpr], list[PrimExpr]]:
    """The numbers of elements before and behind each axis, in the dtype of the axis."""
    found = []
    for name, given in (("pad_before", before), ("pad_after", before if after is None else after)):
        if len(given) != data.ndim:
            raise OperandError(
                name, f"has {quantity(len(given), 'number')}", code="RX0204",
                also={"data": f"has {quantity(data.ndim, 'axis')}"},
                message=f"`{callee}` takes a number for each axis",
            )  # fmt: skip
        found.append([prim.cast(as_element(n), d.dtype) for n, d in zip(given, data.shape)])
    return found[0], found[1]


def _padded(
    data: Tensor, before: Sequence[PrimExpr], after: Sequence[PrimExpr]
) -> list[PrimExpr]:  # fmt: skip
    """The shape of a tensor with more elements before and behind its axes."""
    return [
        size if _is_zero(low) and _is_zero(high) else simplify(prim.Add(prim.Add(size, low), high))
        for size, low, high in zip(data.shape, before, after)
    ]


def _moved(index: PrimExpr, by: PrimExpr) -> PrimExpr:
    return index if _is_zero(by) else prim.Sub(index, by)


def _is_zero(e: PrimExpr) -> bool:
    return isinstance(e, IntImm) and e.value == 0


# ---------------------------------------------------------------- elements that are there


def _nearest(index: PrimExpr, size: PrimExpr) -> PrimExpr:
    """The element at an index, or the end that is nearest to it."""
    last = prim.Sub(size, prim.const(1, size.dtype))
    return prim.Max(prim.Min(index, last), prim.const(0, size.dtype))


def _wrapped(index: PrimExpr, size: PrimExpr) -> PrimExpr:
    """The element at an index of a tensor that is repeated without end."""
    return prim.FloorMod(index, size)


def _reflected(index: PrimExpr, size: PrimExpr) -> PrimExpr:
    """The element at an index of a tensor that goes there and back, its ends not twice."""
    last = simplify(prim.Sub(size, prim.const(1, size.dtype)))
    way = simplify(prim.Mul(last, prim.const(2, size.dtype)))
    place = prim.FloorMod(index, simplify(prim.Max(way, prim.const(1, size.dtype))))
    return prim.Min(place, prim.Sub(way, place))


def _mirrored(index: PrimExpr, size: PrimExpr) -> PrimExpr:
    """The element at an index of a tensor that goes there and back, its ends twice."""
    way = simplify(prim.Mul(size, prim.const(2, size.dtype)))
    place = prim.FloorMod(index, way)
    return prim.Min(place, prim.Sub(prim.Sub(way, prim.const(1, size.dtype)), place))


_Place = Callable[[PrimExpr, PrimExpr], PrimExpr]


def _pad_by(
    callee: str, data: Tensor, before: Sequence[Any], after: Sequence[Any] | None, place: _Place,
    name: str,
) -> Any:  # fmt: skip
    """A tensor padded by elements of its own; `place` says which, by the index and the size."""
    low, high = _widths(callee, data, before, after)

    def element(*indices: Any) -> Any:
        return data[tuple(
            index if _is_zero(a) and _is_zero(b) else place(_moved(index, a), size)
            for index, a, b, size in zip(indices, low, high, data.shape)
        )]  # fmt: skip

    return compute(_padded(data, low, high), element, name=name, tag=PAD)


@topi_function
def mirror_pad(
    data: Tensor, pad_before: Sequence[Any], pad_after: Sequence[Any] | None = None,
    mode: str = "SYMMETRIC", name: str = "MirrorPadInput",
) -> Any:  # fmt: skip
    """`data` with its own elements in reverse around it; "REFLECT" leaves its ends out.

    Raises `OperandError` for another mode, and for more or fewer numbers than axes.
    """
    places = {"SYMMETRIC": _mirrored, "REFLECT": _reflected}
    if mode not in places:
        raise OperandError(
            "mode", f'is "{mode}"', message='it is "SYMMETRIC" or "REFLECT"', code="RX0204"
        )
    return _pad_by("topi.nn.mirror_pad", data, pad_before, pad_after, places[mode], name)


def _padding(function: str, place: _Place, made: str, doc: str) -> Callable[..., Any]:
    """The function of a name that pads by elements of a tensor's own, a tensor named `made`."""

    @topi_function
    def padded(
        data: Tensor, pad_before: Sequence[Any], pad_after: Sequence[Any] | None = None,
        name: str = made,
    ) -> Any:  # fmt: skip
        return _pad_by(f"topi.nn.{function}", data, pad_before, pad_after, place, name)

    padded.__name__ = padded.__qualname__ = function
    padded.__doc__ = (
        f"{doc}\n\n    Raises `OperandError` for more or fewer numbers than axes.\n    "
    )
    return padded


reflect_pad = _padding(
    "reflect_pad", _reflected, "ReflectPadInput",
    "`data` with its own elements in reverse around it, its ends left out.",
)  # fmt: skip
replicate_pad = _padding(
    "replicate_pad", _nearest, "ReplicatePadInput",
    "`data` with the nearest of its elements around it.",
)  # fmt: skip
circular_pad = _padding(
    "circular_pad", _wrapped, "CircularPadInput",
    "`data` with the elements of its other end around it.",
)  # fmt: skip


@topi_function
def dilate(
    data: Tensor, strides: Sequence[int], dilation_value: Any = 0.0, name: str = "DilatedInput"
) -> Any:
    """`data` with `strides[axis] - 1` elements of one value between those along each axis.

    Raises `OperandError` for more or fewer numbers than axes.
    """
    steps, _ = _widths("topi.nn.dilate", data, strides, None)
    value = element_of(dilation_value, data.dtype)

    def element(*indices: Any) -> Any:
        places, conditions = [], []
        for index, step in zip(indices, steps):
            if isinstance(step, IntImm) and step.value == 1:
                places.append(index)
                continue
            rest = prim.FloorMod(index, step)
            conditions.append(prim.EQ(rest, prim.const(0, rest.dtype)))
            places.append(prim.FloorDiv(index, step))
        return where(conditions, data[tuple(places)], value)

    def spread(size: PrimExpr, step: PrimExpr) -> PrimExpr:
        one = prim.const(1, size.dtype)
        return simplify(
            prim.Max(prim.Add(prim.Mul(prim.Sub(size, one), step), one), prim.const(0, size.dtype))
        )

    shape = [spread(size, step) for size, step in zip(data.shape, steps)]
    return compute(shape, element, name=name, tag=INJECTIVE)
