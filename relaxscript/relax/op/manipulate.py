"""Names that users know as `relax.op.manipulate`: the same elements in other shapes."""

from __future__ import annotations

from relaxscript.op.collapse_sum import collapse_sum_like, collapse_sum_to
from relaxscript.op.gather_scatter import (
    gather,
    gather_elements,
    gather_nd,
    scatter_elements,
    scatter_nd,
)
from relaxscript.op.indexing import index_put, index_tensor
from relaxscript.op.manipulate import (
    broadcast_to,
    concat,
    expand_dims,
    flatten,
    layout_transform,
    meshgrid,
    one_hot,
    permute_dims,
    repeat,
    reshape,
    roll,
    split,
    squeeze,
    stack,
    tile,
)
from relaxscript.op.slicing import flip, slice_scatter

__all__ = [
    "broadcast_to", "collapse_sum_like", "collapse_sum_to", "concat", "expand_dims", "flatten",
    "flip", "gather", "gather_elements", "gather_nd", "index_put", "index_tensor",
    "layout_transform", "meshgrid", "one_hot", "permute_dims", "repeat", "reshape", "roll",
    "scatter_elements", "scatter_nd", "slice_scatter", "split", "squeeze", "stack", "tile",
]  # fmt: skip
