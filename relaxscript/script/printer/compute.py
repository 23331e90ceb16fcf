"""Reducers, index maps, launches of threads and regions as syntax.

A thread that is launched once is written `with T.launch_thread("threadIdx.x", 32) as tx:`; one that
several launches share is declared before them, as `tx = T.env_thread("threadIdx.x")`.
"""

from __future__ import annotations

import ast
from typing import Any

from relaxscript.ir import prim, tir
from relaxscript.ir.node import Node
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.tir import Buffer
from relaxscript.ir.tir_compute import (
    BufferRealize,
    CommReducer,
    ProducerLoad,
    Reduce,
)
from relaxscript.ir.walk import walk
from relaxscript.script.names.syntax import TIR_INT_DTYPE

from . import tree
from .index_map import print_lambda
from .tir_context import TIRPrinter

__all__ = [
    "declare_realized_buffers",
    "declare_threads",
    "is_launch",
    "is_realized",
    "print_launch",
    "print_realize",
    "print_scalar",
    "print_value",
]


def is_launch(s: tir.AttrStmt) -> bool:
    """True if a hint is what `T.launch_thread` makes."""
    axis = s.node
    if s.attr_key != "thread_extent" or not isinstance(axis, tir.IterVar) or axis.dom is None:
        return False
    if axis.iter_type != "ThreadIndex" or not isinstance(axis.dom.min, prim.IntImm):
        return False
    if axis.dom.min.value or axis.dom.min.dtype is not axis.var.dtype:
        return False
    fits = axis.var.dtype is axis.dom.extent.dtype
    return fits and structural_equal(axis.dom.extent, s.value, map_free_vars=False)


def is_realized(s: tir.AttrStmt) -> bool:
    """True if a hint and its body are what `T.realize` makes."""
    realized = s.body
    if s.attr_key != "realize_scope" or not isinstance(realized, BufferRealize):
        return False
    return realized.buffer is s.node and isinstance(s.value, prim.StringImm)


def declare_threads(cx: TIRPrinter, body: tir.Stmt) -> list[ast.stmt]:
    """The declarations of threads that more than one launch is about."""
    launches: dict[prim.Var, list[tir.AttrStmt]] = {}
    for node in walk(body):
        if isinstance(node, tir.AttrStmt) and is_launch(node):
            launches.setdefault(node.node.var, []).append(node)
    if not launches:
        return []
    everywhere = _uses(body)
    found: list[ast.stmt] = []
    for var, several in launches.items():
        if len(several) == 1 and everywhere[var] == _uses(several[0])[var]:
            continue
        cx.shared.add(var)
        name = cx.names.define_for_all(var, var.name)
        dtype = None if var.dtype is TIR_INT_DTYPE else tree.constant(str(var.dtype))
        tag = tree.constant(several[0].node.thread_tag)
        made = tree.call(cx.member("env_thread"), [tag], dtype=dtype)
        found.append(tree.assign(cx.session.at(var, tree.name(name)), made))
    return found


# launch = "with" "T.launch_thread(" thread "," extent ")" ["as" name] ":" body
def print_launch(cx: TIRPrinter, s: tir.AttrStmt) -> ast.stmt:
    axis: tir.IterVar = s.node
    extent = cx.scalar(s.value, TIR_INT_DTYPE)
    shared = axis.var in cx.shared
    thread = cx.variable(axis.var) if shared else tree.constant(axis.thread_tag)
    context = tree.call(cx.member("launch_thread"), [thread, extent])
    with cx.names.scope():
        target = None
        if not shared:
            name = cx.names.define(axis.var, axis.var.name)
            target = cx.session.at(axis.var, tree.name(name))
        return tree.with_block(context, cx.inner(s.body), target)


