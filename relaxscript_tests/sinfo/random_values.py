"""Run-time values of StructInfos, and whether a value has one, once the variables have values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from relaxscript.arith import evaluate
from relaxscript.dtypes import DataType
from relaxscript.errors import VMError
from relaxscript.ir import prim
from relaxscript.ir.relax import ShapeExpr, Var
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
from relaxscript.runtime import Closure, PackedFunc, Shape
from relaxscript.runtime.run_check import match
from relaxscript.runtime.values import make_prim, to_device
from relaxscript.semantics.checks import Checks, device_of
from relaxscript.sinfo import (
    dimensions,
    shape_vars,
    struct_info_parts,
    substitute_held_shapes,
    substitute_shape_vars,
)

from .random_infos import ANY_RANK, HELD, KNOWN, Infos, M, N, integer


def assignments(limit: int, *infos: StructInfo) -> Iterator[dict[Any, Any]]:
    """All values below `limit` of the variables that these StructInfos take from outside."""
    whole = TupleStructInfo(infos)
    held = {part.shape for part in struct_info_parts(whole) if isinstance(part, TensorStructInfo)}
    used = set(shape_vars(whole)) | ({N} if {HELD, KNOWN} & held else set())
    sizes = [range(limit) if v in used or {HELD, ANY_RANK} & held else (0,) for v in (N, M)]
    for n, m in itertools.product(*sizes):
        yield {
            N: integer(n), M: integer(m), HELD: ShapeExpr((n, m)), KNOWN: ShapeExpr((n, 4)),
            ANY_RANK: ShapeExpr((m,)),
        }  # fmt: skip


def grounded(info: StructInfo, values: Mapping[Any, Any]) -> StructInfo:
    """`info` for these values of the variables."""
    held = {v: e for v, e in values.items() if isinstance(v, Var)}
    sizes = {v: e for v, e in values.items() if isinstance(v, prim.Var)}
    return substitute_shape_vars(substitute_held_shapes(info, held), sizes)


def has(value: Any, info: StructInfo) -> bool:
    """Whether a value has a StructInfo without variables, as `match_cast` asks."""
    (check,) = Checks().of([info], set(), lambda _: 0)
    try:
        match(value, check, [], "it")
    except VMError:
        return False
    return True


def value_of(info: StructInfo, draw: Infos) -> Any:
    """A value that has `info`, which has no variables; raises `LookupError` where none can."""
    if isinstance(info, DTensorStructInfo):
        info = info.tensor_sinfo
    if any(evaluate(e) < 0 for e in dimensions(info)):
        raise LookupError("nothing has a negative size")
    match info:
        case TensorStructInfo():
            return _tensor(info, draw)
        case ShapeStructInfo():
            return _shape(info, draw)
        case PrimStructInfo(dtype, value):
            return make_prim(draw.pick([0, 1]) if value is None else evaluate(value), str(dtype))
        case TupleStructInfo(fields):
            return tuple(value_of(f, draw) for f in fields)
        case FuncStructInfo(params=None):
            return PackedFunc("f", print)
        case FuncStructInfo():
            return Closure("f", print, draw.pick([info, draw.stronger(info, (N,))]))
        case ObjectStructInfo():
            return draw.pick([None, "text", 2, 2.5, Shape((2,)), np.zeros((1, 2), "float32"), ()])
    raise AssertionError(f"no values of {info!r} are drawn")


def _shape(info: ShapeStructInfo, draw: Infos) -> Shape:
    if info.values is not None:
        return Shape(evaluate(e) for e in info.values)
    rank = draw.pick(range(3)) if info.ndim == -1 else info.ndim
    return Shape(draw.pick(range(4)) for _ in range(rank))


def _tensor(info: TensorStructInfo, draw: Infos) -> Any:
    dtype = draw.pick(["float32", "int8", "bfloat16"]) if info.dtype.is_void else str(info.dtype)
    if info.dims is not None:
        sizes = [evaluate(e) for e in info.dims]
    else:
        rank = draw.pick(range(3)) if info.ndim == -1 else info.ndim
        sizes = [draw.pick(range(4)) for _ in range(rank)]
    array = np.zeros(sizes, DataType(dtype).numpy)
    place = device_of(info.vdevice)
    return array if place is None else to_device(array, place)
