"""The context of expressions: the layout of a frame, and rules for what is around them.

A frame is a list with one slot for each variable and buffer. Slot 0 is for what runs the frame.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from relaxscript.errors import Span, VMError
from relaxscript.ir import prim, tir
from relaxscript.ir.node import Node
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.tir_compute import Reduce

from . import tir_errors

__all__ = ["DIMENSIONS", "ExpressionContext", "Frame", "FrameLayout", "Rules", "Run"]

Frame = list[Any]
Run = Callable[[Frame], Any]


class FrameLayout:
    """The slots of a frame; slot 0 belongs to no variable."""

    def __init__(self) -> None:
        self.size = 1
        self._slots: dict[Node, int] = {}

    def define(self, variable: Node) -> int:
        """The slot of a variable or buffer, a new one where it has none yet."""
        if variable not in self._slots:
            self._slots[variable] = self.size
            self.size += 1
        return self._slots[variable]

    def find(self, variable: Node) -> int | None:
        """The slot of a variable or buffer, if it has one."""
        return self._slots.get(variable)


class Rules(NamedTuple):
    """The rules by which expressions use memory, loops and other functions."""

    slot_of: Callable[[ExpressionContext, tir.Buffer, Span | None], int]
    reduction: Callable[[ExpressionContext, Reduce], Run]
    external: Callable[[ExpressionContext, prim.Call, str], Run]
    call_function: Callable[[ExpressionContext, prim.Call, GlobalVar], Run]
    returning: Callable[[ExpressionContext, prim.Call], Run]


class ExpressionContext:
    """The frame of one function while closures are made for it."""

    def __init__(self, layout: FrameLayout, rules: Rules, vector_math: bool = False) -> None:
        self.layout = layout
        self.rules = rules
        # Whether functions such as exp are those of `vector_math/`.
        self.vector_math = vector_math
        # How a sum or product of integers fails, where it may not wrap.
        self.wraps: Callable[[], VMError] | None = None
        # Buffers that are used over some memory without being declared, by its pointer.
        self.views: dict[prim.Var, list[Run]] = {}
        # Buffers that were given memory where they were declared, by its pointer.
        self.declared_memory: dict[prim.Var, tir.Buffer] = {}


# ------------------------------------------------------------ dimensions


def _slot_of(cx: ExpressionContext, buffer: tir.Buffer, span: Span | None) -> int:
    slot = cx.layout.find(buffer)
    if slot is None:
        raise tir_errors.undefined("buffer", buffer.name, span)
    return slot


def _no_reduction(cx: ExpressionContext, e: Reduce) -> Run:
    raise tir_errors.no_value(e)


def _no_external(cx: ExpressionContext, e: prim.Call, name: str) -> Run:
    raise tir_errors.invalid("RX0505", f"`{name}` has no meaning in a dimension", e.span)


def _no_function(cx: ExpressionContext, e: prim.Call, function: GlobalVar) -> Run:
    return _no_external(cx, e, function.name_hint)


def _no_return(cx: ExpressionContext, e: prim.Call) -> Run:
    return _no_external(cx, e, "ret")


# The rules of dimensions, which are evaluated before a function begins: arguments are all there is.
DIMENSIONS = Rules(_slot_of, _no_reduction, _no_external, _no_function, _no_return)
