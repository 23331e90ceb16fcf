"""Sizes of tensors and calls, as expressions in shape variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from relaxscript.arith import EvaluationError, evaluate, simplify
from relaxscript.ir import relax
from relaxscript.ir.prim import INT64, PrimExpr, Var as PrimVar, cast, const
from relaxscript.ir.relax import Expr, ShapeExpr, Tuple
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.ir.tir import Buffer, PrimFunc

__all__ = ["Sizes", "bytes_of", "sizes_of", "tensors_in", "tensors_of", "value_of"]

Sizes = Mapping[PrimVar, PrimExpr]


def value_of(e: PrimExpr, values: Mapping[Any, int]) -> int | None:
    """The value of an expression, None where that of a variable is missing."""
    try:
        return int(evaluate(e, values))
    except EvaluationError:
        return None


def sizes_of(
    func: PrimFunc, args: Sequence[Expr], results: Sequence[TensorStructInfo], rest: Sequence[Expr]
) -> dict[PrimVar, PrimExpr]:
    """The sizes of a call for the variables of a PrimFunc, as far as they are known."""
    sizes: dict[PrimVar, PrimExpr] = {}
    infos = iter([*tensors_in(args), *results])
    scalars = iter([v for e in rest if isinstance(e, ShapeExpr) for v in e.values])
    for param in func.params:
        buffer: Buffer | None = func.buffer_map.get(param)
        info = None if buffer is None else next(infos, None)
        if buffer is None and (value := next(scalars, None)) is not None:
            sizes[param] = cast(value, param.dtype)
        elif buffer is not None and info is not None:
            pairs = zip(buffer.shape, info.dims or ())
            sizes |= {own: cast(dim, own.dtype) for own, dim in pairs if isinstance(own, PrimVar)}
    return sizes


def tensors_in(args: Iterable[Expr]) -> list[TensorStructInfo]:
    """The tensors that arguments are, or hold."""
    return [info for arg in args for info in tensors_of(_struct_info(arg))]


def _struct_info(e: Expr) -> StructInfo | None:
    if isinstance(e, relax.Constant):
        shape = tuple([const(int(dim), INT64) for dim in e.data.shape])
        return TensorStructInfo(ShapeExpr(shape), e.data.dtype.name)
    if isinstance(e, Tuple):
        fields = [_struct_info(field) for field in e.fields]
        return TupleStructInfo.make(tuple([field for field in fields if field is not None]))
    return e.struct_info if isinstance(e, relax.Var) else None


def tensors_of(info: StructInfo | None) -> list[TensorStructInfo]:
    """The tensors in a StructInfo."""
    match info:
        case TensorStructInfo():
            return [info]
        case TupleStructInfo(fields):
            return [tensor for field in fields for tensor in tensors_of(field)]
    return []


def bytes_of(infos: Iterable[TensorStructInfo]) -> PrimExpr | None:
    """The bytes of tensors; None where a shape or dtype is not known."""
    total: PrimExpr = const(0, INT64)
    for info in infos:
        if info.dims is None or info.dtype.is_void:
            return None
        size: PrimExpr = const(info.dtype.itemsize, INT64)
        for dim in info.dims:
            size = size * cast(dim, INT64)
        total = total + size
    return simplify(total)
