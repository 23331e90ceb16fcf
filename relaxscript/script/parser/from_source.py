"""Sources as text: the module, function or part of a program in a string, for `from_source`.

A source is read statement by statement, as Python would run it. Its definitions are parsed; what
else it says is taken in one of two modes. In *data mode* nothing is evaluated: imports of our
namespaces and plain values (`N = 64`, `n = R.dim("n")`) are read from the syntax, and everything
else is a mistake. In *Python mode* it is executed, and serves the definitions after it as in a
file.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from types import FrameType, FunctionType, TracebackType
from typing import TYPE_CHECKING, Any

from relaxscript.errors import Diagnostic, DiagnosticError, Source, Span
from relaxscript.errors.exceptions import is_user_error
from relaxscript.errors.user_frame import caller_span, step_span
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Function
from relaxscript.ir.tir import PrimFunc
from relaxscript.runtime.collector import collector_paused
from relaxscript.script.names.members import is_namespace, public_names
from relaxscript.script.printer.constants import MetadataError, decode_all
from relaxscript.script.source.bound_names import names_inside
from relaxscript.script.source.code_match import future_flags
from relaxscript.script.source.file_reader import FileReader, Scopes
from relaxscript.script.source.lookup import definition_of_function
from relaxscript.script.source.plain_names import (
    bind,
    import_bindings,
    literal,
    namespace_names,
    target_names,
)
from relaxscript.script.source.source_tree import AnyDefinition, parse_once, parse_text
from relaxscript.script.source.syntax_errors import syntax_error

from .decorators import likely_decorator, our_decorator, resolve_name, script_decorators
from .definitions import finish, not_decorated, parse_class, parse_decorated
from .diagnostics import UNKNOWN, Failed
from .environment import Environment, Mode
from .expression import parse_expr
from .fixits import add_decorator
from .fragments import is_part, part_of
from .macro import Macro
from .module import parse_definition
from .python_language import python_context
from .reporter import Reporter
from .script_context import ScriptContext
from .unsupported_syntax import first_word

if TYPE_CHECKING:
    from relaxscript.dpl import PatternMatchingRewriter

__all__ = ["read_again", "read_source", "warnings_of"]

__tracebackhide__ = is_user_error

Definition = ast.ClassDef | ast.FunctionDef
RUN_IT = 'Python is run with `mode="python"`, or by `relaxscript run FILE`'


def read_source(
    text: str | type | FunctionType, frame: FrameType, filename: str, mode: Mode,
    extra_vars: Mapping[str, Any], metadata: Mapping[str, Any] | None, check_well_formed: bool,
    strict: bool | None,
) -> Any:  # fmt: skip
    """The answer of `from_source`, called in `frame`."""
    if isinstance(text, type):
        return parse_class(text, frame, check_well_formed, strict)
    if isinstance(text, FunctionType):
        return parse_decorated(text, frame, _language_of(text, frame), strict, {})
    _check_arguments(text, mode)
    # A source of Python is a program that runs, and keeps the collector as it likes.
    with nullcontext() if mode == "python" else collector_paused():
        return _read_text(text, filename, mode, extra_vars, metadata, check_well_formed, strict)


def _read_text(
    text: str, filename: str, mode: Mode, extra_vars: Mapping[str, Any],
    metadata: Mapping[str, Any] | None, check_well_formed: bool, strict: bool | None,
) -> Any:  # fmt: skip
    # Decorators that are executed look for their definitions in the same source. A tree that is not
    # needed again ends here, before the collector visits its nodes.
    parse_source = parse_text if mode == "python" else parse_once
    source, tree = parse_source(filename, text)
    known = {**namespace_names(), **extra_vars}
    known.update(_metadata(source, tree, metadata))
    reading = _ReadingPython if mode == "python" else _Reading

    def parse(reporter: Reporter) -> Any:
        return reading(source, known, reporter, check_well_formed).whole(tree)

    return finish(parse, strict)


def read_again(text: str, filename: str, metadata: Mapping[str, Any]) -> Any:
    """`from_source` in data mode for a script that was printed of a checked program.

    What can only be checked at run time was said when that was written, and is not said again.
    """
    reporter = Reporter()
    result = _whole_again(text, filename, metadata, reporter)
    reporter.finish()
    return result


def warnings_of(text: str, filename: str, metadata: Mapping[str, Any]) -> list[Diagnostic]:
    """The warnings about what only a run can check, of a script that was printed.

    They are given back, not issued, for who looks at a program. Raises `DiagnosticError`.
    """
    reporter = Reporter()
    _whole_again(text, filename, metadata, reporter)
    return reporter.finish()


def _whole_again(text: str, filename: str, metadata: Mapping[str, Any], reporter: Reporter) -> Any:
    with collector_paused():
        source, tree = parse_once(filename, text)
        known = {**namespace_names(), **_metadata(source, tree, metadata)}
        return _Reading(source, known, reporter, check_well_formed=True).whole(tree)


def _check_arguments(text: Any, mode: Any) -> None:
    if not isinstance(text, str):
        raise not_decorated(
            f"`from_source` parses a string, a class or a function, not a {type(text).__name__}",
            None,
        )
    if mode not in ("data", "python"):
        message, help = f'there is no mode "{mode}"', 'modes are "data" and "python"'
        raise DiagnosticError(Diagnostic("RX0103", message, caller_span(), help=help))


def _language_of(function: FunctionType, frame: FrameType) -> str:
    """The language that a function's own decorators choose; Relax when it has none."""
    node = definition_of_function(function).node
    ours = script_decorators(node, Environment.of_function(function, frame))
    return "prim_func" if any(d.kind == "prim_func" for d in ours) else "function"


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
    except (ValueError, TypeError, RecursionError, MemoryError):
        message = "the metadata of a script is written out as a literal"
        raise DiagnosticError(Diagnostic("RX0104", message, source.span(value))) from None


