"""Sums of products over any axes: which axes each factor has, as in a convolution or a product.

An axis of the result that only one factor has is one of rows or of columns; one that both have is a
loop around. Columns lie side by side in the result. The axes of the sum are steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from relaxscript.ir import prim
from relaxscript.ir.node import Node
from relaxscript.ir.prim import (
    BufferLoad,
    FloatImm,
    FloorDiv,
    FloorMod,
    PrimExpr,
    Var,
    cast,
    const,
)
from relaxscript.ir.tir import Buffer, BufferStore
from relaxscript.ir.walk import walk

from .collapsed_axes import collapsed
from .grouped_loops import with_groups_as_loops
from .loop_nests import Loop
from .row_nests import PlainNest

__all__ = ["Contraction", "Factor", "contraction_of", "places_in"]

Loops = tuple[Loop, ...]


class Factor(NamedTuple):
    """An expression of places, which are rows or columns, and of steps; each has its own loops."""

    value: PrimExpr
    places: Loops
    steps: Loops


class Contraction(NamedTuple):
    """`result[outer, around, i, j] = sum over k of a[outer, i, k] * b[outer, around, j, k]`.

    The result has the loops of the rows of `a`, and of columns its own. The buffers in which some
    axes are one are `views`.
    """

    outer: Loops
    around: Loops
    a: Factor
    b: Factor
    result: BufferStore
    rows: Loops
    columns: Loops
    views: tuple[Buffer, ...]


def places_in(loops: Sequence[Loop], index: PrimExpr) -> dict[Node, PrimExpr]:
    """The variables of some loops where the index of all of them is known."""
    found: dict[Node, PrimExpr] = {}
    for place, loop in enumerate(reversed(loops)):
        if place == len(loops) - 1:
            found[loop.var] = cast(index, loop.var.dtype)
            break
        extent = cast(loop.extent, index.dtype)
        found[loop.var] = cast(FloorMod(index, extent), loop.var.dtype)
        index = FloorDiv(index, extent)
    return found


def contraction_of(nest: PlainNest, start: PrimExpr) -> Contraction | None:
    """The contraction that a reduction is; None where it is none."""
    if nest.reduction is not prim.Add or not (isinstance(start, FloatImm) and start.value == 0):
        return None
    if nest.store.buffer.dtype not in ("float32", "float64"):
        return None
    store = nest.store.replace(value=nest.value)
    outer, store = with_groups_as_loops(nest.outer, store)
    match store.value:
        case prim.Mul(a=x, b=y):
            return _with_roles(outer, nest.inner, store, x, y)
    return None


def _with_roles(
    outer: Sequence[Loop], inner: Sequence[Loop], store: BufferStore, x: PrimExpr, y: PrimExpr
) -> Contraction | None:
    """The contraction of two factors, of which the one with the last axis has the columns."""
    if not outer or not inner:
        return None
    in_x, in_y = ({node for node in walk(e) if isinstance(node, Var)} for e in (x, y))
    last = outer[-1].var
    if (last in in_x) is (last in in_y):
        return None
    a, b, in_a, in_b = (x, y, in_x, in_y) if last in in_y else (y, x, in_y, in_x)
    columns: list[Loop] = []
    for loop in reversed(outer):
        if loop.var in in_a or loop.var not in in_b:
            break
        columns.insert(0, loop)
    others = [loop for loop in outer if loop not in columns]
    rows = [loop for loop in others if loop.var in in_a and loop.var not in in_b]
    around = [loop for loop in others if loop.var not in in_a]
    both = [loop for loop in others if loop.var in in_a and loop.var in in_b]
    if not rows or any(loop.var not in in_a | in_b for loop in inner):
        return None
    steps = _in_order_of_use(inner, a if len(rows) > len(columns) else b)
    view_of_a, value_of_a, (a_rows, a_steps) = _collapsed(a, rows, steps)
    view_of_b, value_of_b, (b_columns, b_steps) = _collapsed(b, columns, steps)
    done = collapsed((columns,), store.replace(value=const(0.0, store.buffer.dtype)))
    return Contraction(
        tuple(both), tuple(around), Factor(value_of_a, a_rows, a_steps),
        Factor(value_of_b, b_columns, b_steps), done.store, tuple(rows), done.groups[0],
        (*view_of_a, *view_of_b, *done.views),
    )  # fmt: skip


def _in_order_of_use(loops: Sequence[Loop], e: PrimExpr) -> list[Loop]:
    """The loops in the order in which indices of an expression use them."""
    indices = [i for node in walk(e) if isinstance(node, BufferLoad) for i in node.indices]
    places = {
        loop: next((k for k, i in enumerate(indices) if loop.var in {*walk(i)}), len(indices))
        for loop in loops
    }
    return sorted(loops, key=lambda loop: places[loop])


def _collapsed(
    e: PrimExpr, places: Sequence[Loop], steps: Sequence[Loop]
) -> tuple[tuple[Buffer, ...], PrimExpr, tuple[Loops, ...]]:
    """An expression with its loops made fewer where axes lie behind one another."""
    memory = Buffer("memory", (const(1, "int64"),), e.dtype)
    made = collapsed((places, steps), BufferStore(memory, e, (const(0, "int64"),)))
    return made.views, made.store.value, made.groups
