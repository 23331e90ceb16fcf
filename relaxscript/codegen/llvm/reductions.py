"""Code for loops, and for `T.Reduce` as loops with accumulators: see `semantics/reduce.py`.

Accumulators are on the stack, from where LLVM takes them into registers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relaxscript.ir import prim, tir
from relaxscript.ir.tir_compute import Reduce
from relaxscript.semantics.reduce import initial_values

from .context import FunctionContext
from .expression import emit, emit_for_variable
from .ir_writer import Value
from .types import register
from .value_ranges import limits, of_loop

__all__ = ["emit_counted_loop", "emit_reduction"]


def emit_counted_loop(
    cx: FunctionContext,
    var: prim.Var,
    start: prim.PrimExpr,
    extent: prim.PrimExpr,
    body: Callable[[], None],
) -> None:
    """A loop: `body` writes what is done for each value of the variable."""
    asm = cx.asm
    low, size = emit_for_variable(cx, start, var), emit_for_variable(cx, extent, var)
    interval, _ = of_loop(cx.ranges.of(start), cx.ranges.of(extent), var.dtype)
    cx.ranges.define(var, interval)
    cx.proofs.loop(var, start, extent)
    signed = var.dtype.kind == "int"
    less, flag = ("icmp slt", "add nsw") if signed else ("icmp ult", "add nuw")
    end = asm.operation("add", low, size)
    before, head, done = asm.current, asm.name(), asm.name()
    some = asm.compare(less, low, end)
    asm.open_loop()
    asm.branch(some, head, done)
    asm.begin(head)
    place, counter = len(asm.lines), asm.in_loop(asm.name(), low.type)
    # A counter that is frozen is no recurrence to LLVM, which would spend a quarter of its time on
    # finding other variables for a loop. Addresses here ask for none: see `index_sum.py`.
    index = asm.value(low.type, f"freeze {counter}") if asm.as_written else counter
    cx.values[var] = index
    body()
    following = asm.operation(flag, index, asm.number(low.type, 1))
    asm.lines.insert(
        place,
        f"  {counter.text} = phi {low.type} [{low.text}, %{before}], "
        f"[{following.text}, %{asm.current}]",
    )
    asm.close_loop()
    asm.branch(asm.compare(less, following, end), head, done)
    asm.begin(done)


def emit_reduction(cx: FunctionContext, e: Reduce) -> Value:
    asm, slots = cx.asm, []
    for start in initial_values(e):
        type_ = register(start.dtype, start.span or e.span)
        slots.append(Value("ptr", f"%{asm.name()}"))
        asm.entry.append(f"{slots[-1].text} = alloca {type_}")
    for slot, value in zip(slots, [emit(cx, x) for x in initial_values(e)], strict=True):
        asm.do(f"store {value}, {slot}")
    over_axes(cx, e.axis, lambda: combine_point(cx, e, slots))
    type_ = register(e.dtype)
    return asm.value(type_, f"load {type_}, {slots[e.value_index]}")


def over_axes(cx: FunctionContext, axes: Sequence[tir.IterVar], inner: Callable[[], None]) -> None:
    """A step for each point of the axes; a later axis may depend on those before it."""
    if not axes:
        inner()
        return
    dom = axes[0].dom
    assert dom is not None  # `initial_values` has seen to it
    emit_counted_loop(cx, axes[0].var, dom.min, dom.extent, lambda: over_axes(cx, axes[1:], inner))


def combine_point(cx: FunctionContext, e: Reduce, slots: Sequence[Value]) -> None:
    """Combine the accumulators with the values at one point, where the condition holds."""
    if isinstance(e.condition, prim.IntImm) and e.condition.value:
        combine_values(cx, e, slots)
        return
    inside, done = cx.asm.name(), cx.asm.name()
    cx.asm.branch(emit(cx, e.condition), inside, done)
    cx.asm.begin(inside)
    with cx.scope(e.condition):
        combine_values(cx, e, slots)
    cx.asm.jump(done)
    cx.asm.begin(done)


def combine_values(cx: FunctionContext, e: Reduce, slots: Sequence[Value]) -> None:
    # All values first: what computes them may be a reduction by the same combiner.
    values = [emit(cx, x) for x in e.source]
    for var, value in zip(e.combiner.rhs, values, strict=True):
        stand_for(cx, var, value)
    for var, slot in zip(e.combiner.lhs, slots, strict=True):
        type_ = register(var.dtype)
        stand_for(cx, var, cx.asm.value(type_, f"load {type_}, {slot}"))
    results = [emit(cx, x) for x in e.combiner.result]
    for slot, value in zip(slots, results, strict=True):
        cx.asm.do(f"store {value}, {slot}")


def stand_for(cx: FunctionContext, var: prim.Var, value: Value) -> None:
    """Bind a variable to a value of which nothing is known."""
    cx.values[var] = value
    if var.dtype.is_integer:
        cx.ranges.define(var, limits(var.dtype))
        cx.proofs.define(var, limits(var.dtype))
