"""Functions of Python that are called in a Relax function: those that take values of the program.

`len`, `max` and `min` are computed over dimensions. Others need values that are known only when the
program runs; they are refused, with the operator that does the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from relaxscript.errors import Diagnostic, Edit, Label, OperandError
from relaxscript.ir.prim import Max, Min, PrimExpr, match_dtypes
from relaxscript.ir.relax import Call, Expr, PrimValue, TupleGetItem
from relaxscript.script.names.safe_callables import is_safe
from relaxscript.script.parser.captured_ir import is_captured_ir, with_span
from relaxscript.script.parser.expression import check_size, parse_expr, parse_exprs
from relaxscript.script.parser.python_call import call_python
from relaxscript.script.parser.suggestions import member_named
from relaxscript.script.source.lookup import definition_place

from .attribute import known_length
from .context import RelaxContext
from .operand_errors import note_deferred_checks, operator_of

__all__ = ["call_of_python", "check_taken", "explain_failure"]

# What functions of Python are called where values are known only later.
_LATER = {"max": "maximum", "min": "minimum", "pow": "power", "len": "shape_of"}
_CONVERSIONS = {"float": "float32", "int": "int64", "bool": "bool"}
# Libraries whose functions take arrays, and so no values of a program.
_OF_ARRAYS = frozenset({"numpy", "scipy", "torch", "jax", "tensorflow", "cupy"})
_LATER_LOOP = "loop in a `@T.prim_func`, or write a recursive function"


def call_of_python(cx: RelaxContext, callee: Any, node: ast.Call) -> Any:
    """A function of Python; what it makes of values of the program is typed at once."""
    result = _call(cx, callee, node)
    if is_captured_ir(result) and not is_safe(callee):
        cx.holds_captured_ir = True
        result = with_span(result, cx.span(node))
    if not isinstance(result, (Call, TupleGetItem)) or not cx.builder.has_open_scope:
        return result
    try:
        expr = cx.builder.normal(result)
        cx.builder.struct_info(expr)
    except OperandError as error:
        # Its operands have no places in the script: the call has, and the function.
        operator = operator_of(cx, result)
        name = ast.unparse(node.func) if operator is None else f"R.{operator.script_name}"
        span = cx.span(node)
        diagnostic = error.diagnostic(error.callee or name, span, {})
        labels = [
            Label(at, f"`{error.operand}` {text}" if at == span else text)
            for at, text in diagnostic.labels
        ]
        place = definition_place(callee)
        if place is not None:
            labels.append(Label(place, f"`{callee.__name__}` is defined here"))
        raise cx.report(replace(diagnostic, labels=tuple(labels), fix=())) from None
    finally:
        note_deferred_checks(cx, node, callee=callee)
    return expr


def _call(cx: RelaxContext, callee: Any, node: ast.Call) -> Any:
    """The result of a function of Python."""
    if callee in (max, min) and not node.keywords:
        return extreme(cx, callee, node)
    if callee is print:
        refuse_later(cx, node)
    if callee is not len or len(node.args) != 1 or isinstance(node.args[0], ast.Starred):
        return call_python(cx, callee, node)
    value = parse_expr(cx, node.args[0])
    known = known_length(cx, value) if isinstance(value, Expr) else None
    if known is not None:
        return known
    with cx.at(node):
        return len(value)


def extreme(cx: RelaxContext, callee: Any, node: ast.Call) -> Any:
    """Python's `max` and `min`, of dimensions too."""
    values = [check_size(cx, value, node) for value in parse_exprs(cx, node.args)]
    given = values
    if len(values) == 1 and isinstance(values[0], (list, tuple)):
        values = list(values[0])
    if not any(isinstance(v, PrimExpr) for v in values):
        with cx.at(node, instead=lambda: explain_failure(cx, values, node)):
            return callee(*given)
    if any(isinstance(v, Expr) or not isinstance(v, (int, PrimExpr)) for v in values):
        raise cx.error(node, "RX0104", f"`{ast.unparse(node)}` mixes dimensions with other values")
    maker = Max if callee is max else Min
    numbers = [v for v in values if not isinstance(v, PrimExpr)]
    scalars = [v for v in values if isinstance(v, PrimExpr)]
    if numbers:
        scalars.append(match_dtypes(callee(numbers), scalars[0])[0])
    return reduce(lambda a, b: maker.make(*match_dtypes(a, b)), scalars)


def check_taken(cx: RelaxContext, callee: Any, args: Sequence[Any], node: ast.Call) -> None:
    """numpy makes an array of objects of what it does not know, and computes with that."""
    home = getattr(callee, "__module__", None) or type(callee).__module__
    if home.partition(".")[0] not in _OF_ARRAYS:
        return
    if any(isinstance(part, Expr) and type(part) is not PrimValue for part in _parts(args)):
        raise cx.report(_run_time_value(cx, node))


def explain_failure(cx: RelaxContext, args: Sequence[Any], node: ast.Call) -> Diagnostic | None:
    """The mistake of calling a function of Python that failed on values of the program."""
    found = any(isinstance(part, (Expr, PrimExpr)) for part in _parts(args))
    return _run_time_value(cx, node) if found else None


def _run_time_value(cx: RelaxContext, node: ast.Call) -> Diagnostic:
    """The mistake of calling a function of Python's own."""
    written = ast.unparse(node.func)
    message = f"`{written}` is Python's own, and cannot take values that are known only later"
    help, fix = instead_of_python(cx, written, node)
    return Diagnostic("RX0112", message, cx.span(node), help=help, fix=fix)


def instead_of_python(
    cx: RelaxContext, written: str, node: ast.Call
) -> tuple[str | None, tuple[Edit, ...]]:
    """Help for a call of Python's own, and the edit where it is the same call."""
    last = written.rpartition(".")[2]
    if written == "range":
        return _LATER_LOOP, ()
    if written in _CONVERSIONS and len(node.args) == 1:
        whole = f'R.astype({cx.written(node.args[0])}, "{_CONVERSIONS[written]}")'
        return f"write `{whole}`", (Edit(cx.span(node), whole),)
    several = len(node.args) > 1
    near = member_named(cx, ast.Name(_LATER.get(last, last) if several else last))
    near = near or member_named(cx, ast.Name(_LATER.get(last, last)))
    if near is None:
        return None, ()
    edit = Edit(cx.span(node.func), near)
    return f"write `{near}(...)`", (edit,) if near.startswith("R.") else ()


def refuse_later(cx: RelaxContext, node: ast.Call) -> None:
    """`print(x)` would print a variable, not its value: that is known when the program runs."""
    for argument in node.args:
        if isinstance(argument, ast.Name) and isinstance(parse_expr(cx, argument), Expr):
            raise cx.error(
                node, "RX0112", "`print` would print now, while the program is read",
                help=f"print values by `R.print({argument.id}, format=...)`",
            )  # fmt: skip


def _parts(args: Sequence[Any]) -> Iterator[Any]:
    """Arguments, and what is in lists and tuples among them."""
    for arg in args:
        yield from arg if isinstance(arg, (list, tuple)) else (arg,)
