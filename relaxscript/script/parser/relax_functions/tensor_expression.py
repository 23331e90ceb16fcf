"""Calls of PrimFuncs that tensor expressions describe: `R.emit_te(topi.matmul, x, w)`.

    emit_te  = "R" "." "emit_te" "(" function { "," argument } ")"
    function = lambda | expression

The function is Python's own. It is run now, with a tensor of tensor expressions in the place of
each operand. What it returns becomes a private PrimFunc of the module. A lambda is run as Python
runs it, too: its indices are no values of the program. Data mode runs neither.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from relaxscript.builder.te_calls import (
    TEArguments,
    call_of,
    check_made,
    gradient_of,
    make_te_function,
    name_of,
)
from relaxscript.errors import DiagnosticError, UnplacedError, unplaced_error
from relaxscript.errors.user_frame import caller_span, raised_span
from relaxscript.ir.relax import Call, Expr
from relaxscript.op import CompositeOp, Operator
from relaxscript.script.parser.argument_errors import bind_arguments
from relaxscript.script.parser.captured_functions import adopt_made
from relaxscript.script.parser.compile_time import ScriptLambda
from relaxscript.script.parser.diagnostics import Failed, Failures
from relaxscript.script.parser.dimensions import plain
from relaxscript.script.parser.expression import parse_expr, parse_name
from relaxscript.script.parser.python_call import parse_keywords, signature_of
from relaxscript.script.source.lookup import definition_place

from .call import argument, call_operands, with_places
from .context import RelaxContext, TEOperand
from .name import declare_function

__all__ = ["te_call"]

# What is said of the PrimFunc, and not given to the function.
OF_PRIM_FUNC = ("primfunc_name_hint", "primfunc_attrs", "te_grad_name", "te_grad_kwargs")
EXAMPLE = "write for example `R.emit_te(topi.add, x, y)`"


class Argument(NamedTuple):
    """An argument with its syntax, by its number or name."""

    key: int | str
    value: Any
    node: ast.expr


def te_call(cx: RelaxContext, node: ast.Call) -> Expr:
    """`R.emit_te(f, x)`: the call of a PrimFunc that the module gets."""
    if not node.args or isinstance(node.args[0], ast.Starred):
        raise cx.error(
            node, "RX0103", "`R.emit_te` takes a function of tensors, and its arguments",
            help=EXAMPLE,
        )  # fmt: skip
    refuse_unrun(cx, node, node.args[0])
    function, given, failures = None, [], Failures()
    with failures:
        function = function_of(cx, node.args[0])
    with failures:
        given = arguments_of(cx, node)
    failures.settle()
    call = call_function(cx, function, given, node)
    return cx.builder.normal(call.replace(span=cx.span(node)))


def refuse_unrun(cx: RelaxContext, node: ast.Call, function: ast.expr) -> None:
    """Refuse a call that has no module for its PrimFunc, or where no Python is run."""
    if cx.environment.mode == "data":
        written = cx.written(function)
        if cx.environment.leave_to_run(written):
            raise Failed
        raise cx.error(
            function, "RX0104", f"`R.emit_te` runs `{written}`, and in data mode no Python is run",
            help='read the script with `mode="python"`, or print the module and read that',
        )  # fmt: skip
    if cx.module.is_absent:
        raise cx.error(
            node, "RX0201", "`R.emit_te` makes a PrimFunc, and a function on its own has no place "
            "for it", help="put the function in a class under `@I.ir_module`",
        )  # fmt: skip


def function_of(cx: RelaxContext, node: ast.expr) -> Any:
    """The function of Python that describes the tensors."""
    function = parse_expr(cx, node)
    written = cx.written(node)
    if isinstance(function, (Operator, CompositeOp)):
        raise cx.error(
            node, "RX0201", f"`{written}` is an operator, and no function of tensor expressions",
            help=f"call it: `{written}(...)`",
        )  # fmt: skip
    if isinstance(function, Expr) or not callable(function):
        raise cx.error(
            node, "RX0201", f"`{written}` is no function of tensor expressions", help=EXAMPLE
        )
    return function


def arguments_of(cx: RelaxContext, node: ast.Call) -> list[Argument]:
    """The arguments behind the function; computed operands are bound, as those of operators are."""
    failures = Failures()
    found: list[Argument] = []
    behind = ast.Call(node.func, node.args[1:], [])
    with failures:
        values = call_operands(cx, behind.args)
        places = [at for _, at in with_places(cx, values, behind)]
        if len(behind.args) != len(values):
            places = [node] * len(values)
        found += map(Argument, range(len(values)), values, places)
    for keyword in node.keywords:
        at = keyword.value
        with failures:
            if keyword.arg is None:
                found += (Argument(k, v, at) for k, v in parse_keywords(cx, at).items())
            else:
                found.append(Argument(keyword.arg, call_operands(cx, [at])[0], at))
    failures.settle()
    return [a._replace(value=leaves_of(cx, a.value, a.node)) for a in found]


def leaves_of(cx: RelaxContext, value: Any, node: ast.expr) -> Any:
    """A value whose expressions are bound; a list stays one."""
    made = plain(argument(cx, value, node))
    return list(made) if isinstance(value, list) else made


# ---------------------------------------------------------------- the call


def call_function(
    cx: RelaxContext, function: Any, given: Sequence[Argument], node: ast.Call
) -> Call:  # fmt: skip
    """The call of the PrimFunc of what a function of Python gives for some arguments."""
    ours = {a.key: a for a in given if a.key in OF_PRIM_FUNC}
    given = [a for a in given if a.key not in ours]
    arguments = TEArguments(cx.builder.struct_info)
    converted, operands = convert_arguments(cx, arguments, given, node)
    run = as_python(cx, arguments, function)
    places = bind_places(cx, run, converted, node)
    places |= {str(key): a.node for key, a in ours.items()} | {"func": node.args[0]}
    hint, attrs, *gradient = (ours[key].value if key in ours else None for key in OF_PRIM_FUNC)
    args = [a.value for a in converted if isinstance(a.key, int)]
    kwargs = {a.key: a.value for a in converted if isinstance(a.key, str)}
    with cx.state(te_operands=operands), blamed_on(cx, node, places):
        name, grad = name_of(run, hint), gradient_of(*gradient)
        made = make_te_function(arguments, run(*args, **kwargs), name, attrs)
        check_made(made, name, cx.is_bound)
    gvar = declare_function(cx, adopt_made(cx.module, made.function, name))
    return call_of(gvar, made, [expr for expr, _ in arguments.tensors], grad)


def convert_arguments(
    cx: RelaxContext, arguments: TEArguments, given: Sequence[Argument], node: ast.Call
) -> tuple[list[Argument], list[TEOperand]]:
    """The arguments as the function takes them, and where each tensor among them is."""
    found: list[Argument] = []
    operands: list[TEOperand] = []
    failures = Failures()
    for given_argument in given:
        at = given_argument.node
        with failures, blamed_on(cx, node, {"args": at}):
            made = as_python(cx, arguments, given_argument.value)
            found.append(given_argument._replace(value=made))
        for expr, tensor in arguments.tensors[len(operands) :]:
            operands.append(TEOperand(tensor.name, cx.span(at), cx.builder.struct_info(expr)))
    failures.settle()
    return found, operands


def bind_places(
    cx: RelaxContext, function: Any, given: Sequence[Argument], node: ast.Call
) -> dict[str, ast.expr]:
    """The syntax of the argument of each parameter; raises `Failed` where they do not fit."""
    signature = signature_of(function)
    if signature is None:
        return {}
    numbered = [a.node for a in given if isinstance(a.key, int)]
    named = {a.key: a.node for a in given if isinstance(a.key, str)}
    keywords = [ast.keyword(name, at) for name, at in named.items()]
    behind = ast.copy_location(ast.Call(node.args[0], numbered, keywords), node)
    defined = None if is_ours(function) else definition_place(function)
    bound = bind_arguments(cx, signature, behind, numbered, named, defined=defined)
    return {name: at for name, at in bound.items() if isinstance(at, ast.expr)}


def is_ours(function: Any) -> bool:
    """True for a function of ours, whose source is nothing that users wrote."""
    return str(getattr(function, "__module__", "")).startswith("relaxscript.")


@contextmanager
def blamed_on(
    cx: RelaxContext, node: ast.Call, places: Mapping[str, ast.expr]
) -> Iterator[None]:  # fmt: skip
    """Blame what is raised inside on the user's own Python, or on the call and its arguments."""
    spans = {name: cx.span(at) for name, at in places.items()}
    try:
        with cx.reporter.inside_lambda(cx.span(node)), cx.at(node):
            try:
                yield
            except UnplacedError as error:
                found = error.diagnostic("R.emit_te", cx.span(node), spans)
                raise DiagnosticError(found) from None
            except DiagnosticError as error:
                said, (found, *_) = unplaced_error(error), error.diagnostics
                if found.span is None:
                    at = raised_span(error) or cx.span(node)
                    raise DiagnosticError(replace(found, span=at)) from None
                if said is None or found.span != caller_span():
                    raise
                # What our own function says of its parameters is true of these arguments.
                placed = said.diagnostic("", cx.span(node), spans)
                raise DiagnosticError(replace(placed, message=found.message, fix=())) from None
    except RecursionError:
        raise cx.error(
            node.args[0], "RX0104", "the tensor expressions are nested too deeply",
            help="compute a part of them by a call of its own",
        ) from None  # fmt: skip


