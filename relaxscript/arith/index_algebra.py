"""Sums, products and quotients of extents and factors, and what is proved of these.

Numbers are computed at once; what has variables is simplified, and asked about, by the prover.
"""

from __future__ import annotations

from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr

from .answer import YES
from .facts import Facts
from .prove import prove, prove_equal
from .simplify import simplify

__all__ = ["IndexAlgebra", "is_one", "is_zero", "number_of"]


def number_of(e: PrimExpr) -> int | None:
    """The value of a literal, else None."""
    return e.value if isinstance(e, IntImm) else None


def is_zero(e: PrimExpr) -> bool:
    """True if `e` is the literal 0."""
    return isinstance(e, IntImm) and e.value == 0


def is_one(e: PrimExpr) -> bool:
    """True if `e` is the literal 1."""
    return isinstance(e, IntImm) and e.value == 1


class IndexAlgebra:
    """Arithmetic under some facts; without any, variables may be negative."""

    def __init__(self, facts: Facts | None = None) -> None:
        self.facts = facts if facts is not None else Facts(nonnegative=False)

    # ------------------------------------------------------------ computing

    def simplify(self, e: PrimExpr) -> PrimExpr:
        return simplify(e, self.facts)

    def add(self, a: PrimExpr, b: PrimExpr) -> PrimExpr:
        if is_zero(a) and a.dtype is b.dtype:
            return b
        return a if is_zero(b) and a.dtype is b.dtype else self._of(prim.Add, a, b)

    def subtract(self, a: PrimExpr, b: PrimExpr) -> PrimExpr:
        return a if is_zero(b) and a.dtype is b.dtype else self._of(prim.Sub, a, b)

    def multiply(self, a: PrimExpr, b: PrimExpr) -> PrimExpr:
        if is_one(a) and a.dtype is b.dtype:
            return b
        return a if is_one(b) and a.dtype is b.dtype else self._of(prim.Mul, a, b)

    def floor_divide(self, a: PrimExpr, b: PrimExpr) -> PrimExpr:
        # The divisor is taken to be above 0.
        if a.dtype is b.dtype and (is_one(b) or is_zero(a)):
            return a
        return self._of(prim.FloorDiv, a, b)

    def floor_remainder(self, a: PrimExpr, b: PrimExpr) -> PrimExpr:
        return a if is_zero(a) and a.dtype is b.dtype else self._of(prim.FloorMod, a, b)

    def ceil_divide(self, a: PrimExpr, b: PrimExpr) -> PrimExpr:
        exact = self.quotient(a, b)
        if exact is not None:
            return exact
        return self.floor_divide(self.add(a, self.subtract(b, prim.like(1, b))), b)

    def least(self, a: PrimExpr, b: PrimExpr) -> PrimExpr:
        """The smaller one of two."""
        return a if self.is_at_most(a, b) else self._of(prim.Min, a, b)

    def largest(self, a: PrimExpr, b: PrimExpr) -> PrimExpr:
        """The larger one of two."""
        return b if self.is_at_most(a, b) else self._of(prim.Max, a, b)

    def _of(self, make: type[prim.Binary], a: PrimExpr, b: PrimExpr) -> PrimExpr:
        return self.simplify(make.make(*prim.match_dtypes(a, b)))

    # ------------------------------------------------------------ asking

    def is_equal(self, a: PrimExpr, b: PrimExpr) -> bool:
        x, y = number_of(a), number_of(b)
        if x is not None and y is not None:
            return x == y
        return a is b or prove_equal(a, b, self.facts) is YES

    def is_at_most(self, a: PrimExpr, b: PrimExpr) -> bool:
        x, y = number_of(a), number_of(b)
        if x is not None and y is not None:
            return x <= y
        return prove(prim.LE.make(*prim.match_dtypes(a, b)), self.facts) is YES

    def is_positive(self, e: PrimExpr) -> bool:
        """True if a divisor is above 0 wherever it is not 0."""
        return self.is_at_most(prim.like(0, e), e)

    def quotient(self, a: PrimExpr, b: PrimExpr) -> PrimExpr | None:
        """`a / b` where `b` is proved to divide `a`, else None."""
        x, y = number_of(a), number_of(b)
        if x is not None and y is not None:
            return prim.const(x // y, a.dtype) if y and x % y == 0 else None
        if is_one(b):
            return a
        found = self.floor_divide(a, b)
        return found if self.is_equal(self.multiply(found, b), a) else None
