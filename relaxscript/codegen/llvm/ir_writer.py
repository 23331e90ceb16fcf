"""Writing the text of one LLVM function: values, blocks, failures.

Text is made rather than objects, because it is short and needs nothing of LLVM until it is
compiled. A `FunctionWriter` knows LLVM's syntax and nothing of our nodes but dtypes.

A function returns 0, or the number of the failure that ended it. Failures are numbered over the
whole module by `FailureSites`. Each stores what its message needs into `%details`, an array of
`DETAILS` 64-bit words; the last three are for a returned value and for `interrupts`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from relaxscript.dtypes import DataType

from .small_floats import decoder, encoder
from .types import SMALL_FLOATS, constant, register, storage, suffix

__all__ = ["DETAILS", "NAME", "Explain", "FailureSites", "FunctionWriter", "Value"]

Explain = Callable[[Sequence[int]], BaseException]

# As many as numpy has dimensions, and some more.
DETAILS = 73

# Of a value or of a block, in the text of a function.
NAME = re.compile(r"%([\w.]+)")

PURE = "nounwind willreturn memory(none)"


class Value(NamedTuple):
    """A value of LLVM: its type and its text."""

    type: str
    text: str

    def __str__(self) -> str:
        return f"{self.type} {self.text}"


TRUE, FALSE = Value("i1", "true"), Value("i1", "false")


class FailureSites:
    """The declarations of a module and its failures: status k is explained by the k-th."""

    def __init__(self) -> None:
        self.explanations: list[Explain] = []
        self.declarations: dict[str, str] = {}
        # Symbols that stand for functions of the C library, and how C calls these.
        self.externs: dict[str, str] = {}
        # Symbols that stand for functions of Python, which live as long as the code.
        self.hooks: dict[str, Any] = {}

    def add(self, explain: Explain) -> int:
        """The status of a new way to fail."""
        self.explanations.append(explain)
        return len(self.explanations)

    def declare(self, name: str, text: str) -> None:
        """Add a declaration or a definition to the module, once for each name."""
        self.declarations.setdefault(name, text)


class OpenLoop:
    """A loop that is being written: what is computed before it, and where its lines begin."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.lines: list[str] = []
        self.computed: dict[str, Value] = {}


