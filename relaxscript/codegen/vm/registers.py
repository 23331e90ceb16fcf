"""Which registers of a function are free: one is used again when nothing needs its value any more.

So a long function keeps alive only the tensors that it still reads. Variables own the register that
holds their value; whatever else a binding needed is free when the binding is done.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from relaxscript.ir import relax
from relaxscript.ir.struct_info import ShapeStructInfo
from relaxscript.ir.walk import variables
from relaxscript.runtime.bytecode import Arg, ArgKind, Variable

__all__ = ["Places", "Registers", "last_uses"]


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

    def disown(self, number: int) -> None:
        """A variable that a register holds is not needed any more."""
        self._owners[number] -= 1

    def is_free(self, number: int) -> bool:
        """Whether no variable and nothing up to the end of the function needs a register."""
        return self._owners[number] <= 0 and number not in self._pinned

    def begin(self) -> set[int]:
        """Start a binding; `finish` takes what this gives."""
        outer, self._recent = self._recent, set()
        return outer

    def finish(self, outer: set[int], dead: Iterable[int] = ()) -> None:
        """End a binding: what it took and no variable owns is free, and so are `dead` registers."""
        taken = self._recent
        for number in {*taken, *dead}:
            if self.is_free(number):
                heapq.heappush(self._free, number)
                taken.discard(number)
        self._recent = outer | taken


class Places:
    """Where the values of a function's variables are, for whoever looks at a run.

    A value can be seen until its register is taken for another, also when nothing needs it.
    """

    def __init__(self) -> None:
        self.found: list[Variable] = []
        self._open: dict[Arg, dict[Variable, None]] = {}

    def bound(self, name: str, arg: Arg, position: int) -> Variable:
        """A variable has its value from instruction `position` on."""
        variable = Variable(name, arg, position, position)
        self._open.setdefault(arg, {})[variable] = None
        return variable

    def taken(self, register: int, position: int) -> None:
        """Instruction `position`, or one after it, writes into a register."""
        for variable in list(self._open.get(Arg(ArgKind.REGISTER, register), ())):
            self.leave(variable, position + 1)

    def leave(self, variable: Variable, position: int) -> None:
        """A variable is not there any more when instruction `position` begins."""
        if variable in self._open.get(variable.arg, ()):
            del self._open[variable.arg][variable]
            self.found.append(replace(variable, stop=position))

    def all(self, end: int) -> list[Variable]:
        """All variables, those that are there to the end included."""
        for variable in [variable for held in self._open.values() for variable in held]:
            self.leave(variable, end)
        return sorted(self.found, key=lambda variable: variable.start)


def last_uses(seq: relax.SeqExpr) -> list[list[relax.Var]]:
    """For each binding of `seq`, the variables bound in `seq` that nothing after it mentions.

    Variables that hold shapes are left out, since checks may refer to them at any place.
    """
    bindings = [binding for block in seq.blocks for binding in block.bindings]
    last: dict[relax.Var, int] = {}
    for index, binding in enumerate(bindings):
        last[binding.var] = index
        for var in _mentioned(binding.value):
            last[var] = index
    kept = set(_mentioned(seq.body))
    dying: list[list[relax.Var]] = [[] for _ in bindings]
    for binding in bindings:
        var = binding.var
        if var not in kept and not isinstance(var.struct_info, ShapeStructInfo):
            dying[last[var]].append(var)
    return dying


def _mentioned(expr: relax.Expr) -> Sequence[relax.Var]:
    match expr:
        case relax.Var():
            return [expr]
        case relax.Call(op=relax.Op(), args=args) if all(isinstance(a, relax.Var) for a in args):
            return args  # type: ignore[return-value]
    return [v for v in variables(expr) if isinstance(v, relax.Var)]
