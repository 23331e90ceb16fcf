"""The rules of the parser of PrimFuncs, for statements that Python makes one by one.

A statement comes as a `Form` that holds values, and all its places are the line of the caller. So
frames mean exactly what scripts mean, and refuse what scripts refuse.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain, count
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import DiagnosticError, InternalError, Source, Span, warn
from relaxscript.errors.caller import caller_span
from relaxscript.ir import prim
from relaxscript.ir.relax import Attrs
from relaxscript.ir.tir import Buffer, PrimFunc, Stmt, handle_var
from relaxscript.script.parser.base import Failed, Reporter
from relaxscript.script.parser.environment import Environment
from relaxscript.script.parser.tir_block import Opener, folded
from relaxscript.script.parser.tir_buffer import BUFFER_MAKERS, BufferSyntax
from relaxscript.script.parser.tir_function import TirParser
from relaxscript.script.parser.tir_scalar import describe
from relaxscript.script.parser.tir_signature import PARAMETER_HELP
from relaxscript.script.tir_types import BufferFront, Form, ScalarType

__all__ = ["TirWriter"]


class _CallerSource(Source):
    """Whatever is blamed is the call that the user's Python is in."""

    __slots__ = ("place",)

    def __init__(self) -> None:
        super().__init__("<caller>", "")
        self.place: Span | None = None

    def span(self, node: ast.AST) -> Span:
        if self.place is None:
            self.place = caller_span()
        if self.place is None:
            raise InternalError("no caller can be blamed")
        return self.place

    name_span = span


