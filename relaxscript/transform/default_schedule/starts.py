"""The first values of reductions, where loops before them have stored these."""

from __future__ import annotations

from relaxscript.arith import YES, prove_equal
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr, Var

from .row_nests import PlainNest

__all__ = ["clears", "is_of_each_result"]


def is_of_each_result(plain: PlainNest) -> bool:
    """True if the indices of a store are the loops around it, each once, or numbers."""
    indices = [index for index in plain.store.indices if not isinstance(index, IntImm)]
    variables = {loop.var for loop in plain.outer}
    return len(indices) == len(variables) and {*indices} == variables


def clears(before: PlainNest, plain: PlainNest) -> bool:
    """True if a nest gives each element that a reduction adds to its first value."""
    if before.reduction is not None or not isinstance(before.value, prim.Immediate):
        return False
    if before.store.buffer is not plain.store.buffer or len(before.outer) != len(plain.outer):
        return False
    same = {a.var: b.var for a, b in zip(before.outer, plain.outer)}
    indices = [same.get(i) if isinstance(i, Var) else i for i in before.store.indices]
    pairs = zip(indices, plain.store.indices, strict=True)
    alike = all(a is b or _are_one_number(a, b) for a, b in pairs)
    extents = zip(before.outer, plain.outer)
    return alike and all(prove_equal(a.extent, b.extent) is YES for a, b in extents)


def _are_one_number(a: PrimExpr | None, b: PrimExpr) -> bool:
    return isinstance(a, IntImm) and isinstance(b, IntImm) and a.value == b.value
