"""Sums of products over any axes by tiles: convolutions, and products however they lie.

Both factors are copied before, as a product's are (`tiled_product.py`). Rows of one become panels
of as many as a tile has, columns of the other panels of two vectors. What is copied is what the
expressions of the factors give. So a convolution is a product whose columns are windows of an
image. The factor that is needed again is copied once for all blocks of the other.

Each element is the sum of fused products, in blocks of steps. Their order is that in which the
indices of one factor use the axes of the sum. The bound of the error is that of the plain sum: the
sum of the products' sizes, times the number of steps, times one unit in the last place.
"""

from __future__ import annotations

from collections.abc import Callable

from relaxscript.ir.intrinsic import op_named
from relaxscript.ir.prim import (
    And,
    Broadcast,
    BufferLoad,
    Call,
    Min,
    PrimExpr,
    Ramp,
    Var,
    const,
)
from relaxscript.ir.tir import (
    BufferStore,
    DeclBuffer,
    IfThenElse,
    LetStmt,
    Stmt,
)
from relaxscript.ir.walk import rewrite

from .contraction_axes import Contraction, places_in
from .contraction_copies import Copies
from .contraction_sizes import Plan, plan_for
from .loop_writing import ceil, fused, in_loops, in_row, loop, number, with_memory
from .panel_copies import along
from .processor import Processor
from .reduction_loops import has_step_one

__all__ = ["contraction_loops"]


def contraction_loops(found: Contraction, processor: Processor) -> Stmt | None:
    """The loops of a contraction by tiles; None where it is not worth them.

    for f, y, x, c, k in T.grid(8, 9, 9, 4, 9):         for columns y, x in blocks:
        with T.block("conv"):                               columns[...] = x[c, y + k // 3, ...]
            r[f, y, x] = r[f, y, x] +               →       for tiles of f and of y, x:
                x[c, y + k // 3, x + k % 3]                     for c, k in steps:
                * w[f, c, k]                                        tile = fma(rows, columns, tile)
    """
    plan = plan_for(found, processor)
    if plan is None:
        return None
    made = _Tiles(plan).all_blocks()
    for view in found.views:
        made = DeclBuffer(view, made)
    return made


