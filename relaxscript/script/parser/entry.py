"""Where parsing starts: the decorators and `from_source`.

A decorator finds the definition in the user's file (`source.py`), captures the Python names it can
see (`environment.py`), parses it, and raises one `DiagnosticError` with every mistake, or issues
the warnings and gives back the IR. The traceback that a user sees ends at the decorated line.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from types import FrameType, FunctionType
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError, Source, warn
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Function
from relaxscript.ir.tir import PrimFunc
from relaxscript.script.printer.constants import MetadataError, decode

from .base import Reporter
from .environment import Environment, Mode
from .module import module_of_class, relax_function, tir_function
from .pause import collector_paused
from .source import definition_of_class, definition_of_function, parse_text

__all__ = ["from_source", "function", "ir_module", "prim_func"]


def ir_module(mod: Any = None, *, check_well_formed: bool = True, strict: bool = False) -> Any:
    """Decorate a class whose methods are functions of a module; the class becomes an `IRModule`.

    `check_well_formed=False` lets a module pass that nothing outside can call, as work in progress;
    `strict=True` makes errors of the warnings about what can only be checked at run time.
    Raises `DiagnosticError` with every mistake in the class.
    """
    frame = sys._getframe(1)
    if mod is None:
        return lambda cls: _shortly(_ir_module, cls, frame, check_well_formed, strict)
    try:
        return _ir_module(mod, frame, check_well_formed, strict)
    except DiagnosticError as error:
        raise error.with_traceback(None) from None


def _ir_module(
    cls: Any, frame: FrameType | None, check_well_formed: bool, strict: bool
) -> IRModule:
    if not isinstance(cls, type):
        raise DiagnosticError(
            Diagnostic("RX0111", "`I.ir_module` decorates a class", None, help="decorate a `class`")
        )
    source, node, _ = definition_of_class(cls, frame)
    if not isinstance(node, ast.ClassDef):
        raise DiagnosticError(Diagnostic("RX0111", f"`{cls.__name__}` is not a class", None))
    environment = Environment.of_class(cls, frame)
    module: IRModule = _finished(
        lambda r: module_of_class(source, node, environment, r, check_well_formed), strict
    )
    return module


def function(
    f: Any = None, pure: bool = True, private: bool = False, check_well_formed: bool = True,
    strict: bool = False,
) -> Any:  # fmt: skip
    """Decorate a Python function: its body is parsed as Relax, and it becomes a `Function`.

    `pure=False` allows side effects; `private=True` hides it outside its module; `strict=True`
    makes errors of the warnings about what can only be checked at run time. Inside a class
    under `I.ir_module` the function is left to the module. Raises `DiagnosticError`.
    """
    frame = sys._getframe(1)
    if f is None:
        return lambda inner: _shortly(_decorated, inner, frame, relax_function, strict)
    try:
        return _decorated(f, frame, relax_function, strict)
    except DiagnosticError as error:
        raise error.with_traceback(None) from None


def prim_func(
    func: Any = None, private: bool = False, check_well_formed: bool = True, s_tir: bool = False
) -> Any:
    """Decorate a Python function: its body is parsed as TIR, and it becomes a `PrimFunc`.

    Inside a class under `I.ir_module` the function is left to the module. Raises `DiagnosticError`.
    """
    frame = sys._getframe(1)
    if func is None:
        return lambda inner: _shortly(_decorated, inner, frame, tir_function)
    try:
        return _decorated(func, frame, tir_function)
    except DiagnosticError as error:
        raise error.with_traceback(None) from None


def _shortly(parse: Callable[..., Any], *args: Any) -> Any:
    """The user's line matters, our frames do not: errors leave without them."""
    try:
        return parse(*args)
    except DiagnosticError as error:
        raise error.with_traceback(None) from None


Parse = Callable[[Source, ast.FunctionDef, Environment, Reporter], Any]


def _decorated(f: Any, frame: FrameType, parse: Parse, strict: bool = False) -> Any:
    if _in_module_class(f, frame):
        return f
    if not isinstance(f, FunctionType):
        raise DiagnosticError(Diagnostic("RX0111", "only a Python function can be decorated", None))
    source, node, _ = definition_of_function(f)
    if not isinstance(node, ast.FunctionDef):
        raise DiagnosticError(Diagnostic("RX0111", f"`{f.__name__}` is not a function", None))
    environment = Environment.of_function(f, frame)
    return _finished(lambda reporter: parse(source, node, environment, reporter), strict)


def _in_module_class(f: Any, frame: FrameType) -> bool:
    """Whether a class body is being executed whose decorator will parse it as a whole."""
    if "__qualname__" not in frame.f_locals or "__module__" not in frame.f_locals:
        return False
    name = frame.f_code.co_name
    if not isinstance(f, FunctionType) or frame.f_locals["__qualname__"].rpartition(".")[2] != name:
        return isinstance(f, FunctionType)
    try:
        definition = definition_of_function(f)
    except DiagnosticError:
        return True
    for node in ast.walk(definition.tree):
        if isinstance(node, ast.ClassDef) and node.name == name and definition.node in node.body:
            return any("ir_module" in ast.unparse(d) for d in node.decorator_list)
    return False


