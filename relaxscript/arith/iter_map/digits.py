"""Digits of iterators: what division and remainder make of these.

An iterator takes each of the integers from 0 to before its extent. It is a variable of the domain,
or a sum of digits that together do so: `x * 4 + y` for a `y` below 4. A digit of `i` is
`(i + offset) // low`, or `(i + offset) // low % extent`, which is said to be cut. Dividing a digit,
or taking its remainder, is a digit again, of the same iterator; this is what makes it possible to
see whether digits overlap, and whether they tell everything of their iterator.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from relaxscript.arith.format import format_expr
from relaxscript.arith.index_algebra import IndexAlgebra, is_one, is_zero
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr

__all__ = [
    "Digit",
    "DigitAlgebra",
    "IndexIterator",
    "NotAffine",
    "ScaledDigit",
    "Sum",
    "is_whole",
    "whole",
]


class NotAffine(Exception):
    """Indices are no iter map; the message says why."""


class IndexIterator:
    """A source of the integers from 0 to before `extent`, if its digits are independent.

    `value` is an expression of one variable, or a sum of digits. `is_exact` is True if it takes
    each integer for one choice of these digits only. `conditions` hold where a predicate made the
    extent smaller: comparisons of the sum of digits with a bound.
    """

    __slots__ = ("conditions", "extent", "is_exact", "value", "var")

    def __init__(
        self,
        value: PrimExpr | Sum,
        extent: PrimExpr,
        is_exact: bool = True,
        conditions: tuple[tuple[type[prim.Comparison], PrimExpr], ...] = (),
        var: prim.Var | None = None,
    ) -> None:
        self.value = value
        self.extent = extent
        self.is_exact = is_exact
        self.conditions = conditions
        self.var = var

    @property
    def terms(self) -> tuple[ScaledDigit, ...]:
        """The digits that it is the sum of; none for a variable."""
        return self.value.terms if isinstance(self.value, Sum) else ()


@dataclass(frozen=True, eq=False)
class Digit:
    """`(of + offset) // low`, and of this the remainder by `extent` where it `is_cut`.

    `offset` is from 0 to before `low` (`low * extent` where it is cut). The value is from 0 to
    before `extent`.
    """

    of: IndexIterator
    offset: PrimExpr
    low: PrimExpr
    extent: PrimExpr
    is_cut: bool


class ScaledDigit(NamedTuple):
    """A digit times a number."""

    digit: Digit
    scale: PrimExpr


class Sum(NamedTuple):
    """The sum of some digits times numbers and of `base`, in which no iterator is."""

    terms: tuple[ScaledDigit, ...]
    base: PrimExpr


def whole(iterator: IndexIterator) -> Digit:
    """The digit that is all of an iterator."""
    zero, one = prim.like(0, iterator.extent), prim.like(1, iterator.extent)
    return Digit(iterator, zero, one, iterator.extent, False)


def is_whole(digit: Digit) -> bool:
    """True if a digit is all of its iterator."""
    return not digit.is_cut and is_one(digit.low) and is_zero(digit.offset)


class DigitAlgebra(IndexAlgebra):
    """Arithmetic of digits under some facts."""

    def is_same(self, a: Digit, b: Digit) -> bool:
        """True if two digits are proved to be one."""
        if a is b:
            return True
        if a.of is not b.of or not self.is_equal(a.low, b.low):
            return False
        a, b = self.uncut(a), self.uncut(b)
        return (
            a.is_cut is b.is_cut
            and self.is_equal(a.offset, b.offset)
            and self.is_equal(a.extent, b.extent)
        )

    def uncut(self, digit: Digit) -> Digit:
        """`digit` without a remainder that is that of a smaller value."""
        if digit.is_cut and is_zero(digit.offset):
            period = self.multiply(digit.low, digit.extent)
            if self.is_equal(period, digit.of.extent):
                return replace(digit, is_cut=False)
        return digit

    def period(self, digit: Digit) -> PrimExpr:
        """The number of integers after which a cut digit repeats."""
        return self.multiply(digit.low, digit.extent)

    # ------------------------------------------------------------ division

    def divide(self, digit: Digit, base: PrimExpr, divisor: PrimExpr) -> tuple[Digit, PrimExpr]:
        """A digit, and a number to add to it, for `(digit + base) // divisor`."""
        if not digit.is_cut:
            offset = self.add(digit.offset, self.multiply(base, digit.low))
            low = self.multiply(digit.low, divisor)
            quotient = self.floor_divide(offset, low)
            offset = self.subtract(offset, self.multiply(quotient, low))
            extent = self.ceil_divide(self.add(digit.of.extent, offset), low)
            return Digit(digit.of, offset, low, extent, False), quotient
        extent_above = self.quotient(digit.extent, divisor)
        if extent_above is None:
            raise NotAffine(
                f"a remainder by {format_expr(digit.extent)} is divided by {format_expr(divisor)}, "
                "which is not proved to divide it"
            )
        quotient_of_base = self.quotient(base, divisor)
        if quotient_of_base is None:
            inner = IndexIterator(
                Sum((ScaledDigit(digit, prim.like(1, base)),), prim.like(0, base)), digit.extent
            )
            return self.divide(whole(inner), base, divisor)
        low = self.multiply(digit.low, divisor)
        return Digit(digit.of, digit.offset, low, extent_above, True), quotient_of_base

    def remainder(self, digit: Digit, base: PrimExpr, divisor: PrimExpr) -> tuple[Digit, PrimExpr]:
        """A digit, and a number to add to it, for `(digit + base) % divisor`."""
        if digit.is_cut and self.quotient(digit.extent, divisor) is None:
            raise NotAffine(
                f"of a remainder by {format_expr(digit.extent)} the remainder by "
                f"{format_expr(divisor)} is taken, which is not proved to divide it"
            )
        offset = self.add(digit.offset, self.multiply(base, digit.low))
        period = self.multiply(digit.low, divisor)
        offset = self.floor_remainder(offset, period)
        # Where a predicate left no more than one period, there is nothing to take a remainder of.
        if digit.of.conditions and self.is_at_most(self.add(digit.of.extent, offset), period):
            return self.divide(whole(digit.of), offset, digit.low)
        return Digit(digit.of, offset, digit.low, divisor, True), prim.like(0, base)

    # ------------------------------------------------------------ sums

    def plus(self, a: Sum, b: Sum, factor: PrimExpr) -> Sum:
        """`a + b * factor`, in which each digit is once."""
        terms = list(a.terms)
        for digit, scale in b.terms:
            added = self.multiply(scale, factor)
            for i, (other, known) in enumerate(terms):
                if self.is_same(digit, other):
                    terms[i] = ScaledDigit(other, self.add(known, added))
                    break
            else:
                terms.append(ScaledDigit(digit, added))
        kept = tuple(term for term in terms if not is_zero(term.scale))
        return Sum(kept, self.add(a.base, self.multiply(b.base, factor)))

    def join(self, total: Sum) -> Sum:
        """`total` with one digit for each two that follow one another: `x // 4 * 4 + x % 4`."""
        terms, base = list(self.without_units(total.terms)), total.base
        pair = self._next_pair(terms)
        while pair is not None:
            low, high = terms[pair[0]], terms[pair[1]]
            digit, rest = self._joined(low.digit, high.digit)
            terms[min(pair)] = ScaledDigit(digit, low.scale)
            del terms[max(pair)]
            base = self.add(base, self.multiply(rest, low.scale))
            pair = self._next_pair(terms)
        return Sum(tuple(terms), base)

    def _joined(self, low: Digit, high: Digit) -> tuple[Digit, PrimExpr]:
        """The digit, and a number to add to it, for `low + high * low.extent`."""
        if high.is_cut:
            extent = self.multiply(low.extent, high.extent)
            return self.uncut(replace(high, low=low.low, extent=extent)), prim.like(0, high.low)
        return self.divide(whole(high.of), high.offset, low.low)

    def _next_pair(self, terms: list[ScaledDigit]) -> tuple[int, int] | None:
        for i, low in enumerate(terms):
            if not low.digit.is_cut:
                continue
            for k, high in enumerate(terms):
                if low.digit.of is high.digit.of and i != k and self._follows(low, high):
                    return i, k
        return None

    def _follows(self, low: ScaledDigit, high: ScaledDigit) -> bool:
        """True if `high` is what is above of `low`, in the iterator as in the sum."""
        period = self.period(low.digit)
        gap = self.subtract(high.digit.offset, low.digit.offset)
        return (
            self.is_equal(high.digit.low, period)
            and self.is_equal(high.scale, self.multiply(low.scale, low.digit.extent))
            and (is_zero(gap) or is_zero(self.floor_remainder(gap, period)))
        )

    def without_units(self, terms: tuple[ScaledDigit, ...]) -> tuple[ScaledDigit, ...]:
        """`terms` but for digits that are always 0.

        A variable of extent 1 as a whole stays: where it is not wanted, it is no iterator.
        """
        return tuple(term for term in terms if not self._is_unit(term.digit))

    def _is_unit(self, digit: Digit) -> bool:
        stays = is_whole(digit) and not digit.of.conditions
        return not stays and self.is_equal(digit.extent, prim.like(1, digit.extent))
