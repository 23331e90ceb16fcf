"""Code for scalar expressions: `emit(cx, e)` writes instructions and gives the value.

The meaning is that of `semantics/scalar.py`, bit for bit for arithmetic, comparison and
conversion. Regular operations are in the tables of `types.py`; what C or LLVM would leave
undefined (division by zero or with overflow, large shifts, conversions out of range) is made
definite here. Buffers are those of `memory.py`, intrinsics those of `intrinsics.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relaxscript.dtypes import DataType, nearest
from relaxscript.ir import intrinsic as table, prim
from relaxscript.ir.node import Node
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.scalar_functions import DEVICE_FUNCTIONS, is_address_as_number
from relaxscript.ir.tir_compute import Reduce
from relaxscript.ir.walk import walk
from relaxscript.semantics import scalar, tir_errors
from relaxscript.semantics.llvm_calls import expand_intrinsic
from relaxscript.semantics.vector_math import has_definition

from .context import FunctionContext
from .index_sum import IndexSum, sum_of
from .intrinsics import INTEGER_INTRINSICS, emit_float, next_after, rounded_to_odd, with_room
from .ir_writer import Value, element_of
from .types import ARITHMETIC, COMPARISON, column, register

__all__ = [
    "assign_variable",
    "emit",
    "emit_branches",
    "emit_for_variable",
    "emit_sum",
    "emit_variable",
]

_INDEX = DataType("int64")
_SUMS = (prim.Add, prim.Sub, prim.Mul)
_OF_FLOATS = frozenset({prim.Add, prim.Sub, prim.Mul, prim.Div, prim.Mod})
_OF_BOOLS = {prim.Add: "or", prim.Max: "or", prim.Mul: "and", prim.Min: "and"}


def emit(cx: FunctionContext, e: prim.PrimExpr) -> Value:
    """The value of `e`; raises `DiagnosticError` where there is no code for it."""
    write = _WRITERS.get(e.__class__)
    if write is None:
        return cx.rules.reduction(cx, e) if isinstance(e, Reduce) else emit_choice(cx, e)
    return write(cx, e)


def emit_literal(cx: FunctionContext, e: prim.Immediate) -> Value:
    return cx.asm.literal(e.dtype, scalar_value(e))


def emit_let(cx: FunctionContext, e: prim.Let) -> Value:
    assign_variable(cx, e.var, e.value)
    return emit(cx, e.body)


def emit_choice(cx: FunctionContext, e: prim.PrimExpr) -> Value:
    """Comparisons, logic and what depends on them."""
    match e:
        case prim.Comparison(a, b):
            tir_errors.check_operands(e, (a, b))
            return cx.asm.compare(COMPARISON[type(e)][column(a.dtype)], emit(cx, a), emit(cx, b))
        case prim.Logic():
            return emit_logic(cx, e)
        case prim.Not(a):
            value = emit(cx, a)
            return cx.asm.operation("xor", value, cx.asm.number(value.type, 1))
        case prim.Select(condition, a, b):
            tir_errors.check_operands(e, (a, b))
            return cx.asm.choose(emit(cx, condition), emit(cx, a), emit(cx, b))
    raise tir_errors.no_value(e)


def emit_variable(cx: FunctionContext, e: prim.Var) -> Value:
    if e not in cx.values:
        raise tir_errors.undefined("variable", e.name, e.span)
    value = cx.values[e]
    if not isinstance(value, IndexSum):
        return value
    return cx.asm.convert("trunc", value.written(cx.asm), register(e.dtype))


def assign_variable(cx: FunctionContext, var: prim.Var, value: prim.PrimExpr) -> None:
    """Bind a variable to a value from here on."""
    if value.dtype == var.dtype and may_be_sum(cx, value):
        tir_errors.check_assignment(var, value)
        cx.values[var] = emit_sum(cx, value)
    else:
        cx.values[var] = emit_for_variable(cx, value, var)
    if value.dtype.is_integer:
        cx.ranges.define(var, cx.ranges.of(value))
        cx.proofs.assign(var, value)


def emit_sum(cx: FunctionContext, e: prim.PrimExpr) -> IndexSum:
    """An integer, with a sign, as a sum of what changes in different loops."""
    match e:
        case prim.Var() if e in cx.values:
            found = cx.values[e]
            return found if isinstance(found, IndexSum) else _sum_of(cx, found)
        case prim.IntImm(value=value):
            return IndexSum((), value)
        case prim.Add(a, b) | prim.Sub(a, b) | prim.Mul(a, b) if may_be_sum(cx, e):
            tir_errors.check_operands(e, (a, b))
            first, second = emit_sum(cx, a), emit_sum(cx, b)
            if isinstance(e, prim.Add):
                return first.plus(cx.asm, second)
            if isinstance(e, prim.Sub):
                return first.minus(cx.asm, second)
            if second.terms:
                first, second = second, first
            return first.times(cx.asm, second.written(cx.asm))
    return _sum_of(cx, emit(cx, e))


def _sum_of(cx: FunctionContext, value: Value) -> IndexSum:
    """An integer as a sum of itself, with 64 bits."""
    if value.type != "i64" and value.text.startswith("%"):
        value = cx.asm.before_loops("i64", f"sext {value} to i64", (value,))
    return sum_of(value)


def may_be_sum(cx: FunctionContext, e: prim.PrimExpr) -> bool:
    """True for an integer that may be computed in another order, in parts that may wrap around.

    One of fewer than 64 bits must be known not to wrap itself.
    """
    if not cx.asm.as_written or cx.wraps is not None or not isinstance(e, _SUMS):
        return False
    return e.dtype == _INDEX or (
        e.dtype.kind == "int" and e.dtype.lanes == 1 and cx.ranges.is_exact(e)
    )


def emit_for_variable(cx: FunctionContext, e: prim.PrimExpr, var: prim.Var) -> Value:
    """The value of `e` for a variable; an integer may be of another width."""
    tir_errors.check_assignment(var, e)
    if e.dtype == var.dtype:
        return emit(cx, e)
    if isinstance(e, prim.IntImm):
        return cx.asm.literal(var.dtype, e.value)
    return to_integer(cx, emit(cx, e), e.dtype, var.dtype)


def emit_binary(cx: FunctionContext, e: prim.Binary) -> Value:
    tir_errors.check_operands(e, (e.a, e.b))
    dtype, kind = e.dtype, type(e)
    register(dtype, e.span)
    if dtype.is_float and kind in _OF_FLOATS:
        name = ARITHMETIC[kind][column(dtype)]
        return cx.asm.rounded(cx.asm.operation(name, emit(cx, e.a), emit(cx, e.b)), dtype)
    if dtype.is_bool and kind in _OF_BOOLS:
        return cx.asm.operation(_OF_BOOLS[kind], emit(cx, e.a), emit(cx, e.b))
    if dtype.is_bool:
        raise tir_errors.invalid("RX0502", f"there is no `T.{kind.__name__}` of bool", e.span)
    if kind in (prim.FloorDiv, prim.FloorMod):
        return emit_floor(cx, e)
    name = ARITHMETIC[kind][column(dtype)]
    if kind in (prim.Min, prim.Max):
        return cx.asm.intrinsic(name, [emit(cx, e.a), emit(cx, e.b)])
    if kind in (prim.Div, prim.Mod):
        return emit_truncating(cx, e, name)
    if cx.wraps is not None and e.dtype.lanes == 1 and not cx.ranges.is_exact(e):
        kind_of = "s" if dtype.kind == "int" else "u"
        value, wraps = cx.asm.overflowing(kind_of + name, emit(cx, e.a), emit(cx, e.b))
        cx.asm.fail_if(wraps, cx.wraps)
        return value
    return cx.asm.operation(name, emit(cx, e.a), emit(cx, e.b), no_wrap_flag(cx, e))


def no_wrap_flag(cx: FunctionContext, e: prim.PrimExpr) -> str:
    """The flag that tells LLVM that a sum or product stays in its range."""
    if not cx.ranges.is_exact(e):
        return ""
    return " nsw" if e.dtype.kind == "int" else " nuw"


def emit_truncating(cx: FunctionContext, e: prim.Binary, name: str) -> Value:
    a, b = emit(cx, e.a), emit(cx, e.b)
    refuse_zero(cx, e, b)
    if e.dtype.kind == "uint":
        return cx.asm.operation(name, a, b)
    return signed_division(cx, e, name, a, b)


def refuse_zero(cx: FunctionContext, e: prim.Binary, divisor: Value) -> None:
    low, high = cx.ranges.of(e.b)
    if low > 0 or high < 0:
        return
    span = e.span
    zero = cx.asm.compare("icmp eq", divisor, cx.asm.number(divisor.type, 0))
    cx.asm.fail_if(zero, lambda details: tir_errors.division_by_zero(span))


def signed_division(cx: FunctionContext, e: prim.Binary, name: str, a: Value, b: Value) -> Value:
    """sdiv or srem, where the least integer divided by -1 wraps instead of trapping."""
    low, high = cx.ranges.of(e.b)
    least = scalar.limits(e.dtype.element)[0]
    if low > -1 or high < -1 or cx.ranges.of(e.a)[0] > least:
        return cx.asm.operation(name, a, b)
    asm = cx.asm
    minus = asm.compare("icmp eq", b, asm.number(b.type, -1))
    quotient = asm.operation(name, a, asm.choose(minus, asm.number(b.type, 1), b))
    if name == "srem":
        return quotient
    return asm.choose(minus, asm.operation("sub", asm.number(a.type, 0), a), quotient)


def emit_floor(cx: FunctionContext, e: prim.Binary) -> Value:
    """Python's `//` and `%`, which are not sdiv and srem where signs differ."""
    a, b = emit(cx, e.a), emit(cx, e.b)
    division = isinstance(e, prim.FloorDiv)
    if e.dtype.is_float:
        return float_floor(cx, division, a, b, e.dtype)
    refuse_zero(cx, e, b)
    positive = cx.ranges.of(e.a)[0] >= 0 and cx.ranges.of(e.b)[0] >= 0
    if positive or e.dtype.kind == "uint":
        return cx.asm.operation("udiv" if division else "urem", a, b)
    if isinstance(e.b, prim.IntImm) and e.b.value & (e.b.value - 1) == 0 and e.b.value > 0:
        # Powers of two: an arithmetic shift and a mask floor by themselves.
        shift = e.b.value.bit_length() - 1
        if division:
            return cx.asm.operation("ashr", a, cx.asm.number(a.type, shift))
        return cx.asm.operation("and", a, cx.asm.number(a.type, e.b.value - 1))
    return signed_floor(cx, e, division, a, b)


