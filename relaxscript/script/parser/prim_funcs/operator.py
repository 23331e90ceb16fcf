"""Operators of PrimFuncs: each symbol makes its node, and the truth of a scalar is never asked.

    operation = scalar operator scalar | "not" scalar | scalar "and" scalar | scalar "<" scalar ...
    choice    = scalar "if" scalar "else" scalar              (which is `T.if_then_else`)

Operands are matched in dtype; Python values among themselves are left to Python.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from typing import Any

from relaxscript.errors import DiagnosticError, OperandError, unplaced_error
from relaxscript.ir import prim
from relaxscript.ir.node import Node
from relaxscript.ir.prim import IntImm, PrimExpr, const, match_dtypes
from relaxscript.ir.prim_checks import reason
from relaxscript.ir.scalar_functions import FUNCTIONS
from relaxscript.script.names.syntax import OPERATORS
from relaxscript.script.parser import expression
from relaxscript.script.parser.expression import parse_expr, parse_exprs, python_operation
from relaxscript.script.parser.fixits import between
from relaxscript.script.parser.python_operators import COMPARE

from .call import refuse_operand, with_place
from .context import TirContext
from .scalar import make_number, to_condition, to_scalar

__all__ = ["combine", "operate", "parse_boolean", "parse_comparison", "parse_conditional"]

# Operators of two operands that are nodes; `and` and `or` have rules of their own.
NODES: dict[str, Any] = {
    row.symbol: row.scalar
    for row in OPERATORS
    if row.scalar is not None and not issubclass(row.scalar, (prim.Logic, prim.Not))
}
INTRINSICS = {
    "**": "pow", "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "shift_left",
    ">>": "shift_right",
}  # fmt: skip
DIVISION = {
    "/": ("is ambiguous for integers",
          ("{a} // {b}", "T.truncdiv({a}, {b})", 'T.cast({a}, "float32") / {b}')),
    "//": ("divides integers", ("T.floor({a} / {b})",)),
    "%": ("divides integers", ("T.fmod({a}, {b})",)),
}  # fmt: skip


def operate(cx: TirContext, symbol: str, operands: tuple[Any, ...], node: ast.expr) -> Any:
    if not any(isinstance(v, Node) for v in operands):
        return python_operation(cx, symbol, operands, node)
    places = operand_nodes(cx, node, len(operands))
    return combine(cx, symbol, operands, places, node)


def operand_nodes(cx: TirContext, node: ast.AST, count: int) -> Sequence[ast.AST]:
    """The syntax of the operands of an operator."""
    match node:
        case ast.BinOp(left=left, right=right):
            return (left, right)
        case ast.UnaryOp(operand=operand):
            return (operand,)
        case ast.AugAssign(target=target, value=value):
            return (target, value)
    return (node,) * count


def combine(
    cx: TirContext, symbol: str, operands: Sequence[Any], places: Sequence[ast.AST], node: ast.AST
) -> PrimExpr:
    """The node that an operator makes of its operands."""
    values = [
        v if type(v) in (int, float, bool) else to_scalar(cx, v, at)
        for v, at in zip(operands, places)
    ]
    if len(values) == 1:
        return combine_one(cx, symbol, values[0], node)
    if symbol in ("and", "or"):
        a, b = (to_condition(cx, v, at) for v, at in zip(values, places))
        return (prim.And if symbol == "and" else prim.Or).make(a, b, span=cx.span(node))
    make = NODES.get(symbol)
    if make is not None:
        a, b = match_operands(cx, symbol, values[0], values[1], places)
        if symbol in DIVISION:
            check_division(cx, symbol, a, node)
        return make.make(a, b, span=cx.span(node))  # type: ignore[no-any-return]
    name = INTRINSICS.get(symbol)
    if name is None:
        sign = {"is": "==", "is not": "!="}.get(symbol)
        raise cx.error(
            node, "RX0501", f"`{symbol}` has no meaning for scalars",
            help=f"write `{sign}`" if sign else None,
            edits=[between(cx.source, places[0], places[1], f" {sign} ")] if sign else [],
        )  # fmt: skip
    return apply_function(cx, FUNCTIONS[name], values, node, places, symbol)


def combine_one(cx: TirContext, symbol: str, value: PrimExpr, node: ast.AST) -> PrimExpr:
    span = cx.span(node)
    match symbol:
        case "not":
            operand = node.operand if isinstance(node, ast.UnaryOp) else node
            return prim.Not.make(to_condition(cx, value, operand), span=span)
        case "unary +":
            return value
        case "~":
            operand = node.operand if isinstance(node, ast.UnaryOp) else node
            return apply_function(cx, FUNCTIONS["bitwise_not"], [value], node, [operand], symbol)
    if isinstance(value, prim.FloatImm):
        return prim.FloatImm.make(value.dtype, -value.value, span=span)
    if isinstance(value, IntImm) and value.dtype.kind == "int":
        return make_number(cx, -value.value, value.dtype, node)
    return prim.Sub.make(const(0, value.dtype), value, span=span)


def match_operands(
    cx: TirContext, symbol: str, a: Any, b: Any, places: Sequence[ast.AST]
) -> tuple[PrimExpr, PrimExpr]:
    """Both operands in one dtype."""
    try:
        return match_dtypes(a, b)
    except (TypeError, ValueError) as error:
        facts = [
            (at, "is a string" if isinstance(v, prim.StringImm) else f"is {v.dtype}")
            for v, at in zip((a, b), places)
            if isinstance(v, PrimExpr)
        ]  # fmt: skip
        why = f": {reason(error)}" if isinstance(error, ValueError) else ""
        message = f"`{symbol}` cannot combine these operands{why}"
        raise cx.error(places[1], "RX0502", message, labels=facts) from None


def check_division(cx: TirContext, symbol: str, operand: PrimExpr, node: ast.AST) -> None:
    if operand.dtype.is_float == (symbol == "/"):
        return
    fact, forms = DIVISION[symbol]
    a, b = "a", "b"
    match node:
        case ast.BinOp(left=left, right=right) | ast.AugAssign(target=left, value=right):
            a, b = cx.written(left), cx.written(right)
    instead = [form.format(a=a, b=b) for form in forms]
    what = "" if symbol == "/" else f", these are {operand.dtype}"
    raise cx.error(
        node, "RX0502", f"`{symbol}` {fact}{what}",
        help=f"write {', or '.join(f'`{text}`' for text in instead)}",
        fix=instead[0] if len(instead) == 1 and isinstance(node, ast.BinOp) else None,
    )  # fmt: skip


def parse_comparison(cx: TirContext, node: ast.Compare) -> Any:
    """Each pair compared, combined with `and`, as in Python."""
    if expression.asks_for_none(node):
        return expression.parse_comparison(cx, node)
    nodes = [node.left, *node.comparators]
    operands = parse_exprs(cx, nodes)
    if not any(isinstance(v, Node) for v in operands):
        return expression.parse_comparison(cx, node)
    result: Any = None
    for i, op in enumerate(node.ops):
        pair = (operands[i], operands[i + 1])
        symbol = COMPARE[type(op)]
        if any(isinstance(v, Node) for v in pair):
            one: Any = combine(cx, symbol, pair, nodes[i : i + 2], node)
        else:
            one = python_operation(cx, symbol, pair, node)
        result = one if i == 0 else join(cx, "and", result, one, (node, node), node)
    return result


def parse_boolean(cx: TirContext, node: ast.BoolOp) -> Any:
    symbol = "and" if type(node.op) is ast.And else "or"
    result, place = parse_expr(cx, node.values[0]), node.values[0]
    for other in node.values[1:]:
        if not isinstance(result, Node) and bool(result) == (symbol == "or"):
            return result
        result = join(cx, symbol, result, parse_expr(cx, other), (place, other), node)
        place = other
    return result


def join(
    cx: TirContext, symbol: str, a: Any, b: Any, places: Sequence[ast.AST], node: ast.AST
) -> Any:  # fmt: skip
    """`a and b`; Python values on the left are decided at once."""
    if isinstance(a, Node):
        return combine(cx, symbol, (a, b), places, node)
    return b if bool(a) == (symbol == "and") else a


def parse_conditional(cx: TirContext, node: ast.IfExp) -> Any:
    """`a if c else b`: only the chosen value is evaluated, which is `T.if_then_else`."""
    test = parse_expr(cx, node.test)
    if not isinstance(test, Node):
        return parse_expr(cx, node.body if test else node.orelse)
    condition = to_condition(cx, test, node.test)
    yes, no = parse_exprs(cx, [node.body, node.orelse])
    values = [v if type(v) in (int, float, bool) else to_scalar(cx, v, at)
              for v, at in ((yes, node.body), (no, node.orelse))]  # fmt: skip
    places = [node.test, node.body, node.orelse]
    return apply_function(cx, FUNCTIONS["if_then_else"], [condition, *values], node, places, "if")


def apply_function(
    cx: TirContext, function: Any, values: list[Any], node: ast.AST, places: Sequence[ast.AST],
    symbol: str,
) -> PrimExpr:  # fmt: skip
    """Call an intrinsic's function for an operator."""
    try:
        result = function(*values)
    except (OperandError, DiagnosticError) as error:
        said = unplaced_error(error)
        if said is None:
            raise
        said.callee = symbol
        named = dict(zip(inspect.signature(function).parameters, places))
        raise refuse_operand(cx, said, symbol, node, named, named) from None
    return with_place(cx, result, node)  # type: ignore[no-any-return]
