"""Names in Relax functions: dimensions, functions of the module, and what Python holds.

A function that Python holds joins the module when it is mentioned (`captured_functions.py`). A name
that was left behind, in a dataflow block or by a function, is refused with the reason.
"""

from __future__ import annotations

import ast
from typing import Any, TypeVar

from relaxscript.analysis.violation import undeclared_recursion
from relaxscript.errors import did_you_mean
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import Expr, Function, GlobalVar, Var
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.tir import PrimFunc
from relaxscript.opdef.parameters import DTYPES
from relaxscript.script.parser import suggestions as naming
from relaxscript.script.parser.captured_functions import adopt
from relaxscript.script.parser.captured_ir import is_captured_ir, with_span
from relaxscript.script.parser.diagnostics import Failed
from relaxscript.script.parser.expression import captured_name
from relaxscript.script.parser.fixits import add_output

from .context import RelaxContext
from .dimension import captured_dimension, captured_node, named_dimension

__all__ = ["adopt_value", "declare_function", "find_name", "global_var", "undefined"]


def find_name(cx: RelaxContext, node: ast.Name) -> Any:
    """A name that the function itself did not bind."""
    if node.id in cx.module.global_vars and not _is_named_here(cx, node.id):
        # A plain name in a method is no member of the class: here it is captured, as in Python.
        found = cx.environment.value_of(node.id)
        if isinstance(found, (Function, PrimFunc)):
            return adopt_value(cx, found, node.id, node)
    return adopt_value(cx, _resolve(cx, node), node.id, node)


def _resolve(cx: RelaxContext, node: ast.Name) -> Any:
    """The value of a name here; raises `Failed` after recording why it has none."""
    known = cx.dims.get(node.id)
    if known is not None:
        return known
    _refuse_left_behind(cx, node)
    captured = cx.environment.value_of(node.id)
    if node.id in cx.module.global_vars and not isinstance(captured, (int, str, tuple, list)):
        raise _bare_global(cx, node)
    if cx.module.name and node.id == cx.module.name:
        return cx.module.itself
    value = captured_name(cx, node)
    if isinstance(value, PrimVar):
        return captured_dimension(cx, value)
    if isinstance(value, (StructInfo, Expr)):
        return captured_node(cx, value)
    return named_dimension(cx, value.__name__, node) if isinstance(value, TypeVar) else value


def _is_named_here(cx: RelaxContext, name: str) -> bool:
    """True if a name belongs to this function, be it to something that is gone."""
    return any(name in known for known in (cx.dims, cx.dataflow_locals, cx.hidden, cx.undeclared))


def _refuse_left_behind(cx: RelaxContext, node: ast.Name) -> None:
    """Refuse a name that meant something elsewhere in the function."""
    if node.id in cx.dataflow_locals:
        dataflow_locals = cx.dataflow_locals[node.id]
        listed = ", ".join([*dataflow_locals.outputs, node.id])
        raise cx.error(
            node, "RX0107", f"`{node.id}` is used outside its dataflow block",
            help=f"let it leave the block: `R.output({listed})`",
            edits=[add_output(cx.source, dataflow_locals.block, dataflow_locals.written, node.id)],
        )  # fmt: skip
    if node.id in cx.hidden:
        raise cx.error(
            node, "RX0311", f"`{node.id}` belongs to the dataflow block around this function",
            help="give it to the function as an argument",
        )  # fmt: skip
    if node.id in cx.undeclared:  # criterion 8 for a local function that calls itself
        raise cx.error(
            node, "RX0308", undeclared_recursion(node.id),
            labels=[(cx.undeclared[node.id], "annotate it here: `-> R.Tensor(...)`")],
        )  # fmt: skip


def undefined(cx: RelaxContext, node: ast.Name) -> Failed:
    """Record a name that means nothing."""
    name, module = node.id, cx.module.name
    if cx.expanding and name in cx.names_of_use:
        return naming.undefined(cx, node)
    help = None
    if name == cx.function_name and not module:
        help = f"a function that calls itself belongs in a module: `cls.{name}(...)`"
    elif name == "self" and module:
        help = f"a module has no `self`: write `{module}`, or `cls` after `cls = {module}`"
    elif name == "cls" and module:
        help = f"write `{module}`, or name it first: `cls = {module}`"
    if help is not None:
        fix = module if module and name in ("self", "cls") else None
        return cx.error(node, "RX0101", f"`{name}` is not defined", help=help, fix=fix)
    if cx.inside_string is not None and name in DTYPES:
        return cx.error(
            node, "RX0108", f'"{name}" is a dtype, and no annotation',
            help=f'write for example `R.Tensor((2, 3), "{name}")`',
        )  # fmt: skip
    return naming.undefined(cx, node)


def _bare_global(cx: RelaxContext, node: ast.Name) -> Failed:
    """Record that a function of the module was named without `cls.`"""
    name = cx.module.name
    return cx.error(
        node, "RX0110", f"`{node.id}` is a function of the module",
        help=f"write `{name}.{node.id}`, or `cls.{node.id}` after `cls = {name}`",
        fix=f"{name}.{node.id}",
    )  # fmt: skip


def global_var(cx: RelaxContext, node: ast.Attribute) -> GlobalVar:
    """`cls.f`: a function of the module."""
    if node.attr in cx.module.broken:
        raise Failed
    known = cx.module.global_vars.get(node.attr)
    if known is None:
        near = cx.near(node.attr, cx.module.global_vars)
        written = ast.unparse(node.value)
        sound = [name for name in cx.module.global_vars if name not in cx.module.broken]
        others = ", ".join(f"`{written}.{name}`" for name in sound[:5])
        raise cx.error(
            node, "RX0101", f"the module has no function `{node.attr}`",
            help=did_you_mean(near and f"{written}.{near}", f"it has {others}"),
            fix=f"{written}.{near}" if near else None,
        )  # fmt: skip
    return known


def adopt_value(cx: RelaxContext, value: Any, name: str, node: ast.expr) -> Any:
    """A function that Python holds becomes one of the module, under its name."""
    if isinstance(value, (Function, PrimFunc)):
        return declare_function(cx, adopt(cx, cx.module, value, name, node))
    if isinstance(value, Var) and not cx.builder.is_visible(value):
        raise cx.error(
            node, "RX0101", f"`{value.name_hint}` is a variable of another function",
            help="give it to this function as a parameter",
        )  # fmt: skip
    if not is_captured_ir(value):
        return value
    cx.holds_captured_ir = True
    return with_span(value, cx.span(node))


def declare_function(cx: RelaxContext, var: GlobalVar) -> GlobalVar:
    """The function of the module; its type is known from here on."""
    signature = cx.module.signatures.get(var.name_hint)
    if signature is not None:
        cx.builder.signatures[var.name_hint] = signature
    return var
