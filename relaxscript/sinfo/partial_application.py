"""The type of a function some of whose arguments are given already."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.ir.struct_info import FuncStructInfo, StructInfo

from .erasure import erase_to_well_defined
from .matching import bind_params, own_shape_vars, substitute_shape_vars

__all__ = ["apply_partially"]


def apply_partially(info: FuncStructInfo, given: Sequence[StructInfo]) -> StructInfo:
    """The type of a function of type `info` whose last arguments, as `given`, are there.

    The shape variables that these arguments bind stand for what the arguments say; where they do
    not say it, what depends on them is forgotten. Nothing is left but Object where a parameter that
    remains would depend on them. The same goes for a shape held by a variable, which may be one of
    the parameters that are gone. Raises `ValueError` for more arguments than parameters.
    """
    params = info.params or ()
    count = len(params) - len(given)
    if count < 0:
        raise ValueError(f"{len(given)} arguments for {len(params)} parameters")
    mapping = bind_params(params[count:], tuple(given), params, hide=False)
    lost = own_shape_vars(params[count:]).keys() - mapping.keys()
    rest = FuncStructInfo.make(params[:count], info.ret, info.purity)
    applied = substitute_shape_vars(rest, mapping)
    return erase_to_well_defined(applied, (), lambda v: v not in lost)
