"""Threads of devices: launches, and threads that are launched later."""

from __future__ import annotations

import ast
import re
from typing import Any

from relaxscript.errors import Diagnostic
from relaxscript.ir import tir
from relaxscript.ir.walk import free_vars

from .context import TirContext

__all__ = ["check_launched", "check_thread"]

_NAME = re.compile(r"\W")


def check_thread(cx: TirContext, tag: Any, node: ast.AST) -> str:
    """The name of a thread; an unusual one deserves a word."""
    with cx.builder_at(node) as builder:
        return builder.known_thread(tag, "thread")


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
