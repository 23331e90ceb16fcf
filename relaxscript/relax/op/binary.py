"""Names that users know as `relax.op.binary`: operators of two tensors."""

from __future__ import annotations

from relaxscript.op.binary import (
    add,
    atan2,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    divide,
    floor_divide,
    floor_mod,
    left_shift,
    log_add_exp,
    logical_and,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    mod,
    multiply,
    power,
    right_shift,
    subtract,
)
from relaxscript.op.comparison import equal, greater, greater_equal, less, less_equal, not_equal

__all__ = [
    "add", "atan2", "bitwise_and", "bitwise_or", "bitwise_xor", "divide", "equal",
    "floor_divide", "floor_mod", "greater", "greater_equal", "left_shift", "less", "less_equal",
    "log_add_exp", "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "mod",
    "multiply", "not_equal", "power", "right_shift", "subtract",
]  # fmt: skip
