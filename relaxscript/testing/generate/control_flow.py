"""The bindings of random programs that decide what runs: blocks, branches, functions, recursion.

Recursion terminates: a function that calls itself counts down from a small number.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import DiagnosticError
from relaxscript.ir import prim
from relaxscript.ir.relax import (
    Attrs,
    Call,
    Constant,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    If,
    PrimValue,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import FuncStructInfo, StructInfo
from relaxscript.ir.walk import substitute
from relaxscript.op.binary import minimum, subtract
from relaxscript.op.comparison import less_equal
from relaxscript.sinfo import definable_shape_vars

from .calls import closures, emit_call
from .context import GeneratorContext, add_steps, random_params
from .struct_info import is_condition, same, tensor_of

__all__ = [
    "COUNTER", "add_mutual_recursion", "condition", "emit_chosen_function", "emit_dataflow",
    "emit_if", "emit_local_function", "emit_recursion",
]  # fmt: skip

DEPTH = 3  # how deep a recursion goes at most
COUNTER = tensor_of((), DataType("int64"))


def emit_dataflow(cx: GeneratorContext) -> bool:
    outside = len(cx.values)
    with cx.builder.dataflow():
        add_steps(cx, cx.choices.integer(1, 5))
        inside = cx.values[outside:]
        chosen = cx.choices.some(inside[-3:]) or inside[-1:]
        outputs = [cx.builder.emit_output(value, cx.name()) for value in chosen]
    cx.values[outside:] = outputs
    return True


# ---- branches


def emit_if(cx: GeneratorContext) -> bool:
    decides = condition(cx)
    first = branch(cx, None)
    second = branch(cx, first.struct_info)
    return cx.emit(If(decides, first, second))


def branch(cx: GeneratorContext, wanted: StructInfo | None) -> SeqExpr:
    """A branch; its value is described by `wanted` where there is such a value."""
    cx.builder.begin_scope()
    with cx.scope():
        add_steps(cx, cx.choices.integer(0, 3))
        fitting = [v for v in cx.values if wanted is None or same(v.struct_info, wanted)]
        body = cx.choices.pick(fitting[-4:] or cx.values[-4:])
        return cx.builder.end_scope(body)


def condition(cx: GeneratorContext) -> Expr:
    known = [v for v in cx.values if is_condition(v.struct_info)]
    if known and cx.choices.chance(70):
        return cx.choices.pick(known)
    value = cx.choices.chance(50)
    if cx.choices.chance(30):
        return PrimValue(prim.as_prim(value))
    return Constant(np.array(value))


# ---- local functions


def local_purity(cx: GeneratorContext) -> bool:
    """True if a local function is pure: always in a pure function."""
    return cx.pure or cx.choices.chance(40)


def emit_local_function(cx: GeneratorContext) -> bool:
    """A local function, which sees everything around it."""
    pure = local_purity(cx)
    with cx.local_scope(pure):
        params = random_params(cx, local=True)
        cx.builder.begin_function("local", params, pure)
        cx.values += params
        add_steps(cx, cx.choices.integer(1, 3))
        cx.builder.set_result(cx.choices.pick(cx.values[-3:]))
        function = cx.builder.end_function()
    return cx.emit(function)


def emit_chosen_function(cx: GeneratorContext) -> bool:
    """Two functions of one type, of which a tuple or an `if` gives one, which is called."""
    functions = closures(cx)
    if not functions:
        return False
    first = cx.choices.pick(functions)
    others = [f for f in cx.values_of(first.struct_info) if f is not first]
    second = cx.choices.pick(others) if others else emit_function_like(cx, first)
    if second is None:
        return False
    if cx.choices.chance(50) or cx.builder.current_block_is_dataflow():
        pair = cx.bind(Tuple((first, second, *cx.choices.some(cx.values)[:1])))
        place = cx.choices.integer(0, 1)
        chosen = None if pair is None else cx.bind(TupleGetItem(pair, place))
    else:
        chosen = cx.bind(If(condition(cx), branch_of(cx, first), branch_of(cx, second)))
    info = None if chosen is None else chosen.struct_info
    if chosen is None or not isinstance(info, FuncStructInfo):
        return False
    return emit_call(cx, chosen, info.params or ())


def branch_of(cx: GeneratorContext, value: Expr) -> SeqExpr:
    """A branch that only has a value."""
    cx.builder.begin_scope()
    return cx.builder.end_scope(value)


def emit_function_like(cx: GeneratorContext, known: Expr) -> Var | None:
    """A new local function of the type of another: it calls that one, or gives an argument."""
    info = known.struct_info
    assert isinstance(info, FuncStructInfo)
    if isinstance(known, DataflowVar):
        return None
    params = copied_params(cx, info.params or ())
    with cx.local_scope(info.purity):
        cx.builder.begin_function("local", params, info.purity)
        try:
            cx.values += params
            add_steps(cx, cx.choices.integer(0, 1))
            fitting = cx.values_of(info.ret)
            result = (
                cx.choices.pick(fitting)
                if fitting
                else cx.builder.emit(Call(known, tuple(params)), cx.name())
            )
            cx.builder.set_result(result)
            function = cx.builder.end_function()
        except DiagnosticError:
            cx.builder.abandon_function()
            return None
    return cx.bind(function)


def copied_params(cx: GeneratorContext, infos: Sequence[StructInfo]) -> list[Var]:
    """Parameters of these descriptions, with shape variables of their own."""
    defined = {v for info in infos for v in definable_shape_vars(info)} - set(cx.dims)
    own = {v: prim.Var(v.name, v.dtype) for v in defined}
    return [Var(cx.name() or "x", substitute(info, own)) for info in infos]


# ---- recursion


def emit_recursion(cx: GeneratorContext) -> bool:
    """A local function that calls itself, and a call of it."""
    pure = local_purity(cx)
    with cx.local_scope(pure):
        params = counting_params(cx)
        result = cx.choices.pick(params[1:]).struct_info
        infos = tuple([param.struct_info for param in params])
        known = FuncStructInfo(infos, result, pure)
        inside = cx.builder.current_block_is_dataflow()
        itself = (DataflowVar if inside else Var)(cx.name() or "loop", known)
        function = counting_function(cx, params, result, pure, itself)
    if function is None:
        return False
    cx.builder.emit_function(itself, function)
    cx.values.append(itself)
    return emit_call(cx, itself, infos)


def add_mutual_recursion(cx: GeneratorContext, names: Sequence[str]) -> None:
    """Functions of the module that call each other in turn, the last one the first."""
    pure = cx.pure
    params = counting_params(cx)
    place = cx.choices.integer(1, len(params) - 1)
    infos = tuple([param.struct_info for param in params])
    known = FuncStructInfo(infos, infos[place], pure)
    cx.builder.signatures.update(dict.fromkeys(names, known))
    members: dict[str, Function] = {}
    for name, following in zip(names, [*names[1:], names[0]], strict=True):
        cx.values, cx.dims = [], []
        own = copied_params(cx, infos)
        cx.dims = [v for p in own for v in definable_shape_vars(p.struct_info)]
        attrs = Attrs({"global_symbol": name})
        made = counting_function(cx, own, own[place].struct_info, pure, GlobalVar(following), attrs)
        if made is not None:
            members[name] = made
    for name in names:
        del cx.builder.signatures[name]
    if len(members) == len(names):
        for name, function in members.items():
            cx.builder.add_func(function, name)


def counting_params(cx: GeneratorContext) -> list[Var]:
    """Parameters, the first of which says how often a function calls itself yet."""
    return [Var(cx.name() or "k", COUNTER), *random_params(cx)]


def counting_function(
    cx: GeneratorContext, params: list[Var], result: StructInfo, pure: bool, itself: Expr,
    attrs: Attrs | None = None,
) -> Function | None:  # fmt: skip
    """A function that calls `itself` as long as its first parameter is positive."""
    cx.builder.begin_function("loop", params, pure, attrs)
    try:
        cx.values += params
        zero, one, most = [Constant(np.array(i, "int64")) for i in (0, 1, DEPTH)]
        count = cx.builder.emit(Call(minimum.op, (params[0], most)))
        done = cx.builder.emit(Call(less_equal.op, (count, zero)))
        cx.builder.begin_scope()
        with cx.scope():
            add_steps(cx, cx.choices.integer(0, 2))
            last = cx.builder.end_scope(cx.choices.pick(cx.values_of(result)))
        cx.builder.begin_scope()
        with cx.scope():
            add_steps(cx, cx.choices.integer(0, 2))
            less = cx.builder.emit(Call(subtract.op, (count, one)))
            given = [cx.choices.pick(cx.values_of(p.struct_info)) for p in params[1:]]
            again = cx.builder.emit(Call(itself, (less, *given)), cx.name())
            cx.values.append(again)
            add_steps(cx, cx.choices.integer(0, 2))
            more = cx.builder.end_scope(cx.choices.pick(cx.values_of(result)))
        cx.builder.set_result(cx.builder.emit(If(done, last, more), cx.name()))
        return cx.builder.end_function(result)
    except DiagnosticError:
        cx.builder.abandon_function()
        return None
