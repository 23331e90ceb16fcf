"""Checks that cannot fail, by what is known before a program runs."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from relaxscript.arith import YES, Facts, prove
from relaxscript.ir import prim, relax
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.struct_info import PrimStructInfo, StructInfo, TensorStructInfo

from .matching import (
    definable_shape_vars,
    shape_var_mapping,
    shape_vars,
    struct_info_parts,
    substitute_shape_vars,
)
from .subtyping import is_subtype

__all__ = ["always_matches", "provable_arguments", "sizes_of_bound_vars"]


def provable_arguments(
    params: Sequence[StructInfo],
    args: Sequence[StructInfo],
    in_scope: Container[prim.Var],
    captured: Container[prim.Var] = (),
    facts: Facts | None = None,
) -> tuple[int, ...]:
    """The positions of arguments that are sure to be what their parameters say.

    `in_scope` are the shape variables of the caller. `captured` are those among them that the
    callee has as well, with the same values. Any other variable of the parameters stands for what
    the arguments say of it; where they say nothing, nothing is proved. `facts` are the caller's.
    """
    mapping = shape_var_mapping(params, args, captured)

    def is_proved(param: StructInfo, arg: StructInfo) -> bool:
        known = all(v in mapping or v in captured for v in shape_vars(param))
        if not known or _names_a_shape(param) or not _binds_sizes_only(param, mapping):
            return False
        wanted = substitute_shape_vars(param, mapping)
        return is_subtype(arg, wanted, facts, in_scope=in_scope) is YES

    pairs = zip(params, args, strict=True)
    return tuple(i for i, (param, arg) in enumerate(pairs) if is_proved(param, arg))


def sizes_of_bound_vars(
    known: StructInfo, wanted: StructInfo, fresh: Sequence[prim.Var]
) -> Mapping[prim.Var, PrimExpr]:
    """The values that the variables `fresh`, bound by a match_cast to `wanted`, surely have."""
    found = shape_var_mapping((wanted,), (known,))
    mapping = {v: found[v] for v in fresh if v in found}
    return mapping if _binds_sizes_only(wanted, mapping) else {}


def always_matches(
    known: StructInfo,
    wanted: StructInfo,
    in_scope: Container[prim.Var],
    facts: Facts | None = None,
) -> bool:
    """True if a match_cast of what is `known` to `wanted` neither fails nor binds a variable."""
    if any(v not in in_scope for v in definable_shape_vars(wanted)):
        return False
    return is_subtype(known, wanted, facts, in_scope=in_scope) is YES


def _binds_sizes_only(info: StructInfo, mapping: Mapping[prim.Var, PrimExpr]) -> bool:
    """True if no variable takes its value from a scalar that may be below 0."""
    values = (p.value for p in struct_info_parts(info) if isinstance(p, PrimStructInfo))
    taken = (mapping.get(v, v) for v in values if isinstance(v, prim.Var))
    return all(isinstance(e, prim.Var) or _is_size(e) for e in taken)


def _is_size(e: PrimExpr) -> bool:
    return e.dtype.is_integer and prove(prim.GE.make(e, prim.IntImm.make(e.dtype, 0))) is YES


def _names_a_shape(info: StructInfo) -> bool:
    """True if a variable holds the shape of a tensor."""
    parts = struct_info_parts(info)
    return any(isinstance(p, TensorStructInfo) and isinstance(p.shape, relax.Var) for p in parts)
