"""The weights of a function become one parameter."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.script import from_source
from relaxscript.transform import BundleModelParams
from relaxscript_tests.transform.before_after import check

BEFORE = """
@I.ir_module
class M:
    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"),
        w: R.Tensor((4,), "float32"),
        unused: R.Tensor(("m",), "float32"),
        b: R.Tensor((4,), "float32"),
    ):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            y = R.multiply(x, w)
            z = R.add(y, b)
            R.output(z)
        return z

    @R.function
    def other(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4,), "float32")):
        cls = M
        y = cls.main(x, w, w, w)
        return y
"""
AFTER = """
@I.ir_module
class M:
    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"),
        model_params: R.Tuple(
            R.Tensor((4,), "float32"), R.Tensor(("m",), "float32"), R.Tensor((4,), "float32")
        ),
    ):
        R.func_attr({"num_input": 1, "param_names": ["w", "unused", "b"]})
        w = model_params[0]
        b = model_params[2]
        with R.dataflow():
            y = R.multiply(x, w)
            z = R.add(y, b)
            R.output(z)
        return z

    @R.function
    def other(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4,), "float32")):
        cls = M
        y = cls.main(x, (w, w, w))
        return y
"""


def test_weights_are_fields_of_a_tuple_and_calls_give_one():
    check(BundleModelParams(), BEFORE, AFTER)


def test_the_tuple_has_the_name_that_is_given():
    check(BundleModelParams("ws"), BEFORE, AFTER.replace("model_params", "ws"))


def test_the_names_of_weights_are_those_that_they_had():
    named = '"num_input": 1, "param_names": ["fc.w", "u", "fc.b"]'
    text = BEFORE.replace('"num_input": 1', named)
    made = BundleModelParams()(from_source(text[: text.index("    @R.function\n    def other")]))
    assert made["main"].attrs["param_names"] == ("fc.w", "u", "fc.b")
    x, w = np.ones((2, 4), "float32"), np.float32([1, 2, 3, 4])
    model = rx.jit(made, params={"fc.w": w, "u": w, "fc.b": w})
    assert model.main(x).tolist() == (x * w + w).tolist()


def test_nothing_changes_where_nothing_says_what_the_weights_are():
    text = BEFORE.replace('R.func_attr({"num_input": 1})', "")
    check(BundleModelParams(), text)
    check(BundleModelParams(), BEFORE.replace('"num_input": 1', '"num_input": "1"'))
    check(BundleModelParams(), BEFORE.replace('"num_input": 1', '"num_input": 4'))
    check(BundleModelParams(), AFTER)


def test_weights_that_are_tuples_have_no_names():
    text = BEFORE.replace('unused: R.Tensor(("m",), "float32")', "unused: R.Tuple(R.Object)")
    text = text[: text.index("    @R.function\n    def other")]
    attrs = BundleModelParams()(from_source(text))["main"].attrs
    assert "param_names" not in attrs


def test_a_function_that_is_used_as_a_value_is_left_with_a_mistake():
    text = (
        BEFORE.replace("y = cls.main(x, w, w, w)", "y = cls.apply(cls.main, x, w)")
        + """
    @R.function
    def apply(
        f: R.Callable(
            (
                R.Tensor(("n", 4), "float32"), R.Tensor((4,), "float32"),
                R.Tensor(("m",), "float32"), R.Tensor((4,), "float32"),
            ),
            R.Tensor(("n", 4), "float32"),
        ),
        x: R.Tensor(("n", 4), "float32"),
        w: R.Tensor((4,), "float32"),
    ) -> R.Tensor(("n", 4), "float32"):
        return f(x, w, w, w)
"""
    )
    with pytest.raises(rx.DiagnosticError, match="argument 1 does not fit the function's param"):
        BundleModelParams()(from_source(text))
