"""Macros under `@R.macro` and `@T.macro`: a Python function becomes a `Macro`.

What the names of a hygienic macro mean is settled when it is defined; names that are not there yet,
such as those of macros defined later, are looked up when it is used.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import FrameType, FunctionType
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.errors.exceptions import is_user_error
from relaxscript.errors.user_frame import caller_span
from relaxscript.script.source.lookup import definition_of_function, undecorated

from .definitions import in_module_class
from .diagnostics import Failed
from .environment import Environment
from .macro import KINDS, Macro, macro_of
from .python_language import python_context
from .reporter import Reporter

__all__ = ["capture_macro"]

__tracebackhide__ = is_user_error


def capture_macro(kind: str, f: Any, frame: FrameType, unknown: Mapping[str, Any]) -> Any:
    """The macro that a decorator makes of a function; one of a module is left to the module."""
    if in_module_class(f, frame):
        return f
    try:
        macro = _macro(kind, f, frame)
        for name in unknown:
            message = f"`{KINDS[kind]}` has no option `{name}`"
            raise DiagnosticError(Diagnostic("RX0103", message, caller_span()))
        return macro
    except DiagnosticError as error:
        raise error.with_traceback(None) from None


def _macro(kind: str, f: Any, frame: FrameType) -> Macro | None:
    if not isinstance(f, FunctionType) or undecorated(f).__code__.co_name == "<lambda>":
        message = f"`{KINDS[kind]}` decorates a function"
        help = "define one with `def`"
        raise DiagnosticError(Diagnostic("RX0111", message, caller_span(), help=help))
    source, node, _ = definition_of_function(f, frame)
    environment = Environment.of_function(f, frame)
    reporter = Reporter()
    macro = None
    if isinstance(node, ast.FunctionDef):
        seen = _visible_names(node, environment)
        with suppress(Failed):
            macro = macro_of(
                python_context(source, environment, reporter), node,
                lambda: Environment([seen, *_late(f)], "python"), kind, inspect.signature(f),
            )  # fmt: skip
    else:
        message, place = "only a plain function can be a macro", source.name_span(node)
        reporter.record(Diagnostic("RX0104", message, place, help="define it with `def`"))
    reporter.finish()
    return macro


def _visible_names(node: ast.FunctionDef, environment: Environment) -> dict[str, Any]:
    """The values of a macro's names when it is defined; its own name is always itself."""
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - {node.name}
    seen: dict[str, Any] = {}
    for scope in reversed(environment.scopes):
        seen.update((name, scope[name]) for name in names if name in scope)
    return seen


def _late(function: FunctionType) -> Sequence[Mapping[str, Any]]:
    """Names that were not there yet when a macro was defined, such as its own."""
    return Environment.of_function(function, None).scopes
