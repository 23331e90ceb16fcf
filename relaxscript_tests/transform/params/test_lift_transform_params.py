"""What depends on weights alone is computed by a function of its own."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError
from relaxscript.ir.relax import GlobalVar
from relaxscript.runtime import Shape
from relaxscript.script import from_source
from relaxscript.testing.compare import assert_same
from relaxscript.transform import BundleModelParams, LiftTransformParams
from relaxscript_tests.transform.before_after import check

HEAD = "@I.ir_module\nclass M:\n"
MAIN = """
    @R.function
    def main(
        x: R.Tensor((2, 3), "float32"), w: R.Tensor((4, 3), "float32"),
        b: R.Tensor((4,), "float32"),
    ):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            w_t = R.permute_dims(w)
            y = R.matmul(x, w_t)
            z = R.add(y, b)
            R.output(z)
        return z
"""
LIFTED = """
    @R.function
    def main(
        x: R.Tensor((2, 3), "float32"), b: R.Tensor((4,), "float32"),
        w_t: R.Tensor((3, 4), "float32"),
    ):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            y = R.matmul(x, w_t)
            z = R.add(y, b)
            R.output(z)
        return z

    @R.function
    def main_transform_params(
        params: R.Tuple(R.Tensor((4, 3), "float32"), R.Tensor((4,), "float32"))
    ):
        R.func_attr({"num_input": 0})
        with R.dataflow():
            w = params[0]
            w_t = R.permute_dims(w)
            b = params[1]
            gv = (b, w_t)
            R.output(gv)
        return gv
"""


def arrays(*shapes):
    rng = np.random.default_rng(0)
    return [rng.normal(size=shape).astype("float32") for shape in shapes]


def check_runs(before, made, inputs, weights, name="main"):
    old, new = rx.jit(before), rx.jit(made)
    expected = old[name](*inputs, *weights)
    transform = name + "_transform_params" if name + "_transform_params" in made else None
    given = new[transform or "transform_params"](tuple(weights))
    assert np.array_equal(new[name](*inputs, *given), expected)
    assert_same(from_source(made.script(show_meta=True)), made)


def lifted(text, step=None):
    return (step or LiftTransformParams())(from_source(HEAD + text))


def test_what_is_computed_of_weights_is_computed_ahead():
    made = check(LiftTransformParams(), HEAD + MAIN, HEAD + LIFTED)
    x, w, b = arrays((2, 3), (4, 3), (4,))
    check_runs(from_source(HEAD + MAIN), made, [x], [w, b])


def test_functions_that_do_not_say_what_their_weights_are_stay():
    check(LiftTransformParams(), HEAD + MAIN.replace('R.func_attr({"num_input": 1})', ""))


def test_a_function_without_weights_has_a_transform_of_nothing():
    text = MAIN.replace('"num_input": 1', '"num_input": 3')
    made = lifted(text)
    assert made["main_transform_params"].ret_struct_info.fields == ()
    assert_same(made["main"], from_source(HEAD + text)["main"])


def test_calls_in_the_module_transform_the_weights_that_they_give():
    other = """
    @R.function
    def other(
        x: R.Tensor((2, 3), "float32"), w: R.Tensor((4, 3), "float32"),
        b: R.Tensor((4,), "float32"),
    ):
        cls = M
        y = cls.main(x, w, b)
        return y
"""
    after = other.replace(
        "y = cls.main(x, w, b)",
        "params = cls.main_transform_params((w, b))\n        b1 = params[0]\n"
        "        w1 = params[1]\n        y = cls.main(x, b1, w1)",
    )
    made = check(LiftTransformParams(), HEAD + MAIN + other, HEAD + LIFTED + after)
    x, w, b = arrays((2, 3), (4, 3), (4,))
    before = from_source(HEAD + MAIN + other)
    assert np.array_equal(rx.jit(made).other(x, w, b), rx.jit(before).other(x, w, b))


def test_bindings_outside_of_dataflow_blocks_stay_where_they_are():
    text = MAIN.replace("        with R.dataflow():\n", "").replace("            R.output(z)\n", "")
    made = lifted(text.replace("\n            ", "\n        "))
    assert "permute_dims" in made["main"].script()
    assert "permute_dims" not in made["main_transform_params"].script()


def test_stop_lift_params_keeps_what_uses_it_where_it_is():
    text = MAIN.replace("R.permute_dims(w)", "R.permute_dims(R.builtin.stop_lift_params(w))")
    made = lifted(text)
    assert "permute_dims" in made["main"].script()


def test_names_tuples_and_constants_are_written_where_they_are_used():
    text = MAIN.replace("y = R.matmul(x, w_t)", "t = (w_t, b)\n            y = R.matmul(x, t[0])")
    text = text.replace("R.add(y, b)", "R.add(y, t[1])")
    made = lifted(text)
    assert [p.name_hint for p in made["main"].params] == ["x", "b", "w_t"]
    x, w, b = arrays((2, 3), (4, 3), (4,))
    check_runs(from_source(HEAD + text), made, [x], [w, b])


def test_sizes_that_nothing_else_tells_are_handed_over_as_a_shape():
    text = """
    @R.function
    def main(
        x: R.Tensor((2,), "float32"), w: R.Tensor(("m",), "float32"), s: R.Shape(["k"])
    ):
        R.func_attr({"num_input": 1})
        m = T.int64()
        k = T.int64()
        with R.dataflow():
            v = R.sum(w)
            y = R.multiply(x, v)
            z = R.broadcast_to(y, (m, k, 2))
            R.output(z)
        return z
