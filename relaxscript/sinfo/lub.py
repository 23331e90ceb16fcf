"""The least upper bound of two StructInfos: what is known of a value that has one or the other.

Source: spec "Subtyping for StructInfo" (unify_struct_info), read by its definition: with Object it
is Object, shapes of unknown rank give unknown rank, and what two descriptions do not share is lost
while the rest is kept. For functions it is the spec's rule, which is an upper bound but not always
the least: different parameters give Object.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from relaxscript.arith import YES, Facts, prove_equal
from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Expr
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

from .matching import definable_shape_vars, shape_var_mapping, substitute_shape_vars
from .relation import prove_same_shape, same_vdevice
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
    if a is b:
        return a
    match a, b:
        case TensorStructInfo(), TensorStructInfo():
            return _tensors(a, b, facts)
        case ShapeStructInfo(), ShapeStructInfo():
            return _shapes(a, b, facts)
        case PrimStructInfo(dtype=x), PrimStructInfo(dtype=y) if x is y:
            return a if a.value is None else a.replace(value=_value(a.value, b.value, facts))
        case TupleStructInfo(fields=mine), TupleStructInfo(fields=theirs):
            if len(mine) == len(theirs):
                pairs = zip(mine, theirs)
                unified = [unify_struct_info(x, y, facts, in_scope=in_scope) for x, y in pairs]
                return _with_fields(a, tuple(unified))
        case FuncStructInfo(), FuncStructInfo():
            return _functions(a, b, facts, in_scope)
    return ObjectStructInfo()


def _with_fields(a: TupleStructInfo, fields: tuple[StructInfo, ...]) -> StructInfo:
    return a if all(x is y for x, y in zip(fields, a.fields)) else a.replace(fields=fields)


def _value(mine: PrimExpr, theirs: PrimExpr | None, facts: Facts | None) -> PrimExpr | None:
    return mine if theirs is not None and prove_equal(mine, theirs, facts) is YES else None


def _shapes(a: ShapeStructInfo, b: ShapeStructInfo, facts: Facts | None) -> StructInfo:
    if a.ndim != b.ndim or a.ndim == -1:
        return a.replace(values=None, ndim=-1)
    if a.values is None:
        return a
    same = b.values is not None and all(
        prove_equal(x, y, facts) is YES for x, y in zip(a.values, b.values)
    )
    return a if same else a.replace(values=None)


def _tensors(a: TensorStructInfo, b: TensorStructInfo, facts: Facts | None) -> StructInfo:
    return a.replace(
        shape=_shape(a, b, facts),
        dtype=a.dtype if a.dtype is b.dtype else DataType("void"),
        vdevice=a.vdevice if same_vdevice(a.vdevice, b.vdevice) else None,
        ndim=a.ndim if a.ndim == b.ndim else -1,
    )


def _shape(a: TensorStructInfo, b: TensorStructInfo, facts: Facts | None) -> Expr | None:
    if a.shape is None or b.shape is None or a.ndim != b.ndim:
        return None
    return a.shape if prove_same_shape(a.shape, b.shape, facts) is YES else None


def _functions(
    a: FuncStructInfo, b: FuncStructInfo, facts: Facts | None, in_scope: Container[prim.Var]
) -> StructInfo:
    purity = a.purity and b.purity
    if a.params is None and b.params is None:
        return _packed(a, b, purity, facts, in_scope)
    if a.params is None or b.params is None or len(a.params) != len(b.params):
        return ObjectStructInfo()
    renaming = _renaming(a.params, b.params, in_scope)
    params: list[StructInfo] = []
    for x, other in zip(a.params, b.params):
        y = substitute_shape_vars(other, renaming)
        unified = unify_struct_info(x, y, facts, in_scope=in_scope)
        below = (is_subtype(unified, z, facts, in_scope=in_scope) is YES for z in (x, y))
        if not all(below):
            return ObjectStructInfo()
        params.append(unified)
    theirs = substitute_shape_vars(b.ret, renaming)
    ret = unify_struct_info(a.ret, theirs, facts, in_scope=in_scope)
    kept = all(x is y for x, y in zip(params, a.params))
    return a.replace(params=a.params if kept else tuple(params), ret=ret, purity=purity)


def _renaming(
    mine: tuple[StructInfo, ...], theirs: tuple[StructInfo, ...], in_scope: Container[prim.Var]
) -> dict[prim.Var, PrimExpr]:
    """The second function's own variables by the first's names, where they correspond."""
    own = {v for p in mine for v in definable_shape_vars(p)}
    renaming: dict[prim.Var, PrimExpr] = {}
    used: set[Any] = set()
    for v, e in shape_var_mapping(theirs, mine, in_scope).items():
        if e in own and e not in in_scope and e not in used:
            renaming[v] = e
            used.add(e)
    return renaming


def _packed(
    a: FuncStructInfo,
    b: FuncStructInfo,
    purity: bool,
    facts: Facts | None,
    in_scope: Container[prim.Var],
) -> StructInfo:
    if a.derive_func is None and b.derive_func is None:
        ret = unify_struct_info(a.ret, b.ret, facts, in_scope=in_scope)
        return a.replace(ret=ret, purity=purity)
    if a.derive_func == b.derive_func:
        return a.replace(purity=purity)
    return FuncStructInfo.make(None, ObjectStructInfo(), purity, empty_derive)
