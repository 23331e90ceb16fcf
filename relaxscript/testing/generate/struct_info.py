"""Questions of random programs about StructInfo, and literals of a given one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from relaxscript.arith import evaluate
from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.distributed import DeviceMesh, Placement, PlacementSpec, placement_mistake
from relaxscript.ir.relax import Constant, Expr, PrimValue, ShapeExpr, Tuple
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import walk
from relaxscript.testing.prim_funcs import DTYPES

from .choices import Choices

__all__ = [
    "alike", "fields", "is_computable", "is_condition", "is_positive", "literal", "placed", "same",
    "shape_of", "tensor_info", "tensor_of",
]  # fmt: skip


def shape_of(dims: Sequence[prim.PrimExpr]) -> ShapeExpr:
    """The shape with these dimensions."""
    return ShapeExpr(tuple(dims))


def tensor_of(dims: Sequence[prim.PrimExpr], dtype: DataType) -> TensorStructInfo:
    """A tensor of known dimensions."""
    return TensorStructInfo(shape_of(dims), dtype)


def placed(choices: Choices, tensor: TensorStructInfo) -> DTensorStructInfo:
    """The tensor on a mesh, one of its axes cut where devices can share it."""
    mesh = choices.pick((DeviceMesh((2,), (0, 1)), DeviceMesh((1, 2), (2, 3))))
    axes = range(len(mesh.shape))
    placements = [
        Placement(tuple([PlacementSpec(axis if place == along else -1) for place in axes]))
        for axis in range(-1, tensor.ndim)
        for along in axes
    ]
    fitting = [p for p in placements if placement_mistake(tensor, mesh, p) is None]
    return DTensorStructInfo(tensor, mesh, choices.pick(fitting))


def literal(wanted: StructInfo, extents: dict[prim.Var, int], extent: Callable[[], int]) -> Expr:
    """An expression without variables that fits `wanted`; `extents` are those of its dimensions."""

    def number(dim: prim.PrimExpr) -> int:
        for var in walk(dim):
            if isinstance(var, prim.Var):
                extents.setdefault(var, extent())
        return int(evaluate(dim, extents))

    match wanted:
        case TensorStructInfo(dtype=dtype, ndim=ndim, dims=dims):
            shape = [number(d) for d in dims] if dims is not None else [2] * max(ndim, 0)
            return Constant(
                np.ones(shape, (dtype if not dtype.is_void else DataType("bool")).numpy)
            )
        case ShapeStructInfo(values=tuple(values)):
            return shape_of([prim.const(number(v), prim.INT64) for v in values])
        case ShapeStructInfo(ndim=ndim):
            return shape_of([prim.const(3, prim.INT64)] * max(ndim, 0))
        case PrimStructInfo(dtype=dtype, value=value):
            return PrimValue(prim.const(1 if value is None else number(value), dtype))
        case TupleStructInfo(fields):
            return Tuple(tuple([literal(field, extents, extent) for field in fields]))
    return Tuple(())


def same(a: StructInfo, b: StructInfo) -> bool:
    """True if two descriptions are the same, shape variables included."""
    return bool(structural_equal(a, b))


def tensor_info(info: StructInfo) -> TensorStructInfo:
    """A description that is known to be one of a tensor."""
    assert isinstance(info, TensorStructInfo)
    return info


def fields(info: StructInfo) -> tuple[StructInfo, ...]:
    """The fields of a tuple; none for what is no tuple."""
    return info.fields if isinstance(info, TupleStructInfo) else ()


def is_condition(info: StructInfo) -> bool:
    """True if a value can be the condition of an `if`."""
    match info:
        case TensorStructInfo(dtype=dtype, ndim=0) | PrimStructInfo(dtype=dtype):
            return dtype.is_bool
    return False


def is_positive(dim: prim.PrimExpr) -> bool:
    """True if a dimension is a number above 0."""
    return isinstance(dim, prim.IntImm) and dim.value > 0


def is_computable(info: StructInfo) -> bool:
    """True if a PrimFunc can be written for a tensor: all of its dimensions are known."""
    match info:
        case TensorStructInfo(dims=tuple(), dtype=dtype):
            return dtype in DTYPES
    return False


def alike(info: StructInfo, wanted: StructInfo) -> bool:
    """True if a value of `info` may well be an argument for `wanted`."""
    match info, wanted:
        case TensorStructInfo(), TensorStructInfo():
            return wanted.ndim in (-1, info.ndim) and wanted.dtype == info.dtype
        case _, ObjectStructInfo():
            return True
        case FuncStructInfo() | DTensorStructInfo(), _:
            return same(info, wanted)
    return type(info) is type(wanted)