def signed_floor(cx: FunctionContext, e: prim.Binary, division: bool, a: Value, b: Value) -> Value:
    asm = cx.asm
    rest = signed_division(cx, e, "srem", a, b)
    zero = asm.number(a.type, 0)
    differ = asm.compare("icmp slt", asm.operation("xor", rest, b), zero)
    off = asm.operation("and", asm.compare("icmp ne", rest, zero), differ)
    if not division:
        return asm.choose(off, asm.operation("add", rest, b), rest)
    quotient = signed_division(cx, e, "sdiv", a, b)
    return asm.operation("sub", quotient, asm.convert("zext", off, element_of(a.type)))


def float_floor(cx: FunctionContext, division: bool, a: Value, b: Value, dtype: DataType) -> Value:
    """numpy's floor_divide and mod: from fmod, so that the two fit together."""
    asm = cx.asm
    zero, one = asm.number(a.type, 0.0), asm.number(a.type, 1.0)
    rest = emit_float(asm, "tir.fmod", [a, b], DataType("float64"))
    some = asm.compare("fcmp une", rest, zero)
    below, divisor_below = (asm.compare("fcmp olt", x, zero) for x in (rest, b))
    off = asm.operation("and", some, asm.operation("xor", below, divisor_below))
    if not division:
        moved = asm.choose(off, asm.operation("fadd", rest, b), rest)
        result = asm.choose(some, moved, asm.intrinsic("copysign", [zero, b]))
        undefined = asm.compare("fcmp oeq", b, zero)
        return asm.rounded(asm.choose(undefined, rest, result), dtype)
    exact = asm.operation("fdiv", asm.operation("fsub", a, rest), b)
    exact = asm.choose(off, asm.operation("fsub", exact, one), exact)
    whole = asm.intrinsic("floor", [exact])
    gap = asm.operation("fsub", exact, whole)
    up = asm.compare("fcmp ogt", gap, asm.number(a.type, 0.5))
    whole = asm.choose(up, asm.operation("fadd", whole, one), whole)
    quotient = asm.operation("fdiv", a, b)
    nothing = asm.intrinsic("copysign", [zero, quotient])
    result = asm.choose(asm.compare("fcmp une", exact, zero), whole, nothing)
    return asm.rounded(asm.choose(asm.compare("fcmp oeq", b, zero), quotient, result), dtype)


