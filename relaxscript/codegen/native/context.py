"""The state of an entry that is being written, and the words of its text."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.codegen.llvm.ir_writer import DETAILS, FailureSites, FunctionWriter, Value
from relaxscript.dtypes import DataType
from relaxscript.ir import prim

from .integers import Integers
from .plan import EntryPlan, Tensor

__all__ = ["MEMORY", "RAISE", "SLOW", "EntryContext"]

# The exits of an entry that holds something: an exception that is set goes on, the slow way is
# gone, or one of both, as the exception is.
RAISE, SLOW, MEMORY = "drop.raise", "drop.slow", "drop.memory"


class EntryContext:
    """An entry that is being written: its text so far, and the values that are known by then.

    `values` are those of variables. `data`, `shapes` and `objects` are the addresses of elements,
    the sizes and the arrays of tensors. `alive` are tensors that the entry holds, with their slots.
    """

    def __init__(self, plan: EntryPlan, symbol: str, sites: FailureSites) -> None:
        self.plan = plan
        self.symbol = symbol
        self.asm = FunctionWriter(sites)
        # What the function has on its stack.
        self.room = [f"%details = alloca [{DETAILS} x i64]"]
        self.values: dict[prim.Var, Value] = {}
        self.integers = Integers(self.asm)
        self.data: dict[Tensor, Value] = {}
        self.shapes: dict[Tensor, list[Value]] = {}
        self.objects: dict[Tensor, Value] = {}
        self.alive: dict[Tensor, int] = {}
        # The slots for objects that are held, how many there are and which are free.
        self.slots = 0
        self.words = 0  # of arguments and sizes, on the stack as well
        self.free: list[int] = []
        self.exits: set[str] = set()

    # ------------------------------------------------------------ ways out

    def require(self, condition: Value) -> None:
        """Go the slow way unless the condition holds."""
        ahead = self.asm.name()
        self.asm.branch(condition, ahead, "slow")
        self.asm.begin(ahead)

    def settle(self) -> None:
        """Go the slow way where one of the doubts about integers holds."""
        doubts = self.integers.doubts
        if doubts:
            found = doubts[0]
            for doubt in doubts[1:]:
                found = self.asm.operation("or", found, doubt)
            doubts.clear()
            ahead = self.asm.name()
            self.asm.branch(found, "slow", ahead)
            self.asm.begin(ahead)

    def unless(self, failed: Value, exit_: str) -> None:
        """Leave by an exit where something failed; all that is held is let go of there."""
        self.exits.add(exit_)
        ahead = self.asm.name()
        self.asm.branch(failed, exit_, ahead)
        self.asm.begin(ahead)

    def or_raise(self, made: Value) -> Value:
        """The thing that was made, held from now on; a failure is Python's to tell."""
        self.unless(self.asm.compare("icmp eq", made, Value("ptr", "null")), RAISE)
        self.hold(made)
        return made

    def exit_lines(self) -> list[str]:
        """The exits that are taken, as blocks."""
        lines: list[str] = []
        for exit_ in sorted(self.exits):
            lines.append(f"{exit_}:")
            if self.slots:
                self.declare("relaxscript_drop", "void", "ptr, i64")
                lines.append(f"  call void @relaxscript_drop(ptr %held, i64 {self.slots})")
            if exit_ == MEMORY:
                self.declare("relaxscript_no_memory", "i1", "")
                lines.append("  %forgotten = call i1 @relaxscript_no_memory()")
                lines.append("  br i1 %forgotten, label %slow, label %none")
                lines += ["none:", "  ret ptr null"]
            else:
                lines.append("  ret ptr null" if exit_ == RAISE else "  br label %slow")
        return lines

    def held_lines(self) -> list[str]:
        """The memory for what is held, which is nothing at first."""
        if not self.slots:
            return []
        self.declare("llvm.memset.p0.i64", "void", "ptr, i8, i64, i1")
        return [
            f"%held = alloca [{self.slots} x ptr]",
            f"call void @llvm.memset.p0.i64(ptr %held, i8 0, i64 {8 * self.slots}, i1 false)",
        ]

    # ------------------------------------------------------------ what is held

    def hold(self, thing: Value) -> int:
        """Take over a reference, until `forget` or an exit; gives the slot where it is."""
        slot = self.free.pop() if self.free else self.slots
        self.slots = max(self.slots, slot + 1)
        self.asm.do(f"store {thing}, {self.slot(slot)}")
        return slot

    def forget(self, slot: int) -> None:
        """Hold what is in a slot no more."""
        self.asm.do(f"store ptr null, {self.slot(slot)}")
        self.free.append(slot)

    def slot(self, number: int) -> Value:
        """The place of a slot."""
        return self.asm.value("ptr", f"getelementptr ptr, ptr %held, i64 {number}")

    # ------------------------------------------------------------ words of the text

    def call(self, name: str, result: str, *args: Value) -> Value:
        """The value of a call of a function that is declared once."""
        return self.asm.call(name, result, args)

    def word(self, array: str, index: int, type_: str) -> Value:
        """An element of an array of addresses or numbers."""
        place = self.asm.value("ptr", f"getelementptr i64, ptr {array}, i64 {index}")
        return self.asm.value(type_, f"load {type_}, {place}")

    def field(self, thing: Value, offset: int, type_: str) -> Value:
        """A field of an object."""
        place = self.asm.value("ptr", f"getelementptr i8, {thing}, i64 {offset}")
        return self.asm.value(type_, f"load {type_}, {place}")

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
        self.words += len(sizes)
        for axis, size in enumerate(sizes):
            place = self.asm.value("ptr", f"getelementptr i64, ptr %{name}, i64 {axis}")
            self.asm.do(f"store {size}, {place}")
        return Value("ptr", f"%{name}")

    def reference(self, thing: Value) -> None:
        """One reference more to an object."""
        self.declare("Py_IncRef", "void", "ptr")
        self.asm.do(f"call void @Py_IncRef({thing})")

    def release(self, thing: Value) -> None:
        """One reference less to an object."""
        self.declare("Py_DecRef", "void", "ptr")
        self.asm.do(f"call void @Py_DecRef({thing})")

    def dtype(self, dtype: DataType) -> Value:
        """The dtype object of numpy."""
        return self.symbol_value(f"relaxscript.dtype.{dtype}")

    def symbol_value(self, name: str) -> Value:
        """The address that a symbol stands for."""
        self.asm.sites.declare(name, f"@{name} = external global i8")
        return Value("ptr", f"@{name}")

    def declare(self, name: str, result: str, params: str) -> None:
        """Declare a function, once in a module."""
        self.asm.sites.declare(name, f"declare {result} @{name}({params})")
