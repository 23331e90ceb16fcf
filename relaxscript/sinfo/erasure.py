"""Forgetting what of a StructInfo makes no sense outside a scope.

Source: spec "Auxiliary Procedures" (erase_to_well_defined, its slips mended: erasing a shape keeps
data type, rank and device; erasing a function keeps its purity, and its parameters are not
generalised; a Prim loses a value that is out of scope).
"""

from __future__ import annotations

import functools
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
)

from .matching import dimensions, free_shape_vars, own_shape_vars, scalar_variables

__all__ = ["Scope", "erase_to_well_defined"]

# What is in scope: a set (anything with `in`), a predicate, or None for everything.
Scope = Container[Any] | Callable[[Any], bool] | None
_InScope = Callable[[Any], bool]


def _predicate(scope: Scope) -> _InScope:
    if scope is None:
        return lambda _: True
    return scope if callable(scope) else scope.__contains__


def erase_to_well_defined(
    info: StructInfo,
    relax_vars: Scope = (),
    shape_vars: Scope = (),
    *,
    leaving: Container[prim.Var] = (),
) -> StructInfo:
    """The most specific StructInfo above `info` that uses only variables in scope.

    `relax_vars` and `shape_vars` say what is in scope, each as a set or a predicate; None means
    that everything is. A shape, value or set of dimensions that uses anything else is forgotten;
    rank, data type and device stay. The variables that a function type binds in its parameters are
    in scope inside it; where its parameters use others, nothing is left but Object, since a
    function that takes less is not one that takes more. `leaving` are variables whose scope ends:
    no function type binds these, it has captured them. Returns `info` itself when nothing had to
    go.
    """
    return _Eraser(info, _predicate(relax_vars), leaving).erase(info, _predicate(shape_vars))


def _known(e: PrimExpr, in_scope: _InScope) -> bool:
    if isinstance(e, prim.IntImm):
        return True
    return all(in_scope(v) for v in scalar_variables(e))


class _Eraser:
    """One erasure of `root`; `relax_vars` are in scope, and the scope of `leaving` ends."""

    def __init__(
        self, root: StructInfo, relax_vars: _InScope, leaving: Container[prim.Var]
    ) -> None:
        self.root = root
        self.relax_vars = relax_vars
        self.leaving = leaving
        # A part that several tuples share is erased once in each scope.
        self.erased: dict[tuple[int, _InScope], StructInfo] = {}

    @functools.cached_property
    def outside(self) -> frozenset[prim.Var]:
        """The variables that no function type binds, since they also stand outside of it."""
        return frozenset(free_shape_vars(self.root))

    def erase(self, info: StructInfo, shape_vars: _InScope) -> StructInfo:
        if not isinstance(info, (TupleStructInfo, FuncStructInfo)):
            return self.leaf(info, shape_vars)
        key = (id(info), shape_vars)
        found = self.erased.get(key)
        if found is None:
            if isinstance(info, FuncStructInfo):
                found = self.function(info, shape_vars)
            else:
                found = info.replace(fields=self.each(info.fields, shape_vars))
            self.erased[key] = found
        return found

    def leaf(self, info: StructInfo, shape_vars: _InScope) -> StructInfo:
        """What has no StructInfo inside."""
        match info:
            case TensorStructInfo(shape=Expr() as shape) if not isinstance(shape, ShapeExpr):
                return info if self.relax_vars(shape) else info.replace(shape=None)
        if all(_known(e, shape_vars) for e in dimensions(info)):
            return info
        # Only what has scalar expressions in it comes here.
        gone = {TensorStructInfo: "shape", ShapeStructInfo: "values", PrimStructInfo: "value"}
        return info.replace(**{gone[type(info)]: None})

    def function(self, info: FuncStructInfo, shape_vars: _InScope) -> StructInfo:
        if info.params is None:
            return info.replace(ret=self.erase(info.ret, shape_vars))
        found = own_shape_vars(info.params, self.outside)
        own = {v for v in found if v not in self.leaving}

        def inside(v: prim.Var) -> bool:
            return v in own or shape_vars(v)

        # A function that takes less than what is forgotten would say is no longer described by its
        # parameters at all.
        if self.each(info.params, inside) is not info.params:
            return ObjectStructInfo()
        return info.replace(ret=self.erase(info.ret, inside))

    def each(self, infos: tuple[StructInfo, ...], shape_vars: _InScope) -> tuple[StructInfo, ...]:
        erased = tuple(self.erase(info, shape_vars) for info in infos)
        return erased if any(a is not b for a, b in zip(erased, infos)) else infos
