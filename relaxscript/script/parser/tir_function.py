"""PrimFuncs, statement by statement.

    function  = "def" name "(" parameters ")" ["->" type] ":" { statement }
    statement = "for" names "in" loops ":" body | "while" scalar ":" body
              | "if" scalar ":" body ["else" ":" body] | "assert" scalar ["," text]
              | "with" scopes ":" body | element "=" scalar | element op "=" scalar
              | name [":" type] "=" scalar | name "=" buffer | "return" [scalar]
              | "T.func_attr(...)" | "T.evaluate(...)" | scalar | "pass" | docstring
    loops     = "range(...)" | "T.serial(...)" | "T.parallel(...)" | "T.grid(...)" ...
    scopes    = block | "T.init()" | "T.grid(...)" "as" names | "T.LetStmt(...)" "as" name
              | "T.allocate(...)" "as" name | "T.attr(...)" ...

A scalar variable never changes: it can be bound anew only beside its first binding, where that
means the same as in Python. The printer's methods of the same names are the inverse of these.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from relaxscript.errors import Diagnostic, Source, Span
from relaxscript.ir import prim
from relaxscript.ir.intrinsic import op_named
from relaxscript.ir.prim import PrimType
from relaxscript.ir.relax import Attrs, GlobalVar
from relaxscript.ir.tir import Block, Buffer, BufferRegion, Evaluate, PrimFunc, Stmt
from relaxscript.ir.walk import MOST_PARTS, free_vars, size_when_written
from relaxscript.script import tir_forms
from relaxscript.script.tir_types import Form

from .base import Failed, Reporter
from .environment import Environment
from .statements import TRY_STAR, of_later_pythons
from .tir_axis_kinds import doubtful_blocks
from .tir_block import OpenBlock, folded
from .tir_bounds import refuted_indices
from .tir_buffer import BufferSyntax
from .tir_call import vstore
from .tir_effect import EffectParser
from .tir_loop import LOOP_HELP, LOOPS
from .tir_scalar import describe
from .tir_signature import Signature

__all__ = ["TirParser", "parse_prim_func"]


def parse_prim_func(
    source: Source, node: ast.FunctionDef, environment: Environment, reporter: Reporter, *,
    private: bool, global_vars: dict[str, GlobalVar] | None, module_name: str = "",
    make: Callable[[Source, Environment, Reporter], TirParser] | None = None,
    check_well_formed: bool = True,
) -> PrimFunc | None:  # fmt: skip
    """The PrimFunc that a definition means; None when mistakes were recorded.

    `global_vars` are the functions of the module around it, `module_name` is its class; `make`
    gives the parser, a new one for each reading. Without `check_well_formed`, what it uses need not
    have a value or memory.
    """
    addressed: set[ast.AST] = set()
    reporter.reading = (source, node)
    while True:
        before, known = len(reporter.diagnostics), len(addressed)
        parser = (make or TirParser)(source, environment, reporter)
        parser.begin(global_vars, module_name, addressed)
        parser.check_well_formed = check_well_formed
        function = parser.prim_func(node, private)
        if any(d.severity == "error" for d in reporter.diagnostics[before:]):
            return None
        if len(addressed) == known:
            return function
        # The address of a buffer was asked for after the buffer was made: once more, with it.
        reporter.forget(before)


class TirParser(EffectParser):
    """Parses one PrimFunc; a parser is used once."""

    check_well_formed = True

    def __init__(self, source: Source, environment: Environment, reporter: Reporter) -> None:
        super().__init__(source, environment, reporter)
        self.signature = Signature()
        self.fixed = {}
        self.declared = {}
        self.made = {}
        self.own, self.captured = {}, {}
        self.items = []
        self.root = self.block = OpenBlock("root")
        self.loops = {}
        self.derived = {}
        self.axis_places = {}
        self.index_places = {}
        self.realized = {}
        self.depth = 0
        self.bound_at = {}
        self.visited = set()
        self.threads = {}
        self.homeless = {}
        self.unrolled = []
        self.gone: dict[str, Span | None] = {}
        self.attrs: dict[str, Any] = {}
        self.ret_type: PrimType | None = None
        self.begin(None, "", set())
        self.tables()

    def tables(self) -> None:
        """What is done for each kind of statement, scope and effect."""
        self._statements: dict[type[ast.stmt], Callable[[Any], None]] = {
            ast.Assign: self.assign,
            ast.AnnAssign: self.annotated,
            ast.AugAssign: self.augmented,
            ast.Expr: self.expression,
            ast.For: self.for_loop,
            ast.While: self.while_loop,
            ast.If: self.branch,
            ast.With: self.with_scopes,
            ast.Assert: self.assertion,
            ast.Return: self.result,
            ast.Pass: self.nothing,
            ast.Break: self.loop_exit,
            ast.Continue: self.loop_exit,
        }
        self.scopes: dict[Any, Callable[[Form, ast.With, Sequence[ast.stmt]], None]] = {
            tir_forms.block: self.block_statement,
            tir_forms.init: self.init,
            tir_forms.While: self.while_scope,
            tir_forms.If: self.if_scope,
        }
        self.effects: dict[Any, Callable[[Form, ast.Call], None]] = {
            tir_forms.reads: self.reads,
            tir_forms.writes: self.writes,
            tir_forms.where: self.where,
            tir_forms.block_attr: self.block_attr,
            tir_forms.func_attr: self.func_attr,
            tir_forms.evaluate: self.evaluate,
            tir_forms.buffer_store: self.buffer_store,
            vstore: self.buffer_store,
            tir_forms.attr: self.attr,
            tir_forms.Assert: self.assert_form,
            tir_forms.launch_thread: self.launch_thread,
            tir_forms.realize: self.realize,
            tir_forms.prefetch: self.prefetch,
        }

    def begin(
        self, global_vars: dict[str, GlobalVar] | None, module_name: str, addressed: set[ast.AST]
    ) -> None:
        """Say what stands around the function, and which buffers' addresses it asks for."""
        self.global_vars = global_vars
        self.module_name = module_name
        self.addressed = addressed

    # function = "def" name "(" parameters ")" ["->" type] ":" { statement }
    def prim_func(self, node: ast.FunctionDef, private: bool = False) -> PrimFunc | None:
        """The function; None when mistakes were recorded."""
        before = len(self.reporter.diagnostics)
        self.declarations(node.body)
        self.parameters(node)
        if node.returns is not None:
            self.returns(node.returns)
        span = self.source.name_span(node)
        statements = self.suite(node.body)
        body = statements if _is_rootless(node) else self.rooted(statements, span)
        if any(d.severity == "error" for d in self.reporter.diagnostics[before:]):
            return None
        attrs = self.attrs
        if not private and "global_symbol" not in attrs:
            own = (self.global_vars or {}).get(node.name)
            symbol = node.name if own is None else own.name_hint
            attrs = {"global_symbol": symbol, **attrs}
        params = tuple(self.signature.params)
        buffers = self.signature.buffers
        function = PrimFunc.make(
            params, body, self.ret_type, {p: buffers[p] for p in params if p in buffers},
            Attrs(attrs) if attrs else None, tuple(self.signature.spans), span=span,
        )  # fmt: skip
        if size_when_written(body) > MOST_PARTS:
            message = f"`{node.name}` has more than {MOST_PARTS:,} parts when it is written out"
            help = "bind what it uses again and again to a variable: `v: T.int64 = ...`"
            self.error(node, "RX0104", message, help=help)
            return None
        if not self.check_well_formed:
            return function
        self.check_declared(function)
        self.check_launched(function)
        self.check_memory()
        for doubt in doubtful_blocks(body, self.axis_places, self.says_reads):
            self.report(doubt)
        self.refuse_indices(function)
        return function

    def says_reads(self, block: Block) -> bool:
        """Whether the script says itself what a block reads."""
        return not self.derived.get(block, (False, False))[0]

    def refuse_indices(self, function: PrimFunc) -> None:
        """Report indices that leave their buffers whenever the function is run."""
        for found in refuted_indices(function, self.index_places):
            known = self.reporter.diagnostics
            # What was a warning, since the code might never run, is an error.
            known[:] = [d for d in known if d.span != found.span or d.message != found.message]
            self.report(found)

    def returns(self, node: ast.expr) -> None:
        """The type of what the function returns."""
        try:
            if isinstance(node, ast.Constant) and node.value is None:
                return
            self.ret_type = PrimType.make(self.scalar_type(node).dtype)
        except Failed:
            return

    def check_declared(self, function: PrimFunc) -> None:
        """Every declared variable that is used gets its value from some shape or parameter."""
        if not self.declared and not self.captured:
            return
        free = set(free_vars(function))
        places = {var: var.span for var, _ in self.declared.values()}
        for var, place in {**places, **self.captured}.items():
            if var in free:
                name = var.name
                message = f"`{name}` has no value: no shape gives it one"
                help = f'let it stand alone in a shape: `T.Buffer(("{name}",), ...)`'
                self.report(Diagnostic("RX0109", message, place, help=help))

    # body = { statement }
    def suite(self, body: Sequence[ast.stmt]) -> Stmt:
        """Statements as one; each that fails leaves the names it binds unknown."""
        outer: list[Stmt | Callable[[Stmt], Stmt]] = self.items
        self.items = []
        try:
            self.statements(body)
            self.check_realized()
            return folded(self.items)
        finally:
            self.items = outer

    def statements(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        self.visited.add(node)
        self.reporter.reading = (self.source, node)
        try:
            rule = self._statements.get(type(node))
            if rule is None:
                raise self.unsupported_statement(node)
            rule(node)
        except Failed:
            match node:
                case ast.Assign(targets=targets):
                    for target in targets:
                        self.forget(target)
                case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
                    self.forget(target)

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

    def undefined(self, node: ast.Name) -> Failed:
        if node.id not in self.gone:
            return super().undefined(node)
        return self.error(
            node, "RX0101", f"`{node.id}` is not defined here",
            labels=[(self.gone[node.id], "known only inside the statement around it")],
            help="use it there, or keep the value in a buffer",
        )  # fmt: skip

    def unsupported_statement(self, node: ast.stmt) -> Failed:
        """Record that a statement of Python has no meaning in a PrimFunc."""
        what, help = STATEMENTS.get(type(node), (f"`{type(node).__name__}`", None))
        return self.error(self.head(node), "RX0501", f"{what} is not part of a PrimFunc", help=help)

    def head(self, node: ast.stmt) -> ast.AST:
        """What to underline of a statement: of one with a body, its first line."""
        body = getattr(node, "body", None) or getattr(node, "cases", None)
        if not body:
            return node
        line = self.source.line(node.lineno).rstrip()
        at = ast.copy_location(ast.Pass(), node)
        at.end_lineno, at.end_col_offset = node.lineno, len(line.encode())
        return at

    def nothing(self, node: ast.Pass) -> None:
        """`pass`."""

    # statement = "with" scopes ":" body
    def with_scopes(self, node: ast.With) -> None:
        """Several scopes in one `with` stand inside each other."""
        self.with_scope(node, node.items, node.body)

    def with_scope(
        self, node: ast.With, items: Sequence[ast.withitem], body: Sequence[ast.stmt]
    ) -> None:
        item, rest = items[0], items[1:]
        inner: Sequence[ast.stmt] = body
        if rest:
            inner = [ast.copy_location(ast.With(items=list(rest), body=list(body)), node)]
        single = node if len(items) == 1 and items is node.items else ast.copy_location(
            ast.With(items=[item], body=list(body)), node)  # fmt: skip
        try:
            value = self.value(item.context_expr)
            self.enter(value, single, item, inner)
        except Failed:
            self.after_failure(item, inner)

    def after_failure(self, item: ast.withitem, body: Sequence[ast.stmt]) -> None:
        """The scope is unknown; what is wrong inside it is still told."""
        if body[0] in self.visited:
            return
        outer, self.block = self.block, OpenBlock("unknown")
        with self.scope():
            if item.optional_vars is not None:
                self.forget_all(item.optional_vars)
            self.suite(body)
        self.block = outer

    def enter(
        self, value: Any, node: ast.With, item: ast.withitem, body: Sequence[ast.stmt]
    ) -> None:
        call = item.context_expr
        maker = value.maker if isinstance(value, Form) else None
        scoped = self.scopes.get(maker)
        if scoped is not None and isinstance(value, Form):
            if item.optional_vars is not None:
                self.error(item.optional_vars, "RX0501", f"`{value.name}` gives no value")
            scoped(value, node, body)
        elif maker in LOOPS or maker is tir_forms.grid:
            self.nest(self.loop_ranges(value, call), value, item.optional_vars, node, body)
        elif isinstance(value, (Form, BufferSyntax)):
            self.opened(value, node, item, body)
        else:
            raise self.error(
                call, "RX0501", f"`with` cannot open {describe(value)}",
                help='it opens scopes such as `T.block("name")`, `T.init()` and `T.grid(...)`',
            )  # fmt: skip

    def opened(
        self, value: Any, node: ast.With, item: ast.withitem, body: Sequence[ast.stmt]
    ) -> None:
        """A statement that usually lasts to the end of its suite, with an end of its own."""
        outer, self.items = self.items, []
        try:
            with self.scope():
                if item.optional_vars is not None:
                    self.bind(item.optional_vars, value, item.context_expr, node)
                elif isinstance(value, Form) and value.maker is tir_forms.LetStmt:
                    self.let_of(value, item.context_expr, node)
                else:
                    self.effect(value, item.context_expr)
                    if all(isinstance(made, Stmt) for made in self.items):
                        raise self.error(
                            item.context_expr, "RX0501", f"`{value.name}` opens no scope",
                            help=f"write `{self.written(item.context_expr)}` on its own line",
                        )  # fmt: skip
                self.statements(body)
            made = folded(self.items)
        finally:
            self.items = outer
        self.items.append(made)

    def let_of(self, form: Form, node: ast.expr, statement: ast.stmt) -> None:
        """`with T.LetStmt(value, var=x):` for a variable that was declared before."""
        var = form.arguments["var"]
        if not isinstance(var, prim.Var):
            raise self.error(node, "RX0501", "this variable has no name",
                             help="write `with T.LetStmt(value) as x:`")  # fmt: skip
        value = self.scalar(form.arguments["value"], node)
        self.open_let(var, value, self.span(statement))

    # statement = "return" [scalar]
    def result(self, node: ast.Return) -> None:
        if node.value is None or (
            isinstance(node.value, ast.Constant) and node.value.value is None
        ):
            if self.depth == 0:
                return
            raise self.error(
                node, "RX0105", "a PrimFunc cannot stop in the middle",
                help="put the rest under `if`: it runs only where the condition holds",
            )  # fmt: skip
        value = self.value(node.value)
        if isinstance(value, (tuple, list)):
            raise self.error(
                node.value, "RX0105", "a PrimFunc returns one scalar",
                help="write the others into the elements of a buffer parameter",
            )  # fmt: skip
        if isinstance(value, (Buffer, BufferRegion)):
            raise self.error(
                node.value, "RX0105",
                "a PrimFunc writes into its parameters, it does not return buffers",
                help="add a parameter for the result, and leave `return` out",
            )  # fmt: skip
        if self.ret_type is not None:
            e = self.fitted(
                value, node.value, self.ret_type.dtype, node.value, "the function returns"
            )
        else:
            e = self.scalar(value, node.value)
        call = prim.Call.make(e.dtype, op_named("tir.ret"), (e,), span=self.span(node))
        self.items.append(Evaluate.make(call, span=self.span(node)))


STATEMENTS: dict[type[ast.stmt], tuple[str, str | None]] = {
    ast.FunctionDef: (
        "a function inside a function",
        "define it outside, and call it as `cls.f(...)`",
    ),
    ast.AsyncFunctionDef: ("an async function", None),
    ast.ClassDef: ("a class", None),
    ast.Delete: ("`del`", "names end with the statement around them"),
    ast.AsyncFor: ("`async for`", LOOP_HELP),
    ast.AsyncWith: ("`async with`", None),
    ast.Match: ("`match`", "write `if` and `elif`"),
    ast.Raise: ("`raise`", 'write `assert condition, "message"`'),
    **dict.fromkeys(
        (ast.Try, TRY_STAR),
        ("`try`", 'nothing can be caught; check before: `assert condition, "message"`'),
    ),
    **of_later_pythons(TypeAlias=("`type`", "name a data type outside the function")),
    ast.Import: ("`import`", "import at the top of the file"),
    ast.ImportFrom: ("`import`", "import at the top of the file"),
    ast.Global: ("`global`", "captured Python values can be read without it"),
    ast.Nonlocal: ("`nonlocal`", "captured Python values can be read without it"),
    ast.Break: (
        "`break`",
        "write `while` with the condition to go on, or guard the rest with `if`",
    ),
    ast.Continue: ("`continue`", "guard the rest of the loop with `if`"),
}


def _is_rootless(node: ast.FunctionDef) -> bool:
    """Whether the decorator says `s_tir=False`: the body is as written, with no root block."""
    return any(
        word.arg == "s_tir" and isinstance(word.value, ast.Constant) and word.value.value is False
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call)
        for word in decorator.keywords
    )
