"""Sizes of the tiles, panels and blocks of a contraction, and the memory of these."""

from __future__ import annotations

from collections.abc import Callable
from math import lcm

from relaxscript.ir.prim import Min, PrimExpr, Ramp
from relaxscript.ir.tir import Buffer, Stmt

from .contraction_axes import Contraction, Factor, Loops
from .elementwise import product_of
from .loop_nests import number_of
from .loop_writing import in_row, number
from .panel_copies import in_lanes, is_run
from .processor import Processor

__all__ = ["Plan", "plan_for"]

# Steps of a block, and elements of the factor that is copied once and of the one that is not.
DEPTH, KEPT, COPIED = 384, 196608, 131072
# With fewer rows or steps nothing is gained by copies.
FEWEST = 4
# Longer lines of an image are no block.
LONGEST_LINE = 2048


def plan_for(found: Contraction, processor: Processor) -> Plan | None:
    """The sizes for a contraction; None where it is not worth tiles."""
    rows, columns, steps = (number_of(x) for x in (found.rows, found.columns, found.a.steps))
    lanes = processor.lanes(found.result.buffer.dtype.itemsize)
    if steps is None or steps < FEWEST or (rows is not None and rows < FEWEST):
        return None
    if columns is not None and columns < lanes // 2:
        return None
    if len(found.b.places) > 1 and (columns is None or _last(found.b.places) > LONGEST_LINE):
        return None
    return Plan(found, processor, rows, columns, steps)


class Plan:
    """The sizes for one contraction.

    A tile has `height` rows and `width` columns, which are `halves` vectors. A block has `depth`
    steps, `row_panels` and `column_panels` as long as a tile, and `block` columns. With
    `keeps_rows` all rows are copied once for all columns, else those of a block of columns are.
    """

    def __init__(
        self, found: Contraction, processor: Processor,
        rows: int | None, columns: int | None, steps: int,
    ) -> None:  # fmt: skip
        self.found = found
        dtype = self.dtype = found.result.buffer.dtype
        self.lanes = processor.lanes(dtype.itemsize)
        self.halves = 1 if columns is not None and columns <= self.lanes else 2
        self.width = self.halves * self.lanes
        most = (processor.vector_registers - 1 - self.halves) // self.halves
        self.height = _even_part(rows, most)
        self.m, self.n = (
            product_of([x.extent for x in found.rows]),
            product_of([x.extent for x in found.columns]),
        )
        self.steps = steps
        self.unit = lcm(*(_last(x.steps) for x in self._one_by_one() if len(x.steps) > 1))
        self.depth = self._depth()
        self.keeps_rows = (
            rows is not None and rows * self.depth <= KEPT and (columns is None or columns >= rows)
        )
        self.row_panels = self._row_panels(rows)
        self.block = self._columns_of_a_block(columns)
        self.column_panels = -(-self.block // self.width)
        self.a_panels = self._memory("rows", self.row_panels, self.height, self.depth)
        self.b_panels = self._memory("columns", self.column_panels, self.depth, self.width)
        self.tile = self._memory("tile", self.height, self.width)
        self.spilled = self._memory("spilled", self.height, self.width)
        self.line = self._memory("line", self.column_panels * self.width)

    def _memory(self, name: str, *sizes: int) -> Buffer:
        return Buffer(name, tuple(map(number, sizes)), self.dtype)

    def _one_by_one(self) -> list[Factor]:
        """The factors that are copied place by place, each along its last steps."""
        a, b = self.found.a, self.found.b
        return [a] if self.has_lines or is_run(b, b.places[-1]) else [a, b]

    def _depth(self) -> int:
        """The steps of a block: a multiple of the last axes of the sum, in even blocks."""
        if self.steps <= DEPTH:
            return self.steps
        units, most = self.steps // self.unit, max(DEPTH // self.unit, 1)
        blocks = -(-units // most)
        return -(-units // blocks) * self.unit

    def _row_panels(self, rows: int | None) -> int:
        if rows is not None and self.keeps_rows:
            return -(-rows // self.height)
        most = max(COPIED // 2 // self.depth // self.height, 1)
        return most if rows is None else min(most, -(-rows // self.height))

    def _columns_of_a_block(self, columns: int | None) -> int:
        """The columns of a block: whole panels, or whole lines of an image."""
        limit = COPIED if self.keeps_rows else KEPT
        most = max(limit // self.depth, self.width)
        if columns is not None and self.has_lines:
            line = _last(self.found.b.places)
            count = columns // line
            return _lines_of_a_block(count, line, max(most // line, 1), self.width) * line
        panels = most // self.width
        if columns is not None:
            panels = min(panels, -(-columns // self.width))
        return panels * self.width

    @property
    def has_lines(self) -> bool:
        return len(self.found.b.places) > 1

    def count_of_steps(self, pc: PrimExpr, unit: int) -> PrimExpr:
        """The steps of a block, in units."""
        if self.steps % self.depth == 0:
            return number(self.depth // unit)
        left = number(self.steps // unit) - pc * (self.depth // unit)
        return Min(number(self.depth // unit), left)

    def end_of_columns(self, jc: PrimExpr) -> PrimExpr:
        """The first column behind a block."""
        return Min(self.n, (jc + 1) * self.block)

    def run(self, first: int) -> Ramp:
        return Ramp(number(first), number(1), self.lanes)

    def vectors(self, one: Callable[[PrimExpr], Stmt]) -> Stmt:
        """A statement for each vector of a panel."""

        def from_(start: int) -> Stmt:
            return in_lanes(self.lanes, lambda k: one(k + start))

        starts = range(0, self.width, self.lanes)
        return in_row(*map(from_, starts))


def _even_part(size: int | None, most: int) -> int:
    """The length of parts of a size, each at most so long, as even as they can be."""
    if size is None:
        return most
    return -(-size // -(-size // most))


def _lines_of_a_block(count: int, line: int, most: int, width: int) -> int:
    """The number of lines of which the fewest elements are in panels that are not whole."""

    def waste(lines: int) -> float:
        blocks = -(-count // lines)
        return blocks * (-(-lines * line // width) * width) / (count * line)

    return min(range(1, min(count, most) + 1), key=lambda lines: (waste(lines), -lines))


def _last(loops: Loops) -> int:
    """The length of the innermost loop, which is known."""
    return number_of(loops[-1:]) or 1