def emit_cast(cx: FunctionContext, e: prim.Cast) -> Value:
    source, target = e.value.dtype, e.dtype
    if source.lanes != target.lanes or "handle" in (source.kind, target.kind):
        raise tir_errors.invalid("RX0502", f"{source} cannot be converted to {target}", e.span)
    register(target, e.span)
    value = emit(cx, e.value)
    if source == target:
        return value
    if target.is_bool:
        test = "fcmp une" if source.is_float else "icmp ne"
        return cx.asm.compare(test, value, cx.asm.number(value.type, 0))
    if target.is_integer:
        return to_integer(cx, value, source, target)
    return to_float(cx, value, source, target)


def to_integer(cx: FunctionContext, x: Value, source: DataType, target: DataType) -> Value:
    if source.is_float:
        name = "fptosi.sat" if target.kind == "int" else "fptoui.sat"
        return cx.asm.intrinsic(name, [x], register(target))
    if not source.is_bool and source.bits >= target.bits:
        return cx.asm.convert("trunc", x, register(target.element))
    name = "sext" if source.kind == "int" else "zext"
    return cx.asm.convert(name, x, register(target.element))


def to_float(cx: FunctionContext, x: Value, source: DataType, target: DataType) -> Value:
    asm, to = cx.asm, register(target.element)
    narrow = target.element not in ("float32", "float64")
    if source.is_float and source.element != "float64":
        return asm.rounded(asm.convert("fpext", x, to), target)
    if source.is_float:
        found = rounded_to_odd(asm, x) if narrow else asm.convert("fptrunc", x, to)
        return asm.rounded(found, target)
    name = "sitofp" if source.kind == "int" else "uitofp"
    if not narrow or source.bits < 32:
        return asm.rounded(asm.convert(name, x, to), target)
    wide = asm.convert(name, with_room(asm, x, source) if source.bits == 64 else x, "double")
    return asm.rounded(rounded_to_odd(asm, wide), target)


