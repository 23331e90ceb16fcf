"""Meta-programming in Relax functions: macros are expanded, captured functions join the module.

value = expression of a macro's `return`          (what the macro binds is bound in its place)
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from relaxscript.errors import Label, OperandError
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    Call,
    Expr,
    Function,
    GlobalVar,
    LeafExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.tir import PrimFunc
from relaxscript.script.relax_forms import dataflow

from .assigned import last_targets
from .base import UNKNOWN, Failed, is_safe
from .capture import adopted, adopted_member, macro_of_module
from .context import ModuleName
from .finding import definition_place
from .handmade import is_handmade, placed
from .macro import Macro, MacroUser, Returned, macro_in
from .relax_function import RelaxParser
from .relax_signature import Header

__all__ = ["RelaxMetaParser"]


class RelaxMetaParser(MacroUser, RelaxParser):
    """Parses one Relax function, with everything that Python may hold for it."""

    # The function in which the macro that is being expanded is used.
    expanded_in: Header | None = None
    # Whether the function may hold nodes that the parser did not make.
    holds_handmade = False

    def call_value(self, callee: Any, node: ast.Call) -> Any:
        found = macro_in(callee)
        if found is not None:
            return self.expanded(*found, node)
        return super().call_value(callee, node)

    # ---- captured functions and modules

    def find_name(self, node: ast.Name) -> Any:
        if node.id in self.module.global_vars and not self.is_named_here(node.id):
            # A plain name in a method is no member of the class: here it is captured, as in Python.
            try:
                found = self.environment.lookup(node.id)
            except KeyError:
                found = None
            if isinstance(found, (Function, PrimFunc)):
                return self.taken_in(found, node.id, node)
        return self.taken_in(super().find_name(node), node.id, node)

    def is_named_here(self, name: str) -> bool:
        """Whether a name means something of this function, if only something that is gone."""
        return any(name in known for known in (self.dims, self.lost, self.hidden, self.undeclared))

    def attribute_of(self, owner: Any, node: ast.Attribute) -> Any:
        match owner:
            case ModuleName():
                macro = macro_of_module(self.module, node.attr)
                return super().attribute_of(owner, node) if macro is None else macro
            case IRModule():
                return self.known_here(adopted_member(self, self.module, owner, node.attr, node))
        return self.taken_in(super().attribute_of(owner, node), node.attr, node)

    def subscript_of(self, owner: Any, index: Any, node: ast.Subscript) -> Any:
        if isinstance(owner, IRModule):
            name = index.name_hint if isinstance(index, GlobalVar) else str(index)
            return self.known_here(adopted_member(self, self.module, owner, name, node))
        return self.taken_in(super().subscript_of(owner, index, node), "", node)

    def taken_in(self, value: Any, name: str, node: ast.expr) -> Any:
        """A function that Python holds becomes one of the module, under its name."""
        if isinstance(value, (Function, PrimFunc)):
            return self.known_here(adopted(self, self.module, value, name, node))
        if isinstance(value, Var) and not self.builder.is_visible(value):
            raise self.error(
                node, "RX0101", f"`{value.name_hint}` is a variable of another function",
                help="give it to this function as a parameter",
            )  # fmt: skip
        if not is_handmade(value):
            return value
        self.holds_handmade = True
        return placed(value, self.span(node))

    def bind(
        self, target: ast.Name, value: Any, node: ast.expr, annotation: StructInfo | None = None,
        annotation_node: ast.expr | None = None,
    ) -> None:  # fmt: skip
        # Another name for a PrimFunc is no value of the program: it is called by `R.call_tir` only.
        if isinstance(value, GlobalVar) and annotation is None and isinstance(
            self.module.adopted.get(value.name_hint), PrimFunc
        ):  # fmt: skip
            self.bind_name(target.id, value)
            return
        super().bind(target, value, node, annotation, annotation_node)

    def known_here(self, var: GlobalVar) -> GlobalVar:
        """The function of the module; its type is known from here on."""
        signature = self.module.signatures.get(var.name_hint)
        if signature is not None:
            self.builder.signatures[var.name_hint] = signature
        return var

    def call_python(self, callee: Any, node: ast.Call) -> Any:
        """A function of Python; what it makes of values of the program is typed at once."""
        result = super().call_python(callee, node)
        if is_handmade(result) and not is_safe(callee):
            self.holds_handmade = True
            result = placed(result, self.span(node))
        if not isinstance(result, (Call, TupleGetItem)) or not self.builder.has_open_scope:
            return result
        try:
            expr = self.builder.normal(result)
            self.builder.struct_info(expr)
        except OperandError as error:
            # Its operands have no places in the script: the call has, and the function.
            operator = self._operator_of(result)
            name = ast.unparse(node.func) if operator is None else f"R.{operator.script_name}"
            span = self.span(node)
            diagnostic = error.diagnostic(error.callee or name, span, {})
            labels = [
                Label(at, f"`{error.operand}` {text}" if at == span else text)
                for at, text in diagnostic.labels
            ]
            place = definition_place(callee)
            if place is not None:
                labels.append(Label(place, f"`{callee.__name__}` is defined here"))
            raise self.report(replace(diagnostic, labels=tuple(labels), fix=())) from None
        finally:
            self.note_obligations(node, callee=callee)
        return expr

    # ---- macros

    def expanded(self, macro: Macro, given: tuple[Any, ...], node: ast.Call) -> Any:
        """The value of a use of a macro; what it binds is bound here."""
        if macro.kind != "relax_macro":
            raise self.wrong_language(macro, node)
        args = [*given, *(self._argument(v, n) for v, n in self._placed(
            self.call_operands(node.args), node))]  # fmt: skip
        kwargs: dict[str, Any] = {}
        for keyword in node.keywords:
            kwargs.update(self._keyword(keyword))
        kwargs = {name: self._argument(value, node) for name, value in kwargs.items()}
        self.check_depth(macro, node)
        values = self.bound_arguments(macro, node, args, kwargs)
        with self.inside(macro, node, self.state_of(macro, values)):
            try:
                self.statements(macro.node.body)
            except Returned as returned:
                return returned.value
            if self.returned:  # and the value failed
                raise Failed
            raise self.error_at(
                macro.span, "RX0105", f"the macro `{macro.name}` ended without `return`",
                "every way through it ends with `return ...`",
            )  # fmt: skip

    def state_of(self, macro: Macro, values: dict[str, Any]) -> dict[str, Any]:
        """What the parser knows in a macro: of names around its use only if it is not hygienic."""
        fresh: dict[str, Any] = {"dims": {}, "lost": {}, "hidden": set(), "undeclared": {}}
        outer: dict[str, Any] = {name: getattr(self, name).copy() for name in fresh}
        names = {} if macro.hygienic else self.names
        return {
            **(fresh if macro.hygienic else outer),
            "names": {**names, **values},
            "expanded_in": self.declared,
            "scopes": [[]],
            "outputs": set(),
            "leaving": set(),
            "returned": False,
            "last_bound": "",
            "introduces": False,
            "binding": 0,
        }

    def result(self, node: ast.Return, value: ast.expr | None) -> None:
        if not self.expanding or self.declared is not self.expanded_in:
            # What a function inside a macro returns is its own.
            super().result(node, value)
            return
        if len(self.scopes) > 1:
            inside = self.builder.current_block_is_dataflow()
            raise self.error(
                node, "RX0105",
                f"`return` cannot stand in {'a dataflow block' if inside else 'a branch'}"
                " of a macro",
                help="close the block with `R.output(...)`, then return" if inside
                else "bind the value in both branches, and return it after the `if`",
            )  # fmt: skip
        self.returned = True
        raise Returned(None if value is None else self.returned_value(value))

    def returned_value(self, node: ast.expr) -> Any:
        """What a macro returns: typed here, so that its mistakes are found here."""
        found = self.value(node)
        if isinstance(found, (tuple, list)):
            return type(found)(self.settled(part, node) for part in found)
        if not isinstance(found, Expr) or (
            isinstance(found, LeafExpr) and not isinstance(found, Tuple)
        ):
            return found
        try:
            expr = self.builder.normal(found)
            self.builder.struct_info(expr)
        except OperandError as error:
            raise self.operand_error(error, node, found) from None
        finally:
            self.note_obligations(node, value=found)
        return expr

    def local_function(self, node: ast.FunctionDef) -> None:
        if not self.defined_macro(node, self.names, self.dims):
            super().local_function(node)

    def with_block(self, node: ast.With, block: ast.expr, name: ast.expr | None) -> None:
        # A macro that is used in a dataflow block has no block of its own: it is part of this one.
        if (
            self.expanding
            and len(self.scopes) == 1
            and self.builder.current_block_is_dataflow()
            and isinstance(block, ast.Call)
            and self.value(block.func) is dataflow
        ):
            self.merged_block(node)
            return
        super().with_block(node, block, name)

    def merged_block(self, node: ast.With) -> None:
        """The statements of a dataflow block, in the one that is open."""
        body, output = self.split_output(node.body)
        names = self.output_names(output, body, last_targets(body))
        with self.scope():
            self.statements(body)
            kept = {name: self.names.get(name, UNKNOWN) for name in names}
        for name, value in kept.items():
            self.bind_name(name, value)
