"""Facts about shape variables in the branches of an `If`, from its condition."""

from __future__ import annotations

from relaxscript.arith import NO, Facts, prove
from relaxscript.ir.prim import Not, PrimExpr
from relaxscript.ir.struct_info import PrimStructInfo, StructInfo

__all__ = ["facts_in_branch"]


def facts_in_branch(condition: StructInfo, taken: bool, outer: Facts | None = None) -> Facts | None:
    """The `outer` facts, and that the condition of an `If` is `taken`, True or False.

    A condition says what it is only as a scalar of known value: a tensor says nothing. A branch
    that never runs learns nothing, since anything would be true in it.
    """
    match condition:
        case PrimStructInfo(dtype=dtype, value=PrimExpr() as value) if dtype.is_bool:
            fact = value if taken else Not.make(value)
            if prove(fact, outer) is not NO:
                return (outer or Facts()).with_condition(fact)
    return outer