class FunctionWriter:
    """The text of a function that is being made; `as_written` if LLVM only gives it registers."""

    def __init__(self, sites: FailureSites, as_written: bool = False) -> None:
        self.sites = sites
        self.as_written = as_written
        self.entry: list[str] = ["%status = alloca i32", "store i32 0, ptr %status"]
        self.leave: list[str] = []
        self.lines: list[str] = []
        self.current = "start"
        self._late: list[str] = []
        self._count = 0
        # The types of values, by their names.
        self.types: dict[str, str] = {}
        # The loops around what is being written, and in how many of them each value was made.
        self.loops: list[OpenLoop] = []
        self._depths: dict[str, int] = {}
        # So many of the loops are around a block whose code may become a function of its own.
        self.outer_loops = 0
        # What was computed before in this block, by the text that computes it.
        self._computed: dict[str, Value] = {}

    @property
    def late_lines(self) -> int:
        """The number of lines behind the function's end: those of failures."""
        return len(self._late)

    def rename(self, first: int, names: Mapping[str, str]) -> None:
        """Put other operands into the place of names, in the lines from one on."""

        def other(found: re.Match[str]) -> str:
            return names.get(found[1], found[0])

        self.lines[first:] = [NAME.sub(other, line) for line in self.lines[first:]]
        self._late = [NAME.sub(other, line) for line in self._late]

    # ------------------------------------------------------------ instructions

    def name(self) -> str:
        """A name that is new in this function."""
        self._count += 1
        return f"v{self._count}"

    def do(self, text: str) -> None:
        """An instruction without a value."""
        self.lines.append(f"  {text}")

    def value(self, type_: str, text: str) -> Value:
        """The value, of `type_`, of an instruction.

        What was computed before in the same block is not computed again.
        """
        known = self._computed.get(text)
        if known is not None:
            return known
        name = self.name()
        self.types[name] = type_
        if self.loops:
            self._depths[name] = len(self.loops)
        value = Value(type_, f"%{name}")
        self.lines.append(f"  {value.text} = {text}")
        if text.partition(" ")[0] not in _NOT_AGAIN:
            self._computed[text] = value
        return value

    def depth_of(self, value: Value) -> int:
        """The number of loops in which a value, which is known here, may change."""
        return self._depths.get(value.text[1:], 0)

    def before_loops(self, type_: str, text: str, operands: Sequence[Value]) -> Value:
        """The value of an instruction that may run too often: before loops that do not change it.

        It is one without effects that cannot fail, such as a sum.
        """
        depth = max(self.outer_loops, *map(self.depth_of, operands))
        if depth >= len(self.loops):
            return self.value(type_, text)
        loop = self.loops[depth]
        known = loop.computed.get(text)
        if known is None:
            name = self.name()
            self.types[name], self._depths[name] = type_, depth
            known = loop.computed[text] = Value(type_, f"%{name}")
            loop.lines.append(f"  {known.text} = {text}")
        return known

    def open_loop(self) -> None:
        """Begin a loop, of which the next line is the jump into it."""
        self.loops.append(OpenLoop(len(self.lines)))

    def close_loop(self) -> None:
        """End the innermost loop: what it found to be the same in all rounds is put before it."""
        loop = self.loops.pop()
        self.lines[loop.place : loop.place] = loop.lines

    def in_loop(self, name: str, type_: str) -> Value:
        """A value that has a name already and changes in the innermost loop."""
        self.types[name] = type_
        self._depths[name] = len(self.loops)
        return Value(type_, f"%{name}")

    def operation(self, name: str, a: Value, b: Value, flags: str = "") -> Value:
        """An instruction on two values of one type, or what it gives for two small numbers."""
        found = _folded(name, a, b)
        if found is not None:
            return found
        return self.value(a.type, f"{name}{flags} {a}, {b.text}")

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        """A comparison such as "icmp eq", or what it gives for two numbers."""
        found = _compared(predicate, a, b)
        if found is not None:
            return found
        return self.value(with_element(a.type, "i1"), f"{predicate} {a}, {b.text}")

    def choose(self, condition: Value, a: Value, b: Value) -> Value:
        """`a` where the condition holds, else `b`."""
        return self.value(a.type, f"select {condition}, {a}, {b}")

    def convert(self, name: str, a: Value, target: str) -> Value:
        """A conversion such as "sext" to the element type `target`."""
        type_ = with_element(a.type, target)
        return a if type_ == a.type else self.value(type_, f"{name} {a} to {type_}")

    def number(self, type_: str, value: float) -> Value:
        """A literal; of a vector type, the same in all lanes."""
        element = element_of(type_)
        text = constant(element, value)
        return Value(type_, text if element == type_ else f"splat ({element} {text})")

    def call(
        self, function: str, result: str, args: Sequence[Value], attributes: str = ""
    ) -> Value:
        """The value of a call of a function that is declared once in the module."""
        types = ", ".join(a.type for a in args)
        self.sites.declare(function, f"declare {result} @{function}({types}) {attributes}".rstrip())
        return self.value(result, f"call {result} @{function}({', '.join(map(str, args))})")

    def intrinsic(self, name: str, args: Sequence[Value], result: str | None = None) -> Value:
        """A call of an intrinsic of LLVM that is overloaded in the type of its first operand."""
        kinds = suffix(args[0].type)
        if result is not None:
            kinds = f"{suffix(result)}.{kinds}"
        return self.call(f"llvm.{name}.{kinds}", result or args[0].type, args)

    def overflowing(self, name: str, a: Value, b: Value) -> tuple[Value, Value]:
        """A sum, difference or product such as "sadd", and whether it wraps."""
        found = _folded(name[1:], a, b)
        if found is not None and (name[0] == "s" or found.text[0] != "-"):
            return found, FALSE
        pair = f"{{{a.type}, i1}}"
        both = self.call(f"llvm.{name}.with.overflow.{suffix(a.type)}", pair, [a, b])
        return (
            self.value(a.type, f"extractvalue {both}, 0"),
            self.value("i1", f"extractvalue {both}, 1"),
        )

    # ------------------------------------------------------------ vectors

    def extract(self, vector: Value, lane: int) -> Value:
        """One lane of a vector; a scalar is all of its lanes."""
        if not vector.type.startswith("<"):
            return vector
        return self.value(element_of(vector.type), f"extractelement {vector}, i64 {lane}")

    def join(self, lanes: Sequence[Value]) -> Value:
        """The vector of some scalars; a single one stays a scalar."""
        if len(lanes) == 1:
            return lanes[0]
        type_ = f"<{len(lanes)} x {lanes[0].type}>"
        vector = Value(type_, "poison")
        for i, lane in enumerate(lanes):
            vector = self.value(type_, f"insertelement {vector}, {lane}, i64 {i}")
        return vector

    def shuffle(self, a: Value, b: Value, places: Sequence[int]) -> Value:
        """The lanes at some places of two vectors of one type, one behind the other."""
        indices = ", ".join(f"i32 {place}" for place in places)
        type_ = f"<{len(places)} x {element_of(a.type)}>"
        return self.value(type_, f"shufflevector {a}, {b}, <{len(places)} x i32> <{indices}>")

    def splat(self, scalar: Value, lanes: int) -> Value:
        """The vector of so many copies of a scalar."""
        if lanes == 1:
            return scalar
        type_ = f"<{lanes} x {scalar.type}>"
        if not scalar.text.startswith("%"):
            return Value(type_, f"splat ({scalar})")
        first = self.value(type_, f"insertelement {type_} poison, {scalar}, i64 0")
        places = f"<{lanes} x i32> zeroinitializer"
        return self.value(type_, f"shufflevector {first}, {type_} poison, {places}")

    def any(self, condition: Value) -> Value:
        """True if a condition holds in any lane."""
        if not condition.type.startswith("<"):
            return condition
        return self.call(f"llvm.vector.reduce.or.{suffix(condition.type)}", "i1", [condition])

    # ------------------------------------------------------------ blocks

    def begin(self, label: str) -> None:
        """Go on in the block `label`."""
        self.lines.append(f"{label}:")
        self.current = label
        self._computed = {}

    def jump(self, label: str) -> None:
        self.do(f"br label %{label}")

    def branch(self, condition: Value, yes: str, no: str) -> None:
        if condition == TRUE:
            self.jump(yes)
        else:
            self.do(f"br {condition}, label %{yes}, label %{no}")

    def exit_with(self, status: Value) -> None:
        """End the function; what follows is never reached."""
        self.do(f"store {status}, ptr %status")
        self.jump("exit")
        self.begin(self.name())

    def fail_if(self, condition: Value, explain: Explain, details: Sequence[Value] = ()) -> None:
        """End the function with a failure where the condition holds; `details` are of i64."""
        if condition == FALSE:
            return
        status = self.sites.add(explain)
        failed, ahead = self.name(), self.name()
        self.branch(self.any(condition), failed, ahead)
        self._late.append(f"{failed}:")
        for i, detail in enumerate(details):
            place = f"%{self.name()}"
            self._late.append(f"  {place} = getelementptr i64, ptr %details, i64 {i}")
            self._late.append(f"  store {detail}, ptr {place}")
        self._late += [f"  store i32 {status}, ptr %status", "  br label %exit"]
        # The block ahead is reached from here only: what is computed is known there.
        computed = self._computed
        self.begin(ahead)
        self._computed = computed

    def text_of_expression(self, header: str, result: Value) -> str:
        """The whole of a function that gives a value and cannot fail."""
        return "\n".join([f"{header} {{", "start:", *self.lines, f"  ret {result}", "}"])

    def text(self, header: str) -> str:
        """The whole function."""
        body = [
            f"{header} {{", "entry:", *(f"  {line}" for line in self.entry), "  br label %start",
            "start:", *self.lines, "  br label %exit", *self._late, "exit:",
            *(f"  {line}" for line in self.leave), "  %result = load i32, ptr %status",
            "  ret i32 %result", "}",
        ]  # fmt: skip
        return "\n".join(body)

    # ------------------------------------------------------------ numbers

    def rounded(self, x: Value, dtype: DataType) -> Value:
        """The `float` nearest to `x` that a narrow type represents; others stay as they are."""
        if dtype.bits > 16:
            return x
        match dtype.element:
            case "float16":
                return self.convert("fpext", self.convert("fptrunc", x, "half"), "float")
            case "bfloat16":
                return self._rounded_to_bfloat16(x)
            case small if small in SMALL_FLOATS:
                return self.from_memory(self.to_memory(x, dtype), dtype)
        return x

    def _rounded_to_bfloat16(self, x: Value) -> Value:
        bits = self.convert("bitcast", x, "i32")
        one, half, shift, quiet_bit, high = (
            self.number(bits.type, n) for n in (1, 0x7FFF, 16, 0x400000, -0x10000)
        )
        odd = self.operation("and", self.operation("lshr", bits, shift), one)
        up = self.operation("add", self.operation("add", bits, half), odd)
        quiet = self.operation("or", bits, quiet_bit)
        nearest = self.choose(self.compare("fcmp uno", x, x), quiet, up)
        kept = self.operation("and", nearest, high)
        return self.convert("bitcast", kept, "float")

    def from_memory(self, x: Value, dtype: DataType) -> Value:
        """An element as it is in registers."""
        match dtype.element:
            case "bool":
                return self.compare("icmp ne", x, self.number(x.type, 0))
            case "float16":
                return self.convert("fpext", x, "float")
            case "bfloat16":
                wide = self.convert("zext", x, "i32")
                shifted = self.operation("shl", wide, self.number(wide.type, 16))
                return self.convert("bitcast", shifted, "float")
            case small if small in SMALL_FLOATS:
                return self._each(decoder(dtype.element), "float", x, dtype)
        return x

    def _each(self, function: tuple[str, str], result: str, x: Value, dtype: DataType) -> Value:
        """A function of the module applied to each lane."""
        name, text = function
        self.sites.declare(name, text)
        lanes = [self.extract(x, i) for i in range(dtype.lanes)]
        return self.join([self.call(name, result, [lane]) for lane in lanes])

    def to_memory(self, x: Value, dtype: DataType) -> Value:
        """A value as it is in memory."""
        match dtype.element:
            case "bool":
                return self.convert("zext", x, "i8")
            case "float16":
                return self.convert("fptrunc", x, "half")
            case "bfloat16":
                bits = self.convert("bitcast", x, "i32")
                high = self.operation("lshr", bits, self.number(bits.type, 16))
                return self.convert("trunc", high, "i16")
            case small if small in SMALL_FLOATS:
                return self._each(encoder(dtype.element), "i8", x, dtype)
        return x

    def literal(self, dtype: DataType, value: float) -> Value:
        """A literal of one of our dtypes."""
        return self.number(register(dtype), value)

    def to_i64(self, x: Value, dtype: DataType) -> Value:
        """An integer, or a truth value, as 64 bits."""
        return self.convert("sext" if dtype.kind == "int" else "zext", x, "i64")

    def memory_type(self, dtype: DataType) -> str:
        return storage(dtype)


