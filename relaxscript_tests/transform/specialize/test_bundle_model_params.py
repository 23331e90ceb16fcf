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
        R.func_attr({"num_input": 1})
        with R.dataflow():
            w = model_params[0]
            y = R.multiply(x, w)
            b = model_params[2]
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
    check(BundleModelParams(), BEFORE.replace('"num_input": 1', '"num_input": 5'))
    check(BundleModelParams(), AFTER)


def script(params: str, *body: str) -> str:
    """A module of a function of one input and of weights."""
    head = f"@I.ir_module\nclass M:\n    @R.function\n    def main({X}{params}):"
    attr = '        R.func_attr({"num_input": 1})'
    return "\n".join([head, attr, *(" " * 8 + line for line in body)])


X = 'x: R.Tensor((4,), "float32")'
WEIGHTS = ', w: R.Tensor((4,), "float32"), s: R.Shape(ndim=1)'
PACKED = ', ws: R.Tuple(R.Tensor((4,), "float32"), R.Shape(ndim=1))'


def test_without_weights_the_tuple_is_empty():
    check(BundleModelParams("ws"), script("", "return x"), script(", ws: R.Tuple()", "return x"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["y = R.add(x, w)"], ["w = ws[0]", "y = R.add(x, w)"]),
        (["z = R.exp(x)", "y = R.add(z, w)"], ["z = R.exp(x)", "w = ws[0]", "y = R.add(z, w)"]),
        (["z = R.exp(w)", "y = R.add(w, z)"], ["w = ws[0]", "z = R.exp(w)", "y = R.add(w, z)"]),
        (["y = (x, w)"], ["w = ws[0]", "y = (x, w)"]),
    ],
)  # fmt: skip
def test_weights_are_taken_out_of_the_tuple_before_their_first_use(before, after):
    before, after = ([*lines, "return y"] for lines in (before, after))
    check(BundleModelParams("ws"), script(WEIGHTS, *before), script(PACKED, *after))


def test_a_weight_that_is_the_result_is_taken_out_of_the_tuple_last():
    before, after = ["y = R.add(x, x)", "return w"], ["y = R.add(x, x)", "w = ws[0]", "return w"]
    check(BundleModelParams("ws"), script(WEIGHTS, *before), script(PACKED, *after))


def test_what_a_block_alone_uses_is_taken_inside_but_for_shapes_of_tensors():
    body = ["with R.dataflow():", "    z = R.zeros(s, 'float32')", "    R.output(z)", "return z"]
    check(BundleModelParams("ws"), script(WEIGHTS, *body), script(PACKED, "s = ws[1]", *body))


def test_what_blocks_share_is_taken_before_them():
    body = ["with R.dataflow():", "    y = R.add(x, w)", "    R.output(y)", "return (y, w)"]
    check(BundleModelParams("ws"), script(WEIGHTS, *body), script(PACKED, "w = ws[0]", *body))


def test_what_a_local_function_uses_is_taken_before_the_block_around_it():
    body = [
        "with R.dataflow():", "    @R.function", "    def more(y: R.Tensor((4,), 'float32')):",
        "        return R.add(y, w)", "    z = more(x)", "    R.output(z)", "return z",
    ]  # fmt: skip
    check(BundleModelParams("ws"), script(WEIGHTS, *body), script(PACKED, "w = ws[0]", *body))


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
