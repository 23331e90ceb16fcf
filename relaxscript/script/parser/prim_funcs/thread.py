"""Threads of devices: launches, and threads that are launched later."""

from __future__ import annotations

import ast
import re
from typing import Any

from relaxscript.errors import Diagnostic
from relaxscript.ir import prim, tir
from relaxscript.ir.walk import free_vars
from relaxscript.script.names.tir_types import Form

from .buffer import dtype_of
from .call import Places, argument_nodes
from .context import TirContext
from .scalar import to_scalar

__all__ = ["check_launched", "declare_thread", "known_thread", "launch_thread_on"]

_NAME = re.compile(r"\W")


def known_thread(cx: TirContext, tag: Any, node: ast.AST) -> str:
    """The name of a thread; an unusual one deserves a word."""
    with cx.making(node) as builder:
        return builder.known_thread(tag, "thread")


def declare_thread(cx: TirContext, target: ast.Name, form: Form, node: ast.expr) -> prim.Var:
    """`tx = T.env_thread("threadIdx.x")`: a thread that is launched later."""
    places = places_of(cx, form, node)
    known_thread(cx, form.arguments["thread_tag"], places["thread_tag"])
    dtype = dtype_of(cx, form.arguments["dtype"], places["dtype"])
    with cx.making(node, {**places, "name": target}) as builder:
        var = builder.env_thread(form.arguments["thread_tag"], target.id, dtype)
        builder.doubts.clear()  # told before
    cx.fixed[var] = "a thread"
    return var


def check_launched(cx: TirContext, function: tir.PrimFunc) -> None:
    """Every thread is launched around its uses."""
    if not cx.builder.threads:
        return
    free = set(free_vars(function))
    for var in cx.builder.threads:
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
    extent = to_scalar(cx, form.arguments["extent"], places["extent"])
    if isinstance(thread, prim.Var) and thread not in cx.builder.threads:
        raise cx.error(
            at, "RX0501", f"`{cx.written(at)}` is no thread",
            help='declare it: `tx = T.env_thread("threadIdx.x")`',
        )  # fmt: skip
    parts: dict[str, ast.AST] = dict(places)
    if target is not None:
        parts["name"] = target
    with cx.making(node, parts) as builder:
        name = None if target is None else target.id
        var = builder.launch_thread(thread, extent, name)
    if var is not thread:
        cx.fixed[var] = "a thread"
    return var
