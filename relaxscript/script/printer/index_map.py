"""Functions of variables as attributes have them: `T.index_map(lambda i, j: (j, i))`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from relaxscript.ir import prim
from relaxscript.ir.tir_compute import IndexMap

from . import tree
from .prim import ScalarPrinter

__all__ = ["print_index_map", "print_lambda"]


def print_lambda(
    cx: ScalarPrinter, variables: Sequence[prim.Var], results: Sequence[prim.PrimExpr], single: bool
) -> ast.expr:
    """`lambda i, j: (j, i)`."""
    with cx.names.scope():
        names = [cx.names.define(v, v.name) for v in variables]
        made = [cx.scalar(e) for e in results]
        body = made[0] if single else tree.items(made, ast.Tuple)
    arguments = ast.arguments(
        posonlyargs=[], args=[ast.arg(name, None) for name in names], vararg=None,
        kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[],
    )  # fmt: skip
    return ast.Lambda(arguments, body)


def print_index_map(cx: ScalarPrinter, m: IndexMap) -> ast.expr:
    """`T.index_map(lambda i, j: (j, i))`."""
    function = print_lambda(cx, m.initial_indices, m.final_indices, False)
    inverse = None if m.inverse_index_map is None else print_index_map(cx, m.inverse_index_map)
    dtypes = {v.dtype for v in m.initial_indices} - {prim.INT64}
    dtype = tree.constant(str(dtypes.pop())) if len(dtypes) == 1 else None
    word = cx.session.member("tir", "index_map")
    return tree.call(word, [function], inverse_index_map=inverse, index_dtype=dtype)
