"""Facts about integers where code is being written, and the indices they prove inside.

Code computes with integers that wrap, `arith` with mathematical ones. So an expression is first
read as one over variables of our own. Each definition of a variable of the program makes a new one.
So does every part that may wrap, or that memory or a call decides. What is said of these
variables stays true wherever they are in scope; only conditions end with the statement they guard.

`T.assume` is not believed: it is what the program claims, and nothing makes sure of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from relaxscript.arith import YES, Facts, bounds, prove
from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.walk import post_order

from .value_ranges import Interval, arithmetic, limits, of_loop

__all__ = ["BoundedInteger", "Proofs"]

# An expression with more nodes, or a question with more facts, is not worth a proof.
_LARGEST = 64
_READ = 4 * _LARGEST
_FACTS = 24

_NEGATED: dict[type[prim.Comparison], type[prim.Comparison]] = {
    prim.LT: prim.GE, prim.GE: prim.LT, prim.GT: prim.LE, prim.LE: prim.GT, prim.EQ: prim.NE,
    prim.NE: prim.EQ,
}  # fmt: skip
_ROUNDED: dict[type[prim.Binary], type[prim.Binary]] = {
    prim.Div: prim.FloorDiv, prim.Mod: prim.FloorMod,
}  # fmt: skip
_DIVISIONS = (prim.FloorDiv, prim.FloorMod, prim.Div, prim.Mod)
_NO_VARS: frozenset[prim.Var] = frozenset()


class BoundedInteger(NamedTuple):
    """A mathematical integer: over variables of our own, within an interval, so many nodes."""

    e: PrimExpr
    low: int
    high: int
    vars: frozenset[prim.Var] = _NO_VARS
    size: int = 1


class _Condition(NamedTuple):
    e: PrimExpr
    vars: frozenset[prim.Var]


class Proofs:
    """The facts at the place of a function that is being written."""

    def __init__(self) -> None:
        # What each variable of the program stands for at present.
        self._stands: dict[prim.Var, BoundedInteger] = {}
        # Of each of our variables: its interval, what always holds of it, what holds here.
        self._ranges: dict[prim.Var, Interval] = {}
        self._always: dict[prim.Var, list[_Condition]] = {}
        self._here: dict[prim.Var, list[_Condition]] = {}
        self._holding: list[_Condition] = []
        # Expressions that were made, and those of them that are known to fit their dtype.
        self._made: dict[tuple[type[PrimExpr], PrimExpr, PrimExpr], PrimExpr] = {}
        self._numbers: dict[int, BoundedInteger] = {}
        self._fitting_parts: set[PrimExpr] = set()
        self._lanes: dict[int, BoundedInteger] = {}
        # Whether what is read was computed, so that nothing in it was divided by zero.
        self._computed = True
        # How many more nodes of an expression are read.
        self._room = 0
        # Answers, and the facts about some variables, as long as the same conditions hold.
        self._answers: dict[tuple[PrimExpr, PrimExpr, bool], bool] = {}
        self._known: dict[frozenset[prim.Var], Facts] = {}

    # ------------------------------------------------------------ definitions

    def number(self, value: int) -> BoundedInteger:
        """A literal."""
        if value not in self._numbers:
            self._numbers[value] = BoundedInteger(prim.IntImm.make(prim.INT64, value), value, value)
        return self._numbers[value]

    def unknown(self, interval: Interval) -> BoundedInteger:
        """An integer of which only an interval is known."""
        var = prim.Var.make("_", prim.INT64)
        self._ranges[var] = interval
        return BoundedInteger(var, *interval, frozenset((var,)))

    def define(self, var: prim.Var, interval: Interval) -> None:
        """From here on a variable has some value in an interval."""
        self._stands[var] = self.unknown(_common(interval, limits(var.dtype)))

    def assign(self, var: prim.Var, value: PrimExpr) -> None:
        """From here on a variable has the value that an expression has here."""
        if var.dtype.is_integer and var.dtype.lanes == 1:
            self._stands[var] = self._within_size(self._fitting(self.read(value), var.dtype))

    def let(self, var: prim.Var, value: BoundedInteger) -> None:
        """From here on a variable has a value, of which it has at least the lower bits."""
        self._stands[var] = self._within_size(self._fitting(value, var.dtype))

    def fits(self, e: PrimExpr) -> None:
        """Learn that no part of an expression wraps: so large is a dimension of an array."""
        for part in post_order(e):
            if isinstance(part, (prim.Add, prim.Sub, prim.Mul)):
                a, b = self.read(part.a), self.read(part.b)
                self._fitting_parts.add(self._node(type(part), a.e, b.e))
                if not isinstance(part, prim.Sub):
                    self._fitting_parts.add(self._node(type(part), b.e, a.e))

    def loop(self, var: prim.Var, start: PrimExpr, extent: PrimExpr) -> None:
        """From here on a variable goes through so many values from a start."""
        low, size = self.read(start), self.read(extent)
        interval, exact = of_loop((low.low, low.high), (size.low, size.high), var.dtype)
        term = self._stands[var] = self.unknown(interval)
        if not exact:
            return
        (own,) = term.vars
        known = self._always[own] = []
        if low.vars:
            known.append(_Condition(prim.GE.make(term.e, low.e), term.vars | low.vars))
        if low.vars or size.vars:
            end = size.e if low.low == low.high == 0 else prim.Add.make(low.e, size.e)
            known.append(_Condition(prim.LT.make(term.e, end), term.vars | low.vars | size.vars))

    def _fitting(self, term: BoundedInteger, dtype: DataType) -> BoundedInteger:
        """A term as a value of a dtype that may not hold it."""
        low, high = limits(dtype)
        return term if low <= term.low and term.high <= high else self.unknown((low, high))

    def _within_size(self, term: BoundedInteger) -> BoundedInteger:
        """A term that is small enough to be used again and again."""
        return term if term.size <= _LARGEST else self.unknown((term.low, term.high))

    # ------------------------------------------------------------ conditions

    @contextmanager
    def scope(self, *conditions: PrimExpr, unless: bool = False) -> Iterator[None]:
        """A scope where the conditions hold, or `unless`, do not; its facts end with it."""
        before = len(self._holding)
        for e in conditions:
            self.learn(e, not unless)
        yield
        while len(self._holding) > before:
            condition = self._holding.pop()
            for var in condition.vars:
                self._here[var].pop()
            self._answers.clear()
            self._known.clear()

    def learn(self, e: PrimExpr, truth: bool = True) -> None:
        """From here to the end of the scope, a condition holds, or does not."""
        self._room = _READ
        found = self._partial_condition(e, truth)
        if found is not None and found.vars:
            self._holding.append(found)
            for var in found.vars:
                self._here.setdefault(var, []).append(found)
            self._answers.clear()
            self._known.clear()

    def _partial_condition(self, e: PrimExpr, truth: bool) -> _Condition | None:
        """The facts of a condition of which not all need be computed: `a or x // n < b`."""
        outer, self._computed = self._computed, False
        found = self._condition(e, truth)
        self._computed = outer
        return found

    def _condition(self, e: PrimExpr, truth: bool) -> _Condition | None:
        """The facts about integers of a condition, or its contrary; None where there are none."""
        self._room -= 1
        if self._room < 0:
            return None
        match e:
            case prim.Not(a):
                return self._condition(a, not truth)
            case prim.Logic(a, b):
                return self._both(e, self._condition(a, truth), self._condition(b, truth), truth)
            case prim.Comparison(a, b) if a.dtype.is_integer and a.dtype.lanes == 1:
                left, right = self._part(a), self._part(b)
                if left.size + right.size > _LARGEST:
                    return None
                make = type(e) if truth else _NEGATED[type(e)]
                return _Condition(make.make(left.e, right.e), left.vars | right.vars)
            case prim.Call(op="tir.likely", args=(a,)):
                return self._condition(a, truth)
        return None

    def _both(
        self, e: prim.Logic, a: _Condition | None, b: _Condition | None, truth: bool
    ) -> _Condition | None:
        if isinstance(e, prim.And) == truth:
            if a is None or b is None:
                return a or b
            return _Condition(prim.And.make(a.e, b.e), a.vars | b.vars)
        return a and b and _Condition(prim.Or.make(a.e, b.e), a.vars | b.vars)

    # ------------------------------------------------------------ reading

    def read(self, e: PrimExpr, lane: BoundedInteger | None = None) -> BoundedInteger:
        """An integer expression as a term; of a vector, its value in some `lane`."""
        self._room = _READ
        return self._part(e, lane)

    def _part(self, e: PrimExpr, lane: BoundedInteger | None = None) -> BoundedInteger:
        self._room -= 1
        readable = e.dtype.is_integer and self._room >= 0
        term = self._read(e, lane) if readable else None
        return self.unknown(limits(e.dtype)) if term is None else term

    def _read(self, e: PrimExpr, lane: BoundedInteger | None) -> BoundedInteger | None:
        match e:
            case prim.IntImm(value=value):
                return self.number(value) if value < 1 << 63 else self.unknown((value, value))
            case prim.Var() if e.dtype.lanes == 1:
                if e not in self._stands:
                    self.define(e, limits(e.dtype))
                return self._stands[e]
            case prim.Binary(a, b):
                return self._binary(type(e), e.dtype, self._part(a, lane), self._part(b, lane))
            case prim.Cast(value=value) if value.dtype.is_integer or value.dtype.is_bool:
                return self._fitting(self._part(value, lane), e.dtype)
            case prim.Broadcast(value=value) if value.dtype.lanes == 1:
                return self._part(value)
            case prim.Ramp(base, stride, lanes) if lane is not None and lane.high == lanes - 1:
                step = self._binary(prim.Mul, e.dtype, self._part(stride), lane)
                return step and self._binary(prim.Add, e.dtype, self._part(base), step)
            case prim.Select(condition, a, b) if condition.dtype.lanes == 1:
                return self._choice(condition, self._part(a, lane), self._part(b, lane))
            case prim.Call(op="tir.likely", args=(value,)):
                return self._part(value, lane)
        return None

    def _binary(
        self, kind: type[prim.Binary], dtype: DataType, a: BoundedInteger, b: BoundedInteger
    ) -> BoundedInteger | None:
        """An operation on two terms, unless it may wrap or has no value."""
        if (kind is prim.Add and b.low == b.high == 0) or (
            kind is prim.Mul and b.low == b.high == 1
        ):
            return a
        if kind is prim.Mul and a.low == a.high == 1:
            return b
        divisor = b.low
        if kind in _DIVISIONS and b.low == 0 < b.high and self._computed:
            divisor = 1
        if kind in _ROUNDED and a.low >= 0 and divisor > 0:
            kind = _ROUNDED[kind]
        found = arithmetic(kind, (a.low, a.high), (divisor, b.high))
        if found is None:
            return None
        e = self._node(kind, a.e, b.e)
        term = BoundedInteger(e, *found, a.vars | b.vars, a.size + b.size + 1)
        low, high = limits(dtype)
        if low <= found[0] and found[1] <= high:
            return self._within_size(term)
        if e in self._fitting_parts:
            return self._within_size(
                term._replace(low=max(found[0], low), high=min(found[1], high))
            )
        if term.size > _LARGEST:
            return None
        least, most = bounds(term.e, self._facts(term.vars))
        if least is None or most is None or least < low or most > high:
            return None
        return term._replace(low=max(least, found[0]), high=min(most, found[1]))

    def _node(self, kind: type[prim.Binary], a: PrimExpr, b: PrimExpr) -> PrimExpr:
        """An operation, always the same one for the same operands."""
        key = (kind, a, b)
        if key not in self._made:
            self._made[key] = kind.make(a, b)
        return self._made[key]

    def _choice(self, condition: PrimExpr, a: BoundedInteger, b: BoundedInteger) -> BoundedInteger:
        low, high = min(a.low, b.low), max(a.high, b.high)
        known = self._partial_condition(condition, True)
        size = a.size + b.size + _LARGEST // 4
        if known is None or size > _LARGEST:
            return self.unknown((low, high))
        e = prim.Select.make(known.e, a.e, b.e)
        return BoundedInteger(e, low, high, a.vars | b.vars | known.vars, size)

    def sum(self, a: BoundedInteger, b: BoundedInteger) -> BoundedInteger:
        """A mathematical sum."""
        return self._exact(prim.Add, a, b)

    def product(self, terms: Sequence[BoundedInteger]) -> BoundedInteger:
        """A mathematical product."""
        result = self.number(1)
        for term in terms:
            result = self._exact(prim.Mul, result, term)
        return result

    def _exact(
        self, kind: type[prim.Binary], a: BoundedInteger, b: BoundedInteger
    ) -> BoundedInteger:
        found = arithmetic(kind, (a.low, a.high), (b.low, b.high))
        assert found is not None
        if found[0] == found[1] and -(1 << 63) <= found[0] < 1 << 63:
            return self.number(found[0])
        e = self._node(kind, a.e, b.e)
        return BoundedInteger(e, *found, a.vars | b.vars, a.size + b.size + 1)

    # ------------------------------------------------------------ proofs

    def is_inside(self, index: PrimExpr, extent: BoundedInteger) -> bool:
        """True if an index, in all of its lanes, is at least 0 and less than an extent."""
        ends = _literal_ends(index)
        if ends is not None and ends[0] >= 0 and ends[1] < extent.low:
            return True
        lanes = index.dtype.lanes
        lane = None if lanes == 1 else self._lane(lanes)
        term = self.read(index, lane)
        return self.is_below(term, extent) and self.is_below(self.number(-1), term)

    def _lane(self, lanes: int) -> BoundedInteger:
        """Any lane of so many, always the same one: so questions are the same, too."""
        if lanes not in self._lanes:
            self._lanes[lanes] = self.unknown((0, lanes - 1))
        return self._lanes[lanes]

    def is_region(self, start: PrimExpr, count: PrimExpr, extent: BoundedInteger) -> bool:
        """True if so many elements from a start lie in an extent; no region has less than none."""
        first, size = self.read(start), self.read(count)
        end = self._binary(prim.Add, prim.INT64, first, size)
        if end is None or size.low < 0:
            return False
        return self.is_below(self.number(-1), first) and self.is_below(end, extent, equal=True)

    def is_below(self, a: BoundedInteger, b: BoundedInteger, equal: bool = False) -> bool:
        """True if one term is less than another, or `equal`, whatever the variables are."""
        if a.high < b.low + equal:
            return True
        if a.low >= b.high + equal or a.size + b.size > _LARGEST:
            return False
        key = (a.e, b.e, equal)
        if key not in self._answers:
            make = prim.LE if equal else prim.LT
            self._answers[key] = self._is_known(make, a, b) or (
                prove(make.make(a.e, b.e), self._facts(a.vars | b.vars)) is YES
            )
        return self._answers[key]

    def _is_known(self, make: type[prim.Comparison], a: BoundedInteger, b: BoundedInteger) -> bool:
        """True if exactly this was learned: what the variable of a loop is less than."""
        if len(a.vars) != 1:
            return False
        (var,) = a.vars
        return any(isinstance(e, make) and e.a is a.e and e.b is b.e for e, _ in self._about(var))

    def _about(self, var: prim.Var) -> list[_Condition]:
        return [*self._here.get(var, [])[: -_FACTS - 1 : -1], *self._always.get(var, ())]

    def _facts(self, variables: frozenset[prim.Var]) -> Facts:
        """The facts about some variables, and about those that occur together with them."""
        if variables not in self._known:
            self._known[variables] = self._facts_about(variables)
        return self._known[variables]

    def _facts_about(self, variables: frozenset[prim.Var]) -> Facts:
        conditions: dict[PrimExpr, None] = {}
        seen: dict[prim.Var, None] = dict.fromkeys(sorted(variables, key=id))
        waiting = list(seen)
        while waiting:
            for e, vars_ in self._about(waiting.pop()):
                if len(conditions) == _FACTS:
                    break
                if e not in conditions:
                    conditions[e] = None
                    waiting += [v for v in vars_ if v not in seen]
                    seen.update(dict.fromkeys(vars_))
        ranges = {v: self._ranges[v] for v in seen}
        return Facts(ranges, conditions=conditions, nonnegative=False)


def _literal_ends(index: PrimExpr) -> Interval | None:
    """The least and the greatest lane of an index that is literal: one of many in a tile."""
    match index:
        case prim.IntImm(value=value):
            return value, value
        case prim.Ramp(prim.IntImm(value=base), prim.IntImm(value=1), lanes):
            return (base, base + lanes - 1) if base + lanes <= limits(index.dtype)[1] else None
    return None


def _common(a: Interval, b: Interval) -> Interval:
    """The interval that two have in common; the second where they have none."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else b
