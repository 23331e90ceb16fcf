"""The decorators `@R.macro` and `@T.macro`: a Python function becomes a `Macro`.

What the names of a hygienic macro mean is settled when it is defined; names that are not there yet,
such as those of macros defined later, are looked up when it is used.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import FrameType, FunctionType
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.errors.exceptions import is_user_error
from relaxscript.errors.user_frame import caller_span
from relaxscript.script.source.lookup import definition_of_function, undecorated

from .diagnostics import Failed
from .entry import in_module_class
from .environment import Environment
from .macro import KINDS, Macro, macro_of
from .python_language import python_context
from .reporter import Reporter

__all__ = ["relax_macro", "tir_macro"]

__tracebackhide__ = is_user_error


def relax_macro(f: Any = None, *, hygienic: bool = True, **unknown: Any) -> Any:
    """Decorate a Python function: calls of it in Relax functions are replaced by its body.

    It ends with `return`, and the call has the value of what is returned. With `hygienic=False`
    names mean what they mean where the macro is used. Raises `DiagnosticError`.
    """
    return _decorate("relax_macro", f, sys._getframe(1), unknown)


def tir_macro(f: Any = None, *, hygienic: bool = True, **unknown: Any) -> Any:
    """Decorate a Python function: its statements are added to a PrimFunc wherever it is called.

    It returns nothing. With `hygienic=False` names mean what they mean where the macro is used.
    Raises `DiagnosticError`.
    """
    return _decorate("tir_macro", f, sys._getframe(1), unknown)


def _decorate(kind: str, f: Any, frame: FrameType, unknown: Mapping[str, Any]) -> Any:
    if f is None:
        return lambda inner: _capture(kind, inner, frame, unknown)
    return _capture(kind, f, frame, unknown)


def _capture(kind: str, f: Any, frame: FrameType, unknown: Mapping[str, Any]) -> Any:
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
