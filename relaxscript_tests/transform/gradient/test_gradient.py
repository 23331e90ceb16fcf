"""Adjoints of functions: what they are written like, and what they give."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.ir.module import IRModule
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import Gradient
from relaxscript_tests.transform.before_after import check

IN_ONE_BLOCK = """
@I.ir_module
class M:
    @R.function
    def main({params}):
        with R.dataflow():
{lines}
        return {result}
"""


def module(params: str, lines: str, result: str = "gv") -> str:
    body = "\n".join(f"            {line.strip()}" for line in lines.strip().splitlines())
    return IN_ONE_BLOCK.format(params=params, lines=body, result=result)


def adjoint_of(text: str, **options: Any) -> str:
    """The body of the adjoint of `main`, as it is printed."""
    mod = Gradient("main", **options)(from_source(text))
    lines = mod["main_adjoint"].script().splitlines()
    first = next(k for k, line in enumerate(lines) if "with R.dataflow" in line)
    return "\n".join(line.strip() for line in lines[first + 1 :])


def run(text: str, *args: Any, **options: Any) -> Any:
    """What the adjoint gives with the reference."""
    mod = Gradient("main", **options)(from_source(text))
    return EXECUTORS["interpreter"](mod)("main_adjoint", *args)


X34 = 'x: R.Tensor((3, 4), "float32")'


# ---------------------------------------------------------------- form


def test_the_adjoint_is_the_function_and_the_gradients_behind_it():
    before = module(
        f'{X34}, y: R.Tensor((4,), "float32")',
        """
        lv = R.multiply(x, y)
        gv = R.sum(lv)
        R.output(gv)
        """,
    )
    after = (
        before
        + """
    @R.function
    def main_adjoint(x: R.Tensor((3, 4), "float32"), y: R.Tensor((4,), "float32")):
        with R.dataflow():
            lv = R.multiply(x, y)
            gv = R.sum(lv)
            gv_adjoint = R.ones((), "float32")
            lv_adjoint = R.broadcast_to(gv_adjoint, (3, 4))
            x_adjoint = R.multiply(lv_adjoint, y)
            lv1 = R.multiply(lv_adjoint, x)
            y_adjoint = R.collapse_sum_to(lv1, (4,))
            x_adjoint_out = x_adjoint
            y_adjoint_out = y_adjoint
            R.output(gv, x_adjoint_out, y_adjoint_out)
        return gv, (x_adjoint_out, y_adjoint_out)
"""
    )
    made = check(Gradient("main"), before, after)
    assert Gradient("main")(made) is made


def test_the_adjoint_is_printed_with_names_that_say_of_what_it_is():
    text = module(
        X34,
        """
        lv = R.multiply(x, x)
        lv1 = R.add(lv, x)
        gv = R.sum(lv1)
        R.output(gv)
        """,
    )
    assert (
        adjoint_of(text)
        == """\
lv: R.Tensor((3, 4), "float32") = R.multiply(x, x)
lv1: R.Tensor((3, 4), "float32") = R.add(lv, x)
gv: R.Tensor((), "float32") = R.sum(lv1)
gv_adjoint: R.Tensor((), "float32") = R.ones(R.shape([]), dtype="float32")
lv1_adjoint: R.Tensor((3, 4), "float32") = R.broadcast_to(gv_adjoint, R.shape([3, 4]))
lv2: R.Tensor((3, 4), "float32") = R.multiply(lv1_adjoint, x)
lv3: R.Tensor((3, 4), "float32") = R.multiply(lv1_adjoint, x)
x_adjoint: R.Tensor((3, 4), "float32") = R.add(lv1_adjoint, lv2)
x_adjoint1: R.Tensor((3, 4), "float32") = R.add(x_adjoint, lv3)
x_adjoint_out: R.Tensor((3, 4), "float32") = x_adjoint1
R.output(gv, x_adjoint_out)
return (gv, (x_adjoint_out,))"""
    )


def test_what_does_not_lead_to_a_wanted_parameter_is_not_differentiated():
    text = module(
        f'{X34}, y: R.Tensor((3, 4), "float32")',
        """
        lv = R.sin(y)
        lv1 = R.multiply(R.exp(x), lv)
        gv = R.sum(lv1)
        R.output(gv)
        """,
    )
    of_y = adjoint_of(text, require_grads="y")
    assert "x_adjoint" not in of_y
    assert "lv_adjoint" in of_y
    assert of_y.endswith("return (gv, (y_adjoint_out,))")
    assert "cos" not in adjoint_of(text, require_grads=["x"])
    assert adjoint_of(text, require_grads=[]).endswith("return (gv, R.tuple())")


def test_parameters_are_given_as_variables_or_by_name_and_in_any_order():
    text = module(
        f'{X34}, y: R.Tensor((3, 4), "float32")',
        """
        gv = R.sum(R.multiply(x, y))
        R.output(gv)
        """,
    )
    mod = from_source(text)
    x, y = mod["main"].params
    by_var = Gradient("main", [y, x])(mod)
    assert by_var.script() == Gradient("main", ["y", "x"])(mod).script()
    assert "(gv, (y_adjoint_out, x_adjoint_out))" in by_var.script()
    assert Gradient("main", x)(mod).script() == Gradient("main", "x")(mod).script()


def test_a_function_of_the_same_name_that_is_another_stays():
    text = module(X34, "gv = R.sum(x)\nR.output(gv)")
    both = (
        text
        + """
    @R.function
    def main_adjoint(x: R.Tensor((3, 4), "float32")):
        return x
