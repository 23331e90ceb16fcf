"""The parser of PrimFuncs as methods over what all languages share.

Each method is the function of the same task in `expression.py`, `python_call.py`, `naming.py`,
`misfits.py` or `macro.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from inspect import Signature
from types import ModuleType
from typing import Any

from relaxscript.errors import Source, Span

from . import expression, macro, misfits, naming, python_call
from .blame import UNKNOWN, Failed
from .environment import Environment
from .macro import Macro
from .python_language import PYTHON
from .reporter import Reporter
from .script_context import ScriptContext

__all__ = ["UNKNOWN", "ExpressionParser", "Failed", "MacroUser", "Reporter"]

_BY_METHODS = replace(
    PYTHON,
    rules={
        **PYTHON.rules,
        ast.Compare: lambda cx, node: cx.comparison(node),
        ast.BoolOp: lambda cx, node: cx.boolean(node),
        ast.IfExp: lambda cx, node: cx.conditional(node),
        ast.Subscript: lambda cx, node: cx.subscript(node),
        ast.ListComp: lambda cx, node: cx.list_comprehension(node),
        ast.GeneratorExp: lambda cx, node: cx.list_comprehension(node),
        ast.SetComp: lambda cx, node: cx.set_comprehension(node),
        ast.DictComp: lambda cx, node: cx.dict_comprehension(node),
        ast.Lambda: lambda cx, node: cx.local_function(node),
    },
    find_name=lambda cx, node: cx.find_name(node),
    undefined=lambda cx, node: cx.undefined(node),
    attribute_of=lambda cx, owner, node: cx.attribute_of(owner, node),
    subscript_of=lambda cx, owner, index, node: cx.subscript_of(owner, index, node),
    call_value=lambda cx, callee, node: cx.call_value(callee, node),
    operate=lambda cx, symbol, operands, node: cx.operate(symbol, operands, node),
    namespaces="TIR",
    help_of_f_string="a text is made while the program is read: leave the value out",
)


class ExpressionParser(ScriptContext):
    """Evaluates Python expressions of a PrimFunc to values."""

    def __init__(self, source: Source, environment: Environment, reporter: Reporter) -> None:
        super().__init__(source, environment, reporter, _BY_METHODS)

    def value(self, node: ast.AST) -> Any:
        return expression.parse_expr(self, node)

    def values(self, nodes: Sequence[ast.expr]) -> list[Any]:
        return expression.parse_exprs(self, nodes)

    def name(self, node: ast.Name) -> Any:
        return expression.parse_name(self, node)

    def host_iterable(self, node: ast.expr, use: str = "unpacked with `*`") -> list[Any]:
        return expression.parse_iterable(self, node, use)

    def find_name(self, node: ast.Name) -> Any:
        return expression.captured_name(self, node)

    def undefined(self, node: ast.Name) -> Failed:
        return naming.undefined(self, node)

    def member_named(self, node: ast.Name) -> str | None:
        return naming.member_named(self, node)

    def namespace_member(self, namespace: ModuleType, node: ast.Attribute) -> Any:
        return naming.namespace_member(self, namespace, node)

    def attribute_of(self, owner: Any, node: ast.Attribute) -> Any:
        return expression.python_attribute(self, owner, node)

    def call(self, node: ast.Call) -> Any:
        return python_call.parse_call(self, node)

    def call_value(self, callee: Any, node: ast.Call) -> Any:
        return self.call_python(callee, node)

    def call_python(self, callee: Any, node: ast.Call) -> Any:
        return python_call.call_python(self, callee, node)

    def arguments(self, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
        return python_call.parse_arguments(self, node)

    def add_attributes(
        self, known: MutableMapping[str, Any], found: Mapping[str, Any], node: ast.AST
    ) -> None:
        expression.add_attributes(self, known, found, node)

    def operate(self, symbol: str, operands: tuple[Any, ...], node: ast.expr) -> Any:
        return expression.python_operation(self, symbol, operands, node)

    def comparison(self, node: ast.Compare) -> Any:
        return expression.parse_comparison(self, node)

    def subscript(self, node: ast.Subscript) -> Any:
        owner = self.value(node.value)
        try:
            index = self.value(node.slice)
        except Failed:
            self.check_number_of_indices(owner, node)
            raise
        return self.subscript_of(owner, index, node)

    def check_number_of_indices(self, owner: Any, node: ast.Subscript) -> None:
        """Refuse more or fewer indices than `owner` takes, where these are not all known."""

    def subscript_of(self, owner: Any, index: Any, node: ast.Subscript) -> Any:
        return expression.python_item(self, owner, index, node)

    def misfit_of(
        self, signature: Signature, node: ast.Call, count: int, kwargs: Mapping[str, Any],
        defined: Span | None = None,
    ) -> Failed:  # fmt: skip
        return misfits.misfit_of(self, signature, node, count, kwargs, defined)


class MacroUser(ExpressionParser):
    """What expanding a macro is in PrimFuncs."""

    def undefined(self, node: ast.Name) -> Failed:
        if self.expanding and node.id in self.names_of_use:
            return naming.undefined(self, node)
        return super().undefined(node)

    def comparison(self, node: ast.Compare) -> Any:
        if expression.asks_for_none(node):
            return expression.parse_comparison(self, node)
        return super().comparison(node)

    def bound_arguments(
        self, used: Macro, node: ast.Call, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> dict[str, Any]:
        return macro.bind_macro_arguments(self, used, node, args, kwargs)

    def check_depth(self, used: Macro, node: ast.Call) -> None:
        macro.check_depth(self, used, node)

    def inside(
        self, used: Macro, node: ast.Call, state: Mapping[str, Any]
    ) -> AbstractContextManager[None]:
        return macro.inside_macro(self, used, node, state)

    def defined_macro(self, node: ast.FunctionDef, *scopes: Mapping[str, Any]) -> bool:
        return macro.defined_macro(self, node, *scopes)

    def wrong_language(self, used: Macro, node: ast.Call) -> Failed:
        return macro.wrong_language(self, used, node)
