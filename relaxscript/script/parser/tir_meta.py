"""Meta-programming in PrimFuncs: macros are expanded, captured functions join the module.

statement = macro "(" arguments ")"               (the statements of the macro stand in its place)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import Source
from relaxscript.ir import prim
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.tir import Buffer, PrimFunc, SeqStmt, Stmt
from relaxscript.script import tir_forms
from relaxscript.script.tir_types import Form

from .base import Failed, MacroUser, Reporter
from .capture import adopted, adopted_member, macro_of_module
from .context import ModuleContext
from .environment import Environment
from .macro import Macro, Returned, macro_in
from .tir_block import Opener, folded
from .tir_buffer import BUFFER_MAKERS, BufferSyntax
from .tir_call import given
from .tir_function import TirParser
from .tir_scalar import counted

__all__ = ["TirMetaParser"]


class TirMetaParser(MacroUser, TirParser):
    """Parses one PrimFunc, with everything that Python may hold for it."""

    def __init__(
        self, source: Source, environment: Environment, reporter: Reporter,
        module: ModuleContext | None = None,
    ) -> None:  # fmt: skip
        super().__init__(source, environment, reporter)
        self.module = ModuleContext() if module is None else module
        self._as_statement: ast.expr | None = None
        # The buffers of Python objects, by what asked for them (which is kept as long as its id).
        self.held: dict[int, tuple[Form, Buffer]] = {}
        # How deep in loops and branches the macro that is being expanded began.
        self.began = 0
        # Its parameters, as long as they are not bound anew.
        self.given: frozenset[str] = frozenset()
        self._statements[ast.FunctionDef] = self.inner_definition

    # ---- captured functions and modules

    def attribute_of(self, owner: Any, node: ast.Attribute) -> Any:
        if isinstance(owner, IRModule):
            return adopted_member(self, self.module, owner, node.attr, node)
        value = super().attribute_of(owner, node)
        if isinstance(value, Form) and id(value.maker) in BUFFER_MAKERS:
            return self.buffer_held(value, node)
        return value

    def buffer_held(self, form: Form, node: ast.Attribute) -> Any:
        """The buffer that an object of Python asked for; it is made when it is first used."""
        known = self.held.get(id(form))
        if known is None:
            nodes: dict[str, ast.expr] = {
                name: ast.copy_location(ast.Constant(value), node)
                for name, value in form.arguments.items()
                if value is not None
            }
            target = ast.copy_location(ast.Name(node.attr, ast.Store()), node)
            statement = ast.copy_location(ast.Pass(), node)
            buffer = self.bind_buffer(target, BufferSyntax(form.maker, nodes, node), statement)
            known = self.held[id(form)] = (form, buffer)
        return known[1]

    def unpack(
        self, target: ast.expr, targets: Sequence[ast.expr], value: Any, node: ast.expr,
        statement: ast.stmt,
    ) -> None:  # fmt: skip
        parts = _meant(value)
        if parts is value or not isinstance(parts, (tuple, list)):
            super().unpack(target, targets, value, node, statement)
            return
        # Other names of what stands in the tuple, without variables in the program.
        named = [Form(tir_forms.meta_var, value=part) for part in parts]
        super().unpack(target, targets, named, node, statement)

    def function_of_module(self, node: ast.Attribute) -> Any:
        macro = macro_of_module(self.module, node.attr)
        return super().function_of_module(node) if macro is None else macro

    def call_value(self, callee: Any, node: ast.Call) -> Any:
        found = macro_in(callee)
        if found is not None:
            return self.expanded(*found, node)
        if isinstance(callee, PrimFunc):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            callee = adopted(self, self.module, callee, name, node.func)
        if isinstance(callee, GlobalVar) and callee.name_hint in self.module.adopted:
            return self.call_adopted(callee, node)
        return super().call_value(callee, node)

    def call_adopted(self, callee: GlobalVar, node: ast.Call) -> Any:
        """A call of a function that was taken in: its parameters and its result are known."""
        function = self.module.adopted[callee.name_hint]
        written = self.written(node.func)
        if not isinstance(function, PrimFunc):
            raise self.error(node.func, "RX0103", f"`{written}` is no PrimFunc")
        call = self.call_function(callee, node)
        if not isinstance(call, prim.Call) or len(call.args) != len(function.params):
            takes = counted(len(function.params), "argument")
            raise self.error(node, "RX0103", f"`{written}` takes {takes}, {given(node.args)}")
        match function.ret_type:
            case None:
                dtype = DataType("void")
            case prim.PrimType(dtype=returned):
                dtype = returned
            case _:
                dtype = prim.HANDLE
        return prim.Call.make(dtype, callee, call.args, span=call.span)

    def sibling(self, name: str) -> ast.FunctionDef | None:
        return self.module.definitions.get(name)

    # ---- macros

    def inner_definition(self, node: ast.FunctionDef) -> None:
        if not self.defined_macro(node, self.names):
            raise self.unsupported_statement(node)

    def expression(self, node: ast.Expr) -> None:
        self._as_statement = node.value
        super().expression(node)

    def expanded(self, macro: Macro, held: tuple[Any, ...], node: ast.Call) -> None:
        """Put the statements of a macro in the place of a use of it."""
        if macro.kind != "tir_macro":
            raise self.wrong_language(macro, node)
        if node is not self._as_statement:
            raise self.error(
                node, "RX0105", f"the macro `{macro.name}` stands for statements and has no value",
                help=f"write `{self.written(node)}` in a line of its own",
                labels=[(macro.span, "defined here")],
            )  # fmt: skip
        args, kwargs = self.arguments(node)
        args = [*held, *(_meant(value) for value in args)]
        kwargs = {name: _meant(value) for name, value in kwargs.items()}
        self.check_depth(macro, node)
        values = self.bound_arguments(macro, node, args, kwargs)
        self.place(self.statements_of(macro, node, values), node)

    def statements_of(
        self, macro: Macro, node: ast.Call, values: dict[str, Any]
    ) -> list[Stmt | Opener]:
        """The statements that a macro stands for."""
        names = {} if macro.hygienic else self.names
        declared = {} if macro.hygienic else dict(self.declared)
        state = {
            "names": {**names, **values},
            "gone": {},
            "declared": dict(declared),
            "items": [],
            "began": self.depth,
            "given": frozenset(values),
            "_as_statement": None,
        }
        axes = len(self.block.iter_vars)
        follows = bool(self.items)
        before = len(self.reporter.diagnostics)
        with self.inside(macro, node, state):
            with suppress(Returned):
                self.statements(macro.node.body)
            made: list[Stmt | Opener] = self.items
            new = {
                key: known for key, known in self.declared.items() if known not in declared.values()
            }
        for name, known in new.items():
            self.declared[f"{name}'{len(self.declared)}"] = known
        if follows and len(self.block.iter_vars) > axes:
            raise self.error(node, "RX0504", "the axes of a block come before its statements",
                             help="move this line to the beginning of the block")  # fmt: skip
        if any(d.severity == "error" for d in self.reporter.diagnostics[before:]):
            raise Failed
        return made

    def place(self, made: Sequence[Stmt | Opener], node: ast.Call) -> None:
        """Statements of a macro; what they open ends with the macro."""
        if all(isinstance(item, Stmt) for item in made):
            self.items.extend(made)
            return
        whole = folded(made)
        self.items.extend(whole.seq if isinstance(whole, SeqStmt) else [whole])

    def check_rebinding(self, target: ast.Name) -> None:
        if target.id in self.given and self.depth == self.began:
            # A parameter of a macro is a name for its argument until it is another's.
            self.given = self.given - {target.id}
            return
        super().check_rebinding(target)

    def result(self, node: ast.Return) -> None:
        if not self.expanding:
            super().result(node)
            return
        if self.depth != self.began:
            raise self.error(
                node, "RX0105", "a macro cannot stop in the middle of a loop or a branch",
                help="put the rest under `if`: it runs only where the condition holds",
            )  # fmt: skip
        raise Returned(None)


def _meant(value: Any) -> Any:
    """What an argument of a macro is: `T.meta_var(x)` means `x`."""
    if isinstance(value, Form) and value.maker is tir_forms.meta_var:
        return value.arguments["value"]
    return value
