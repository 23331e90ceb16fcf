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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType
from typing import Any

from relaxscript import script
from relaxscript.errors import Diagnostic, DiagnosticError, Source, is_strict, nearest
from relaxscript.script.parser.decorators import ScriptDecorator
from relaxscript.script.parser.diagnostics import UNKNOWN, Failed
from relaxscript.script.parser.environment import Environment, is_builtin
from relaxscript.script.parser.expression import parse_expr
from relaxscript.script.parser.internal_error import as_internal_error
from relaxscript.script.parser.macro import Macro
from relaxscript.script.parser.module import parse_definition
from relaxscript.script.parser.python_language import python_context
from relaxscript.script.parser.reporter import Reporter
from relaxscript.script.parser.unsupported_syntax import TRY_STAR
from relaxscript.script.source.file_reader import FileReader, Scopes
from relaxscript.script.source.plain_names import (
    EVERYTHING,
    bind,
    import_bindings,
    literal,
    namespace_names,
)
from relaxscript.script.source.source_tree import AnyDefinition, parse_text
from relaxscript.script.source.syntax_errors import syntax_error

from .notebooks import plain_python
from .safe_calls import BUILTINS, is_harmless, member_of, outer_module

__all__ = ["Script", "ScriptFinder", "definitions", "tree_of"]

PythonFunction = ast.FunctionDef | ast.AsyncFunctionDef

_BRANCHING = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, TRY_STAR, ast.Match)


@dataclass(frozen=True)
class Script:
    """A decorated definition: `value` is its module or function, None when it is not complete.

    What depends on `unknown`, which only a run of the file can tell, was not checked.
    """

    name: str
    line: int
    value: Any
    diagnostics: tuple[Diagnostic, ...]
    unknown: tuple[str, ...] = ()


# The decorators that make a definition a script.
DECORATORS: tuple[Any, ...] = (
    script.ir.ir_module, script.relax.function, script.tir.prim_func, script.relax.macro,
    script.tir.macro,
)  # fmt: skip


def definitions(
    sources: Source | Sequence[Source], *, strict: bool | None = None,
    known: Mapping[str, Any] | None = None,
) -> tuple[list[Script], list[Diagnostic]]:  # fmt: skip
    """The scripts of a file in their order, and the mistakes that belong to none of them.

    The cells of a notebook are one file, of which each is a source. `strict=True` makes errors of
    the warnings about what only a run can check, where a definition says nothing else. None
    leaves that to `relaxscript.config` and the environment. `known` are names that are there before
    the first statement.
    """
    given = [sources] if isinstance(sources, Source) else sources
    walk = ScriptFinder(is_strict(strict))
    parsed: list[tuple[Source, ast.Module]] = []
    for source in given:
        try:
            parsed.append(tree_of(source))
        except DiagnosticError as error:
            walk.reporter.diagnostics.extend(error.diagnostics)
    walk.file(parsed, known)
    return walk.in_order(), walk.reporter.diagnostics


def tree_of(source: Source) -> tuple[Source, ast.Module]:
    """A source with its tree; raises RX0113 where it is not Python."""
    if source.cell is None:
        return parse_text(source.filename, source.text)
    try:
        return source, ast.parse(plain_python(source.text), source.filename)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        words = str(error) or "this is nested too deeply"
        refused = error if isinstance(error, SyntaxError) else SyntaxError(words)
        raise DiagnosticError(syntax_error(source, refused)) from None


