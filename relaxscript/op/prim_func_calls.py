"""The check that the arguments of `R.call_tir` fit the PrimFunc that it calls.

Tensors go to the buffers and integers to the scalar parameters of the PrimFunc, each in their
order. So both the spec's and TVM's order of parameters work. The shape variables of the PrimFunc
are those of its arguments. A dimension that differs for all values is an error; one that may differ
is a deferred check.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import (
    BaseFunc,
    Call,
    Function,
    GlobalVar,
    ShapeExpr,
    Tuple,
    TupleGetItem,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import free_vars, substitute
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import shape_fact, shape_text
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf
from relaxscript.opdef.operands import wrong_kind
from relaxscript.opdef.shapes import dims_of, require_equal, same_dims

__all__ = ["check", "name_arguments", "prim_func_of", "with_literal_tuple"]

_Named = list[tuple[str, TensorStructInfo]]


class _Callee(NamedTuple):
    """A PrimFunc as its calls see it: its buffers by their names, and its integers."""

    name: str
    buffers: _Named
    integers: list[PrimExpr | None]


def prim_func_of(context: InferContext, call: Call, operator: str) -> GlobalVar:
    """The name of the PrimFunc that a call calls; raises `OperandError` (RX0201) for a value."""
    callee = call.args[0]
    if isinstance(callee, GlobalVar):
        return callee
    raise OperandError(
        "gvar",
        f"is {context.struct_info(callee).noun}",
        message=f"`{operator}` calls a PrimFunc of the module by its name",
        code="RX0201",
        help="write `cls.name_of_the_function` with `cls = ` the module's class",
    )


def with_literal_tuple(call: Call) -> Call:
    """The call with its arguments as a tuple literal, also where a variable holds the tuple."""
    held = call.args[1]
    if isinstance(held, Tuple):
        return call
    info = struct_info_of_leaf(held)
    if not isinstance(info, TupleStructInfo):
        return call
    fields = tuple(TupleGetItem.make(held, index) for index in range(len(info.fields)))
    return call.replace(args=(call.args[0], Tuple.make(fields), *call.args[2:]))


def check(
    context: InferContext,
    gvar: GlobalVar,
    args: Sequence[tuple[str, StructInfo]],
    tir_vars: ShapeStructInfo | None,
    results: Sequence[tuple[str, TensorStructInfo]],
    noun: str = "result",
) -> None:
    """Raise `OperandError` for what never fits; what may not fit becomes a deferred check.

    `args` and `results`, the tensors that are allocated for the call, have the names by which they
    are blamed; `noun` is what results are.
    """
    tensors, scalars = _tensors_and_scalars(args)
    tensors += results
    callee = _callee(context, gvar)
    if callee is None:
        return
    _require_count(callee, tensors, len(results), noun)
    _require_integers(callee, scalars, tir_vars)
    mapping = _meaning_of_integers(callee, scalars, tir_vars)
    pairs = list(zip(callee.buffers, tensors))
    for buffer, (name, info) in pairs:
        _require_alike(callee, buffer, name, info)
        for own, dim in zip(buffer[1].dims or (), dims_of(info) or ()):
            if isinstance(own, prim.Var):
                mapping.setdefault(own, dim)
    for buffer, (name, info) in pairs:
        _require_shape(context, callee, buffer, name, info, mapping)


def name_arguments(args: Sequence[StructInfo]) -> list[tuple[str, StructInfo]]:
    """Arguments by the names under which they are blamed."""
    return [(f"args[{index}]", info) for index, info in enumerate(args)]


def _tensors_and_scalars(
    args: Sequence[tuple[str, StructInfo]],
) -> tuple[_Named, list[PrimStructInfo]]:
    tensors: _Named = []
    scalars: list[PrimStructInfo] = []
    for name, info in args:
        match info:
            case TensorStructInfo():
                tensors.append((name, info))
            case PrimStructInfo():
                scalars.append(info)
            case _:
                raise wrong_kind(name, info, "tensor")
    return tensors, scalars


# ---------------------------------------------------------------- the PrimFunc


def _callee(context: InferContext, gvar: GlobalVar) -> _Callee | None:
    module = context.module
    if module is None:
        return None
    if gvar in module:
        return _of_function(gvar, module[gvar])
    try:
        info = context.struct_info(gvar)
    except OperandError:
        return None  # a function that is added later; whether all are there is checked at the end
    return _of_signature(gvar, info)


def _of_function(gvar: GlobalVar, function: BaseFunc) -> _Callee | None:
    if isinstance(function, Function):
        raise _no_prim_func(gvar)
    if not isinstance(function, PrimFunc):
        return None
    buffers: _Named = []
    integers: list[PrimExpr | None] = []
    for param in function.params:
        buffer = function.buffer_map.get(param)
        if buffer is None:
            integers.append(param)
        else:
            shape = ShapeExpr.make(buffer.shape)
            info = TensorStructInfo.make(shape, buffer.dtype, None, len(buffer.shape))
            buffers.append((f"`{buffer.name}`", info))
    return _Callee(gvar.name_hint, buffers, integers)


def _of_signature(gvar: GlobalVar, info: StructInfo) -> _Callee | None:
    """A PrimFunc of which only the StructInfo is known, as while its module is read."""
    if not isinstance(info, FuncStructInfo) or info.params is None:
        return None
    if not (isinstance(info.ret, TupleStructInfo) and not info.ret.fields):
        raise _no_prim_func(gvar)
    tensors = [p for p in info.params if isinstance(p, TensorStructInfo)]
    integers = [p.value for p in info.params if isinstance(p, PrimStructInfo)]
    if len(tensors) + len(integers) < len(info.params):
        raise _no_prim_func(gvar)
    buffers = [(f"its buffer {index}", tensor) for index, tensor in enumerate(tensors)]
    return _Callee(gvar.name_hint, buffers, integers)


def _no_prim_func(gvar: GlobalVar) -> OperandError:
    return OperandError(
        "gvar",
        "is a Relax function, not a PrimFunc",
        code="RX0201",
        help=f"call it directly: `cls.{gvar.name_hint}(...)`",
    )


# ---------------------------------------------------------------- what it is given


def _require_count(callee: _Callee, tensors: _Named, results: int, noun: str) -> None:
    if len(callee.buffers) == len(tensors):
        return
    raise OperandError(
        "args",
        f"gives {quantity(len(tensors) - results, 'tensor')}",
        also={
            "out_sinfo": f"describes {quantity(results, noun)}",
            "gvar": f"takes {quantity(len(callee.buffers), 'buffer')}",
        },
        message=f"`{callee.name}` takes another number of tensors",
        help=f"a PrimFunc has a buffer for each argument and for each {noun}",
    )


def _require_integers(
    callee: _Callee, scalars: Sequence[PrimStructInfo], tir_vars: ShapeStructInfo | None
) -> None:
    known = 0 if tir_vars is None else tir_vars.ndim
    if known < 0 or known + len(scalars) == len(callee.integers):
        return
    operand, given = ("args", len(scalars)) if tir_vars is None else ("tir_vars", known)
    raise OperandError(
        operand,
        f"gives {quantity(given, 'integer')}",
        also={"gvar": f"takes {quantity(len(callee.integers), 'integer')}"},
        message=f"`{callee.name}` takes another number of integers",
        help="write `tir_vars=R.shape([...])` with one integer for each scalar parameter",
    )


def _meaning_of_integers(
    callee: _Callee, scalars: Sequence[PrimStructInfo], tir_vars: ShapeStructInfo | None
) -> dict[Any, PrimExpr]:
    values: list[PrimExpr | None] = [info.value for info in scalars]
    if tir_vars is not None and tir_vars.values is not None:
        values += list(tir_vars.values)
    pairs = zip(callee.integers, values)
    return {var: value for var, value in pairs if isinstance(var, prim.Var) and value is not None}


def _require_alike(
    callee: _Callee, buffer: tuple[str, TensorStructInfo], name: str, info: TensorStructInfo
) -> None:
    called, own = buffer
    message = f"`{callee.name}` takes another tensor there"
    if not info.dtype.is_void and info.dtype is not own.dtype:
        also = {"gvar": f"takes {own.dtype} as {called}"}
        fact = f"has dtype {info.dtype}"
        raise OperandError(name, fact, also=also, message=message, code="RX0202")
    dims = dims_of(info)
    rank = info.ndim if dims is None else len(dims)
    if rank not in (-1, own.ndim):
        also = {"gvar": f"takes rank {own.ndim} as {called}"}
        raise OperandError(name, shape_fact(info, dims), also=also, message=message)


def _require_shape(
    context: InferContext,
    callee: _Callee,
    buffer: tuple[str, TensorStructInfo],
    name: str,
    info: TensorStructInfo,
    mapping: dict[Any, PrimExpr],
) -> None:
    called, own = buffer
    dims, shape = dims_of(info), own.dims
    if dims is None or shape is None:
        return
    wanted = tuple(mapping[d] if d in mapping else substitute(d, mapping) for d in shape)
    if same_dims(wanted, dims):
        return
    fact, taken = shape_fact(info, dims), f"takes shape {shape_text(wanted)} as {called}"
    message = f"`{callee.name}` takes another shape there"
    error = OperandError(name, fact, also={"gvar": taken}, message=message)
    text = f"`{name}` {fact}, and `{callee.name}` {taken}"
    for before, expected, dim in zip(shape, wanted, dims):
        if all(var in mapping for var in free_vars(before)):
            require_equal(context, expected, dim, error, text)
