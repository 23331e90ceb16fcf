"""Compatibility of StructInfos: may a value go where another StructInfo is expected, and why not?

Source: spec "Auxiliary Procedures" (check_compatibility). Read with these choices: definitely not
equal means for no value of the variables. An unknown rank, dtype or device where one is needed is
possible, so it is checked at run time.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from relaxscript.arith import NO, UNKNOWN, YES, Answer, Facts, prove_equal
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.struct_info import ObjectStructInfo, StructInfo, TensorStructInfo

from .matching import definable_shape_vars, shape_var_mapping, substitute_shape_vars
from .mismatch import Mismatch, find_mismatches

__all__ = ["can_cast", "check_compatibility", "explain_mismatch", "explain_never", "mismatch_fact"]


def check_compatibility(
    derived: StructInfo,
    base: StructInfo,
    facts: Facts | None = None,
    *,
    in_scope: Container[prim.Var] = (),
) -> Answer:
    """Decide whether values described by `derived` are accepted where `base` is expected.

    YES: always. NO: never, an error. UNKNOWN: it depends on the values, so it takes a check at
    run time. `in_scope` are shape variables that a function type uses from outside.
    """
    if derived is base or type(base) is ObjectStructInfo:
        return YES
    if type(derived) is TensorStructInfo and type(base) is TensorStructInfo:
        mine, theirs = derived.dims, base.dims
        if derived.dtype is base.dtype and derived.vdevice is base.vdevice and mine and theirs:
            return _same_dimensions(mine, theirs, facts)
    answer = YES
    for found in find_mismatches(derived, base, facts, in_scope):
        if found.kind.refuses:
            return NO
        answer = UNKNOWN
    return answer


def _same_dimensions(
    mine: tuple[PrimExpr, ...], theirs: tuple[PrimExpr, ...], facts: Facts | None
) -> Answer:
    """The short way for what is asked most: tensors that differ at most in their dimensions."""
    if len(mine) != len(theirs):
        return NO
    result = YES
    for x, y in zip(mine, theirs):
        if x is not y:
            answer = prove_equal(x, y, facts)
            if answer is NO:
                return NO
            if answer is UNKNOWN:
                result = UNKNOWN
    return result


def explain_mismatch(
    derived: StructInfo,
    base: StructInfo,
    facts: Facts | None = None,
    *,
    in_scope: Container[prim.Var] = (),
) -> str | None:
    """The first reason why `derived` is not accepted as `base`, as a sentence without a full stop.

    For example "dimension 1 is `64`, not `63`" or "in field 0, the dtype is float32, not int8".
    A definite reason goes before a possible one. None when `derived` is accepted.
    """
    found = _first_reason(derived, base, facts, in_scope)
    return None if found is None else str(found)


def mismatch_fact(
    derived: StructInfo,
    base: StructInfo,
    facts: Facts | None = None,
    *,
    in_scope: Container[prim.Var] = (),
) -> str:
    """The first reason why `derived` is not accepted as `base`, as a fact of an `OperandError`."""
    found = _first_reason(derived, base, facts, in_scope)
    return "does not fit" if found is None else found.fact


def _first_reason(
    derived: StructInfo, base: StructInfo, facts: Facts | None, in_scope: Container[prim.Var]
) -> Mismatch | None:
    possible: Mismatch | None = None
    for found in find_mismatches(derived, base, facts, in_scope):
        if found.kind.refuses:
            return found
        possible = possible or found
    return possible


def can_cast(
    value: StructInfo,
    target: StructInfo,
    facts: Facts | None = None,
    *,
    in_scope: Container[prim.Var] = (),
) -> Answer:
    """Decide whether a MatchCast of what `value` describes to `target` succeeds: YES always, NO
    never.

    Shape variables in binding positions of `target` that are not `in_scope` take whatever they
    meet, the first place deciding.
    """
    answer = YES
    for found in _mismatches_with_target(value, target, facts, in_scope):
        if found.excludes:
            return NO
        answer = UNKNOWN
    return answer


def explain_never(
    value: StructInfo,
    target: StructInfo,
    facts: Facts | None = None,
    *,
    in_scope: Container[prim.Var] = (),
) -> str | None:
    """The reason why a MatchCast of a `value` to `target` never succeeds, or None if it may."""
    found = _mismatches_with_target(value, target, facts, in_scope)
    return next((str(reason) for reason in found if reason.excludes), None)


def _mismatches_with_target(
    value: StructInfo, target: StructInfo, facts: Facts | None, in_scope: Container[prim.Var]
) -> Iterator[Mismatch]:
    if any(v not in in_scope for v in definable_shape_vars(target)):
        mapping = shape_var_mapping((target,), (value,), in_scope)
        target = substitute_shape_vars(target, mapping)
    return find_mismatches(value, target, facts, in_scope)