def emit_vector(cx: FunctionContext, e: prim.Ramp | prim.Broadcast | prim.Shuffle) -> Value:
    asm = cx.asm
    match e:
        case prim.Ramp(base, _, 1):
            return emit(cx, base)
        case prim.Ramp(base, stride, lanes):
            first, step = asm.splat(emit(cx, base), lanes), asm.splat(emit(cx, stride), lanes)
            flag = no_wrap_flag(cx, e)
            counts = ", ".join(f"{element_of(first.type)} {i}" for i in range(lanes))
            offsets = asm.operation("mul", step, Value(first.type, f"<{counts}>"), flag)
            return asm.operation("add", first, offsets, flag)
        case prim.Broadcast(value, lanes):
            one = emit(cx, value)
            if value.dtype.lanes == 1:
                return asm.splat(one, lanes)
            return asm.join([asm.extract(one, i) for i in range(value.dtype.lanes)] * lanes)
    return emit_shuffle(cx, e)


def emit_shuffle(cx: FunctionContext, e: prim.Shuffle) -> Value:
    vectors = [emit(cx, vector) for vector in e.vectors]
    places = [i.value for i in e.indices if isinstance(i, prim.IntImm)]
    if len(places) < len(e.indices):
        raise tir_errors.invalid("RX0503", "`T.Shuffle` takes constant indices", e.span)
    first = vectors[0]
    if first.type.startswith("<") and len(places) > 1 and len(vectors) == 1:
        return cx.asm.shuffle(first, Value(first.type, "poison"), places)
    if (
        first.type.startswith("<")
        and len(places) > 1
        and [first.type] == [vector.type for vector in vectors[1:]]
    ):
        return cx.asm.shuffle(first, vectors[1], places)
    pool = []
    for vector, value in zip(e.vectors, vectors, strict=True):
        pool += [cx.asm.extract(value, i) for i in range(vector.dtype.lanes)]
    return cx.asm.join([pool[i] for i in places])


