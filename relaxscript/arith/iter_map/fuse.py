"""Fusing: a sum of digits that takes consecutive multiples of one number is one digit.

With a `y` below 4 and a `z` below 3, `x * 12 + y * 3 + z` is an iterator. Each factor is the
product of the extents below it. Where factors are smaller, values are taken more than once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from relaxscript.arith.format import format_expr
from relaxscript.arith.index_algebra import is_one, number_of
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr

from .digits import DigitAlgebra, IndexIterator, NotAffine, ScaledDigit, Sum, whole

__all__ = ["Fuser", "in_order_of_scale"]


class _Fused(NamedTuple):
    """Terms from the largest scale to the smallest, and how many multiples of that they take."""

    terms: list[ScaledDigit]
    extent: PrimExpr
    is_exact: bool


class Fuser:
    """Fuses sums under some facts; `constrained` are iterators that predicates made smaller.

    Equal sums are the same iterator. With `overlaps`, values may be taken more than once.
    """

    def __init__(self, algebra: DigitAlgebra, overlaps: bool) -> None:
        self.algebra = algebra
        self.overlaps = overlaps
        self.constrained: list[IndexIterator] = []
        self._fused: list[IndexIterator] = []

    def fuse(self, total: Sum, modulus: PrimExpr | None = None) -> Sum:
        """`total` with one term at most. Raises `NotAffine` where that is not found.

        With a `modulus`, the result may differ by multiples of it, where there is no other.
        """
        total = self.simplified(total)
        if len(total.terms) < 2:
            return total
        try:
            iterator, scale = self.iterator_of(total.terms)
        except NotAffine:
            if modulus is None:
                raise
            iterator, scale = self.iterator_of(total.terms, modulus)
        known = next((old for old in self._fused if self._is_same(old, iterator)), None)
        if known is None:
            self._fused.append(iterator)
        return Sum((ScaledDigit(whole(known or iterator), scale),), total.base)

    def simplified(self, total: Sum) -> Sum:
        """`total` with digits joined and constrained iterators in place of their sums."""
        size = -1
        while size != len(total.terms):
            size = len(total.terms)
            total = self._with_constrained(self.algebra.join(total))
            total = total._replace(terms=self.algebra.without_units(total.terms))
        return total

    def iterator_of(
        self, terms: Sequence[ScaledDigit], modulus: PrimExpr | None = None
    ) -> tuple[IndexIterator, PrimExpr]:
        """The iterator that is a sum of terms, and the number that it is to be multiplied by."""
        if len(terms) == 1:
            digit, scale = terms[0]
            one = prim.like(1, scale)
            return IndexIterator(
                Sum((ScaledDigit(digit, one),), prim.like(0, scale)), digit.extent
            ), scale
        ordered, extent, is_exact = self._mixed_radix(terms, modulus)
        scale = ordered[-1].scale
        relative = []
        for digit, own in ordered:
            quotient = self.algebra.quotient(own, scale)
            assert quotient is not None
            relative.append(ScaledDigit(digit, quotient))
        return IndexIterator(Sum(tuple(relative), prim.like(0, scale)), extent, is_exact), scale

    def _is_same(self, a: IndexIterator, b: IndexIterator) -> bool:
        return len(a.terms) == len(b.terms) and all(
            self.algebra.is_equal(s, t) and self.algebra.is_same(d, e)
            for (d, s), (e, t) in zip(a.terms, b.terms)
        )

    # ------------------------------------------------------------ order

    def _mixed_radix(self, terms: Sequence[ScaledDigit], modulus: PrimExpr | None) -> _Fused:
        """The order in which each scale continues what those below it take."""
        left = list(terms)
        lowest = self._lowest(left)
        left.remove(lowest)
        chosen, extent, is_exact = [lowest], lowest.digit.extent, True
        while left:
            scale = self.algebra.multiply(lowest.scale, extent)
            following = self._next(left, scale, modulus)
            if following is not None:
                chosen.append(ScaledDigit(following.digit, scale))
                extent = self.algebra.multiply(extent, following.digit.extent)
            else:
                following, quotient = self._overlapping(left, lowest.scale, extent)
                chosen.append(following)
                more = self.algebra.subtract(following.digit.extent, prim.like(1, extent))
                extent = self.algebra.add(extent, self.algebra.multiply(quotient, more))
                is_exact = False
            left.remove(following)
        return _Fused(chosen[::-1], extent, is_exact)

    def _lowest(self, terms: Sequence[ScaledDigit]) -> ScaledDigit:
        """The last term whose scale divides all others; of several, one that is always 0."""
        found = [
            term
            for term in reversed(terms)
            if all(self.algebra.quotient(other.scale, term.scale) is not None for other in terms)
            and all(self._is_positive(other.scale, term.scale) for other in terms)
        ]
        if not found:
            scales = ", ".join(f"`{format_expr(term.scale)}`" for term in terms)
            raise NotAffine(f"none of the factors {scales} of a sum is proved to divide the others")
        return next((term for term in found if is_one(term.digit.extent)), found[0])

    def _is_positive(self, scale: PrimExpr, by: PrimExpr) -> bool:
        quotient = self.algebra.quotient(scale, by)
        return quotient is not None and self.algebra.is_positive(quotient)

    def _next(
        self, left: Sequence[ScaledDigit], scale: PrimExpr, modulus: PrimExpr | None
    ) -> ScaledDigit | None:
        found = [term for term in reversed(left) if self.algebra.is_equal(term.scale, scale)]
        if not found and modulus is not None:
            gaps = [(term, self.algebra.subtract(scale, term.scale)) for term in reversed(left)]
            found = [t for t, gap in gaps if self.algebra.quotient(gap, modulus) is not None]
        return next((t for t in found if is_one(t.digit.extent)), found[0] if found else None)

    def _overlapping(
        self, left: Sequence[ScaledDigit], scale: PrimExpr, extent: PrimExpr
    ) -> tuple[ScaledDigit, PrimExpr]:
        """The term of the smallest scale that begins within the values that are taken already.

        The second result is that scale as a multiple of the lowest one.
        """
        one = prim.like(1, extent)
        for term in in_order_of_scale(left)[::-1] if self.overlaps else ():
            quotient = self.algebra.quotient(term.scale, scale)
            if (
                quotient is not None
                and self.algebra.is_at_most(one, quotient)
                and self.algebra.is_at_most(quotient, extent)
            ):
                return term, quotient
        wanted = self.algebra.multiply(scale, extent)
        scales = ", ".join(f"`{format_expr(term.scale)}`" for term in left)
        raise NotAffine(
            f"a sum goes on at the factor `{format_expr(wanted)}`, and what is left has {scales}"
        )

    # ------------------------------------------------------------ predicates

    def _with_constrained(self, total: Sum) -> Sum:
        """`total` with constrained iterators in place of the sums that predicates speak of."""
        for iterator in self.constrained:
            factor = self._factor_of(iterator, total.terms)
            if factor is None:
                continue
            own = [term.digit for term in iterator.terms]
            rest = [
                term
                for term in total.terms
                if not any(self.algebra.is_same(term.digit, digit) for digit in own)
            ]
            assert isinstance(iterator.value, Sum)
            least = self.algebra.multiply(iterator.value.base, factor)
            total = Sum(
                (*rest, ScaledDigit(whole(iterator), factor)),
                self.algebra.subtract(total.base, least),
            )
        return total

    def _factor_of(self, iterator: IndexIterator, terms: Sequence[ScaledDigit]) -> PrimExpr | None:
        """The number by which all terms of an iterator are multiplied in a sum."""
        factor: PrimExpr | None = None
        for digit, scale in iterator.terms:
            found = next((t for t in terms if self.algebra.is_same(t.digit, digit)), None)
            if found is None:
                return None
            own = self.algebra.quotient(found.scale, scale)
            if own is None or (factor is not None and not self.algebra.is_equal(own, factor)):
                return None
            factor = own
        return factor


def in_order_of_scale(terms: Sequence[ScaledDigit]) -> list[ScaledDigit]:
    """`terms` from the largest scale to the smallest: by their variables, then by their numbers."""

    def key(term: ScaledDigit) -> tuple[int, int]:
        variables, number = _size_of(term.scale)
        return -variables, -number

    return sorted(terms, key=key)


def _size_of(scale: PrimExpr) -> tuple[int, int]:
    """The count of the factors of a product that are no numbers, and the number that is one."""
    number = number_of(scale)
    if number is not None:
        return 0, number
    if isinstance(scale, prim.Mul):
        (a, x), (b, y) = _size_of(scale.a), _size_of(scale.b)
        return a + b, x * y
    return 1, 1