class _Reading(FileReader):
    """Goes through the statements of a source in data mode; `last` is what was defined last."""

    mode: Mode = "data"

    def __init__(
        self, source: Source, known: dict[str, Any], reporter: Reporter, check_well_formed: bool
    ) -> None:
        super().__init__(source, reporter)
        self.scope = known
        self.check_well_formed = check_well_formed
        self.environment: Environment = _SourceNames(self)
        self.imports: dict[str, ast.alias] = {}
        self.defined = False
        self.last: Any = None

    def whole(self, tree: ast.Module) -> Any:
        """The last module or function; None when mistakes were recorded."""
        part = self.part(tree)
        if part:
            return part_of(self.context(self.reporter), part, self.scope)
        self.block(tree.body, [self.scope])
        if not self.defined and not self.reporter.failed:
            self.reporter.record(self.no_definition(tree))
        return self.last

    def part(self, tree: ast.Module) -> list[ast.stmt]:
        """The statements of a source that is a part of a program, none for one with definitions."""
        rest = [node for node in tree.body if not _is_ignored(node)]
        body = [node for node in rest if not isinstance(node, (ast.Import, ast.ImportFrom))]
        if not is_part(self.source, body, self.scope):
            return []
        self.block([node for node in rest if node not in body], [self.scope])
        return body

    def no_definition(self, tree: ast.Module) -> Diagnostic:
        """The mistake of a script without a definition; one may only miss its decorator."""
        message = "the script defines no module and no function"
        for node in tree.body:
            bare = isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.decorator_list
            wanted = likely_decorator(node) if bare else ""
            if isinstance(node, ast.ClassDef) and not any(map(_is_decorated, node.body)):
                continue
            if wanted:
                edit, at = add_decorator(self.source, node, wanted), self.source.name_span(node)
                help = f"decorate it with `@{wanted}`"
                return Diagnostic("RX0111", message, at, help=help, fix=(edit,))
        help = "write a class under `@I.ir_module` or a function under `@R.function`"
        return Diagnostic("RX0111", message, None, help=help)

    def statement(self, node: ast.stmt, scopes: Scopes, prefix: str) -> None:
        if not _is_ignored(node):
            super().statement(node, scopes, prefix)

    def read_definition(self, node: AnyDefinition, scopes: Scopes, prefix: str) -> None:
        if isinstance(node, ast.AsyncFunctionDef):
            self.read_other(node, scopes, prefix)
        else:
            self.define(node)

    def define(self, node: Definition) -> None:
        """A definition of ours, or one that misses its decorator."""
        found = self.parsed(node)
        self.scope[node.name] = UNKNOWN if found is None else found
        if not isinstance(found, Macro):
            self.defined, self.last = True, found

    def parsed(
        self, node: Definition
    ) -> IRModule | PatternMatchingRewriter | Function | PrimFunc | Macro | None:
        """One definition of a source, as its decorator says; None when mistakes were recorded."""
        cx = self.context(self.reporter)
        try:
            decorator = our_decorator(cx, node)
        except Failed:
            return None
        return parse_definition(cx, node, decorator, self.check_well_formed)

    def context(self, reporter: Reporter) -> ScriptContext:
        """A context outside of any function, whose mistakes `reporter` takes."""
        return python_context(self.source, self.environment, reporter)

    def read_import(self, node: ast.Import | ast.ImportFrom) -> dict[str, Any]:
        """The names of ours that an import binds; others are known only when they are used."""
        found = super().read_import(node)
        for alias, name in zip(node.names, bound_names(node)):
            if found.get(name) is UNKNOWN:
                self.imports[name] = alias
        return found

    def read_assignment(
        self, node: ast.stmt, targets: Sequence[ast.expr], value: ast.expr, scopes: Scopes
    ) -> None:
        """An assignment of a plain value to names; any other is refused."""
        if None in [target_names(target) for target in targets]:
            self.read_python(node)
            return
        self.scope.update(dict.fromkeys(names_inside(node), UNKNOWN))
        found = literal(self.source, value, [self.scope])
        if found is not UNKNOWN:
            for target in targets:
                bind(target, found, self.scope)
        elif not self.has_unknown_names(value):
            message = "only plain values can be assigned where no Python is evaluated"
            self.refuse(self.source.span(value), message)

    def read_other(self, node: ast.stmt, scopes: Scopes, prefix: str) -> None:
        match node:
            case ast.If(test=test, orelse=orelse) if _asks_for_main(test):
                self.block(orelse, scopes)
            case _:
                self.read_python(node)

    def read_python(self, node: ast.stmt) -> None:
        """Refuse a statement that only a run could tell the meaning of."""
        self.scope.update(dict.fromkeys(names_inside(node), UNKNOWN))
        place = first_word(self.source, node) or self.source.span(node)
        self.refuse(place, "only imports, modules and functions are allowed here")

    def refuse(self, place: Span, message: str) -> None:
        """Record what only a run of Python could tell the meaning of."""
        self.reporter.record(Diagnostic("RX0104", message, place, help=RUN_IT))

    def has_unknown_names(self, value: ast.expr) -> bool:
        """True if a value depends on a name whose mistake is reported once it is used."""
        names = [node.id for node in ast.walk(value) if isinstance(node, ast.Name)]
        unknown = [name for name in names if self.scope.get(name) is UNKNOWN]
        for name in unknown:
            self.environment.lookup(name)
        return bool(unknown)


