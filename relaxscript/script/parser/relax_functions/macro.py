"""Macros in Relax functions: what they bind is bound where they are used.

value = expression of a macro's `return`
"""

from __future__ import annotations

import ast
from typing import Any

from relaxscript.script.parser.argument_errors import bind_arguments
from relaxscript.script.parser.diagnostics import Failed
from relaxscript.script.parser.macro import (
    Macro,
    Returned,
    check_depth,
    inside_macro,
    wrong_language,
)

from .body import parse_stmts
from .call import argument, call_operands, keyword_values, with_places
from .context import RelaxContext

__all__ = ["expand_macro"]


def expand_macro(cx: RelaxContext, macro: Macro, given: tuple[Any, ...], node: ast.Call) -> Any:
    """The value of a use of a macro; what it binds is bound here."""
    if macro.kind != "relax_macro":
        raise wrong_language(cx, macro, node)
    args = [*given, *(argument(cx, v, n) for v, n in with_places(cx,
        call_operands(cx, node.args), node))]  # fmt: skip
    kwargs: dict[str, Any] = {}
    for keyword in node.keywords:
        kwargs.update(keyword_values(cx, keyword))
    kwargs = {name: argument(cx, value, node) for name, value in kwargs.items()}
    check_depth(cx, macro, node)
    values = bind_arguments(cx, macro.signature, node, args, kwargs, defined=macro.span)
    with inside_macro(cx, macro, node, state_of(cx, macro, values)):
        try:
            parse_stmts(cx, macro.node.body)
        except Returned as returned:
            return returned.value
        if cx.returned:  # and the value failed
            raise Failed
        raise cx.error(
            macro.span, "RX0105", f"the macro `{macro.name}` ended without `return`",
            help="every way through it ends with `return ...`",
        )  # fmt: skip


def state_of(cx: RelaxContext, macro: Macro, values: dict[str, Any]) -> dict[str, Any]:
    """The context inside a macro; it has the names around its use only if it is not hygienic."""
    fresh: dict[str, Any] = {"dims": {}, "dataflow_locals": {}, "hidden": set(), "undeclared": {}}
    outer: dict[str, Any] = {name: getattr(cx, name).copy() for name in fresh}
    names = {} if macro.hygienic else cx.names
    return {
        **(fresh if macro.hygienic else outer),
        "names": {**names, **values},
        "expanded_in": cx.declared,
        "scopes": [[]],
        "outputs": set(),
        "leaving": set(),
        "returned": False,
        "last_bound": "",
        "augmented": None,
        "introduces": False,
        "binding": False,
    }
