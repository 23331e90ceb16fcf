"""Loops over the threads of a device that have to run on the CPU, one thread after the other."""

from __future__ import annotations

from relaxscript.errors import Diagnostic, Label
from relaxscript.ir.tir import For, PrimFunc

from .accesses import accesses_in
from .dependences import carried_by, dependences
from .loops import places_of, told
from .tree import FunctionTree, size_facts

__all__ = ["shared_by_threads"]


def shared_by_threads(func: PrimFunc, loop: For) -> Diagnostic | None:
    """The reason not to run threads in order, that they exchange elements; None without one.

    A sum that all of them add to is the same in that order.
    """
    tree = FunctionTree(func)
    known = tree.loops.get(loop.loop_var) is loop
    facts = tree.facts_at(loop) if known else size_facts(func)
    for found in dependences(accesses_in(loop), facts):
        if not found.is_accumulation and carried_by(found, loop):
            labels = tuple(Label(node.span, text) for node, text in places_of(found) if node.span)
            return Diagnostic(
                "RX0505",
                "a loop over the threads of a GPU cannot run on the CPU where they exchange "
                f"elements: {told(found)}",
                loop.span, labels, help="loop over `T.serial(...)` as the steps of one thread",
            )  # fmt: skip
    return None
