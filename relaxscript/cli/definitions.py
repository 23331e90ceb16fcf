"""The scripts of a Python file, found and parsed without running the file.

Real files hold imports, constants and other Python around the decorated definitions. `definitions`
walks through the statements in their order and keeps what they say plainly: the names under which
`I`, `R` and `T` were imported, and constants written as literals (`N = 64`, `SHAPE = (N, 64)`).
Everything else is known only when the file runs. A definition that uses such a name is checked as
far as possible, and a warning names it.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from relaxscript import script
from relaxscript.errors import Diagnostic, DiagnosticError, Source, is_strict
from relaxscript.script.parser.base import UNKNOWN, ExpressionParser, Failed, Reporter
from relaxscript.script.parser.crash import reported_as_ours
from relaxscript.script.parser.decorators import OurDecorator, read_options
from relaxscript.script.parser.macro import Macro, macro_of
from relaxscript.script.parser.module import module_of_class, relax_function, tir_function
from relaxscript.script.parser.plain import bind, imported, known_from_the_start, literal
from relaxscript.script.parser.source import parse_text
from relaxscript.script.parser.statements import TRY_STAR

from .names import FileNames, merged

__all__ = ["Script", "definitions"]

PythonFunction = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.ClassDef | PythonFunction
Scopes = list[dict[str, Any]]  # innermost first

_BRANCHING = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, TRY_STAR, ast.Match)


@dataclass(frozen=True)
class Script:
    """A decorated definition: `value` is its module or function, None when it is not complete."""

    name: str
    line: int
    value: Any
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class _Language:
    """A decorator of ours: what it decorates, and what parses that."""

    name: str
    kind: type[Definition]
    kind_name: str
    parse: Callable[[Source, Any, FileNames, Reporter, OurDecorator], Any]


def module_definition(
    source: Source, node: Any, names: FileNames, reporter: Reporter, decorator: OurDecorator
) -> Any:
    """A module, as the options of its decorator say."""
    options = read_options(ExpressionParser(source, names, reporter), decorator)
    with reporter.strictly(options.get("strict")):
        return module_of_class(
            source, node, names, reporter, options.get("check_well_formed", True)
        )


def macro_definition(
    source: Source, node: Any, names: FileNames, reporter: Reporter, decorator: OurDecorator
) -> Any:
    """A macro; it is checked where it is used."""
    try:
        return macro_of(ExpressionParser(source, names, reporter), node, lambda: names)
    except Failed:
        return None


LANGUAGES: dict[Any, _Language] = {
    script.ir.ir_module: _Language("I.ir_module", ast.ClassDef, "class", module_definition),
    script.relax.function: _Language("R.function", ast.FunctionDef, "function", relax_function),
    script.tir.prim_func: _Language("T.prim_func", ast.FunctionDef, "function", tir_function),
    script.relax.macro: _Language("R.macro", ast.FunctionDef, "function", macro_definition),
    script.tir.macro: _Language("T.macro", ast.FunctionDef, "function", macro_definition),
}


def definitions(
    source: Source, *, strict: bool | None = None
) -> tuple[list[Script], list[Diagnostic]]:
    """The scripts of a file in their order, and the mistakes that belong to none of them.

    `strict=True` makes errors of the warnings about what can only be checked at run time, where a
    definition says nothing else; None leaves that to `relaxscript.config` and the environment.
    """
    try:
        source, tree = parse_text(source.filename, source.text)
    except DiagnosticError as error:
        return [], list(error.diagnostics)
    walk = _Walk(source, is_strict(strict))
    walk.file(tree)
    return sorted(walk.scripts, key=lambda found: found.line), walk.reporter.diagnostics


class _Walk:
    """Goes through the statements of one file as Python would, keeping what is plainly known."""

    def __init__(self, source: Source, strict: bool) -> None:
        self.source = source
        self.strict = strict
        self.scripts: list[Script] = []
        self.reporter = Reporter()
        # Bodies of functions run later than the statements around them, and see all their names.
        self.later: deque[tuple[PythonFunction, Scopes, str]] = deque()

    def file(self, tree: ast.Module) -> None:
        self.block(tree.body, [known_from_the_start()], "")
        while self.later:
            node, scopes, prefix = self.later.popleft()
            parameters = [n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg)]
            self.block(node.body, [dict.fromkeys(parameters, UNKNOWN), *scopes], prefix)

    def block(self, statements: list[ast.stmt], scopes: Scopes, prefix: str) -> None:
        """Statements in their order; `prefix` is what the names of definitions begin with."""
        for statement in statements:
            self.statement(statement, scopes, prefix)

    def statement(self, node: ast.stmt, scopes: Scopes, prefix: str) -> None:
        scope = scopes[0]
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                self.definition(node, scopes, prefix)
                return
            case ast.Import() | ast.ImportFrom():
                scope.update(imported(node))
                return
            case _ if isinstance(node, _BRANCHING):
                self.branches(node, scopes, prefix)
                return
            case ast.With(body=body) | ast.AsyncWith(body=body):
                scope.update(dict.fromkeys(stored_names(node), UNKNOWN))
                self.block(body, scopes, prefix)
                return
        scope.update(dict.fromkeys(stored_names(node), UNKNOWN))
        match node:
            case ast.Assign(targets=targets, value=value):
                found = literal(self.source, value, scopes)
                for target in targets:
                    bind(target, found, scope)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                bind(target, literal(self.source, value, scopes), scope)
        for name in changed_names(node):
            if isinstance(scope.get(name), (list, dict)):
                scope[name] = UNKNOWN

    def branches(self, node: ast.stmt, scopes: Scopes, prefix: str) -> None:
        """Statements of which some are run, nobody knows which."""
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            scopes[0].update(dict.fromkeys(stored_names(node), UNKNOWN))
        outcomes = []
        for branch in branches_of(node):
            outcomes.append(dict(scopes[0]))
            self.block(branch, [outcomes[-1], *scopes], prefix)
        scopes[0].update(merged(outcomes))
        if isinstance(node, (ast.Try, TRY_STAR)):
            self.block(node.finalbody, scopes, prefix)

    # ---- definitions

    def definition(self, node: Definition, scopes: Scopes, prefix: str) -> None:
        try:
            ours = self.language(node, scopes)
        except Failed:
            scopes[0][node.name] = UNKNOWN
            return
        if ours is not None:
            found = self.script(node, *ours, scopes, prefix + node.name)
            if not isinstance(found.value, Macro):
                self.scripts.append(found)
            scopes[0][node.name] = UNKNOWN if found.value is None else found.value
            return
        scopes[0][node.name] = UNKNOWN
        if isinstance(node, ast.ClassDef):
            self.block(node.body, [{}, *scopes], f"{prefix}{node.name}.")
        else:
            self.later.append((node, scopes, f"{prefix}{node.name}."))

    def language(self, node: Definition, scopes: Scopes) -> tuple[_Language, OurDecorator] | None:
        """The language that a decorator chooses, and that; a misspelt one of ours is a mistake."""
        for decorator in reversed(node.decorator_list):
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            value = self.decorator_value(target, scopes)
            for ours, language in LANGUAGES.items():
                if value is ours:
                    return language, OurDecorator(ours.__name__, decorator)
        return None

    def decorator_value(self, node: ast.expr, scopes: Scopes) -> Any:
        match node:
            case ast.Name(id=name):
                return next((scope[name] for scope in scopes if name in scope), None)
            case ast.Attribute(value=inner, attr=attr):
                owner = self.decorator_value(inner, scopes)
                if owner in (script.ir, script.relax, script.tir):
                    names = FileNames(scopes, self.reporter)
                    return ExpressionParser(self.source, names, self.reporter).value(node)
                return getattr(owner, attr, None) if isinstance(owner, ModuleType) else None
        return None

    def script(
        self,
        node: Definition,
        language: _Language,
        decorator: OurDecorator,
        scopes: Scopes,
        name: str,
    ) -> Script:
        line = min(node.lineno, *(d.lineno for d in node.decorator_list))
        if not isinstance(node, language.kind):
            message = f"`{language.name}` decorates a {language.kind_name}"
            wrong = Diagnostic("RX0111", message, self.source.name_span(node))
            return Script(name, line, None, (wrong,))
        reporter = Reporter(self.strict)
        names = FileNames(scopes, reporter)
        with reported_as_ours():
            value = language.parse(self.source, node, names, reporter, decorator)
        complete = not any(d.severity == "error" for d in reporter.settled())
        found = [self.placed(d, node, names) for d in reporter.settled()]
        return Script(name, line, value if complete else None, tuple(found))

    def placed(self, diagnostic: Diagnostic, node: Definition, names: FileNames) -> Diagnostic:
        """What is unknown without running the file is no mistake; a warning says where it is."""
        for name, unknown in names.unknown.items():
            if replace(diagnostic, labels=()) == unknown:
                uses = (n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name)
                first = min(uses, key=lambda n: (n.lineno, n.col_offset), default=node)
                at = self.source.span(first)
                if first is node and diagnostic.labels:
                    at = diagnostic.labels[-1].span  # the use of the macro that uses it
                return replace(diagnostic, span=at, labels=(), severity="warning")
        return diagnostic


# ---- what statements do to names


def branches_of(node: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement of which one is run, none counting as a block too."""
    if isinstance(node, (ast.Try, TRY_STAR)):
        return [[*node.body, *node.orelse], *(handler.body for handler in node.handlers)]
    match node:
        case ast.If(body=body, orelse=orelse):
            return [body, orelse]
        case ast.Match(cases=cases):
            return [*(case.body for case in cases), []]
        case ast.For(body=body, orelse=orelse) | ast.While(body=body, orelse=orelse):
            return [[*body, *orelse], []]
        case ast.AsyncFor(body=body, orelse=orelse):
            return [[*body, *orelse], []]
    return [[]]


def stored_names(node: ast.AST) -> Iterator[str]:
    """The names that a statement binds or deletes, those in its blocks included.

    What definitions in these blocks bind is their own.
    """
    pending = [node]
    while pending:
        inner = pending.pop()
        if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
            yield inner.id
        pending.extend(n for n in ast.iter_child_nodes(inner) if not isinstance(n, Definition))


def changed_names(node: ast.stmt) -> Iterator[str]:
    """The names whose values a statement may change: by a call, or by storing into a part."""
    for inner in ast.walk(node):
        match inner:
            case ast.Call():
                yield from (n.id for n in ast.walk(inner) if isinstance(n, ast.Name))
            case ast.Subscript(ctx=ast.Store() | ast.Del(), value=value):
                yield from (n.id for n in ast.walk(value) if isinstance(n, ast.Name))
