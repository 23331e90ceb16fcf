"""Checks that digits are independent, and that they tell all of their iterators.

A map is surjective if its indices take all choices of values within their extents. It is bijective
if they take each once. Both are said for domains that are not empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from relaxscript.arith.format import format_expr
from relaxscript.arith.index_algebra import is_one, is_zero, number_of
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr

from .digits import Digit, DigitAlgebra, IndexIterator, NotAffine

__all__ = ["check_bijective", "check_surjective"]


def check_surjective(
    indices: Iterable[Digit], constrained: Sequence[IndexIterator], algebra: DigitAlgebra
) -> None:
    """Raise `NotAffine` unless all values of `indices` are proved to be taken together."""
    for iterator, digits in _uses(indices, constrained):
        _check_all_taken(iterator, _in_order(iterator, digits, algebra), algebra)


def check_bijective(
    indices: Sequence[Digit],
    constrained: Sequence[IndexIterator],
    variables: Iterable[IndexIterator],
    algebra: DigitAlgebra,
) -> None:
    """Raise `NotAffine` unless each value of `indices` is proved to be taken once."""
    check_surjective(indices, constrained, algebra)
    used = _uses(indices)
    for iterator, digits in used:
        if not iterator.is_exact:
            raise NotAffine("a sum takes values more than once")
        _check_all_told(iterator, _in_order(iterator, digits, algebra), algebra)
    seen = {id(iterator) for iterator, _ in used}
    for iterator in (*variables, *constrained):
        if id(iterator) not in seen and not _is_unit(iterator.extent, algebra):
            raise NotAffine(f"no index depends on {_name(iterator)}")


def _is_unit(extent: PrimExpr, algebra: DigitAlgebra) -> bool:
    return algebra.is_equal(extent, prim.like(1, extent))


def _digits_of(iterator: IndexIterator) -> list[Digit]:
    return [term.digit for term in iterator.terms]


def _uses(
    roots: Iterable[Digit], constrained: Iterable[IndexIterator] = ()
) -> list[tuple[IndexIterator, list[Digit]]]:
    """The iterators that digits are of, with all digits that are used of each.

    Those whose sums the digits are parts of are among them, and those of `constrained` sums.
    """
    found: dict[int, tuple[IndexIterator, list[Digit]]] = {}
    opened = {id(iterator) for iterator in constrained}
    stack = [*roots, *(digit for iterator in constrained for digit in _digits_of(iterator))]
    while stack:
        digit = stack.pop()
        found.setdefault(id(digit.of), (digit.of, []))[1].append(digit)
        if id(digit.of) not in opened:
            opened.add(id(digit.of))
            stack += _digits_of(digit.of)
    return list(found.values())


def _in_order(iterator: IndexIterator, digits: list[Digit], algebra: DigitAlgebra) -> list[Digit]:
    """The digits of an iterator from the lowest on, but for those of one value.

    Raises `NotAffine` where they overlap.
    """
    left = [algebra.uncut(d) for d in digits if not _is_unit(d.extent, algebra)]
    ordered: list[Digit] = []
    while left:
        for i, digit in enumerate(left):
            others = [*left[:i], *left[i + 1 :]]
            if not others or (digit.is_cut and _is_below(digit, others, algebra)):
                left = others
                ordered.append(digit)
                break
        else:
            raise NotAffine(f"the parts of {_name(iterator)} are not independent")
    return ordered


def _is_below(digit: Digit, others: list[Digit], algebra: DigitAlgebra) -> bool:
    period = algebra.period(digit)
    return all(algebra.quotient(other.low, period) is not None for other in others)


def _check_all_taken(iterator: IndexIterator, digits: list[Digit], algebra: DigitAlgebra) -> None:
    """Check that the digits of an iterator take all of their values together."""
    if not digits:
        return
    last, extent = digits[-1], iterator.extent
    if last.is_cut:
        # Over as many integers as a period has, they do, whatever their offsets are.
        period = algebra.period(last)
        if algebra.is_at_most(period, extent) or algebra.quotient(extent, period) is not None:
            return
        raise NotAffine(
            f"{_name(iterator)} has {format_expr(extent)} values, which are not proved to be as "
            f"many as the {format_expr(period)} that its remainders need"
        )
    if len(digits) == 1 or _has_full_ends(last, algebra.period(digits[-2]), algebra):
        return
    raise NotAffine(
        f"the quotient of {_name(iterator)} by {format_expr(last.low)} lacks some remainders "
        "at both ends"
    )


def _has_full_ends(top: Digit, period: PrimExpr, algebra: DigitAlgebra) -> bool:
    """True if a quotient keeps its first and its last value for a period at least."""
    extent = top.of.extent
    if is_zero(top.offset) and algebra.quotient(extent, top.low) is not None:
        return True
    numbers = [number_of(e) for e in (extent, top.low, top.offset, period)]
    size, low, offset, least = (-1 if number is None else number for number in numbers)
    if None in numbers:
        return False
    return min(size, low - offset) >= least and min(size, (size + offset - 1) % low + 1) >= least


def _check_all_told(iterator: IndexIterator, digits: list[Digit], algebra: DigitAlgebra) -> None:
    """Check that the digits of an iterator tell its value."""
    if _is_unit(iterator.extent, algebra):
        return
    low = prim.like(1, iterator.extent)
    for digit in digits:
        if not algebra.is_equal(digit.low, low):
            break
        low = algebra.period(digit)
    else:
        if not digits or not digits[-1].is_cut or algebra.is_equal(low, iterator.extent):
            return
    raise NotAffine(f"the indices do not tell all of {_name(iterator)}")


def _name(iterator: IndexIterator) -> str:
    if iterator.var is not None:
        return f"`{iterator.var.name}`"
    return (
        "a sum of iterators"
        if is_one(iterator.extent)
        else (f"a sum of iterators with {format_expr(iterator.extent)} values")
    )
