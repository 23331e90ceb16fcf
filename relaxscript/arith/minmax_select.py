"""Rules for maxima, minima, choices by a condition, and casts of polynomials.

Each function takes the context, the operands as polynomials and their expression. It gives the
result as a polynomial.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr

from .interval import interval, is_nonnegative, lower_bound, upper_bound
from .polynomial import (
    CONSTANT,
    Poly,
    constant_of,
    content,
    difference,
    key_of,
    scale,
    tighten,
    total,
)

if TYPE_CHECKING:
    from .canonical import CanonicalContext

__all__ = ["cast", "extremum", "select"]

MAX_OPERANDS = 6
MAX_COMPARED = 12
MAX_ELIMINATED = 4
_INT32_LIMIT = 1 << 31


def extremum(context: CanonicalContext, kind: str, x: Poly, y: Poly, e: PrimExpr) -> Poly:
    """The "max" or "min" of two, with operands that never decide left out."""
    sign = 1 if kind == "max" else -1
    kept: list[Poly] = []
    mine, theirs = _operands(context, kind, x), _operands(context, kind, y)
    if len(mine) + len(theirs) > MAX_OPERANDS:
        mine, theirs = (x,), (y,)
    for p in (*mine, *theirs):
        if any(_never_greater(context, p, other, sign) for other in kept):
            continue
        kept = [other for other in kept if not _never_greater(context, other, p, sign)]
        kept.append(p)
    if len(kept) == 1:
        return dict(kept[0])
    common, kept = _without_common_terms(kept)
    g, kept = _without_content(kept)
    if all(c < 0 if m else len(p) == 1 for p in kept for m, c in p.items()):
        # `min(-x, -y)` is `-max(x, y)`, and `min(-x, 2)` is `-max(x, -2)`.
        opposite = "min" if kind == "max" else "max"
        g, kind, kept = -g, opposite, [scale(p, -1) for p in kept]

    def bounds() -> tuple[int | None, int | None]:
        lows, highs = zip(*(interval(context.atoms, p) for p in kept))
        # The mean of two lies between them, and may be known better: that of p and -p is 0.
        mean = interval(context.atoms, total(*kept)) if len(kept) == 2 else (None, None)
        if kind == "max":
            least = None if mean[0] is None else -(-mean[0] // 2)
            return _extreme(max, (*lows, least), some=True), _extreme(max, highs)
        most = None if mean[1] is None else mean[1] // 2
        return _extreme(min, lows), _extreme(min, (*highs, most), some=True)

    found = context.atom(kind, tuple(kept), e, bounds, unordered=True)
    return total(scale(found, g), common)


def _without_common_terms(values: Sequence[Poly]) -> tuple[Poly, list[Poly]]:
    """The terms that all values have, and the rest: `max(x + z, y + z)` is `max(x, y) + z`."""
    first, *others = values
    common = {m: c for m, c in first.items() if all(p.get(m) == c for p in others)}
    return common, [difference(p, common) for p in values] if common else list(values)


def _without_content(values: Sequence[Poly]) -> tuple[int, list[Poly]]:
    """The common divisor of all values, and the rest: `max(n * 4, 8)` is `max(n, 2) * 4`."""
    g = content(c for p in values for c in p.values())
    return g, list(values) if g == 1 else [{m: c // g for m, c in p.items()} for p in values]


def _operands(context: CanonicalContext, kind: str, p: Poly) -> tuple[Poly, ...]:
    """The operands of a "max" or "min", if `p` is one or a positive multiple of one."""
    if len(p) == 1:
        ((m, k),) = p.items()
        if k >= 1 and len(m) == 1 and context.atoms[m[0]].kind == kind:
            return tuple(scale(arg, k) for arg in context.atoms[m[0]].args)
    return (p,)


def _never_greater(context: CanonicalContext, p: Poly, other: Poly, sign: int) -> bool:
    difference_of = scale(difference(other, p), sign)
    if len(difference_of) > MAX_COMPARED:
        gap = interval(context.atoms, difference_of)[0]
        return gap is not None and gap >= 0
    kinds = [context.atoms[n].kind for m in difference_of for n in m]
    depth = 2 if 1 < kinds.count("floordiv") + kinds.count("div") < MAX_ELIMINATED else 1
    return is_nonnegative(context.atoms, context.inequalities, difference_of, depth)


def _extreme(
    choose: Callable[..., int], ends: tuple[int | None, ...], some: bool = False
) -> int | None:
    """The extreme end; with `some`, one known end is enough to bound the result."""
    known = [end for end in ends if end is not None]
    return choose(known) if known and (some or len(known) == len(ends)) else None


def select(context: CanonicalContext, condition: Poly, x: Poly, y: Poly, e: PrimExpr) -> Poly:
    """`x` where the condition holds, else `y`; the other is evaluated too if `e` is a Select."""
    known = constant_of(condition)
    if known is not None:
        return dict(x if known else y)
    if key_of(x) == key_of(y):
        return dict(x)
    kind = _compare_operands(context, condition, difference(x, y))
    if kind is not None and context.is_total(x, y):
        return extremum(context, kind, x, y, e)

    g = 1
    if constant_of(x) is None and constant_of(y) is None:
        g, (x, y) = _without_content((x, y))

    def bounds() -> tuple[int | None, int | None]:
        lows, highs = zip(interval(context.atoms, x), interval(context.atoms, y))
        return _extreme(min, lows), _extreme(max, highs)

    detail = None if isinstance(e, prim.Select) else prim.Call
    return scale(context.atom("select", (condition, x, y), e, bounds, detail=detail), g)


def _compare_operands(context: CanonicalContext, condition: Poly, gap: Poly) -> str | None:
    """The kind of extremum of `x` and `y` that a choice is: `x` if it holds; `gap` is `x - y`."""
    m = next(m for m in condition if m)
    atom = context.atoms[m[0]]
    if atom.kind != "ge0" or constant_of(gap) is not None:
        return None
    (p,) = atom.args
    if condition[m] < 0:
        p = tighten(difference(scale(p, -1), {CONSTANT: 1}))
    for kind, larger in (("max", gap), ("min", scale(gap, -1))):
        # Where both are equal, either will do.
        if p == tighten(larger) or p == tighten(difference(larger, {CONSTANT: 1})):
            return kind
    return None


def cast(context: CanonicalContext, value: Poly, e: PrimExpr) -> Poly:
    """An int32, int64 or bool as int32 or int64."""
    assert isinstance(e, prim.Cast)
    widened = isinstance(e.value, prim.Var) and e.value.dtype.bits <= e.dtype.bits
    if e.value.dtype is e.dtype or (widened and e.value.dtype.is_integer):
        # A variable is the same number in more bits; written, it is cast where its place wants it.
        return dict(value)
    low, high = lower_bound(context.atoms, value, 1), upper_bound(context.atoms, value, 1)
    fits = low is not None and high is not None and low >= -_INT32_LIMIT and high < _INT32_LIMIT
    if e.dtype.bits < e.value.dtype.bits and not fits:
        ends = (-_INT32_LIMIT, _INT32_LIMIT - 1)
        return context.atom("opaque", (value,), e, lambda: ends, detail=(prim.Cast, e.dtype))
    known = constant_of(value)
    if known is not None:
        return {CONSTANT: known} if known else {}
    return context.atom("cast", (value,), e, lambda: (low, high), detail=e.dtype)
