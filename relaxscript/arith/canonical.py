"""Reading scalar expressions into their canonical form: polynomials over shared atoms.

`CanonicalContext(facts).read(e)` gives the polynomial of `e`. Two expressions read in one context
are equal for all values if their polynomials are the same. This holds where both are defined. int32
and int64 are read as mathematical integers. Values of other dtypes are opaque, except that bools
are followed through comparisons and logic.

`rules.py` has the rules of divisions, `minmax_select.py` those of maxima and the like.
`predicates.py` has comparisons and logic, `intrinsics.py` shifts and other calls; `to_expr.py`
writes polynomials as expressions again. Expressions may be nested arbitrarily deep.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from typing import Any

from relaxscript.dtypes import nearest
from relaxscript.ir import prim, walk
from relaxscript.ir.intrinsic import lookup
from relaxscript.ir.prim import PrimExpr

from . import intrinsics, minmax_select, predicates, rules
from .assume import assume
from .atom import INT32, INT64, Atom, is_index
from .evaluate import MEANING, EvaluationError, evaluate
from .facts import Facts
from .interval import lower_bound, upper_bound
from .opaque import limits_of, opaque_ends, range_of
from .operands import operands_of
from .polynomial import (
    CONSTANT,
    MAX_COEFFICIENT,
    GiveUp,
    Poly,
    TooLarge,
    accumulate,
    add,
    constant_of,
    key_of,
    multiply,
)

__all__ = ["CanonicalContext"]

MAX_DEPTH = 40
MAX_STEPS = 2000
# Bits of the integers up to which a floating-point type has all.
INTEGERS_IN_FLOATS = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}


DIVISIONS = (prim.Div, prim.Mod, prim.FloorDiv, prim.FloorMod)
# The comparisons that hold of a number and itself.
REFLEXIVE = (prim.EQ, prim.LE, prim.GE)


class _ExpressionTooDeep(Exception):
    """An expression is nested too deep for recursion, or shares too many parts."""


class CanonicalContext:
    """The atoms of some expressions, and what is known of them."""

    def __init__(self, facts: Facts | None = None) -> None:
        self.facts = facts
        self.atoms: list[Atom] = []
        self.by_key: dict[Any, int] = {}
        # What variables stand for, by equalities and by Let.
        self.values: dict[prim.Var, Poly] = {}
        # Polynomials that are at least zero, and bool atoms whose value is known.
        self.inequalities: list[Poly] = []
        self.truth: dict[int, bool] = {}
        # Bools and what they are known to be, where that says one thing or another.
        self.disjunctions: list[tuple[Poly, bool]] = []
        # Atoms that have no value for some values of the variables, since they divide by zero.
        self.partial: set[int] = set()
        self._memo: dict[int, Poly] = {}
        self._kept: list[PrimExpr] = []
        self._deep = False
        self._depth = 0
        if facts is not None and not facts.is_plain:
            self._assume(facts)

    def _assume(self, facts: Facts) -> None:
        """Know facts. Many questions have the same ones: what follows from these is found once."""
        if facts.assumed is None:
            assume(self, facts)
            facts.assumed = tuple(map(copy, self._knowledge()))
            return
        (
            self.atoms, self.by_key, self.values, self.inequalities, self.truth,
            self.disjunctions, self.partial, self._memo, self._kept,
        ) = map(copy, facts.assumed)  # fmt: skip

    def _knowledge(self) -> tuple[Any, ...]:
        return (
            self.atoms, self.by_key, self.values, self.inequalities, self.truth,
            self.disjunctions, self.partial, self._memo, self._kept,
        )  # fmt: skip

    # ------------------------------------------------------------ reading

    def read(self, e: PrimExpr) -> Poly:
        """The polynomial of `e`, which the caller may change.

        Raises `GiveUp` when `e` is no subject for simplification: numbers beyond all bounds, or
        calls with side effects.
        """
        self._deep = False
        self._depth = 0
        try:
            return self._read(e)
        except _ExpressionTooDeep:
            return self._read_bottom_up(e)
        except TooLarge:
            raise GiveUp from None

    def sub(self, e: PrimExpr) -> Poly:
        """The polynomial of an operand; it must not be changed."""
        if self._memo:
            known = self._memo.get(id(e))
            if known is not None:
                return known
        self._depth += 1
        try:
            if self._depth > MAX_DEPTH and not self._deep:
                raise _ExpressionTooDeep
            return self._read(e)
        finally:
            self._depth -= 1

    def _read(self, root: PrimExpr) -> Poly:
        dtype = root.dtype
        if dtype is not INT64 and dtype is not INT32:
            return self._other(root)
        result: Poly = {}
        stack: list[tuple[PrimExpr, int]] = [(root, 1)]
        memo, values, by_key = self._memo, self.values, self.by_key
        steps = 0
        while stack:
            e, k = stack.pop()
            cls = e.__class__
            steps += 1
            if memo and id(e) in memo:
                accumulate(result, memo[id(e)], k)
            elif cls is prim.Add or cls is prim.Sub:
                stack.append((e.b, k if cls is prim.Add else -k))  # type: ignore[attr-defined]
                stack.append((e.a, k))  # type: ignore[attr-defined]
            elif cls is prim.IntImm:
                add(result, CONSTANT, e.value * k)  # type: ignore[attr-defined]
            elif cls is prim.Var or cls is prim.SizeVar:
                if e in values or e not in by_key:
                    accumulate(result, self.variable(e), k)  # type: ignore[arg-type]
                else:
                    add(result, (by_key[e],), k)
            elif cls is prim.Mul:
                self._product(e.a, e.b, k, e, stack, result)  # type: ignore[attr-defined]
            else:
                accumulate(result, self._operation(e), k)
            if steps > MAX_STEPS and not self._deep:
                raise _ExpressionTooDeep
        return result

    def _product(
        self,
        a: PrimExpr,
        b: PrimExpr,
        k: int,
        e: PrimExpr,
        stack: list[tuple[PrimExpr, int]],
        result: Poly,
    ) -> None:
        if a.__class__ is prim.IntImm:
            a, b = b, a
        if b.__class__ is prim.IntImm:
            k *= b.value
            if abs(k) > MAX_COEFFICIENT:
                raise TooLarge
            if k:
                stack.append((a, k))
            else:
                self.sub(a)
            return
        x, y = self.sub(a), self.sub(b)
        try:
            product = multiply(x, y)
        except TooLarge:
            product = self.atom("opaque", (x, y), e, detail=type(e))
        accumulate(result, product, k)

    def _read_bottom_up(self, root: PrimExpr) -> Poly:
        """As `_read`, for expressions that are deep or share parts: each part once, inner first."""
        order = [e for e in walk.post_order(root) if isinstance(e, PrimExpr)]
        if any(isinstance(e, prim.Let) for e in order):
            raise GiveUp
        self._deep = True
        self._depth = 0
        parts: set[int] = set()
        seen: set[int] = set()
        for e in order:
            linear = is_index(e.dtype) and (isinstance(e, (prim.Add, prim.Sub)) or _is_multiple(e))
            for child in walk.children(e):
                if not linear or id(child) in seen:
                    parts.add(id(child))
                seen.add(id(child))
        try:
            for e in order:
                if id(e) in parts:
                    self._memo[id(e)] = self._read(e)
            # The memo knows expressions by their ids, so they must stay alive.
            self._kept.append(root)
            return self._read(root)
        except TooLarge:
            raise GiveUp from None

    # ------------------------------------------------------------ atoms

    def variable(self, v: prim.Var) -> Poly:
        """The polynomial of a variable: what it is known to be, or its atom."""
        if v in self.values:
            return self.values[v]
        number = self.by_key.get(v)
        if number is None:
            low, high = self._range(v)
            number = self.add(v, Atom(len(self.atoms), "var", (), v, low, high))
        return {(number,): 1}

    def _range(self, v: prim.Var) -> tuple[int | None, int | None]:
        if is_index(v.dtype):
            return (0, None) if self.facts is None else self.facts.range_of(v)
        low, high = limits_of(v.dtype)
        if self.facts is None or low is None or high is None:
            return low, high
        least, most = self.facts.ranges.get(v, (low, high))
        return max(low, low if least is None else least), min(high, high if most is None else most)

    def add(self, key: Any, atom: Atom) -> int:
        """Enter a new atom under its key."""
        self.atoms.append(atom)
        self.by_key[key] = atom.number
        return atom.number

    def atom(
        self,
        kind: str,
        args: tuple[Poly, ...],
        node: PrimExpr,
        bounds: Callable[[], tuple[int | None, int | None]] | None = None,
        *,
        detail: Any = None,
        unordered: bool = False,
    ) -> Poly:
        """The atom of an operation on `args`, made if there is none yet.

        `detail` tells apart atoms of one kind; `unordered` says that the order of `args` does not
        matter; `bounds` is asked only for a new atom.
        """
        keys = tuple(map(key_of, args))
        key = (kind, detail, frozenset(keys) if unordered else keys)
        number = self.by_key.get(key)
        if number is None:
            low, high = bounds() if bounds is not None else limits_of(node.dtype)
            depth = 1 + max([self.atoms[n].depth for p in args for m in p for n in m], default=0)
            atom = Atom(len(self.atoms), kind, args, node, low, high, detail, depth)
            number = self.add(key, atom)
        elif number in self.truth:
            return {CONSTANT: 1} if self.truth[number] else {}
        return {(number,): 1}

    def is_total(self, *polys: Poly) -> bool:
        """True if nothing in some polynomials divides by what may be zero."""
        return not self.partial or self.partial.isdisjoint(self.reachable(*polys))

    def reachable(self, *polys: Poly) -> set[int]:
        """The atoms of some polynomials, and those inside these."""
        found: set[int] = set()
        stack = [n for p in polys for m in p for n in m]
        while stack:
            n = stack.pop()
            if n not in found:
                found.add(n)
                stack.extend(k for q in self.atoms[n].args for m in q for k in m)
        return found

    # ------------------------------------------------------------ operations

    def _operation(self, e: PrimExpr) -> Poly:
        """An int32 or int64 expression that is no sum or product."""
        match e:
            case prim.FloorDiv(a, b):
                return rules.floor_division(self, self.sub(a), self.sub(b), e)
            case prim.FloorMod(a, b):
                return rules.remainder(self, self.sub(a), self.sub(b), e, rules.floor_division)
            case prim.Div(a, b):
                return rules.truncated(self, self.sub(a), self.sub(b), e)
            case prim.Mod(a, b):
                return rules.remainder(self, self.sub(a), self.sub(b), e, rules.truncated)
            case prim.Max(a, b) | prim.Min(a, b):
                kind = "max" if isinstance(e, prim.Max) else "min"
                return minmax_select.extremum(self, kind, self.sub(a), self.sub(b), e)
            case prim.Select(condition, a, b):
                return minmax_select.select(self, self.sub(condition), self.sub(a), self.sub(b), e)
            case prim.Cast(value=value):
                return self._cast(e, value)
            case prim.Let(var, value, body) if is_index(value.dtype):
                self.values[var] = self.sub(value)
                return self.sub(body)
            case prim.Call():
                found = intrinsics.call(self, e)
                return self._opaque(e) if found is None else found
        return self._opaque(e)

    def _cast(self, e: PrimExpr, value: PrimExpr) -> Poly:
        if isinstance(value, prim.Immediate) and not is_index(value.dtype):
            literal = self._cast_literal(e, value)
            if literal is not None:
                return literal
        if isinstance(value, prim.Cast) and value.dtype in INTEGERS_IN_FLOATS:
            inner = value.value
            if is_index(inner.dtype) and self._is_exact(inner, value.dtype):
                return minmax_select.cast(self, self.sub(inner), prim.Cast(e.dtype, inner))
        if not (is_index(value.dtype) or (value.dtype.is_bool and value.dtype.lanes == 1)):
            return self._opaque(e)
        return minmax_select.cast(self, self.sub(value), e)

    def _is_exact(self, e: PrimExpr, dtype: str) -> bool:
        """True if a floating-point type has all values of an integer."""
        p, most = self.sub(e), 1 << INTEGERS_IN_FLOATS[dtype]
        low, high = lower_bound(self.atoms, p, 1), upper_bound(self.atoms, p, 1)
        return low is not None and high is not None and -most <= low and high <= most

    def _other(self, e: PrimExpr) -> Poly:
        """An expression of any other dtype."""
        if e.dtype.lanes != 1:
            return self._opaque(e)
        match e:
            case prim.IntImm(value=value):
                return {CONSTANT: value} if value else {}
            case prim.Var():
                return self.variable(e)
            case prim.Comparison(a, b) if is_index(a.dtype) and is_index(b.dtype):
                return predicates.comparison(self, self.sub(a), self.sub(b), e)
            case prim.And(a, b) | prim.Or(a, b):
                return predicates.logic(self, self.sub(a), self.sub(b), e)
            case prim.Not(a):
                return predicates.negation(self.sub(a))
        number = self._number(e)
        return self._literal(e) or self._opaque(e) if number is None else number

    def _number(self, e: PrimExpr) -> Poly | None:
        """The one number that an expression is whatever the variables are; else None."""
        match e:
            case prim.Cast(value=value):
                return self._cast_literal(e, value)
            case prim.Sub(a, b) | prim.Comparison(a, b) if _is_defined_integer(a, b):
                if key_of(self.sub(a)) == key_of(self.sub(b)):
                    return {CONSTANT: 1} if isinstance(e, REFLEXIVE) else {}
        return None

    def _cast_literal(self, e: PrimExpr, value: PrimExpr) -> Poly | None:
        """A cast of what is known to be one number; None for any other, and where it wraps."""
        number: float | None = None
        if isinstance(value, prim.FloatImm):
            number = evaluate(value)
        elif value.dtype.is_integer or value.dtype.is_bool:
            number = constant_of(self.sub(value))
        if number is None or not math.isfinite(number):
            return None
        if e.dtype.is_float:
            return self._opaque(prim.FloatImm.make(e.dtype, nearest(number, e.dtype)))
        if e.dtype.is_bool:
            return {CONSTANT: 1} if number else {}
        low, high = range_of(e.dtype)
        whole = math.trunc(number)
        if low is None or high is None or not low <= whole <= high:
            return None
        return {CONSTANT: whole} if whole else {}

    def _literal(self, e: PrimExpr) -> Poly | None:
        """An operation on two literals whose result is exact and fits the dtype."""
        match e:
            case prim.Binary(prim.IntImm() as a, prim.IntImm() as b) if a.dtype is b.dtype:
                try:
                    value = int(evaluate(e))
                except EvaluationError:
                    return None
                low, high = limits_of(e.dtype)
                if low is not None and high is not None and low <= value <= high:
                    return {CONSTANT: value} if value else {}
            case prim.Binary(prim.FloatImm() as a, prim.FloatImm() as b):
                exact = rules.exact_float(e, a, b)
                return None if exact is None else self._opaque(exact)
            case prim.Comparison(prim.FloatImm() as a, prim.FloatImm() as b) | prim.Comparison(
                prim.IntImm() as a, prim.IntImm() as b
            ):
                return {CONSTANT: 1} if MEANING[type(e)](evaluate(a), evaluate(b)) else {}
        return None

    def _opaque(self, e: PrimExpr) -> Poly:
        """An operation that is not looked into; its operands are simplified all the same."""
        args = operands_of(e)
        if not args and not isinstance(e, (prim.FloatImm, prim.StringImm, prim.Call)):
            # Nothing is known of it: it equals itself only.
            return self.atom("opaque", (), e, detail=e)
        detail = (type(e), tuple(a.dtype for a in args), _detail(e))
        read = tuple(self.sub(a) for a in args)
        return self.atom("opaque", read, e, lambda: opaque_ends(self.atoms, e, read), detail=detail)


def _detail(e: PrimExpr) -> Any:
    """The details that tell operations of one class apart, besides their operands.

    Raises `GiveUp` for a call that does more than give a value.
    """
    match e:
        case prim.Cast(dtype=dtype):
            return dtype
        case prim.Call(dtype=dtype, op=op):
            intrinsic = lookup(op)
            if intrinsic is None or not intrinsic.is_pure:
                raise GiveUp
            return op, dtype
        case prim.BufferLoad(buffer=buffer):
            return buffer
        case prim.FloatImm(dtype, value):
            return dtype, float(value).hex()
        case prim.StringImm(value=text):
            return text
        case prim.Let(var=var):
            return var
        case prim.Ramp(lanes=lanes) | prim.Broadcast(lanes=lanes):
            return lanes
        case prim.Shuffle(vectors=vectors):
            return len(vectors)
    return None


def _is_defined_integer(a: PrimExpr, b: PrimExpr) -> bool:
    """True for integers that have values whatever the variables are, without divisions."""
    return all(
        e.dtype.is_integer and not any(isinstance(part, DIVISIONS) for part in walk.post_order(e))
        for e in (a, b)
    )


def _is_multiple(e: PrimExpr) -> bool:
    return isinstance(e, prim.Mul) and (
        isinstance(e.a, prim.IntImm) or isinstance(e.b, prim.IntImm)
    )
