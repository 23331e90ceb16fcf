"""Shape variables that only stand for what is known of a value anyway."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from relaxscript.analysis import Context
from relaxscript.analysis.struct_info_checker import struct_info_violations
from relaxscript.ir import prim
from relaxscript.ir.constant_folding import fold_constants
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import Call, Function, MatchCast
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.walk import Substitution, compounds, rewrite, walk
from relaxscript.sinfo import definable_shape_vars, sizes_of_bound_vars

__all__ = ["with_known_sizes"]


def with_known_sizes(func: Function, mod: IRModule, keep_told: bool = False) -> Function:
    """The function without shape variables that a `match_cast` binds to what is known before.

    It is `func` itself where there are none. It is so too where an operator would refuse what is
    known then: such a program fails when it runs, if it comes to that place. With `keep_told` those
    variables stay that a check compares with, since it says so when it fails.
    """
    parts = list(compounds(func))
    casts = [node for node in parts if isinstance(node, MatchCast)]
    if not casts:
        return func
    params = (p.struct_info for f in parts if isinstance(f, Function) for p in f.params)
    infos = [*(info for info in params if info is not None), *(c.struct_info for c in casts)]
    places = Counter(v for info in infos for v in definable_shape_vars(info))
    told = _compared(parts) if keep_told else frozenset[prim.Var]()
    sizes, context = Substitution(), Context(mod)
    for cast in casts:
        fresh = [
            v for v in definable_shape_vars(cast.struct_info) if places[v] == 1 and v not in told
        ]
        known = context.struct_info(cast.value) if fresh else None
        if known is not None:
            taken = sizes_of_bound_vars(known, cast.struct_info, fresh)
            for v, e in {v: sizes.apply(e) for v, e in taken.items()}.items():
                sizes[v] = e
    if not sizes:
        return func
    # What is known of sizes now may make numbers of expressions.
    made = rewrite(sizes.apply(func), _refold)
    return func if struct_info_violations(made, mod) else made


def _compared(parts: Iterable[Node]) -> frozenset[prim.Var]:
    """The shape variables with which checks compare sizes, rather than bind them."""
    found = set[prim.Var]()
    bound = set[prim.Var]()
    for info in (info for part in parts for info in _checked(part)):
        here = Counter(node for node in walk(info) if isinstance(node, prim.Var))
        own = set(definable_shape_vars(info)) - bound
        found.update(v for v, count in here.items() if count > (v in own))
        bound |= own
    return frozenset(found)


def _checked(part: Node) -> Sequence[StructInfo]:
    """The types that the run compares a value with there."""
    match part:
        case MatchCast(struct_info=wanted):
            return [wanted]
        case Call(sinfo_args=promised):
            return promised
        case Function(ret_struct_info=promised):
            return [] if promised is None else [promised]
    return []


def _refold(node: Node) -> Node | None:
    return fold_constants(node) if isinstance(node, prim.PrimExpr) else None
