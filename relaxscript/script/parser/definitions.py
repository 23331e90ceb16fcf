"""Decorated definitions: from a class or function of the user's to IR.

The definition is found in the user's file (`lookup.py`), with the Python names that it can see
(`environment.py`). It is parsed. Either one `DiagnosticError` with every mistake is raised, or the
warnings are issued and the IR is given back.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import FrameType, FunctionType, MappingProxyType
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError, InternalError, is_strict, warn
from relaxscript.errors.exceptions import is_user_error
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Function
from relaxscript.ir.tir import PrimFunc
from relaxscript.runtime.collector import collector_paused
from relaxscript.script.source.lookup import (
    defining_frame,
    definition_of_class,
    definition_of_function,
    undecorated,
)

from .decorators import CLASS_KINDS, ScriptDecorator, leads_to, read_options, script_decorators
from .environment import Environment
from .internal_error import as_internal_error
from .module import module_of_class, relax_function, tir_function
from .python_language import python_context
from .reporter import Reporter
from .script_context import ScriptContext

__all__ = ["finish", "in_module_class", "not_decorated", "parse_class", "parse_decorated"]

__tracebackhide__ = is_user_error


def parse_class(
    cls: Any, frame: FrameType | None, check_well_formed: bool, strict: bool | None,
    unknown: Mapping[str, Any] = MappingProxyType({}), written: str = "I.ir_module",
) -> IRModule:  # fmt: skip
    if not isinstance(cls, type):
        raise not_decorated(
            f"`{written}` decorates a class",
            "decorate a function with `@R.function` or `@T.prim_func`"
            if written == "I.ir_module"
            else "write `pattern` and `replacement` as functions of a class",
        )
    source, node, _ = definition_of_class(cls, frame)
    if not isinstance(node, ast.ClassDef):
        raise not_decorated(f"`{cls.__name__}` is not a class", None)
    environment = Environment.of_class(cls, frame)

    def parse(reporter: Reporter) -> IRModule | None:
        cx = python_context(source, environment, reporter)
        for decorator in script_decorators(node, environment):
            if decorator.is_of_class:
                read_options(cx, decorator)
        return module_of_class(cx, node, check_well_formed)

    with collector_paused():
        module: IRModule = finish(parse, strict)
    _refuse_unknown(written, unknown)
    return module


def not_decorated(message: str, help: str | None) -> DiagnosticError:
    """The mistake of decorating what is no definition, at the user's line."""
    return DiagnosticError(Diagnostic("RX0111", message, caller_span(), help=help))


def _refuse_unknown(decorator: str, unknown: Mapping[str, Any]) -> None:
    """Options that the syntax did not show, as in a call without `@`."""
    for name in unknown:
        message = f"`{decorator}` has no option `{name}`"
        raise DiagnosticError(Diagnostic("RX0103", message, caller_span()))


def parse_decorated(
    f: Any, frame: FrameType, kind: str, strict: bool | None, unknown: Mapping[str, Any],
    given: Mapping[str, bool] = MappingProxyType({}),
) -> Any:  # fmt: skip
    if in_module_class(f, frame):
        return f
    written = "T.prim_func" if kind == "prim_func" else "R.function"
    _check_decorated(f, written)
    source, node, _ = definition_of_function(f, frame)
    environment = Environment.of_function(f, frame)

    def parse(reporter: Reporter) -> Function | PrimFunc | None:
        return parse_function(python_context(source, environment, reporter), node, kind, given)

    with collector_paused():
        result = finish(parse, strict)
    _refuse_unknown(written, unknown)
    return result


def _check_decorated(f: Any, written: str) -> None:
    """Refuse to decorate what is no function that somebody wrote with `def`."""
    message, help = f"`{written}` decorates a function", "define one with `def`"
    if isinstance(f, type):
        raise not_decorated(message, "decorate a class with `@I.ir_module`")
    if isinstance(f, (Function, PrimFunc)):
        raise not_decorated("the function is decorated twice", "leave one decorator out")
    if isinstance(f, (staticmethod, classmethod)):
        kind = type(f).__name__
        raise not_decorated(f"{message}, this is a {kind}", f"leave `@{kind}` out")
    if not isinstance(f, FunctionType):
        raise not_decorated(f"{message}, this is a {type(f).__name__}", help)
    if undecorated(f).__code__.co_name == "<lambda>":
        raise not_decorated(f"{message}, this is a lambda", help)


def parse_function(
    cx: ScriptContext, node: ast.AST, kind: str, given: Mapping[str, bool]
) -> Function | PrimFunc | None:
    """A decorated function of either language; `given` are options its syntax does not show."""
    if not isinstance(node, ast.FunctionDef):
        message, help = "only a plain function can be decorated", "define it with `def`"
        cx.error(cx.source.name_span(node), "RX0104", message, help=help)
        return None
    ours = [d for d in script_decorators(node, cx.environment) if d.kind == kind]
    decorator = ours[0] if ours else ScriptDecorator(kind, None, given)
    return (tir_function if kind == "prim_func" else relax_function)(cx, node, decorator)


def in_module_class(f: Any, frame: FrameType) -> bool:
    """True if a class body is being executed whose decorator will parse it as a whole."""
    if not isinstance(f, FunctionType):
        return False
    frame = defining_frame(frame, undecorated(f).__code__) or frame
    if "__qualname__" not in frame.f_locals or "__module__" not in frame.f_locals:
        return False
    name = frame.f_code.co_name
    if frame.f_locals["__qualname__"].rpartition(".")[2] != name:
        return True
    try:
        definition = definition_of_function(f, frame)
    except DiagnosticError:
        return True
    around = [frame.f_locals] if frame.f_back is None else [frame.f_back.f_locals]
    environment = Environment([*around, frame.f_globals], "python")
    for node in definition.others.get(name, ()):
        if isinstance(node, ast.ClassDef) and definition.node in node.body:
            decorators = node.decorator_list
            return any(leads_to(k, d, environment) for k in CLASS_KINDS for d in decorators)
    return False


def finish(parse: Callable[[Reporter], Any], strict: bool | None) -> Any:
    reporter = Reporter(is_strict(strict))
    with as_internal_error(reporter):
        result = parse(reporter)
    for warning in reporter.finish():
        warn(warning)
    if result is None:
        raise InternalError("a script has no result, and no mistake was recorded")
    return result
