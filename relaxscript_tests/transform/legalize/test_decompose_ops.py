"""Composite operators become simpler ones, for inference and for training."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir.relax import Op
from relaxscript.ir.walk import walk
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import DecomposeOpsForInference, DecomposeOpsForTraining
from relaxscript_tests.transform.before_after import check

PARAMETERS = """x: R.Tensor(("n", 3, 4), "float32"), gamma: R.Tensor((3,), "float32"),
        beta: R.Tensor((3,), "float32"), mean: R.Tensor((3,), "float32"),
        var: R.Tensor((3,), "float32")"""

BATCH_NORM = f"""
@I.ir_module
class M:
    @R.function
    def main({PARAMETERS}):
        with R.dataflow():
            y = R.nn.batch_norm(x, gamma, beta, mean, var, axis=-2)
            gv = y[0]
            R.output(gv)
        return gv
"""


def test_batches_are_normalized_by_the_moving_statistics_for_inference():
    made = check(DecomposeOpsForInference(), BATCH_NORM, f"""
@I.ir_module
class M:
    @R.function
    def main({PARAMETERS}):
        with R.dataflow():
            lv = R.expand_dims(mean, [0, 2])
            lv1 = R.subtract(x, lv)
            lv2 = R.expand_dims(var, [0, 2])
            lv3 = R.add(lv2, R.const(1e-05, "float32"))
            lv4 = R.sqrt(lv3)
            lv5 = R.divide(lv1, lv4)
            lv6 = R.expand_dims(gamma, [0, 2])
            lv7 = R.multiply(lv5, lv6)
            lv8 = R.expand_dims(beta, [0, 2])
            lv9 = R.add(lv7, lv8)
            y = (lv9, mean, var)
            gv = y[0]
            R.output(gv)
        return gv
""")  # fmt: skip
    assert DecomposeOpsForInference()(made) is made


def test_batches_are_normalized_by_their_own_statistics_for_training():
    made = check(DecomposeOpsForTraining(), BATCH_NORM, f"""
@I.ir_module
class M:
    @R.function
    def main({PARAMETERS}):
        with R.dataflow():
            lv = R.mean(x, [0, 2])
            lv1 = R.variance(x, [0, 2])
            lv2 = R.expand_dims(lv, [0, 2])
            lv3 = R.subtract(x, lv2)
            lv4 = R.expand_dims(lv1, [0, 2])
            lv5 = R.add(lv4, R.const(1e-05, "float32"))
            lv6 = R.sqrt(lv5)
            lv7 = R.divide(lv3, lv6)
            lv8 = R.expand_dims(gamma, [0, 2])
            lv9 = R.multiply(lv7, lv8)
            lv10 = R.expand_dims(beta, [0, 2])
            lv11 = R.add(lv9, lv10)
            lv12 = (lv11, lv, lv1)
            lv13 = lv12[0]
            lv14 = R.multiply(R.const(0.9, "float32"), mean)
            lv15 = R.multiply(R.const(0.1, "float32"), lv)
            lv16 = R.add(lv14, lv15)
            lv17 = R.multiply(R.const(0.9, "float32"), var)
            lv18 = R.multiply(R.const(0.1, "float32"), lv1)
            lv19 = R.add(lv17, lv18)
            y = (lv13, lv16, lv19)
            gv = y[0]
            R.output(gv)
        return gv
""")  # fmt: skip
    assert DecomposeOpsForTraining()(made) is made


def test_rows_are_normalized_by_simpler_operators_for_training_only():
    before = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), gamma: R.Tensor((3,), "float32")):
        y = R.nn.layer_norm(x, gamma, gamma, axes=[-1], center=False)
        return y
"""
    check(DecomposeOpsForTraining(), before, """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), gamma: R.Tensor((3,), "float32")):
        lv = R.mean(x, [-1], True)
        lv1 = R.subtract(x, lv)
        lv2 = R.variance(x, [-1], True)
        lv3 = R.add(lv2, R.const(1e-05, "float32"))
        lv4 = R.sqrt(lv3)
        lv5 = R.divide(lv1, lv4)
        y = R.multiply(lv5, gamma)
        return y
""")  # fmt: skip
    check(DecomposeOpsForInference(), before)


