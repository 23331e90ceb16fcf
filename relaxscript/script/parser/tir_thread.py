"""Threads of devices: launches, and threads that are launched later."""

from __future__ import annotations

import ast
import re
from typing import Any

from relaxscript.errors import Diagnostic, Edit, did_you_mean
from relaxscript.ir import prim, tir
from relaxscript.ir.prim import PrimExpr, const
from relaxscript.ir.tir import AttrStmt, IterVar, Range
from relaxscript.ir.walk import free_vars
from relaxscript.script.tir_types import Form
from relaxscript.tir_builder import THREADS, describe

from .tir_buffer import dtype_of
from .tir_call import Places, argument_nodes
from .tir_context import TirContext
from .tir_scalar import to_scalar

__all__ = ["check_launched", "declare_thread", "known_thread", "launch_thread_on"]

_NAME = re.compile(r"\W")


def known_thread(cx: TirContext, tag: Any, node: ast.AST) -> str:
    """The name of a thread; an unusual one deserves a word."""
    if not isinstance(tag, str):
        raise cx.error(
            node,
            "RX0103",
            f"the name of a thread is a text, this is {describe(tag)}",
            help='write for example "threadIdx.x"',
        )
    if tag not in THREADS and tag not in ("vthread", "cthread"):
        near = cx.near(tag, THREADS)
        help = did_you_mean(near, f"known are {', '.join(THREADS[:6])}", '"')
        message, at = f'no GPU has threads named "{tag}"', cx.span(node)
        literal = near is not None and isinstance(node, ast.Constant)
        fix = (Edit(at, f'"{near}"'),) if literal and at is not None else ()
        cx.report(Diagnostic("RX0501", message, at, help=help, fix=fix, severity="warning"))
    return tag


def declare_thread(cx: TirContext, target: ast.Name, form: Form, node: ast.expr) -> prim.Var:
    """`tx = T.env_thread("threadIdx.x")`: a thread that is launched later."""
    places = places_of(cx, form, node)
    tag = known_thread(cx, form.arguments["thread_tag"], places["thread_tag"])
    dtype = dtype_of(cx, form.arguments["dtype"], places["dtype"])
    var = prim.Var.make(target.id, dtype, span=cx.span(target))
    cx.threads[var] = (tag, target)
    cx.fixed[var] = "a thread"
    return var


def check_launched(cx: TirContext, function: tir.PrimFunc) -> None:
    """Every thread is launched around its uses."""
    if not cx.threads:
        return
    free = set(free_vars(function))
    for var in cx.threads:
        if var in free:
            message = f"`{var.name}` has no value where nothing launches the thread"
            help = f"launch it around its uses: `with T.launch_thread({var.name}, extent):`"
            cx.report(Diagnostic("RX0109", message, var.span, help=help))


def places_of(cx: TirContext, form: Form, node: ast.expr) -> Places:
    return argument_nodes(cx, form.maker, node) if isinstance(node, ast.Call) else Places(node)


def launch_thread_on(
    cx: TirContext, form: Form, node: ast.expr, target: ast.Name | None = None
) -> prim.Var:
    """The statements after it run on several threads; the number of the thread."""
    places = places_of(cx, form, node)
    thread, at = form.arguments["thread"], places["thread"]
    extent = thread_count(cx, form.arguments["extent"], places["extent"])
    if isinstance(thread, prim.Var) and thread in cx.threads:
        var, (tag, _) = thread, cx.threads[thread]
        if extent.dtype is not var.dtype:
            extent = prim.cast(extent, var.dtype)
    elif isinstance(thread, prim.Var):
        raise cx.error(
            at,
            "RX0501",
            f"`{cx.written(at)}` is no thread",
            help='declare it: `tx = T.env_thread("threadIdx.x")`',
        )
    else:
        tag = known_thread(cx, thread, at)
        name = _NAME.sub("_", tag) if target is None else target.id
        place = cx.span(node if target is None else target)
        var = prim.Var.make(name, extent.dtype, span=place)
        cx.fixed[var] = "a thread"
    span = cx.span(node)
    axis = IterVar.make(Range.make(const(0, var.dtype), extent), var, "ThreadIndex", tag, span=span)
    cx.items.append(lambda body: AttrStmt.make(axis, "thread_extent", extent, body, span=span))
    return var


def thread_count(cx: TirContext, value: Any, node: ast.AST) -> PrimExpr:
    """How many threads a launch starts."""
    e = to_scalar(cx, value, node)
    if e.dtype.is_integer and e.dtype.lanes == 1:
        return e
    raise cx.error(
        node, "RX0501", "the number of threads is an integer", labels=[(node, f"is {e.dtype}")]
    )
