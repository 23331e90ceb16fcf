"""A network in other layouts, without normalizations or in half precision, means what it meant."""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any, NamedTuple

import pytest

from relaxscript.ir import IRModule
from relaxscript.ir.relax import Call, Op
from relaxscript.ir.walk import walk
from relaxscript.testing.compare import EXECUTORS, assert_allclose_tree
from relaxscript.transform import (
    ConvertLayout,
    ConvertToDataflow,
    DeadCodeElimination,
    FoldBatchnormToConv2D,
    FoldConstant,
    InlinePrivateFunctions,
    Pass,
    Sequential,
    ToMixedPrecision,
)
from relaxscript_tests.end_to_end.models.resnet18 import resnet18
from relaxscript_tests.end_to_end.test_models import arguments

NHWC = ConvertLayout({"relax.nn.conv2d": ["NHWC", "OHWI"]})
FOLD = FoldBatchnormToConv2D()
HALF = ToMixedPrecision()
PACKED = ConvertLayout({"relax.nn.conv2d": ["NCHW4c", "OIHW4o"]})


class Row(NamedTuple):
    """Passes, how far results may be away after them, and how often operators are called then."""

    passes: tuple[Pass, ...]
    bound: float
    calls: dict[str, int]


# Of the 20 convolutions each has a weight, and after folding a bias, which are brought into the
# layout as the image is. The first one has three channels, which nothing packs.
ROWS = {
    "nhwc": Row((NHWC,), 1e-5, {"permute_dims": 21, "nn.batch_norm": 20}),
    "folded": Row((FOLD,), 1e-5, {"permute_dims": 0, "nn.batch_norm": 0}),
    "folded_nhwc": Row((FOLD, NHWC), 1e-5, {"permute_dims": 41, "nn.batch_norm": 0}),
    "nhwc_folded": Row((NHWC, FOLD), 1e-5, {"permute_dims": 21, "nn.batch_norm": 0}),
    "folded_packed": Row((FOLD, PACKED), 1e-5, {"layout_transform": 40, "nn.batch_norm": 0}),
    "folded_nhwc_half": Row((FOLD, NHWC, HALF), 1e-2, {"permute_dims": 41, "nn.batch_norm": 0}),
    "half_nhwc": Row((HALF, NHWC), 1e-2, {"permute_dims": 21, "nn.batch_norm": 20}),
}


@functools.cache
def network() -> tuple[IRModule, Any, Any]:
    """ResNet-18 in one dataflow block, an image with weights, and what it makes of these."""
    passes = InlinePrivateFunctions(), ConvertToDataflow(), FoldConstant(), DeadCodeElimination()
    mod = Sequential(passes)(resnet18(8, 32, 10))
    inputs = arguments(mod, 1)
    return mod, inputs, EXECUTORS["interpreter"](mod)("main", *inputs)


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_network_in_other_layouts_gives_what_it_gave(row: Row) -> None:
    mod, inputs, expected = network()
    made = Sequential(row.passes)(mod)
    calls = (node for node in walk(made["main"]) if isinstance(node, Call))
    called = Counter(call.op.name for call in calls if isinstance(call.op, Op))
    assert {name: called[f"relax.{name}"] for name in row.calls} == row.calls
    for executor in ("reference", "llvm"):
        actual = EXECUTORS[executor](made)("main", *inputs)
        assert_allclose_tree(actual, expected, rtol=row.bound, atol=row.bound)
