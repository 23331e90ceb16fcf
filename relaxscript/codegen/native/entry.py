"""The text of an entry: the code behind a built-in function that follows an `EntryPlan`.

    ptr entry(ptr self, ptr args, i64 count, ptr names)

It tests the arguments, makes the results, calls the kernel and returns. It takes arrays of numpy
itself, compact and aligned, of exactly the dtype and shape that are wanted. Those that are written
must be writeable. All else goes the slow way before anything has happened: the machine converts the
arguments, or says what is wrong with them. So both ways take and refuse the same. A kernel that
fails is explained by Python.

Arithmetic of dimensions that leaves 64 bits goes the slow way as well: there it has no bounds.

Nothing in the text depends on the process: objects and functions are external symbols.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from relaxscript.codegen.llvm.ir_writer import DETAILS, FailureSites, FunctionWriter, Value
from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.semantics import scalar
from relaxscript.semantics.prim_func_abi import Extent, ScalarParam

from .builtin import ALIGNED_COMPACT, DATA, WRITEABLE
from .plan import ArrayFacts, EntryPlan, Given, Literal, Made, Number, Returned, Tensor
from .support import IS_CONSTANT, IS_KNOWN, IS_NEW

__all__ = ["Unwritable", "write_entry"]

# Above so many bytes of arguments and results Python's lock is released. A core goes through 10
# bytes in a nanosecond, or fewer: this is work of about 20 microseconds or more. Letting other
# threads run costs 0.05 microseconds where there are none. Where there are, they are let wait for
# a time that is short beside the 5 milliseconds after which Python itself switches threads.
GRAIN = 200_000


_EXACT: Mapping[str, Callable[[int, int], int]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul,
}  # fmt: skip


class Unwritable(Exception):
    """A dimension is computed in a way for which there is no text."""


def write_entry(plan: EntryPlan, symbol: str, sites: FailureSites) -> str:
    """The function `symbol`; what it refers to is declared in `sites`.

    Raises `Unwritable` where the plan cannot be followed by code.
    """
    return _EntryWriter(plan, symbol, sites).write()


class _EntryWriter:
    """Writes one entry, in the order in which it runs."""

    def __init__(self, plan: EntryPlan, symbol: str, sites: FailureSites) -> None:
        self.plan = plan
        self.symbol = symbol
        self.asm = FunctionWriter(sites)
        self.room: list[str] = []  # what the function has on its stack
        self.values: dict[prim.Var, Value] = {}
        self.doubts: list[Value] = []  # conditions that must not hold, not yet tested
        self.data: dict[Tensor, Value] = {}
        self.shapes: dict[Tensor, list[Value]] = {}
        self.objects: dict[Tensor, Value] = {}
        self.sizes: list[Value] = []  # of the results, in bytes
        signature = plan.kernel.signature
        self.written = {plan.operands[i] for i in signature.written}

    # ------------------------------------------------------------ the whole

    def write(self) -> str:
        plan = self.plan
        self.take_arguments()
        for index, facts in enumerate(plan.params):
            self.shape_of_argument(Given(index), facts)
        for index, facts in enumerate(plan.made):
            self.shapes[Made(index)] = [self.dimension(e) for e in facts.shape]
        for index, data in enumerate(plan.constants):
            self.shapes[Literal(index)] = [_i64(size) for size in data.shape]
            self.data[Literal(index)] = self.symbol_value(f"{self.symbol}.constant.{index}")
        self.sizes = [self.size(index, facts) for index, facts in enumerate(plan.made)]
        passed = self.kernel_arguments()
        self.settle()
        for index, facts in enumerate(plan.made):
            self.make(index, facts)
        self.call_kernel(passed)
        self.finish()
        return self.text()

    def text(self) -> str:
        given = "ptr %self, ptr %args, i64 %count, ptr %names"
        header = f"define ptr @{self.symbol}({given}) nounwind"
        self.declare("relaxscript_slowly", "ptr", "ptr, ptr, i64, ptr")
        return "\n".join([
            f"{header} {{", "entry:", *(f"  {line}" for line in self.room), "  br label %start",
            "start:", *self.asm.lines, "slow:",
            f"  %answer = call ptr @relaxscript_slowly({given})", "  ret ptr %answer", "}",
        ])  # fmt: skip

    # ------------------------------------------------------------ tests

    def require(self, condition: Value) -> None:
        """Go the slow way unless the condition holds."""
        ahead = self.asm.name()
        self.asm.branch(condition, ahead, "slow")
        self.asm.begin(ahead)

    def settle(self) -> None:
        """Go the slow way where one of the doubts holds."""
        if self.doubts:
            found = self.doubts[0]
            for doubt in self.doubts[1:]:
                found = self.asm.operation("or", found, doubt)
            self.doubts = []
            ahead = self.asm.name()
            self.asm.branch(found, "slow", ahead)
            self.asm.begin(ahead)

    def doubt(self, predicate: str, a: Value, b: Value) -> None:
        """Go the slow way, soon, where a comparison holds."""
        if a == b and predicate == "icmp ne":
            return
        self.doubts.append(self.asm.compare(predicate, a, b))

    def take_arguments(self) -> None:
        """Test the arguments by a table (`support.py`); where they fit, dimensions are known."""
        asm, plan = self.asm, self.plan
        words, slots = [f"i64 {len(plan.params)}"], list[tuple[Given, int]]()
        first: dict[prim.Var, int] = {}
        for index, facts in enumerate(plan.params):
            tensor = Given(index)
            flags = ALIGNED_COMPACT | (WRITEABLE if tensor in self.written else 0)
            words.append(f"i64 ptrtoint ({self.dtype(facts.dtype)} to i64)")
            words += [f"i64 {flags}", f"i64 {len(facts.shape)}"]
            for axis, size in enumerate(facts.shape):
                if isinstance(size, prim.IntImm):
                    words += [f"i64 {IS_CONSTANT}", f"i64 {size.value}"]
                elif isinstance(size, prim.Var) and size in first:
                    words += [f"i64 {IS_KNOWN}", f"i64 {first[size]}"]
                else:
                    if isinstance(size, prim.Var):
                        first[size] = len(slots)
                    words += [f"i64 {IS_NEW}", f"i64 {len(slots)}"]
                    slots.append((tensor, axis))
        table = f"{self.symbol}.table"
        content = f"[{len(words)} x i64] [{', '.join(words)}]"
        asm.sites.declare(table, f"@{table} = private constant {content}")
        self.room.append(f"%data = alloca [{max(len(plan.params), 1)} x ptr]")
        self.room.append(f"%sizes = alloca [{max(len(slots), 1)} x i64]")
        self.declare("relaxscript_take", "i1", "ptr, i64, ptr, ptr, ptr, ptr")
        given = f"ptr %args, i64 %count, ptr %names, ptr @{table}, ptr %data, ptr %sizes"
        self.require(asm.value("i1", f"call i1 @relaxscript_take({given})"))
        taken = {place: self.word("%sizes", i, "i64") for i, place in enumerate(slots)}
        self.values = {var: taken[slots[slot]] for var, slot in first.items()}
        used = {operand for operand in plan.operands if isinstance(operand, Given)}
        for index, facts in enumerate(plan.params):
            tensor = Given(index)
            if tensor in used:
                self.data[tensor] = self.word("%data", index, "ptr")
            if tensor in _leaves(plan.returned):
                self.objects[tensor] = self.word("%args", index, "ptr")
            self.shapes[tensor] = [
                taken.get((tensor, axis)) or self.integer(size, self.values)
                for axis, size in enumerate(facts.shape)
            ]

    def word(self, array: str, index: int, type_: str) -> Value:
        """An element of an array of addresses or numbers."""
        place = self.asm.value("ptr", f"getelementptr i64, ptr {array}, i64 {index}")
        return self.asm.value(type_, f"load {type_}, {place}")

    def shape_of_argument(self, tensor: Given, facts: ArrayFacts) -> None:
        for size, expected in zip(self.shapes[tensor], facts.shape, strict=True):
            self.doubt("icmp ne", size, self.integer(expected, self.values))

    def dimension(self, e: prim.PrimExpr) -> Value:
        """A dimension of a result, which is not negative."""
        found = self.integer(e, self.values)
        if not isinstance(e, (prim.Var, prim.IntImm)) or found.text.startswith("-"):
            self.doubt("icmp slt", found, _i64(0))
        return found

    # ------------------------------------------------------------ arithmetic

    def integer(self, e: prim.PrimExpr, values: Mapping[prim.Var, Value]) -> Value:
        """The value of an expression of integers; the slow way where 64 bits are too few for it."""
        match e:
            case prim.IntImm(value=value) if e.dtype.is_integer and e.dtype != "uint64":
                return _i64(value)
            case prim.Var() if e in values:
                return values[e]
            case prim.Binary(a, b) if e.dtype.is_integer and e.dtype != "uint64":
                x, y = self.integer(a, values), self.integer(b, values)
                found = self.binary(e, x, y)
                self.limit(found, e.dtype)
                return found
        raise Unwritable

    def binary(self, e: prim.Binary, x: Value, y: Value) -> Value:
        asm = self.asm
        match e:
            case prim.Add() | prim.Sub() | prim.Mul():
                name = {prim.Add: "add", prim.Sub: "sub", prim.Mul: "mul"}[type(e)]
                return self.exact(name, x, y)
            case prim.Min() | prim.Max():
                predicate = "icmp slt" if isinstance(e, prim.Min) else "icmp sgt"
                return asm.choose(asm.compare(predicate, x, y), x, y)
            case (
                prim.FloorDiv(b=prim.IntImm(value=by)) | prim.FloorMod(b=prim.IntImm(value=by))
            ) if by > 0:
                rest = asm.operation("srem", x, y)
                below = asm.compare("icmp slt", rest, _i64(0))
                if isinstance(e, prim.FloorMod):
                    return asm.choose(below, asm.operation("add", rest, y), rest)
                one = asm.convert("zext", below, "i64")
                return asm.operation("sub", asm.operation("sdiv", x, y), one)
        raise Unwritable

    def exact(self, name: str, x: Value, y: Value) -> Value:
        """A sum, difference or product; the slow way where it has more than 64 bits."""
        if not x.text.startswith("%") and not y.text.startswith("%"):
            found = _EXACT[name](int(x.text), int(y.text))
            if -(1 << 63) <= found < 1 << 63:
                return _i64(found)
        made, wraps = self.asm.overflowing(f"s{name}", x, y)
        self.doubts.append(wraps)
        return made

    def limit(self, value: Value, dtype: DataType) -> None:
        """Go the slow way for a number that is none of a narrow type."""
        if dtype.bits < 64 and value.text.startswith("%"):
            low, high = scalar.limits(dtype)
            self.doubt("icmp slt", value, _i64(int(low)))
            self.doubt("icmp sgt", value, _i64(int(high)))

    # ------------------------------------------------------------ the kernel

    def kernel_arguments(self) -> list[Tensor | Value]:
        """The operands of the kernel after the details: tensors, numbers, then its variables."""
        plan, signature = self.plan, self.plan.kernel.signature
        values: dict[prim.Var, Value] = {}
        passed: list[Tensor | Value] = []
        for param, operand in zip(signature.params, plan.operands, strict=True):
            if isinstance(operand, Number):
                assert isinstance(param, ScalarParam)
                number = self.integer(operand.value, self.values)
                self.limit(number, param.var.dtype)
                values[param.var] = number
                passed.append(number)
            else:
                passed.append(operand)
        for var, source in zip(signature.variables, signature.sources, strict=True):
            values[var] = self.extent(source)
            self.limit(values[var], var.dtype)
            passed.append(values[var])
        for check in signature.checks:
            self.doubt("icmp ne", self.extent(check), self.integer(check.expected, values))
        return passed

    def extent(self, extent: Extent) -> Value:
        """A dimension of what is passed; what is compact has no offset."""
        operand = self.plan.operands[extent.param]
        if extent.kind == "dimension" and not isinstance(operand, Number):
            return self.shapes[operand][extent.axis]
        return _i64(0)

    def call_kernel(self, passed: Sequence[Tensor | Value]) -> None:
        asm = self.asm
        self.room.append(f"%details = alloca [{DETAILS} x i64]")
        given = [p if isinstance(p, Value) else self.data[p] for p in passed]
        operands = [Value("ptr", "%details"), *given]
        name = f"{self.symbol}.kernel"
        self.declare(name, "i32", ", ".join(operand.type for operand in operands))
        call = f"call i32 @{name}({', '.join(map(str, operands))})"
        size = self.bytes()
        if isinstance(size, int) and size <= GRAIN:
            self.explain(asm.value("i32", call))
            return
        large = Value("i1", "1")
        if not isinstance(size, int):
            large = asm.compare("fcmp ogt", size, Value("double", f"{GRAIN:.1f}"))
        self.declare("relaxscript_unlock", "ptr", "i1")
        self.declare("relaxscript_lock", "void", "ptr")
        thread = asm.value("ptr", f"call ptr @relaxscript_unlock({large})")
        status = asm.value("i32", call)
        asm.do(f"call void @relaxscript_lock({thread})")
        self.explain(status)

    def bytes(self) -> int | Value:
        """The number of bytes of all tensors, as a double where it is not known."""
        known, found = 0, None
        for tensor in dict.fromkeys(p for p in self.plan.operands if not isinstance(p, Number)):
            itemsize, sizes = self.plan.facts(tensor).dtype.itemsize, self.shapes[tensor]
            if not any(size.text.startswith("%") for size in sizes):
                known += itemsize * math.prod(int(size.text) for size in sizes)
                continue
            size = Value("double", f"{itemsize:.1f}")
            for one in sizes:
                size = self.asm.operation("fmul", size, self.asm.convert("sitofp", one, "double"))
            found = size if found is None else self.asm.operation("fadd", found, size)
        if found is None:
            return known
        return self.asm.operation("fadd", found, Value("double", f"{known:.1f}"))

    def explain(self, status: Value) -> None:
        """The end of a call whose kernel fails.

        The machine runs the same again and says what is wrong, also of the source before it was
        optimised. What was written into arguments must not be written twice: it stays as it is.
        """
        asm = self.asm
        failed, ahead = asm.name(), asm.name()
        asm.branch(asm.compare("icmp ne", status, Value("i32", "0")), failed, ahead)
        asm.begin(failed)
        self.drop(len(self.plan.made))
        if any(isinstance(operand, Given) for operand in self.written):
            self.declare("relaxscript_failed", "ptr", "ptr, i32, ptr")
            call = f"call ptr @relaxscript_failed(ptr %self, {status}, ptr %details)"
            asm.do(f"ret {asm.value('ptr', call)}")
        else:
            asm.jump("slow")
        asm.begin(ahead)

    # ------------------------------------------------------------ results

    def make(self, index: int, facts: ArrayFacts) -> None:
        """A new array, of zeros where the kernel leaves elements; the slow way says what fails."""
        asm, tensor = self.asm, Made(index)
        sizes = self.shapes[tensor]
        dims = self.row(f"dims.{index}", sizes)
        self.declare("relaxscript_result", "ptr", "ptr, i32, ptr, i64, i1")
        dtype, bytes_ = self.dtype(facts.dtype), self.sizes[index]
        zeros = int(tensor not in self.plan.filled)
        given = f"{dtype}, i32 {len(sizes)}, {dims}, {bytes_}, i1 {zeros}"
        made = asm.value("ptr", f"call ptr @relaxscript_result({given})")
        failed, ahead = asm.name(), asm.name()
        asm.branch(asm.compare("icmp eq", made, Value("ptr", "null")), failed, ahead)
        asm.begin(failed)
        self.drop(index)
        self.declare("relaxscript_no_memory", "i1", "")
        other = asm.name()
        asm.branch(asm.value("i1", "call i1 @relaxscript_no_memory()"), "slow", other)
        asm.begin(other)
        asm.do("ret ptr null")
        asm.begin(ahead)
        self.objects[tensor], self.data[tensor] = made, self.field(made, DATA, "ptr")

    def row(self, name: str, sizes: Sequence[Value]) -> Value:
        """The address of some numbers in a row: a constant where they are."""
        if not sizes:
            return Value("ptr", "null")
        content = ", ".join(map(str, sizes))
        if "%" not in content:
            symbol = f"{self.symbol}.{name}"
            text = f"@{symbol} = private constant [{len(sizes)} x i64] [{content}]"
            self.asm.sites.declare(symbol, text)
            return Value("ptr", f"@{symbol}")
        self.room.append(f"%{name} = alloca [{len(sizes)} x i64]")
        for axis, size in enumerate(sizes):
            place = self.asm.value("ptr", f"getelementptr i64, ptr %{name}, i64 {axis}")
            self.asm.do(f"store {size}, {place}")
        return Value("ptr", f"%{name}")

    def size(self, index: int, facts: ArrayFacts) -> Value:
        """The number of bytes of a result."""
        size = _i64(facts.dtype.itemsize)
        for one in self.shapes[Made(index)]:
            size = self.exact("mul", size, one)
        return size

    def drop(self, count: int) -> None:
        """Let go of the first results."""
        for index in range(count):
            self.release(self.objects[Made(index)])

    def finish(self) -> None:
        """Return what is to be returned, and let go of what is not."""
        returned = self.plan.returned
        tuples = self.empty_tuples(returned)
        leaves = list(_leaves(returned))
        for index in range(len(self.plan.made)):
            if Made(index) not in leaves:
                self.release(self.objects[Made(index)])
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, Given) or leaf in leaves[:i]:
                self.reference(self.objects[leaf])
        self.asm.do(f"ret {self.fill(returned, iter(tuples))}")

    def empty_tuples(self, returned: Returned) -> list[Value]:
        """A tuple for each that is returned; without memory for them Python says so."""
        asm, made = self.asm, list[Value]()
        for fields in _tuples(returned):
            self.declare("PyTuple_New", "ptr", "i64")
            new = asm.value("ptr", f"call ptr @PyTuple_New(i64 {len(fields)})")
            failed, ahead = asm.name(), asm.name()
            asm.branch(asm.compare("icmp eq", new, Value("ptr", "null")), failed, ahead)
            asm.begin(failed)
            self.drop(len(self.plan.made))
            for before in made:
                self.release(before)
            asm.do("ret ptr null")
            asm.begin(ahead)
            made.append(new)
        return made

    def fill(self, returned: Returned, tuples: Iterator[Value]) -> Value:
        """The value that is returned; its references are in the tuples."""
        if not isinstance(returned, tuple):
            return self.objects[returned]
        here = next(tuples)
        self.declare("PyTuple_SetItem", "i32", "ptr, i64, ptr")
        for i, field in enumerate(returned):
            value = self.fill(field, tuples)
            self.asm.do(f"call i32 @PyTuple_SetItem({here}, i64 {i}, {value})")
        return here

    # ------------------------------------------------------------ words of the text

    def field(self, thing: Value, offset: int, type_: str) -> Value:
        place = self.asm.value("ptr", f"getelementptr i8, {thing}, i64 {offset}")
        return self.asm.value(type_, f"load {type_}, {place}")

    def reference(self, thing: Value) -> None:
        self.declare("Py_IncRef", "void", "ptr")
        self.asm.do(f"call void @Py_IncRef({thing})")

    def release(self, thing: Value) -> None:
        self.declare("Py_DecRef", "void", "ptr")
        self.asm.do(f"call void @Py_DecRef({thing})")

    def dtype(self, dtype: DataType) -> Value:
        return self.symbol_value(f"relaxscript.dtype.{dtype}")

    def symbol_value(self, name: str) -> Value:
        """The address that a symbol stands for."""
        self.asm.sites.declare(name, f"@{name} = external global i8")
        return Value("ptr", f"@{name}")

    def declare(self, name: str, result: str, params: str) -> None:
        self.asm.sites.declare(name, f"declare {result} @{name}({params})")


def _i64(value: int) -> Value:
    return Value("i64", str(value))


def _leaves(returned: Any) -> Iterator[Given | Made]:
    if isinstance(returned, tuple):
        for field in returned:
            yield from _leaves(field)
    else:
        yield returned


def _tuples(returned: Any) -> Iterator[tuple[Any, ...]]:
    """The tuples of a value, outer ones before those inside of them."""
    if isinstance(returned, tuple):
        yield returned
        for field in returned:
            yield from _tuples(field)