def declare_realized_buffers(cx: TIRPrinter, body: tir.Stmt) -> list[ast.stmt]:
    """`B = T.Buffer((64,), "float32")` for each buffer that has memory by `T.realize` only."""
    wanted: dict[tir.Buffer, None] = {}
    others: set[Node] = set()
    for node in walk(body):
        match node:
            case BufferRealize(buffer) if cx.names.get(buffer) is None:
                wanted[buffer] = None
            case tir.DeclBuffer(buffer) | tir.MatchBufferRegion(buffer):
                others.add(buffer)
            case tir.Block(alloc_buffers=buffers):
                others.update(buffers)
    # What follows `=` comes first: until it has its name, a buffer has no `data` to be named.
    calls = [
        (buffer, cx.buffer_call("Buffer", buffer, [])) for buffer in wanted if buffer not in others
    ]
    return [tree.assign(cx.bind_buffer(buffer), call) for buffer, call in calls]


def print_realize(cx: TIRPrinter, s: BufferRealize, scope: prim.PrimExpr | None) -> ast.expr:
    """`T.realize(A[0:16, 0:16], "shared")`."""
    region = cx.region(tir.BufferRegion.make(s.buffer, s.bounds))
    named = tree.constant(scope.value if isinstance(scope, prim.StringImm) else None)
    condition = None if cx.is_true(s.condition) else cx.scalar(s.condition)
    return tree.call(cx.member("realize"), [region, named], condition=condition)


def print_iter_var(cx: TIRPrinter, axis: tir.IterVar) -> ast.expr:
    """`T.iter_var(k, T.Range(0, 8), "CommReduce", "")`."""
    args = [cx.variable(axis.var), cx.range(axis.dom)]
    args += [tree.constant(axis.iter_type), tree.constant(axis.thread_tag)]
    return tree.call(cx.member("iter_var"), args)


def print_comm_reducer(cx: TIRPrinter, c: CommReducer) -> ast.expr:
    """`T.comm_reducer(lambda x, y: x + y, [T.float32(0)])`."""
    identity = tree.items([cx.scalar(e) for e in c.identity_element])
    function = print_lambda(cx, (*c.lhs, *c.rhs), c.result, len(c.result) == 1)
    return tree.call(cx.member("comm_reducer"), [function, identity])


def print_reduction(cx: TIRPrinter, e: Reduce) -> ast.expr:
    """`T.Reduce(combiner, [value], [axis], condition, index, init)`."""
    axes = tree.items([print_iter_var(cx, a) for a in e.axis])
    args = [print_comm_reducer(cx, e.combiner), tree.items([cx.scalar(x) for x in e.source])]
    args += [axes, cx.scalar(e.condition), tree.number(e.value_index)]
    args.append(tree.items([cx.scalar(x) for x in e.init]))
    return tree.call(cx.member("Reduce"), args)


def print_value(cx: TIRPrinter, value: Any) -> ast.expr | None:
    """An attribute that is an axis, a reducer or an index map; None for any other."""
    match value:
        case tir.IterVar():
            return print_iter_var(cx, value)
        case CommReducer():
            return print_comm_reducer(cx, value)
    return None


def print_scalar(cx: TIRPrinter, e: prim.PrimExpr) -> ast.expr | None:
    """A scalar of tensor expressions; None for any other."""
    match e:
        case Reduce():
            return print_reduction(cx, e)
        case ProducerLoad(Buffer() as producer, indices):
            args = [
                cx.buffer(producer),
                tree.items([cx.scalar(i, TIR_INT_DTYPE) for i in indices]),
            ]
            return tree.call(cx.member("ProducerLoad"), args)
        case ProducerLoad(producer, indices):
            # The tensor of a tensor expression, which no script holds.
            found: list[ast.expr] = [cx.scalar(i, TIR_INT_DTYPE) for i in indices]
            return tree.subscript(tree.name(producer.name), found)
    return None


def _uses(root: Node) -> dict[Node, int]:
    """The number of times that each variable occurs."""
    found: dict[Node, int] = {}
    for node in walk(root):
        if isinstance(node, prim.Var):
            found[node] = found.get(node, 0) + 1
    return found
