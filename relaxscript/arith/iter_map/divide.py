"""Division of an iter map by some of its iterators: into what they index, and the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

from relaxscript.arith.analyzer import Analyzer
from relaxscript.arith.arguments import variable, wrong
from relaxscript.arith.index_algebra import is_one, is_zero
from relaxscript.ir import prim
from relaxscript.ir.iter_map import IterMark, IterSumExpr
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.tir import Range
from relaxscript.ir.walk import free_vars

from .detect import Detection, IterMapLevel
from .digits import Digit, DigitAlgebra, IndexIterator, NotAffine, ScaledDigit, Sum
from .marks import MarkBuilder
from .normalize import normalize_iter_map_to_expr

__all__ = ["subspace_divide"]


def subspace_divide(
    bindings: Sequence[PrimExpr | int],
    input_iters: Mapping[Var, Range],
    sub_iters: Sequence[Var],
    predicate: PrimExpr | bool = True,
    check_level: IterMapLevel | str | None = IterMapLevel.Surjective,
    simplify_trivial_iterators: bool = True,
    *,
    analyzer: Analyzer | None = None,
) -> list[list[IterMark]]:
    """Write each binding as `outer * extent of inner + inner`, with `sub_iters` in `inner` only.

    Each binding becomes `[outer, inner]`, whose sources are sums; what is no iterator is in
    `inner`. Last come two marks whose extents are the parts of `predicate` that hold outside and
    inside: `z * 12 + y * 3 + x + c` by `x` is `[z * 4 + y, x + c]`. The list is empty where the
    bindings are no iter map of `check_level`. It is so where an outer iterator is below an inner
    one.

    Raises `TypeError` as `detect_iter_map` does, and for what is no variable of the domain.
    """
    found = Detection(
        "subspace_divide", bindings, input_iters, predicate, check_level,
        simplify_trivial_iterators, analyzer, name="bindings",
    )  # fmt: skip
    inner = _variables_of("subspace_divide.sub_iters", sub_iters, input_iters)
    try:
        sums = found.sums()
        divider = _Divider(found.algebra, inner)
        marks = [divider.divide_sum(total) for total in sums]
        return [*marks, divider.divide_predicate(found)]
    except NotAffine:
        return []


def _variables_of(name: str, value: Sequence[Var], domain: Mapping[Var, Range]) -> set[Var]:
    if isinstance(value, (str, PrimExpr)) or not hasattr(value, "__iter__"):
        raise wrong(name, "a list of variables", value)
    found = [variable(name, v) for v in value]
    for v in found:
        if v not in domain:
            raise TypeError(f"`{name}` has `{v.name}`, which is not among the input_iters")
    return set(found)


def _all_of(conditions: Sequence[PrimExpr]) -> PrimExpr:
    """The condition that all of some hold."""
    if not conditions:
        return prim.const(True)
    result = conditions[0]
    for condition in conditions[1:]:
        result = prim.And(result, condition)
    return result


class _Parts(NamedTuple):
    """A digit as `outer * extent + inner`, where `inner` is below `extent`."""

    outer: tuple[ScaledDigit, ...]
    inner: tuple[ScaledDigit, ...]
    extent: PrimExpr


class _Divider:
    """Divides digits by the set of the inner variables."""

    def __init__(self, algebra: DigitAlgebra, inner: Set[Var]) -> None:
        self.algebra = algebra
        self.marks = MarkBuilder(algebra)
        self._inner = inner
        self._divided: dict[int, tuple[IndexIterator | None, IndexIterator | None]] = {}
        self._kept: list[IndexIterator] = []

    # ------------------------------------------------------------ results

    def divide_sum(self, total: Sum) -> list[IterMark]:
        """The marks of one binding."""
        zero, one = prim.like(0, total.base), prim.like(1, total.base)
        if not total.terms:
            return [self._mark(Sum((), zero), one), self._mark(total, one)]
        digit, scale = total.terms[0]
        parts = self._divide(digit)
        if parts.outer and parts.inner and not is_one(scale):
            raise NotAffine("a binding of both sides has a factor")
        size = self.algebra.floor_divide(digit.extent, parts.extent) if parts.outer else one
        outer = Sum(tuple(t._replace(scale=self._times(t.scale, scale)) for t in parts.outer), zero)
        own = tuple(t._replace(scale=self._times(t.scale, scale)) for t in parts.inner)
        return [self._mark(outer, size), self._mark(Sum(own, total.base), parts.extent)]

    def _times(self, a: PrimExpr, b: PrimExpr) -> PrimExpr:
        return self.algebra.multiply(a, b)

    def _mark(self, total: Sum, extent: PrimExpr) -> IterMark:
        return IterMark.make(self.marks.sum_of(total), extent)

    def divide_predicate(self, found: Detection) -> list[IterMark]:
        """The marks whose extents are the conditions of both sides."""
        conditions: tuple[list[PrimExpr], list[PrimExpr]] = ([], [])
        for condition in found.reader.other_conditions:
            used = {v for v in free_vars(condition) if v in found.reader.domain}
            if not used.isdisjoint(self._inner) and not used <= self._inner:
                raise NotAffine("a predicate speaks of both sides")
            conditions[not used.isdisjoint(self._inner)].append(condition)
        for iterator in found.fuser.constrained:
            for side, part in enumerate(self._divide_iterator(iterator)):
                if part is None:
                    continue
                zero = prim.like(0, part.extent)
                value = normalize_iter_map_to_expr(self.marks.sum_of(Sum(part.terms, zero)))
                conditions[side].extend(compare(value, bound) for compare, bound in part.conditions)
        nothing = IterSumExpr.make((), prim.const(0))
        return [IterMark.make(nothing, _all_of(own)) for own in conditions]

    # ------------------------------------------------------------ digits

    def _divide(self, digit: Digit) -> _Parts:
        one = prim.like(1, digit.extent)
        outer, inner = self._divide_iterator(digit.of)
        if outer is None:
            assert inner is not None
            return _Parts((), (ScaledDigit(replace(digit, of=inner), one),), digit.extent)
        if inner is None:
            return _Parts((ScaledDigit(replace(digit, of=outer), one),), (), one)
        if not is_zero(digit.offset):
            raise NotAffine("a part of both sides begins within its iterator")
        quotient = self.algebra.quotient
        if digit.is_cut and quotient(inner.extent, self.algebra.period(digit)) is not None:
            return _Parts((), (ScaledDigit(replace(digit, of=inner), one),), digit.extent)
        low = quotient(digit.low, inner.extent)
        if low is not None:
            return _Parts((ScaledDigit(replace(digit, of=outer, low=low), one),), (), one)
        size = quotient(inner.extent, digit.low)
        above = None if size is None else quotient(digit.extent, size)
        if size is None or above is None:
            raise NotAffine("a part of both sides is divided elsewhere than between them")
        upper = replace(digit, of=outer, low=one, extent=above)
        lower = replace(digit, of=inner, extent=size, is_cut=False)
        return _Parts((ScaledDigit(upper, one),), (ScaledDigit(lower, one),), size)

    def _divide_iterator(
        self, iterator: IndexIterator
    ) -> tuple[IndexIterator | None, IndexIterator | None]:
        """The outer and the inner iterator that an iterator consists of; None for one of extent 1.

        The value is that of the outer one times the extent of the inner one, and the inner one.
        """
        known = self._divided.get(id(iterator))
        if known is None:
            known = self._divided[id(iterator)] = self._divide_new(iterator)
            self._kept.append(iterator)
        return known

    def _divide_new(
        self, iterator: IndexIterator
    ) -> tuple[IndexIterator | None, IndexIterator | None]:
        if iterator.var is not None:
            return (None, iterator) if iterator.var in self._inner else (iterator, None)
        parts = [self._divide(term.digit) for term in iterator.terms]
        assert isinstance(iterator.value, Sum)
        for is_inner in (False, True):
            if not any(p.outer if is_inner else p.inner for p in parts):
                terms = tuple(
                    part._replace(scale=self._times(part.scale, term.scale))
                    for own, term in zip(parts, iterator.terms)
                    for part in (own.inner if is_inner else own.outer)
                )
                value = iterator.value._replace(terms=terms)
                same = IndexIterator(value, iterator.extent, iterator.is_exact, iterator.conditions)
                return (None, same) if is_inner else (same, None)
        return self._divide_mixed(iterator, parts)

    def _divide_mixed(
        self, iterator: IndexIterator, parts: Sequence[_Parts]
    ) -> tuple[IndexIterator, IndexIterator]:
        if iterator.conditions or not iterator.is_exact:
            raise NotAffine("a sum of both sides is no product of them")
        outer: list[ScaledDigit] = []
        inner: list[ScaledDigit] = []
        size = prim.like(1, iterator.extent)
        for (_, scale), own in zip(reversed(iterator.terms), reversed(parts)):
            if own.inner and outer:
                raise NotAffine("an outer iterator is below an inner one")
            if own.inner:
                inner += [t._replace(scale=self._times(t.scale, scale)) for t in own.inner]
                size = self._times(scale, own.extent)
            above = self.algebra.quotient(self._times(scale, own.extent), size)
            if above is None:
                raise NotAffine("an outer iterator is below an inner one")
            outer += [t._replace(scale=self._times(t.scale, above)) for t in own.outer]
        zero = prim.like(0, iterator.extent)
        extent = self.algebra.floor_divide(iterator.extent, size)
        return (
            IndexIterator(Sum(tuple(outer[::-1]), zero), extent),
            IndexIterator(Sum(tuple(inner[::-1]), zero), size),
        )
