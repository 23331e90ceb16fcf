"""Forgetting what of a StructInfo makes no sense outside a scope.

Source: spec "Auxiliary Procedures" (erase_to_well_defined, its slips mended: erasing a shape keeps
dtype, rank and device; erasing a function keeps its purity, and its parameters are not
generalised; a Prim loses a value that is out of scope).
"""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import cached_property
from typing import Any

from relaxscript.ir import prim
from relaxscript.ir.field_roles import literal_sizes, parts_of, with_dimensions, with_parts
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.struct_info import FuncStructInfo, ObjectStructInfo, StructInfo

from .shape_variables import ShapeVariables, scalar_variables

__all__ = ["Scope", "erase_to_well_defined"]

# What is in scope: a set (anything with `in`), a predicate, or None for everything.
Scope = Container[Any] | Callable[[Any], bool] | None
_InScope = Callable[[Any], bool]
_Bound = frozenset[prim.Var]


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
    rank, dtype and device stay. The variables that a function type binds in its parameters are in
    scope inside it; where its parameters use others, nothing is left but Object. A function that
    takes less is not one that takes more. `leaving` are variables whose scope ends: no function
    type binds these, it has captured them. Returns `info` itself when nothing had to go.
    """
    eraser = _Eraser(info, _predicate(relax_vars), _predicate(shape_vars), leaving)
    return eraser.erase(info, frozenset())


class _Eraser:
    """One erasure of `root`; what is in scope around it, and `leaving`, whose scope ends."""

    def __init__(
        self,
        root: StructInfo,
        relax_vars: _InScope,
        shape_vars: _InScope,
        leaving: Container[prim.Var],
    ) -> None:
        self.relax_vars = relax_vars
        self.shape_vars = shape_vars
        self.leaving = leaving
        self.root = root
        self.variables = ShapeVariables()
        # A part that several share is erased once in each scope that differs for it.
        self.erased: dict[tuple[int, _Bound], StructInfo] = {}

    @cached_property
    def outside(self) -> Container[prim.Var]:
        """The variables that no function type binds, since they also occur outside of it."""
        return self.variables.free(self.root)

    def erase(self, info: StructInfo, bound: _Bound) -> StructInfo:
        """`info` where function types around it have `bound` variables."""
        if info is None or not info.is_compound:
            return self.sizes(info, bound)
        key = (id(info), bound & self.variables.mentioned(info) if bound else bound)
        found = self.erased.get(key)
        if found is None:
            if isinstance(info, FuncStructInfo):
                found = self.function(info, bound)
            else:
                parts = self.each(parts_of(info), bound)
                found = self.sizes(with_parts(info, parts), bound)
            self.erased[key] = found
        return found

    def sizes(self, info: StructInfo, bound: _Bound) -> StructInfo:
        """Erase what is directly in a StructInfo."""
        role = None if info is None else info.sizes_role
        held = None if role is None else getattr(info, role.name)
        if held is None:
            return info
        found = literal_sizes(held)
        if self.relax_vars(held) if found is None else all(self.is_known(e, bound) for e in found):
            return info
        return with_dimensions(info, None)

    def is_known(self, e: PrimExpr, bound: _Bound) -> bool:
        if isinstance(e, prim.IntImm):
            return True
        return all(v in bound or self.shape_vars(v) for v in scalar_variables(e))

    def function(self, info: FuncStructInfo, bound: _Bound) -> StructInfo:
        if info.params is None:
            return info.replace(ret=self.erase(info.ret, bound))
        found = self.variables.own(info.params)
        own = [v for v in found if v not in self.outside and v not in self.leaving]
        inside = bound.union(own) if own else bound
        # A function that takes less than what is forgotten would say is no longer described by its
        # parameters at all.
        if self.each(info.params, inside) is not info.params:
            return ObjectStructInfo()
        return info.replace(ret=self.erase(info.ret, inside))

    def each(self, infos: tuple[StructInfo, ...], bound: _Bound) -> tuple[StructInfo, ...]:
        erased = tuple(self.erase(info, bound) for info in infos)
        return erased if any(a is not b for a, b in zip(erased, infos)) else infos
