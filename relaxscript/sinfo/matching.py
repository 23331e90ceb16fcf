"""The shape variables of a StructInfo: which there are, where they are bound, what they stand for.

A shape variable is bound where it stands alone: as a dimension of a tensor or shape, or as the
value of a Prim. A function type binds the variables that stand alone in its parameters, unless they
are known around it (`outer_shape_vars`). Those that stand alone in its result take their values
from the run-time structural information of a closure.

Sources: spec "Expressing Shape Dimensions", "Auxiliary Procedures" (get_shape_var_mapping, with a
variable of the first mapped to the dimension of the second, for shapes and scalars too; what a
function type binds itself is not unbound, so it is mapped where that type is compared).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from relaxscript.arith import simplify
from relaxscript.ir import prim, walk
from relaxscript.ir.field_roles import dimensions, paired_parts, parts_of, with_dimensions
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Expr, ShapeExpr, Var
from relaxscript.ir.struct_info import FuncStructInfo, StructInfo, TensorStructInfo

from .shape_variables import ShapeVariables, held_sizes, scalar_variables

__all__ = [
    "definable_shape_vars",
    "dimensions",
    "free_shape_vars",
    "outer_shape_vars",
    "own_shape_vars",
    "scalar_variables",
    "shape_var_mapping",
    "shape_vars",
    "struct_info_parts",
    "substitute_held_shapes",
    "substitute_shape_vars",
]  # fmt: skip

Info = TypeVar("Info", bound=StructInfo)


def struct_info_parts(root: StructInfo) -> Iterator[StructInfo]:
    """`root`, its parts and their parts, each object once."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        info = stack.pop()
        if id(info) in seen:
            continue
        seen.add(id(info))
        yield info
        stack.extend(reversed(parts_of(info)))


def definable_shape_vars(info: StructInfo | None) -> list[prim.Var]:
    """The shape variables in binding positions of `info`, in order of appearance.

    Those in the parameters of a function type belong to that type and are left out; those in its
    result are not, unless they are the same.
    """
    if info is not None and info.is_compound:
        return list(ShapeVariables().definable(info))
    return list(dict.fromkeys([e for e in dimensions(info) if isinstance(e, prim.Var)]))


def shape_vars(info: StructInfo) -> list[prim.Var]:
    """All shape variables of `info`, in order of appearance, those of function types included."""
    found: dict[prim.Var, None] = {}
    for part in struct_info_parts(info):
        for e in dimensions(part):
            found.update(scalar_variables(e))
    return list(found)


def free_shape_vars(info: StructInfo) -> list[prim.Var]:
    """As `shape_vars`, without the variables that function types in `info` bind themselves."""
    return list(ShapeVariables().free(info))


def own_shape_vars(
    params: Iterable[StructInfo],
    in_scope: Container[prim.Var] = (),
    variables: ShapeVariables | None = None,
) -> dict[prim.Var, None]:
    """The variables that a function type binds in its parameters, those `in_scope` left out."""
    found = (variables or ShapeVariables()).own(params)
    return found if in_scope == () else {v: None for v in found if v not in in_scope}


def outer_shape_vars(
    a: StructInfo,
    b: StructInfo,
    in_scope: Container[prim.Var] = (),
    variables: ShapeVariables | None = None,
) -> frozenset[prim.Var]:
    """The variables that no function type in `a` or `b` binds, as they are known outside of it.

    These are the variables `in_scope`, and those that occur in `a` or `b` where nothing binds them.
    """
    variables = variables or ShapeVariables()
    known = {*variables.free(a), *variables.free(b)}
    if in_scope != ():
        known.update(v for info in (a, b) for v in variables.mentioned(info) if v in in_scope)
    return frozenset(known)


def shape_var_mapping(
    params: Iterable[StructInfo],
    args: Iterable[StructInfo],
    in_scope: Container[prim.Var] = (),
    variables: ShapeVariables | None = None,
) -> dict[prim.Var, PrimExpr]:
    """The values of the variables bound by `params` when values described by `args` arrive.

    Each variable of a binding position is mapped to the scalar at the same place of the argument.
    The first place decides. Values come before function types, since a function may take values of
    any size; where the argument does not say, the variable is left out. So are variables
    `in_scope`, which have their value already. What a function type among the parameters or
    arguments binds itself takes no part.
    """
    params = tuple(params)
    return bind_params(params, tuple(args), params, in_scope, variables=variables)


def bind_params(
    params: tuple[StructInfo, ...],
    args: tuple[StructInfo, ...],
    whole: tuple[StructInfo, ...],
    in_scope: Container[prim.Var] = (),
    *,
    hide: bool = True,
    variables: ShapeVariables | None = None,
) -> dict[prim.Var, PrimExpr]:
    """As `shape_var_mapping`, where `params` are some of the parameters of a `whole` function type.

    Unless `hide`, what a function type among the arguments binds itself does take part.
    """
    variables = variables or ShapeVariables()
    mapping: dict[prim.Var, PrimExpr] = {}
    functions: list[_Pair] = []
    seen: set[tuple[int, int]] = set()
    for v, e in _bindable_variables(zip(params, args), functions, seen):
        if v not in in_scope:
            mapping.setdefault(v, e)
    if not functions:
        return mapping
    open_ = own_shape_vars(whole, in_scope, variables).keys() - mapping.keys()
    if not open_:
        return mapping
    hidden = _bound_by_functions(args, variables) if hide else set()
    hidden = {v for v in hidden if v not in in_scope}
    while functions and open_:
        pairs, functions = functions, []
        for v, e in _bindable_variables(pairs, functions, seen):
            if v in open_ and not (hidden and hidden & scalar_variables(e).keys()):
                mapping[v] = e
                open_.remove(v)
    return mapping


