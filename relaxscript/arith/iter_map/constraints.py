"""Predicates: each comparison of a sum of digits with a number makes an iterator smaller.

`x * 10 + y < 128` makes of the sum an iterator of extent 128. Wherever its digits are, together and
in these proportions, it takes their place; its digits are nobody else's then, which is checked when
all is read.
"""

from __future__ import annotations

from relaxscript.arith.conjuncts import conjuncts
from relaxscript.arith.format import format_expr
from relaxscript.arith.index_algebra import is_zero, number_of
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.walk import post_order

from .digits import IndexIterator, NotAffine, Sum
from .reader import Reader

__all__ = ["apply_predicate"]


def apply_predicate(predicate: PrimExpr, reader: Reader) -> None:
    """Make the iterators of `reader` smaller, the inner ones first.

    Raises `NotAffine` for what is no such comparison, and where nothing is left of an iterator.
    """
    found = list(conjuncts(predicate))
    if any(is_zero(condition) for condition in found):
        raise NotAffine("the predicate holds nowhere")
    reader.other_conditions += [c for c in found if not reader.depends(c)]
    found = [c for c in found if reader.depends(c)]
    for comparison in sorted(found, key=lambda c: sum(1 for _ in post_order(c))):
        match comparison:
            case prim.LT(a, b):
                _apply_negative(reader, prim.Sub(a, b), comparison)
            case prim.LE(a, b):
                _apply_negative(reader, a - b - 1, comparison)
            case prim.GT(a, b):
                _apply_negative(reader, prim.Sub(b, a), comparison)
            case prim.GE(a, b):
                _apply_negative(reader, b - a - 1, comparison)
            case prim.EQ(a, b):
                _apply_negative(reader, a - b - 1, comparison)
                _apply_negative(reader, b - a - 1, comparison)
            case _:
                raise NotAffine(f"the predicate `{format_expr(comparison)}` is no comparison")


def _apply_negative(reader: Reader, e: PrimExpr, source: PrimExpr) -> None:
    """Make smaller what is in `e`, which is below 0."""
    if not e.dtype.is_integer:
        raise NotAffine(f"the predicate `{format_expr(source)}` compares no integers")
    algebra, fuser = reader.algebra, reader.fuser
    total = fuser.simplified(reader.read(e))
    if not total.terms:
        if algebra.is_at_most(prim.like(0, total.base), total.base):
            raise NotAffine(f"the predicate `{format_expr(source)}` holds nowhere")
        if not algebra.is_at_most(total.base, prim.like(-1, total.base)):
            reader.other_conditions.append(source)
        return
    iterator, scale = fuser.iterator_of(total.terms)
    one = prim.like(1, scale)
    zero = prim.like(0, scale)
    if algebra.is_at_most(one, scale):
        # scale * i + base < 0
        end = algebra.ceil_divide(algebra.subtract(zero, total.base), scale)
        _restrict(reader, iterator, zero, end, (prim.LT, end))
    elif algebra.is_at_most(one, algebra.subtract(zero, scale)):
        # base < scale' * i
        least = algebra.floor_divide(total.base, algebra.subtract(zero, scale))
        least = algebra.add(least, one)
        _restrict(reader, iterator, least, iterator.extent, (prim.GE, least))
    else:
        raise NotAffine(
            f"in the predicate `{format_expr(source)}`, the factor `{format_expr(scale)}` is not "
            "proved to be above or below 0"
        )


def _restrict(
    reader: Reader,
    iterator: IndexIterator,
    least: PrimExpr,
    end: PrimExpr,
    condition: tuple[type[prim.Comparison], PrimExpr],
) -> None:
    """Remember that an iterator is from `least` to before `end`."""
    algebra = reader.algebra
    least = algebra.largest(prim.like(0, least), least)
    end = algebra.least(end, iterator.extent)
    extent = algebra.subtract(end, least)
    size = number_of(extent)
    if size is not None and size <= 0:
        raise NotAffine("the predicate holds nowhere")
    says_nothing = is_zero(least) and algebra.is_equal(end, iterator.extent)
    if says_nothing and len(iterator.terms) == 1:
        return
    smaller = Sum(iterator.terms, algebra.subtract(prim.like(0, least), least))
    reader.fuser.constrained.append(
        IndexIterator(smaller, extent, iterator.is_exact, () if says_nothing else (condition,))
    )
