"""Products and convolutions by numpy: partition, generate, build, run."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Attrs
from relaxscript.relax.backend.numpy_blas import partition_for_numpy
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import PassContext, RunCodegen, VerifyEach
from relaxscript_tests.transform.fuse.annotated import callees


def module(params: str, body: str, dtype: str = "float32") -> IRModule:
    *lines, result = [line.strip() for line in body.strip().split("\n")]
    text = "\n".join(f"            {line}" for line in lines)
    return from_source(f"""
@I.ir_module
class M:
    @R.function
    def main({params.replace("float32", dtype)}):
        n = T.int64()
        with R.dataflow():
{text}
            R.output({result})
        return {result}
""")


MODEL = module(
    'x: R.Tensor(("n", 3, 9, 8), "float32"), k: R.Tensor((5, 3, 3, 2), "float32"), '
    'b: R.Tensor((5, 1, 1), "float32"), w: R.Tensor((6, 4), "float32"), '
    'v: R.Tensor((4, 4), "float32")',
    """a = R.nn.conv2d(x, k, strides=(2, 1), padding=(1, 0), dilation=(1, 2))
c = R.nn.relu(R.add(a, b))
e = R.matmul(c, w)
g = R.matmul(R.add(R.exp(e), R.matmul(e, v)), v)
g""",
)


def check_runs_as_before(mod: IRModule, rng: np.random.Generator, n: int = 2) -> None:
    inputs = []
    for param in mod["main"].params:
        dims = [getattr(dim, "value", n) for dim in param.struct_info.shape.values]
        inputs.append(rng.normal(size=dims).astype(str(param.struct_info.dtype)))
    with PassContext(instruments=[VerifyEach()]):
        made = RunCodegen()(partition_for_numpy(mod))
    assert "call_dps_packed" in made.script()
    expected = EXECUTORS["interpreter"](mod)("main", *inputs)
    for load in EXECUTORS.values():
        actual = load(made)("main", *inputs)
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4)


def test_a_model_runs_by_numpy_as_it_does_without(rng):
    check_runs_as_before(MODEL, rng)


def test_what_goes_together_is_one_function():
    assert callees(partition_for_numpy(MODEL)) == [
        "fused_relax_nn_conv2d_relax_add_relax_nn_relu_relax_matmul_numpy_blas",
        "fused_relax_matmul_relax_add_relax_matmul1_numpy_blas",
    ]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "options",
    ["", "strides=3", "padding=(1, 2, 0, 3)", "padding=2, dilation=(2, 1)", "dilation=2"],
)
def test_convolutions_of_all_sorts_are_as_they_were(options, dtype, rng):
    mod = module(
        'x: R.Tensor(("n", 2, 9, 7), "float32"), k: R.Tensor((3, 2, 3, 2), "float32")',
        f"a = R.nn.conv2d(x, k{', ' if options else ''}{options})\na",
        dtype,
    )
    check_runs_as_before(mod, rng)


@pytest.mark.parametrize(
    ("one", "other"), [("3, 4", "4, 5"), ('"n", 3, 4', "4, 5"), ("4,", "4, 5"), ("3, 4", "4,")]
)
def test_products_of_all_ranks_are_as_they_were(one, other, rng):
    mod = module(
        f'x: R.Tensor(({one}), "float32"), y: R.Tensor(({other}), "float32"), '
        'z: R.Tensor(("n",), "float32")',
        "a = R.nn.relu(R.matmul(x, y))\na",
    )
    check_runs_as_before(mod, rng)


@pytest.mark.parametrize(
    "call",
    [
        'R.nn.conv2d(x, k, data_layout="NHWC")',
        "R.nn.conv2d(x, R.ones((8, 1, 3, 3), 'float32'), groups=8)",
        'R.matmul(x, y, out_dtype="float64")',
        'R.matmul(R.astype(x, "int32"), R.astype(y, "int32"))',
    ],
)
def test_what_numpy_computes_otherwise_is_left_alone(call):
    mod = module(
        'x: R.Tensor(("n", 8, 8, 8), "float32"), k: R.Tensor((3, 8, 3, 3), "float32"), '
        'y: R.Tensor((8, 5), "float32")',
        f"a = {call}\na",
    )
    assert partition_for_numpy(mod) is mod


def test_functions_say_their_code_generator():
    made = partition_for_numpy(MODEL)
    attrs = [(made[name].attrs or Attrs())["Codegen"] for name in callees(made)]
    assert attrs == ["numpy_blas", "numpy_blas"]
