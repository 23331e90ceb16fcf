"""The bindings of random programs that call: PrimFuncs, packed functions, functions, closures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.ir import prim
from relaxscript.ir.relax import Attrs, Call, Expr, ExternFunc, GlobalVar, Op, Tuple
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.tir import PrimFunc
from relaxscript.op.calls import call_dps_packed, call_pure_packed, call_tir
from relaxscript.op.create import zeros
from relaxscript.testing.prim_funcs import Dims, elementwise, reduction

from .context import GeneratorContext
from .packed_funcs import FIRST, PAIR, TWICE, TWICE_INTO
from .struct_info import (
    alike,
    is_computable,
    is_positive,
    literal,
    same,
    shape_of,
    tensor_info,
    tensor_of,
)

__all__ = [
    "UNIT", "argument_for", "closures", "emit_call", "emit_call_tir", "emit_closure_call",
    "emit_dps_packed", "emit_function_call", "emit_impure_packed", "emit_prim_func_call",
    "emit_pure_packed", "opaque_functions",
]  # fmt: skip

UNIT = TupleStructInfo(())


# ---- PrimFuncs


def emit_call_tir(cx: GeneratorContext) -> bool:
    made = prim_func_for(cx)
    if made is None:
        return False
    function, operands, result = made
    callee = cx.builder.add_func(function, cx.choices.pick(("tir", "compute", "x")))
    args = Tuple(tuple(operands))
    return cx.emit(Call(call_tir.op, (callee, args), None, (result,)))


def prim_func_for(cx: GeneratorContext) -> tuple[PrimFunc, list[Expr], TensorStructInfo] | None:
    """A PrimFunc, operands for it, and what is known of its result."""
    tensors = [v for v in cx.values if is_computable(v.struct_info)]
    if not tensors:
        return None
    first = cx.choices.pick(tensors)
    info = tensor_info(first.struct_info)
    dims = buffer_dims(cx, info.dims or ())
    # Where the reduced axis is empty nothing would be written, not even a start.
    if info.dims and is_positive(info.dims[-1]) and cx.choices.chance(30):
        function, _ = reduction(cx.choices, dims, info.dtype)
        return function, [first], tensor_of(info.dims[:-1], info.dtype)
    others = [v for v in tensors if same(v.struct_info, info)]
    operands = [first, *([cx.choices.pick(others)] if cx.choices.chance(50) else [])]
    function = elementwise(cx.choices, dims, info.dtype, len(operands))
    return function, operands, tensor_of(info.dims or (), info.dtype)


def emit_prim_func_call(cx: GeneratorContext) -> bool:
    """A PrimFunc called directly, as a value, or by its symbol; it writes into a tensor."""
    made = prim_func_for(cx)
    if made is None:
        return False
    function, operands, result = made
    symbol = f"kernel_{len(cx.builder.get())}"
    # Any of the tensors may be another name of the one that is written into.
    function = function.replace(attrs=Attrs({"global_symbol": symbol}))
    by_name = cx.builder.add_func(function, symbol)
    callee: Expr | None = by_name
    infos: tuple[StructInfo, ...] = ()
    match cx.choices.integer(0, 2):
        case 1:
            callee = cx.bind(by_name)
        case 2:
            callee, infos = ExternFunc(symbol), (UNIT,)
    target = cx.choices.pick([*cx.values_of(result), None])
    if target is None:
        target = cx.bind(
            Call(
                zeros.op,
                (shape_of(result.dims or ()),),
                Attrs({"dtype": result.dtype}),
            )
        )
    if callee is None or target is None:
        return False
    return cx.emit(Call(callee, (*operands, target), None, infos))


def buffer_dims(cx: GeneratorContext, dims: Sequence[prim.PrimExpr]) -> Dims:
    """The dimensions of a PrimFunc's buffers: a variable of its own for what is symbolic."""
    own: dict[Any, prim.Var] = {}
    made: list[prim.PrimExpr] = []
    for dim in dims:
        if isinstance(dim, prim.IntImm):
            made.append(prim.IntImm(prim.INT64, dim.value))
        else:
            made.append(
                own.setdefault(dim, prim.Var(cx.choices.pick(cx.grammar.dim_names), prim.INT64))
            )
    return tuple(made)


