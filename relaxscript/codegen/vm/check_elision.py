"""Check elision in a function whose StructInfo is trusted (see `RemoveUnusedChecks`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from relaxscript.ir import prim, relax
from relaxscript.ir.node import Node
from relaxscript.ir.walk import children, variables
from relaxscript.runtime.checks import (
    Check,
    Dim,
    DimAny,
    DimBind,
    FuncCheck,
    PrimCheck,
    ShapeCheck,
    TensorCheck,
    TupleCheck,
)
from relaxscript.semantics.check_calls import check_of
from relaxscript.transform.lower.remove_unused_checks import TRUST_STRUCT_INFO

__all__ = ["binds_variable", "elide_checks", "shape_vars_computed_with", "trusts_struct_info"]


def trusts_struct_info(function: relax.Function) -> bool:
    """True if nothing is compared with the StructInfo of a function."""
    return bool((function.attrs or relax.Attrs()).get(TRUST_STRUCT_INFO))


def shape_vars_computed_with(function: relax.Function) -> set[prim.Var]:
    """The shape variables with whose values a function computes, or which its closures take along.

    What only says what a value is, as annotations and casts do, needs none.
    """
    found: set[prim.Var] = set()
    stack: list[Node] = [function.body]
    while stack:
        node = stack.pop()
        match node:
            case prim.Var():
                found.add(node)
            case relax.Var():
                pass
            case relax.VarBinding(value=value) | relax.MatchCast(value=value):
                if check_of(value) is None:
                    stack.append(value)
            case relax.Function():
                found.update(v for v in variables(node) if isinstance(v, prim.Var))
            case _:
                stack.extend(children(node))
    return found


def elide_checks(checks: Sequence[Check], needed: set[int]) -> tuple[Check, ...]:
    """The rest of checks that are made together: kinds, and the first use of `needed` slots."""
    missing = set(needed)
    return tuple(_elide(check, missing) for check in checks)


def _elide(check: Check, missing: set[int]) -> Check:
    match check:
        case TensorCheck(dims=dims):
            left = _dims(dims or (), missing)
            return TensorCheck(ndim=len(left), dims=left) if left else TensorCheck()
        case ShapeCheck(dims=dims):
            left = _dims(dims or (), missing)
            return ShapeCheck(len(left), left) if left else ShapeCheck()
        case PrimCheck(dtype=dtype, value=value):
            taken = _dims((value,), missing) if value is not None else ()
            return PrimCheck(dtype, taken[0] if taken else None)
        case TupleCheck(fields=fields):
            return TupleCheck(tuple(_elide(field, missing) for field in fields))
        case FuncCheck(packed=packed):
            taken = _dims(check.binds, missing)
            return replace(check, refusal=None, loads=()) if taken else FuncCheck(packed)
    return check


def _dims(dims: Sequence[Dim], missing: set[int]) -> tuple[Dim, ...]:
    """The dimensions in which variables take their values, empty where none does."""
    left: list[Dim] = []
    for dim in dims:
        takes = isinstance(dim, DimBind) and dim.slot in missing
        left.append(dim if takes else DimAny())
        if isinstance(dim, DimBind):
            missing.discard(dim.slot)
    return tuple(left) if any(isinstance(dim, DimBind) for dim in left) else ()


def binds_variable(check: Check) -> bool:
    """True if a shape variable takes its value from a check."""
    match check:
        case TensorCheck(dims=dims) | ShapeCheck(dims=dims):
            return any(isinstance(dim, DimBind) for dim in dims or ())
        case PrimCheck(value=value):
            return isinstance(value, DimBind)
        case TupleCheck(fields=fields):
            return any(map(binds_variable, fields))
        case FuncCheck(binds=variables):
            return bool(variables)
    return False
