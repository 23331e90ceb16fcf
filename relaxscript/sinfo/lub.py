"""The least upper bound of two StructInfos: what is known of a value that has one or the other.

Source: spec "Subtyping for StructInfo" (unify_struct_info), read by its definition: with Object it
is Object, and shapes of unknown rank give unknown rank. What two descriptions do not share is lost
while the rest is kept. For functions it is the spec's rule, which is an upper bound but not always
the least: different parameters give Object.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from relaxscript.arith import YES, Facts
from relaxscript.ir import prim
from relaxscript.ir.field_roles import ALWAYS_KNOWN, Datum, Parts, Sizes
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.struct_info import FuncStructInfo, ObjectStructInfo, StructInfo, empty_derive

from .matching import (
    fresh_var,
    outer_shape_vars,
    own_shape_vars,
    shape_var_mapping,
    substitute_shape_vars,
)
from .mismatch import ComparedPairs, prove_same_shape
from .shape_variables import ShapeVariables
from .subtyping import is_subtype

__all__ = ["unify_struct_info"]


def unify_struct_info(
    a: StructInfo,
    b: StructInfo,
    facts: Facts | None = None,
    *,
    in_scope: Container[prim.Var] = (),
) -> StructInfo:
    """The least StructInfo above both; `a` itself wherever nothing of it is lost."""
    done = _UnifiedPairs()
    if a.is_compound and a is not b:
        return _unify(a, b, facts, outer_shape_vars(a, b, in_scope, done.variables), done)
    return _unify(a, b, facts, frozenset(), done)


class _UnifiedPairs:
    """The parts that are unified: once for each pair, in each scope that differs for them."""

    def __init__(self) -> None:
        self.agreed = ComparedPairs()
        self.variables = self.agreed.variables
        self.bounds: dict[tuple[int, int, frozenset[prim.Var]], StructInfo] = {}

    def key(
        self, a: StructInfo, b: StructInfo, known: frozenset[prim.Var]
    ) -> tuple[int, int, frozenset[prim.Var]]:
        """The key of the bound of two; `variables` keep both alive, so that ids stay theirs."""
        mentioned = self.variables.mentioned(a) | self.variables.mentioned(b)
        return id(a), id(b), known & mentioned


def _unify(
    a: StructInfo,
    b: StructInfo,
    facts: Facts | None,
    known: frozenset[prim.Var],
    done: _UnifiedPairs,
) -> StructInfo:
    """The least upper bound; `known` are the variables that no function type binds."""
    if a is b or type(a) is ObjectStructInfo:
        return a
    if type(a) is not type(b):
        return ObjectStructInfo()
    if not a.is_compound:
        return _unify_roles(a, b, facts, known, done)
    key = done.key(a, b, known)
    found = done.bounds.get(key)
    if found is None:
        both_functions = isinstance(a, FuncStructInfo) and isinstance(b, FuncStructInfo)
        unify: Any = _functions if both_functions else _unify_roles
        found = done.bounds[key] = unify(a, b, facts, known, done)
    return found


def _unify_roles(
    a: StructInfo,
    b: StructInfo,
    facts: Facts | None,
    known: frozenset[prim.Var],
    done: _UnifiedPairs,
) -> StructInfo:
    """The bound of two of a kind, field by field."""
    changes: dict[str, Any] = {}
    for role in a.roles:
        mine, theirs = getattr(a, role.name), getattr(b, role.name)
        match role:
            case Datum(unknown=unknown):
                new = mine if mine is theirs or role.same(mine, theirs) else unknown
            case Sizes(given=given):
                said = mine is not None and theirs is not None
                alike = said and getattr(a, given) == getattr(b, given)
                new = mine if alike and prove_same_shape(mine, theirs, facts) is YES else None
            case Parts():
                new = _unify_parts(mine, theirs, facts, known, done)
        if new is ALWAYS_KNOWN:
            return ObjectStructInfo()
        if new is not mine:
            changes[role.name] = new
    return a.replace(**changes) if changes else a


def _unify_parts(
    mine: Any, theirs: Any, facts: Facts | None, known: frozenset[prim.Var], done: _UnifiedPairs
) -> Any:
    """The bounds of the parts in a field, `mine` itself where nothing is lost."""
    if not isinstance(mine, tuple):
        return _unify(mine, theirs, facts, known, done)
    if len(mine) != len(theirs):
        return ALWAYS_KNOWN
    unified = tuple([_unify(x, y, facts, known, done) for x, y in zip(mine, theirs)])
    return mine if all(x is y for x, y in zip(unified, mine)) else unified


def _functions(
    a: FuncStructInfo,
    b: FuncStructInfo,
    facts: Facts | None,
    known: frozenset[prim.Var],
    done: _UnifiedPairs,
) -> StructInfo:
    purity = a.purity and b.purity
    if a.params is None and b.params is None:
        return _unify_packed_funcs(a, b, purity, facts, known, done)
    if a.params is None or b.params is None or len(a.params) != len(b.params):
        return ObjectStructInfo()
    variables = done.variables
    own = own_shape_vars(a.params, known, variables)
    renaming = _renaming(a.params, b.params, known, variables)
    b = substitute_shape_vars(b, renaming, known, variables)
    known = known.union(own) if own else known
    params: list[StructInfo] = []
    for x, y in zip(a.params, b.params or ()):
        unified = _unify(x, y, facts, known, done)
        if not all(
            is_subtype(unified, z, facts, in_scope=known, agreed=done.agreed) is YES for z in (x, y)
        ):
            return ObjectStructInfo()
        params.append(unified)
    ret = _unify(a.ret, b.ret, facts, known, done)
    kept = all(x is y for x, y in zip(params, a.params))
    return a.replace(params=a.params if kept else tuple(params), ret=ret, purity=purity)


def _renaming(
    mine: tuple[StructInfo, ...],
    theirs: tuple[StructInfo, ...],
    known: frozenset[prim.Var],
    variables: ShapeVariables,
) -> dict[prim.Var, PrimExpr]:
    """The second function's own variables by the first's names, where they correspond.

    Those that do not are none of the first's.
    """
    own = set(own_shape_vars(mine, known, variables))
    renaming: dict[prim.Var, PrimExpr] = {}
    for v, e in shape_var_mapping(theirs, mine, known, variables).items():
        if isinstance(e, prim.Var) and e in own:
            renaming[v] = e
            own.remove(e)
    left = own_shape_vars(theirs, known, variables)
    return renaming | {v: fresh_var(v) for v in left if v not in renaming}


def _unify_packed_funcs(
    a: FuncStructInfo,
    b: FuncStructInfo,
    purity: bool,
    facts: Facts | None,
    known: frozenset[prim.Var],
    done: _UnifiedPairs,
) -> StructInfo:
    if a.derive_func is None and b.derive_func is None:
        return a.replace(ret=_unify(a.ret, b.ret, facts, known, done), purity=purity)
    if a.derive_func == b.derive_func:
        return a.replace(purity=purity)
    return FuncStructInfo.make(None, ObjectStructInfo(), purity, empty_derive)
