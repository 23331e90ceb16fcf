"""Which registers of a function are free: one is used again when nothing needs its value any more.

So a long function keeps alive only the tensors that it still reads. Variables own the register that
holds their value; whatever else a binding needed is free when the binding is done.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence

from relaxscript.ir import relax
from relaxscript.ir.struct_info import ShapeStructInfo
from relaxscript.ir.walk import variables

__all__ = ["Registers", "last_uses"]


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

    def begin(self) -> set[int]:
        """Start a binding; `finish` takes what this gives."""
        outer, self._recent = self._recent, set()
        return outer

    def finish(self, outer: set[int], dead: Iterable[int] = ()) -> None:
        """End a binding: what it took and no variable owns is free, and so are `dead` registers."""
        recent = outer | self._recent
        for number in {*self._recent, *dead}:
            if self._owners[number] <= 0 and number not in self._pinned:
                heapq.heappush(self._free, number)
                # An earlier binding of this scope may have taken it: who encloses both must not
                # free it once more.
                recent.discard(number)
        self._recent = recent


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