# ---------------------------------------------------------------- lambdas


def as_python(cx: RelaxContext, arguments: TEArguments, value: Any) -> Any:
    """An argument as a function of tensor expressions takes it."""
    if isinstance(value, ScriptLambda):
        return run_lambda(cx, arguments, value.node)
    return arguments.convert(value)


def run_lambda(cx: RelaxContext, arguments: TEArguments, node: ast.Lambda) -> Any:
    """A lambda of the script as a function of Python's, over the names that it mentions."""
    values: dict[str, Any] = {}
    for name in free_names(node):
        value = parse_name(cx, name)
        if isinstance(value, Expr):
            raise cx.error(
                name, "RX0112", f"`{name.id}` is a value of the program, which is not known to "
                "a function that runs now", help="give it to the function as an argument",
            )  # fmt: skip
        values[name.id] = as_python(cx, arguments, plain(value))
    return eval(compile(ast.Expression(node), cx.source.filename, "eval"), values)


def free_names(node: ast.Lambda) -> list[ast.Name]:
    """The names that a lambda uses and does not bind, each once."""
    bound = {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
    used = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    bound |= {name.id for name in used if not isinstance(name.ctx, ast.Load)}
    first: dict[str, ast.Name] = {}
    for name in used:
        if name.id not in bound:
            first.setdefault(name.id, name)
    return list(first.values())