# ---- functions


def emit_function_call(cx: GeneratorContext) -> bool:
    module = cx.builder.get()
    callees = [gv for gv, f in module.relax_functions().items() if f.is_pure or not cx.pure]
    if not callees:
        return False
    callee: GlobalVar = cx.choices.pick(callees)
    return emit_call(cx, callee, [param.struct_info for param in module[callee].params])


def closures(cx: GeneratorContext) -> list[Expr]:
    """The functions in scope whose parameters are known."""
    return [v for v in _functions(cx) if not _is_opaque(v.struct_info)]


def opaque_functions(cx: GeneratorContext) -> list[Expr]:
    """The functions in scope of which nothing is known but perhaps their result."""
    return [v for v in _functions(cx) if _is_opaque(v.struct_info)]


def _functions(cx: GeneratorContext) -> list[Expr]:
    return [v for v in cx.values if isinstance(v.struct_info, FuncStructInfo)]


def _is_opaque(info: StructInfo) -> bool:
    return isinstance(info, FuncStructInfo) and info.params is None


def emit_closure_call(cx: GeneratorContext) -> bool:
    callee = cx.choices.pick(closures(cx))
    info = callee.struct_info
    assert isinstance(info, FuncStructInfo)
    return emit_call(cx, callee, info.params or ())


def emit_call(cx: GeneratorContext, callee: Expr, params: Sequence[StructInfo]) -> bool:
    for _ in range(3):
        extents: dict[prim.Var, int] = {}
        args = tuple([argument_for(cx, param, extents) for param in params])
        if cx.emit(Call(callee, args)):
            return True
    return False


def argument_for(cx: GeneratorContext, wanted: StructInfo, extents: dict[prim.Var, int]) -> Expr:
    """A value for a parameter: one of the same kind and rank, or a literal that fits."""
    fitting = [v for v in cx.values if alike(v.struct_info, wanted)]
    if fitting and cx.choices.chance(60):
        return cx.choices.pick(fitting)
    return literal(wanted, extents, lambda: cx.choices.integer(1, 4))


# ---- packed functions


def emit_impure_packed(cx: GeneratorContext) -> bool:
    return emit_packed(cx, None)


def emit_pure_packed(cx: GeneratorContext) -> bool:
    return emit_packed(cx, call_pure_packed.op)


def emit_packed(cx: GeneratorContext, pure: Op | None) -> bool:
    tensors = [v for v in cx.values if isinstance(v.struct_info, TensorStructInfo)]
    if not tensors:
        return False
    x, y = cx.choices.pick(tensors), cx.choices.pick(tensors)
    anything = cx.choices.pick(cx.values)
    name, args, infos = cx.choices.pick(
        (
            (TWICE, (x,), (x.struct_info,)),
            (FIRST, (x, y), (x.struct_info,)),
            (FIRST, (anything, y), (ObjectStructInfo(),)),
            (PAIR, (x, y), (TupleStructInfo((y.struct_info, x.struct_info)),)),
        )
    )
    callee = ExternFunc(name)
    call = Call(callee, args) if pure is None else Call(pure, (callee, *args))
    var = cx.bind(call.replace(sinfo_args=infos))
    if var is not None and name == FIRST:
        cx.truth[var] = cx.truth.get(args[0], args[0].struct_info)
    return var is not None


def emit_dps_packed(cx: GeneratorContext) -> bool:
    tensors = [v for v in cx.values if is_computable(v.struct_info)]
    if not tensors:
        return False
    x = cx.choices.pick(tensors)
    call = call_dps_packed.op
    return cx.emit(Call(call, (ExternFunc(TWICE_INTO), Tuple((x,))), None, (x.struct_info,)))
