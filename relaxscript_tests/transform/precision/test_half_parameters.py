"""Parameters become float16 in their functions and for those who call these."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import ToMixedPrecision
from relaxscript_tests.transform.algebra.before_after_products import script
from relaxscript_tests.transform.before_after import check

PRODUCT = script("x: 2x4; w: 4x4", "y = R.matmul(x, w)")
CALLED = """
@I.ir_module
class M:
    @R.function
    def layer(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4,), "{half}")) -> R.Tensor(("n", 4), "float32"):
        {cast}y = R.multiply(x, {w})
        return y

    @R.function
    def main(x: R.Tensor((3, 4), "float32"), v: R.Tensor((4,), "float32")):
        cls = M
        {given}y = cls.layer(x, {v})
        return y
"""  # noqa: E501


def halved(names: list[str]) -> ToMixedPrecision:
    return ToMixedPrecision(fp16_input_names=names)


def test_a_product_reads_the_parameter_as_it_is():
    after = script(
        "x: 2x4; w: 4x4 of float16",
        'lv = R.astype(x, "float16")\ny = R.matmul(lv, w, out_dtype="float32")',
    )
    check(halved(["w"]), PRODUCT, after)


def test_what_wants_float32_gets_it():
    check(
        halved(["w"]),
        script("x: 4; w: 4", "y = R.nn.softmax(w)\nz = R.add(x, w)", "y, z", dataflow=False),
        script(
            "x: 4; w: 4 of float16",
            'w1 = R.astype(w, "float32")\ny = R.nn.softmax(w1)\nz = R.add(x, w1)', "y, z",
            dataflow=False,
        ),
    )  # fmt: skip


def test_calls_in_the_module_give_float16():
    before = CALLED.format(half="float32", cast="", w="w", given="", v="v")
    after = CALLED.format(
        half="float16", cast='w1 = R.astype(w, "float32")\n        ', w="w1",
        given='lv = R.astype(v, "float16")\n        ', v="lv",
    )  # fmt: skip
    made = check(halved(["w"]), before, after)
    for name in ("reference", "llvm"):
        run = EXECUTORS[name](made)
        x, v = np.ones((3, 4), "float32"), np.float32([1, 2, 3, 4])
        np.testing.assert_array_equal(run("main", x, v), x * v)


def test_a_parameter_that_nothing_reads_is_float16_too():
    before = script("x: 4; w: 4", "y = R.add(x, x)")
    check(
        halved(["w"]),
        before,
        before.replace('w: R.Tensor((4, ), "float32")', 'w: R.Tensor((4, ), "float16")'),
    )


def test_a_parameter_that_is_returned_comes_back_as_float32():
    before = script("x: 4; w: 4", "y = R.add(x, x)", dataflow=False).replace("return y", "return w")
    (found,) = {halved(["w"])(from_source(before))["main"].ret_struct_info.dtype}
    assert found == "float32"


def test_one_that_is_float16_already_stays():
    check(halved(["x"]), script("x: 4 of float16", "y = R.add(x, x)"))


def test_a_name_that_no_function_has_is_refused():
    with pytest.raises(DiagnosticError, match="given `ww`, but no function has that parameter"):
        halved(["ww"])(from_source(PRODUCT))


@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_one_of_another_dtype_is_refused(dtype):
    mod = from_source(script(f"x: 4; k: 4 of {dtype}", "y = R.add(x, x)"))
    with pytest.raises(DiagnosticError, match=rf"`k` is `R.Tensor\(\(4,\), \"{dtype}\"\)`, which"):
        halved(["k"])(mod)


def test_one_of_a_function_that_is_used_as_a_value_is_refused():
    text = CALLED.format(half="float32", cast="", w="w", given="f = cls.layer\n        ", v="v")
    mod = from_source(text.replace("cls.layer(x", "f(x"))
    with pytest.raises(DiagnosticError, match="does not fit the annotation"):
        halved(["w"])(mod)