class _SourceNames(Environment):
    """The names of a source; one that an import would bind is a mistake of data mode once used."""

    def __init__(self, reading: _Reading) -> None:
        super().__init__([reading.scope], reading.mode)
        self.reading = reading

    def lookup(self, name: str) -> Any:
        value = super().lookup(name)
        alias = self.reading.imports.pop(name, None) if value is UNKNOWN else None
        if alias is not None:
            message = f"`{name}` is imported, and in data mode nothing is"
            self.reading.refuse(self.reading.source.span(alias), message)
        return value


def bound_names(node: ast.stmt) -> list[str]:
    """The names that a statement of a file binds."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name.split(".")[0] for alias in node.names]
    return names_inside(node)


def _is_ignored(node: ast.stmt) -> bool:
    """True if a statement is ignored: a comment in quotes, the metadata of constants."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
            return True
        case ast.Assign(targets=[ast.Name(id="metadata")]):
            return True
    return False


def _asks_for_main(test: ast.expr) -> bool:
    """`__name__ == "__main__"`, which a source never is."""
    match test:
        case ast.Compare(
            left=ast.Name(id="__name__"), ops=[ast.Eq()],
            comparators=[ast.Constant(value="__main__")],
        ):  # fmt: skip
            return True
    return False


# ---- Python mode


