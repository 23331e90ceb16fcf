"""Templates of example calls of random numbers, by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.ir.struct_info import PrimStructInfo, TensorStructInfo
from relaxscript_tests.op.operands import S, T, Value

KEY = Value(np.array([7, 42], "uint32"), TensorStructInfo((2,), "uint32"))
SEED = Value(42, PrimStructInfo("int64"))

CASES: dict[str, list[Any]] = {
    "random.key": [(42,), (-1,), (SEED,), (T((), "int8"),)],
    "random.split": [(KEY,), (KEY, 5), (KEY, 0)],
    "random.uniform": [
        (KEY, (2, 3)), (KEY, (), -1.0, 1.0, "float16"), (KEY, (0, 3)), (KEY, S((4, 5)), 2.0, 2.0),
        (KEY, (7,), 0.0, 1.0, "bfloat16"), (KEY, (2, 1), -3.0, 5.0, "float64"),
    ],
    "random.normal": [
        (KEY, (2, 3)), (KEY, (), 5.0, 0.0), (KEY, S((3, 1)), 1.0, 2.0, "float64"),
        (KEY, (0,), 0.0, 1.0, "float16"),
    ],
    "random.randint": [
        (KEY, (2, 3), 0, 10), (KEY, (), -7, -6), (KEY, S((3,)), -128, 128, "int8"),
        (KEY, (5,), -(1 << 63), (1 << 63) - 1), (KEY, (4,), 5, 1 << 40, "uint64"),
    ],
    "random.bernoulli": [
        (KEY, (2, 3)), (KEY, (), 1.0), (KEY, S((3, 2)), 0.25, "float32"), (KEY, (0,), 0.0, "int8"),
    ],
}  # fmt: skip