def test_scales_along_axes_that_are_not_the_last_are_spread_over_the_others():
    check(DecomposeOpsForTraining(), """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((2, 3, 4), "float32"), gamma: R.Tensor((4, 2), "float32")):
        y = R.nn.layer_norm(x, gamma, gamma, axes=[2, 0], center=False)
        return y
""", """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((2, 3, 4), "float32"), gamma: R.Tensor((4, 2), "float32")):
        lv = R.mean(x, [2, 0], True)
        lv1 = R.subtract(x, lv)
        lv2 = R.variance(x, [2, 0], True)
        lv3 = R.add(lv2, R.const(1e-05, "float32"))
        lv4 = R.sqrt(lv3)
        lv5 = R.divide(lv1, lv4)
        lv6 = R.permute_dims(gamma, [1, 0])
        lv7 = R.expand_dims(lv6, [1])
        y = R.multiply(lv5, lv7)
        return y
""")  # fmt: skip


def test_nothing_is_dropped_in_inference():
    before = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor("float32", ndim=2)):
        y = R.nn.dropout(x, 0.25)
        return y
"""
    check(DecomposeOpsForInference(), before, """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor("float32", ndim=2)):
        lv = R.ones_like(x)
        y = (x, lv)
        return y
""")  # fmt: skip
    check(DecomposeOpsForTraining(), before)


@pytest.mark.filterwarnings("ignore::relaxscript.RelaxWarning")
@pytest.mark.parametrize("step", [DecomposeOpsForInference(), DecomposeOpsForTraining()])
def test_a_shape_that_a_tensor_holds_has_dimensions(step):
    check(step, """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((6,), "float32"), t: R.Tensor((2,), "int64")):
        with R.dataflow():
            s = R.tensor_to_shape(t)
            gv = R.reshape(x, s)
            R.output(gv)
        return gv
""", """
@I.ir_module
class M:
    @R.function
    def main(
        x: R.Tensor((6,), "float32"), t: R.Tensor((2,), "int64")
    ) -> R.Tensor("float32", ndim=2):
        d, d_1 = T.int64(), T.int64()
        with R.dataflow():
            lv = R.call_pure_packed("vm.builtin.tensor_to_shape", t, sinfo_args=R.Shape(ndim=2))
            shape = R.match_cast(lv, R.Shape([d, d_1]))
            s = R.shape([d, d_1])
            gv = R.reshape(x, s)
            R.output(gv)
        return gv
""")  # fmt: skip


@pytest.mark.filterwarnings("ignore::relaxscript.RelaxWarning")
@pytest.mark.parametrize(
    "params",
    [
        'x: R.Tensor(dtype="float32"), p: R.Tensor((3,), "float32")',
        'x: R.Tensor(("n", "c"), "float32"), p: R.Tensor(("m",), "float32")',
    ],
)
def test_what_is_not_known_well_enough_stays(params):
    check(DecomposeOpsForTraining(), f"""
@I.ir_module
class M:
    @R.function
    def main({params}):
        y = R.nn.batch_norm(x, p, p, p, p, axis=1)
        return y
""")  # fmt: skip


def test_what_would_share_memory_with_what_is_written_stays():
    check(DecomposeOpsForInference(), """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32"), p: R.Tensor((3,), "float32")):
        y = R.nn.batch_norm(x, p, p, p, p, axis=1, training=False)
        z = R.nn.dropout(p)
        w = R.call_inplace_packed(
            "f", p, inplace_indices=[0], sinfo_args=R.Tensor((3,), "float32")
        )
        return (y, z, w)