def _finished(parse: Callable[[Reporter], Any], strict: bool = False) -> Any:
    reporter = Reporter(strict)
    with collector_paused():
        result = parse(reporter)
    for warning in reporter.finish():
        warn(warning)
    return result


def from_source(
    text: str | type | FunctionType, *, filename: str = "<text>", mode: Mode = "data",
    extra_vars: Mapping[str, Any] | None = None, metadata: Mapping[str, Any] | None = None,
    check_well_formed: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """The module or function that a text means; the last definition when there are several.

    In "data" mode no Python is evaluated: literals and the names of `I`, `R` and `T` are known.
    "python" mode also knows `extra_vars`. `metadata` holds the constants that a script printed
    without them refers to; a script with `show_meta=True` brings its own. `strict=True` makes
    errors of the warnings about what can only be checked at run time. A decorated class or function
    is parsed again from its source. Raises `DiagnosticError` with every mistake.
    """
    frame = sys._getframe(1)
    try:
        if isinstance(text, type):
            return _ir_module(text, frame, check_well_formed, strict)
        if isinstance(text, FunctionType):
            return _decorated(text, frame, relax_function, strict)
        source, tree = parse_text(filename, text)
        known = {**(extra_vars or {}), **_metadata(source, tree, metadata)}
        environment = Environment([known, _namespaces(tree)], mode)
        return _finished(
            lambda r: _last_definition(source, tree, environment, r, check_well_formed), strict
        )
    except DiagnosticError as error:
        raise error.with_traceback(None) from None


def _namespaces(tree: ast.Module) -> dict[str, Any]:
    """`I`, `R` and `T` under their usual names, and under those that the text's imports give."""
    from relaxscript.script import ir, relax, tir

    known: dict[str, Any] = {"I": ir, "R": relax, "T": tir, "ir": ir, "relax": relax, "tir": tir}
    by_module = {"ir": ir, "relax": relax, "tir": tir, "tirx": tir, "I": ir, "R": relax, "T": tir}
    direct = {"ir_module": ir_module}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in (
            "relaxscript",
            "tvm",
        ):
            for alias in node.names:
                found = by_module.get(alias.name, direct.get(alias.name))
                if found is not None:
                    known[alias.asname or alias.name] = found
    return known


def _metadata(source: Source, tree: ast.Module, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The constants of the script's own metadata, or of what was given with it."""
    at: ast.stmt | None = None
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="metadata")], value=value):
                at, given = node, _literal(source, value)
    if given is None:
        return {}
    try:
        return {"metadata": {key: [decode(e) for e in entries] for key, entries in given.items()}}
    except (MetadataError, AttributeError, TypeError) as error:
        span = None if at is None else source.span(at)
        raise DiagnosticError(
            Diagnostic("RX0108", f"the metadata is damaged: {error}", span)
        ) from None


def _literal(source: Source, value: ast.expr) -> Any:
    try:
        return ast.literal_eval(value)
    except ValueError:
        message = "the metadata of a script is written out as a literal"
        raise DiagnosticError(Diagnostic("RX0104", message, source.span(value))) from None


def _last_definition(
    source: Source, tree: ast.Module, environment: Environment, reporter: Reporter,
    check_well_formed: bool,
) -> Any:  # fmt: skip
    parsed: list[IRModule | Function | PrimFunc | None] = []
    for node in tree.body:
        match node:
            case ast.ClassDef():
                parsed.append(
                    module_of_class(source, node, environment, reporter, check_well_formed)
                )
            case ast.FunctionDef() if _decorator_name(node) == "prim_func":
                parsed.append(tir_function(source, node, environment, reporter))
            case ast.FunctionDef():
                parsed.append(relax_function(source, node, environment, reporter))
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
                continue
            case ast.Assign(targets=[ast.Name(id="metadata")]):
                continue
            case _:
                reporter.diagnostics.append(_stray(source, node))
    if not parsed and not reporter.failed:
        reporter.diagnostics.append(
            Diagnostic("RX0111", "the text defines no module and no function", None,
                       help="write a class under `@I.ir_module` or a function under `@R.function`")
        )  # fmt: skip
    return parsed[-1] if parsed else None


def _stray(source: Source, node: ast.stmt) -> Diagnostic:
    return Diagnostic(
        "RX0104", "only imports, modules and functions can stand here", source.span(node),
        help='Python is run by `relaxscript run FILE`, or with `mode="python"`',
    )  # fmt: skip


def _decorator_name(node: ast.FunctionDef) -> str:
    """The last word of the decorator that decides the language."""
    for decorator in reversed(node.decorator_list):
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        match target:
            case ast.Attribute(attr=name) | ast.Name(id=name):
                return name
    return ""
