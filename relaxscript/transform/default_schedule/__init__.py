"""Schedules that functions get where nobody writes one for them.

apply_default_schedule.py  the pass that asks one rule after the other.
elementwise.py             loops over elements that depend on no others, by vectors.
product.py                 products of matrices by tiles, and what follows them.
tiled_product.py           products by tiles, for many rows.
direct_product.py          small products, without copies.
packed_product.py          products whose second matrix may lie in any way.
transposed_product.py      products by a matrix whose columns are stored as rows.
in_place.py                what is computed in two steps in the memory of the result.
product_of_few_rows.py     products that read the second matrix once.
rows.py                    reductions of rows, and what is before and behind them.
row_nests.py               what a function over rows does: its nests, by the same loops.
row_sweeps.py              the loops over one row.
nests.py                   functions of several nests, each arranged by itself.
reduction_loops.py         reductions over any axes, by vectors along the one that lies best.
contraction.py             sums of products over any axes by tiles: convolutions.
contraction_axes.py        which axes the factors of such a sum have.
contraction_sizes.py       the sizes of tiles, panels and blocks.
contraction_copies.py      copies of the factors into panels.
panel_copies.py            copies of elements that lie side by side.
rows_elsewhere.py          elements of rows whose places are computed.
transposed_blocks.py       elements that are read along another axis, by blocks.
split_at_conditions.py     nests in parts, in each of which a condition holds or does not.
grouped_loops.py           loops whose indices are divided, as two.
known_form.py              the steps before the rules, and functions that need none of them.
collapsed_axes.py          axes that lie behind one another, as one.
distributed_loops.py       loops around several statements as loops around each of them.
ordered_loops.py           loops in the order of the result, then those that are added up.
expanded_scalars.py        scalars of iterations as buffers, one element for each.
renamed_results.py         results that are stored again, with a buffer for each step.
conditional_inits.py       reductions that are begun where an index is zero, begun before.
conditional_ends.py        what is done where an index is the last one, done behind the loop.
neutral_starts.py          reductions that begin with any values, which are added behind them.
split_axes.py              axes that are indexed as several, as these.
flat_indices.py            indices of several loops, and the strides by which an axis is divided.
loops_of_quotients.py      loops that are divided where they store, as several.
loops_of_axes.py           loops of blocks by tiles, as one loop for each axis.
apart.py                   functions that are arranged where buffers share no memory.
guarded.py                 functions that are arranged where conditions hold of their sizes.
divided_loops.py           loops and axes of blocks as two.
chosen_values.py           values of reductions that a condition chooses, stored before them.
starts.py                  what reductions begin with, where loops have stored it.
open_blocks.py             blocks around several statements, as these statements.
stored_choices.py          elements that get a value or another, as one store of a choice.
wide_indices.py            loops of int32 as such of int64, before rules see them.
loop_writing.py            loops and arithmetic as schedules write them.
inline_producers.py        what is kept for a moment, as variables.
loop_nests.py              what a function of plain loops does: nests, and one store in each.
processor.py               facts of the processor: how long its vectors are.

Most of them do what steps of `tir.Schedule` do. `test_traces.py` compares both, and says of each
file here which steps these are, or what no step writes.
"""

from __future__ import annotations

from .apply_default_schedule import ApplyDefaultSchedule
from .elementwise import elementwise
from .nests import nests
from .product import product
from .rows import rows

__all__ = ["ApplyDefaultSchedule", "elementwise", "nests", "product", "rows"]
