"""Linear expressions: their coefficients, and the bounds that comparisons of these mean.

Source: TVM `arith.detect_linear_equation`, `arith.detect_clip_bound` (names and results).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from relaxscript.ir import prim
from relaxscript.ir.prim import INT64, PrimExpr, Var
from relaxscript.ir.walk import children, post_order

from .arguments import condition, scalar, variable, wrong
from .conjuncts import conjuncts
from .index_algebra import IndexAlgebra, is_zero, number_of

__all__ = ["detect_clip_bound", "detect_linear_equation"]


class _Linear(NamedTuple):
    """The coefficient of each variable, and what is added."""

    coefficients: tuple[PrimExpr, ...]
    base: PrimExpr


def detect_linear_equation(expr: PrimExpr | int, var_list: Sequence[Var]) -> list[PrimExpr]:
    """The coefficients of some variables in `expr`, in their order, and last what is added to them.

    Of `a * 4 + b * 6 + 7` in `a` they are 4 and `b * 6 + 7`. The list is empty where `expr` is not
    linear in the variables. Raises `TypeError` for what is no expression or variable.
    """
    e = scalar("detect_linear_equation.expr", expr)
    found = _Reader(_variables("detect_linear_equation.var_list", var_list)).read(e)
    return [] if found is None else [*found.coefficients, found.base]


def detect_clip_bound(expr: PrimExpr | bool, var_list: Sequence[Var]) -> list[PrimExpr | None]:
    """The bounds of some variables, two for each, that mean what the condition `expr` means.

    Both ends are included; None is no bound. Of `a < 6 and a > b` for `a` they are `b + 1` and 5.
    The list is empty where `expr` is not all about bounds of one variable each. Raises `TypeError`
    for what is no condition or variable.
    """
    e = condition("detect_clip_bound.expr", expr)
    reader = _Reader(_variables("detect_clip_bound.var_list", var_list))
    ends: list[PrimExpr | None] = [None] * (2 * len(reader.variables))
    for part in conjuncts(e):
        if not reader.clip(part, ends):
            return []
    return ends


def _variables(name: str, value: Any) -> list[Var]:
    if not isinstance(value, (list, tuple)):
        raise wrong(name, "a list of variables", value)
    return [variable(name, v) for v in value]


class _Reader:
    """Reads expressions that are linear in some variables."""

    def __init__(self, variables: Sequence[Var]) -> None:
        self.variables = variables
        self._own = frozenset(variables)
        self.algebra = IndexAlgebra()

    def read(self, e: PrimExpr) -> _Linear | None:
        """The coefficients in `e`; None where there are none."""
        depending = self._depending(e)
        found = [_number(0, e) for _ in self.variables]
        base, stack = prim.like(0, e), [(e, _number(1, e))]
        add, multiply = self.algebra.add, self.algebra.multiply
        while stack:
            part, factor = stack.pop()
            match part:
                case _ if id(part) not in depending:
                    base = add(base, multiply(part, factor))
                case Var():
                    found = [
                        add(c, factor) if v is part else c for v, c in zip(self.variables, found)
                    ]
                case prim.Add(a, b):
                    stack += [(b, factor), (a, factor)]
                case prim.Sub(a, b):
                    stack += [(b, multiply(factor, _number(-1, e))), (a, factor)]
                case prim.Mul(a, b) if id(b) not in depending:
                    stack.append((a, multiply(factor, b)))
                case prim.Mul(a, b) if id(a) not in depending:
                    stack.append((b, multiply(factor, a)))
                case _:
                    return None
        return _Linear(tuple(found), base)

    def _depending(self, e: PrimExpr) -> set[int]:
        """The parts of `e` in which a variable is."""
        found: set[int] = set()
        for node in post_order(e):
            if node in self._own or any(id(part) in found for part in children(node)):
                found.add(id(node))
        return found

    # ------------------------------------------------------------ bounds

    def clip(self, e: PrimExpr, ends: list[PrimExpr | None]) -> bool:
        """Add to the ends of variables what a condition says; False where that is no bound."""
        match e:
            case prim.LT(prim.Max(a, b), c) | prim.GT(c, prim.Max(a, b)):
                return self.clip(prim.LT(a, c), ends) and self.clip(prim.LT(b, c), ends)
            case prim.LE(prim.Max(a, b), c) | prim.GE(c, prim.Max(a, b)):
                return self.clip(prim.LE(a, c), ends) and self.clip(prim.LE(b, c), ends)
            case prim.GT(prim.Min(a, b), c) | prim.LT(c, prim.Min(a, b)):
                return self.clip(prim.GT(a, c), ends) and self.clip(prim.GT(b, c), ends)
            case prim.GE(prim.Min(a, b), c) | prim.LE(c, prim.Min(a, b)):
                return self.clip(prim.GE(a, c), ends) and self.clip(prim.GE(b, c), ends)
            case prim.LT(a, b) | prim.GT(b, a):
                return self._at_most_zero(a - b + 1, ends)
            case prim.LE(a, b) | prim.GE(b, a):
                return self._at_most_zero(prim.Sub(a, b), ends)
            case prim.EQ(a, b):
                both = (prim.Sub(a, b), prim.Sub(b, a))
                return all(self._at_most_zero(gap, ends) for gap in both)
        return False

    def _at_most_zero(self, e: PrimExpr, ends: list[PrimExpr | None]) -> bool:
        found = self.read(e) if e.dtype.is_integer else None
        if found is None:
            return False
        used = [(i, c) for i, c in enumerate(found.coefficients) if not is_zero(c)]
        factor = number_of(used[0][1]) if len(used) == 1 else None
        if factor is None:
            return False
        algebra, (place, _) = self.algebra, used[0]
        opposite = algebra.multiply(found.base, prim.like(-1, found.base))
        if factor > 0:
            bound = algebra.floor_divide(opposite, prim.like(factor, opposite))
            old = ends[2 * place + 1]
            ends[2 * place + 1] = bound if old is None else algebra.least(old, bound)
        else:
            bound = algebra.ceil_divide(found.base, prim.like(-factor, opposite))
            old = ends[2 * place]
            ends[2 * place] = bound if old is None else algebra.largest(old, bound)
        return True


def _number(value: int, like: PrimExpr) -> PrimExpr:
    """A coefficient, which may be negative though the expression has no sign."""
    return prim.const(value, INT64 if like.dtype.kind == "uint" else like.dtype)
