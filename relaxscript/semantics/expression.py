"""Scalar expressions as Python closures: `compile_expr(cx, e)` gives a function of a frame.

Numbers are those of `scalar.py`. A vector is a list of numbers, a buffer a numpy array of its
shape. What expressions need of memory, loops and other functions is given by `cx.rules`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.dtypes import nearest
from relaxscript.errors import VMError
from relaxscript.ir import intrinsic as table, prim
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.scalar_functions import DEVICE_FUNCTIONS, is_address_as_number
from relaxscript.ir.tir_compute import Reduce

from . import scalar, tir_errors
from .elements import lane_positions, reader
from .expression_context import ExpressionContext, Frame, Run
from .llvm_calls import expand_intrinsic
from .vector_math import expand_vector_math

__all__ = ["compile_expr"]


def vectorize(operation: Callable[..., Any], lanes: int) -> Callable[..., Any]:
    """The operation on vectors; with one lane, the operation itself."""
    if lanes == 1:
        return operation
    return lambda *vectors: [operation(*numbers) for numbers in zip(*vectors, strict=True)]


def compile_expr(cx: ExpressionContext, e: prim.PrimExpr) -> Run:
    """The function that evaluates `e`; raises `DiagnosticError` where `e` has no meaning."""
    match e:
        case prim.Immediate():
            return compile_immediate(cx, e)
        case prim.Var():
            return compile_variable(cx, e)
        case prim.Binary():
            return compile_binary(cx, e)
        case prim.Cast():
            return compile_cast(cx, e)
        case prim.BufferLoad():
            return compile_load(cx, e)
        case prim.Ramp() | prim.Broadcast() | prim.Shuffle():
            return compile_vector(cx, e)
        case prim.Call():
            return compile_call(cx, e)
        case prim.Let(var, value, body):
            return compile_let(cx, var, value, body)
    return compile_choice(cx, e)


def compile_choice(cx: ExpressionContext, e: prim.PrimExpr) -> Run:
    """Comparisons, logic and what depends on them."""
    match e:
        case prim.Comparison(a, b):
            tir_errors.check_operands(e, (a, b))
            return compile_operation(cx, scalar.COMPARISONS[type(e)], (a, b), e.dtype.lanes)
        case prim.Logic():
            return compile_logic(cx, e)
        case prim.Not(a):
            return compile_operation(cx, lambda x: not x, (a,), e.dtype.lanes)
        case prim.Select():
            return compile_select(cx, e)
        case Reduce():
            return cx.rules.reduction(cx, e)
    raise tir_errors.no_value(e)


def compile_logic(cx: ExpressionContext, e: prim.Logic) -> Run:
    """The second operand is evaluated only where the first does not decide."""
    conjunction = isinstance(e, prim.And)
    if e.dtype.lanes > 1:
        operation = (lambda x, y: x and y) if conjunction else (lambda x, y: x or y)
        return compile_operation(cx, operation, (e.a, e.b), e.dtype.lanes)
    first, second = compile_expr(cx, e.a), compile_expr(cx, e.b)
    if conjunction:
        return lambda frame: first(frame) and second(frame)
    return lambda frame: first(frame) or second(frame)


def compile_operation(
    cx: ExpressionContext,
    operation: Callable[..., Any],
    operands: Sequence[prim.PrimExpr],
    lanes: int = 1,
) -> Run:
    """`operation` on the values of the operands, all of which are evaluated."""
    operation = vectorize(operation, lanes)
    runs = [compile_expr(cx, operand) for operand in operands]
    match runs:
        case [a]:
            return lambda f: operation(a(f))
        case [a, b]:
            return lambda f: operation(a(f), b(f))
    return lambda f: operation(*[run(f) for run in runs])


def compile_immediate(cx: ExpressionContext, e: prim.PrimExpr) -> Run:
    value: Any = e.value  # type: ignore[attr-defined]
    if e.dtype.is_float:
        value = nearest(value, e.dtype)
    elif e.dtype.is_bool:
        value = bool(value)
    return lambda f: value


def compile_variable(cx: ExpressionContext, e: prim.Var) -> Run:
    slot = cx.layout.find(e)
    if slot is None:
        raise tir_errors.undefined("variable", e.name, e.span)
    return lambda f: f[slot]


def compile_binary(cx: ExpressionContext, e: prim.Binary) -> Run:
    tir_errors.check_operands(e, (e.a, e.b))
    operation = scalar.binary(type(e), e.dtype.element)
    if operation is None:
        raise tir_errors.invalid(
            "RX0502", f"there is no `T.{type(e).__name__}` of {e.dtype}", e.span
        )
    if e.dtype.lanes == 1 and e.dtype.is_integer and type(e) in _RING:
        if cx.wraps is not None:
            return compile_exact(cx, e, cx.wraps)
        if type(e) is not prim.Sub:
            return compile_wrapping(cx, e)
    run = compile_operation(cx, operation, (e.a, e.b), e.dtype.lanes)
    if e.dtype.is_float or not isinstance(e, _DIVISIONS):
        return run
    span = e.span

    def checked(f: Frame) -> Any:
        try:
            return run(f)
        except ZeroDivisionError:
            raise tir_errors.division_by_zero(span) from None

    return checked


def compile_wrapping(cx: ExpressionContext, e: prim.Binary) -> Run:
    """Sums and products of integers, most of which need no wrapping, in one step."""
    a, b, fit = compile_expr(cx, e.a), compile_expr(cx, e.b), scalar.wrapping(e.dtype)
    low, high = scalar.limits(e.dtype)

    def add(f: Frame) -> int:
        x: int = a(f) + b(f)
        return x if low <= x <= high else fit(x)

    def multiply(f: Frame) -> int:
        x: int = a(f) * b(f)
        return x if low <= x <= high else fit(x)

    return add if isinstance(e, prim.Add) else multiply


def compile_exact(cx: ExpressionContext, e: prim.Binary, wraps: Callable[[], VMError]) -> Run:
    """A sum, difference or product that fails where it does not fit its dtype."""
    a, b, operation = compile_expr(cx, e.a), compile_expr(cx, e.b), _RING[type(e)]
    low, high = scalar.limits(e.dtype)

    def run(f: Frame) -> int:
        x: int = operation(a(f), b(f))
        if not low <= x <= high:
            raise wraps()
        return x

    return run


def compile_select(cx: ExpressionContext, e: prim.Select) -> Run:
    tir_errors.check_operands(e, (e.true_value, e.false_value))
    operands = (e.condition, e.true_value, e.false_value)
    lanes = e.condition.dtype.lanes
    return compile_operation(cx, lambda c, x, y: x if c else y, operands, lanes)


def compile_cast(cx: ExpressionContext, e: prim.Cast) -> Run:
    convert = scalar.cast(e.value.dtype.element, e.dtype.element)
    if convert is None or e.value.dtype.lanes != e.dtype.lanes:
        raise tir_errors.invalid(
            "RX0502", f"{e.value.dtype} cannot be converted to {e.dtype}", e.span
        )
    return compile_operation(cx, convert, (e.value,), e.dtype.lanes)


def compile_let(
    cx: ExpressionContext, var: prim.Var, value: prim.PrimExpr, body: prim.PrimExpr
) -> Run:
    compute, slot = compile_expr(cx, value), cx.layout.define(var)
    rest = compile_expr(cx, body)

    def run(f: Frame) -> Any:
        f[slot] = compute(f)
        return rest(f)

    return run


# ------------------------------------------------------------ vectors


def compile_vector(cx: ExpressionContext, e: prim.Ramp | prim.Broadcast | prim.Shuffle) -> Run:
    match e:
        case prim.Ramp(base, _, 1) | prim.Broadcast(base, 1):
            return compile_expr(cx, base)
        case prim.Ramp(base, stride, lanes):
            fit = scalar.wrapping(e.dtype.element)
            steps = range(lanes)
            return compile_operation(
                cx, lambda b, s: [fit(b + i * s) for i in steps], (base, stride)
            )
        case prim.Broadcast(value, lanes):
            if value.dtype.lanes > 1:
                return compile_operation(cx, lambda x: x * lanes, (value,))
            return compile_operation(cx, lambda x: [x] * lanes, (value,))
    return compile_shuffle(cx, e)


def compile_shuffle(cx: ExpressionContext, e: prim.Shuffle) -> Run:
    parts = [(compile_expr(cx, v), v.dtype.lanes == 1) for v in e.vectors]
    places = [constant_index(i) for i in e.indices]

    def run(f: Frame) -> Any:
        joined: list[Any] = []
        for part, single in parts:
            joined.extend([part(f)] if single else part(f))
        return joined[places[0]] if len(places) == 1 else [joined[i] for i in places]

    return run


def constant_index(index: prim.PrimExpr) -> int:
    if not isinstance(index, prim.IntImm):
        raise tir_errors.invalid("RX0503", "`T.Shuffle` takes constant indices", index.span)
    return index.value


# ------------------------------------------------------------ memory


def compile_load(cx: ExpressionContext, e: prim.BufferLoad) -> Run:
    tir_errors.check_rank(e.buffer, e.indices, e.span)
    slot = cx.rules.slot_of(cx, e.buffer, e.span)
    indices = [compile_expr(cx, i) for i in e.indices]
    read = reader(e.buffer, e.span)
    lanes = e.dtype.lanes
    mask = None if e.predicate is None else compile_expr(cx, e.predicate)
    zero = 0.0 if e.dtype.is_float else 0
    if lanes == 1:
        element = load_scalar(slot, indices, read)
        return element if mask is None else lambda f: element(f) if mask(f) else zero

    def run(f: Frame) -> list[Any]:
        array = f[slot]
        places = lane_positions([i(f) for i in indices], lanes)
        on = [True] * lanes if mask is None else mask(f)
        return [read(array, place) if p else zero for p, place in zip(on, places, strict=True)]

    return run


# ------------------------------------------------------------ calls


def compile_call(cx: ExpressionContext, e: prim.Call) -> Run:
    if isinstance(e.op, GlobalVar):
        return cx.rules.call_function(cx, e, e.op)
    row = table.lookup(e.op)
    if row is None or not row.compiled:
        name = row.script_name if row else getattr(e.op, "name", "")
        raise tir_errors.unsupported_intrinsic(name, "evaluated on the CPU", e.span)
    tir_errors.check_arity(e, row)
    if row.external or is_address_as_number(e):
        return cx.rules.external(cx, e, row.script_name)
    same = expand_intrinsic(e)
    if same is not None:
        return compile_expr(cx, same)
    if row.script_name in DEVICE_FUNCTIONS:
        raise tir_errors.wrong_dtypes(row, e)
    match row.name:
        case "tir.if_then_else":
            return compile_if_then_else(cx, *e.args)
        case "tir.likely" | "tir.tvm_thread_invariant" | "tir.assume":
            return compile_expr(cx, e.args[0])
        case "tir.reinterpret" if "handle" not in (e.dtype.kind, e.args[0].dtype.kind):
            return compile_operation(cx, scalar.reinterpret(e.args[0].dtype, e.dtype), e.args)
        case "tir.ret":
            return cx.rules.returning(cx, e)
    return compile_intrinsic(cx, e, row)


def compile_intrinsic(cx: ExpressionContext, e: prim.Call, row: table.Intrinsic) -> Run:
    if row.name != "tir.ldexp":
        tir_errors.check_operands(e, e.args)
    dtype = e.args[0].dtype
    operation = scalar.intrinsic(row.name, dtype.element)
    if operation is None:
        message = f"`{row.script_name}` takes {row.takes}, not {dtype}"
        raise tir_errors.invalid("RX0502", message, e.span)
    definition = expand_vector_math(e) if cx.vector_math else None
    if definition is not None:
        return compile_expr(cx, definition)
    return compile_operation(cx, operation, e.args, dtype.lanes)


def compile_if_then_else(
    cx: ExpressionContext, cond: prim.PrimExpr, t: prim.PrimExpr, f: prim.PrimExpr
) -> Run:
    tir_errors.check_operands(cond, (t, f))
    if cond.dtype.lanes > 1:
        return compile_operation(cx, lambda c, x, y: x if c else y, (cond, t, f), cond.dtype.lanes)
    condition, yes, no = compile_expr(cx, cond), compile_expr(cx, t), compile_expr(cx, f)
    return lambda frame: yes(frame) if condition(frame) else no(frame)


_RING: dict[type[prim.Binary], Callable[[Any, Any], Any]] = {
    prim.Add: operator.add, prim.Sub: operator.sub, prim.Mul: operator.mul,
}  # fmt: skip
_DIVISIONS = (prim.Div, prim.Mod, prim.FloorDiv, prim.FloorMod)


def load_scalar(slot: int, indices: list[Run], read: Callable[[Any, tuple[int, ...]], Any]) -> Run:
    match indices:
        case [a]:
            return lambda f: read(f[slot], (a(f),))
        case [a, b]:
            return lambda f: read(f[slot], (a(f), b(f)))
    return lambda f: read(f[slot], tuple([i(f) for i in indices]))
