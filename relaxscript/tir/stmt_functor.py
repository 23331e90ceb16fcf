"""Names that users know as `tvm.tir.stmt_functor`: visits and transformations by functions."""

from __future__ import annotations

from relaxscript.ir.stmt_functor import (
    ir_transform,
    post_order_visit,
    pre_order_visit,
    renew_defs,
    substitute,
)

__all__ = ["ir_transform", "post_order_visit", "pre_order_visit", "renew_defs", "substitute"]
