"""Python's operators on scalar expressions: each builds the node that it means.

    n * 4 + 1        n // 2 < m        n << 2        analyzer.can_prove(n * 2 == n + n)

`==` and `!=` have two meanings. Where a scalar is wanted they are the nodes `EQ` and `NE`; where
Python wants a truth value (in an `if`, as a key), they compare identity, as for every node.

Source: TVM `tir.expr.ExprOp`, `EqualOp` and `NotEqualOp`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .prim import PrimExpr, PrimExprLike

__all__ = ["BUILDERS", "EqualOp", "Equality", "NotEqualOp", "ScalarLike", "ScalarOperators"]

# What each operator builds, filled by the files that have the nodes.
BUILDERS: dict[str, Callable[[Any, Any], PrimExpr]] = {}


class ScalarLike:
    """An object that means a scalar wherever one is wanted: an axis, for example.

    Each subclass defines `asobject`. No metaclass enforces it: that would slow down `isinstance`.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def asobject(self) -> PrimExpr:
            """The scalar that is meant."""


class Equality(ScalarLike):
    """`a == b`, or `a != b`, of two scalars, before anybody has said what is wanted of it.

    As a truth value it says whether they are one object, or of two numbers whether they are equal.
    """

    __slots__ = ("a", "b")

    negated = False

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def __bool__(self) -> bool:
        a, b = _number(self.a), _number(self.b)
        same = self.a is self.b if a is None or b is None else a == b
        return same is not self.negated

    def asobject(self) -> PrimExpr:
        """The node that compares the two."""
        return BUILDERS["!=" if self.negated else "=="](self.a, self.b)

    def __repr__(self) -> str:
        return repr(self.asobject())


def _number(operand: Any) -> int | float | None:
    """The number that an operand is, None where it is no literal."""
    value = getattr(operand, "value", operand)
    return value if isinstance(value, (int, float)) else None


class EqualOp(Equality):
    """`a == b` of two scalars."""

    __slots__ = ()


class NotEqualOp(Equality):
    """`a != b` of two scalars."""

    __slots__ = ()

    negated = True


def _comparable(other: object) -> bool:
    """True if something may be equal to a scalar, so that the question is worth a node."""
    return isinstance(other, (ScalarOperators, int, float)) or hasattr(other, "__index__")


class ScalarOperators:
    """Python's operators, for `PrimExpr`."""

    __slots__ = ()
    __hash__ = object.__hash__

    if TYPE_CHECKING:
        # Scripts compare values by `i == 3`; to checkers that must not look always false.
        def __eq__(self, other: object) -> bool: ...

    else:

        def __eq__(self, other):
            return EqualOp(self, other) if _comparable(other) else NotImplemented

        def __ne__(self, other):
            return NotEqualOp(self, other) if _comparable(other) else NotImplemented

    def __add__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["+"](self, other)

    def __radd__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["+"](other, self)

    def __sub__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["-"](self, other)

    def __rsub__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["-"](other, self)

    def __mul__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["*"](self, other)

    def __rmul__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["*"](other, self)

    def __truediv__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["/"](self, other)

    def __rtruediv__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["/"](other, self)

    def __floordiv__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["//"](self, other)

    def __rfloordiv__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["//"](other, self)

    def __mod__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["%"](self, other)

    def __rmod__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["%"](other, self)

    def __lshift__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["<<"](self, other)

    def __rlshift__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["<<"](other, self)

    def __rshift__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS[">>"](self, other)

    def __rrshift__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS[">>"](other, self)

    def __and__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["&"](self, other)

    def __rand__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["&"](other, self)

    def __or__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["|"](self, other)

    def __ror__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["|"](other, self)

    def __xor__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["^"](self, other)

    def __rxor__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["^"](other, self)

    def __lt__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["<"](self, other)

    def __le__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS["<="](self, other)

    def __gt__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS[">"](self, other)

    def __ge__(self, other: PrimExprLike) -> PrimExpr:
        return BUILDERS[">="](self, other)

    def __neg__(self) -> PrimExpr:
        return BUILDERS["-"](0, self)

    def __invert__(self) -> PrimExpr:
        return BUILDERS["~"](self, None)

    def equal(self, other: PrimExprLike) -> PrimExpr:
        """The node `EQ(self, other)`, whatever `==` would mean."""
        return BUILDERS["=="](self, other)

    def astype(self, dtype: str) -> PrimExpr:
        """The value converted to another dtype, as by `T.cast`."""
        return BUILDERS["astype"](self, dtype)
