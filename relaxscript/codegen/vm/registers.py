"""Register allocation: a register is used again when nothing needs its value any more.

So a long function keeps alive only the tensors that it still reads. Variables own the register that
holds their value; whatever else a binding needed is free when the binding is done.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Container, Iterable, Iterator

from relaxscript.ir import relax
from relaxscript.ir.struct_info import ShapeStructInfo
from relaxscript.ir.walk import compounds, mentioned
from relaxscript.runtime.builtins import MAKE_CLOSURE
from relaxscript.runtime.bytecode import Arg, ArgKind

__all__ = ["Registers", "VariableRange", "VariableRanges", "last_uses"]


class Registers:
    """The registers of one function."""

    def __init__(self) -> None:
        self.count = 0
        self._free: list[int] = []
        self._owners: Counter[int] = Counter()
        self._pinned: set[int] = set()
        self._recent: set[int] = set()

    def take(self) -> int:
        """A register that nothing needs."""
        if self._free:
            number = heapq.heappop(self._free)
        else:
            number, self.count = self.count, self.count + 1
        self._recent.add(number)
        return number

    def own(self, number: int) -> None:
        """A variable more is held by a register."""
        self._owners[number] += 1

    def pin(self, numbers: Iterable[int]) -> None:
        """These registers are needed up to the end of the function."""
        self._pinned.update(numbers)

    def disown(self, number: int) -> bool:
        """A variable that a register holds is not needed any more; whether it was the last one."""
        self._owners[number] -= 1
        return self._owners[number] <= 0

    def is_free(self, number: int) -> bool:
        """True if no variable and nothing up to the end of the function needs a register."""
        return self._owners[number] <= 0 and number not in self._pinned

    def begin(self) -> set[int]:
        """Start a binding; `finish` takes what this gives."""
        outer, self._recent = self._recent, set()
        return outer

    def finish(self, outer: set[int], dead: Iterable[int] = ()) -> list[int]:
        """End a binding: what it took and no variable owns is free, and so are `dead` registers.

        Gives the registers that are free from now on.
        """
        taken, freed = self._recent, []
        for number in {*taken, *dead}:
            if self.is_free(number):
                heapq.heappush(self._free, number)
                freed.append(number)
                taken.discard(number)
                outer.discard(number)  # a variable of an earlier binding inside the same one
        self._recent = outer | taken
        return sorted(freed)


class VariableRange:
    """The live range of a variable: `arg` has its value from `start` up to `stop` or the end."""

    __slots__ = ("arg", "name", "start", "stop")

    def __init__(self, name: str, arg: Arg, start: int) -> None:
        self.name = name
        self.arg = arg
        self.start = start
        self.stop: int | None = None


class VariableRanges:
    """The live ranges of the variables of one function, for whoever looks at a run.

    A value can be seen until its register is taken for another, also when nothing needs it.
    """

    def __init__(self) -> None:
        self.all: list[VariableRange] = []
        self._held: dict[
            int, list[VariableRange]
        ] = {}  # by register, those that may still be there

    def begin(self, name: str, arg: Arg, position: int) -> VariableRange:
        """A variable has its value from instruction `position` on."""
        place = VariableRange(name, arg, position)
        self.all.append(place)
        if arg.kind is ArgKind.REGISTER:
            self._held.setdefault(arg.value, []).append(place)
        return place

    def end_all(self, register: int, position: int) -> None:
        """Instruction `position`, or one after it, writes into a register."""
        for place in self._held.pop(register, ()):
            self.end(place, position + 1)

    def end(self, place: VariableRange, position: int) -> None:
        """A variable is not there any more when instruction `position` begins."""
        if place.stop is None:
            place.stop = position


def last_uses(seq: relax.SeqExpr) -> list[list[relax.Var]]:
    """For each binding of `seq`, the variables bound in `seq` that nothing after it mentions.

    Variables that hold shapes are left out, since checks may refer to them at any place. A call of
    a function that was a local one mentions its closure: in the source it is a call of that.
    """
    bindings = [binding for block in seq.blocks for binding in block.bindings]
    last: dict[relax.Var, int] = {}
    closures: dict[str, relax.Var] = {}  # by the names of their functions
    for index, binding in enumerate(bindings):
        last[binding.var] = index
        for var in mentioned(binding.value):
            last[var] = index
        match binding.value:
            case relax.Call(op=relax.ExternFunc(symbol), args=(relax.GlobalVar(name), *_)):
                if symbol == MAKE_CLOSURE:
                    closures[name] = binding.var
        if closures:
            last.update((closures[name], index) for name in _callees(binding.value, closures))
    kept = set(mentioned(seq.body))
    dying: list[list[relax.Var]] = [[] for _ in bindings]
    for binding in bindings:
        var = binding.var
        if var not in kept and not isinstance(var.struct_info, ShapeStructInfo):
            dying[last[var]].append(var)
    return dying


def _callees(expr: relax.Expr, names: Container[str]) -> Iterator[str]:
    """The functions with one of these names that an expression calls."""
    for node in compounds(expr):
        match node:
            case relax.Call(op=relax.GlobalVar(name)) if name in names:
                yield name
