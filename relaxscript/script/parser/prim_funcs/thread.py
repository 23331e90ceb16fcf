"""Threads of devices: every one that is used is launched."""

from __future__ import annotations

from relaxscript.errors import Diagnostic
from relaxscript.ir import tir
from relaxscript.ir.walk import free_vars

from .context import TirContext

__all__ = ["check_launched"]


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
