"""Code for loops, and for `T.Reduce` as loops with accumulators: see `interpreter/reductions.py`.

Accumulators live on the stack, from where LLVM takes them into registers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relaxscript.interpreter.reductions import starts
from relaxscript.ir import prim, tir
from relaxscript.ir.tir_compute import Reduce

from .assembler import Value
from .expression import Expressions
from .ranges import limits, of_loop
from .types import register

__all__ = ["Reductions"]


class Reductions(Expressions):
    """Adds reductions to expressions."""

    def choice(self, e: prim.PrimExpr) -> Value:
        return self.reduction(e) if isinstance(e, Reduce) else super().choice(e)

    def counted(
        self, var: prim.Var, start: prim.PrimExpr, extent: prim.PrimExpr, body: Callable[[], None]
    ) -> None:
        """A loop: `body` writes what is done for each value of the variable."""
        asm = self.asm
        low, size = self.fitted(start, var), self.fitted(extent, var)
        interval, _ = of_loop(self.ranges.of(start), self.ranges.of(extent), var.dtype)
        self.ranges.define(var, interval)
        self.proofs.loop(var, start, extent)
        signed = var.dtype.kind == "int"
        less, flag = ("icmp slt", "add nsw") if signed else ("icmp ult", "add nuw")
        end = asm.operation("add", low, size)
        before, head, done = asm.current, asm.name(), asm.name()
        asm.branch(asm.compare(less, low, end), head, done)
        asm.begin(head)
        index, place = Value(low.type, f"%{asm.name()}"), len(asm.lines)
        self.values[var] = index
        body()
        following = asm.operation(flag, index, asm.number(low.type, 1))
        asm.lines.insert(
            place,
            f"  {index.text} = phi {low.type} [{low.text}, %{before}], "
            f"[{following.text}, %{asm.current}]",
        )
        asm.branch(asm.compare(less, following, end), head, done)
        asm.begin(done)

    # ------------------------------------------------------------ reductions

    def reduction(self, e: Reduce) -> Value:
        asm, slots = self.asm, []
        for start in starts(e):
            type_ = register(start.dtype, start.span or e.span)
            slots.append(Value("ptr", f"%{asm.name()}"))
            asm.entry.append(f"{slots[-1].text} = alloca {type_}")
        for slot, value in zip(slots, [self.emit(x) for x in starts(e)], strict=True):
            asm.do(f"store {value}, {slot}")
        self.over(e.axis, lambda: self.step(e, slots))
        type_ = register(e.dtype)
        return asm.value(type_, f"load {type_}, {slots[e.value_index]}")

    def over(self, axes: Sequence[tir.IterVar], inner: Callable[[], None]) -> None:
        """A step for each point of the axes; a later axis may depend on those before it."""
        if not axes:
            inner()
            return
        dom = axes[0].dom
        assert dom is not None  # `starts` has seen to it
        self.counted(axes[0].var, dom.min, dom.extent, lambda: self.over(axes[1:], inner))

    def step(self, e: Reduce, slots: Sequence[Value]) -> None:
        """Combine the accumulators with the values at one point, where the condition holds."""
        if isinstance(e.condition, prim.IntImm) and e.condition.value:
            self.combine(e, slots)
            return
        inside, done = self.asm.name(), self.asm.name()
        self.asm.branch(self.emit(e.condition), inside, done)
        self.asm.begin(inside)
        with self.scope(e.condition):
            self.combine(e, slots)
        self.asm.jump(done)
        self.asm.begin(done)

    def combine(self, e: Reduce, slots: Sequence[Value]) -> None:
        # All values first: what computes them may be a reduction by the same combiner.
        values = [self.emit(x) for x in e.source]
        for var, value in zip(e.combiner.rhs, values, strict=True):
            self.stand_for(var, value)
        for var, slot in zip(e.combiner.lhs, slots, strict=True):
            type_ = register(var.dtype)
            self.stand_for(var, self.asm.value(type_, f"load {type_}, {slot}"))
        results = [self.emit(x) for x in e.combiner.result]
        for slot, value in zip(slots, results, strict=True):
            self.asm.do(f"store {value}, {slot}")

    def stand_for(self, var: prim.Var, value: Value) -> None:
        """Let a variable stand for a value of which nothing is known."""
        self.values[var] = value
        if var.dtype.is_integer:
            self.ranges.define(var, limits(var.dtype))
            self.proofs.define(var, limits(var.dtype))
