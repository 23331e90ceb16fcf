"""Bounds of one variable, deduced from a comparison by undoing what is done to it.

Source: TVM `arith.deduce_bound` (name, parameters and meaning).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.tir import Range
from relaxscript.ir.walk import free_vars

from .arguments import scalar, variable, wrong
from .eval_set import eval_interval, with_domains
from .facts import Facts
from .index_algebra import IndexAlgebra, number_of
from .int_set import IntervalSet, interval_of, neg_inf, pos_inf
from .operands import operands_of

__all__ = ["deduce_bound"]

_Domains = dict[Var, IntervalSet]
# What a variable, or something that is made of it, is compared by.
_Side = Literal["at most", "at least", "equal"]


class _NoBound(Exception):
    """Nothing is deduced."""


def deduce_bound(
    var: Var,
    cond: PrimExpr | bool,
    hint_map: Mapping[Var, IntervalSet | Range],
    relax_map: Mapping[Var, IntervalSet | Range],
) -> IntervalSet:
    """An interval such that `cond` holds where `var` is in it.

    `cond` is a comparison of integers in which `var` is once: within sums, products, and quotients
    by numbers. `hint_map` says what other variables may be, which tells the signs of factors. Those
    of `relax_map` are not in the ends: `cond` holds for all of their values. Where nothing is
    deduced, the interval is empty.

    Raises `TypeError` for what is no variable, expression or domain.
    """
    variable("deduce_bound.var", var)
    condition = scalar("deduce_bound.cond", cond)
    hints = _domains("deduce_bound.hint_map", hint_map)
    relaxed = _domains("deduce_bound.relax_map", relax_map)
    if sum(node is var for node in _leaves(condition)) != 1:
        return IntervalSet.nothing()
    try:
        return _Deduction(var, hints, relaxed).deduce(condition)
    except _NoBound:
        return IntervalSet.nothing()


def _domains(name: str, value: Any) -> _Domains:
    if not isinstance(value, Mapping):
        raise wrong(name, "a mapping of variables to IntervalSets", value)
    return {variable(name, v): interval_of(name, domain) for v, domain in value.items()}


def _leaves(e: PrimExpr) -> list[PrimExpr]:
    """All places at which a variable is in `e`, each as often as it is."""
    found: list[PrimExpr] = []
    stack: list[Any] = [e]
    while stack:
        node = stack.pop()
        inner = operands_of(node)
        found += [] if inner else [node]
        stack.extend(inner)
    return found


class _Deduction:
    """Undoes what is done to a variable, step by step."""

    def __init__(self, var: Var, hints: _Domains, relaxed: _Domains) -> None:
        self.var = var
        self.relaxed = relaxed
        self.algebra = IndexAlgebra()
        known = with_domains({**hints, **relaxed}, Facts(nonnegative=False))
        self.hints = IndexAlgebra(known)

    def deduce(self, e: PrimExpr) -> IntervalSet:
        """The interval of the variable in a comparison."""
        match e:
            case prim.LT(a, b) if a.dtype.is_integer:
                return self._compare(a, b - 1) if self._has(a) else self._compare(a + 1, b)
            case prim.LE(a, b) if a.dtype.is_integer:
                return self._compare(a, b)
            case prim.GT(a, b):
                return self.deduce(prim.LT(b, a))
            case prim.GE(a, b):
                return self.deduce(prim.LE(b, a))
            case prim.EQ(a, b) if a.dtype.is_integer:
                target, value = (a, b) if self._has(a) else (b, a)
                return self._undo(target, "equal", value)
        raise _NoBound

    def _compare(self, a: PrimExpr, b: PrimExpr) -> IntervalSet:
        """The interval for `a <= b`."""
        return self._undo(a, "at most", b) if self._has(a) else self._undo(b, "at least", a)

    def _has(self, e: PrimExpr) -> bool:
        return self.var in free_vars(e)

    def _undo(self, target: PrimExpr, side: _Side, value: PrimExpr) -> IntervalSet:
        """The interval for which `target` is at most, at least or equal to `value`."""
        value = self._relax(side, self.algebra.simplify(value))
        while target is not self.var:
            target, side, value = self._step(target, side, value)
            value = self._relax(side, self.algebra.simplify(value))
        if side == "equal":
            return IntervalSet(value, value)
        return IntervalSet(neg_inf(), value) if side == "at most" else IntervalSet(value, pos_inf())

    def _relax(self, side: _Side, value: PrimExpr) -> PrimExpr:
        """A bound that implies `value` for all values of the relaxed variables."""
        if not any(v in self.relaxed for v in free_vars(value)):
            return value
        found = eval_interval(value, self.relaxed, self.algebra.facts)
        low, high = found.min_value, found.max_value
        if found.is_nothing() or (low if side == "at most" else high) in (neg_inf(), pos_inf()):
            raise _NoBound
        if side == "equal" and (low is neg_inf() or not self.algebra.is_equal(low, high)):
            raise _NoBound
        return low if side == "at most" else high

    def _step(
        self, target: PrimExpr, side: _Side, value: PrimExpr
    ) -> tuple[PrimExpr, _Side, PrimExpr]:
        match target:
            case prim.Add(a, b):
                return (a, side, value - b) if self._has(a) else (b, side, value - a)
            case prim.Sub(a, b) if self._has(a):
                return a, side, value + b
            case prim.Sub(a, b):
                return b, _flipped(side), a - value
            case prim.Mul(a, b):
                part, factor = (a, b) if self._has(a) else (b, a)
                return self._divide(part, factor, side, value)
            case prim.FloorDiv(a, b) if self._has(a):
                return self._multiply(a, b, side, value)
        raise _NoBound

    def _divide(
        self, part: PrimExpr, factor: PrimExpr, side: _Side, value: PrimExpr
    ) -> tuple[PrimExpr, _Side, PrimExpr]:
        """The step from `part * factor` to `part`."""
        if side == "equal":
            exact = self.hints.quotient(value, factor)
            if exact is None or self._sign(factor) == 0:
                raise _NoBound
            return part, side, self.algebra.floor_divide(value, factor)
        sign = self._sign(factor)
        side = side if sign > 0 else _flipped(side)
        if sign == 0:
            raise _NoBound
        if side == "at most":
            return part, side, self.algebra.floor_divide(value, factor)
        if sign > 0 and number_of(factor) is not None:
            return part, side, self.algebra.ceil_divide(value, factor)
        if number_of(factor) is not None:
            minus = prim.like(-1, value)
            value, factor = (self.algebra.multiply(e, minus) for e in (value, factor))
            return part, side, self.algebra.ceil_divide(value, factor)
        exact = self.algebra.quotient(value, factor)
        return part, side, self.algebra.floor_divide(value, factor) + 1 if exact is None else exact

    def _multiply(
        self, part: PrimExpr, divisor: PrimExpr, side: _Side, value: PrimExpr
    ) -> tuple[PrimExpr, _Side, PrimExpr]:
        """The step from `part // divisor` to `part`."""
        sign = self._sign(divisor)
        if side == "equal" or sign == 0:
            raise _NoBound
        if sign > 0:
            return part, side, value * divisor + (divisor - 1 if side == "at most" else 0)
        if side == "at most":
            return part, "at least", (value + 1) * divisor + 1
        return part, "at most", value * divisor

    def _sign(self, e: PrimExpr) -> int:
        """1 for what is above 0, -1 for what is below, 0 where that is not known."""
        one = prim.like(1, e)
        if self.hints.is_at_most(one, e):
            return 1
        return -1 if self.hints.is_at_most(e, prim.like(-1, e)) else 0


def _flipped(side: _Side) -> _Side:
    return "equal" if side == "equal" else "at least" if side == "at most" else "at most"