"""
    made = lifted(text)
    first, sizes, v = made["main"].params
    assert str(sizes.struct_info) == "R.Shape([m, k])"
    x, w = arrays((2,), (3,))
    check_runs(from_source(HEAD + text), made, [x], [w, Shape((5,))])


def test_sizes_on_which_inputs_and_weights_agree_are_still_compared():
    text = """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), w: R.Tensor(("n",), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            v = R.sum(w)
            y = R.multiply(x, v)
            R.output(y)
        return y
"""
    made = lifted(text)
    built = rx.jit(made)
    x, w = arrays((2,), (3,))
    with pytest.raises(rx.VMError, match="is 3; must be `n = 2`"):
        built.main(x, *built.main_transform_params((w,)))
    check_runs(from_source(HEAD + text), made, [x], [x])


def test_a_weight_whose_size_only_inputs_tell_is_used_with_them():
    text = """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), w: R.Tensor(("2 * n",), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            v = R.exp(w)
            y = R.concat([x, v])
            R.output(y)
        return y
"""
    made = lifted(text)
    (params,) = made["main_transform_params"].params
    assert str(params.struct_info) == 'R.Tuple(R.Tensor(dtype="float32", ndim=1))'
    assert "R.exp" in made["main"].script()
    check_runs(from_source(HEAD + text), made, *[[a] for a in arrays((2,), (4,))])


def test_sizes_that_a_cast_of_weights_finds_are_known_at_run_time():
    text = """
    @R.function
    def main(x: R.Tensor((3,), "float32"), w: R.Tensor(ndim=1, dtype="float32")):
        R.func_attr({"num_input": 1})
        k = T.int64()
        with R.dataflow():
            v = R.match_cast(w, R.Tensor((k,), "float32"))
            s = R.sum(v)
            y = R.broadcast_to(R.multiply(x, s), (k, 3))
            R.output(y)
        return y
"""
    check_runs(from_source(HEAD + text), lifted(text), *[[a] for a in arrays((3,), (5,))])


def test_names_of_weights_stay_and_what_is_computed_has_its_own():
    named = '"num_input": 1, "param_names": ["w_t", "fc.bias"]'
    made = lifted(MAIN.replace('"num_input": 1', named))
    assert made["main"].attrs["param_names"] == ("fc.bias", "w_t_1")
    assert made["main_transform_params"].attrs["param_names"] == ("w_t", "fc.bias")


def test_weights_in_one_tuple_are_handed_over_one_by_one():
    bundled = BundleModelParams()(from_source(HEAD + MAIN))
    made = LiftTransformParams()(bundled)
    assert [param.name_hint for param in made["main"].params] == ["x", "w_t", "b"]
    x, w, b = arrays((2, 3), (4, 3), (4,))
    check_runs(bundled, made, [x], [(w, b)])


def test_local_functions_are_written_on_both_sides():
    text = """
    @R.function
    def main(x: R.Tensor((3,), "float32"), w: R.Tensor((3,), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            @R.function
            def scaled(z: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
                a = R.multiply(z, w)
                return a

            v = scaled(w)
            y = scaled(x)
            u = R.add(v, y)
            R.output(u)
        return u
"""
    made = lifted(text)
    assert [p.name_hint for p in made["main"].params] == ["x", "w", "v"]
    check_runs(from_source(HEAD + text), made, *[[a] for a in arrays((3,), (3,))])


# ---------------------------------------------------------------- one transform for several

SECOND = MAIN.replace("def main", "def second").replace("z = R.add(y, b)", "z = R.multiply(y, b)")
THIRD = """
    @R.function
    def third(
        x: R.Tensor((4,), "float32"), w: R.Tensor((4, 3), "float32"), c: R.Tensor((4,), "float32")
    ):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            s = R.sum(w, axis=[1])
            y = R.multiply(x, s)
            R.output(y)
        return y
"""


def test_functions_of_the_same_weights_share_what_they_have_in_common():
    before = from_source(HEAD + MAIN + SECOND)
    made = LiftTransformParams(shared_transform=True)(before)
    transform = LIFTED[LIFTED.index("    @R.function\n    def main_transform") :]
    runtime = LIFTED[: LIFTED.index("    @R.function\n    def main_transform")]
    second = runtime.replace("def main", "def second").replace("R.add", "R.multiply")
    transform = transform.replace("main_transform_params", "transform_params")
    assert_same(made, from_source(HEAD + runtime + second + transform))
    x, w, b = arrays((2, 3), (4, 3), (4,))
    check_runs(before, made, [x], [w, b])
    check_runs(before, made, [x], [w, b], "second")


def test_what_only_one_of_them_computes_stays_in_it():
    before = from_source(HEAD + MAIN + THIRD)
    made = LiftTransformParams(True)(before)
    assert [p.name_hint for p in made["main"].params] == ["x", "w", "b"]
    assert [p.name_hint for p in made["third"].params] == ["x", "w", "c"]
    x, w, b = arrays((2, 3), (4, 3), (4,))
    check_runs(before, made, [x], [w, b])
    check_runs(before, made, arrays((4,)), [w, b], "third")


def test_a_list_names_the_functions_that_share():
    before = from_source(HEAD + MAIN + SECOND + THIRD)
    for names in (["main", "second"], [GlobalVar("main"), "second"]):
        made = LiftTransformParams(shared_transform=names)(before)
        assert made["third"] is before["third"]
        assert "permute_dims" not in made["second"].script()
    assert_same(LiftTransformParams([])(before), LiftTransformParams(True)(before))


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize("count", ["4", "-1", '"1"', "True"])
def test_a_number_of_inputs_that_is_none_is_told_at_the_function(count):
    with pytest.raises(DiagnosticError, match=r"`num_input` of `main` is .* has 3 parameters") as e:
        lifted(MAIN.replace('"num_input": 1', f'"num_input": {count}'))
    assert "def main" in str(e.value)


def test_a_function_that_is_named_says_what_its_weights_are():
    text = MAIN + MAIN.replace("def main", "def plain").replace('R.func_attr({"num_input": 1})', "")
    with pytest.raises(DiagnosticError, match="`plain` does not say which of its") as raised:
        lifted(text, LiftTransformParams(["main", "plain"]))
    assert "def plain" in str(raised.value)


def test_a_function_that_is_not_there_is_told_with_the_nearest():
    with pytest.raises(DiagnosticError, match="no Relax function of that name") as raised:
        lifted(MAIN, LiftTransformParams(["mian"]))
    assert "did you mean `main`" in str(raised.value)


def test_a_name_that_is_taken_is_told_where_it_is():
    taken = """
    @R.function
    def main_transform_params(x: R.Tensor((2,), "float32")):
        return x
"""
    with pytest.raises(DiagnosticError, match="has a function `main_transform_params`") as raised:
        lifted(MAIN + taken)
    assert "def main_transform_params" in str(raised.value)


def test_weights_that_are_not_the_same_are_told_at_the_weight():
    text = SECOND.replace("b: R.Tensor((4,)", "b: R.Tensor((5,)").replace(
        "multiply(y, b)", "exp(y)"
    )
    with pytest.raises(DiagnosticError, match=r"`b` is R\.Tensor\(\(5,\)") as raised:
        lifted(MAIN + text, LiftTransformParams(True))
    assert "is another" in str(raised.value)


def test_weights_of_another_number_are_told_at_the_function():
    text = THIRD.replace(', c: R.Tensor((4,), "float32")', "")
    with pytest.raises(DiagnosticError, match="`third` has other weights than `main`: it has 1"):
        lifted(MAIN + text, LiftTransformParams(True))


def test_weights_whose_sizes_agree_in_another_way_are_told():
    text = """
    @R.function
    def {name}(w: R.Tensor(("n",), "float32"), b: R.Tensor(("{size}",), "float32")):
        R.func_attr({{"num_input": 0}})
        return w
"""
    both = text.format(name="one", size="n") + text.format(name="two", size="m")
    with pytest.raises(DiagnosticError, match="their sizes agree in another way"):
        lifted(both, LiftTransformParams(True))


def test_a_function_that_is_used_as_a_value_is_refused():
    text = """
    @R.function
    def other(x: R.Tensor((2, 3), "float32")):
        cls = M
        f: R.Callable(
            (
                R.Tensor((2, 3), "float32"), R.Tensor((4, 3), "float32"),
                R.Tensor((4,), "float32"),
            ),
            R.Tensor((2, 4), "float32"),
        ) = cls.main
        return f(x, R.zeros((4, 3), "float32"), R.zeros((4,), "float32"))
"""
    with pytest.raises(DiagnosticError, match="main"):
        lifted(MAIN + text)


def test_another_argument_than_names_is_refused():
    with pytest.raises(DiagnosticError, match="`shared_transform` of `LiftTransformParams`"):
        LiftTransformParams(shared_transform=3)