class ScriptFinder(FileReader):
    """A walk through the statements of one file as Python would run them."""

    def __init__(self, strict: bool) -> None:
        super().__init__(Source("", ""), Reporter())
        self.strict = strict
        self.scripts: list[tuple[int, Script]] = []  # with the number of the source
        self.number = 0
        self.trees: list[ast.Module] = []
        # Bodies of functions run later than the statements around them, and see all their names.
        self.later: deque[tuple[int, PythonFunction, Scopes, str]] = deque()

    def file(
        self, parsed: Sequence[tuple[Source, ast.Module]], given: Mapping[str, Any] | None = None
    ) -> None:  # fmt: skip
        """Read the sources of a file; `given` are names that are there before their statements."""
        self.trees = [tree for _, tree in parsed]
        known = {} if any(map(imports_ours, self.trees)) else namespace_names()
        known.update(given or {})
        for number, (source, tree) in enumerate(parsed):
            self.number, self.source = number, source
            self.block(tree.body, [known], "")
        while self.later:
            self.number, node, scopes, prefix = self.later.popleft()
            self.source = parsed[self.number][0]
            parameters = [n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg)]
            self.block(node.body, [dict.fromkeys(parameters, UNKNOWN), *scopes], prefix)

    @cached_property
    def bound(self) -> set[str]:
        """The names that any statement of the file may bind."""
        return set().union(*map(bound_somewhere, self.trees))

    def in_order(self) -> list[Script]:
        """The scripts in their order in the file."""
        ordered = sorted(self.scripts, key=lambda pair: (pair[0], pair[1].line))
        return [script for _, script in ordered]

    def read_assignment(
        self, node: ast.stmt, targets: Sequence[ast.expr], value: ast.expr, scopes: Scopes
    ) -> None:
        scopes[0].update(dict.fromkeys(stored_names(node), UNKNOWN))
        found = self.literal(value, scopes)
        for target in targets:
            bind(target, found, scopes[0])
        self.forget_changed(node, scopes[0])

    def read_other(self, node: ast.stmt, scopes: Scopes, prefix: str) -> None:
        if isinstance(node, _BRANCHING):
            self.branches(node, scopes, prefix)
            return
        scopes[0].update(dict.fromkeys(stored_names(node), UNKNOWN))
        if isinstance(node, (ast.With, ast.AsyncWith)):
            self.block(node.body, scopes, prefix)
        else:
            self.forget_changed(node, scopes[0])

    def forget_changed(self, node: ast.stmt, scope: dict[str, Any]) -> None:
        """Lists and dicts that a statement may change are no longer known."""
        for name in changed_names(node):
            if isinstance(scope.get(name), (list, dict)):
                scope[name] = UNKNOWN

    def read_import(self, node: ast.Import | ast.ImportFrom) -> dict[str, Any]:
        """The names that an import binds; of numpy and math more is known than of others."""
        found = super().read_import(node)
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            if found.get(bound) is not UNKNOWN:
                continue
            if isinstance(node, ast.Import):
                known = outer_module(alias.name if alias.asname else bound)
            else:
                known = outer_module(f"{node.module}.{alias.name}")
                owner = None if node.level else outer_module(node.module or "")
                if known is None and hasattr(owner, alias.name):
                    allowed, value = member_of(owner, alias.name)
                    known = value if allowed else None
            found[bound] = UNKNOWN if known is None else known
        return found

    def literal(self, node: ast.expr, scopes: Scopes) -> Any:
        """The value of an expression, as far as it is known without running the file."""
        return literal(self.source, node, scopes, _FileNames(scopes, Reporter()))

    def branches(self, node: ast.stmt, scopes: Scopes, prefix: str) -> None:
        """Statements of which some are run, nobody knows which."""
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            scopes[0].update(dict.fromkeys(stored_names(node), UNKNOWN))
        outcomes = []
        for branch in branches_of(node):
            outcomes.append(dict(scopes[0]))
            self.block(branch, [outcomes[-1], *scopes], prefix)
        scopes[0].update(_merge_branches(outcomes))
        if isinstance(node, (ast.Try, TRY_STAR)):
            self.block(node.finalbody, scopes, prefix)

    # ---- definitions

    def read_definition(self, node: AnyDefinition, scopes: Scopes, prefix: str) -> None:
        try:
            ours = self.decorator(node, scopes)
        except Failed:
            scopes[0][node.name] = UNKNOWN
            return
        if ours is not None:
            found = self.script(node, ours, scopes, prefix + node.name)
            if not isinstance(found.value, Macro):
                self.scripts.append((self.number, found))
            scopes[0][node.name] = UNKNOWN if found.value is None else found.value
            return
        scopes[0][node.name] = UNKNOWN
        if isinstance(node, ast.ClassDef):
            self.block(node.body, [{}, *scopes], f"{prefix}{node.name}.")
        else:
            self.later.append((self.number, node, scopes, f"{prefix}{node.name}."))

    def decorator(self, node: AnyDefinition, scopes: Scopes) -> ScriptDecorator | None:
        """The decorator that makes it a script; one of ours that is misspelt is a mistake."""
        for decorator in reversed(node.decorator_list):
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            value = self.decorator_value(target, scopes)
            if any(value is ours for ours in DECORATORS):
                return ScriptDecorator(value.__name__, decorator)
            self.require_defined(target, scopes)
        return None

    def require_defined(self, target: ast.expr, scopes: Scopes) -> None:
        """Refuse a decorator that looks like one of ours and begins with a name of nobody."""
        last: str = getattr(target, "attr", getattr(target, "id", ""))
        root = target
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id in self.bound or EVERYTHING in self.bound:
            return
        if is_builtin(root.id) or any(root.id in scope for scope in scopes):
            return
        if nearest(f"{last} ", _DECORATORS) is not None:
            names = _FileNames(scopes, self.reporter)
            parse_expr(python_context(self.source, names, self.reporter), target)

    def decorator_value(self, node: ast.expr, scopes: Scopes) -> Any:
        match node:
            case ast.Name(id=name):
                return next((scope[name] for scope in scopes if name in scope), None)
            case ast.Attribute(value=inner, attr=attr):
                owner = self.decorator_value(inner, scopes)
                if owner in (script.ir, script.relax, script.tir):
                    names = _FileNames(scopes, self.reporter)
                    return parse_expr(python_context(self.source, names, self.reporter), node)
                return getattr(owner, attr, None) if isinstance(owner, ModuleType) else None
        return None

    def script(
        self, node: AnyDefinition, decorator: ScriptDecorator, scopes: Scopes, name: str
    ) -> Script:
        line = min(node.lineno, *(d.lineno for d in node.decorator_list))
        kind = "class" if decorator.is_of_class else "function"
        if isinstance(node, ast.AsyncFunctionDef) or isinstance(node, ast.ClassDef) != (
            kind == "class"
        ):
            message = f"`{decorator.written}` decorates a {kind}"
            wrong = Diagnostic("RX0111", message, self.source.name_span(node))
            return Script(name, line, None, (wrong,))
        reporter = self.new_reporter()
        names = _FileNames(scopes, reporter)
        with as_internal_error(reporter):
            cx = python_context(self.source, names, reporter)
            value = parse_definition(cx, node, decorator)
        complete = not any(d.severity == "error" for d in reporter.settle())
        left = names.unknown.values()
        found = [
            d
            for d in dict.fromkeys(reporter.settle())
            if replace(d, span=None, labels=()) not in left
        ]
        return Script(name, line, value if complete else None, tuple(found), tuple(names.unknown))

    def new_reporter(self) -> Reporter:
        """An empty list of mistakes for one script."""
        return Reporter(self.strict)


