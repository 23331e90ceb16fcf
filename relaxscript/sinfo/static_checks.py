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

__all__ = ["ProvableArguments", "always_matches", "sizes_of_bound_vars"]


class ProvableArguments:
    """The arguments that are sure to be what the parameters of a function say, call by call.

    What does not depend on a call is found once.
    """

    def __init__(self, params: Sequence[StructInfo]) -> None:
        self._params = tuple(params)
        # The variables of each parameter, None where no argument is ever proved to fit.
        self._variables = [None if _names_a_shape(p) else shape_vars(p) for p in self._params]
        parts = [list(struct_info_parts(p)) for p in self._params]
        self._has_scalars = [any(isinstance(i, PrimStructInfo) for i in p) for p in parts]

    def of(
        self,
        args: Sequence[StructInfo],
        in_scope: Container[prim.Var],
        facts: Facts | None = None,
    ) -> tuple[int, ...]:
        """The positions of those arguments of one call.

        `in_scope` are the shape variables of the caller, and `facts` are the caller's. A variable
        of the parameters stands for what the arguments say of it; where they say nothing, nothing
        is proved.
        """
        mapping = shape_var_mapping(self._params, args)
        return tuple(
            index
            for index, arg in enumerate(args)
            if self._is_told(index, mapping)
            and is_subtype(
                arg, substitute_shape_vars(self._params[index], mapping), facts, in_scope=in_scope
            )
            is YES
        )

    def _is_told(self, index: int, mapping: Mapping[prim.Var, PrimExpr]) -> bool:
        """True if all variables of a parameter stand for something, and sizes for sizes."""
        variables = self._variables[index]
        if variables is None or any(v not in mapping for v in variables):
            return False
        return not self._has_scalars[index] or _binds_sizes_only(self._params[index], mapping)


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
