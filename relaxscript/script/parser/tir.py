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

import numpy as np

from relaxscript.errors import Source, Span
from relaxscript.ir import prim, tir
from relaxscript.ir.node import Node
from relaxscript.ir.prim import INT32, PrimExpr, PrimType, const
from relaxscript.ir.relax import Attrs, GlobalVar
from relaxscript.ir.tir import (
    Buffer,
    BufferRegion,
    Evaluate,
    For,
    ForKind,
    IfThenElse,
    PrimFunc,
    Range,
    Stmt,
    While,
)
from relaxscript.ir.walk import free_vars

from .. import tir_forms
from ..tir_forms import Form
from .base import UNKNOWN, Failed, Reporter
from .environment import Environment
from .tir_assign import AssignParser
from .tir_block import OpenBlock, folded
from .tir_scalar import PYTHON_RANGE, describe, extent_between
from .tir_signature import BufferSyntax, Signature

__all__ = ["TirParser", "parse_prim_func"]

LOOPS: dict[Any, str] = {
    tir_forms.serial: ForKind.SERIAL, tir_forms.parallel: ForKind.PARALLEL,
    tir_forms.vectorized: ForKind.VECTORIZED, tir_forms.unroll: ForKind.UNROLLED,
    tir_forms.thread_binding: ForKind.THREAD_BINDING, PYTHON_RANGE: ForKind.SERIAL,
}  # fmt: skip
LOOP_HELP = "loop over `range(n)`, `T.grid(n, m)`, `T.parallel(n)`, `T.vectorized(n)` or `T.unroll(n)`"


def parse_prim_func(
    source: Source, node: ast.FunctionDef, environment: Environment, reporter: Reporter, *,
    private: bool, global_vars: dict[str, GlobalVar] | None, module_name: str = "",
) -> PrimFunc | None:  # fmt: skip
    """The PrimFunc that a definition means; None when mistakes were recorded.

    `global_vars` are the functions of the module around it, `module_name` is its class.
    """
    addressed: set[ast.AST] = set()
    while True:
        before, known = len(reporter.diagnostics), len(addressed)
        parser = TirParser(source, environment, reporter)
        parser.begin(global_vars, module_name, addressed)
        function = parser.prim_func(node, private)
        if any(d.severity == "error" for d in reporter.diagnostics[before:]):
            return None
        if len(addressed) == known:
            return function
        # The address of a buffer was asked for after the buffer was made: once more, with it.
        del reporter.diagnostics[before:]


