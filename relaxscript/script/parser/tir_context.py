"""What parsing one PrimFunc knows: names, buffers, blocks, and the statements read so far."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from relaxscript.errors import Source, Span
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, PrimType
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.tir import (
    Block,
    Buffer,
    BufferRegion,
    IterVar,
    MatchBufferRegion,
    Range,
    Stmt,
)
from relaxscript.script.tir_types import Form
from relaxscript.tir_builder import Opener

from .blame import UNKNOWN
from .context import ModuleContext
from .environment import Environment
from .reporter import Reporter
from .script_context import Language, ScriptContext
from .tir_axis_kinds import AxisPlace

__all__ = ["OpenBlock", "TirContext"]


@dataclass
class Signature:
    """The parameters of a function as they are found."""

    params: list[prim.Var] = field(default_factory=list)
    spans: list[Span | None] = field(default_factory=list)
    buffers: dict[prim.Var, Buffer] = field(default_factory=dict)


class OpenBlock:
    """A block whose statements are being read."""

    def __init__(self, name: str) -> None:
        self.name = name
        # Where it is opened.
        self.at: ast.AST = ast.Pass()
        self.iter_vars: list[IterVar] = []
        self.iter_values: list[PrimExpr] = []
        self.reads: tuple[BufferRegion, ...] | None = None
        self.writes: tuple[BufferRegion, ...] | None = None
        self.predicate: PrimExpr | None = None
        self.init: Stmt | None = None
        self.annotations: dict[str, Any] = {}
        self.alloc_buffers: list[Buffer] = []
        self.match_buffers: list[MatchBufferRegion] = []
        # The calls that describe it, by what they say.
        self.said: dict[str, ast.Call] = {}
        # The scalar variables that its statements bind.
        self.bound: set[prim.Var] = set()


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
        self.signature = Signature()
        self.definition: ast.FunctionDef | None = None
        self.attrs: dict[str, Any] = {}
        self.ret_type: PrimType | None = None
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
        # How deep in loops, branches and blocks a statement stands, and where variables were bound.
        self.depth = 0
        self.bound_at: dict[prim.Var, int] = {}
        # Shape variables that Python holds, each with the function's own.
        self.own: dict[prim.Var, prim.Var] = {}
        # Those that it has none of, by where they stand first.
        self.captured: dict[prim.Var, Span | None] = {}
        # Names of scopes that have ended, and where they were bound.
        self.gone: dict[str, Span | None] = {}
        # The variables that `T.env_thread` gave, the names of their threads, and where they stand.
        self.threads: dict[prim.Var, tuple[str, ast.AST]] = {}

    def _buffers(self) -> None:
        """Buffers and their memory."""
        # The syntax of buffers whose address the function asks for, and of all that it has made.
        self.addressed: set[ast.AST] = set()
        self.made: dict[Buffer, ast.AST] = {}
        # The buffers without memory that no `T.realize` gave any, and where they stand.
        self.homeless: dict[Buffer, ast.AST] = {}
        # What `T.realize` opened, and where.
        self.realized: dict[Any, ast.Call] = {}
        # Where the indices of elements stand: see `tir_bounds.Places`.
        self.index_places: dict[int, tuple[tuple[PrimExpr, ...], list[Span | None]]] = {}
        # The buffers of Python objects, by what asked for them (which is kept as long as its id).
        self.held_buffers: dict[int, tuple[Form, Buffer]] = {}

    def _statements(self) -> None:
        """Statements, loops and blocks."""
        self.items: list[Stmt | Opener] = []
        self.root = self.block = OpenBlock("root")
        self.has_blocks = False
        # The ranges of the loops around, by their variables.
        self.loops: dict[prim.Var, Range] = {}
        # Blocks whose regions the script left out, in what respect: (reads, writes).
        self.derived: dict[Block, tuple[bool, bool]] = {}
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
