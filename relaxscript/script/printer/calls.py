"""Calls of Relax: operators by their signature, functions, closures and PackedFuncs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from relaxscript.arguments import REQUIRED
from relaxscript.dtypes import DataType
from relaxscript.errors import UnplacedError
from relaxscript.ir.module import VDevice
from relaxscript.ir.prim import Immediate
from relaxscript.ir.relax import (
    Call,
    Expr,
    ExternFunc,
    LeafExpr,
    Op,
    ShapeExpr,
    StringImm,
    Tuple,
    Var,
)  # fmt: skip
from relaxscript.ir.struct_info import StructInfo, TupleStructInfo
from relaxscript.op import REGISTRY, Operator, Parameter
from relaxscript.op.base import compute_prim_value
from relaxscript.script.names.syntax import DIM_DTYPE

from . import tree
from .annotations import vdevice_call
from .relax_context import RelaxPrinter

__all__ = ["print_call", "print_operands"]


def in_order(
    cx: RelaxPrinter, operands: Iterable[Expr | None], write: Callable[[int], ast.expr]
) -> list[ast.expr]:
    """Written operands, from left to right.

    Where one of them needs statements of its own, those before it are bound before these.
    """
    made: list[ast.expr] = []
    seen: list[Expr | None] = []
    for index, e in enumerate(operands):
        before = len(cx.pending)
        new = write(index)
        if len(cx.pending) > before and index:
            cx.pending, later = cx.pending[:before], cx.pending[before:]
            made = [m if x is None else named_first(cx, x, m) for x, m in zip(seen, made)]
            cx.pending += later
        made.append(new)
        seen.append(e)
    return made


def named_first(cx: RelaxPrinter, e: Expr, made: ast.expr) -> ast.expr:
    """A name for an operand that is evaluated before the statements that are pending."""
    match e:
        case Tuple(fields) if isinstance(made, ast.Tuple):
            parts = zip(fields, made.elts)
            return tree.items([named_first(cx, f, m) for f, m in parts], ast.Tuple)
        case LeafExpr():
            return made
    target = cx.define(Var.make("gv", None))
    cx.pending.append(tree.assign(target, made))
    return target


def print_operands(cx: RelaxPrinter, exprs: Sequence[Expr]) -> list[ast.expr]:
    """Operands, in the order in which they are evaluated."""
    return in_order(cx, exprs, lambda index: cx.print_expr(cx, exprs[index]))


# call = operator "(" arguments ")" | function "(" operands ")"
def print_call(cx: RelaxPrinter, e: Any) -> ast.expr:
    op = e.op
    if op.__class__ is Op:
        plain = cx.plain_operators.get(op) or _find_plain(cx, op)
        if plain[0] == len(e.args) and not e.attrs and not e.sinfo_args:
            return ast.Call(plain[1], print_operands(cx, e.args), [])
        return print_operator_call(cx, e)
    if isinstance(op, ExternFunc):
        return print_packed_call(cx, e, op)
    callee, *args = print_operands(cx, (op, *e.args))
    return tree.call(callee, args, **extras(cx, e))


def _find_plain(cx: RelaxPrinter, op: Op) -> tuple[int, ast.expr]:
    operator = REGISTRY.get(op.name)
    arity = -1
    if operator is not None and all(p.kind == "operand" for p in operator.parameters):
        arity = len(operator.parameters)
    word = cx.member_of_relax(op.name.removeprefix("relax."))
    if cx.session.record:
        cx.session.at(op, word)
    found = cx.plain_operators[op] = (arity, word)
    return found


def print_operator_call(cx: RelaxPrinter, e: Call) -> ast.expr:
    """`R.op(operands, attribute=value)`."""
    op = e.op
    word = cx.plain_operators[op][1]  # type: ignore[index]
    operator = REGISTRY.get(op.name)  # type: ignore[attr-defined]
    if op == compute_prim_value.op:
        match e.args:
            # `R.prim_value` of a literal is a PrimValue, so such a call is written as it is.
            case (ShapeExpr(values=(value,)),) if not isinstance(value, Immediate):
                written = cx.scalar(value, DIM_DTYPE)
                return tree.call(cx.member_of_relax("prim_value"), [written])
    if operator is not None:
        try:
            return print_arguments(cx, operator, e, word)
        except UnplacedError:  # it does not fit the operator: it is written as it is
            pass
    return tree.call(word, print_operands(cx, e.args), **extras(cx, e))


def print_arguments(cx: RelaxPrinter, operator: Operator, e: Call, word: ast.expr) -> ast.expr:
    """Operands by position until one is left out, the rest by name."""
    given: list[tuple[Parameter, Any, bool]] = []
    by_position = True
    arguments = operator.arguments(e)
    attributes = {p.name: value for p, value in arguments if p.kind == "attribute"}
    for parameter, value in arguments:
        if parameter.kind == "rest":
            given += [(parameter, item, True) for item in value]
            continue
        if parameter.kind in ("attribute", "sinfo") or parameter.keyword_only:
            by_position = False
        if _is_default(parameter, value) or _is_implied(operator, parameter, attributes):
            by_position = False
            continue
        given.append((parameter, value, by_position))
    exprs = [v if isinstance(v, Expr) else None for _, v, _ in given]
    made = in_order(cx, exprs, lambda index: print_argument(cx, *given[index][:2]))
    args = [m for m, (_, _, positional) in zip(made, given) if positional]
    keywords = {p.name: m for m, (p, _, positional) in zip(made, given) if not positional}
    return tree.call(word, args, **keywords)


def print_argument(cx: RelaxPrinter, parameter: Parameter, value: Any) -> ast.expr:
    """The argument of one parameter."""
    match value:
        case ExternFunc(global_symbol) if parameter.wants == "packed":
            return tree.constant(global_symbol)
        case StringImm(text) if parameter.kind == "text":
            return tree.constant(text)
        case DataType():
            return tree.constant(str(value))
        case Expr():
            return cx.print_expr(cx, value)
        # A list of one stands for that one, so a tuple of one is written as a tuple.
        case TupleStructInfo(infos) if parameter.name == "out_sinfo" and len(infos) != 1:
            return tree.items([cx.annotation(info) for info in infos])
        case tuple() if parameter.kind == "sinfo":
            return tree.items([cx.annotation(info) for info in value])
        case VDevice() if parameter.annotation == "VirtualDevice":
            return cx.vdevice(value)
        case VDevice() if parameter.annotation == "Device":
            return print_device(cx, value)
        case tuple() if parameter.kind == "tensors":
            return tree.items(print_operands(cx, value), ast.Tuple)
    return cx.value(value)


def print_device(cx: RelaxPrinter, device: VDevice) -> ast.expr:
    """A device: `R.device("cpu", 1)`."""
    if device.target.attrs or device.memory_scope != "global":
        return vdevice_call(cx.session, device)
    kind = "cpu" if device.target.kind == "llvm" else device.target.kind
    place = [tree.constant(kind), tree.number(device.vdevice_id)]
    return tree.call(cx.member_of_relax("device"), place)


def print_packed_call(cx: RelaxPrinter, e: Call, callee: ExternFunc) -> ast.expr:
    """`R.call_packed("name", x, sinfo_args=...)`."""
    word = cx.member_of_relax("call_packed")
    args = [tree.constant(callee.global_symbol), *print_operands(cx, e.args)]
    return tree.call(word, args, **extras(cx, e))


def extras(cx: RelaxPrinter, e: Call) -> dict[str, ast.expr]:
    """Attributes and StructInfo arguments of a call without a signature."""
    words = {name: cx.value(value) for name, value in (e.attrs or {}).items()}
    infos: tuple[StructInfo, ...] = e.sinfo_args
    if len(infos) == 1:
        words["sinfo_args"] = cx.annotation(infos[0])
    elif infos:
        words["sinfo_args"] = tree.items([cx.annotation(i) for i in infos], ast.Tuple)
    return words


def _is_implied(operator: Operator, parameter: Parameter, attributes: Mapping[str, Any]) -> bool:
    """True if an attribute is what it becomes where a call leaves it out."""
    rule, name = operator.rules.get("canonical"), parameter.name
    if rule is None or name not in attributes or parameter.default is REQUIRED:
        return False
    left_out = {**attributes, name: parameter.default}
    return bool({**left_out, **rule(**left_out)}[name] == attributes[name])


def _is_default(parameter: Parameter, value: Any) -> bool:
    """True if an argument may be left out."""
    default = parameter.default
    if default is REQUIRED:
        return value is None and not parameter.is_required
    if isinstance(value, StringImm) and parameter.kind == "text":
        value = value.value
    if value is default:
        return True
    return type(value) is type(default) and bool(value == default)
