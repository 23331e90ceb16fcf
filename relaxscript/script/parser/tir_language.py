"""The language of PrimFuncs: what each form of Python's means, and how one is parsed."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from relaxscript.errors import Source
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import tir_compute
from relaxscript.script.tir_types import Form

from . import tir_operator
from .capture import adopted, adopted_member
from .compile_time import (
    parse_comprehension,
    parse_dict_comprehension,
    parse_lambda,
    parse_set_comprehension,
)  # fmt: skip
from .context import ModuleContext
from .environment import Environment
from .expression import python_items
from .macro import macro_in
from .python_language import PYTHON
from .reporter import Reporter
from .script_context import Language
from .tir_buffer import BUFFER_MAKERS, parse_buffer_syntax
from .tir_call import attribute_of_value
from .tir_compute import parse_comm_reducer, parse_index_map, parse_reduction
from .tir_context import TirContext
from .tir_macro import call_adopted, expand_macro
from .tir_memory import held_buffer
from .tir_name import find_name, undefined_here
from .tir_python import call_known
from .tir_scalar import item_of, parse_subscript
from .tir_statement import parse_stmt

__all__ = ["tir_context"]


def attribute_of(cx: TirContext, owner: Any, node: ast.Attribute) -> Any:
    """What stands behind a dot, by what stands before it."""
    if isinstance(owner, IRModule):
        return adopted_member(cx, cx.module, owner, node.attr, node)
    value = attribute_of_value(cx, owner, node)
    if isinstance(value, Form) and id(value.maker) in BUFFER_MAKERS:
        return held_buffer(cx, value, node)
    return value


def call_value(cx: TirContext, callee: Any, node: ast.Call) -> Any:
    """A call, by what is called."""
    used = macro_in(callee)
    if used is not None:
        return expand_macro(cx, *used, node)
    if isinstance(callee, PrimFunc):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        callee = adopted(cx, cx.module, callee, name, node.func)
    if isinstance(callee, GlobalVar) and callee.name_hint in cx.module.adopted:
        return call_adopted(cx, callee, node)
    if id(callee) in BUFFER_MAKERS:
        return parse_buffer_syntax(cx, callee, node)
    rule = _FORMS.get(id(callee))
    return call_known(cx, callee, node) if rule is None else rule(cx, node)


def items_of(cx: TirContext, value: Any, node: ast.expr, use: str) -> list[Any]:
    """The items of a value of Python; those of buffers and ranges are known only later."""
    known = isinstance(value, Iterable) and not isinstance(value, Node)
    if use.startswith("gone through") and not known:
        raise cx.error(
            node, "RX0104", "a comprehension goes over what is known now: a list, a tuple, a range",
            help="loop in a statement of its own: `for i in range(n):`",
        )  # fmt: skip
    return python_items(cx, value, node, use)


# Forms whose arguments are read in a way of their own.
_FORMS = {
    id(tir_compute.comm_reducer): parse_comm_reducer,
    id(tir_compute.index_map): parse_index_map,
    id(tir_compute.Reduce): parse_reduction,
}

TIR = Language(
    rules={
        **PYTHON.rules,
        ast.Compare: tir_operator.parse_comparison,
        ast.BoolOp: tir_operator.parse_boolean,
        ast.IfExp: tir_operator.parse_conditional,
        ast.Subscript: parse_subscript,
        ast.ListComp: parse_comprehension,
        ast.GeneratorExp: parse_comprehension,
        ast.SetComp: parse_set_comprehension,
        ast.DictComp: parse_dict_comprehension,
        ast.Lambda: parse_lambda,
    },
    find_name=find_name,
    undefined=undefined_here,
    explain=PYTHON.explain,
    attribute_of=attribute_of,
    subscript_of=item_of,
    call_value=call_value,
    operate=tir_operator.operate,
    items_of=items_of,
    namespaces="TIR",
    help_of_f_string="a text is made while the program is read: leave the value out",
    help_of_steps="loop over `range(...)`",
    help_of_choice="choose between values: `a if c else b`",
    parse_stmt=parse_stmt,
)


def tir_context(
    source: Source, environment: Environment, reporter: Reporter, module: ModuleContext
) -> TirContext:
    """What is known before a function is parsed."""
    return TirContext(source, environment, reporter, module, TIR)
