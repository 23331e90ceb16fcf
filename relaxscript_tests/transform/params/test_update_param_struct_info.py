"""Parameters get other StructInfos, and what follows from them is derived again."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError
from relaxscript.ir.struct_info import ObjectStructInfo, TensorStructInfo
from relaxscript.script import from_source
from relaxscript.transform import UpdateParamStructInfo
from relaxscript_tests.transform.before_after import check

BEFORE = """
@I.ir_module
class M:
    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4,), "float32")
    ) -> R.Tensor(("n", 4), "float32"):
        with R.dataflow():
            y: R.Tensor(("n", 4), "float32") = R.multiply(x, w)
            z: R.Tensor(("n", 4), "float32") = R.exp(y)
            R.output(z)
        return z

    @R.function
    def other(
        x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4,), "float32")
    ) -> R.Tensor(("n", 4), "float32"):
        cls = M
        t: R.Tensor(("n", 4), "float32") = cls.main(x, w)
        u: R.Tensor(("n", 4), "float32") = R.exp(t)
        return u
"""


def halves(param):
    return TensorStructInfo(param.struct_info.shape, "float16")


def test_bodies_results_and_calls_are_derived_again():
    made = check(UpdateParamStructInfo(halves), BEFORE, BEFORE.replace("float32", "float16"))
    x, w = np.float16([[1, 2, 3, 4]] * 3) / 8, np.float16([1, 2, 3, 4]) / 8
    assert rx.jit(made).main(x, w).dtype == np.float16
    before = rx.jit(from_source(BEFORE)).other(np.float32(x), np.float32(w))
    assert np.allclose(rx.jit(made).other(x, w), before, 0.02)


def test_parameters_for_which_the_function_gives_none_stay():
    check(UpdateParamStructInfo(lambda param: None), BEFORE)
    check(UpdateParamStructInfo(lambda param: param.struct_info), BEFORE)


def test_parameters_of_local_functions_are_asked_too():
    before = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        @R.function
        def twice(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            z = R.add(y, y)
            return z

        if R.const(True):
            a = twice(x)
        else:
            a = x
        return a
"""
    made = check(UpdateParamStructInfo(halves), before, before.replace("float32", "float16"))
    assert rx.jit(made).main(np.float16([1, 2])).tolist() == [2, 4]


def test_sizes_may_become_numbers_and_numbers_sizes():
    size = TensorStructInfo(("m",), "float32")
    before = """
@I.ir_module
class M:
    @R.function
    def main(w: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y: R.Tensor((4,), "float32") = R.exp(w)
        return y
"""
    after = before.replace("(4,)", '("m",)')
    check(UpdateParamStructInfo(lambda param: size), before, after)
    fixed = TensorStructInfo((4,), "float32")
    made = UpdateParamStructInfo(lambda param: fixed)(from_source(after))
    assert "y: R.Tensor((4,)" in made.script()


def test_what_is_no_struct_info_is_refused_at_the_parameter():
    with pytest.raises(DiagnosticError, match=r"`sinfo_func` gives int \(3\) for `x`") as raised:
        UpdateParamStructInfo(lambda param: 3)(from_source(BEFORE))
    assert 'x: R.Tensor(("n", 4), "float32"), w' in str(raised.value)


def test_operands_that_no_longer_go_together_are_refused_at_their_line():
    step = UpdateParamStructInfo(lambda param: halves(param) if param.name_hint == "x" else None)
    with pytest.raises(DiagnosticError, match="has dtype float32") as raised:
        step(from_source(BEFORE))
    assert "y: R.Tensor" in str(raised.value)


def test_a_call_that_no_longer_fits_is_refused():
    text = BEFORE.replace("cls.main(x, w)", "cls.main(x, R.const([1, 2, 3, 4], 'float32'))")
    with pytest.raises(DiagnosticError, match="float32"):
        UpdateParamStructInfo(halves)(from_source(text))


def test_a_size_that_nothing_defines_any_more_is_refused():
    text = BEFORE[: BEFORE.index("    @R.function\n    def other")].replace(
        "R.exp(y)", "R.zeros((n, 4), 'float32')"
    )
    text = text.replace("        with R.dataflow", "        n = T.int64()\n        with R.dataflow")

    def unknown(param):
        return TensorStructInfo(dtype="float32", ndim=2) if param.name_hint == "x" else None

    with pytest.raises(DiagnosticError, match="`n`"):
        UpdateParamStructInfo(unknown)(from_source(text))


def test_what_is_no_tensor_any_more_is_refused_where_one_is_needed():
    with pytest.raises(DiagnosticError, match=r"R\.multiply"):
        UpdateParamStructInfo(lambda param: ObjectStructInfo())(from_source(BEFORE))