# ---- what statements do to names

_DECORATORS = ("ir_module", "rewriter", "function", "func", "prim_func", "macro")


def imports_ours(tree: ast.Module) -> bool:
    """True if a file imports our namespaces anywhere, and so has those only that it imports."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)))
    return any(value is not UNKNOWN for node in nodes for value in import_bindings(node).values())


def bound_somewhere(tree: ast.Module) -> set[str]:
    """All names that the statements of a file bind, in whatever scope."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found.add(name)
            case ast.Import() | ast.ImportFrom():
                found.update(import_bindings(node))
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                found.add(name)
            case ast.AsyncFunctionDef(name=name) | ast.Global(names=[name, *_]):
                found.add(name)
    return found


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
        pending.extend(
            n
            for n in ast.iter_child_nodes(inner)
            if not isinstance(n, (ast.ClassDef, PythonFunction))
        )


def changed_names(node: ast.stmt) -> Iterator[str]:
    """The names whose values a statement may change: by a call, or by storing into a part."""
    for inner in ast.walk(node):
        match inner:
            case ast.Call():
                yield from (n.id for n in ast.walk(inner) if isinstance(n, ast.Name))
            case ast.Subscript(ctx=ast.Store() | ast.Del(), value=value):
                yield from (n.id for n in ast.walk(value) if isinstance(n, ast.Name))


# ---------------------------------------------------------------- names


class _FileNames(Environment):
    """The names that a definition of a file can see, innermost scope first.

    What only a run of the file can tell is unknown. It is noted in `unknown`, with a mistake that
    is reported for it; so whatever depends on it is left unfinished.
    """

    def __init__(self, scopes: Sequence[Mapping[str, Any]], reporter: Reporter) -> None:
        super().__init__(scopes, "data")
        self.reporter = reporter
        self.unknown: dict[str, Diagnostic] = {}

    def lookup(self, name: str) -> Any:
        for scope in self.scopes:
            if name in scope:
                value = scope[name]
                break
        else:
            starred = any(EVERYTHING in scope for scope in self.scopes)
            if not is_builtin(name) and not starred:
                raise KeyError(name)
            value = BUILTINS.get(name, UNKNOWN)
        if value is UNKNOWN:
            self.leave_to_run(name)
        return value

    def member(self, owner: Any, name: str) -> tuple[bool, Any]:
        return member_of(owner, name)

    def may_call(self, callee: Any, args: Iterable[Any]) -> bool:
        return is_harmless(callee, args)

    def leave_to_run(self, written: str) -> bool:
        if written not in self.unknown:
            message = f"`{written}` is known only when the file runs"
            self.unknown[written] = Diagnostic("RX0112", message, None)
            self.reporter.diagnostics.append(self.unknown[written])
        return True

    @property
    def is_left_to_run(self) -> bool:
        return any(value is UNKNOWN for scope in self.scopes for value in scope.values())

    def names(self) -> list[str]:
        return [name for name in super().names() if name != EVERYTHING]


def _merge_branches(outcomes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The values of names after one of several branches has run, nobody knows which.

    A name keeps a value on which those branches agree that bind it. Our own namespaces win: they
    have one meaning, and the other branch is for those who lack them.
    """
    names = {name: None for outcome in outcomes for name in outcome}
    return {name: _agree([o[name] for o in outcomes if name in o]) for name in names}


def _agree(values: list[Any]) -> Any:
    first = values[0]
    for value in values:
        if isinstance(value, ModuleType):
            return value
    if all(value is first or _same_literal(value, first) for value in values):
        return first
    return UNKNOWN


def _same_literal(a: Any, b: Any) -> bool:
    plain = (int, float, str, bool, tuple, type(None))
    return type(a) is type(b) and isinstance(a, plain) and repr(a) == repr(b)
