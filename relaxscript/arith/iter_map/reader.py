"""Reading expressions as sums of digits."""

from __future__ import annotations

from collections.abc import Mapping

from relaxscript.arith.format import format_expr
from relaxscript.arith.index_algebra import is_one, is_zero
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.tir import Range
from relaxscript.ir.walk import free_vars

from .digits import DigitAlgebra, IndexIterator, NotAffine, ScaledDigit, Sum, whole
from .fuse import Fuser

__all__ = ["Reader"]


class Reader:
    """Reads expressions of the variables of a domain.

    With `drops_units`, a variable that has one value only is that value.
    """

    def __init__(
        self, domain: Mapping[Var, Range], algebra: DigitAlgebra, fuser: Fuser, drops_units: bool
    ) -> None:
        self.domain = domain
        self.algebra = algebra
        self.fuser = fuser
        self.iterators: dict[Var, IndexIterator] = {}
        self._sums: dict[Var, Sum] = {}
        # What was read, by the identity of the expression, which stays as long.
        self._read: dict[int, tuple[PrimExpr, Sum]] = {}
        # The parts of a predicate that make no iterator smaller.
        self.other_conditions: list[PrimExpr] = []
        for var, bounds in domain.items():
            least, extent = prim.cast(bounds.min, var.dtype), prim.cast(bounds.extent, var.dtype)
            if drops_units and algebra.is_equal(extent, prim.like(1, extent)):
                self._sums[var] = Sum((), least)
                continue
            value = var if is_zero(least) else var - least
            iterator = self.iterators[var] = IndexIterator(value, extent, var=var)
            self._sums[var] = Sum((ScaledDigit(whole(iterator), prim.like(1, var)),), least)

    def depends(self, e: PrimExpr) -> bool:
        """True if a variable of the domain is in `e`."""
        return any(v in self._sums for v in free_vars(e))

    def read_parts(self, e: PrimExpr) -> Sum:
        """`e` as a sum of digits, and of all that is none."""
        total = Sum((), prim.like(0, e))
        stack = [(e, prim.like(1, e))]
        while stack:
            part, factor = stack.pop()
            match part:
                case prim.Add(a, b):
                    stack += [(b, factor), (a, factor)]
                case prim.Sub(a, b):
                    opposite = self.algebra.multiply(factor, prim.like(-1, factor))
                    stack += [(b, opposite), (a, factor)]
                case prim.Mul(a, b) if not self.depends(b):
                    stack.append((a, self.algebra.multiply(factor, b)))
                case prim.Mul(a, b) if not self.depends(a):
                    stack.append((b, self.algebra.multiply(factor, a)))
                case _:
                    total = self.algebra.plus(total, self._read_or_keep(part), factor)
        return total

    def _read_or_keep(self, e: PrimExpr) -> Sum:
        try:
            return self.read(e)
        except NotAffine:
            return Sum((), e)

    def read(self, e: PrimExpr) -> Sum:
        """`e` as a sum of digits. Raises `NotAffine` where it is none."""
        stack = [e]
        while stack:
            node = stack[-1]
            left = [part for part in _parts_of(node) if id(part) not in self._read]
            if left:
                stack += left[::-1]
            else:
                stack.pop()
                if id(node) not in self._read:
                    self._read[id(node)] = (node, self._combine(node))
        return self._read[id(e)][1]

    def _combine(self, e: PrimExpr) -> Sum:
        """`e` as a sum of digits, where its parts were read."""
        match e:
            case Var() if e in self._sums:
                return self._sums[e]
            case prim.Binary(a, b) if _parts_of(e):
                left, right = self._read[id(a)][1], self._read[id(b)][1]
                return self._operation(e, left, right)
        if self.depends(e):
            raise NotAffine(f"`{format_expr(e)}` is no sum, product, quotient or remainder")
        return Sum((), e)

    def _operation(self, e: PrimExpr, a: Sum, b: Sum) -> Sum:
        match e:
            case prim.Mul():
                return self._product(a, b, e)
            case prim.FloorDiv():
                return self._division(a, b, e)
            case prim.FloorMod():
                return self._remainder(a, b, e)
        return self.algebra.plus(a, b, prim.like(-1 if isinstance(e, prim.Sub) else 1, e))

    def _scaled(self, a: Sum, factor: PrimExpr) -> Sum:
        return self.algebra.plus(Sum((), prim.like(0, a.base)), a, factor)

    def _product(self, a: Sum, b: Sum, e: PrimExpr) -> Sum:
        if not b.terms:
            return self._scaled(a, b.base)
        if not a.terms:
            return self._scaled(b, a.base)
        raise NotAffine(f"`{format_expr(e)}` multiplies two iterators")

    def _operands(
        self, a: Sum, b: Sum, e: PrimExpr, modulus: PrimExpr | None = None
    ) -> tuple[Sum, PrimExpr]:
        """The dividend, with one term at most, and the divisor."""
        if b.terms:
            raise NotAffine(f"`{format_expr(e)}` has an iterator in its divisor")
        if a.terms and not self.algebra.is_positive(b.base):
            raise NotAffine(f"the divisor of `{format_expr(e)}` is not proved to be above 0")
        return self.fuser.fuse(a, modulus), b.base

    def _division(self, a: Sum, b: Sum, e: PrimExpr) -> Sum:
        dividend, divisor = self._operands(a, b, e)
        base = self.algebra.floor_divide(dividend.base, divisor)
        if not dividend.terms:
            return _constant(dividend.base, base, e)
        digit, scale = dividend.terms[0]
        factor = self.algebra.quotient(scale, divisor)
        if factor is not None:
            return Sum((ScaledDigit(digit, factor),), base)
        base, _ = self._in_units_of(scale, dividend.base)
        divided, more = self.algebra.divide(digit, base, self._divisor_of(scale, divisor, e))
        return Sum((ScaledDigit(divided, prim.like(1, scale)),), more)

    def _remainder(self, a: Sum, b: Sum, e: PrimExpr) -> Sum:
        dividend, divisor = self._operands(a, b, e, modulus=b.base)
        if not dividend.terms:
            return _constant(dividend.base, self.algebra.floor_remainder(dividend.base, divisor), e)
        digit, scale = dividend.terms[0]
        if self.algebra.quotient(scale, divisor) is not None:
            return Sum((), self.algebra.floor_remainder(dividend.base, divisor))
        base, rest = self._in_units_of(scale, dividend.base)
        kept, more = self.algebra.remainder(digit, base, self._divisor_of(scale, divisor, e))
        rest = self.algebra.add(rest, self.algebra.multiply(more, scale))
        return Sum((ScaledDigit(kept, scale),), rest)

    def _in_units_of(self, scale: PrimExpr, base: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
        """`base` as a multiple of `scale`, and what is left of it."""
        if is_one(scale):
            return base, prim.like(0, base)
        quotient = self.algebra.floor_divide(base, scale)
        return quotient, self.algebra.floor_remainder(base, scale)

    def _divisor_of(self, scale: PrimExpr, divisor: PrimExpr, e: PrimExpr) -> PrimExpr:
        """The divisor of a digit itself where the digit times `scale` is divided."""
        found = self.algebra.quotient(divisor, scale)
        if found is None or not self.algebra.is_positive(scale):
            raise NotAffine(
                f"in `{format_expr(e)}`, neither the factor `{format_expr(scale)}` nor the divisor "
                "is proved to divide the other"
            )
        return found


def _constant(operand: PrimExpr, value: PrimExpr, written: PrimExpr) -> Sum:
    """A sum without digits: its value where the operand is a number, else as it was written."""
    return Sum((), value if isinstance(operand, prim.IntImm) else written)


def _parts_of(e: PrimExpr) -> tuple[PrimExpr, ...]:
    """The operands of what is read by its operands."""
    return (e.a, e.b) if isinstance(e, _OPERATIONS) else ()


_OPERATIONS = (prim.Add, prim.Sub, prim.Mul, prim.FloorDiv, prim.FloorMod)
