"""Scalar expressions as Python closures: `compile(e)` gives a function from a frame to a number.

A frame is a list with one place for each variable and buffer; `Scope` hands the places out. Numbers
are those of `scalar.py`, a vector is a list of numbers, a buffer is a numpy array of its shape.
Place 0 of a frame holds the `Caller` through which functions of the module are called.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType, nearest
from relaxscript.errors import Span, VMError
from relaxscript.ir import intrinsic as table, prim, tir
from relaxscript.ir.node import Node
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.scalar_functions import LOW_LEVEL

from . import scalar, tir_errors
from .llvm_calls import meaning

__all__ = [
    "EXTERNAL",
    "Caller",
    "Expressions",
    "Frame",
    "Returned",
    "Run",
    "Scope",
    "positions",
    "require_inside",
    "writer",
]

# Intrinsics about C functions and addresses.
EXTERNAL = frozenset({"address_of", "call_extern", "call_pure_extern", "isnullptr",
                      "tvm_call_cpacked", "tvm_call_packed"})  # fmt: skip

Frame = list[Any]
Run = Callable[[Frame], Any]
Caller = Callable[[GlobalVar, "list[Any]", "Span | None"], Any]


class Returned(Exception):
    """The evaluation of a PrimFunc ends here with a value."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Scope:
    """The places of a frame; place 0 is the caller's."""

    def __init__(self) -> None:
        self.size = 1
        self._slots: dict[Node, int] = {}

    def define(self, variable: Node) -> int:
        """The place of a variable or buffer, a new one where it has none yet."""
        if variable not in self._slots:
            self._slots[variable] = self.size
            self.size += 1
        return self._slots[variable]

    def find(self, variable: Node) -> int | None:
        """The place of a variable or buffer, if it has one."""
        return self._slots.get(variable)


def lanewise(operation: Callable[..., Any], lanes: int) -> Callable[..., Any]:
    """The operation on vectors; with one lane, the operation itself."""
    if lanes == 1:
        return operation
    return lambda *vectors: [operation(*numbers) for numbers in zip(*vectors, strict=True)]