def emit_call(cx: FunctionContext, e: prim.Call) -> Value:
    if isinstance(e.op, GlobalVar):
        return cx.rules.call_function(cx, e, e.op)
    row = table.lookup(e.op)
    if row is None or not row.compiled:
        name = row.script_name if row else getattr(e.op, "name", "")
        raise tir_errors.unsupported_intrinsic(name, "compiled for the CPU", e.span)
    tir_errors.check_arity(e, row)
    if row.external or is_address_as_number(e):
        return cx.rules.external(cx, e, row.script_name)
    found = emit_expanded(cx, e)
    if found is not None:
        return found
    if row.script_name in DEVICE_FUNCTIONS:
        raise tir_errors.wrong_dtypes(row, e)
    match row.name:
        case "tir.if_then_else":
            return emit_if_then_else(cx, e, *e.args)
        case "tir.likely" | "tir.tvm_thread_invariant" | "tir.assume":
            return emit(cx, e.args[0])
        case "tir.reinterpret":
            return emit_reinterpret(cx, e, e.args[0])
        case "tir.ret":
            return cx.rules.returning(cx, e.args[0])
    return emit_intrinsic(cx, e, row)


def emit_expanded(cx: FunctionContext, e: prim.Call) -> Value | None:
    """The value of a call that means an expression; None of another."""
    same = expand_intrinsic(e)
    if same is None:
        return None
    match e.args:
        case (prim.StringImm(value="llvm.vector.reduce.or"), mask) if mask.dtype.is_bool:
            return cx.asm.any(emit(cx, mask))  # a few instructions for all lanes at once
    return emit(cx, same)


def emit_intrinsic(cx: FunctionContext, e: prim.Call, row: table.Intrinsic) -> Value:
    dtype = e.args[0].dtype
    if row.name != "tir.ldexp":
        tir_errors.check_operands(e, e.args)
    if scalar.intrinsic(row.name, dtype.element) is None:
        message = f"`{row.script_name}` takes {row.takes}, not {dtype}"
        raise tir_errors.invalid("RX0502", message, e.span)
    if cx.vector_math and has_definition(e):
        return cx.rules.math(cx, e, row)
    args = [emit(cx, arg) for arg in e.args]
    register(dtype, e.span)
    if not dtype.is_float:
        return INTEGER_INTRINSICS[row.name](cx.asm, args, dtype)
    if row.name == "tir.nextafter":
        return next_after(cx.asm, args, dtype)
    if row.name == "tir.ldexp":
        args[1] = to_integer(cx, args[1], e.args[1].dtype, _like("int32", dtype))
    result = emit_float(cx.asm, row.name, args, dtype)
    return result if row.result == "bool" else cx.asm.rounded(result, dtype)


