"""Code for scalar expressions: `emit(e)` writes instructions and gives the value.

The meaning is that of `interpreter/scalar.py`, bit for bit for arithmetic, comparison and
conversion. Regular operations stand in the tables of `types.py`; what C or LLVM would leave
undefined (division by zero or with overflow, large shifts, conversions out of range) is made
definite here. Buffers are those of `memory.py`, intrinsics those of `intrinsics.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.interpreter import failure, scalar
from relaxscript.interpreter.expression import EXTERNAL
from relaxscript.interpreter.llvm_calls import meaning
from relaxscript.ir import intrinsic as table, prim
from relaxscript.ir.node import Node
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.scalar_functions import LOW_LEVEL
from relaxscript.ir.walk import walk

from .assembler import Assembler, Explain, Sites, Value, element_of
from .intrinsics import INTEGER_INTRINSICS, emit_float, next_after, rounded_to_odd
from .proofs import Proofs
from .ranges import Ranges
from .types import ARITHMETIC, COMPARISON, column, register

__all__ = ["Expressions"]

_OF_BOOLS = {prim.Add: "or", prim.Max: "or", prim.Mul: "and", prim.Min: "and"}


class Expressions(ABC):
    """Writes expressions into one function."""

    def __init__(self, sites: Sites) -> None:
        self.asm = Assembler(sites)
        self.values: dict[Node, Value] = {}
        self.ranges = Ranges()
        self.proofs = Proofs()
        # How a sum or product of integers fails, where it may not wrap.
        self.wraps: Explain | None = None

    def scope(
        self, *conditions: prim.PrimExpr, unless: bool = False
    ) -> AbstractContextManager[None]:
        """Where some conditions hold, or `unless`, does not."""
        return self.proofs.scope(*conditions, unless=unless)

    def emit(self, e: prim.PrimExpr) -> Value:
        """The value of `e`; raises `DiagnosticError` where there is no code for it."""
        match e:
            case prim.Immediate():
                return self.asm.literal(e.dtype, scalar_value(e))
            case prim.Var():
                return self.variable(e)
            case prim.Binary():
                return self.binary(e)
            case prim.Cast(dtype, value):
                return self.cast(e, value.dtype, dtype)
            case prim.BufferLoad():
                return self.load(e)
            case prim.Ramp() | prim.Broadcast() | prim.Shuffle():
                return self.vector(e)
            case prim.Call():
                return self.call(e)
            case prim.Let(var, value, body):
                self.assign(var, value)
                return self.emit(body)
        return self.choice(e)

    def choice(self, e: prim.PrimExpr) -> Value:
        """Comparisons, logic and what depends on them."""
        match e:
            case prim.Comparison(a, b):
                failure.check_operands(e, (a, b))
                return self.asm.compare(
                    COMPARISON[type(e)][column(a.dtype)], self.emit(a), self.emit(b)
                )
            case prim.Logic():
                return self.logic(e)
            case prim.Not(a):
                value = self.emit(a)
                return self.asm.operation("xor", value, self.asm.number(value.type, 1))
            case prim.Select(condition, a, b):
                failure.check_operands(e, (a, b))
                return self.asm.choose(self.emit(condition), self.emit(a), self.emit(b))
        raise failure.no_number(e)

    def variable(self, e: prim.Var) -> Value:
        if e not in self.values:
            raise failure.undefined("variable", e.name, e.span)
        return self.values[e]

    def assign(self, var: prim.Var, value: prim.PrimExpr) -> None:
        """Let a variable stand for a value from here on."""
        self.values[var] = self.fitted(value, var)
        if value.dtype.is_integer:
            self.ranges.define(var, self.ranges.of(value))
            self.proofs.assign(var, value)

    def fitted(self, e: prim.PrimExpr, var: prim.Var) -> Value:
        """The value of `e` for a variable; an integer may be of another width."""
        failure.check_assignment(var, e)
        if e.dtype == var.dtype:
            return self.emit(e)
        if isinstance(e, prim.IntImm):
            return self.asm.literal(var.dtype, e.value)
        return self.to_integer(self.emit(e), e.dtype, var.dtype)

    @abstractmethod
    def load(self, e: prim.BufferLoad) -> Value:
        """The element of a buffer."""

    @abstractmethod
    def call_function(self, e: prim.Call, function: GlobalVar) -> Value:
        """What a function of the module returns."""

    @abstractmethod
    def returning(self, value: prim.PrimExpr) -> Value:
        """End the function with a value."""

    # ------------------------------------------------------------ arithmetic

    def binary(self, e: prim.Binary) -> Value:
        failure.check_operands(e, (e.a, e.b))
        dtype, kind = e.dtype, type(e)
        register(dtype, e.span)
        if dtype.is_bool and kind in _OF_BOOLS:
            return self.asm.operation(_OF_BOOLS[kind], self.emit(e.a), self.emit(e.b))
        if dtype.is_bool:
            raise failure.invalid("RX0502", f"there is no {kind.__name__} of bool", e.span)
        if kind in (prim.FloorDiv, prim.FloorMod):
            return self.floor(e)
        name = ARITHMETIC[kind][column(dtype)]
        if kind in (prim.Min, prim.Max):
            return self.asm.intrinsic(name, [self.emit(e.a), self.emit(e.b)])
        if dtype.is_float:
            return self.asm.rounded(self.asm.operation(name, self.emit(e.a), self.emit(e.b)), dtype)
        if kind in (prim.Div, prim.Mod):
            return self.truncating(e, name)
        if self.wraps is not None and e.dtype.lanes == 1 and not self.ranges.is_exact(e):
            kind_of = "s" if dtype.kind == "int" else "u"
            value, wraps = self.asm.overflowing(kind_of + name, self.emit(e.a), self.emit(e.b))
            self.asm.fail_if(wraps, self.wraps)
            return value
        return self.asm.operation(name, self.emit(e.a), self.emit(e.b), self.no_wrap(e))

    def no_wrap(self, e: prim.PrimExpr) -> str:
        """The flag that tells LLVM that a sum or product stays in its range."""
        if not self.ranges.is_exact(e):
            return ""
        return " nsw" if e.dtype.kind == "int" else " nuw"

    def truncating(self, e: prim.Binary, name: str) -> Value:
        a, b = self.emit(e.a), self.emit(e.b)
        self.refuse_zero(e, b)
        if e.dtype.kind == "uint":
            return self.asm.operation(name, a, b)
        return self.signed_division(e, name, a, b)

    def refuse_zero(self, e: prim.Binary, divisor: Value) -> None:
        low, high = self.ranges.of(e.b)
        if low > 0 or high < 0:
            return
        span = e.span
        zero = self.asm.compare("icmp eq", divisor, self.asm.number(divisor.type, 0))
        self.asm.fail_if(zero, lambda details: failure.division_by_zero(span))

    def signed_division(self, e: prim.Binary, name: str, a: Value, b: Value) -> Value:
        """sdiv or srem, where the least integer divided by -1 wraps instead of trapping."""
        low, high = self.ranges.of(e.b)
        least = scalar.limits(e.dtype.element)[0]
        if low > -1 or high < -1 or self.ranges.of(e.a)[0] > least:
            return self.asm.operation(name, a, b)
        asm = self.asm
        minus = asm.compare("icmp eq", b, asm.number(b.type, -1))
        quotient = asm.operation(name, a, asm.choose(minus, asm.number(b.type, 1), b))
        if name == "srem":
            return quotient
        return asm.choose(minus, asm.operation("sub", asm.number(a.type, 0), a), quotient)

    def floor(self, e: prim.Binary) -> Value:
        """Python's `//` and `%`, which are not sdiv and srem where signs differ."""
        a, b = self.emit(e.a), self.emit(e.b)
        division = isinstance(e, prim.FloorDiv)
        if e.dtype.is_float:
            return self.float_floor(division, a, b, e.dtype)
        self.refuse_zero(e, b)
        positive = self.ranges.of(e.a)[0] >= 0 and self.ranges.of(e.b)[0] >= 0
        if positive or e.dtype.kind == "uint":
            return self.asm.operation("udiv" if division else "urem", a, b)
        if isinstance(e.b, prim.IntImm) and e.b.value & (e.b.value - 1) == 0 and e.b.value > 0:
            # Powers of two: an arithmetic shift and a mask floor by themselves.
            shift = e.b.value.bit_length() - 1
            if division:
                return self.asm.operation("ashr", a, self.asm.number(a.type, shift))
            return self.asm.operation("and", a, self.asm.number(a.type, e.b.value - 1))
        return self.signed_floor(e, division, a, b)

    def signed_floor(self, e: prim.Binary, division: bool, a: Value, b: Value) -> Value:
        asm = self.asm
        rest = self.signed_division(e, "srem", a, b)
        zero = asm.number(a.type, 0)
        differ = asm.compare("icmp slt", asm.operation("xor", rest, b), zero)
        off = asm.operation("and", asm.compare("icmp ne", rest, zero), differ)
        if not division:
            return asm.choose(off, asm.operation("add", rest, b), rest)
        quotient = self.signed_division(e, "sdiv", a, b)
        return asm.operation("sub", quotient, asm.convert("zext", off, element_of(a.type)))

    def float_floor(self, division: bool, a: Value, b: Value, dtype: DataType) -> Value:
        """numpy's floor_divide and mod: from fmod, so that the two fit together."""
        asm = self.asm
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

    # ------------------------------------------------------------ conversion

    def cast(self, e: prim.Cast, source: DataType, target: DataType) -> Value:
        if source.lanes != target.lanes or "handle" in (source.kind, target.kind):
            raise failure.invalid("RX0502", f"{source} cannot be converted to {target}", e.span)
        register(target, e.span)
        value = self.emit(e.value)
        if source == target:
            return value
        if target.is_bool:
            test = "fcmp une" if source.is_float else "icmp ne"
            return self.asm.compare(test, value, self.asm.number(value.type, 0))
        if target.is_integer:
            return self.to_integer(value, source, target)
        return self.to_float(value, source, target)

    def to_integer(self, x: Value, source: DataType, target: DataType) -> Value:
        if source.is_float:
            name = "fptosi.sat" if target.kind == "int" else "fptoui.sat"
            return self.asm.intrinsic(name, [x], register(target))
        if not source.is_bool and source.bits >= target.bits:
            return self.asm.convert("trunc", x, register(target.element))
        name = "sext" if source.kind == "int" else "zext"
        return self.asm.convert(name, x, register(target.element))

    def to_float(self, x: Value, source: DataType, target: DataType) -> Value:
        to = register(target.element)
        if not source.is_float:
            name = "sitofp" if source.kind == "int" else "uitofp"
            return self.asm.rounded(self.asm.convert(name, x, to), target)
        if source.element != "float64":
            return self.asm.rounded(self.asm.convert("fpext", x, to), target)
        if target.element == "float16" or target.bits <= 8:
            return self.asm.rounded(rounded_to_odd(self.asm, x), target)
        return self.asm.rounded(self.asm.convert("fptrunc", x, to), target)

    # ------------------------------------------------------------ vectors

    def vector(self, e: prim.Ramp | prim.Broadcast | prim.Shuffle) -> Value:
        asm = self.asm
        match e:
            case prim.Ramp(base, stride, lanes):
                first, step = self.emit(base), self.emit(stride)
                flag = self.no_wrap(e)
                steps = [
                    asm.operation("mul", step, asm.number(step.type, i), flag) for i in range(lanes)
                ]
                return asm.join([asm.operation("add", first, s, flag) for s in steps])
            case prim.Broadcast(value, lanes):
                one = self.emit(value)
                return asm.join([asm.extract(one, i) for i in range(value.dtype.lanes)] * lanes)
        return self.shuffle(e)

    def shuffle(self, e: prim.Shuffle) -> Value:
        pool = []
        for vector in e.vectors:
            value = self.emit(vector)
            pool += [self.asm.extract(value, i) for i in range(vector.dtype.lanes)]
        places = [i.value for i in e.indices if isinstance(i, prim.IntImm)]
        if len(places) < len(e.indices):
            raise failure.invalid("RX0503", "a Shuffle takes constant indices", e.span)
        return self.asm.join([pool[i] for i in places])

    # ------------------------------------------------------------ calls

    def call(self, e: prim.Call) -> Value:
        if isinstance(e.op, GlobalVar):
            return self.call_function(e, e.op)
        row = table.lookup(e.op)
        if row is None or not row.compiled:
            name = row.script_name if row else getattr(e.op, "name", "")
            raise failure.no_code(name, "compiled for the CPU", e.span)
        failure.check_arity(e, row)
        if row.script_name in EXTERNAL:
            return self.external(e, row.script_name)
        same = meaning(e)
        if same is not None:
            return self.emit(same)
        if row.script_name in LOW_LEVEL:
            raise failure.misused(row, e)
        match row.name:
            case "tir.if_then_else":
                return self.if_then_else(e, *e.args)
            case "tir.likely" | "tir.tvm_thread_invariant" | "tir.assume":
                return self.emit(e.args[0])
            case "tir.reinterpret":
                return self.reinterpret(e, e.args[0])
            case "tir.ret":
                return self.returning(e.args[0])
        return self.intrinsic(e, row)

    @abstractmethod
    def external(self, e: prim.Call, name: str) -> Value:
        """A call of a C function, or an address."""

    def intrinsic(self, e: prim.Call, row: table.Intrinsic) -> Value:
        dtype = e.args[0].dtype
        if row.name != "tir.ldexp":
            failure.check_operands(e, e.args)
        if scalar.intrinsic(row.name, dtype.element) is None:
            message = f"`{row.script_name}` takes {row.takes}, not {dtype}"
            raise failure.invalid("RX0502", message, e.span)
        args = [self.emit(arg) for arg in e.args]
        register(dtype, e.span)
        if not dtype.is_float:
            return INTEGER_INTRINSICS[row.name](self.asm, args, dtype)
        if row.name == "tir.nextafter":
            return next_after(self.asm, args, dtype)
        if row.name == "tir.ldexp":
            args[1] = self.to_integer(args[1], e.args[1].dtype, _like("int32", dtype))
        result = emit_float(self.asm, row.name, args, dtype)
        return result if row.result == "bool" else self.asm.rounded(result, dtype)

    def logic(self, e: prim.Logic) -> Value:
        """The second operand is evaluated only where the first does not decide.

        Where evaluating it does nothing else and cannot fail, no branch is needed.
        """
        conjunction = isinstance(e, prim.And)
        first = self.emit(e.a)
        if e.dtype.lanes > 1 or not any(map(_may_fail, walk(e.b))):
            return self.asm.operation("and" if conjunction else "or", first, self.emit(e.b))
        known = self.asm.number(first.type, int(not conjunction))
        if conjunction:
            return self.branches(e.a, first, lambda: self.emit(e.b), lambda: known)
        return self.branches(e.a, first, lambda: known, lambda: self.emit(e.b))

    def if_then_else(
        self, e: prim.Call, cond: prim.PrimExpr, t: prim.PrimExpr, f: prim.PrimExpr
    ) -> Value:
        """Only the branch that is chosen is evaluated."""
        failure.check_operands(e, (t, f))
        condition = self.emit(cond)
        if cond.dtype.lanes > 1:
            return self.asm.choose(condition, self.emit(t), self.emit(f))
        return self.branches(cond, condition, lambda: self.emit(t), lambda: self.emit(f))

    def branches(
        self,
        asked: prim.PrimExpr,
        condition: Value,
        t: Callable[[], Value],
        f: Callable[[], Value],
    ) -> Value:
        """One of two values, of which only the chosen one is computed."""
        asm = self.asm
        yes, no, done = asm.name(), asm.name(), asm.name()
        asm.branch(condition, yes, no)
        asm.begin(yes)
        with self.scope(asked):
            a, after_a = t(), asm.current
        asm.jump(done)
        asm.begin(no)
        with self.scope(asked, unless=True):
            b, after_b = f(), asm.current
        asm.jump(done)
        asm.begin(done)
        return asm.value(a.type, f"phi {a.type} [{a.text}, %{after_a}], [{b.text}, %{after_b}]")

    def reinterpret(self, e: prim.Call, value: prim.PrimExpr) -> Value:
        source, target, asm = value.dtype, e.dtype, self.asm
        if source.bits * source.lanes != target.bits * target.lanes or source.is_bool:
            raise failure.invalid("RX0502", f"{source} has not the bits of {target}", e.span)
        register(target, e.span)
        bits = asm.to_memory(self.emit(value), source)
        type_ = asm.memory_type(target)
        changed = bits if type_ == bits.type else asm.value(type_, f"bitcast {bits} to {type_}")
        return asm.from_memory(changed, target)


def _may_fail(e: Node) -> bool:
    """Whether a node itself may fail or do more than compute a value."""
    if isinstance(e, (prim.Div, prim.Mod, prim.FloorDiv, prim.FloorMod)):
        return not e.dtype.is_float
    return isinstance(e, (prim.BufferLoad, prim.Call))


def _like(element: str, dtype: DataType) -> DataType:
    return DataType(element).with_lanes(dtype.lanes)


def scalar_value(e: prim.Immediate) -> float:
    """The number that a literal stands for in its data type."""
    value: Any = e.value  # type: ignore[attr-defined]
    if e.dtype.is_float:
        return scalar.rounding(e.dtype)(value)
    return int(value)
