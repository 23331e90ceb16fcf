"""Names that users know as `tvm.topi.broadcast`: functions of two tensors that are broadcast."""

from __future__ import annotations

from relaxscript.topi import (
    add,
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    broadcast_to,
    divide,
    equal,
    floor_divide,
    floor_mod,
    greater,
    greater_equal,
    left_shift,
    less,
    less_equal,
    log_add_exp,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    mod,
    multiply,
    not_equal,
    power,
    right_shift,
    subtract,
)

__all__ = [
    "add", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "broadcast_to", "divide",
    "equal", "floor_divide", "floor_mod", "greater", "greater_equal", "left_shift", "less",
    "less_equal", "log_add_exp", "logical_and", "logical_not", "logical_or", "logical_xor",
    "maximum", "minimum", "mod", "multiply", "not_equal", "power", "right_shift", "subtract",
]  # fmt: skip
