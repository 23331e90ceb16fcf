"""Names in PrimFuncs: what Python captured, the module, and what is known no more."""

from __future__ import annotations

import ast
from typing import Any

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.walk import substitute
from relaxscript.script.parser.diagnostics import Failed
from relaxscript.script.parser.expression import captured_name
from relaxscript.script.parser.module_context import ModuleName
from relaxscript.script.parser.suggestions import undefined

from .context import TirContext

__all__ = ["find_name", "undefined_here", "with_own_variables"]


def find_name(cx: TirContext, node: ast.Name) -> Any:
    """A name that the script itself did not bind."""
    if cx.module_name and node.id == cx.module_name:
        return ModuleName
    value = captured_name(cx, node)
    if isinstance(value, prim.Var) and value.name and value not in cx.own:
        cx.captured.setdefault(value, cx.span(node))
    return with_own_variables(cx, value)


def with_own_variables(cx: TirContext, value: Any) -> Any:
    """A scalar that Python holds, of the function's own shape variables."""
    if isinstance(value, prim.Var):
        return cx.own.get(value, value)
    return substitute(value, cx.own) if isinstance(value, PrimExpr) else value


def undefined_here(cx: TirContext, node: ast.Name) -> Failed:
    """Record an undefined name; one of a scope that has ended is known no more."""
    if node.id not in cx.gone or (cx.expanding and node.id in cx.names_of_use):
        return undefined(cx, node)
    return cx.error(
        node, "RX0101", f"`{node.id}` is not defined here",
        labels=[(cx.gone[node.id], "known only inside the statement around it")],
        help="use it there, or keep the value in a buffer",
    )  # fmt: skip