# What gives another value each time that it runs, or has to stand where it is.
_NOT_AGAIN = frozenset(
    {"load", "call", "phi", "alloca", "freeze", "atomicrmw", "cmpxchg", "va_arg"}
)

# Sums and products of numbers below this stay far from where any of these types wraps around.
_SMALL = 1 << 15
_FOLDED: dict[str, Callable[[int, int], int]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul,
}  # fmt: skip

# What leaves the first operand as it is.
_NEUTRAL = {"add": "0", "sub": "0", "mul": "1"}


def _folded(name: str, a: Value, b: Value) -> Value | None:
    """The literal, or the operand, that an operation of indices gives.

    Only literals tell where a tile lies.
    """
    kind = name.partition(" ")[0]
    compute = _FOLDED.get(kind)
    if compute is None or a.type not in ("i64", "i32"):
        return None
    if b.text == _NEUTRAL[kind]:
        return a
    if a.text == _NEUTRAL[kind] and kind != "sub":
        return b
    if a.text[0] == "%" or b.text[0] == "%":
        return None
    x, y = int(a.text), int(b.text)
    if max(abs(x), abs(y)) >= _SMALL:
        return None
    return Value(a.type, str(compute(x, y)))


_COMPARED: dict[str, Callable[[int, int], bool]] = {
    "icmp eq": operator.eq, "icmp ne": operator.ne, "icmp slt": operator.lt,
    "icmp sle": operator.le, "icmp sgt": operator.gt, "icmp sge": operator.ge,
}  # fmt: skip


def _compared(predicate: str, a: Value, b: Value) -> Value | None:
    """The truth value of a comparison of two literals that are indices."""
    compute = _COMPARED.get(predicate)
    if compute is None or a.type not in ("i64", "i32") or a.text[0] == "%" or b.text[0] == "%":
        return None
    return TRUE if compute(int(a.text), int(b.text)) else FALSE


def element_of(type_: str) -> str:
    """The element type of a vector type; a scalar type is its own."""
    return type_[1:-1].partition(" x ")[2] if type_.startswith("<") else type_


def with_element(type_: str, element: str) -> str:
    """The type with as many lanes as `type_` and another element type."""
    if not type_.startswith("<"):
        return element
    return f"<{type_[1:-1].partition(' x ')[0]} x {element}>"
