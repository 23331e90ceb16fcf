"""Calls of functions of Python while a script is parsed: which may be called, and with what."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import lru_cache
from inspect import Signature, signature
from typing import Any

from relaxscript.errors import Diagnostic, Edit
from relaxscript.ir.node import Node
from relaxscript.script.names.safe_callables import is_safe

from .argument_errors import bind_arguments
from .diagnostics import Failed, Failures
from .expression import (
    check_size,
    known_attribute,
    parse_beginning,
    parse_expr,
    parse_exprs,
    parse_mapping,
)
from .script_context import ScriptContext

__all__ = [
    "call_python", "check_signature", "parse_arguments", "parse_call", "parse_keywords",
    "signature_of", "without_parentheses",
]  # fmt: skip


_NAMESPACES = (
    "relaxscript.script.ir",
    "relaxscript.script.names.relax_forms",
    "relaxscript.script.names.relax_devices",
    "relaxscript.script.names.relax_distributed",
    "relaxscript.script.tir",
)
_OF_RELAX = _NAMESPACES[1:4]


def parse_call(cx: ScriptContext, node: ast.Call) -> Any:
    callee = known_attribute(cx, node.func)  # such as `R.add`, in nearly every line
    if callee is None:
        callee = parse_beginning(cx, node.func, node)
    return cx.language.call_value(cx, callee, node)


def call_python(cx: ScriptContext, callee: Any, node: ast.Call) -> Any:
    """Call a Python callable with the values of the arguments."""
    if not callable(callee):
        raise cx.error(
            node.func, "RX0201",
            f"`{ast.unparse(node.func)}` is no function and cannot be called",
            **without_parentheses(cx, node),
        )  # fmt: skip
    args, kwargs = arguments_for(cx, callee, node)
    cx.language.check_taken(cx, callee, (*args, *kwargs.values()), node)
    if getattr(callee, "__module__", None) in _NAMESPACES:
        check_signature(cx, callee, args, kwargs, node)
    code = "RX0201" if getattr(callee, "__module__", "") in _OF_RELAX else "RX0112"

    def instead() -> Diagnostic | None:
        return cx.language.explain_failure(cx, (*args, *kwargs.values()), node)

    with cx.at(node, code, instead):
        result = callee(*args, **kwargs)
    if isinstance(result, Node) and result.span is None:
        return result.replace(span=cx.span(node))
    return result


def arguments_for(
    cx: ScriptContext, callee: Any, node: ast.Call
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a function of Python, if it may be called with them."""
    ours = is_safe(callee) or getattr(callee, "__module__", None) in _NAMESPACES
    environment = cx.environment
    if not ours and not environment.may_call(callee, ()):
        written = ast.unparse(node.func)
        if not environment.leave_to_run(written):
            raise cx.error(node, "RX0104", f"`{written}` is not called in data mode")
    args, kwargs = parse_arguments(cx, node)
    if not ours and not environment.may_call(callee, (*args, *kwargs.values())):
        environment.leave_to_run(ast.unparse(node.func))
        raise Failed
    return args, kwargs


def without_parentheses(cx: ScriptContext, node: ast.Call) -> dict[str, Any]:
    """Help for `x.shape()`: an attribute that is no method is not called."""
    if not isinstance(node.func, ast.Attribute) or node.args or node.keywords:
        return {}
    written = cx.span(node.func).text
    edits = [Edit(cx.span(node), written)]
    return {"help": f"leave the parentheses out: `{written}`", "edits": edits}


def check_signature(
    cx: ScriptContext, callee: Any, args: Sequence[Any], kwargs: Mapping[str, Any], node: ast.Call
) -> None:
    """A form of ours is called with the arguments it has."""
    taken = signature_of(callee)
    if taken is not None:
        bind_arguments(cx, taken, node, args, kwargs)


@lru_cache(maxsize=256)
def signature_of(callee: Any) -> Signature | None:
    """The signature of a callable, where Python knows it; scripts call few forms often."""
    try:
        return signature(callee)
    except (TypeError, ValueError):
        return None


def parse_arguments(cx: ScriptContext, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
    """The values of positional and keyword arguments; mistakes in all of them are reported."""
    failures = Failures()
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    with failures:
        args = parse_exprs(cx, node.args)
    for keyword in node.keywords:
        with failures:
            if keyword.arg is None:
                kwargs.update(parse_keywords(cx, keyword.value))
            else:
                kwargs[keyword.arg] = parse_expr(cx, keyword.value)
    failures.settle()
    if cx.environment.mode == "data":
        check_size(cx, [*args, *kwargs.values()], node)
    return args, kwargs


def parse_keywords(cx: ScriptContext, node: ast.expr) -> Mapping[str, Any]:
    """The items of a Python dict that are passed as keyword arguments."""
    found = parse_mapping(cx, node)
    for key in found:
        if not isinstance(key, str):
            raise cx.error(
                node, "RX0103", f"an argument is given by its name, and {key!r} is no name"
            )
    return found
