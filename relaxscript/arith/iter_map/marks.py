"""Digits as the expressions that users see."""

from __future__ import annotations

from relaxscript.arith.index_algebra import is_one, is_zero
from relaxscript.ir import prim
from relaxscript.ir.iter_map import IterMark, IterSplitExpr, IterSumExpr
from relaxscript.ir.prim import PrimExpr

from .digits import Digit, DigitAlgebra, IndexIterator, Sum, is_whole
from .normalize import normalize_iter_map_to_expr

__all__ = ["MarkBuilder"]


class MarkBuilder:
    """Makes one `IterMark` of each iterator."""

    def __init__(self, algebra: DigitAlgebra) -> None:
        self.algebra = algebra
        self._marks: dict[int, IterMark] = {}
        self._shifted: dict[int, list[tuple[PrimExpr, IterMark]]] = {}
        # What has a mark stays, so that no other iterator gets its number.
        self._kept: list[IndexIterator] = []

    def sum_of(self, total: Sum) -> IterSumExpr:
        """A sum of digits as an expression."""
        splits = tuple(self.split_of(digit, scale) for digit, scale in total.terms)
        return IterSumExpr.make(splits, total.base)

    def split_of(self, digit: Digit, scale: PrimExpr) -> IterSplitExpr:
        """A digit times a number as an expression."""
        mark = self._shifted_mark(digit.of, digit.offset)
        return IterSplitExpr.make(mark, digit.low, digit.extent, scale)

    def mark_of(self, iterator: IndexIterator) -> IterMark:
        """The mark of an iterator, always the same."""
        mark = self._marks.get(id(iterator))
        if mark is None:
            value = self._flat(iterator.value)
            source = self.sum_of(value) if isinstance(value, Sum) else value
            mark = self._marks[id(iterator)] = IterMark.make(source, iterator.extent)
            self._kept.append(iterator)
        return mark

    def _flat(self, value: PrimExpr | Sum) -> PrimExpr | Sum:
        """`value` without sums of one sum, as a second predicate makes of an iterator."""
        while isinstance(value, Sum) and len(value.terms) == 1 and is_whole(value.terms[0].digit):
            inner = value.terms[0].digit.of.value
            if not isinstance(inner, Sum) or not is_one(value.terms[0].scale):
                break
            value = Sum(inner.terms, self.algebra.add(inner.base, value.base))
        return value

    def _shifted_mark(self, iterator: IndexIterator, offset: PrimExpr) -> IterMark:
        """The mark of an iterator that begins at `offset`, as if there were something before."""
        mark = self.mark_of(iterator)
        if is_zero(offset):
            return mark
        known = self._shifted.setdefault(id(iterator), [])
        for other, shifted in known:
            if self.algebra.is_equal(other, offset):
                return shifted
        one = prim.like(1, offset)
        split = IterSplitExpr.make(mark, one, iterator.extent, one)
        source = IterSumExpr.make((split,), offset)
        shifted = IterMark.make(source, self.algebra.add(iterator.extent, offset))
        known.append((offset, shifted))
        return shifted

    def padding_of(self, digits: list[Digit]) -> PrimExpr:
        """The condition under which iterators are beyond their extents, within those of digits."""
        found: list[PrimExpr] = []
        known: set[tuple[int, str]] = set()
        for digit in digits:
            value = normalize_iter_map_to_expr(self.mark_of(digit.of).source)
            extent = digit.of.extent
            period = self.algebra.period(digit) if digit.is_cut else digit.low
            end = self.algebra.add(extent, digit.offset)
            for side, condition, is_padded in (
                ("before", value < 0, not is_zero(digit.offset)),
                ("after", value >= extent, self.algebra.quotient(end, period) is None),
            ):
                if is_padded and (id(digit.of), side) not in known:
                    known.add((id(digit.of), side))
                    found.append(condition)
        if not found:
            return prim.const(False)
        result = found[0]
        for condition in found[1:]:
            result = prim.Or(result, condition)
        return result
