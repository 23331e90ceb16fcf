"""Forgetting: what of a StructInfo still makes sense outside a scope, or without any expression.

Sources: spec "Auxiliary Procedures" (erase_to_well_defined, its slips mended: erasing a shape keeps
data type, rank and device; erasing a function keeps its purity, and its parameters are not
generalised; a Prim loses a value that is out of scope), "Traditional Types" (erase_struct_info).
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Expr, ShapeExpr
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    empty_derive,
)

from .matching import definable_shape_vars, dimensions, scalar_variables

__all__ = ["Scope", "erase_struct_info", "erase_to_well_defined"]

# What is in scope: a set (anything with `in`), a predicate, or None for everything.
Scope = Container[Any] | Callable[[Any], bool] | None
_InScope = Callable[[Any], bool]


def _predicate(scope: Scope) -> _InScope:
    if scope is None:
        return lambda _: True
    return scope if callable(scope) else scope.__contains__


def erase_to_well_defined(
    info: StructInfo, relax_vars: Scope = (), shape_vars: Scope = ()
) -> StructInfo:
    """The most specific StructInfo above `info` that uses only variables in scope.

    `relax_vars` and `shape_vars` say what is in scope, each as a set or a predicate; None means
    that everything is. A shape, value or set of dimensions that uses anything else is forgotten;
    rank, data type and device stay. The variables that a function type binds in its parameters are
    in scope inside it; where its parameters use others, nothing is left but Object, since a
    function that takes less is not one that takes more. Returns `info` itself when nothing had to
    go.
    """
    return _erase(info, _predicate(relax_vars), _predicate(shape_vars))


def _known(e: PrimExpr, in_scope: _InScope) -> bool:
    if isinstance(e, prim.IntImm):
        return True
    return all(in_scope(v) for v in scalar_variables(e))


def _erase(info: StructInfo, relax_vars: _InScope, shape_vars: _InScope) -> StructInfo:
    match info:
        case TupleStructInfo(fields):
            return info.replace(fields=_each(fields, relax_vars, shape_vars))
        case FuncStructInfo():
            return _erase_function(info, relax_vars, shape_vars)
        case TensorStructInfo(shape=Expr() as shape) if not isinstance(shape, ShapeExpr):
            return info if relax_vars(shape) else info.replace(shape=None)
    if all(_known(e, shape_vars) for e in dimensions(info)):
        return info
    # Only what has scalar expressions in it comes here.
    gone = {TensorStructInfo: "shape", ShapeStructInfo: "values", PrimStructInfo: "value"}
    return info.replace(**{gone[type(info)]: None})


def _erase_function(info: FuncStructInfo, relax_vars: _InScope, shape_vars: _InScope) -> StructInfo:
    if info.params is None:
        return info.replace(ret=_erase(info.ret, relax_vars, shape_vars))
    own = {v for p in info.params for v in definable_shape_vars(p)}

    def inside(v: Any) -> bool:
        return v in own or shape_vars(v)

    # A function that takes less than what is forgotten would say is no longer described by its
    # parameters at all.
    if _each(info.params, relax_vars, inside) is not info.params:
        return ObjectStructInfo()
    return info.replace(ret=_erase(info.ret, relax_vars, inside))


def _each(
    infos: tuple[StructInfo, ...], relax_vars: _InScope, shape_vars: _InScope
) -> tuple[StructInfo, ...]:
    erased = tuple(_erase(info, relax_vars, shape_vars) for info in infos)
    return erased if any(a is not b for a, b in zip(erased, infos)) else infos


def erase_struct_info(info: StructInfo) -> StructInfo:
    """`info` without any expression or device: ranks, data types and structure only.

    It stands for the spec's traditional type; a PackedFunc becomes one that may return anything.
    """
    match info:
        case TensorStructInfo(dtype=dtype, ndim=ndim):
            return TensorStructInfo.make(None, dtype, None, ndim)
        case ShapeStructInfo(ndim=ndim):
            return ShapeStructInfo.make(None, ndim)
        case PrimStructInfo(dtype=dtype):
            return PrimStructInfo.make(dtype, None)
        case TupleStructInfo(fields):
            return TupleStructInfo.make(tuple(erase_struct_info(f) for f in fields))
        case FuncStructInfo(params=None, purity=purity):
            return FuncStructInfo.make(None, ObjectStructInfo(), purity, empty_derive)
        case FuncStructInfo(params, ret, purity):
            erased = tuple(erase_struct_info(p) for p in params or ())
            return FuncStructInfo.make(erased, erase_struct_info(ret), purity)
    return info