class _Tiles:
    """The loops of one contraction, from the outside in."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.found = plan.found
        self.copies = Copies(plan)

    # ------------------------------------------------------------ blocks

    def all_blocks(self) -> Stmt:
        plan = self.plan
        found = self.found
        if plan.keeps_rows:
            made = in_loops(found.outer, self._rows_first())
        else:
            made = in_loops((*found.outer, *found.around), self._columns_first())
        if plan.has_lines:
            # Behind the last line there are zeros.
            zero = const(0.0, plan.dtype)
            size = plan.line.shape[0]
            cleared = along(size, plan.lanes, lambda k: BufferStore(plan.line, zero, (k,)))
            made = in_row(cleared, made)
        for buffer in (plan.a_panels, plan.b_panels, plan.spilled, plan.line):
            made = with_memory(buffer, made)
        return made

    def _rows_first(self) -> Stmt:
        """All rows of a block of steps are copied once."""

        def depth_block(pc: Var) -> Stmt:
            def column_block(jc: Var) -> Stmt:
                return in_row(self.copies.copied_columns(jc, pc), self.tiles(number(0), jc, pc))

            blocks = loop("jc", ceil(self.plan.n, self.plan.block), column_block)
            return in_row(
                self.copies.copied_rows(number(0), pc), in_loops(self.found.around, blocks)
            )

        return self._depth_blocks(depth_block)

    def _columns_first(self) -> Stmt:
        """The columns of a block are copied once for all rows."""
        plan = self.plan
        rows = plan.row_panels * plan.height

        def depth_block(pc: Var) -> Stmt:
            def column_block(jc: Var) -> Stmt:
                def row_block(ic: Var) -> Stmt:
                    return in_row(self.copies.copied_rows(ic, pc), self.tiles(ic, jc, pc))

                blocks = loop("ic", ceil(plan.m, rows), row_block)
                return in_row(self.copies.copied_columns(jc, pc), blocks)

            return loop("jc", ceil(plan.n, plan.block), column_block)

        return self._depth_blocks(depth_block)

    def _depth_blocks(self, body: Callable[[Var], Stmt]) -> Stmt:
        return loop("pc", -(-self.plan.steps // self.plan.depth), body)

    # ------------------------------------------------------------ tiles

    def tiles(self, ic: PrimExpr, jc: PrimExpr, pc: PrimExpr) -> Stmt:
        """All tiles of a block."""
        plan = self.plan

        def columns(jp: Var) -> Stmt:
            j = jc * plan.block + jp * plan.width

            def rows(ip: Var) -> Stmt:
                i = (ic * plan.row_panels + ip) * plan.height
                return IfThenElse(i < plan.m, self.one_tile(pc, (i, ip), (j, jp), jc))

            return IfThenElse(j < plan.end_of_columns(jc), loop("ip", plan.row_panels, rows))

        return loop("jp", plan.column_panels, columns)

    def one_tile(
        self, pc: PrimExpr, row: tuple[PrimExpr, Var], column: tuple[PrimExpr, Var], jc: PrimExpr
    ) -> Stmt:
        plan = self.plan
        (i, ip), (j, jp) = row, column
        zero = Broadcast(const(0.0, plan.dtype), plan.lanes)

        def each(body: Callable[[Var, Ramp], Stmt]) -> Stmt:
            def of_row(r: Var) -> Stmt:
                return in_row(*(body(r, plan.run(h)) for h in range(0, plan.width, plan.lanes)))

            return loop("r", plan.height, of_row, unroll=True)

        def clear(r: Var, at: Ramp) -> Stmt:
            return BufferStore(plan.tile, zero, (r, at))

        def spill(r: Var, at: Ramp) -> Stmt:
            # Registers have no indices, so that results go by way of memory.
            return BufferStore(plan.spilled, BufferLoad(plan.tile, (r, at)), (r, at))

        body = in_row(
            each(clear),
            loop("p", plan.count_of_steps(pc, 1), lambda p: self.step(p, ip, jp)),
            each(spill),
            self.put(pc, i, j, jc),
        )
        return with_memory(plan.tile, body)

    def step(self, p: Var, ip: Var, jp: Var) -> Stmt:
        """The outer product of a column of the rows and a row of the columns, added to the tile."""
        plan = self.plan
        vector = plan.dtype.with_lanes(plan.lanes)
        places = [plan.run(h) for h in range(0, plan.width, plan.lanes)]
        parts = [Var.make(f"b{h}", vector) for h in range(plan.halves)]

        def added(r: Var) -> Stmt:
            a = Var.make("a", vector)
            sums = [
                BufferStore(plan.tile, fused(a, part, BufferLoad(plan.tile, (r, at))), (r, at))
                for part, at in zip(parts, places, strict=True)
            ]
            value = Broadcast(BufferLoad(plan.a_panels, (ip, r, p)), plan.lanes)
            return LetStmt(a, value, in_row(*sums))

        made = loop("r", plan.height, added, unroll=True)
        for part, at in zip(reversed(parts), reversed(places), strict=True):
            made = LetStmt(part, BufferLoad(plan.b_panels, (jp, p, at)), made)
        return made

    def put(self, pc: PrimExpr, i: PrimExpr, j: PrimExpr, jc: PrimExpr) -> Stmt:
        """The tile as the result, or added to it; what of it is inside."""
        plan = self.plan
        end = plan.end_of_columns(jc)
        is_whole = And(i + plan.height <= plan.m, j + plan.width <= end)
        result, columns = self.found.result, self.found.columns
        side_by_side = len(columns) == 1 and has_step_one(result.indices[-1], columns[0].var)
        rows_left = Min(number(plan.height), plan.m - i)
        columns_left = Min(number(plan.width), end - j)

        def element(row: PrimExpr, column: PrimExpr, *at: PrimExpr) -> Stmt:
            given = {**places_in(self.found.rows, row), **places_in(columns, column)}
            to = tuple(rewrite(index, given.get) for index in result.indices)
            value: PrimExpr = BufferLoad(plan.spilled, at)
            if plan.steps > plan.depth:
                zero = const(0.0, plan.dtype)
                args = (pc > 0, BufferLoad(result.buffer, to), zero)
                value = Call(plan.dtype, op_named("tir.if_then_else"), args) + value
            return BufferStore(result.buffer, value, to)

        def vectors(r: Var) -> Stmt:
            return plan.vectors(lambda k: element(i + r, j + k, r, k))

        def elements(r: Var) -> Stmt:
            return loop("k", columns_left, lambda k: element(i + r, j + k, r, k))

        parts = loop("r", rows_left, elements)
        if not side_by_side:
            return parts
        return IfThenElse(is_whole, loop("r", plan.height, vectors), parts)
