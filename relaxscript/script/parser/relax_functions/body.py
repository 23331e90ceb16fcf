"""Bodies of Relax: statements one after the other; a mistake in one keeps no other from being read.

What a statement means is said by the language's `parse_stmt`, in `statement.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from relaxscript.errors import Span
from relaxscript.script.parser.diagnostics import UNKNOWN, Failed
from relaxscript.script.parser.dimensions import dimension_names
from relaxscript.script.parser.unsupported_syntax import first_word
from relaxscript.script.source.bound_names import names_inside

from .context import RelaxContext
from .dimension import is_undefined

__all__ = ["forget_dimensions", "parse_in_place", "parse_stmts", "span_of_body"]


# body = { statement }
def parse_stmts(cx: RelaxContext, body: Iterable[ast.stmt]) -> None:
    """Every statement; one that fails leaves the names it assigns unknown."""
    for statement in body:
        over = cx.returned
        cx.current = statement
        cx.reporter.reading = (cx.source, statement)
        try:
            cx.language.parse_stmt(cx, statement)
        except Failed:
            forget(cx, statement)
        except RecursionError:
            cx.error(
                first_word(cx.source, statement) or cx.source.span(statement), "RX0104",
                "this is nested too deeply", help="write it in several statements or functions",
            )  # fmt: skip
            forget(cx, statement)
        if over:
            return


def parse_in_place(cx: RelaxContext, body: list[ast.stmt]) -> None:
    """Statements of which the first that fails ends all."""
    for statement in body:
        cx.language.parse_stmt(cx, statement)


def forget(cx: RelaxContext, statement: ast.stmt) -> None:
    """After a mistake in a statement the names that it binds are unknown."""
    for name in names_inside(statement):
        cx.bind_name(name, UNKNOWN)
    forget_dimensions(cx, statement)
    if isinstance(statement, ast.Return):
        cx.returned = True


def forget_dimensions(cx: RelaxContext, value: ast.AST) -> None:
    """After a mistake in a cast, the dimensions that it was to bind are unknown."""
    for node in ast.walk(value):
        match node:
            case ast.Call(func=ast.Attribute(attr="match_cast" | "match_shape")):
                parts = (*node.args[1:], *(k.value for k in node.keywords))
                for name in {n for part in parts for n in dimension_names(part)}:
                    known = cx.dims.get(name)
                    if known is not None and not cx.is_bound(known):
                        cx.unknown_dims.add(known)
                    elif known is None and is_undefined(cx, name):
                        cx.bind_name(name, UNKNOWN)


def span_of_body(cx: RelaxContext, body: Sequence[ast.stmt]) -> Span:
    """From the first statement to the last."""
    return cx.source.span(body[0]).cover(cx.source.span(body[-1]))
