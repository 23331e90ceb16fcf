"""Arguments of a call and the parameters of what is called; a misfit at its place in the source."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from relaxscript.arguments import ArgumentError, python_signature
from relaxscript.errors import Span
from relaxscript.opdef.aliases import instead_of_arguments

from .diagnostics import Failed
from .script_context import ScriptContext

__all__ = ["argument_error", "bind_arguments"]


def bind_arguments(
    cx: ScriptContext, signature: inspect.Signature, node: ast.Call, args: Sequence[Any],
    kwargs: Mapping[str, Any], *, defined: Span | None = None, brief: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """The argument of each parameter, in their order; raises `Failed` where they do not fit.

    `defined` is where the function is, if that is in the user's source; of a `brief` signature
    only what people give is shown.
    """
    taken = python_signature(cx.written(node.func), signature, brief=brief)
    try:
        bound = taken.bind(args, kwargs)
    except ArgumentError as error:
        raise argument_error(cx, error, node, defined) from None
    return {formal.name: bound[formal.name] for formal in taken.formals}


def argument_error(
    cx: ScriptContext, error: ArgumentError, node: ast.Call, defined: Span | None = None,
    code: str = "RX0103",
) -> Failed:  # fmt: skip
    """Record an argument that does not fit, or that one is missing."""
    at = _place_of(error, node)
    by_name = isinstance(at, ast.keyword)
    span = cx.source.name_span(at) if by_name else cx.span(at)
    help = error.help
    if error.position is not None and node.args:
        instead = instead_of_arguments(ast.unparse(node.func), cx.written(node.args[0]))
        help = instead or help
    return cx.error(
        span, code, error.message, help=help, labels=[(defined, "defined here")],
        fix=error.meant if by_name else None,
    )  # fmt: skip


def _place_of(error: ArgumentError, node: ast.Call) -> ast.AST:
    """The argument to blame; the whole call where none is, or nobody knows which."""
    if error.keyword is not None:
        return next((k for k in node.keywords if k.arg == error.keyword), node)
    place = error.position
    if place is None or place >= len(node.args):
        return node
    unpacked = any(isinstance(arg, ast.Starred) for arg in node.args[: place + 1])
    return node if unpacked else node.args[place]