class TirWriter(TirParser):
    """Writes one PrimFunc, or statements outside of any."""

    def __init__(self) -> None:
        self.place = _CallerSource()
        super().__init__(self.place, Environment([], "python"), Reporter())

    @contextmanager
    def told(self) -> Iterator[None]:
        """Mistakes inside are raised at its end, at the line of the caller."""
        self.place.place = None
        with suppress(Failed):
            yield
        # The texts that a fix would replace are places that no statement has of its own.
        self.reporter.diagnostics = [replace(d, fix=()) for d in self.reporter.diagnostics]
        finished, self.reporter = self.reporter, Reporter()
        try:
            for warning in finished.finish():
                warn(warning)
        except DiagnosticError as error:
            raise error.with_traceback(None) from None

    def mismatch(
        self, node: ast.AST, fact: str, wanted: DataType, place: ast.AST, verb: str,
        instead: str | None,
    ) -> Failed:  # fmt: skip
        help = f'convert it: `T.cast(value, "{wanted}")`'
        return self.error(node, "RX0502", f"the value {fact}, not {wanted}", help=help)

    def node(self, form: Form) -> ast.Call:
        """What stands for a statement where the rules ask for syntax."""
        return ast.Call(ast.Name(form.name), [], [])

    def effect_of(self, form: Form) -> None:
        """A statement that is a call."""
        with self.told():
            self.effects[form.maker](form, self.node(form))

    def syntax(self, form: Form) -> BufferSyntax:
        """The syntax of a buffer whose arguments are values."""
        nodes: dict[str, ast.expr] = {
            name: ast.Constant(value) for name, value in form.arguments.items() if value is not None
        }
        return BufferSyntax(form.maker, nodes, ast.Constant(None))

    def buffer_of(self, form: Form, name: str) -> Buffer:
        """The buffer that a statement of the body makes."""
        found: list[Buffer] = []
        with self.told():
            target = ast.Name(name)
            found.append(self.bind_buffer(target, self.syntax(form), ast.Pass()))
        return found[0]

    def thread_of(self, form: Form) -> prim.Var:
        """The variable of a thread that is launched later."""
        found: prim.Var = self.value_of(
            lambda: self.env_thread(ast.Name("thread"), form, self.node(form))
        )
        return found

    def argument(self, name: str, value: Any) -> Any:
        """A parameter: its variable, or its buffer."""
        with self.told():
            self.add_argument(name, value)
        return self.names[name]

    def add_argument(self, name: str, value: Any) -> None:
        at = ast.arg(name)
        if name in self.names:
            raise self.error(at, "RX0302", f"two parameters are called `{name}`",
                             help="rename one of them")  # fmt: skip
        if isinstance(value, Buffer):
            var = handle_var(f"{name}_handle")
            self.names[name] = self.signature.buffers[var] = value
            object.__setattr__(value, "name", name)
            self.signature.params.append(var)
            self.signature.spans.append(self.span(at))
            return
        if isinstance(value, Form) and isinstance(value.maker, BufferFront):
            found: Any = self.captured_syntax(value, ast.Constant(None))
        elif isinstance(value, Form) and id(value.maker) in BUFFER_MAKERS:
            found = self.syntax(value)
        elif isinstance(value, (ScalarType, prim.Var)):
            found = self.parameter_type(value, ast.Constant(None))
        else:
            raise self.error(
                at, "RX0108", f"{describe(value)} is not the type of a parameter",
                help=PARAMETER_HELP,
            )  # fmt: skip
        scalar = None
        if isinstance(found, BufferSyntax):
            self.introduce_dimensions(found)
        if isinstance(found, (ScalarType, prim.Var)):
            scalar = self.scalar_parameter(at, found)
        self.parameter(at, found, scalar)

    def finished(self, name: str, private: bool, body: Stmt) -> PrimFunc:
        """The PrimFunc, with the block around its body that it needs."""
        attrs = dict(self.attrs)
        if name and not private:
            attrs = {"global_symbol": name, **attrs}
        params, buffers = tuple(self.signature.params), self.signature.buffers
        return PrimFunc.make(
            params, self.rooted(body, None), self.ret_type,
            {p: buffers[p] for p in params if p in buffers}, Attrs(attrs) if attrs else None,
            tuple(self.signature.spans),
        )  # fmt: skip

    # ---- what frames begin and end

    def begin_items(self) -> list[Stmt | Opener]:
        """Start collecting statements; `end_items` takes what this gives."""
        outer: list[Stmt | Opener] = self.items
        self.items = []
        self.depth += 1
        return outer

    def end_items(self, outer: list[Stmt | Opener]) -> Stmt:
        """The statements that were collected, as one."""
        made = folded(self.items)
        self.items = outer
        self.depth -= 1
        return made

    def add(self, statement: Stmt) -> None:
        """One statement more."""
        self.items.append(statement)

    def axis_of(self, form: Form) -> Any:
        """The variables of axes; a single one stands for itself."""
        given = form.arguments.get("bindings", [form.arguments.get("binding")])
        several = given if isinstance(given, (list, tuple)) else [given]
        names: list[str] = []
        for value in several:
            names.append(self.free_name(f"v{_name(value)}", names))
        found: list[prim.Var] = []
        with self.told():
            found = self.axes(form, names, self.node(form))
        return found[0] if len(found) == 1 else found

    def free_name(self, wish: str, taken: list[str]) -> str:
        """A name for an axis that no axis of the block has."""
        known = {axis.var.name for axis in self.block.iter_vars} | set(taken)
        numbered = (f"{wish}_{i}" for i in count(1))
        return next(name for name in chain([wish], numbered) if name not in known)

    def scalar(self, value: Any, node: ast.AST) -> prim.PrimExpr:
        """A scalar; a variable without a name, as of `T.int32()`, stands for itself."""
        if isinstance(value, prim.Var) and not value.name:
            return value
        return super().scalar(value, node)

    def value_of(self, rule: Callable[[], Any]) -> Any:
        """What a rule of the parser gives; its mistakes are raised."""
        found: list[Any] = []
        with self.told():
            found.append(rule())
        return found[0]


def _name(value: Any) -> str:
    return value.name if isinstance(value, prim.Var) else ""