""")  # fmt: skip


TWO = """
@I.ir_module
class M:
    @R.function
    def first(x: R.Tensor((3,), "float32")):
        y = R.nn.dropout(x)
        return y

    @R.function
    def second(x: R.Tensor((3,), "float32")):
        y = R.nn.dropout(x)
        return y
"""


def test_the_function_with_a_name_is_rewritten_alone():
    mod = from_source(TWO)
    made = DecomposeOpsForInference("second")(mod)
    assert made["first"] is mod["first"]
    names = {e.name for e in walk(made["second"].body) if isinstance(e, Op)}
    assert names == {"relax.ones_like"}


def test_a_function_that_is_not_there_is_named():
    with pytest.raises(DiagnosticError, match="no Relax function `secnd`") as caught:
        DecomposeOpsForTraining("secnd")(from_source(TWO))
    (found,) = caught.value.diagnostics
    assert (found.code, found.help) == ("RX0703", "did you mean `second`?")


def run(mod: Any, executor: str, *args: Any) -> Any:
    return EXECUTORS[executor](mod)("main", *args)


MEANING = """
@I.ir_module
class M:
    @R.function
    def main(
        x: R.Tensor((5, 3, "m"), "DTYPE"), p: R.Tensor((3,), "DTYPE"), q: R.Tensor((3,), "DTYPE"),
        w: R.Tensor(("m", 5), "DTYPE"),
    ):
        a = R.nn.batch_norm(x, p, q, p, q, axis=1, epsilon=0.25, momentum=0.5, training=TRAINING)
        b = R.nn.batch_norm(x, p, q, q, p, axis=1, scale=False, center=False, training=False)
        c = R.nn.layer_norm(x, w, w, axes=[-1, 0])
        d = R.nn.dropout(x)
        return (a, b, c, d)
"""


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize(
    ("dtype", "near"), [("float64", 1e-13), ("float32", 1e-5), ("float16", 1e-2)]
)
def test_the_simpler_operators_mean_the_same(
    executor: str, training: bool, dtype: str, near: float, rng: np.random.Generator
) -> None:
    mod = from_source(MEANING.replace("DTYPE", dtype).replace("TRAINING", str(training)))
    step = DecomposeOpsForTraining() if training else DecomposeOpsForInference()
    shapes = (5, 3, 4), (3,), (3,), (4, 5)
    args = [np.abs(rng.standard_normal(shape)).astype(dtype) for shape in shapes]
    wanted, found = (run(made, executor, *args) for made in (mod, step(mod)))
    for one, other in zip(found, wanted, strict=True):
        pairs = zip(one, other, strict=True) if isinstance(one, tuple) else [(one, other)]
        for a, b in pairs:
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a.astype("float64"), b.astype("float64"), near, near)


@pytest.mark.filterwarnings("ignore::relaxscript.RelaxWarning")
@pytest.mark.parametrize("executor", EXECUTORS)
def test_the_dimensions_of_a_held_shape_are_those_of_the_run(executor: str) -> None:
    made = DecomposeOpsForInference()(from_source("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((6,), "float32"), t: R.Tensor((2,), "int64")):
        s = R.tensor_to_shape(t)
        y = R.reshape(x, s)
        return y
"""))  # fmt: skip
    x = np.arange(6, dtype="float32")
    for dims in ([2, 3], [6, 1]):
        assert run(made, executor, x, np.array(dims)).tolist() == x.reshape(dims).tolist()


def test_what_is_for_training_stays_where_that_is_asked_for():
    call = "R.nn.batch_norm(x, g, g, g, g, axis=1, training={})"
    params = 'x: R.Tensor((2, 3), "float32"), g: R.Tensor((3,), "float32")'
    for training in (True, False):
        mod = from_source(f"""
@I.ir_module
class M:
    @R.function
    def main({params}):
        y = {call.format(training)}
        return y
""")
        made = DecomposeOpsForInference(keep_training=True)(mod)
        assert ("R.nn.batch_norm(" in made["main"].script()) is training
