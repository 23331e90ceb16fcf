"""Facts about casts, vectors and integers of few bits, which polynomials treat as opaque.

What is said of a vector is true of each of its elements. int32 and int64 are mathematical integers
that only a cast wraps; any operation of another dtype may wrap, and then has its limits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr

from .atom import Atom, is_index
from .interval import lower_bound, upper_bound
from .polynomial import Poly
from .quotient_bounds import Ends, quotient_ends, remainder_ends

__all__ = ["fits", "limits_of", "opaque_ends", "range_of"]


def limits_of(dtype: DataType) -> Ends:
    """The values of a dtype; nothing is assumed of what is read as a mathematical integer."""
    return (None, None) if is_index(dtype.element) else range_of(dtype)


def opaque_ends(atoms: Sequence[Atom], e: PrimExpr, args: Sequence[Poly]) -> Ends:
    """Bounds of an operation whose operands are `args`."""
    limits = limits_of(e.dtype)
    if isinstance(e, prim.Cast):
        limits = range_of(e.dtype)
    if limits == (None, None) and not e.dtype.is_integer:
        return limits
    found = _exact_ends(atoms, e, args)
    if isinstance(e, prim.Cast) and not e.dtype.is_bool:
        found = _wrap(found, e.dtype)
    return found if _within(found, limits) else limits


def fits(atoms: Sequence[Atom], e: PrimExpr, args: Sequence[Poly]) -> bool:
    """True if an operation surely does not wrap."""
    limits = range_of(e.dtype) if isinstance(e, prim.Cast) else limits_of(e.dtype)
    return _within(_exact_ends(atoms, e, args), limits)


def range_of(dtype: DataType) -> Ends:
    """The least and the greatest integer of a dtype; None for what is no integer."""
    if dtype.is_bool:
        return 0, 1
    if dtype.kind == "uint":
        return 0, (1 << dtype.bits) - 1
    if dtype.kind == "int":
        return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1
    return None, None


def _within(ends: Ends, limits: Ends) -> bool:
    (low, high), (least, most) = ends, limits
    above = least is None or (low is not None and low >= least)
    return above and (most is None or (high is not None and high <= most))


def _wrap(ends: Ends, dtype: DataType) -> Ends:
    """The ends of what a cast makes of an integer, where all of it wraps equally often."""
    (low, high), (least, _) = ends, range_of(dtype)
    if low is None or high is None or least is None:
        return None, None
    turns = (low - least) >> dtype.bits
    if (high - least) >> dtype.bits != turns:
        return None, None
    return low - (turns << dtype.bits), high - (turns << dtype.bits)


def _exact_ends(atoms: Sequence[Atom], e: PrimExpr, args: Sequence[Poly]) -> Ends:
    """Bounds of an operation on mathematical integers."""
    if isinstance(e, prim.Cast) and not e.value.dtype.is_bool and not e.value.dtype.is_integer:
        return None, None
    match e:
        case prim.Select() | prim.Call(op="tir.if_then_else"):
            args = args[1:]
        case prim.Shuffle(vectors):
            args = args[: len(vectors)]
        case prim.Let():
            args = args[1:]
        case prim.Cast() | prim.Broadcast() | prim.Ramp() | prim.Binary():
            pass
        case _:
            return None, None
    ends = [(lower_bound(atoms, p, 1), upper_bound(atoms, p, 1)) for p in args]
    match e:
        case prim.Ramp(lanes=lanes):
            return _sum(ends[0], _product(ends[1], (0, lanes - 1)))
        case prim.Binary():
            known = _MEANING.get(type(e))
            return (None, None) if known is None else known(*ends)
    lows, highs = zip(*ends)
    return _extreme(min, lows), _extreme(max, highs)


def _extreme(choose: Callable[[list[int]], int], ends: Sequence[int | None]) -> int | None:
    known = [end for end in ends if end is not None]
    return choose(known) if len(known) == len(ends) else None


def _sum(a: Ends, b: Ends) -> Ends:
    low, high = (None if x is None or y is None else x + y for x, y in zip(a, b))
    return low, high


def _difference(a: Ends, b: Ends) -> Ends:
    low, high = b
    return _sum(a, (None if high is None else -high, None if low is None else -low))


def _product(a: Ends, b: Ends) -> Ends:
    (low, high), (least, most) = a, b
    if low is None or high is None or least is None or most is None:
        return None, None
    corners = [x * y for x in (low, high) for y in (least, most)]
    return min(corners), max(corners)


def _smaller(a: Ends, b: Ends) -> Ends:
    tops = [high for _, high in (a, b) if high is not None]
    return _extreme(min, (a[0], b[0])), min(tops, default=None)


def _larger(a: Ends, b: Ends) -> Ends:
    bottoms = [low for low, _ in (a, b) if low is not None]
    return max(bottoms, default=None), _extreme(max, (a[1], b[1]))


_MEANING: dict[type[PrimExpr], Callable[[Ends, Ends], Ends]] = {
    prim.Add: _sum,
    prim.Sub: _difference,
    prim.Mul: _product,
    prim.FloorDiv: lambda a, b: quotient_ends(a, b, truncating=False),
    prim.Div: lambda a, b: quotient_ends(a, b, truncating=True),
    prim.FloorMod: lambda a, b: remainder_ends(a, b, truncating=False),
    prim.Mod: lambda a, b: remainder_ends(a, b, truncating=True),
    prim.Min: _smaller,
    prim.Max: _larger,
}
