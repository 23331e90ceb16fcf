"""Templates of example calls of operators, by name; what they call by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.ir import relax
from relaxscript.ir.distributed import DeviceMesh
from relaxscript.ir.module import VDevice
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    TensorStructInfo,
)
from relaxscript.ir.tir_compute import IndexMap

from .image.cases import CASES as IMAGE_CASES
from .nn.cases import CASES as NN_CASES
from .operands import S, T, Value
from .random.cases import CASES as RANDOM_CASES
from .vision.cases import CASES as VISION_CASES


def scale(x: Any, y: Any) -> None:
    """A destination-passing function: twice its argument."""
    y[...] = 2 * x


def split_sign(x: Any, positive: Any, negative: Any) -> None:
    """A destination-passing function of two results."""
    positive[...] = np.maximum(x, 0)
    negative[...] = np.minimum(x, 0)


def fill(n: int, y: Any) -> None:
    """A destination-passing function that takes an integer."""
    y[...] = n


def doubled(x: Any) -> Any:
    """A function that returns its result."""
    return 2 * x


def double_in_place(x: Any) -> None:
    """A function that doubles its argument where it stands."""
    x *= 2


def double_and_copy(x: Any, y: Any) -> Any:
    """A function of two results: its doubled first argument, and a copy of the second."""
    x *= 2
    return x, y.copy()


def scale_and_fill(x: Any, y: Any) -> None:
    """A function that doubles its argument in place, and writes what that was into a new tensor."""
    y[...] = x
    x *= 2


def with_state(state: Any, x: Any) -> Any:
    """A builtin that takes the state of the running call first."""
    return 2 * x


CALLEES = {
    function.__name__: function
    for function in (
        scale, split_sign, fill, doubled, double_in_place, double_and_copy, scale_and_fill,
        with_state,
    )
}  # fmt: skip
GLOBAL = {name: relax.GlobalVar(name) for name in CALLEES}
INDEX = Value(1, PrimStructInfo("int64"))
STORAGE = Value(np.zeros(32, "uint8"), ObjectStructInfo())
ONES_1 = Value(np.ones(1, "int64"), TensorStructInfo((1,), "int64"))
ONES_3 = Value(np.ones(3, "int64"), TensorStructInfo((3,), "int64"))
FLOAT = TensorStructInfo((2, 3), "float32")
OBJECT = ObjectStructInfo()
UNARY = [(T((2, 3)),), (T(()),), (T((0, 3)),), (T((4, 1, 3)),)]
# NaN, infinities and what is equal: `R.max` and the places of extremes tell them apart.
SPECIAL = (float("nan"), float("inf"), float("-inf"), 0.0, 1.0)
MESH = DeviceMesh((2,), (0, 1))
ON_MESH = Value(
    np.ones((4, 3), "float32"), DTensorStructInfo(TensorStructInfo((4, 3), "float32"), MESH, "R")
)
ON_DEVICE = Value(
    np.ones((2, 3), "float32"), DTensorStructInfo(FLOAT, DeviceMesh((1,), (0,)), "S[0]")
)
BINARY = [
    (T((2, 3)), T((2, 3))),
    (T((2, 3)), T((3,))),
    (T((2, 1)), T((1, 3))),
    (T(()), T(())),
    (T(()), T((2, 3))),
    (T((0, 3)), T((1, 3))),
    (T((0, 1)), T((3,))),
    (T((4, 1, 3)), T((2, 1))),
]
ALONG_AXES: list[Any] = [
    (T((2, 3)),),
    (T((2, 3)), 0),
    (T((2, 3)), [0, -1]),
    (T((4, 2, 3)), [-1, 0], True),
    (T((4, 2, 3)), None, True),
    (T((2, 3)), []),
    (T(()),),
    (T((0, 3)), 1),
    (T((2, 3)), -1, True),
    (T((0, 3)), 0),
    (T((5, 7), values=SPECIAL), 1),
    (T((3, 7), values=SPECIAL[1:]), 1),
]
ALONG_AXIS: list[Any] = [
    (T((2, 3)),),
    (T((2, 3)), 0),
    (T((4, 2, 3)), -2, True),
    (T((4, 2, 3)), None, True),
    (T(()),),
    (T((0, 3)), 1),
    (T((0, 3)), 0),
    (T((5, 7), values=SPECIAL), 1),
    (T((3, 7), values=SPECIAL[1:]), 1),
    (T((3, 7), values=(SPECIAL[2],)), 0),
]
SCANS: list[Any] = [
    (T((2, 3)),),
    (T((2, 3)), 0),
    (T((4, 2, 3)), -2, None, True),
    (T((2, 3)), None, "float32", True),
    (T((0, 3)), 0),
    (T((0, 3)), None, None, True),
    (T(()),),
    (T(()), None, "float64", True),
    (T((7, 2), values=(-0.0, -0.0, 1.5, -2.0, 0.0)), 0),
    (T((2, 7), values=(*SPECIAL, 3.0)), 1, "float32", True),
    (T((9, 9)), 1, "int8"),
]
LIKE: list[Any] = [(T((2, 3)),), (T(()),), (T((0, 3)), "float32"), (T((2, 3)), "int8")]

TRANSPOSED = IndexMap.from_func(lambda i, j: (j, i))
PACKED = IndexMap.from_func(lambda i, j: (i // 2, j, i % 2))
REVERSED = IndexMap.from_func(lambda i: (6 - i) * 2 + 1)
LAST_ROW = IndexMap.from_func(lambda i, j: (j, 1))
NEW_AXIS = IndexMap.from_func(lambda: (1,))

CASES: dict[str, list[Any]] = {
    **IMAGE_CASES,
    **NN_CASES,
    **RANDOM_CASES,
    **VISION_CASES,
    "matmul": [
        (T((2, 3)), T((3, 4))),
        (T((3,)), T((3,))),
        (T((3,)), T((3, 4))),
        (T((2, 3)), T((3,))),
        (T((5, 2, 3)), T((3, 4))),
        (T((2, 3)), T((5, 3, 4))),
        (T((5, 1, 2, 3)), T((4, 3, 2))),
        (T((3,)), T((5, 3, 4))),
        (T((5, 2, 3)), T((3,))),
        (T((0, 3)), T((3, 4))),
        (T((2, 0)), T((0, 4))),
        (T((2, 3)), T((3, 4)), "float32"),
    ],
    "where": [
        (T((2, 3), "bool"), T((2, 3)), T((2, 3))),
        (T((2, 1), "bool"), T((3,)), T(())),
        (T((), "bool"), T((0, 3)), T((1, 3))),
    ],
    "take": [
        (T((2, 3)), T((4,), "int64", 3), 1),
        (T((2, 3)), T((4, 2), "int8", 2), -2),
        (T((5,)), T((), "int64", 5)),
        (T((2, 3)), T((0,), "int64"), 0),
        (T((2, 3)), T((4,), "int64", 9), 1, ("mode", "clip")),
        (T((2, 3)), T((4,), "int64", 9), 1, ("mode", "wrap")),
    ],
    "argmax": ALONG_AXIS,
    "argmin": ALONG_AXIS,
    "permute_dims": [
        (T((2, 3)),),
        (T((4, 2, 3)), [2, 0, 1]),
        (T((4, 2, 3)), [0, -1, 1]),
        (T((4, 2, 3)), [0, 1, 2]),
        (T(()),),
        (T((0, 3)), [1, 0]),
    ],
    "expand_dims": [
        (T((2, 3)), 0),
        (T((2, 3)), [-1, 0]),
        (T(()), [0, 1]),
        (T((2, 3)), []),
        (T((0, 3)), -2),
    ],
    "squeeze": [
        (T((2, 1, 3)), 1),
        (T((1, 2, 1)), [0, -1]),
        (T((1, 2, 1)),),
        (T((2, 3)),),
        (T(()),),
        (T((0, 1)), 1),
        (T((2, 3)), []),
    ],
    "concat": [
        ([T((2, 3)), T((4, 3))],),
        ([T((2, 3)), T((2, 1)), T((2, 4))], -1),
        ([T((2, 3))],),
        ([T((2,)), T((3,))], None),
        ([T((0, 3)), T((2, 3))], 0),
    ],
    "split": [
        (T((4, 3)), 2),
        (T((5, 3)), 2),
        (T((5, 3)), 4),
        (T((2, 7)), [2, 3], 1),
        (T((2, 7)), [], -1),
        (T((2, 7)), [0, 7], 1),
        (T((0, 3)), 2),
        (T((2, 3)), 1),
    ],
    "reshape": [
        (T((2, 3)), (3, 2)),
        (T((4, 2, 3)), (4, -1)),
        (T((2, 3)), (-1,)),
        (T(()), (1, 1)),
        (T((1,)), ()),
        (T((0, 3)), (5, 0)),
        (T((2, 3)), S((6,))),
        (T((2, 3)), (2, 3)),
    ],
    "flatten": [(T((2, 3)),), (T(()),), (T((0, 3)),), (T((4,)),), (T((4, 2, 3)),)],
    "broadcast_to": [
        (T((1, 3)), (2, 3)),
        (T((3,)), (4, 2, 3)),
        (T(()), (2, 3)),
        (T((1,)), (0,)),
        (T((2, 3)), (2, 3)),
        (T((1, 3)), S((2, 3))),
    ],
    "astype": [
        (T((2, 3)), "float32"),
        (T(()), "int64"),
        (T((0, 3)), "bool"),
        (T((2, 3)), "bfloat16"),
    ],
    "clip": [(T((2, 3)), 1, 3), (T(()), 0, 1)],
    "full": [
        ((2, 3), T(())),
        ((0,), T(()), "float32"),
        ((), 1.5, "float16"),
        ((2, 3), 7),
        (S((2, 3)), T(())),
    ],
    "full_like": [(T((2, 3)), T(())), (T((0, 3)), 1.5, "float64"), (T(()), T(()), "int8")],
    "zeros": [((2, 3), "float32"), ((), "bool"), ((0, 3), "int8"), (S((2, 3)), "float32")],
    "ones": [((2, 3), "float32"), ((), "bool"), ((0, 3), "int8"), (S((2, 3)), "float32")],
    "zeros_like": LIKE,
    "ones_like": LIKE,
    "tril": [(T((2, 3)),), (T((4, 3, 2)), 1), (T((2, 3)), -1), (T((0, 3)),)],
    "triu": [(T((2, 3)),), (T((4, 3, 2)), 1), (T((2, 3)), -1), (T((0, 3)),)],
    "null_value": [()],
    "shape_of": UNARY,
    "tensor_to_shape": [(T((3,), "int64"),)],
    "shape_to_tensor": [((2, 3),), (S((2, 3)),), ((),)],
    "compute_prim_value": [((6,),)],
    "print": [(T((2, 3)), T(())), ("text", ("format", "{}!")), ()],
    "assert_op": [
        (Value(np.array(True), TensorStructInfo((), "bool")),),
        (Value(True, PrimStructInfo("bool")), [T((2, 3))], "is {}"),
    ],
    "call_tir": [
        (GLOBAL["scale"], (T((2, 3), "float32"),), FLOAT),
        (GLOBAL["split_sign"], [T((2, 3), "float32")], [FLOAT, FLOAT]),
        (GLOBAL["fill"], (), FLOAT, (7,)),
    ],
    "call_tir_with_grad": [
        (GLOBAL["scale"], (T((2, 3), "float32"),), FLOAT, "scale_grad"),
        (GLOBAL["split_sign"], [T((2, 3), "float32")], [FLOAT, FLOAT], "sign_grad", {"k": 1}),
        (GLOBAL["fill"], (), FLOAT, "no_grad", None, (7,)),
    ],
    "call_tir_inplace": [
        (GLOBAL["double_in_place"], (T((2, 3), "float32"),), [0], FLOAT),
        (GLOBAL["scale_and_fill"], (T((2, 3), "float32"),), [0, -1], [FLOAT, FLOAT]),
    ],
    "call_inplace_packed": [
        ("double_in_place", T((2, 3), "float32"), ("inplace_indices", [0]), ("sinfo_args", FLOAT)),
        (
            "double_and_copy", T((2, 3), "float32"), T((2, 3), "float32"),
            ("inplace_indices", [0, -1]), ("sinfo_args", [FLOAT, FLOAT]),
        ),
    ],
    "call_builtin_with_ctx": [
        ("with_state", (T((2, 3), "float32"),), ("sinfo_args", FLOAT)),
        ("with_state", (T((2, 3), "float32"),)),
    ],
    "to_vdevice": [(T((2, 3)), "llvm:0"), ((T((2,)), (T(()),)), "llvm:0")],
    "ccl.allreduce": [(T((2, 3)),), (T(()), "max", False)],
    "ccl.allgather": [(T((2, 3)), 1), (T((0, 3)), 1, False)],
    "ccl.scatter_from_worker0": [(T((4, 3)), 2), (T((2, 6)), 3, -1), (T((0, 3)), 2)],
    "dist.annotate_sharding": [(T((4, 3)), MESH, "S[0]"), (ON_MESH, MESH, "R")],
    "dist.redistribute": [(ON_MESH, MESH, "S[0]"), (relax.Constant(np.ones((2, 3))), MESH, "S[0]")],
    "dist.redistribute_replica_to_shard": [(T((4, 3)), 2, 0), (T((2, 6)), 3, -1)],
    "dist.call_tir_local_view": [(GLOBAL["scale"], (ON_DEVICE,), ON_DEVICE.info)],
    "hint_on_device": [(T((2, 3)), VDevice("cpu", 1)), (T(()), VDevice("cuda", 0), "shared")],
    "strided_slice": [
        (T((4, 3)), [0], [1], [3]),
        (T((4, 3)), [1, 0], [0, -3], [2, -1]),
        (T((7,)), [0], [1], [6], [2]),
        (T((7,)), [-1], [-2], [0], [-2]),
        (T((4, 3)), [0], [(1 << 63) - 1], [1 - (1 << 63)], [-1]),
        (T((4, 3)), [1], [9], [-9]),
        (T((0, 3)), [0], [0], [5]),
        (T((4, 3)), [], [], []),
        (T((7,)), [0], [1], [7], None, True),
        (T((7,)), [0], [INDEX], [5]),
    ],
    "dynamic_strided_slice": [
        (T((4,)), T((1,), "int64", 2), T((1,), "int64"), ONES_1),
        (T((4, 1, 3)), T((3,), "int64"), T((3,), "int64"), ONES_3),
    ],
    "arange": [
        (5,),
        (2, 9),
        (9, 2, -3),
        (2, 9, 3, "float32"),
        (0.5, 3.0, 0.25),
        (3, 0),
        (INDEX, 7),
    ],
    "eye": [(3,), (2, 3), (3, 2, 1, "int8"), (0, 3), (INDEX, 3)],
    "eye_like": [(T((2, 3)),), (T((3, 2)), -1, "float32"), (T((0, 3)), 1)],
    "median": [
        (T((2, 3)),),
        (T((4, 1, 3)), -1),
        (T((2, 7)), 1, True),
        (T((6, 3)), 0),
        (T(()),),
        (T((4, 3)), None, True),
        (T((0, 3)), 0),
        (T((0, 3)), 1, True),
        (T((0,)),),
        (T((5, 7), values=SPECIAL), 1),
        (T((3, 8), values=SPECIAL[1:]), 1),
    ],
    "cumsum": SCANS,
    "cumprod": SCANS,
    "sort": [
        (T((2, 3)),),
        (T((7, 2)), 0, True),
        (T((0, 3)), 0),
        (T((4, 1, 3)), -1, True),
        (T((9,)),),
        (T((2, 1)), 1),
    ],
    "argsort": [
        (T((2, 3)),),
        (T((7, 2)), 0, True),
        (T((0, 3)), 0, False, "int64"),
        (T((3, 6)), -1, False, "float32"),
    ],
    "topk": [
        (T((2, 3)),),
        (T((7, 2)), 3, 0),
        (T((2, 7)), 4, -1, "values", False),
        (T((2, 7)), 0, -1, "indices", True, "int64"),
        (T((0, 3)), 2),
    ],
    "ewise_fma": [
        (T((2, 3)), T((2, 3)), T((2, 3))),
        (T((2, 1)), T((1, 3)), T(())),
        (T((0, 3)), T((1, 3)), T((1, 1))),
    ],
    "repeat": [(T((2, 3)), 2), (T((2, 3)), 3, 0), (T((4, 1, 3)), 0, -1), (T(()), 2)],
    "tile": [
        (T((2, 3)), 2),
        (T((2, 3)), [4, 1, 2]),
        (T((4, 1, 3)), [5]),
        (T(()), []),
        (T((2, 3)), [0, 1]),
    ],
    "stack": [
        ([T((2, 3)), T((2, 3))],),
        ([T((2, 3))], -1),
        ([T(()), T(()), T(())],),
        ([T((0, 3)), T((0, 3))], 1),
    ],
    "meshgrid": [
        ([T((2,)), T((3,))],),
        ([T((2,)), T((3,)), T((4,))], "xy"),
        ([T((5,)), T(())], "xy"),
        ([T((0,)), T((3,))],),
        ([T((4,))],),
    ],
    "index_tensor": [
        (T((4, 3)), [T((5,), "int64", 4)]),
        (T((4, 3, 2)), [T((2, 1), "int8", 4), T((5,), "int32", 3)]),
        (T((4, 3)), [T((), "int64", 4), T((0,), "int64")]),
    ],
    "index_put": [
        (T((4, 3)), [T((5,), "int64", 4)], T((5, 3))),
        (T((4, 3)), [T((5,), "int64", 4)], T((3,)), True),
        (T((4, 3)), [T((2, 1), "int8", 4), T((5,), "int32", 3)], T((1, 5))),
        (T((4, 3)), [T((0,), "int64")], T(())),
    ],
    "layout_transform": [
        (T((2, 3)), TRANSPOSED),
        (T((5, 3)), PACKED, 7),
        (T((4, 1)), PACKED, None, [1], [1]),
        (T((0, 3)), PACKED),
        (T((7,)), REVERSED),
        (T((2, 3)), LAST_ROW),
        (T(()), NEW_AXIS),
    ],
    "slice_scatter": [
        (T((7,)), T((3,)), 1, 6, 2),
        (T((4, 5)), T((4, 2)), -2, 9, 1, 1),
        (T((4, 5)), T((0, 5)), 3, 1, 1),
    ],
    "bucketize": [
        (T((2, 3)), T((4,), ordered=True)),
        (T((2, 3)), T((4,), ordered=True), True, True),
        (T(()), T((7,), ordered=True)),
        (T(()), T((0,))),
    ],
    "one_hot": [
        (T((2, 3), "int64", 4), 1, 0, 4),
        (T((2,), "int32", 4), 2.5, 0.5, 3, 0),
        (T((), "int8"), True, False, 2),
        (T((0, 3), "int64"), 1, 0, 2, 1),
    ],
    "gather_elements": [
        (T((2, 3)), T((2, 3), "int64", 2)),
        (T((2, 3)), T((1, 4), "int32", 3), -1),
        (T((2, 3)), T((0, 3), "int8", 2), 1),
    ],
    "scatter_elements": [
        (T((4, 3)), T((2, 3), "int64", 4), T((2, 3))),
        (T((2, 3)), T((1, 2), "int32", 3), T((1, 2)), -1, "add"),
        (T((2, 3)), T((2, 3), "int8", 2), T((2, 3)), 0, "max"),
        (T((2, 3)), T((0, 3), "int8", 2), T((0, 3)), 1, "mul"),
    ],
    "gather_nd": [
        (T((4, 3)), T((5, 2), "int64", 3)),
        (T((4, 3, 2)), T((2, 1), "int8", 4)),
        (T((2, 4, 3)), T((2, 5, 1), "int64", 4), 1),
        (T((4, 3)), T((1,), "int64", 3)),
        (T((4, 3)), T((0, 2), "int64", 3)),
    ],
    "scatter_nd": [
        (T((4, 3)), T((5, 2), "int64", 3), T((5,))),
        (T((4, 3, 2)), T((2, 1), "int8", 4), T((2, 3, 2)), "add"),
        (T((4, 3)), T((0, 2), "int64", 3), T((0,)), "min"),
    ],
    "einsum": [
        ([T((2, 3)), T((3, 4))], "ij,jk->ik"),
        ([T((2, 3)), T((3, 4))], "ij, jk"),
        ([T((2, 3, 3))], "bii->b"),
        ([T((5, 2, 3)), T((5, 4, 3))], "bij,bkj->bik"),
        ([T((2, 3))], "ij->"),
        ([T((2, 3)), T((2,)), T(())], "ij,i,->ji"),
        ([T((0, 3)), T((3, 4))], "ij,jk->k"),
        ([T((5, 2, 3)), T((3, 4))], "...ij,...jk->...ik"),
        ([T((2, 3, 4))], "i...->..."),
        ([T((2, 1)), T((3, 4))], "ij,jk"),
        ([T((1, 3)), T((2, 3))], "ij,ij->ij"),
    ],
    "outer": [(T((2,)), T((3,))), (T((0,)), T((3,)))],
    "unique": [
        (T((7,)),),
        (T((2, 3)), False, True, True, True),
        (T((4, 3)), True, False, True, False, 0),
        (T((0, 3)),),
        (T(()),),
    ],
    "nonzero": [(T((2, 3)),), (T(()),), (T((0, 3)),)],
    "quantize": [
        (T((2, 3)), T((), "float32"), T((), "int8")),
        (T((2, 3)), T((3,), "float32"), T((3,), "int32"), 1, "uint8"),
        (T((2, 3)), T((2,), "float32"), T((), "int8"), 0),
        (T((2, 3)), T((3,), "float16"), T((3,), "float32"), -1, "float8_e4m3fn"),
        (T((0, 2)), T((), "float64"), T((), "uint64"), 0, "int64"),
        (T(()), T((), "bfloat16"), T((), "int64"), -1, "int32"),
    ],
    "dequantize": [
        (T((2, 3)), T((), "float32"), T((), "int8")),
        (T((4, 2, 3)), T((2,), "float16"), T((2,), "int64"), -2, "bfloat16"),
        (T(()), T((), "float64"), T((), "float32"), 0, "float8_e5m2"),
        (T((2, 3)), T((3,), "float32"), T((3,), "int32"), 1, "float16"),
    ],
    "collapse_sum_to": [
        (T((2, 3)), (1, 3)),
        (T((4, 2, 3)), (3,)),
        (T((2, 3)), ()),
        (T((2, 3)), (2, 3)),
        (T((0, 3)), (1, 3)),
        (T((2, 3)), S((2, 1))),
    ],
    "collapse_sum_like": [(T((2, 3)), T((1, 3))), (T((4, 2, 3)), T((3,))), (T((2, 3)), T(()))],
    "builtin.alloc_tensor": [((2, 3), "float32", 0), (S((2, 3)), "bool", 0, "global")],
    "memory.alloc_storage": [((24,), 0, "global", "uint8"), (24, 0, "global", "float32")],
    "memory.alloc_tensor": [(STORAGE, 8, (2, 3), "float32"), (STORAGE, 0, (), "int64")],
    "memory.kill_storage": [(STORAGE,)],
    "memory.kill_tensor": [(T((2, 3)),)],
    "vm.alloc_storage": [((24,), 0, "uint8"), ((2, 3), 0, "float32", "global")],
    "vm.alloc_tensor": [(STORAGE, 8, (2, 3), "float32"), (STORAGE, INDEX, S((2,)), "int8")],
    "vm.kill_object": [(STORAGE,), (T((2, 3)),)],
    "grad.nll_loss_backward": [
        (T(()), T((2, 3)), T((2,), "int64", 3)),
        (T(()), T((2, 3, 4)), T((2, 4), "int32", 3), T((3,)), "sum"),
        (T((2, 4)), T((2, 3, 4)), T((2, 4), "int8", 3), None, "none", 1),
        (T(()), T((3,)), T((), "int64", 3), T((3,))),
        (T(()), T((0, 3)), T((0,), "int64", 3)),
    ],
    "grad.max_pool2d_backward": [
        (T((1, 2, 5, 6)), T((1, 2, 5, 6))),
        (T((2, 3, 3, 4)), T((2, 3, 5, 6)), [2, 3], 2, [0, 1, 1, 2], 1),
        (T((1, 2, 3, 4)), T((1, 5, 6, 2)), 2, 2, 1, 1, False, False, "NHWC", "NCHW"),
        (T((0, 3, 4, 5)), T((0, 3, 5, 6)), 2, 1),
    ],
    "grad.avg_pool2d_backward": [
        (T((1, 2, 5, 6)), T((1, 2, 5, 6))),
        (T((2, 3, 3, 4)), T((2, 3, 5, 6)), [2, 3], 2, [0, 1, 1, 2], 1),
        (T((1, 2, 3, 4)), T((1, 5, 6, 2)), 2, 2, 1, 1, False, True, "NHWC", "NCHW"),
        (T((0, 3, 4, 5)), T((0, 3, 5, 6)), 2, 1),
        (T((1, 2, 3, 4)), T((1, 2, 5, 6)), 3, 2, 1, 1, True),
    ],
    "grad.take_backward": [
        (T((2, 4)), T((2, 3)), T((4,), "int64", 3), 1),
        (T((4, 2, 3)), T((2, 3)), T((4, 2), "int8", 2), -2),
        (T(()), T((5,)), T((), "int64", 5)),
        (T((0, 3)), T((2, 3)), T((0,), "int64"), 0),
    ],
    "multinomial_from_uniform": [
        (T((2, 3)), T((5, 1), None, 1), T((5, 1), "int64", 2)),
        (T((2, 3)), T((0, 1)), T((0, 1), "int8"), "int32"),
    ],
    "hamming_window": [
        (8, True, 0.54, 0.46, "float32"),
        (7, False, 0.5, 0.5, "float64"),
        (1, False, 0.54, 0.46, "float16"),
        (0, True, 0.54, 0.46, "float32"),
        (INDEX, True, 0.54, 0.46, "float32"),
    ],
    "wrap_param": LIKE,
    "memory.view": [
        (T((2, 3), "float32"), (3, 2)),
        (T((2, 3), "float32"), None, "int32"),
        (T((2, 3), "float32"), (4, 3), "int16", 0),
        (T((2, 3), "float64"), (2, 1), "float64", 32),
        (T((2, 3), "int8"), S((3,))),
        (T((0, 3)),),
    ],
    "roll": [
        (T((2, 3)), 1),
        (T((4, 1, 3)), [1, -2], [0, -1]),
        (T((2, 3)), 5, [1, 1]),
        (T((2, 3)), [1, 2]),
        (T(()), 3),
        (T((0, 3)), -1, 0),
    ],
    "searchsorted": [
        (T((4,), ordered=True), T((2, 3))),
        (T((2, 4), ordered=True), T((2, 3)), True, "int64"),
        (T((200,), ordered=True), T((9,)), True, "int8"),
        (T((0,)), T(())),
        (T((3, 2, 0)), T((3, 2, 4))),
    ],
    "gather": [
        (T((4, 3)), T((2, 5), "int64", 4)),
        (T((4, 3)), T((5,), "int8", 3), -1),
        (T((4, 1, 3)), T((), "int32", 1), 1),
        (T((4, 3)), T((0, 2), "int64"), 0),
        (T((4, 3)), Value(np.array([-1, 0, -4]), TensorStructInfo((3,), "int64")), 0),
    ],
    "flip": [(T((2, 3)), 0), (T((4, 1, 3)), -1), (T((0, 3)), 0)],
    "inspect.tensor_shape_i": [(T((2, 3)), 0), (T((4, 2, 3)), -1), (T((2, 3)), INDEX)],
    "inspect.tensor_stride_i": [(T((2, 3)), 0), (T((4, 2, 3)), 0), (T((2, 3)), INDEX)],
    "call_dps_packed": [
        ("scale", (T((2, 3), "float32"),), FLOAT),
        ("split_sign", (T((2, 3), "float32"),), [FLOAT, FLOAT]),
    ],
    "call_pure_packed": [
        ("doubled", T((2, 3), "float32"), ("sinfo_args", FLOAT)),
        ("doubled", T((2, 3), "float32"), ("sinfo_args", OBJECT)),
    ],
    "make_closure": [(Value(doubled, OBJECT), (T((2, 3), "float32"),))],
    "invoke_closure": [(Value(doubled, OBJECT), (T((2, 3), "float32"),), FLOAT)],
    "invoke_pure_closure": [(Value(doubled, OBJECT), (T((2, 3), "float32"),), FLOAT)],
}  # fmt: skip
