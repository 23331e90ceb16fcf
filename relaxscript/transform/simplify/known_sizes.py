"""Shape variables that only stand for what is known of a value anyway."""

from __future__ import annotations

from collections import Counter

from relaxscript.analysis.struct_info_checker import struct_info_violations
from relaxscript.ir import prim
from relaxscript.ir.constant_folding import fold_constants
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import Function, MatchCast
from relaxscript.ir.walk import Substitution, compounds, rewrite
from relaxscript.sinfo import definable_shape_vars, sizes_of_bound_vars

__all__ = ["with_known_sizes"]


def with_known_sizes(func: Function, mod: IRModule) -> Function:
    """The function without shape variables that a `match_cast` binds to what is known before.

    It is `func` itself where there are none. It is so too where an operator would refuse what is
    known then: such a program fails when it runs, if it comes to that place.
    """
    parts = list(compounds(func))
    casts = [node for node in parts if isinstance(node, MatchCast)]
    if not casts:
        return func
    params = (p.struct_info for f in parts if isinstance(f, Function) for p in f.params)
    infos = [*(info for info in params if info is not None), *(c.struct_info for c in casts)]
    places = Counter(v for info in infos for v in definable_shape_vars(info))
    sizes = Substitution()
    for cast in casts:
        known = cast.value.struct_info
        fresh = [v for v in definable_shape_vars(cast.struct_info) if places[v] == 1]
        if known is not None and fresh:
            taken = sizes_of_bound_vars(known, cast.struct_info, fresh)
            for v, e in {v: sizes.apply(e) for v, e in taken.items()}.items():
                sizes[v] = e
    if not sizes:
        return func
    # What is known of sizes now may make numbers of expressions.
    made = rewrite(sizes.apply(func), _refold)
    return func if struct_info_violations(made, mod) else made


def _refold(node: Node) -> Node | None:
    return fold_constants(node) if isinstance(node, prim.PrimExpr) else None
