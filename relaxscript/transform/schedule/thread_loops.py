"""Loops over the threads of a device that have to run on the CPU, one thread after the other."""

from __future__ import annotations

from relaxscript.errors import Diagnostic, Label
from relaxscript.ir.tir import For, PrimFunc

from .independence import shared_elements
from .loops import places_of, told
from .tree import FunctionTree

__all__ = ["shared_by_threads"]


def shared_by_threads(func: PrimFunc, loop: For) -> Diagnostic | None:
    """The reason not to run threads in order, that they exchange elements; None without one.

    A sum that all of them add to is the same in that order.
    """
    tree = FunctionTree(func)
    if tree.loops.get(loop.loop_var) is not loop:
        tree = FunctionTree(func.with_body(loop))
    found = shared_elements(tree, loop, True)
    if found is None:
        return None
    labels = tuple(Label(node.span, text) for node, text in places_of(found) if node.span)
    return Diagnostic(
        "RX0505",
        "a loop over the threads of a GPU cannot run on the CPU where they exchange elements: "
        f"{told(found)}",
        loop.span, labels, help="loop over `T.serial(...)` as the steps of one thread",
    )  # fmt: skip