_Pair = tuple[StructInfo, StructInfo]


def _bindable_variables(
    pairs: Iterable[_Pair], functions: list[_Pair], seen: set[tuple[int, int]]
) -> Iterator[tuple[prim.Var, PrimExpr]]:
    """Each variable that stands alone in the first of a pair, and what the second has there.

    What functions take and give is put aside in `functions`, pair by pair; what was `seen` says
    nothing new.
    """
    stack = list(reversed(list(pairs)))
    while stack:
        param, arg = stack.pop()
        if (id(param), id(arg)) in seen:
            continue
        seen.add((id(param), id(arg)))
        if param is not None and param.is_compound and (faced := paired_parts(param, arg)):
            if param.is_scope:
                functions.extend(faced)
            else:
                stack.extend(reversed(faced))
        sizes, values = dimensions(param), held_sizes(arg)
        if len(sizes) == len(values):
            yield from ((v, e) for v, e in zip(sizes, values) if isinstance(v, prim.Var))


def _bound_by_functions(infos: tuple[StructInfo, ...], variables: ShapeVariables) -> set[prim.Var]:
    """The variables that function types in `infos` bind themselves."""
    mentioned = set[prim.Var]().union(*map(variables.mentioned, infos))
    return mentioned.difference(*map(variables.free, infos))


def substitute_shape_vars(
    info: Info,
    mapping: Mapping[prim.Var, PrimExpr | int],
    in_scope: Container[prim.Var] = (),
    variables: ShapeVariables | None = None,
) -> Info:
    """`info` with shape variables replaced, all at once; what was computed anew is simplified.

    A function type inside keeps the variables that it binds apart from those that arrive; it binds
    none `in_scope`. A Relax variable that holds a shape stays as it is unless its dimensions are
    known and change; then they take its place.
    """
    if info is None or not mapping:
        return info
    replaced = {v: prim.as_prim(e) for v, e in mapping.items()}
    if info.is_compound:
        variables = variables or ShapeVariables()
        replaced |= _rename_clashes(info, replaced, in_scope, variables)
    renames = all(isinstance(e, prim.Var) for e in replaced.values())
    substitution = _ShapeVarSubstitution(replaced, renames, variables)
    if not info.is_compound:  # most are not
        return substitution.sizes(info)
    return walk.rewrite_top_down(info, substitution.step)


class _ShapeVarSubstitution(NamedTuple):
    """Replacements of shape variables, and how they change the parts of a StructInfo.

    Where only names change (`renames`), dimensions stay as they were written. `variables` are known
    of what has parts, so that what does not change is not entered.
    """

    mapping: Mapping[prim.Var, PrimExpr]
    renames: bool
    variables: ShapeVariables | None

    def step(self, node: Node) -> Node | None:
        """The replacement of a part; None where its own parts are looked at."""
        match node:
            case PrimExpr():
                return self.scalar(node)
            case StructInfo() if not node.is_compound:
                return self.sizes(node)
            case FuncStructInfo() if self.variables is not None:
                return None if self.variables.mentions_any(node, self.mapping) else node
            case StructInfo() | ShapeExpr():
                return None
        return node

    def scalar(self, e: PrimExpr) -> PrimExpr:
        if isinstance(e, prim.Var):
            return self.mapping.get(e, e)
        new = walk.substitute(e, self.mapping)
        return new if new is e or self.renames else simplify(new)

    def sizes(self, info: Info) -> Info:
        """A StructInfo without parts."""
        known = held_sizes(info)
        new = tuple([self.scalar(e) for e in known])
        if all(x is y for x, y in zip(new, known)):
            return info
        return with_dimensions(info, new)


def _rename_clashes(
    info: StructInfo,
    mapping: Mapping[prim.Var, PrimExpr],
    in_scope: Container[prim.Var],
    variables: ShapeVariables,
) -> dict[prim.Var, PrimExpr]:
    """New variables for those that function types in `info` bind and that also arrive."""
    arriving = {v for e in mapping.values() for v in scalar_variables(e)} - mapping.keys()
    clashes = arriving & variables.mentioned(info) - variables.free(info).keys()
    return {v: fresh_var(v) for v in clashes if v not in in_scope}


def substitute_held_shapes(info: Info, mapping: Mapping[Var, Expr]) -> Info:
    """`info` with the Relax variables that hold shapes replaced; the rank is that of the new shape.

    Raises `ValueError` where the rank is known to be another.
    """
    if not mapping:
        return info

    def step(node: Node) -> Node | None:
        match node:
            case TensorStructInfo(shape=Var() as shape, dtype=dtype, vdevice=vdevice, ndim=ndim):
                new = mapping.get(shape)
                return TensorStructInfo(new, dtype, vdevice, ndim) if new is not None else node
            case StructInfo() if node.is_compound:
                return None
        return node

    return walk.rewrite_top_down(info, step)


def fresh_var(var: prim.Var) -> prim.Var:
    """Another variable of the same name and dtype."""
    return type(var).make(var.name, var.dtype)
