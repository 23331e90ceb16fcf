"""Values of Relax: operands, tuples, operators of Python, and Python values as these.

    operand    = expression            (bound to a variable first when it is not a leaf)
    call       = operator "(" arguments ")" | function "(" operands ")" | form "(" arguments ")"
    function   = "cls" "." name | local function | extern function

Start reading at `as_leaf`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from relaxscript.errors import OperandError
from relaxscript.ir.node import Node
from relaxscript.ir.prim import EQ, NE, And, Not, Or, PrimExpr, Var as PrimVar, match_dtypes
from relaxscript.ir.prim_checks import reason
from relaxscript.ir.relax import Call, Expr, LeafExpr, Op, ShapeExpr, Tuple, as_expr
from relaxscript.op import SYMBOLS, Operator, lookup
from relaxscript.script.names import relax_forms
from relaxscript.script.names.annotations import AnnotationForm
from relaxscript.script.names.relax_forms import MatchCastValue
from relaxscript.script.parser.annotation import form_subscript
from relaxscript.script.parser.diagnostics import Failed, Failures
from relaxscript.script.parser.dimensions import Dims, plain
from relaxscript.script.parser.expression import compute_before, parse_expr, python_operation
from relaxscript.script.parser.fixits import between
from relaxscript.script.parser.module_context import ModuleName
from relaxscript.script.parser.python_operators import PYTHON

from .context import RelaxContext
from .dimension import as_dimension
from .operand_errors import note_deferred_checks, operand_error, operand_nodes

__all__ = [
    "as_leaf",
    "bind_cast",
    "build",
    "compute",
    "expr_of",
    "is_deferred",
    "mentions",
    "operate",
    "operator_as_value",
    "parse_subscript",
]  # fmt: skip


# ---- operands


def as_leaf(cx: RelaxContext, expr: Expr, node: ast.AST) -> Expr:
    """An expression as a leaf."""
    if isinstance(expr, LeafExpr) and type(expr) is not Tuple:
        return expr
    if not cx.builder.has_open_scope:
        raise cx.error(node, "RX0108", "nothing can be computed in an annotation")
    try:
        return cx.builder.operand(expr)
    except OperandError as error:
        raise operand_error(cx, error, node, expr) from None
    finally:
        note_deferred_checks(cx, node, value=expr)


def expr_of(cx: RelaxContext, value: Any, node: ast.AST) -> Expr:
    """A value as a Relax expression."""
    match value:
        case Expr():
            return value
        case PrimVar() | PrimExpr():
            return prim_value(cx, value, node)
        case tuple() | list():
            return tuple_of(cx, value, node)
        case MatchCastValue():
            return bind_cast(cx, value, node)
        case ModuleName():
            raise cx.error(node, "RX0201", "the module itself is not a value")
        case Operator():
            raise operator_as_value(cx, value, node)
    try:
        return as_expr(plain(value))
    except TypeError:
        raise no_value(cx, value, node) from None


def no_value(cx: RelaxContext, value: Any, node: ast.AST) -> Failed:
    """Record that a value of Python is none of the program."""
    kind = "function" if callable(value) else type(value).__name__
    what = "is no value of a program"
    if value is not None:
        what = f"is a Python {kind}, and no value of a program"
    help, fix = None, None
    if isinstance(value, Mapping):
        help = "give its values as a tuple"
        fix = f"tuple({ast.unparse(node)}.values())" if isinstance(node, ast.Name) else None
        if isinstance(node, ast.Dict):
            parts = ", ".join(ast.unparse(v) for v in node.values)
            fix = f"({parts},)" if len(node.values) == 1 else f"({parts})"
        help = f"{help}: `{fix}`" if fix else help
    return cx.error(node, "RX0201", f"`{ast.unparse(node)}` {what}", help=help, fix=fix)


def operator_as_value(cx: RelaxContext, operator: Operator, node: ast.AST) -> Failed:
    """Record criterion 9: an operator is no value."""
    return cx.error(
        node, "RX0309", f"the operator `R.{operator.script_name}` may only be called",
        help="write a function around it",
    )  # fmt: skip


def tuple_of(cx: RelaxContext, values: Sequence[Any], node: ast.AST) -> Expr:
    """Several values as a tuple; dimensions of a shape as a shape."""
    parts: list[Any] = [node] * len(values)
    if isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) == len(values):
        parts = list(node.elts)
    if isinstance(values, Dims):
        dims = [as_dimension(cx, d, n) for d, n in zip(values, parts)]
        return ShapeExpr.make(tuple(dims), span=cx.source.span(node))
    fields: list[Expr] = []
    failures = Failures()
    for value, part in zip(values, parts):
        with failures:
            # Computed here, a field is blamed by itself.
            fields.append(as_leaf(cx, expr_of(cx, value, part), part))
    failures.settle()
    return Tuple.make(tuple(fields))


def prim_value(cx: RelaxContext, value: PrimExpr, node: ast.AST) -> Expr:
    """A scalar expression as a value (anything but a literal is computed)."""
    try:
        return relax_forms.prim_value(value)
    except OperandError as error:
        raise operand_error(cx, error, node, None) from None


def bind_cast(cx: RelaxContext, cast: MatchCastValue, node: ast.AST) -> Expr:
    """A `R.match_cast` in the place of a value: it is bound first."""
    value = as_leaf(cx, expr_of(cx, cast.value, node), node)
    span = cx.source.span(node)
    var = cx.builder.bind_match_cast(value, cast.struct_info, "", span, False, span)
    note_deferred_checks(cx, node)
    return var


# ---- order


def is_deferred(cx: RelaxContext, value: Any) -> bool:
    """True if a value is a call that is bound only with its whole statement."""
    match value:
        case Call(op=Op() as op):
            return not lookup(op).pure
        case Tuple() | tuple() | list():
            return any(is_deferred(cx, item) for item in value)
    return isinstance(value, Call)


def compute(cx: RelaxContext, value: Any, node: ast.expr) -> Any:
    """A value that is_deferred, computed now."""
    if isinstance(value, list):
        return [compute(cx, item, node) for item in value]
    return as_leaf(cx, expr_of(cx, value, node), node)


# ---- operators of Python


def operate(cx: RelaxContext, symbol: str, operands: tuple[Any, ...], node: ast.expr) -> Any:
    if any(isinstance(o, MatchCastValue) for o in operands):
        operands = tuple(
            bind_cast(cx, o, node) if isinstance(o, MatchCastValue) else o for o in operands
        )
    if any(isinstance(o, Expr) for o in operands):
        nodes = operand_nodes(node)
        placed = zip(operands, nodes if len(nodes) == len(operands) else [node] * len(operands))
        leaves = [as_leaf(cx, o, n) if isinstance(o, Expr) else o for o, n in placed]
        return infix(cx, symbol, leaves, node)
    if any(isinstance(o, PrimExpr) for o in operands):
        if symbol == "not":
            return Not.make(operands[0])
        if symbol in _SCALAR:
            return _SCALAR[symbol].make(*match_dtypes(*operands))
        return scalar_python(cx, symbol, operands, node)
    return python_operation(cx, symbol, operands, node)


def scalar_python(cx: RelaxContext, symbol: str, operands: tuple[Any, ...], node: ast.expr) -> Any:
    """Arithmetic of dimensions, which is Python's own on scalar expressions."""
    if symbol in ("/", "//", "%") and operands[1] == 0 and not isinstance(operands[1], Node):
        raise cx.error(node, "RX0104", "a dimension is divided by zero")
    try:
        if symbol.removeprefix("unary ") in _BITS:
            raise TypeError
        return PYTHON[symbol](*operands)
    except ValueError as error:  # a number of more than 64 bits
        raise cx.error(node, "RX0104", reason(error)) from None
    except TypeError:
        written, shown = ast.unparse(node), symbol.removeprefix("unary ")
        message = f"`{shown}` has no meaning in `{written}`, which is arithmetic of dimensions"
        product = _product(node) if symbol == "**" else None
        help = f"write the product out: `{product or 'n * n'}`" if symbol == "**" else None
        raise cx.error(node, "RX0104", message, help=help, fix=product) from None