class Expressions:
    """Compiles expressions over the variables of a scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        # How a sum or product of integers fails, where it may not wrap.
        self.wraps: Callable[[], VMError] | None = None

    def compile(self, e: prim.PrimExpr) -> Run:
        """The function that evaluates `e`; raises `DiagnosticError` where `e` has no meaning."""
        match e:
            case prim.Immediate():
                return self.immediate(e)
            case prim.Var():
                return self.variable(e)
            case prim.Binary():
                return self.binary(e)
            case prim.Cast():
                return self.cast(e)
            case prim.BufferLoad():
                return self.load(e)
            case prim.Ramp() | prim.Broadcast() | prim.Shuffle():
                return self.vector(e)
            case prim.Call():
                return self.call(e)
            case prim.Let(var, value, body):
                return self.let(var, value, body)
        return self.choice(e)

    def choice(self, e: prim.PrimExpr) -> Run:
        """Comparisons, logic and what depends on them."""
        match e:
            case prim.Comparison(a, b):
                tir_errors.check_operands(e, (a, b))
                return self.apply(scalar.COMPARISONS[type(e)], (a, b), e.dtype.lanes)
            case prim.Logic():
                return self.logic(e)
            case prim.Not(a):
                return self.apply(lambda x: not x, (a,), e.dtype.lanes)
            case prim.Select():
                return self.select(e)
        raise tir_errors.no_number(e)

    def logic(self, e: prim.Logic) -> Run:
        """The second operand is evaluated only where the first does not decide."""
        conjunction = isinstance(e, prim.And)
        if e.dtype.lanes > 1:
            operation = (lambda x, y: x and y) if conjunction else (lambda x, y: x or y)
            return self.apply(operation, (e.a, e.b), e.dtype.lanes)
        first, second = self.compile(e.a), self.compile(e.b)
        if conjunction:
            return lambda frame: first(frame) and second(frame)
        return lambda frame: first(frame) or second(frame)

    def apply(
        self, operation: Callable[..., Any], operands: Sequence[prim.PrimExpr], lanes: int = 1
    ) -> Run:
        """`operation` on the values of the operands, all of which are evaluated."""
        operation = lanewise(operation, lanes)
        runs = [self.compile(operand) for operand in operands]
        match runs:
            case [a]:
                return lambda f: operation(a(f))
            case [a, b]:
                return lambda f: operation(a(f), b(f))
        return lambda f: operation(*[run(f) for run in runs])

    def immediate(self, e: prim.PrimExpr) -> Run:
        value: Any = e.value  # type: ignore[attr-defined]
        if e.dtype.is_float:
            value = nearest(value, e.dtype)
        elif e.dtype.is_bool:
            value = bool(value)
        return lambda f: value

    def variable(self, e: prim.Var) -> Run:
        slot = self.scope.find(e)
        if slot is None:
            raise tir_errors.undefined("variable", e.name, e.span)
        return lambda f: f[slot]

    def binary(self, e: prim.Binary) -> Run:
        tir_errors.check_operands(e, (e.a, e.b))
        operation = scalar.binary(type(e), e.dtype.element)
        if operation is None:
            raise tir_errors.invalid(
                "RX0502", f"there is no {type(e).__name__} of {e.dtype}", e.span
            )
        if e.dtype.lanes == 1 and e.dtype.is_integer and type(e) in _RING:
            if self.wraps is not None:
                return self.exact(e, self.wraps)
            if type(e) is not prim.Sub:
                return self.frequent(e)
        run = self.apply(operation, (e.a, e.b), e.dtype.lanes)
        if e.dtype.is_float or not isinstance(e, _DIVISIONS):
            return run
        span = e.span

        def checked(f: Frame) -> Any:
            try:
                return run(f)
            except ZeroDivisionError:
                raise tir_errors.division_by_zero(span) from None

        return checked

    def frequent(self, e: prim.Binary) -> Run:
        """Sums and products of integers, most of which need no wrapping, in one step."""
        a, b, fit = self.compile(e.a), self.compile(e.b), scalar.wrapping(e.dtype)
        low, high = scalar.limits(e.dtype)

        def add(f: Frame) -> int:
            x: int = a(f) + b(f)
            return x if low <= x <= high else fit(x)

        def multiply(f: Frame) -> int:
            x: int = a(f) * b(f)
            return x if low <= x <= high else fit(x)

        return add if isinstance(e, prim.Add) else multiply

    def exact(self, e: prim.Binary, wraps: Callable[[], VMError]) -> Run:
        """A sum, difference or product that fails where it does not fit its data type."""
        a, b, operation = self.compile(e.a), self.compile(e.b), _RING[type(e)]
        low, high = scalar.limits(e.dtype)

        def run(f: Frame) -> int:
            x: int = operation(a(f), b(f))
            if not low <= x <= high:
                raise wraps()
            return x

        return run

    def select(self, e: prim.Select) -> Run:
        tir_errors.check_operands(e, (e.true_value, e.false_value))
        operands = (e.condition, e.true_value, e.false_value)
        lanes = e.condition.dtype.lanes
        return self.apply(lambda c, x, y: x if c else y, operands, lanes)

    def cast(self, e: prim.Cast) -> Run:
        convert = scalar.cast(e.value.dtype.element, e.dtype.element)
        if convert is None or e.value.dtype.lanes != e.dtype.lanes:
            raise tir_errors.invalid(
                "RX0502", f"{e.value.dtype} cannot be converted to {e.dtype}", e.span
            )
        return self.apply(convert, (e.value,), e.dtype.lanes)

    def let(self, var: prim.Var, value: prim.PrimExpr, body: prim.PrimExpr) -> Run:
        compute, slot = self.compile(value), self.scope.define(var)
        rest = self.compile(body)

        def run(f: Frame) -> Any:
            f[slot] = compute(f)
            return rest(f)

        return run

    # ------------------------------------------------------------ vectors

    def vector(self, e: prim.Ramp | prim.Broadcast | prim.Shuffle) -> Run:
        match e:
            case prim.Ramp(base, stride, lanes):
                fit = scalar.wrapping(e.dtype.element)
                steps = range(lanes)
                return self.apply(lambda b, s: [fit(b + i * s) for i in steps], (base, stride))
            case prim.Broadcast(value, lanes):
                if value.dtype.lanes > 1:
                    return self.apply(lambda x: x * lanes, (value,))
                return self.apply(lambda x: [x] * lanes, (value,))
        return self.shuffle(e)

    def shuffle(self, e: prim.Shuffle) -> Run:
        parts = [(self.compile(v), v.dtype.lanes == 1) for v in e.vectors]
        places = [self.place(i) for i in e.indices]

        def run(f: Frame) -> Any:
            joined: list[Any] = []
            for part, single in parts:
                joined.extend([part(f)] if single else part(f))
            return joined[places[0]] if len(places) == 1 else [joined[i] for i in places]

        return run

    def place(self, index: prim.PrimExpr) -> int:
        if not isinstance(index, prim.IntImm):
            raise tir_errors.invalid("RX0503", "a Shuffle takes constant indices", index.span)
        return index.value

    # ------------------------------------------------------------ memory

    def buffer(self, buffer: tir.Buffer, span: Span | None) -> int:
        """The place of the array of a buffer."""
        slot = self.scope.find(buffer)
        if slot is None:
            raise tir_errors.undefined("buffer", buffer.name, span)
        return slot

    def load(self, e: prim.BufferLoad) -> Run:
        tir_errors.check_rank(e.buffer, e.indices, e.span)
        slot = self.buffer(e.buffer, e.span)
        indices = [self.compile(i) for i in e.indices]
        read = reader(e.buffer, e.span)
        if e.dtype.lanes == 1:
            return _scalar_load(slot, indices, read)
        lanes = e.dtype.lanes
        mask = None if e.predicate is None else self.compile(e.predicate)
        zero = 0.0 if e.dtype.is_float else 0

        def run(f: Frame) -> list[Any]:
            array = f[slot]
            places = positions([i(f) for i in indices], lanes)
            on = [True] * lanes if mask is None else mask(f)
            return [read(array, place) if p else zero for p, place in zip(on, places, strict=True)]

        return run

    # ------------------------------------------------------------ calls

    def call(self, e: prim.Call) -> Run:
        if isinstance(e.op, GlobalVar):
            return self.call_function(e, e.op)
        row = table.lookup(e.op)
        if row is None or not row.compiled:
            name = row.script_name if row else getattr(e.op, "name", "")
            raise tir_errors.no_code(name, "evaluated on the CPU", e.span)
        tir_errors.check_arity(e, row)
        if row.script_name in EXTERNAL:
            return self.external(e, row.script_name)
        same = meaning(e)
        if same is not None:
            return self.compile(same)
        if row.script_name in LOW_LEVEL:
            raise tir_errors.misused(row, e)
        match row.name:
            case "tir.if_then_else":
                return self.if_then_else(*e.args)
            case "tir.likely" | "tir.tvm_thread_invariant" | "tir.assume":
                return self.compile(e.args[0])
            case "tir.reinterpret" if "handle" not in (e.dtype.kind, e.args[0].dtype.kind):
                return self.apply(scalar.reinterpret(e.args[0].dtype, e.dtype), e.args)
            case "tir.ret":
                return self.returning(e.args[0])
        return self.intrinsic(e, row)

    def external(self, e: prim.Call, name: str) -> Run:
        """A call of a C function, or an address; only bodies of functions have them."""
        raise tir_errors.invalid("RX0505", f"`{name}` has no meaning in a dimension", e.span)

    def intrinsic(self, e: prim.Call, row: table.Intrinsic) -> Run:
        if row.name != "tir.ldexp":
            tir_errors.check_operands(e, e.args)
        dtype = e.args[0].dtype
        operation = scalar.intrinsic(row.name, dtype.element)
        if operation is None:
            message = f"`{row.script_name}` takes {row.takes}, not {dtype}"
            raise tir_errors.invalid("RX0502", message, e.span)
        return self.apply(operation, e.args, dtype.lanes)

    def if_then_else(self, cond: prim.PrimExpr, t: prim.PrimExpr, f: prim.PrimExpr) -> Run:
        tir_errors.check_operands(cond, (t, f))
        if cond.dtype.lanes > 1:
            return self.apply(lambda c, x, y: x if c else y, (cond, t, f), cond.dtype.lanes)
        condition, yes, no = self.compile(cond), self.compile(t), self.compile(f)
        return lambda frame: yes(frame) if condition(frame) else no(frame)

    def returning(self, value: prim.PrimExpr) -> Run:
        run = self.compile(value)

        def leave(f: Frame) -> Any:
            raise Returned(run(f))

        return leave

    def call_function(self, e: prim.Call, function: GlobalVar) -> Run:
        args = [self.compile(arg) for arg in e.args]
        span, dtype = e.span, e.dtype

        def call(f: Frame) -> Any:
            return f[0](function, [arg(f) for arg in args], span)

        def number(f: Frame) -> Any:
            value = call(f)
            if value is None:
                raise tir_errors.unreturned(function.name_hint, dtype, span)
            return value

        return call if dtype.kind in ("void", "handle") else number


_RING: dict[type[prim.Binary], Callable[[Any, Any], Any]] = {
    prim.Add: operator.add, prim.Sub: operator.sub, prim.Mul: operator.mul,
}  # fmt: skip
_DIVISIONS = (prim.Div, prim.Mod, prim.FloorDiv, prim.FloorMod)


def positions(indices: Sequence[Any], lanes: int) -> list[tuple[int, ...]]:
    """The indices of each lane; an index that is a scalar is that of all lanes."""
    columns = [i if isinstance(i, list) else [i] * lanes for i in indices]
    return list(zip(*columns, strict=True))


def outside(
    buffer: tir.Buffer, array: np.ndarray[Any, Any], place: Sequence[int], span: Span | None
) -> VMError:
    """The error for a place that is not in the array."""
    axis = next(
        k for k, (i, n) in enumerate(zip(place, array.shape, strict=True)) if not 0 <= i < n
    )
    return tir_errors.out_of_bounds(buffer.name, axis, place[axis], array.shape[axis], span)


def require_inside(
    buffer: tir.Buffer, array: np.ndarray[Any, Any], place: Sequence[int], span: Span | None
) -> None:
    """Raise unless a place is in the array."""
    if not all(0 <= i < n for i, n in zip(place, array.shape, strict=True)):
        raise outside(buffer, array, place, span)


def number_reader(dtype: DataType) -> Callable[[Any], Any] | None:
    """What makes a number of `array.item(...)`, or None when it is one already."""
    if dtype.is_float:
        return None if dtype in ("float16", "float32", "float64") else float
    return int if dtype.bits < 8 and not dtype.is_bool else None


def reader(buffer: tir.Buffer, span: Span | None) -> Callable[[Any, tuple[int, ...]], Any]:
    """The function that reads one element of the array of a buffer, checking its bounds."""
    convert = number_reader(buffer.dtype)

    def read(array: Any, place: tuple[int, ...]) -> Any:
        if place and min(place) < 0:
            raise outside(buffer, array, place, span)
        try:
            value = array.item(*place)
        except (IndexError, OverflowError):
            raise outside(buffer, array, place, span) from None
        return value if convert is None else convert(value)

    return read


def writer(buffer: tir.Buffer, span: Span | None) -> Callable[[Any, tuple[int, ...], Any], None]:
    """The function that writes one element of the array of a buffer, checking its bounds."""

    def write(array: Any, place: tuple[int, ...], value: Any) -> None:
        if place and min(place) < 0:
            raise outside(buffer, array, place, span)
        try:
            array[place] = value
        except (IndexError, OverflowError):
            raise outside(buffer, array, place, span) from None

    return write


def _scalar_load(slot: int, indices: list[Run], read: Callable[[Any, tuple[int, ...]], Any]) -> Run:
    match indices:
        case [a]:
            return lambda f: read(f[slot], (a(f),))
        case [a, b]:
            return lambda f: read(f[slot], (a(f), b(f)))
    return lambda f: read(f[slot], tuple([i(f) for i in indices]))
