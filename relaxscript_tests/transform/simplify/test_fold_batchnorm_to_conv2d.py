"""Normalizations of batches become part of the weights of the convolutions before them."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.ir.relax import Call, Constant
from relaxscript.ir.walk import walk
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import FoldBatchnormToConv2D, FoldConstant, Sequential
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.before_after import check

MODULE = """
@I.ir_module
class M:
    @R.function
    def main(
        x: R.Tensor(("n", 3, "h", 8), "float32"), w: R.Tensor((4, 3, 3, 3), "float32"),
        gamma: R.Tensor((4,), "float32"), beta: R.Tensor((4,), "float32"),
        mean: R.Tensor((4,), "float32"), var: R.Tensor((4,), "float32"),
        o: R.Tensor(("c",), "float32"),
    ):
        with R.dataflow():
{body}
            R.output({out})
        return {out}
"""
CHAIN = """
lv = R.nn.conv2d(x, w)
lv1 = R.nn.batch_norm(lv, gamma, beta, mean, var, axis=1)
y = lv1[0]
"""


def module(body: str, out: str = "y") -> str:
    lines = "\n".join(f"            {line}" for line in body.strip().splitlines())
    return MODULE.format(body=lines, out=out)


def test_a_normalization_becomes_part_of_the_weight_and_a_sum():
    check(FoldBatchnormToConv2D(), module(CHAIN), module("""
lv = R.add(var, R.const(1e-05, "float32"))
lv1 = R.sqrt(lv)
lv2 = R.divide(gamma, lv1)
lv3 = R.expand_dims(lv2, axis=[1, 2, 3])
lv4 = R.multiply(w, lv3)
lv5 = R.nn.conv2d(x, lv4)
lv6 = R.multiply(mean, lv2)
lv7 = R.subtract(beta, lv6)
lv8 = R.expand_dims(lv7, axis=[0, 2, 3])
y = R.add(lv5, lv8)
"""))  # fmt: skip


def test_the_channels_are_where_the_layouts_say():
    made = check(FoldBatchnormToConv2D(), module("""
k = R.permute_dims(w, (2, 3, 1, 0))
lv = R.nn.conv2d(x, k, kernel_layout="HWIO", out_layout="NHWC")
lv1 = R.nn.batch_norm(lv, gamma, beta, mean, var, axis=-1, scale=False, center=False)
y = lv1[0]
"""), module("""
k = R.permute_dims(w, (2, 3, 1, 0))
lv = R.add(var, R.const(1e-05, "float32"))
lv1 = R.sqrt(lv)
lv2 = R.divide(R.const(1, "float32"), lv1)
lv3 = R.expand_dims(lv2, axis=[0, 1, 2])
lv4 = R.multiply(k, lv3)
lv5 = R.nn.conv2d(x, lv4, kernel_layout="HWIO", out_layout="NHWC")
lv6 = R.multiply(mean, lv2)
lv7 = R.subtract(R.const(0, "float32"), lv6)
lv8 = R.expand_dims(lv7, axis=[0, 1, 2])
y = R.add(lv5, lv8)
"""))  # fmt: skip
    assert FoldBatchnormToConv2D()(made) is made


@pytest.mark.parametrize(
    ("body", "out"),
    [
        (CHAIN + "z = R.nn.relu(lv)", "y, z"),  # another use of the convolution
        (CHAIN + "z = lv1[1]", "y, z"),  # a use of the statistics
        (CHAIN + "z = lv1[0]", "y, z"),
        (CHAIN.replace("lv =", "lv2 =").replace("lv1 =", "lv = R.abs(lv2)\nlv1 ="), "y"),
        (CHAIN.replace("gamma, beta", "o, beta"), "y"),  # as many as there are channels, or not
        (CHAIN.replace("lv1[0]", "lv1[2]"), "y"),
        (
            "k = R.layout_transform(w, lambda o, i, h, w: (o // 2, i, h, w, o % 2))"
            + CHAIN.replace("(x, w)", "(x, k, kernel_layout='OIHW2o')"),
            "y",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_what_is_used_elsewhere_or_may_have_other_sizes_stays(body, out):
    check(FoldBatchnormToConv2D(), module(body, out))


def test_what_is_outside_of_dataflow_blocks_stays():
    text = module(CHAIN).replace("with R.dataflow():", "if True:").replace("R.output(y)", "pass")
    check(FoldBatchnormToConv2D(), text)


def test_a_convolution_of_what_is_written_into_stays_where_it_is():
    check(FoldBatchnormToConv2D(), module("""
z = R.nn.relu(x)
lv = R.nn.conv2d(z, w)
u = R.call_pure_packed("test.write", z, sinfo_args=R.Object())
lv1 = R.nn.batch_norm(lv, gamma, beta, mean, var, axis=1)
y = lv1[0]
"""))  # fmt: skip


@pytest.mark.parametrize(
    ("dtype", "near"), [("float64", 1e-12), ("float32", 1e-5), ("float16", 1e-2)]
)
@pytest.mark.parametrize("executor", EXECUTORS)
def test_the_results_are_those_of_inference(executor, dtype, near, rng):
    text = module(CHAIN.replace("axis=1", "axis=1, training=False")).replace("float32", dtype)
    mod = from_source(text)
    x, w = rng.normal(size=(2, 3, 5, 8)), rng.normal(size=(4, 3, 3, 3)) / 5
    values = [*rng.normal(size=(3, 4)), rng.uniform(0.5, 2, 4), np.zeros(3)]
    inputs = [v.astype(dtype) for v in (x, w, *values)]
    expected, made = (
        EXECUTORS[executor](m)("main", *inputs) for m in (mod, FoldBatchnormToConv2D()(mod))
    )
    assert made.dtype == dtype
    np.testing.assert_allclose(made, expected, near, near)


def test_what_is_computed_of_constants_is_computed_once():
    mod = from_source("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", 1, 4, 4), "float32")):
        with R.dataflow():
            c = R.const([4.0], "float32")
            lv = R.nn.conv2d(x, R.const([[[[2.0]]]], "float32"))
            lv1 = R.nn.batch_norm(lv, c, c, c, c, axis=1, epsilon=0.0)
            y = lv1[0]
            R.output(y)
        return y
""")  # fmt: skip
    main = Sequential([FoldBatchnormToConv2D(), FoldConstant()])(mod)["main"]
    called = [node.op.name for node in walk(main) if isinstance(node, Call)]
    assert called == ["relax.nn.conv2d", "relax.add"]
    constants = [node.data.item() for node in walk(main) if isinstance(node, Constant)]
    assert {4.0, -4.0} <= set(constants)  # 2 * 4 / sqrt(4), and 4 - 4 * 4 / sqrt(4)


def test_the_cost_is_linear_in_the_convolutions():
    def prepare(count: int):
        lines = [f"""
lv{k} = R.nn.conv2d(x, w)
n{k} = R.nn.batch_norm(lv{k}, gamma, beta, mean, var, axis=1)
y{k} = n{k}[0]""" for k in range(count)]  # fmt: skip
        mod = from_source(module("".join(lines), f"y{count - 1}"))
        step = FoldBatchnormToConv2D()
        return lambda: step(mod)

    assert growth(prepare, 8) < 9
