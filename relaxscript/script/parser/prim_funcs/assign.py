"""Assignments of PrimFuncs: stores into buffers, scalar variables, buffers and their memory.

    element "=" scalar | element op "=" scalar | name "=" scalar | name ":" type "=" scalar
    | name "=" "T.alloc_buffer(...)" | name "=" "T.match_buffer(...)" | name "=" "T.allocate(...)"
    | names "=" "T.axis.remap(...)" | name "=" Python value

Start reading at `parse_assign`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import Edit
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.tir import Buffer, BufferRegion, BufferStore
from relaxscript.script.names import tir_axis, tir_nodes, tir_statements
from relaxscript.script.names.statement import Role, role_of
from relaxscript.script.names.tir_types import BufferForm, ScalarType, StmtForm
from relaxscript.script.parser.diagnostics import Failed
from relaxscript.script.parser.expression import parse_expr, parse_exprs
from relaxscript.script.parser.python_operators import BINARY
from relaxscript.tir_builder import TIRError, describe
from relaxscript.tir_builder.operands import converted

from .block import make_axes
from .buffer import BufferSyntax
from .context import TirContext
from .memory import bind_buffer, check_numbers
from .operator import combine, operate
from .scalar import (
    check_brackets,
    check_number_of_indices,
    check_rank,
    index_nodes,
    not_indexable,
    to_indices,
    to_scalar,
)
from .table_statement import bind_table_statement

__all__ = [
    "add_let",
    "add_store",
    "bind_target",
    "convert_value",
    "macro_argument",
    "parse_annotated",
    "parse_assign",
    "parse_augmented",
    "scalar_type",
]

SCALARS_DO_NOT_CHANGE = (
    "a scalar variable never changes; keep a value that does in a buffer: "
    '`acc = T.alloc_buffer((1,), "{dtype}")`, then `acc[0] = ...`'
)


# statement = targets "=" expression
def parse_assign(cx: TirContext, node: ast.Assign) -> None:
    if len(node.targets) > 1:
        assign_several(cx, node)
        return
    target = node.targets[0]
    match target:
        case ast.Subscript():
            parse_store(cx, target, node.value, node)
        case ast.Name() | ast.Tuple() | ast.List():
            if not is_declaration(cx, target, node.value):
                bind_target(cx, target, parse_expr(cx, node.value), node.value, node)
        case _:
            raise cx.error(
                target, "RX0104", f"`{cx.written(target)}` cannot be assigned",
                help="assign to a name, or to an element of a buffer: `A[i] = ...`",
            )  # fmt: skip


def assign_several(cx: TirContext, node: ast.Assign) -> None:
    """`a = b[i] = e`: `e` is evaluated once, and given to each target from left to right."""
    value = parse_expr(cx, node.value)
    if isinstance(value, (StmtForm, BufferSyntax)):
        raise cx.error(
            node.targets[1], "RX0104", "what is made here has one name",
            help="write one line for each: `a = ...` and `b = ...`",
        )  # fmt: skip
    first = node.targets[0]
    value = keep_value(cx, value, first.id if isinstance(first, ast.Name) else "value", first, node)
    for target in node.targets:
        if isinstance(target, ast.Subscript):
            bind_element(cx, target, value, node.value, node)
        elif isinstance(target, ast.Name) and isinstance(value, prim.Var) and value.name:
            check_rebinding(cx, target)
            cx.names[target.id] = value
        else:
            bind_target(cx, target, value, node.value, node)


def is_declaration(cx: TirContext, target: ast.expr, value: ast.expr) -> bool:
    """True if this is one of the declarations that were collected before."""
    match target, value:
        case ast.Name(id=name), ast.Call():
            known = cx.declared.get(name)
            return known is not None and known[1] is target
        case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
            return all(is_declaration(cx, n, v) for n, v in zip(names, values))
    return False


def bind_target(
    cx: TirContext, target: ast.expr, value: Any, node: ast.expr, statement: ast.stmt
) -> None:
    """Give what was evaluated to the names on the left."""
    match target:
        case ast.Name():
            bind_name(cx, target, value, node, statement)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            unpack(cx, target, targets, value, node, statement)
        case ast.Subscript():
            bind_element(cx, target, value, node, statement)
        case _:
            raise cx.error(target, "RX0104", f"`{cx.written(target)}` cannot be assigned")


def unpack(
    cx: TirContext, target: ast.expr, targets: Sequence[ast.expr], value: Any, node: ast.expr,
    statement: ast.stmt,
) -> None:  # fmt: skip
    """`a, b = ...`: axes, or the items of a Python tuple."""
    parts = macro_argument(value)
    if parts is not value and isinstance(parts, (tuple, list)):
        # Other names of what is in the tuple, without variables in the program.
        value = [StmtForm(tir_statements.meta_var, value=part) for part in parts]
    if isinstance(value, StmtForm) and value.maker is tir_axis.remap and isinstance(node, ast.Call):
        bind_axes(cx, targets, value, node)
        return
    if not isinstance(value, (tuple, list)):
        raise cx.error(node, "RX0104", f"{describe(value)} cannot be unpacked")
    if any(isinstance(t, ast.Starred) for t in targets) or len(targets) != len(value):
        raise cx.error(
            target, "RX0104", f"{len(value)} values cannot be given to {len(targets)} names"
        )
    nodes = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node] * len(value)
    if any(isinstance(t, ast.Subscript) for t in targets):
        # All values are there before the first is stored, as in a swap.
        value = [
            keep_value(
                cx, to_scalar(cx, v, at) if isinstance(v, BufferRegion) else v, "value", at,
                statement,
            )
            for v, at in zip(value, nodes)
        ]  # fmt: skip
    for name, item, at in zip(targets, value, nodes):
        bind_target(cx, name, item, at, statement)


def keep_value(
    cx: TirContext, value: Any, name: str, node: ast.expr, statement: ast.stmt
) -> Any:  # fmt: skip
    """A value in a variable, where a store could change it."""
    if not isinstance(value, PrimExpr) or isinstance(value, (prim.Var, prim.Immediate)):
        return value
    var = prim.Var.make(name, value.dtype, span=cx.span(node))
    add_let(cx, var, value, statement)
    return var


def bind_element(
    cx: TirContext, target: ast.Subscript, value: Any, node: ast.expr, statement: ast.stmt
) -> None:
    """An element takes a value that was evaluated before."""
    buffer, indices, _ = parse_element(cx, target)
    add_store(cx, buffer, indices, value, node, target, statement)


def bind_axes(
    cx: TirContext, targets: Sequence[ast.expr], form: StmtForm, call: ast.Call
) -> None:  # fmt: skip
    """The axes of a block, each under its name."""
    names = []
    for target in targets:
        if not isinstance(target, ast.Name):
            raise cx.error(target, "RX0504", "an axis is bound to a name")
        names.append(target.id)
    cx.names.update(zip(names, make_axes(cx, form, names, call)))


def bind_name(
    cx: TirContext, target: ast.Name, value: Any, node: ast.expr, statement: ast.stmt
) -> None:
    """One name: a variable, a buffer, an axis, or a Python value."""
    match value:
        case BufferSyntax():
            check_rebinding(cx, target)
            cx.names[target.id] = bind_buffer(cx, target, value, statement)
        case StmtForm():
            bind_form(cx, target, value, node, statement)
        case prim.Var(name=""):
            check_rebinding(cx, target)
            var = value.replace(name=target.id, span=cx.span(target))
            cx.declared[target.id] = (var, target)
            cx.fixed[var] = "a shape variable"
            cx.names[target.id] = var
        case BufferRegion():
            raise cx.error(
                node, "RX0501", "a region of a buffer is no value",
                help="give it a name in a block: "
                f"`{target.id} = T.match_buffer({cx.written(node)}, shape)`",
            )  # fmt: skip
        case bool() | int() | float() | np.generic() | PrimExpr():
            check_rebinding(cx, target)
            bind_scalar(cx, target, to_scalar(cx, value, node), statement)
        case _:
            check_rebinding(cx, target)
            cx.names[target.id] = value


def bind_scalar(cx: TirContext, target: ast.Name, value: PrimExpr, statement: ast.stmt) -> None:
    """A scalar variable for the statements after this one."""
    var = prim.Var.make(target.id, value.dtype, span=cx.span(target))
    add_let(cx, var, value, statement)
    cx.names[target.id] = var


def add_let(cx: TirContext, var: prim.Var, value: PrimExpr, node: ast.AST) -> None:
    """A scalar variable for the statements that follow."""
    cx.bound_at[var] = cx.depth
    with cx.builder_at(node) as builder:
        builder.let(var, value)


def check_rebinding(cx: TirContext, target: ast.Name) -> None:
    """Refuse to bind a name anew where Python would mean a change of its value."""
    if target.id in cx.macro_arguments and cx.depth == cx.macro_depth:
        # A parameter of a macro is a name for its argument until it is another's.
        cx.macro_arguments = cx.macro_arguments - {target.id}
        return
    known = cx.names.get(target.id)
    if isinstance(known, Buffer) and known in cx.made:
        indices = ", ".join("ijklmn"[axis % 6] for axis in range(known.ndim)) or "()"
        raise cx.error(
            target, "RX0501", f"`{target.id}` is a buffer; it cannot be bound again",
            help=f"store into its elements: `{target.id}[{indices}] = ...`",
            labels=[(known.span, "the buffer")],
        )  # fmt: skip
    if not isinstance(known, prim.Var):
        return
    what = cx.fixed.get(known)
    if what is None and cx.bound_at.get(known, cx.depth) == cx.depth:
        return
    what = what or "a scalar variable from outside"
    raise cx.error(
        target, "RX0501", f"`{target.id}` is {what}; it cannot be assigned again",
        help=SCALARS_DO_NOT_CHANGE.format(dtype=known.dtype) if what.startswith("a scalar")
        else "take another name",
        labels=[(known.span, "bound here")],
    )  # fmt: skip


# statement = name ":" type "=" scalar
def parse_annotated(cx: TirContext, node: ast.AnnAssign) -> None:
    if not isinstance(node.target, ast.Name):
        raise cx.error(node.target, "RX0104", "only a name can have a type")
    if node.value is None:
        raise cx.error(
            node, "RX0104", f"`{node.target.id}` has a type and no value",
            help=f"give it one: `{cx.written(node)} = ...`",
        )  # fmt: skip
    annotation = node.annotation
    said = parse_expr(cx, annotation)
    if said is tir_nodes.let:  # `x: T.let = value` says no type
        bind_target(cx, node.target, parse_expr(cx, node.value), node.value, node)
        return
    wanted = type_of_value(cx, said, annotation)
    value = parse_expr(cx, node.value)
    if isinstance(value, (BufferSyntax, StmtForm)):
        bind_target(cx, node.target, value, node.value, node)
        return
    e = convert_value(cx, value, node.value, wanted.dtype, annotation, "is declared")
    check_rebinding(cx, node.target)
    var = wanted.replace(name=node.target.id, span=cx.span(node.target))
    add_let(cx, var, e, node)
    cx.names[node.target.id] = var


def scalar_type(cx: TirContext, node: ast.expr) -> prim.Var:
    """The type of a scalar variable, as a variable without a name."""
    return type_of_value(cx, parse_expr(cx, node), node)


def type_of_value(cx: TirContext, value: Any, node: ast.expr) -> prim.Var:
    """The type that a value stands for in an annotation."""
    match value:
        case ScalarType() if not value.dtype.is_void:
            return prim.Var.make("", value.dtype)
        case prim.Var(name=""):
            return value
    raise cx.error(
        node, "RX0108", f"`{cx.written(node)}` is not the type of a scalar",
        help="write for example `T.int32`",
    )  # fmt: skip


# statement = element "=" scalar
def parse_store(cx: TirContext, target: ast.Subscript, node: ast.expr, statement: ast.stmt) -> None:
    buffer, indices, (value,) = parse_element(cx, target, node)
    add_store(cx, buffer, indices, value, node, target, statement)


def parse_element(
    cx: TirContext, target: ast.Subscript, *others: ast.expr
) -> tuple[Buffer, tuple[PrimExpr, ...], list[Any]]:
    """The element that a target names, and the values of what is beside it."""
    if isinstance(target.value, ast.Subscript):
        check_brackets(cx, target)
    try:
        owner, index, *values = parse_exprs(cx, [target.value, target.slice, *others])
    except Failed:
        # Only what a name stands for is asked for again without being evaluated again.
        if isinstance(target.value, ast.Name):
            check_number_of_indices(cx, cx.names.get(target.value.id), target)
        raise
    if isinstance(owner, PrimExpr):
        raise not_indexable(cx, owner, target)
    if not isinstance(owner, Buffer):
        message = f"only elements of buffers are stored, this is {describe(owner)}"
        raise cx.error(target.value, "RX0501", message)
    given = index if isinstance(index, tuple) else (index,)
    check_rank(cx, owner, len(given), target)
    return owner, to_indices(cx, owner, given, index_nodes(target)), values


def add_store(
    cx: TirContext, buffer: Buffer, indices: tuple[PrimExpr, ...], value: Any, node: ast.expr,
    target: ast.expr, statement: ast.AST, predicate: PrimExpr | None = None,
) -> None:  # fmt: skip
    """Store the value of `node` into an element, which `target` names."""
    lanes = indices[-1].dtype.lanes * buffer.dtype.lanes if indices else buffer.dtype.lanes
    wanted = buffer.dtype.with_lanes(lanes)
    e = convert_value(cx, value, node, wanted, target, "holds")
    cx.builder.add(BufferStore.make(buffer, e, indices, predicate, span=cx.span(statement)))


def convert_value(
    cx: TirContext, value: Any, node: ast.expr, wanted: DataType, place: ast.AST, verb: str
) -> PrimExpr:
    """A value of a dtype: plain numbers are converted, other values must have it."""
    if not isinstance(value, (bool, int, float, np.generic)):
        value = to_scalar(cx, value, node)
        if value.dtype is wanted:
            return value  # type: ignore[no-any-return]
    try:
        return converted(value, wanted, "value", "place", verb, cx.span(node))
    except TIRError as error:
        if error.help is not None:
            error.help = "write `{instead}`"
        raise cx.refuse(error, node, {"value": node, "place": place}) from None


# statement = target op "=" scalar
def parse_augmented(cx: TirContext, node: ast.AugAssign) -> None:
    symbol = BINARY[type(node.op)]
    match node.target:
        case ast.Subscript() as target:
            buffer, indices, (value,) = parse_element(cx, target, node.value)
            load = prim.BufferLoad.make(buffer, indices, span=cx.span(target))
            result = combine(cx, symbol, (load, value), (target, node.value), node)
            check_kept(cx, buffer, result, symbol, node)
            add_store(cx, buffer, indices, result, node.value, target, node)
        case ast.Name(id=name) as target:
            before = parse_expr(cx, ast.copy_location(ast.Name(name, ast.Load()), target))
            value = parse_expr(cx, node.value)
            if isinstance(before, Buffer):
                check_rebinding(cx, target)
            if isinstance(before, PrimExpr) or isinstance(value, PrimExpr):
                result = combine(cx, symbol, (before, value), (target, node.value), node)
            else:
                with cx.at(node):
                    result = operate(cx, symbol, (before, value), node)  # type: ignore[arg-type]
            bind_name(cx, target, result, node.value, node)
        case _:
            raise cx.error(node.target, "RX0104",
                             f"`{cx.written(node.target)}` cannot be assigned")  # fmt: skip


def check_kept(
    cx: TirContext, buffer: Buffer, result: PrimExpr, symbol: str, node: ast.AugAssign
) -> None:
    """`A[i] += x` keeps the dtype of `A`."""
    if result.dtype.element is buffer.dtype.element:
        return
    left, right = cx.written(node.target), cx.written(node.value)
    instead = f'{left} = T.cast({left} {symbol} {right}, "{buffer.dtype}")'
    raise cx.error(
        node.value, "RX0502",
        f"`{symbol}=` gives {result.dtype} here, and `{buffer.name}` holds {buffer.dtype}",
        help=f"write `{instead}`", edits=[Edit(cx.source.span(node), instead)],
    )  # fmt: skip


def bind_form(
    cx: TirContext, target: ast.Name, form: StmtForm, node: ast.expr, statement: ast.stmt
) -> None:
    maker = form.maker
    if maker not in AXES:
        # An axis may take the name of its loop.
        check_rebinding(cx, target)
    if maker is tir_statements.meta_var:
        cx.names[target.id] = form.arguments["value"]
    elif maker in AXES and isinstance(node, ast.Call):
        bindings = form.arguments.get("bindings")
        if isinstance(bindings, (list, tuple)) and len(bindings) != 1:
            # One name for several axes is a Python tuple of them.
            names = [f"{target.id}_{i}" for i in range(len(bindings))]
            cx.names[target.id] = tuple(make_axes(cx, form, names, node))
        else:
            bind_axes(cx, [target], form, node)
    elif maker in FIXED:
        if maker is tir_statements.allocate_const:
            check_numbers(cx, form, node)
        at = node if FIXED[maker] == "a thread" else statement
        made = bind_table_statement(cx, target, form, node, at)
        cx.fixed.setdefault(made, FIXED[maker])
        cx.names[target.id] = made
    elif maker is tir_statements.LetStmt:
        bind_scalar(cx, target, to_scalar(cx, form.arguments["value"], node), statement)
    elif role_of(form) in (Role.LOOPS, Role.VALUE) or isinstance(maker, BufferForm):
        cx.names[target.id] = form
    else:
        raise cx.error(
            node, "RX0501", f"`{form.name}` is a statement and gives no value",
            help=f"write it without `{target.id} =`",
            edits=[Edit(cx.source.span(statement), cx.written(node))],
        )  # fmt: skip


# What is given a name, in the words of who cannot assign it again.
FIXED = {
    tir_statements.allocate: "the address of memory",
    tir_statements.allocate_const: "the address of memory",
    tir_statements.env_thread: "a thread",
    tir_statements.launch_thread: "a thread",
}
AXES = {getattr(tir_axis, name) for name in tir_axis.__all__}


def macro_argument(value: Any) -> Any:
    """The value of an argument of a macro: `T.meta_var(x)` means `x`."""
    if isinstance(value, StmtForm) and value.maker is tir_statements.meta_var:
        return value.arguments["value"]
    return value
