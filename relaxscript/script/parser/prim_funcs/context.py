"""The context of parsing one PrimFunc: names, buffers, blocks, and the statements read so far."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from relaxscript.errors import Source, Span
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.tir import Buffer, Stmt
from relaxscript.script.names.tir_types import StmtForm
from relaxscript.script.parser.diagnostics import UNKNOWN, Failed
from relaxscript.script.parser.environment import Environment
from relaxscript.script.parser.module_context import ModuleContext
from relaxscript.script.parser.reporter import Reporter
from relaxscript.script.parser.script_context import Language, ScriptContext
from relaxscript.tir_builder import Opener, TIRBuilder, TIRError

from .axis_kinds import AxisPlace

# What needs parentheses as an operand of a comparison.
_LOOSE = (ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.NamedExpr)

__all__ = ["TirContext", "part_of"]


class TirContext(ScriptContext):
    """One PrimFunc that is being parsed; a context is used for one reading of it."""

    def __init__(
        self, source: Source, environment: Environment, reporter: Reporter, module: ModuleContext,
        language: Language,
    ) -> None:  # fmt: skip
        super().__init__(source, environment, reporter, language)
        self.module = module
        # The functions of the module around it, and the name of its class.
        self.global_vars: dict[str, GlobalVar] | None = None
        self.module_name = ""
        self.builder = TIRBuilder()
        self.definition: ast.FunctionDef | None = None
        # Whether what it uses must have a value and memory.
        self.check_well_formed = True
        self._variables()
        self._buffers()
        self._statements()
        self._macros()

    def _variables(self) -> None:
        """Scalar variables."""
        # Those that cannot be assigned again, by what they are, for the words of messages.
        self.fixed: dict[prim.Var, str] = {}
        self.declared: dict[str, tuple[prim.Var, ast.AST]] = {}
        # How deep in loops, branches and blocks a statement is, and where variables were bound.
        self.depth = 0
        self.bound_at: dict[prim.Var, int] = {}
        # Shape variables that Python holds, each with the function's own.
        self.own: dict[prim.Var, prim.Var] = {}
        # Those that it has none of, by where they are first.
        self.captured: dict[prim.Var, Span | None] = {}
        # Names of scopes that have ended, and where they were bound.
        self.gone: dict[str, Span | None] = {}

    def _buffers(self) -> None:
        """Buffers and their memory."""
        # What the function has made: other buffers are Python's.
        self.made: set[Buffer] = set()
        # The buffers without memory that no `T.realize` gave any, and where they are.
        self.homeless: dict[Buffer, ast.AST] = {}
        # What `T.realize` opened, and where.
        self.realized: dict[Any, ast.Call] = {}
        # Where the indices of elements are: see `tir_bounds.Places`.
        self.index_places: dict[int, tuple[tuple[PrimExpr, ...], list[Span | None]]] = {}
        # The buffers of Python objects, by what asked for them (which is kept as long as its id).
        self.made_buffers: dict[int, tuple[StmtForm, Buffer]] = {}

    def _statements(self) -> None:
        """Statements, loops and blocks."""
        # Where the kinds of axes are written.
        self.axis_places: dict[prim.Var, AxisPlace] = {}
        # The statements that have been read, so that recovery reads none of them twice.
        self.visited: set[ast.stmt] = set()
        # The lists of statements into which loops over Python values are being written out.
        self.unrolled: list[list[Stmt | Opener]] = []

    def _macros(self) -> None:
        """Macros that are being expanded."""
        # The expression that is a statement by itself, as the use of a macro must be.
        self.as_statement: ast.expr | None = None
        # How deep in loops and branches the macro that is being expanded began.
        self.macro_depth = 0
        # Its parameters, as long as they are not bound anew.
        self.macro_arguments: frozenset[str] = frozenset()

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Names bound inside are not known outside."""
        outer = self.names
        self.names = dict(outer)
        self.depth += 1
        try:
            yield
        finally:
            for name, value in self.names.items():
                if name not in outer:
                    self.gone[name] = getattr(value, "span", None)
            self.names = outer
            self.depth -= 1

    def forget_names(self, target: ast.AST) -> None:
        """The names in a target are unknown."""
        for name in ast.walk(target):
            if isinstance(name, ast.Name):
                self.names[name.id] = UNKNOWN

    # ---- the builder

    @contextmanager
    def builder_at(
        self, node: ast.AST, places: Mapping[str, ast.AST] | None = None
    ) -> Iterator[TIRBuilder]:
        """The builder, for a statement at `node`; its mistakes are told at the parts' places."""

        known = places or {}
        builder = self.builder
        before = builder.span, builder.places
        builder.span = self.span(node)
        builder.places = lambda part: self.span(part_of(part, known, node))
        try:
            yield builder
        except TIRError as error:
            self.report_doubts(node, known)
            raise self.refuse(error, node, known) from None
        finally:
            builder.span, builder.places = before
        self.report_doubts(node, known)

    def report_doubts(self, node: ast.AST, places: Mapping[str, ast.AST]) -> None:
        """Tell what the builder warns of."""
        doubts, self.builder.doubts = self.builder.doubts, []
        for doubt in doubts:
            if not isinstance(part_of(doubt.part, places, node), ast.Constant):
                doubt.instead = None  # only what is written as it is can be replaced
            self.refuse(doubt, node, places)

    def refuse(self, error: TIRError, node: ast.AST, places: Mapping[str, ast.AST]) -> Failed:
        """Record what the builder says of parts of a statement, which are at `places`."""
        at = part_of(error.part, places, node)
        words = {}
        if error.instead is not None:
            loose = error.instead.startswith("{} ") and isinstance(at, _LOOSE)
            words[error.part] = f"({self.written(at)})" if loose else self.written(at)
        parts = (error.part, *error.facts)
        spans = {part: self.span(part_of(part, places, node)) for part in parts}
        return self.report(error.diagnostic("", self.span(at), spans, words))


def part_of(part: str, places: Mapping[str, ast.AST], node: ast.AST) -> ast.AST:
    """The syntax of a part, `indices[1]` as well; for one without a place, the syntax of all."""
    found = places.get(part)
    if found is not None:
        return found
    whole, bracket, index = part.rpartition("[")
    if not bracket:
        return node
    owner, dot, _ = whole.partition(".indices")
    items = found = part_of(owner, places, node)
    if dot and isinstance(found, ast.Subscript):
        items = found.slice
    elements = items.elts if isinstance(items, (ast.Tuple, ast.List)) else [items]
    position = int(index.rstrip("]"))
    if position < len(elements) and not any(isinstance(e, ast.Starred) for e in elements):
        return elements[position]
    return found
