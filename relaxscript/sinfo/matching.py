"""The shape variables of a StructInfo: which there are, where they are bound, what they stand for.

A shape variable is bound where it stands alone: as a dimension of a tensor or shape, or as the
value of a Prim. A function type binds the variables of its own parameters; those of its result that
stand alone take their values from the run-time structural information of a closure.

Sources: spec "Expressing Shape Dimensions", "Auxiliary Procedures" (get_shape_var_mapping, with a
variable of the first mapped to the dimension of the second, for shapes and Prim values too).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from relaxscript.arith import simplify
from relaxscript.ir import prim, walk
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Expr, ShapeExpr
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)

__all__ = [
    "definable_shape_vars",
    "dimensions",
    "free_shape_vars",
    "scalar_variables",
    "shape_var_mapping",
    "shape_vars",
    "struct_info_parts",
    "substitute_shape_vars",
]  # fmt: skip


def dimensions(info: StructInfo) -> tuple[PrimExpr, ...]:
    """The scalar expressions directly in `info`: its dimensions, or the value of a Prim."""
    match info:
        case TensorStructInfo(dims=tuple(dims)) | ShapeStructInfo(values=tuple(dims)):
            return dims
        case PrimStructInfo(value=PrimExpr() as value):
            return (value,)
    return ()


def struct_info_parts(root: StructInfo, *, functions: bool = True) -> Iterator[StructInfo]:
    """`root` and what is inside its tuples and, if wanted, its functions, each object once."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        info = stack.pop()
        if id(info) in seen:
            continue
        seen.add(id(info))
        yield info
        match info:
            case TupleStructInfo(fields):
                stack.extend(reversed(fields))
            case FuncStructInfo(params, ret) if functions:
                stack.extend(reversed((*(params or ()), ret)))


def definable_shape_vars(info: StructInfo) -> list[prim.Var]:
    """The shape variables in binding positions of `info`, in order of appearance.

    Those in the parameters of a function type belong to that type and are left out; those in its
    result are not, unless they are the same.
    """
    found: dict[prim.Var, None] = {}
    stack: list[tuple[StructInfo, frozenset[prim.Var]]] = [(info, frozenset())]
    seen: set[int] = set()
    while stack:
        part, own = stack.pop()
        for e in dimensions(part):
            if isinstance(e, prim.Var) and e not in own:
                found[e] = None
        match part:
            case TupleStructInfo(fields) if id(part) not in seen:
                seen.add(id(part))
                stack.extend((field, own) for field in reversed(fields))
            case FuncStructInfo(params=tuple(params), ret=ret):
                inner = (v for p in params for v in definable_shape_vars(p))
                stack.append((ret, own.union(inner)))
    return list(found)


def shape_vars(info: StructInfo) -> list[prim.Var]:
    """All shape variables of `info`, in order of appearance, those of function types included."""
    found: dict[prim.Var, None] = {}
    for part in struct_info_parts(info, functions=True):
        for e in dimensions(part):
            found.update(scalar_variables(e))
    return list(found)


def free_shape_vars(info: StructInfo) -> list[prim.Var]:
    """As `shape_vars`, without the variables that function types in `info` bind themselves."""
    found: dict[prim.Var, None] = {}
    stack: list[tuple[StructInfo, frozenset[prim.Var]]] = [(info, frozenset())]
    while stack:
        part, own = stack.pop()
        for e in dimensions(part):
            found.update((v, None) for v in scalar_variables(e) if v not in own)
        match part:
            case TupleStructInfo(fields):
                stack.extend((f, own) for f in reversed(fields))
            case FuncStructInfo(params, ret):
                inner = own.union(*(definable_shape_vars(p) for p in params or ()))
                stack.extend((p, inner) for p in reversed((*(params or ()), ret)))
    return list(found)


def scalar_variables(e: PrimExpr) -> dict[prim.Var, None]:
    if isinstance(e, prim.Var):
        return {e: None}
    if isinstance(e, prim.IntImm):
        return {}
    return {v: None for v in walk.variables(e) if isinstance(v, prim.Var)}


def shape_var_mapping(
    params: Iterable[StructInfo],
    args: Iterable[StructInfo],
    in_scope: Container[prim.Var] = (),
) -> dict[prim.Var, PrimExpr]:
    """What the variables bound by `params` stand for when values described by `args` arrive.

    Each variable of a binding position is mapped to the scalar at the same place of the argument,
    the first place deciding, and values before function types, since a function may take values of
    any size; where the argument does not say, the variable is left out, and so are variables
    `in_scope`, which have their value already.
    """
    mapping: dict[prim.Var, PrimExpr] = {}
    stack = list(reversed(list(zip(params, args))))
    functions: list[tuple[StructInfo, StructInfo]] = []
    seen: set[tuple[int, int]] = set()
    while stack or functions:
        if not stack:
            stack, functions = functions[::-1], []
        param, arg = stack.pop()
        if (id(param), id(arg)) in seen:
            continue
        seen.add((id(param), id(arg)))
        match param, arg:
            case TupleStructInfo(mine), TupleStructInfo(theirs) if len(mine) == len(theirs):
                stack.extend(reversed(list(zip(mine, theirs))))
            case FuncStructInfo(params=tuple(mine)), FuncStructInfo(params=tuple(theirs)) if len(
                mine
            ) == len(theirs):
                functions.extend(zip(mine, theirs))
                functions.append((param.ret, arg.ret))
            case _:
                _map_dimensions(dimensions(param), dimensions_of_value(arg), mapping, in_scope)
    return mapping


def dimensions_of_value(info: StructInfo) -> tuple[PrimExpr, ...]:
    """As `dimensions`, also looking at what is known of the variable that holds a shape."""
    match info:
        case TensorStructInfo(shape=Expr() as shape):
            return known_dimensions(shape) or ()
    return dimensions(info)


def known_dimensions(shape: Expr) -> tuple[PrimExpr, ...] | None:
    """The dimensions of a shape expression, read off the StructInfo of a variable if need be."""
    if isinstance(shape, ShapeExpr):
        return shape.values
    match shape.struct_info:
        case ShapeStructInfo(values=values):
            return values
    return None


def _map_dimensions(
    mine: tuple[PrimExpr, ...],
    theirs: tuple[PrimExpr, ...],
    mapping: dict[prim.Var, PrimExpr],
    in_scope: Container[prim.Var],
) -> None:
    if len(mine) != len(theirs):
        return
    for e, value in zip(mine, theirs):
        if isinstance(e, prim.Var) and e not in mapping and e not in in_scope:
            mapping[e] = value


def substitute_shape_vars(
    info: StructInfo, mapping: Mapping[prim.Var, PrimExpr | int]
) -> StructInfo:
    """`info` with shape variables replaced, all at once; changed dimensions are simplified.

    Relax variables that hold shapes stay as they are.
    """
    if not mapping:
        return info
    replaced = {v: prim.as_prim(e) for v, e in mapping.items()}

    def scalar(e: PrimExpr) -> PrimExpr:
        if isinstance(e, prim.Var):
            return replaced.get(e, e)
        new = walk.substitute(e, replaced)
        return e if new is e else simplify(new)

    def step(node: Node) -> Node | None:
        match node:
            case PrimExpr():
                return scalar(node)
            case ShapeExpr() | TupleStructInfo() | FuncStructInfo() | ShapeStructInfo():
                return None
            case TensorStructInfo(shape=shape):
                return None if isinstance(shape, ShapeExpr) else node
            case PrimStructInfo(value=value):
                return None if value is not None else node
        return node

    return walk.rewrite_top_down(info, step)
