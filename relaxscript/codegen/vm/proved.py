"""Checks that need not be made, because what they ask for is known when code is made."""

from __future__ import annotations

from collections.abc import Container, Sequence

from relaxscript.arith import YES, prove
from relaxscript.ir import prim, relax
from relaxscript.ir.struct_info import PrimStructInfo, StructInfo, TensorStructInfo
from relaxscript.sinfo import (
    definable_shape_vars,
    is_subtype,
    shape_var_mapping,
    shape_vars,
    struct_info_parts,
    substitute_shape_vars,
)

__all__ = ["cannot_fail", "proved_arguments"]


def proved_arguments(
    params: Sequence[StructInfo],
    args: Sequence[StructInfo],
    in_scope: Container[prim.Var],
    captured: Container[prim.Var] = (),
) -> tuple[int, ...]:
    """The positions of arguments that are sure to be what their parameters say.

    `in_scope` are the shape variables of the caller, `captured` those among them that the callee
    has as well, with the same values. Any other variable of the parameters stands for what the
    arguments say of it; where they say nothing, nothing is proved.
    """
    mapping = shape_var_mapping(params, args, captured)

    def is_size(v: prim.Var) -> bool:
        e = mapping.get(v, v)
        if isinstance(e, prim.Var):
            return True
        return e.dtype.is_integer and prove(prim.GE.make(e, prim.IntImm.make(e.dtype, 0))) is YES

    def is_proved(param: StructInfo, arg: StructInfo) -> bool:
        known = all(v in mapping or v in captured for v in shape_vars(param))
        if not known or _names_a_shape(param) or not all(map(is_size, _scalars(param))):
            return False
        return is_subtype(arg, substitute_shape_vars(param, mapping), in_scope=in_scope) is YES

    pairs = zip(params, args, strict=True)
    return tuple(i for i, (param, arg) in enumerate(pairs) if is_proved(param, arg))


def _scalars(info: StructInfo) -> list[prim.Var]:
    """The variables that take the values of prim values, which may be below 0."""
    values = (p.value for p in struct_info_parts(info) if isinstance(p, PrimStructInfo))
    return [value for value in values if isinstance(value, prim.Var)]


def _names_a_shape(info: StructInfo) -> bool:
    """Whether a variable of the callee holds the shape of a tensor."""
    parts = struct_info_parts(info)
    return any(isinstance(p, TensorStructInfo) and isinstance(p.shape, relax.Var) for p in parts)


def cannot_fail(known: StructInfo, wanted: StructInfo, bound: Container[prim.Var]) -> bool:
    """Whether a match_cast of what is `known` to `wanted` neither fails nor binds a variable."""
    if any(v not in bound for v in definable_shape_vars(wanted)):
        return False
    return is_subtype(known, wanted, in_scope=bound) is YES
