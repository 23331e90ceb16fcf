"""Numbers by which builtins of the machine say what they do with dimensions.

`vm.builtin.match_shape` and `vm.builtin.make_shape` take one of them for each dimension, with an
operand behind. Source: TVM `relax.testing.runtime_builtin`.
"""

from __future__ import annotations

from enum import IntEnum

__all__ = ["MakeShapeCode", "MatchShapeCode"]


class MatchShapeCode(IntEnum):
    """The use of a dimension that is matched: compare it, or keep it in the shape heap."""

    ASSERT_EQUAL_TO_IMM = 0
    STORE_TO_HEAP = 1
    NO_OP = 2
    ASSERT_EQUAL_TO_LOAD = 3


class MakeShapeCode(IntEnum):
    """The source of a dimension that is made: the operand itself, or the shape heap."""

    USE_IMM = 0
    LOAD_SHAPE = 1
