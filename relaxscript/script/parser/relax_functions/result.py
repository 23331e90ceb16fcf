"""`return` in Relax: the result of a function, which fits what was declared, or of a macro."""

from __future__ import annotations

import ast
from typing import Any, NoReturn

from relaxscript.errors import OperandError
from relaxscript.ir.relax import Expr, LeafExpr, Tuple
from relaxscript.script.parser.dimensions import is_number
from relaxscript.script.parser.expression import parse_expr
from relaxscript.script.parser.macro import Returned

from .binding import constant_of, keep, normal
from .context import RelaxContext
from .expression import as_leaf, expr_of
from .operand_errors import label_declaration, note_deferred_checks, with_cast

__all__ = ["parse_return"]


def parse_return(cx: RelaxContext, node: ast.Return, value: ast.expr | None) -> None:
    """`return`: the result of the function, or the value of the macro that is being expanded."""
    if cx.expanding and cx.declared is cx.expanded_in:
        # What a function inside a macro returns is its own.
        _return_from_macro(cx, node, value)
    if cx.builder.current_block_is_dataflow():
        raise cx.error(
            node, "RX0105", "`return` is not allowed in a dataflow block",
            help="close the block with `R.output(...)`, then return",
        )  # fmt: skip
    cx.returned = True
    if value is None:
        cx.has_result = True
        cx.builder.set_result(Tuple.make(()))
        check_result(cx, Tuple.make(()), node)
        return
    found = parse_expr(cx, value)
    if is_number(found):
        found = constant_of(cx, found, value)
    if found is None:
        found = ()
    result = as_leaf(cx, expr_of(cx, found, value), value)
    cx.builder.set_result(result, cx.source.span(value))
    cx.has_result = True
    check_result(cx, result, value)


def check_result(cx: RelaxContext, result: Expr, node: ast.expr | ast.Return) -> None:
    """The result must fit what was declared; it may be known to be less precise."""
    declared = cx.declared
    if declared is None or declared.ret is None:
        return
    try:
        info = cx.builder.struct_info(result)
        cx.builder.check_fits(info, declared.ret, "the result", "the return annotation", "RX0205")
    except OperandError as error:
        span = cx.source.span(node)
        diagnostic = error.diagnostic(declared.name, span, {"the result": span})
        diagnostic = label_declaration(cx, diagnostic, declared.returns)
        raise cx.report(with_cast(cx, diagnostic, error.cast, node, declared.returns)) from None
    finally:
        note_deferred_checks(cx, node, declared.returns)


def _return_from_macro(cx: RelaxContext, node: ast.Return, value: ast.expr | None) -> NoReturn:
    """The end of a macro, at its outermost level only."""
    if len(cx.scopes) > 1:
        inside = cx.builder.current_block_is_dataflow()
        raise cx.error(
            node, "RX0105",
            f"`return` is not allowed in {'a dataflow block' if inside else 'a branch'}"
            " of a macro",
            help="close the block with `R.output(...)`, then return" if inside
            else "bind the value in both branches, and return it after the `if`",
        )  # fmt: skip
    cx.returned = True
    raise Returned(None if value is None else parse_returned_value(cx, value))


def parse_returned_value(cx: RelaxContext, node: ast.expr) -> Any:
    """The value that a macro returns: typed here, so that its mistakes are found here."""
    found = parse_expr(cx, node)
    if isinstance(found, (tuple, list)):
        return type(found)(keep(cx, part, node) for part in found)
    if not isinstance(found, Expr) or (
        isinstance(found, LeafExpr) and not isinstance(found, Tuple)
    ):
        return found
    try:
        return normal(cx, found, node)
    finally:
        note_deferred_checks(cx, node, value=found)