def emit_logic(cx: FunctionContext, e: prim.Logic) -> Value:
    """The second operand is evaluated only where the first does not decide.

    Where evaluating it does nothing else and cannot fail, no branch is needed.
    """
    conjunction = isinstance(e, prim.And)
    first = emit(cx, e.a)
    if e.dtype.lanes > 1 or not any(map(_may_fail, walk(e.b))):
        return cx.asm.operation("and" if conjunction else "or", first, emit(cx, e.b))
    known = cx.asm.number(first.type, int(not conjunction))
    if conjunction:
        return emit_branches(cx, e.a, first, lambda: emit(cx, e.b), lambda: known)
    return emit_branches(cx, e.a, first, lambda: known, lambda: emit(cx, e.b))


def emit_if_then_else(
    cx: FunctionContext, e: prim.Call, cond: prim.PrimExpr, t: prim.PrimExpr, f: prim.PrimExpr
) -> Value:
    """Only the branch that is chosen is evaluated."""
    tir_errors.check_operands(e, (t, f))
    condition = emit(cx, cond)
    if cond.dtype.lanes > 1:
        return cx.asm.choose(condition, emit(cx, t), emit(cx, f))
    return emit_branches(cx, cond, condition, lambda: emit(cx, t), lambda: emit(cx, f))


def emit_branches(
    cx: FunctionContext,
    asked: prim.PrimExpr,
    condition: Value,
    t: Callable[[], Value],
    f: Callable[[], Value],
) -> Value:
    """One of two values, of which only the chosen one is computed."""
    asm = cx.asm
    yes, no, done = asm.name(), asm.name(), asm.name()
    asm.branch(condition, yes, no)
    asm.begin(yes)
    with cx.scope(asked):
        a, after_a = t(), asm.current
    asm.jump(done)
    asm.begin(no)
    with cx.scope(asked, unless=True):
        b, after_b = f(), asm.current
    asm.jump(done)
    asm.begin(done)
    return asm.value(a.type, f"phi {a.type} [{a.text}, %{after_a}], [{b.text}, %{after_b}]")


def emit_reinterpret(cx: FunctionContext, e: prim.Call, value: prim.PrimExpr) -> Value:
    source, target, asm = value.dtype, e.dtype, cx.asm
    if source.bits * source.lanes != target.bits * target.lanes or source.is_bool:
        raise tir_errors.invalid("RX0502", f"{source} has not the bits of {target}", e.span)
    register(target, e.span)
    bits = asm.to_memory(emit(cx, value), source)
    type_ = asm.memory_type(target)
    changed = bits if type_ == bits.type else asm.value(type_, f"bitcast {bits} to {type_}")
    return asm.from_memory(changed, target)


def _may_fail(e: Node) -> bool:
    """True if a node itself may fail or do more than compute a value."""
    if isinstance(e, (prim.Div, prim.Mod, prim.FloorDiv, prim.FloorMod)):
        return not e.dtype.is_float
    return isinstance(e, (prim.BufferLoad, prim.Call))


def _like(element: str, dtype: DataType) -> DataType:
    return DataType(element).with_lanes(dtype.lanes)


def scalar_value(e: prim.Immediate) -> float:
    """The number of a literal, in its dtype."""
    value: Any = e.value  # type: ignore[attr-defined]
    if e.dtype.is_float:
        return nearest(value, e.dtype)
    return int(value)


# How the expressions of each class are written; `emit_choice` knows the others.
_WRITERS: dict[type[prim.PrimExpr], Callable[[FunctionContext, Any], Value]] = {
    prim.IntImm: emit_literal,
    prim.FloatImm: emit_literal,
    prim.Var: emit_variable,
    prim.SizeVar: emit_variable,
    **dict.fromkeys(ARITHMETIC, emit_binary),
    prim.FloorDiv: emit_binary,
    prim.FloorMod: emit_binary,
    prim.Cast: emit_cast,
    prim.BufferLoad: lambda cx, e: cx.rules.load(cx, e),
    prim.Ramp: emit_vector,
    prim.Broadcast: emit_vector,
    prim.Shuffle: emit_vector,
    prim.Call: emit_call,
    prim.Let: emit_let,
}
