"""Indices that go through several axes at once, and how one axis becomes these: `i * 64 + j`.

An index is a sum of loops, each times a stride. An axis is divided by a stride where what is left
over by it is surely below it. So an element has one place in the two axes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from relaxscript.arith import YES, Facts, bounds, detect_linear_equation, prove
from relaxscript.arith.index_algebra import IndexAlgebra, is_one, is_zero, number_of
from relaxscript.ir.prim import INT64, IntImm, PrimExpr, Var, const

__all__ = ["FlatIndex", "Strides", "flat_index", "strides_of"]

# A stride below this is of a window, such as that of a pool, unless results are stored by it.
_LEAST = 8

_ALGEBRA = IndexAlgebra(Facts())


class StridedLoop(NamedTuple):
    """A loop and its stride in an index."""

    var: Var
    stride: PrimExpr


class FlatIndex(NamedTuple):
    """The sum of some terms and of a value without loops, where some facts hold."""

    terms: tuple[StridedLoop, ...]
    base: PrimExpr
    facts: Facts
    is_stored: bool

    def value(self) -> PrimExpr:
        """The index as an expression."""
        made: PrimExpr | None = None
        for var, stride in self.terms:
            part = var if is_one(stride) else var * stride
            made = part if made is None else made + part
        if made is None:
            return self.base
        return made if is_zero(self.base) else made + self.base

    def divided(self, stride: PrimExpr) -> tuple[FlatIndex, FlatIndex]:
        """The number of whole strides in it, and the rest that is left over."""
        whole, rest = list[StridedLoop](), list[StridedLoop]()
        for term in self.terms:
            quotient = _ALGEBRA.quotient(term.stride, stride)
            if quotient is None:
                rest.append(term)
            else:
                whole.append(StridedLoop(term.var, quotient))
        high, low = _divided_base(self.base, stride)
        return (
            self._replace(terms=tuple(whole), base=high),
            self._replace(terms=tuple(rest), base=low),
        )

    def is_below(self, size: PrimExpr) -> bool:
        """True if it is surely at least zero and below a size."""
        value = self.value()
        low, high = bounds(value, self.facts)
        if not (low is not None and low >= 0) and prove(value >= 0, self.facts) is not YES:
            return False
        limit = number_of(size)
        if limit is not None and high is not None:
            return high < limit
        return prove(value < size, self.facts) is YES


def _divided_base(base: PrimExpr, stride: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
    match base, stride:
        case IntImm(value=value), IntImm(value=by):
            high, low = divmod(value, by)
            return const(high, INT64), const(low, INT64)
    quotient = _ALGEBRA.quotient(base, stride)
    zero = const(0, INT64)
    return (zero, base) if quotient is None else (quotient, zero)


def flat_index(
    index: PrimExpr, loops: Sequence[Var], facts: Facts, is_stored: bool
) -> FlatIndex | None:
    """An index as a sum of loops times strides; None where it is something else."""
    if index.dtype is not INT64:
        return None
    if isinstance(index, Var) and index in loops:
        return FlatIndex((StridedLoop(index, const(1, INT64)),), const(0, INT64), facts, is_stored)
    if isinstance(index, IntImm):
        return FlatIndex((), index, facts, is_stored)
    found = detect_linear_equation(index, loops)
    if not found:
        return None
    *strides, base = found
    pairs = zip(loops, strides, strict=True)
    terms = tuple([StridedLoop(var, stride) for var, stride in pairs if not is_zero(stride)])
    return FlatIndex(terms, base, facts, is_stored)


class Strides(NamedTuple):
    """The strides by which an axis is divided, each by the one before; and loops in its way.

    Each of these loops goes on over a stride, so that it has to be two: it is with the number of
    iterations of the inner one.
    """

    strides: tuple[PrimExpr, ...]
    sizes: tuple[PrimExpr, ...]
    loops: tuple[StridedLoop, ...]

    def divided(self, index: FlatIndex) -> tuple[PrimExpr, ...]:
        """The indices in the axes that there are then."""
        made: list[PrimExpr] = []
        for stride in self.strides:
            whole, index = index.divided(stride)
            made.append(whole.value())
        return (*made, index.value())


def strides_of(size: PrimExpr, indices: Sequence[FlatIndex]) -> Strides:
    """The strides by which an axis of some size can be divided, of those that its indices have."""
    strides: list[PrimExpr] = []
    sizes: list[PrimExpr] = []
    loops: list[StridedLoop] = []
    for stride in _candidates(indices):
        number = _ALGEBRA.quotient(size, stride)
        if number is None or is_one(number):
            continue
        parts = [index.divided(stride) for index in indices]
        in_way = [_loop_in_way(*part, stride) for part in parts]
        if any(loop is None for loop in in_way):
            continue
        strides.append(stride)
        sizes.append(number)
        loops += [loop for loop in in_way if loop]
        size, indices = stride, [rest for _, rest in parts]
        if loops:
            # What is left over is known when these are two.
            break
    return Strides(tuple(strides), (*sizes, size), tuple(loops))


def _loop_in_way(
    whole: FlatIndex, rest: FlatIndex, stride: PrimExpr
) -> StridedLoop | tuple[()] | None:
    """The loop that goes on over a stride; empty for none, None where there is something else."""
    if rest.is_below(stride):
        return ()
    if len(rest.terms) != 1 or whole.terms or not (is_zero(rest.base) and is_zero(whole.base)):
        return None
    var, step = rest.terms[0]
    number = _ALGEBRA.quotient(stride, step)
    return None if number is None else StridedLoop(var, number)


def _candidates(indices: Sequence[FlatIndex]) -> Iterator[PrimExpr]:
    """The strides of indices of several loops, larger ones first."""
    found: list[PrimExpr] = []
    for index in indices:
        if len(index.terms) < 2:
            continue
        for _, stride in index.terms:
            number = number_of(stride)
            if number is not None and abs(number) < (2 if index.is_stored else _LEAST):
                continue
            size = stride if number is None else const(abs(number), INT64)
            if not any(_ALGEBRA.is_equal(size, other) for other in found):
                found.append(size)
    # One stride is larger than another one where it is so many of them.
    numbers = {
        stride: sum(_ALGEBRA.quotient(stride, other) is not None for other in found)
        for stride in found
    }
    yield from sorted(found, key=lambda stride: (-numbers[stride], -(number_of(stride) or 0)))
