"""Names that users know as `tvm.topi.transform`: tensors rearranged."""

from __future__ import annotations

from relaxscript.topi import (
    adv_index,
    arange,
    concatenate,
    dynamic_strided_slice,
    expand_dims,
    expand_like,
    flip,
    gather,
    gather_nd,
    index_tensor,
    layout_transform,
    matmul,
    matrix_set_diag,
    meshgrid,
    one_hot,
    repeat,
    reshape,
    reverse_sequence,
    sequence_mask,
    shape,
    sliding_window,
    sparse_to_dense,
    split,
    squeeze,
    stack,
    strided_set,
    strided_slice,
    take,
    tile,
    transpose,
    trilu,
    unravel_index,
    where,
)

__all__ = [
    "adv_index", "arange", "concatenate", "dynamic_strided_slice", "expand_dims", "expand_like",
    "flip", "gather", "gather_nd", "index_tensor", "layout_transform", "matmul", "matrix_set_diag",
    "meshgrid", "one_hot", "repeat", "reshape", "reverse_sequence", "sequence_mask", "shape",
    "sliding_window", "sparse_to_dense", "split", "squeeze", "stack", "strided_set",
    "strided_slice", "take", "tile", "transpose", "trilu", "unravel_index", "where",
]  # fmt: skip