class _SourceLoader:
    """The loader of the namespace of a source: it knows the source, as loaders of files do."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_source(self, name: str) -> str:
        return self.text


class _ReadingPython(_Reading):
    """Goes through the statements of a source in Python mode: what is not ours is executed.

    After a mistake nothing is executed any more, since it would meet its consequences.
    """

    mode: Mode = "python"

    def __init__(
        self, source: Source, known: dict[str, Any], reporter: Reporter, check_well_formed: bool
    ) -> None:
        super().__init__(source, known, reporter, check_well_formed)
        known.setdefault("__builtins__", builtins)
        known.setdefault("__name__", "relaxscript.text")
        known.setdefault("__loader__", _SourceLoader(source.text))
        if not os.path.exists(source.filename):
            # What runs has a source, as a notebook cell has: places of Python are looked up there.
            lines = source.text.splitlines(keepends=True)
            linecache.cache[source.filename] = (len(source.text), None, lines, source.filename)
        self.flags = 0

    def define(self, node: Definition) -> None:
        try:
            decorator = our_decorator(self.context(Reporter()), node)
        except Failed:
            if any(_is_misspelt(d, self.environment) for d in node.decorator_list):
                super().define(node)  # which reports it
            else:
                self.read_python(node)
            return
        super().define(node)
        place = [other is decorator.node for other in node.decorator_list].index(True)
        for other in reversed(node.decorator_list[:place]):
            self.decorate(node.name, other)

    def decorate(self, name: str, decorator: ast.expr) -> None:
        """Apply a decorator that is above ours to what ours made."""
        call = ast.Call(func=decorator, args=[ast.Name(name, ast.Load())], keywords=[])
        assign = ast.Assign(targets=[ast.Name(name, ast.Store())], value=call)
        for node in (assign, call, call.args[0], assign.targets[0]):
            ast.copy_location(node, decorator)
        self.read_python(assign)

    def read_import(self, node: ast.Import | ast.ImportFrom) -> dict[str, Any]:
        found = import_bindings(node)
        if all(value is not UNKNOWN for value in found.values()):
            return found
        self.read_python(node)
        return {}

    def read_assignment(
        self, node: ast.stmt, targets: Sequence[ast.expr], value: ast.expr, scopes: Scopes
    ) -> None:
        self.read_python(node)

    def read_python(self, node: ast.stmt) -> None:
        """Execute a statement; what it defines may be the last module or function of the source."""
        names = bound_names(node)
        if self.reporter.failed:
            self.scope.update(dict.fromkeys(names, UNKNOWN))
            return
        module = ast.Module([node], [])
        try:
            code = compile(module, self.source.filename, "exec", self.flags, dont_inherit=True)
            self.flags |= future_flags(code)
            exec(code, self.scope)
        except DiagnosticError as error:
            place = self.place(error.__traceback__, node)
            self.reporter.diagnostics.extend(self.located(d, place) for d in error.diagnostics)
        except SyntaxError as error:
            self.reporter.record(syntax_error(self.source, error))
        except (Exception, SystemExit) as error:
            self.reporter.record(self.failure(error, node))
        if self.reporter.failed:
            self.scope.update(dict.fromkeys(names, UNKNOWN))
            return
        for name in names:
            if isinstance(self.scope.get(name), (IRModule, Function, PrimFunc)):
                self.defined, self.last = True, self.scope[name]

    def located(self, diagnostic: Diagnostic, place: Span) -> Diagnostic:
        """A mistake found while the source ran; Python may know another source of the same name."""
        span = diagnostic.span
        if span is None or span.filename != self.source.filename:
            return diagnostic
        same = span.source is self.source or span.source.text == self.source.text
        return diagnostic if same else replace(diagnostic, span=place, labels=())

    def failure(self, error: BaseException, node: ast.stmt) -> Diagnostic:
        """The mistake for what Python raised, at the place that was being executed."""
        unknown = self.undefined(error, node) if isinstance(error, NameError) else None
        if unknown is not None:
            return unknown
        reason = f": {error}" if str(error) else ""
        message = f"evaluating this Python raised {type(error).__name__}{reason}"
        return Diagnostic("RX0112", message, self.place(error.__traceback__, node))

    def undefined(self, error: NameError, node: ast.stmt) -> Diagnostic | None:
        """A name that Python does not know in this statement, with the nearest that it does."""
        place = self.place(error.__traceback__, node)
        cx = self.context(Reporter())
        for inner in ast.walk(node):
            at: ast.AST = inner
            while isinstance(at, ast.Attribute):
                at = at.value
            if not isinstance(at, ast.Name) or at.id != error.name:
                continue
            if place.contains(self.source.span(at)):
                with suppress(Failed):
                    parse_expr(cx, inner)
                return next(iter(cx.reporter.diagnostics), None)
        return None

    def place(self, trace: TracebackType | None, node: ast.stmt) -> Span:
        """The innermost place of the source in a traceback."""
        found = self.source.span(node)
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.source.filename:
                found = step_span(trace, self.source)
            trace = trace.tb_next
        return found


def _is_decorated(node: ast.stmt) -> bool:
    return bool(getattr(node, "decorator_list", ()))


def _is_misspelt(decorator: ast.expr, environment: Environment) -> bool:
    """True if a decorator is no name of one of our namespaces."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    if not isinstance(target, ast.Attribute):
        return False
    owner = resolve_name(target.value, environment)
    return is_namespace(owner) and target.attr not in public_names(owner)
