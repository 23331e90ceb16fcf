"""`a <: b`: whether every value described by `a` may be used where `b` is expected.

Source: spec "Subtyping for StructInfo". Parameters of functions are contravariant; a function type
given by a `derive_func` is a subtype of itself and of the one that derives nothing.
"""

from __future__ import annotations

from collections.abc import Container

from relaxscript.arith import NO, UNKNOWN, YES, Answer, Facts
from relaxscript.ir import hooks, prim
from relaxscript.ir.struct_info import StructInfo, equal_at_a_glance

from .mismatch import ComparedPairs, MismatchKind, find_mismatches

__all__ = ["is_base_of", "is_subtype"]


def is_subtype(
    a: StructInfo,
    b: StructInfo,
    facts: Facts | None = None,
    *,
    in_scope: Container[prim.Var] = (),
    agreed: ComparedPairs | None = None,
) -> Answer:
    """Decide whether `a <: b`: UNKNOWN ("possibly") only where that depends on shape variables.

    What `a` does not say counts against it: a tensor of unknown rank is no subtype of one of
    rank 2. `check_compatibility` judges that more kindly. Who asks again and again under the same
    facts hands on what has `agreed`.
    """
    if a is b or equal_at_a_glance(a, b):
        return YES
    answer = YES
    for found in find_mismatches(a, b, facts, in_scope, agreed):
        if found.kind is not MismatchKind.UNPROVED:
            return NO
        answer = UNKNOWN
    return answer


@hooks.is_base_of.fill
def is_base_of(base: StructInfo, derived: StructInfo) -> bool:
    """True if every value described by `derived` is sure to be one described by `base`."""
    return is_subtype(derived, base) is YES