"""
    )
    mod = from_source(both)
    made = Gradient("main")(mod)
    assert made["main_adjoint"] is mod["main_adjoint"]
    assert made["main_adjoint1"].attrs["global_symbol"] == "main_adjoint1"
    assert Gradient("main")(made) is made


def test_the_adjoint_of_a_private_function_is_private_and_attributes_stay():
    text = module(X34, "gv = R.sum(x)\nR.output(gv)")
    private = text.replace("main", "loss").replace("@R.function", "@R.function(private=True)")
    public = text.partition("    @R.function")[2]
    mod = from_source(f"{private}\n    @R.function{public}")
    assert Gradient("loss")(mod)["loss_adjoint"].is_private
    counted = from_source(text)["main"].with_attr("num_input", 1)
    made = Gradient("main")(IRModule({"main": counted}))["main_adjoint"]
    assert dict(made.attrs) == {"global_symbol": "main_adjoint", "num_input": 1}


def test_a_binding_of_the_gradient_is_blamed_on_what_it_is_the_gradient_of():
    text = module(X34, "lv = R.exp(x)\ngv = R.sum(lv)\nR.output(gv)")
    made = Gradient("main")(from_source(text))["main_adjoint"]
    spans = {b.var.name_hint: b.span.text for b in made.body.blocks[0].bindings if b.span}
    assert spans["lv_adjoint"] == spans["gv"]
    assert spans["x_adjoint"] == spans["lv"]


# ---------------------------------------------------------------- meaning


ONES = np.ones((3, 4), "float32")


def test_integers_and_bools_and_what_the_target_does_not_need_have_zeros():
    text = module(
        f'{X34}, i: R.Tensor((2,), "int64"), c: R.Tensor((), "bool"), u: R.Tensor((5,), "float16")',
        "gv = R.sum(R.take(x, i, axis=0))\nR.output(gv)",
    )
    args = ONES, np.array([1, 1]), np.array(True), np.ones(5, "float16")
    _, (by_x, by_i, by_c, by_u) = run(text, *args)
    np.testing.assert_array_equal(by_x, np.array([[0], [2], [0]]) * ONES)
    for found, like in zip((by_i, by_c, by_u), args[1:]):
        assert (found.dtype, found.shape, found.any()) == (like.dtype, like.shape, False)


def test_what_holds_no_tensors_is_left_out_unless_it_is_named():
    text = module(f'{X34}, s: R.Shape(["n"])', "gv = R.sum(x)\nR.output(gv)")
    assert adjoint_of(text).endswith("return (gv, (x_adjoint_out,))")


def test_a_tuple_has_a_tuple_of_gradients():
    text = module(
        't: R.Tuple(R.Tensor((2,), "float32"), R.Tuple(R.Tensor((2,), "float32"), '
        'R.Tensor((3,), "float32")))',
        """
        a = t[1]
        b = (a[0], t)
        d = b[1]
        e = d[0]
        gv = R.sum(R.multiply(e, R.multiply(b[0], R.const([1.0, 2.0]))))
        R.output(gv)
        """,
    )
    first, second, third = np.float32([3, 4]), np.float32([5, 6]), np.ones(3, "f")
    _, ((by_first, (by_second, by_third)),) = run(text, (first, (second, third)))
    np.testing.assert_array_equal(by_first, [5, 12])
    np.testing.assert_array_equal(by_second, [3, 8])
    np.testing.assert_array_equal(by_third, [0, 0, 0])


def test_operators_of_tuples_take_and_give_gradients_of_the_fields():
    text = module(
        't: R.Tuple(R.Tensor((2,), "float32"), R.Tensor((4,), "float32"))',
        """
        lv = R.concat(t)
        parts = R.split(lv, 3)
        a = parts[1]
        gv = R.sum(R.multiply(a, a))
        R.output(gv)
        """,
    )
    _, ((first, second),) = run(text, (np.float32([1, 2]), np.float32([3, 4, 5, 6])))
    np.testing.assert_array_equal(first, [0, 0])
    np.testing.assert_array_equal(second, [6, 8, 0, 0])


def test_a_field_of_what_is_returned_is_the_target():
    text = module(
        X34,
        """
        a = R.sum(x)
        gv = R.multiply(a, a)
        R.output(a, gv)
        """,
        "(a, (gv, x), gv)",
    )
    for index, expected in ((0, 1), (2, 24)):
        out, (by_x,) = run(text, ONES, target_index=index)
        np.testing.assert_array_equal(by_x, expected * ONES)
        assert (out[0], out[1][0], out[2]) == (12, 144, 144)


def test_the_target_may_be_a_field_of_a_variable_or_a_parameter():
    text = module(X34, "gv = (R.mean(x), R.sum(x))\nR.output(gv)")
    np.testing.assert_array_equal(run(text, ONES, target_index=1)[1][0], ONES)
    text = module('z: R.Tensor((), "float32")', "gv = R.exp(z)\nR.output(gv)", "(z, gv)")
    np.testing.assert_array_equal(run(text, np.float32(3))[1][0], 1)
    bare = """
