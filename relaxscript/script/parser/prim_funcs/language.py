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
from relaxscript.script.names import tir_compute
from relaxscript.script.names.tir_types import StmtForm
from relaxscript.script.parser.captured_functions import adopt, adopt_member
from relaxscript.script.parser.compile_time import COMPILE_TIME_RULES
from relaxscript.script.parser.environment import Environment
from relaxscript.script.parser.expression import python_items
from relaxscript.script.parser.macro import macro_in
from relaxscript.script.parser.module_context import ModuleContext
from relaxscript.script.parser.python_language import PYTHON
from relaxscript.script.parser.reporter import Reporter
from relaxscript.script.parser.script_context import ItemUse, Language

from . import operator as tir_operator
from .buffer import BUFFER_MAKERS, parse_buffer_syntax
from .call import attribute_of_value
from .compute import parse_comm_reducer, parse_index_map, parse_reduction
from .context import TirContext
from .macro import call_adopted, expand_macro
from .memory import make_buffer_of_form
from .name import find_name, undefined_here
from .python_function import call_known
from .scalar import item_of, parse_subscript
from .statement import parse_stmt

__all__ = ["tir_context"]


def attribute_of(cx: TirContext, owner: Any, node: ast.Attribute) -> Any:
    """The value of an attribute, by the kind of its owner."""
    if isinstance(owner, IRModule):
        return adopt_member(cx, cx.module, owner, node.attr, node)
    value = attribute_of_value(cx, owner, node)
    if isinstance(value, StmtForm) and id(value.maker) in BUFFER_MAKERS:
        return make_buffer_of_form(cx, value, node)
    return value


def call_value(cx: TirContext, callee: Any, node: ast.Call) -> Any:
    """A call, by what is called."""
    used = macro_in(callee)
    if used is not None:
        return expand_macro(cx, *used, node)
    if isinstance(callee, PrimFunc):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        callee = adopt(cx, cx.module, callee, name, node.func)
    if isinstance(callee, GlobalVar) and callee.name_hint in cx.module.adopted:
        return call_adopted(cx, callee, node)
    if id(callee) in BUFFER_MAKERS:
        return parse_buffer_syntax(cx, callee, node)
    rule = _FORMS.get(id(callee))
    return call_known(cx, callee, node) if rule is None else rule(cx, node)


def items_of(cx: TirContext, value: Any, node: ast.expr, use: ItemUse) -> list[Any]:
    """The items of a value of Python; those of buffers and ranges are known only later."""
    known = isinstance(value, Iterable) and not isinstance(value, Node)
    if use is not ItemUse.UNPACKING and not known:
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
        **COMPILE_TIME_RULES,
        ast.Compare: tir_operator.parse_comparison,
        ast.BoolOp: tir_operator.parse_boolean,
        ast.IfExp: tir_operator.parse_conditional,
        ast.Subscript: parse_subscript,
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
    help_of_f_string="a string is made while the program is read: leave the value out",
    help_of_steps="loop over `range(...)`",
    help_of_choice="choose between values: `a if c else b`",
    parse_stmt=parse_stmt,
)


def tir_context(
    source: Source, environment: Environment, reporter: Reporter, module: ModuleContext
) -> TirContext:
    """The context in which a function is parsed, before anything of it is read."""
    return TirContext(source, environment, reporter, module, TIR)
