"""Where parsing starts: the decorators and `from_source`.

A decorator finds the definition in the user's file (`source.py`), captures the Python names it can
see (`environment.py`), parses it, and raises one `DiagnosticError` with every mistake, or issues
the warnings and gives back the IR. The traceback that a user sees ends at the decorated line.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from types import FrameType, FunctionType, MappingProxyType
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError, Source, warn
from relaxscript.errors.caller import caller_span
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Function
from relaxscript.ir.tir import PrimFunc
from relaxscript.script.pause import collector_paused
from relaxscript.script.printer.constants import MetadataError, decode_all

from .base import ExpressionParser, Failed, Reporter
from .decorators import our_decorator, our_decorators, read_options
from .environment import Environment, Mode
from .module import module_of_class, relax_function, tir_function
from .source import definition_of_class, definition_of_function, parse_text

__all__ = ["from_source", "function", "ir_module", "prim_func"]


def ir_module(
    mod: Any = None, *, check_well_formed: bool = True, strict: bool = False, **unknown: Any
) -> Any:  # fmt: skip
    """Decorate a class whose methods are functions of a module; the class becomes an `IRModule`.

    `check_well_formed=False` lets a module pass that nothing outside can call, as work in progress;
    `strict=True` makes errors of the warnings about what can only be checked at run time.
    Raises `DiagnosticError` with every mistake in the class.
    """
    frame = sys._getframe(1)
    if mod is None or isinstance(mod, bool):
        return lambda cls: _shortly(_ir_module, cls, frame, check_well_formed, strict, unknown)
    try:
        return _ir_module(mod, frame, check_well_formed, strict, unknown)
    except DiagnosticError as error:
        raise error.with_traceback(None) from None


def _ir_module(
    cls: Any, frame: FrameType | None, check_well_formed: bool, strict: bool,
    unknown: Mapping[str, Any] = MappingProxyType({}),
) -> IRModule:  # fmt: skip
    if not isinstance(cls, type):
        raise _not_decorated(
            "`I.ir_module` decorates a class",
            "decorate a function with `@R.function` or `@T.prim_func`",
        )
    source, node, _ = definition_of_class(cls, frame)
    if not isinstance(node, ast.ClassDef):
        raise _not_decorated(f"`{cls.__name__}` is not a class", None)
    environment = Environment.of_class(cls, frame)

    def parse(reporter: Reporter) -> IRModule | None:
        parser = ExpressionParser(source, environment, reporter)
        for decorator in our_decorators(node, environment):
            if decorator.kind == "ir_module":
                read_options(parser, decorator)
        return module_of_class(source, node, environment, reporter, check_well_formed)

    module: IRModule = _finished(parse, strict)
    _refuse_unknown("I.ir_module", unknown)
    return module


def _not_decorated(message: str, help: str | None) -> DiagnosticError:
    """What a decorator was given instead of a definition, at the user's line."""
    return DiagnosticError(Diagnostic("RX0111", message, caller_span(), help=help))


def _refuse_unknown(decorator: str, unknown: Mapping[str, Any]) -> None:
    """Options that the syntax did not show, as in a call without `@`."""
    for name in unknown:
        message = f"`{decorator}` has no option `{name}`"
        raise DiagnosticError(Diagnostic("RX0103", message, caller_span()))


def function(
    f: Any = None, pure: bool = True, private: bool = False, check_well_formed: bool = True,
    strict: bool = False, **unknown: Any,
) -> Any:  # fmt: skip
    """Decorate a Python function: its body is parsed as Relax, and it becomes a `Function`.

    `pure=False` allows side effects; `private=True` hides it outside its module; `strict=True`
    makes errors of the warnings about what can only be checked at run time. Inside a class
    under `I.ir_module` the function is left to the module. Raises `DiagnosticError`.
    """
    frame = sys._getframe(1)
    if f is None or isinstance(f, bool):
        return lambda inner: _shortly(_decorated, inner, frame, "function", strict, unknown)
    try:
        return _decorated(f, frame, "function", strict, unknown)
    except DiagnosticError as error:
        raise error.with_traceback(None) from None


def prim_func(
    func: Any = None, private: bool = False, check_well_formed: bool = True, s_tir: bool = False,
    **unknown: Any,
) -> Any:  # fmt: skip
    """Decorate a Python function: its body is parsed as TIR, and it becomes a `PrimFunc`.

    Inside a class under `I.ir_module` the function is left to the module. Raises `DiagnosticError`.
    """
    frame = sys._getframe(1)
    if func is None or isinstance(func, bool):
        return lambda inner: _shortly(_decorated, inner, frame, "prim_func", False, unknown)
    try:
        return _decorated(func, frame, "prim_func", False, unknown)
    except DiagnosticError as error:
        raise error.with_traceback(None) from None


def _shortly(parse: Callable[..., Any], *args: Any) -> Any:
    """The user's line matters, our frames do not: errors leave without them."""
    try:
        return parse(*args)
    except DiagnosticError as error:
        raise error.with_traceback(None) from None