@I.ir_module
class M:
    @R.function
    def main(z: R.Tensor((), "float32")):
        return z
"""
    np.testing.assert_array_equal(run(bare, np.float32(3))[1][0], 1)


def test_no_gradient_flows_through_no_grad():
    text = module(
        X34,
        """
        lv = R.grad.no_grad(R.exp(x))
        gv = R.sum(R.multiply(lv, x))
        R.output(gv)
        """,
    )
    np.testing.assert_allclose(run(text, ONES)[1][0], np.exp(ONES), rtol=1e-6)


def test_a_cast_passes_the_gradient_on():
    text = module(
        "x: R.Tensor(ndim=2, dtype='float32')",
        """
        lv = R.match_cast(x, R.Tensor((n, m), "float32"))
        gv = R.sum(R.multiply(lv, R.const(3.0)))
        R.output(gv)
        """,
    ).replace(
        "        with R.dataflow", "        n, m = T.int64(), T.int64()\n        with R.dataflow"
    )
    np.testing.assert_array_equal(run(text, ONES)[1][0], 3 * ONES)


def test_the_adjoint_goes_through_the_default_pipeline_on_every_executor():
    text = module(
        'x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 5), "float32"), '
        'i: R.Tensor(("n",), "int64")',
        """
        lv = R.nn.log_softmax(R.matmul(x, w))
        gv = R.nn.nll_loss(lv, i)
        R.output(gv)
        """,
    )
    mod = Gradient("main")(from_source(text))
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((3, 4)).astype("f"), rng.standard_normal((4, 5)).astype("f")
    i = np.array([4, 0, 2])
    exp = np.exp(x @ w)
    by_logits = (exp / exp.sum(1, keepdims=True) - np.eye(5)[i]) / 3
    for load in EXECUTORS.values():
        loss, (by_x, by_w, _) = load(mod)("main_adjoint", x, w, i)
        np.testing.assert_allclose(by_x, by_logits @ w.T, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(by_w, x.T @ by_logits, rtol=1e-4, atol=1e-6)
