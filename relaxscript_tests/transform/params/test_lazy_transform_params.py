"""Functions that transform weights fetch each of them, and store what they make of them."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError
from relaxscript.ir.relax import PrimValue, Var
from relaxscript.ir.struct_info import ObjectStructInfo
from relaxscript.runtime import register_func, remove_global_func
from relaxscript.script import from_source
from relaxscript.testing.compare import assert_same
from relaxscript.transform import LazyTransformParams, LiftTransformParams
from relaxscript_tests.transform.before_after import check

BEFORE = """
@I.ir_module
class M:
    @R.function
    def main_transform_params(
        params: R.Tuple(R.Tensor((4, 3), "float32"), R.Tensor((4,), "float32")),
    ):
        R.func_attr({"num_input": 0})
        with R.dataflow():
            w = params[0]
            b = params[1]
            w_t = R.permute_dims(w)
            gv = (b, w_t)
            R.output(gv)
        return gv
"""
AFTER = """
@I.ir_module
class M:
    @R.function(pure=False)
    def main_transform_params() -> R.Tuple([]):
        R.func_attr({"num_input": 0})
        b_untyped = R.call_packed("get_item", R.prim_value(1), sinfo_args=R.Object)
        b = R.match_cast(b_untyped, R.Tensor((4,), "float32"))
        _ = R.call_packed("set_item", R.prim_value(0), b, sinfo_args=R.Object)
        w_untyped = R.call_packed("get_item", R.prim_value(0), sinfo_args=R.Object)
        w = R.match_cast(w_untyped, R.Tensor((4, 3), "float32"))
        w_t = R.permute_dims(w)
        _ = R.call_packed("set_item", R.prim_value(1), w_t, sinfo_args=R.Object)
        return R.tuple()
"""
W, B = np.arange(12, dtype="float32").reshape(4, 3), np.float32([1, 2, 3, 4])


@pytest.fixture
def stored():
    """What `set_item` is given; `get_item` gives `W` and `B`."""
    found = {}

    def put(*args):
        found[int(args[-2])] = args[-1]

    register_func("get_item", lambda *args: (W, B)[int(args[-1])])
    register_func("set_item", put)
    yield found
    remove_global_func("get_item")
    remove_global_func("set_item")


def test_each_weight_is_fetched_and_each_result_stored_as_soon_as_can_be(stored):
    made = check(LazyTransformParams(), BEFORE, AFTER)
    assert LazyTransformParams()(made) is made
    assert_same(from_source(made.script(show_meta=True)), made)
    assert rx.jit(made).main_transform_params() == ()
    assert list(stored) == [0, 1]
    for index, value in enumerate(rx.jit(from_source(BEFORE)).main_transform_params((W, B))):
        assert np.array_equal(stored[index], value)


def test_with_none_weights_stay_parameters_or_results_are_returned(stored):
    made = LazyTransformParams(fget_item=None)(from_source(BEFORE))
    assert rx.jit(made).main_transform_params((W, B)) == ()
    assert np.array_equal(stored[1], W.T)
    made = LazyTransformParams(fset_item=None)(from_source(BEFORE))
    assert np.array_equal(rx.jit(made).main_transform_params()[1], W.T)
    check(LazyTransformParams(None, None), BEFORE)


def test_other_arguments_come_before_the_position_and_variables_become_parameters(stored):
    loader, number = Var("loader", ObjectStructInfo()), PrimValue(3)
    step = LazyTransformParams("get_item", "set_item", [loader, number], [number, loader])
    made = step(
        from_source(BEFORE + BEFORE[BEFORE.index("    @R.function") :].replace("main", "m"))
    )
    assert step(made) is made
    for name in ("main_transform_params", "m_transform_params"):
        assert [param.name_hint for param in made[name].params] == ["loader"]
        assert made[name].params[0] is not loader
    assert 'get_item", loader, R.prim_value(3), R.prim_value(1)' in made.script()
    assert rx.jit(made).main_transform_params("here") == ()
    assert np.array_equal(stored[0], B)


def test_parameters_behind_the_inputs_are_weights(stored):
    text = """
@I.ir_module
class M:
    @R.function
    def transform_params(
        n: R.Prim("int64"), w: R.Tensor(("k", 3), "float32"), b: R.Tensor(("k",), "float32")
    ):
        R.func_attr({"num_input": 1})
        y = R.add(R.sum(w, axis=[1]), b)
        return y
"""
    made = LazyTransformParams()(from_source(text))
    assert [param.name_hint for param in made["transform_params"].params] == ["n"]
    rx.jit(made).transform_params(1)
    assert np.array_equal(stored[0], rx.jit(from_source(text)).transform_params(1, W, B))


def test_a_tuple_that_is_used_as_a_whole_is_made_of_its_fields(stored):
    text = BEFORE.replace("w = params[0]", "q = (params, params)\n            w = q[0][0]")
    made = LazyTransformParams()(from_source(text))
    rx.jit(made).main_transform_params()
    assert np.array_equal(stored[1], W.T)


def test_functions_of_other_names_stay():
    check(LazyTransformParams(), BEFORE.replace("main_transform_params", "main"))


def test_what_the_module_calls_is_as_it_was():
    text = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((3,), "float32"), w: R.Tensor((3,), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            u = R.exp(w)
            y = R.add(x, u)
            R.output(y)
        return y

    @R.function
    def other(x: R.Tensor((3,), "float32"), w: R.Tensor((3,), "float32")):
        cls = M
        y = cls.main(x, w)
        return y
"""
    before = from_source(text)
    made = LazyTransformParams()(LiftTransformParams()(before))
    assert made["main_transform_params"].params == ()
    x, w = np.float32([[1, 2, 3], [4, 5, 6]])
    assert np.array_equal(rx.jit(made).other(x, w), rx.jit(before).other(x, w))


def test_names_and_arguments_of_another_kind_are_refused():
    with pytest.raises(DiagnosticError, match="`fget_item` of `LazyTransformParams` is a string"):
        LazyTransformParams(3)
    with pytest.raises(DiagnosticError, match="`extra_get_item_params` of `LazyTransformParams`"):
        LazyTransformParams(extra_get_item_params=[3])


def test_a_number_of_inputs_that_is_none_is_told_at_the_function():
    with pytest.raises(DiagnosticError, match="`num_input` of `main_transform_params` is 5"):
        LazyTransformParams()(from_source(BEFORE.replace('"num_input": 0', '"num_input": 5')))