def _decorated(
    f: Any, frame: FrameType, kind: str, strict: bool, unknown: Mapping[str, Any]
) -> Any:
    if _in_module_class(f, frame):
        return f
    written = "T.prim_func" if kind == "prim_func" else "R.function"
    if isinstance(f, type):
        raise _not_decorated(
            f"`{written}` decorates a function", "decorate a class with `@I.ir_module`"
        )
    if isinstance(f, (Function, PrimFunc)):
        raise _not_decorated("the function is decorated twice", "leave one decorator out")
    if not isinstance(f, FunctionType) or f.__name__ == "<lambda>":
        raise _not_decorated(f"`{written}` decorates a function", "define one with `def`")
    source, node, _ = definition_of_function(f)
    environment = Environment.of_function(f, frame)
    result = _finished(lambda r: _function(source, node, environment, r, kind), strict)
    _refuse_unknown(written, unknown)
    return result


def _function(
    source: Source, node: ast.AST, environment: Environment, reporter: Reporter, kind: str
) -> Function | PrimFunc | None:
    """A decorated function of either language."""
    if not isinstance(node, ast.FunctionDef):
        message = "only a plain function can be decorated"
        place = source.name_span(node)
        reporter.diagnostics.append(
            Diagnostic("RX0104", message, place, help="define it with `def`")
        )
        return None
    ours = [d for d in our_decorators(node, environment) if d.kind == kind]
    decorator = ours[0] if ours else None
    if kind == "prim_func":
        return tir_function(source, node, environment, reporter, decorator)
    return relax_function(source, node, environment, reporter, decorator)


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
    around = [frame.f_locals] if frame.f_back is None else [frame.f_back.f_locals]
    environment = Environment([*around, frame.f_globals], "python")
    for node in definition.others.get(name, ()):
        if isinstance(node, ast.ClassDef) and definition.node in node.body:
            ours = [d.kind for d in our_decorators(node, environment)]
            return "ir_module" in ours or any("ir_module" in _word(d) for d in node.decorator_list)
    return False


def _word(decorator: ast.expr) -> str:
    """The last word of a decorator's name."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return getattr(target, "attr", getattr(target, "id", ""))


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
            return _decorated(text, frame, _language_of(text, frame), strict, {})
        _check_arguments(text, mode)
        source, tree = parse_text(filename, text)
        known = {**(extra_vars or {}), **_metadata(source, tree, metadata)}
        environment = Environment([known, _namespaces(tree)], mode)
        return _finished(
            lambda r: _last_definition(source, tree, environment, r, check_well_formed), strict
        )
    except DiagnosticError as error:
        raise error.with_traceback(None) from None


def _check_arguments(text: Any, mode: Any) -> None:
    if not isinstance(text, str):
        raise _not_decorated(
            f"`from_source` parses a text, a class or a function, not a {type(text).__name__}", None
        )
    if mode not in ("data", "python"):
        message, help = f'there is no mode "{mode}"', 'modes are "data" and "python"'
        raise DiagnosticError(Diagnostic("RX0103", message, caller_span(), help=help))


def _language_of(function: FunctionType, frame: FrameType) -> str:
    """The language that a function's own decorators choose; Relax when it has none."""
    node = definition_of_function(function).node
    ours = our_decorators(node, Environment.of_function(function, frame))
    return "prim_func" if any(d.kind == "prim_func" for d in ours) else "function"


def _namespaces(tree: ast.Module) -> dict[str, Any]:
    """`I`, `R` and `T` under their usual names, and under those that the text's imports give."""
    from relaxscript.script import ir, relax, tir

    known: dict[str, Any] = {"I": ir, "R": relax, "T": tir, "ir": ir, "relax": relax, "tir": tir}
    by_module = {"ir": ir, "relax": relax, "tir": tir, "tirx": tir, "I": ir, "R": relax, "T": tir}
    direct = {"ir_module": ir_module}
    for node in tree.body:
        if isinstance(node, ast.Import):
            known.update(_whole_package(node))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in (
            "relaxscript",
            "tvm",
        ):
            within = (node.module or "").rpartition(".")[2]
            for alias in node.names:
                found = by_module.get(alias.name, direct.get(alias.name))
                if found is None and within in ("ir", "relax", "tir"):
                    found = vars(by_module[within]).get(alias.name)
                if found is not None:
                    known[alias.asname or alias.name] = found
    return known


def _whole_package(node: ast.Import) -> dict[str, Any]:
    """`import relaxscript as rx`: the package under the name it is given."""
    package = sys.modules["relaxscript"]
    return {
        (alias.asname or alias.name): package for alias in node.names if alias.name == "relaxscript"
    }


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
        return {"metadata": decode_all(given)}
    except MetadataError as error:
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
            case ast.ClassDef() | ast.FunctionDef():
                parsed.append(_parsed(source, node, environment, reporter, check_well_formed))
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


def _parsed(
    source: Source, node: ast.ClassDef | ast.FunctionDef, environment: Environment,
    reporter: Reporter, check_well_formed: bool,
) -> IRModule | Function | PrimFunc | None:  # fmt: skip
    """One definition of a text, as its decorator says."""
    parser = ExpressionParser(source, environment, reporter)
    try:
        decorator = our_decorator(parser, node)
    except Failed:
        return None
    if isinstance(node, ast.FunctionDef):
        return _function(source, node, environment, reporter, decorator.kind)
    options = read_options(parser, decorator)
    check_well_formed = check_well_formed and options.get("check_well_formed", True)
    return module_of_class(source, node, environment, reporter, check_well_formed)


def _stray(source: Source, node: ast.stmt) -> Diagnostic:
    return Diagnostic(
        "RX0104", "only imports, modules and functions can stand here", source.span(node),
        help='Python is run by `relaxscript run FILE`, or with `mode="python"`',
    )  # fmt: skip
