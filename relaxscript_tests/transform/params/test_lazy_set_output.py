"""Results are handed to a callback as soon as they are there."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError
from relaxscript.runtime import PackedFunc
from relaxscript.script import from_source
from relaxscript.testing.compare import assert_same
from relaxscript.transform import LazySetOutput, LiftTransformParams
from relaxscript_tests.transform.before_after import check

HEAD = """
@I.ir_module
class M:
    @R.function{pure}
    def main(
        x: R.Tensor((3,), "float32"), {first}w: R.Tensor((3,), "float32"), {last}
    ){result}:
"""
BODY = """
        y = R.multiply(x, w)
        z = R.add(y, w)
        return {}
"""
CALLBACK = 'fset_output: R.Callable((R.Prim("int64"), R.Object), R.Tuple([]), purity=False),'


def before(result, body=BODY, attrs=""):
    return HEAD.format(pure="", first="", last="", result="") + attrs + body.format(result)


def after(body, attrs="", first="", last=CALLBACK):
    head = HEAD.format(pure="(pure=False)", first=first, last=last, result=" -> R.Tuple([])")
    return head + attrs + body + "        return R.tuple()\n"


def check_runs(text, results):
    """The program hands over what it gave, in this order."""
    module = from_source(text)
    made = LazySetOutput()(module)
    assert_same(from_source(made.script(show_meta=True)), made)
    assert LazySetOutput()(made) is made
    found, (x, w) = {}, np.random.default_rng(0).normal(size=(2, 3)).astype("float32")

    def put(index, value):
        found[int(index)] = value

    assert rx.jit(made).main(x, w, PackedFunc("put", put)) == ()
    assert list(found) == results
    expected = rx.jit(module).main(x, w)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for index, value in enumerate(expected):
        assert np.array_equal(found[index], value)


def test_each_result_is_handed_over_behind_its_binding():
    text = before("z, y")
    body = """
        y = R.multiply(x, w)
        _ = fset_output(R.prim_value(1), y)
        z = R.add(y, w)
        _ = fset_output(R.prim_value(0), z)
"""
    check(LazySetOutput(), text, after(body))
    check_runs(text, [1, 0])


def test_what_is_no_tuple_is_one_result():
    body = """
        y = R.multiply(x, w)
        z = R.add(y, w)
        _ = fset_output(R.prim_value(0), z)
"""
    check(LazySetOutput(), before("z"), after(body))
    check_runs(before("z"), [0])


def test_parameters_and_constants_come_first_and_a_value_may_come_twice():
    check_runs(before("z, w, R.const(1.0), z, (y, x)"), [1, 2, 4, 0, 3])


def test_the_callback_is_the_last_of_the_inputs():
    text = before("z", attrs='        R.func_attr({"num_input": 1})\n')
    body = """
        y = R.multiply(x, w)
        z = R.add(y, w)
        _ = fset_output(R.prim_value(0), z)
"""
    attrs = '        R.func_attr({"num_input": 2})\n'
    check(LazySetOutput(), text, after(body, attrs, first=CALLBACK, last=""))


def test_fields_of_a_tuple_that_is_bound_are_results_and_it_is_gone():
    body = """
        y = R.multiply(x, w)
        t = (w, y)
        z = R.add(y, w)
        return t
"""
    check_runs(before("", body), [0, 1])
    assert "(w, y)" not in LazySetOutput()(from_source(before("", body))).script()


def test_fields_of_a_tuple_that_a_call_gives_are_results():
    body = """
        y = R.split(R.concat([x, w]), 2)
        return y
"""
    check_runs(before("", body), [0, 1])


def test_a_dataflow_block_stays_where_its_last_binding_computes_the_results():
    body = """
        with R.dataflow():
            y = R.multiply(x, w)
            z = R.add(y, w)
            R.output({outputs})
        return {results}
"""
    one = before("", body.replace("{outputs}", "z").replace("{results}", "z"))
    assert "R.dataflow" in LazySetOutput()(from_source(one)).script()
    check_runs(one, [0])
    two = before("", body.replace("{outputs}", "y, z").replace("{results}", "(y, z)"))
    assert "R.dataflow" not in LazySetOutput()(from_source(two)).script()
    check_runs(two, [0, 1])


def test_functions_that_give_nothing_and_private_ones_stay():
    check(LazySetOutput(), before("R.tuple()"))
    private = before("z").replace("@R.function", "@R.function(private=True)")
    public = "\n    @R.function\n    def other():\n        return R.tuple()\n"
    check(LazySetOutput(), private + public)


def test_weights_that_are_computed_ahead_are_handed_over_one_by_one():
    body = """
        with R.dataflow():
            u = R.exp(w)
            v = R.log(u)
            y = R.add(R.multiply(x, u), v)
            R.output(y)
        return y
"""
    text = before("", body, attrs='        R.func_attr({"num_input": 1})\n')
    made = LazySetOutput()(LiftTransformParams()(from_source(text)))
    found, w = [], np.float32([1, 2, 3])
    put = PackedFunc("put", lambda index, value: found.append((int(index), value)))
    rx.jit(made)["main_transform_params"](put, (w,))
    assert [index for index, _ in found] == [0, 1]
    assert np.allclose(found[1][1], w)


def test_what_the_module_calls_is_as_it_was():
    text = (
        before("z")
        + """
    @R.function
    def other(x: R.Tensor((3,), "float32")) -> R.Tuple([]):
        cls = M
        y = cls.main(x, x)
        return R.tuple()
"""
    )
    made = LazySetOutput()(from_source(text))
    assert made["main_with_params"].is_private
    assert rx.jit(made).other(np.ones(3, "float32")) == ()


def test_a_number_of_inputs_that_is_none_is_told_at_the_function():
    text = before("z", attrs='        R.func_attr({"num_input": 5})\n')
    with pytest.raises(DiagnosticError, match="`num_input` of `main` is 5") as raised:
        LazySetOutput()(from_source(text))
    assert "def main" in str(raised.value)