def infix(cx: RelaxContext, symbol: str, operands: list[Any], node: ast.expr) -> Any:
    """`x + y` is the call that the operator of this symbol makes."""
    operands = [prim_value(cx, o, node) if isinstance(o, PrimExpr) else o for o in operands]
    operator = SYMBOLS.get(symbol)
    if operator is None:
        shown = symbol.removeprefix("unary ")
        plain = cx.written(node.operand) if isinstance(node, ast.UnaryOp) else None
        help = None if plain is None else f"leave it out: `{plain}`"
        sign = {"is": "==", "is not": "!="}.get(symbol)
        edits = []
        if sign is not None and isinstance(node, ast.Compare):
            help = f"write `{sign}`"
            left, right = operand_nodes(node)
            edits = [between(cx.source, left, right, f" {sign} ")]
        raise cx.error(
            node, "RX0104", f"`{shown}` has no meaning in Relax", help=help, fix=plain,
            edits=edits,
        )  # fmt: skip
    call = build(cx, operator, operands, node)
    spans = tuple([cx.source.span(n) for n in operand_nodes(node)])
    return call.replace(arg_spans=spans) if len(spans) == len(call.args) else call


def build(cx: RelaxContext, operator: Operator, args: Sequence[Any], node: ast.expr) -> Call:
    """A call of an operator that the script does not write as one, in the place of `node`."""
    try:
        call: Call = operator.build(args)
    except OperandError as error:
        raise operand_error(cx, error, node, None, operator) from None
    return call.replace(span=cx.source.span(node))


def parse_subscript(cx: RelaxContext, node: ast.Subscript) -> Any:
    owner = parse_expr(cx, node.value)
    if isinstance(owner, AnnotationForm):
        return form_subscript(cx, owner, node)
    owner = compute_before(cx, node.slice, owner, node.value)
    return cx.language.subscript_of(cx, owner, parse_expr(cx, node.slice), node)


def _product(node: ast.expr) -> str | None:
    """`n ** 3` as `n * n * n`."""
    match node:
        case ast.BinOp(left=ast.Name(id=name), right=ast.Constant(value=int(count))):
            return " * ".join([name] * count) if 2 <= count <= 4 else None
    return None


def mentions(node: ast.AST, name: str) -> bool:
    """True if a piece of syntax is a name, or a string that holds it."""
    match node:
        case ast.Name(id=found):
            return found == name
        case ast.Constant(value=str(text)):
            try:
                inner = ast.parse(text.strip(), mode="eval")
            except (SyntaxError, ValueError):
                return False
            return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(inner))
    return False


# Operators on bits, which the arithmetic of dimensions has not.
_BITS = frozenset({"<<", ">>", "&", "|", "^", "~"})


# Comparison for equality and logic of scalar expressions, which Python cannot overload.
_SCALAR: dict[str, Any] = {"==": EQ, "!=": NE, "and": And, "or": Or}