class TirParser(AssignParser):
    """Parses one PrimFunc; a parser is used once."""

    def __init__(self, source: Source, environment: Environment, reporter: Reporter) -> None:
        super().__init__(source, environment, reporter)
        self.signature = Signature()
        self.fixed = {}
        self.declared = {}
        self.made = {}
        self.items = []
        self.root = self.block = OpenBlock("root")
        self.loops = {}
        self.derived = {}
        self.depth = 0
        self.bound_at = {}
        self.gone: dict[str, Span | None] = {}
        self.attrs: dict[str, Any] = {}
        self.ret_type: PrimType | None = None
        self.begin(None, "", set())
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
        }
        self._scopes: dict[Any, Callable[[Form, ast.With, Sequence[ast.stmt]], None]] = {
            tir_forms.block: self.block_statement,
            tir_forms.init: self.init,
            tir_forms.While: self.while_scope,
            tir_forms.If: self.if_scope,
        }
        self._effects: dict[Any, Callable[[Form, ast.Call], None]] = {
            tir_forms.reads: self.reads,
            tir_forms.writes: self.writes,
            tir_forms.where: self.where,
            tir_forms.block_attr: self.block_attr,
            tir_forms.func_attr: self.func_attr,
            tir_forms.evaluate: self.evaluate,
            tir_forms.buffer_store: self.buffer_store,
            tir_forms.attr: self.attr,
            tir_forms.Assert: self.assert_form,
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
        self.declarations(node.body)
        self.parameters(node)
        if node.returns is not None:
            self.returns(node.returns)
        span = self.source.name_span(node)
        body = self.rooted(self.suite(node.body), span)
        if self.reporter.failed:
            return None
        attrs = self.attrs
        if not private and "global_symbol" not in attrs:
            attrs = {"global_symbol": node.name, **attrs}
        params = tuple(self.signature.params)
        buffers = self.signature.buffers
        function = PrimFunc.make(
            params, body, self.ret_type, {p: buffers[p] for p in params if p in buffers},
            Attrs(attrs) if attrs else None, tuple(self.signature.spans), span=span,
        )  # fmt: skip
        self.check_declared(function)
        return function

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
        if not self.declared:
            return
        free = set(free_vars(function))
        for name, (var, target) in self.declared.items():
            if var in free:
                self.error(
                    target, "RX0109", f"`{name}` has no value: no shape gives it one",
                    help=f'let it stand alone in the shape of a parameter: `T.Buffer(("{name}",), ...)`',
                )  # fmt: skip

    # body = { statement }
    def suite(self, body: Sequence[ast.stmt]) -> Stmt:
        """Statements as one; each that fails leaves the names it binds unknown."""
        outer: list[Stmt | Callable[[Stmt], Stmt]] = self.items
        self.items = []
        try:
            self.statements(body)
            return folded(self.items)
        finally:
            self.items = outer

    def statements(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
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
                if name not in outer and isinstance(value, (prim.Var, Buffer)):
                    self.gone[name] = value.span
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
        body = getattr(node, "body", None)
        if not body:
            return node
        line = self.source.line(node.lineno).rstrip()
        at = ast.copy_location(ast.Pass(), node)
        at.end_lineno, at.end_col_offset = node.lineno, len(line.encode())
        return at

    def nothing(self, node: ast.Pass) -> None:
        """`pass`."""

    # statement = "for" names "in" loops ":" body
    def for_loop(self, node: ast.For) -> None:
        if node.orelse:
            self.error(node.orelse[0], "RX0501", "a loop of a PrimFunc has no `else`",
                       help="put these statements after the loop")  # fmt: skip
        try:
            value: Any = self.value(node.iter)
            loops = self.loop_ranges(value, node.iter)
        except Failed:
            loops = None
        self.nest(loops, value if loops is not None else None, node.target, node)

    def nest(
        self, loops: list[Range] | None, form: Any, target: ast.expr | None,
        node: ast.For | ast.With, body: Sequence[ast.stmt] | None = None,
    ) -> None:  # fmt: skip
        """The loops around a body, outermost first; after a mistake the body is still read."""
        with self.scope():
            try:
                if loops is None:
                    raise Failed
                variables = self.loop_variables(target, loops, node)
                self.bind_steps(form, variables, target)
            except Failed:
                if target is not None:
                    self.forget_all(target)
                variables = None
            inner = self.suite(node.body if body is None else body)
        if variables is None or loops is None:
            return
        kind = LOOPS.get(form.maker, ForKind.SERIAL) if isinstance(form, Form) else ForKind.SERIAL
        annotations, binding = self.loop_extras(form, node)
        span = self.span(node)
        for var, domain in zip(reversed(variables), reversed(loops)):
            inner = For.make(
                var, domain.min, domain.extent, kind, inner, binding, annotations, span=span
            )
        self.items.append(inner)

    def forget_all(self, target: ast.AST) -> None:
        for name in ast.walk(target):
            if isinstance(name, ast.Name):
                self.names[name.id] = UNKNOWN

    def loop_extras(self, form: Any, node: ast.AST) -> tuple[Attrs, tir.IterVar | None]:
        if not isinstance(form, Form):
            return Attrs(), None
        annotations = Attrs(form.arguments.get("annotations") or {})
        if form.maker is not tir_forms.thread_binding:
            return annotations, None
        thread = form.arguments["thread"]
        var = prim.Var.make("", INT32)
        return annotations, tir.IterVar.make(None, var, "ThreadIndex", str(thread))

    def loop_ranges(self, value: Any, node: ast.expr) -> list[Range]:
        """The ranges of what a loop goes over, outermost first."""
        if isinstance(value, range):
            value = PYTHON_RANGE(value.start, value.stop, value.step)
        if not isinstance(value, Form) or not (value.maker in LOOPS or value.maker is tir_forms.grid):
            raise self.error(
                node, "RX0501", f"a loop of a PrimFunc cannot go over {describe(value)}", help=LOOP_HELP
            )
        places = self.loop_places(value, node)
        if value.maker is tir_forms.grid:
            extents = value.arguments["extents"]
            if not extents:
                raise self.error(node, "RX0103", "`T.grid` needs an extent for each loop")
            return [self.loop_range_of(0, e, places.get(f"extents[{i}]", node))
                    for i, e in enumerate(extents)]  # fmt: skip
        if value.maker is tir_forms.thread_binding and not isinstance(value.arguments["thread"], str):
            raise self.error(node, "RX0103", "`T.thread_binding` needs the name of a thread",
                             help='write `thread="threadIdx.x"`')  # fmt: skip
        start, stop = value.arguments["start"], value.arguments["stop"]
        if stop is None:
            start, stop = 0, start
        step = value.arguments.get("step", 1)
        if type(step) is not int or step == 0:
            raise self.error(node, "RX0501", "the step of a loop is a whole number, not zero")
        at = places.get("stop", places.get("start", node))
        whole = self.loop_range_of(start, stop, at, places.get("start", node))
        return [whole if step == 1 else self.stepped(whole, step)]

    def stepped(self, whole: Range, step: int) -> Range:
        """The number of steps; the variable counts them, and the name means `start + i * step`."""
        extent = whole.extent
        dtype = extent.dtype
        if step < 0:
            extent = extent_between(extent, const(0, dtype))
        if isinstance(extent, prim.IntImm):
            count: PrimExpr = const(max(0, -(-extent.value // abs(step))), dtype)
        else:
            count = prim.FloorDiv.make(extent + (abs(step) - 1), const(abs(step), dtype))
        return Range.make(const(0, dtype), count)

    def bind_steps(
        self, form: Any, variables: Sequence[prim.Var], target: ast.expr | None
    ) -> None:
        """After `range(start, stop, step)` the name means the value of each step."""
        step, start = 1, 0
        if isinstance(form, range):
            start, step = form.start, form.step
        elif isinstance(form, Form) and form.maker is PYTHON_RANGE:
            step = form.arguments["step"]
            start = form.arguments["start"] if form.arguments["stop"] is not None else 0
        if step != 1 and isinstance(target, ast.Name):
            self.names[target.id] = variables[0] * step + start

    def loop_places(self, form: Form, node: ast.expr) -> dict[str, ast.AST]:
        if not isinstance(node, ast.Call) or form.maker is PYTHON_RANGE:
            names = ("start", "stop", "step")
            return dict(zip(names, node.args)) if isinstance(node, ast.Call) else {}
        places = self.argument_nodes(form.maker, node)
        places.update({k.removeprefix("operand "): v for k, v in places.items()})
        return places

    def loop_range_of(
        self, start: Any, stop: Any, node: ast.AST, start_node: ast.AST | None = None
    ) -> Range:
        """One range; plain numbers take the data type of the other bound, else int32."""
        bounds: list[Any] = []
        for value, at in ((start, start_node or node), (stop, node)):
            if type(value) is not int:
                value = self.scalar(value, at)
                if not value.dtype.is_integer:
                    raise self.error(at, "RX0501", "a loop counts with integers",
                                     labels=[(at, f"is {value.dtype}")])  # fmt: skip
            bounds.append(value)
        if all(type(v) is int for v in bounds):
            low, high = (self.immediate(v, INT32 if -(1 << 31) <= v < 1 << 31 else prim.INT64, node)
                         for v in bounds)  # fmt: skip
            bounds = [low, high]
        low, high = prim.match_dtypes(*bounds)
        if isinstance(low, prim.IntImm) and low.value == 0 and isinstance(high, PrimExpr):
            return Range.make(low, high)
        return Range.make(low, extent_between(low, high))

    def loop_variables(
        self, target: ast.expr | None, loops: Sequence[Range], node: ast.AST
    ) -> list[prim.Var]:
        """The variables of loops; one name for several loops is a Python tuple of them."""
        match target:
            case ast.Name(id=name) if len(loops) == 1:
                names = [(name, target)]
            case ast.Name(id=name):
                variables = [self.loop_variable(f"{name}_{i}", target, r) for i, r in enumerate(loops)]
                self.names[name] = tuple(variables)
                return variables
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for element in elements:
                    if not isinstance(element, ast.Name):
                        raise self.error(element, "RX0501", "a loop variable is a name")
                names = [(e.id, e) for e in elements if isinstance(e, ast.Name)]
            case None:
                return [self.loop_variable("i", node, r) for r in loops]
            case _:
                raise self.error(target, "RX0501", "a loop variable is a name")
        if len(names) != len(loops):
            raise self.error(
                target, "RX0501",
                f"{len(loops)} loop{'s' * (len(loops) != 1)} cannot be given to {len(names)} "
                f"name{'s' * (len(names) != 1)}",
            )  # fmt: skip
        found = []
        for (name, at), domain in zip(names, loops):
            var = self.loop_variable(name, at, domain)
            self.names[name] = var
            found.append(var)
        return found

    def loop_variable(self, name: str, node: ast.AST, domain: Range) -> prim.Var:
        var = prim.Var.make(name, domain.extent.dtype, span=self.span(node))
        self.loops[var] = domain
        self.fixed[var] = "a loop variable"
        return var

    # statement = "while" scalar ":" body
    def while_loop(self, node: ast.While) -> None:
        if node.orelse:
            self.error(node.orelse[0], "RX0501", "a loop of a PrimFunc has no `else`",
                       help="put these statements after the loop")  # fmt: skip
        condition = self.checked_condition(node.test)
        with self.scope():
            body = self.suite(node.body)
        if condition is not None:
            self.items.append(While.make(condition, body, span=self.span(node)))

    def checked_condition(self, node: ast.expr) -> PrimExpr | None:
        """A condition, or None after a mistake in it: what depends on it is read all the same."""
        try:
            value = self.value(node)
            return self.condition(bool(value) if type(value) is int else value, node)
        except Failed:
            return None

    def while_scope(self, form: Form, node: ast.With, body: Sequence[ast.stmt]) -> None:
        call = node.items[0].context_expr
        condition = self.condition(form.arguments["condition"], call)
        with self.scope():
            inner = self.suite(body)
        self.items.append(While.make(condition, inner, span=self.span(node)))

    # statement = "if" scalar ":" body { "elif" scalar ":" body } ["else" ":" body]
    def branch(self, node: ast.If) -> None:
        """`elif` chains are walked in a loop, since they are as long as people write them."""
        cases: list[tuple[PrimExpr | None, Stmt, ast.If]] = []
        step: ast.If = node
        while True:
            try:
                test: Any = self.value(step.test)
            except Failed:
                test = UNKNOWN
            if test is not UNKNOWN and not isinstance(test, (Node, np.generic)):
                # Python's own `if`, decided while parsing.
                chosen = step.body if test else step.orelse
                if not cases:
                    self.statements(chosen)
                    return
                otherwise = self.inner(chosen) if chosen else None
                break
            condition = None if test is UNKNOWN else self.quietly(test, step.test)
            cases.append((condition, self.inner(step.body), step))
            if len(step.orelse) == 1 and isinstance(step.orelse[0], ast.If):
                step = step.orelse[0]
                continue
            otherwise = self.inner(step.orelse) if step.orelse else None
            break
        for condition, body, at in reversed(cases):
            if condition is None:
                raise Failed
            otherwise = IfThenElse.make(condition, body, otherwise, span=self.span(at))
        if otherwise is not None:
            self.items.append(otherwise)

    def quietly(self, value: Any, node: ast.expr) -> PrimExpr | None:
        try:
            return self.condition(value, node)
        except Failed:
            return None

    def inner(self, body: Sequence[ast.stmt]) -> Stmt:
        with self.scope():
            return self.suite(body)

    def if_scope(self, form: Form, node: ast.With, body: Sequence[ast.stmt]) -> None:
        """`with T.If(c):` holds `with T.Then():` and perhaps `with T.Else():`."""
        condition = self.condition(form.arguments["condition"], node.items[0].context_expr)
        parts: dict[Any, Stmt] = {}
        for part in body:
            made = None
            if isinstance(part, ast.With) and len(part.items) == 1:
                made = self.value(part.items[0].context_expr)
            if not isinstance(made, Form) or made.maker not in (tir_forms.Then, tir_forms.Else):
                raise self.error(
                    self.head(part), "RX0501", "`T.If` holds `T.Then` and `T.Else`, and nothing else",
                    help="write `with T.Then():`",
                )  # fmt: skip
            parts[made.maker] = self.inner(part.body)  # type: ignore[attr-defined]
        if tir_forms.Then not in parts:
            raise self.error(self.head(node), "RX0501", "`T.If` needs `with T.Then():`")
        self.items.append(IfThenElse.make(
            condition, parts[tir_forms.Then], parts.get(tir_forms.Else), span=self.span(node)
        ))  # fmt: skip

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
        if getattr(item, "was_read", False):
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
        scoped = self._scopes.get(maker)
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
                help='it opens `T.block("name")`, `T.init()`, `T.grid(...)` and other scopes of `T`',
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

    # statement = scalar | "T.evaluate(...)" | ...
    def expression(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, (str, type(...))):
            return
        self.effect(self.value(node.value), node.value)

    def effect(self, value: Any, node: ast.expr) -> None:
        """A statement that is an expression."""
        match value:
            case None:
                return
            case Form() if value.maker in self._effects and isinstance(node, ast.Call):
                self._effects[value.maker](value, node)
            case bool() | int() | float() | prim.PrimExpr():
                self.items.append(Evaluate.make(self.scalar(value, node), span=self.span(node)))
            case Form() if value.maker in self._scopes:
                raise self.error(node, "RX0501", f"`{value.name}` opens a scope",
                                 help=f"write `with {self.written(node)}:`")  # fmt: skip
            case Form() | BufferSyntax():
                name = f"`{value.name}`" if isinstance(value, Form) else "a buffer"
                raise self.error(node, "RX0501", f"{name} needs a name here",
                                 help=f"write `x = {self.written(node)}`")  # fmt: skip
            case _:
                raise self.error(node, "RX0501", f"{describe(value)} does nothing by itself",
                                 help="a statement stores, loops, or calls something")  # fmt: skip

    def func_attr(self, form: Form, call: ast.Call) -> None:
        self.attrs.update(self.attributes(form.arguments["attrs"], call))

    def evaluate(self, form: Form, call: ast.Call) -> None:
        value = form.arguments["value"]
        self.items.append(Evaluate.make(self.scalar(value, call.args[0]), span=self.span(call)))

    def buffer_store(self, form: Form, call: ast.Call) -> None:
        places = self.argument_nodes(form.maker, call)
        buffer, indices = form.arguments["buffer"], form.arguments["indices"]
        if not isinstance(buffer, Buffer):
            raise self.error(places["buffer"], "RX0501", f"this is {describe(buffer)}, not a buffer")
        given = list(indices) if isinstance(indices, (list, tuple)) else [indices]
        at = places["indices"]
        nodes = list(at.elts) if isinstance(at, (ast.List, ast.Tuple)) else [at] * len(given)
        if len(given) != buffer.ndim:
            raise self.error(at, "RX0503", f"`{buffer.name}` takes {buffer.ndim} indices, not {len(given)}")
        found = self.indices(buffer, given, nodes)
        before = len(self.items)
        self.add_store(buffer, found, form.arguments["value"], places["value"], places["buffer"], call)
        predicate = form.arguments["predicate"]
        if predicate is not None:
            made = self.items[before]
            condition = self.scalar(predicate, places["predicate"])
            self.items[before] = made.replace(predicate=condition)  # type: ignore[union-attr]

    def attr(self, form: Form, call: ast.Call) -> None:
        """A hint about the statements after it."""
        places = self.argument_nodes(form.maker, call)
        key = form.arguments["attr_key"]
        if not isinstance(key, str):
            raise self.error(places["attr_key"], "RX0103", "the name of a hint is a text")
        value = self.scalar(form.arguments["value"], places["value"])
        node = self.attr_node(form.arguments["node"], places["node"])
        span = self.span(call)
        self.items.append(lambda body: tir.AttrStmt.make(node, key, value, body, span=span))

    def attr_node(self, value: Any, node: ast.AST) -> Any:
        if not isinstance(value, Form):
            return self.scalar(value, node) if isinstance(value, (bool, int, float)) else value
        v, dom = value.arguments.get("v"), value.arguments.get("dom")
        if value.maker is not tir_forms.iter_var or not isinstance(v, prim.Var):
            raise self.error(node, "RX0501", f"a hint cannot be about {describe(value)}")
        domain = None if dom is None else self.loop_range_of(*self.domain_bounds(dom, node), node)
        return tir.IterVar.make(domain, v, value.arguments["iter_type"], value.arguments["thread_tag"])

    # statement = "assert" scalar ["," text]
    def assertion(self, node: ast.Assert) -> None:
        condition = self.checked_condition(node.test)
        message: Any = "" if node.msg is None else self.value(node.msg)
        if condition is not None:
            self.add_assertion(condition, message, node.msg or node, self.span(node))

    def assert_form(self, form: Form, call: ast.Call) -> None:
        places = self.argument_nodes(form.maker, call)
        condition = self.condition(form.arguments["condition"], places["condition"])
        self.add_assertion(condition, form.arguments["message"], places["message"], self.span(call))

    def add_assertion(
        self, condition: PrimExpr, message: Any, node: ast.AST, span: Span | None
    ) -> None:
        if not isinstance(message, (str, prim.StringImm)):
            raise self.error(node, "RX0501", f"the message of an assertion is a text, this is {describe(message)}")
        text = prim.StringImm.make(message) if isinstance(message, str) else message
        self.items.append(lambda body: tir.AssertStmt.make(condition, text, body, span=span))

    # statement = "return" [scalar]
    def result(self, node: ast.Return) -> None:
        if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
            if self.depth == 0:
                return
            raise self.error(
                node, "RX0105", "a PrimFunc cannot stop in the middle",
                help="put the rest under `if`: it runs only where the condition holds",
            )  # fmt: skip
        value = self.value(node.value)
        if isinstance(value, (Buffer, BufferRegion)):
            raise self.error(
                node.value, "RX0105", "a PrimFunc does not return buffers, it writes into its parameters",
                help="add a parameter for the result, and leave `return` out",
            )  # fmt: skip
        if self.ret_type is not None:
            e = self.fitted(value, node.value, self.ret_type.dtype, node.value, "the function returns")
        else:
            e = self.scalar(value, node.value)
        call = prim.Call.make(e.dtype, "tir.ret", (e,), span=self.span(node))
        self.items.append(Evaluate.make(call, span=self.span(node)))


STATEMENTS: dict[type[ast.stmt], tuple[str, str | None]] = {
    ast.FunctionDef: ("a function inside a function", "define it outside, and call it as `cls.f(...)`"),
    ast.AsyncFunctionDef: ("an async function", None),
    ast.ClassDef: ("a class", None),
    ast.Delete: ("`del`", "names end with the statement around them"),
    ast.AsyncFor: ("`async for`", LOOP_HELP),
    ast.AsyncWith: ("`async with`", None),
    ast.Match: ("`match`", "write `if` and `elif`"),
    ast.Raise: ("`raise`", 'write `assert condition, "message"`'),
    ast.Try: ("`try`", 'nothing can be caught; check before: `assert condition, "message"`'),
    ast.Import: ("`import`", "import at the top of the file"),
    ast.ImportFrom: ("`import`", "import at the top of the file"),
    ast.Global: ("`global`", "captured Python values can be read without it"),
    ast.Nonlocal: ("`nonlocal`", "captured Python values can be read without it"),
    ast.Break: ("`break`", "write `while` with the condition to go on, or guard the rest with `if`"),
    ast.Continue: ("`continue`", "guard the rest of the loop with `if`"),
}
