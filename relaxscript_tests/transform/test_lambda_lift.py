"""LambdaLift: each way to use a local function, before and after, and what running them gives."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.interpreter import Interpreter
from relaxscript.ir.instrument import WellFormedInstrument
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import Function, Tuple, Var
from relaxscript.ir.struct_info import ShapeStructInfo, TensorStructInfo
from relaxscript.ir.walk import post_order
from relaxscript.runtime import Closure, Shape, register_func
from relaxscript.script import from_source
from relaxscript.testing.compare import assert_same, check_executors_agree, check_outcomes
from relaxscript.transform import LambdaLift, PassContext
from relaxscript_tests.end_to_end.executors import every_executor, failure

X = np.array([1, 2, 3], "float32")
Y = np.array([3, 5, 7], "float32")
YES = np.array(True)


def module(text: str) -> IRModule:
    lines = "from relaxscript.script import ir as I, relax as R, tir as T\n@I.ir_module\nclass M:\n"
    mod = from_source(lines + text)
    assert isinstance(mod, IRModule)
    return mod


def lifted(mod: IRModule) -> IRModule:
    with PassContext(instruments=[WellFormedInstrument()]):
        made = LambdaLift()(mod)
    assert not any(
        isinstance(node, Function) and node is not function
        for function in made.relax_functions().values()
        for node in post_order(function)
    )
    return made


def same_meaning(before: IRModule, after: IRModule, *inputs: Any) -> Any:
    """What both programs give on all executors."""
    expected = check_executors_agree(before, copy.deepcopy(inputs))
    check_outcomes("after", check_executors_agree(after, copy.deepcopy(inputs)), "before", expected)
    return expected


def check(before: str, after: str, *inputs: Any) -> Any:
    """One text becomes the other, and both give what is returned."""
    mod = module(before)
    made = lifted(mod)
    assert_same(made, module(after))
    return same_meaning(mod, made, *inputs)


# ---------------------------------------------------------------- what is captured


def test_a_function_that_captures_nothing_is_called_by_its_name():
    before = """
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        @R.function
        def double(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            return R.add(y, y)
        return double(x)
    """
    after = """
    @R.function(private=True)
    def lifted_func_0(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        return R.add(y, y)

    @R.function
    def main(x: R.Tensor((3,), "float32")):
        return M.lifted_func_0(x)
    """
    np.testing.assert_array_equal(check(before, after, X), 2 * X)


def test_a_captured_tensor_is_the_last_parameter():
    before = """
    @R.function
    def main(x: R.Tensor((3,), "float32"), y: R.Tensor((3,), "float32")):
        @R.function
        def minus(z: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            return R.subtract(z, x)
        return minus(y)
    """
    after = """
    @R.function(private=True)
    def lifted_func_0(
        z: R.Tensor((3,), "float32"), x: R.Tensor((3,), "float32")
    ) -> R.Tensor((3,), "float32"):
        return R.subtract(z, x)

    @R.function
    def main(x: R.Tensor((3,), "float32"), y: R.Tensor((3,), "float32")):
        minus = R.make_closure(M.lifted_func_0, (x,))
        return R.invoke_pure_closure(minus, (y,), sinfo_args=R.Tensor((3,), "float32"))
    """
    np.testing.assert_array_equal(check(before, after, X, Y), Y - X)


def test_captured_shape_variables_are_one_shape():
    before = """
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        @R.function
        def size(y: R.Tensor(("k",), "float32")) -> R.Shape(ndim=2):
            k = T.int64()
            return R.shape([n * k, m])
        return size(R.const([1.0, 2.0], "float32"))
    """
    after = """
    @R.function(private=True)
    def lifted_func_0(y: R.Tensor(("k",), "float32"), s: R.Shape(["n", "m"])) -> R.Shape(ndim=2):
        k, n, m = T.int64(), T.int64(), T.int64()
        return R.shape([n * k, m])

    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        size = R.make_closure(M.lifted_func_0, (R.shape([n, m]),))
        return R.invoke_pure_closure(
            size, (R.const([1.0, 2.0], "float32"),), sinfo_args=R.Shape(ndim=2)
        )
    """
    assert check(before, after, np.ones((3, 4), "float32")) == Shape((6, 4))


def test_shape_variables_that_captured_tensors_tell_are_not_captured_again():
    before = """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), z: R.Tensor(("m * 2",), "float32"), s: R.Shape(["m"])):
        n, m = T.int64(), T.int64()
        @R.function
        def add(y: R.Tensor((n,), "float32")) -> R.Tuple(
            R.Tensor((n,), "float32"), R.Tensor((m * 2,), "float32")
        ):
            return (R.add(x, y), z)
        return add(x)
    """
    after = """
    @R.function(private=True)
    def lifted_func_0(
        y: R.Tensor(("n",), "float32"),
        x: R.Tensor(("n",), "float32"),
        z: R.Tensor(("m * 2",), "float32"),
        shape: R.Shape(["m"]),
    ) -> R.Tuple(R.Tensor(("n",), "float32"), R.Tensor(("m * 2",), "float32")):
        n, m = T.int64(), T.int64()
        return (R.add(x, y), z)

    @R.function
    def main(x: R.Tensor(("n",), "float32"), z: R.Tensor(("m * 2",), "float32"), s: R.Shape(["m"])):
        n, m = T.int64(), T.int64()
        add = R.make_closure(M.lifted_func_0, (x, z, R.shape([m])))
        return R.invoke_pure_closure(
            add,
            (x,),
            sinfo_args=R.Tuple(R.Tensor((n,), "float32"), R.Tensor((m * 2,), "float32")),
        )
    """
    found = check(before, after, X, np.ones(4, "float32"), Shape((2,)))
    np.testing.assert_array_equal(found[0], 2 * X)


def test_a_shape_variable_that_each_call_gives_is_not_captured():
    before = """
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        @R.function
        def double(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            return R.add(y, y)
        return double(double(x))
    """
    after = """
    @R.function(private=True)
    def lifted_func_0(y: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        return R.add(y, y)

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        return M.lifted_func_0(M.lifted_func_0(x))
    """
    np.testing.assert_array_equal(check(before, after, X), 4 * X)


def test_an_argument_that_may_be_of_another_size_is_checked_as_before():
    before = """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32"), s: R.Shape(["n"])):
        n, m = T.int64(), T.int64()
        @R.function
        def double(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            return R.add(y, y)
        z = R.match_cast(R.call_pure_packed("test.first", y, sinfo_args=R.Object), R.Tensor)
        return double(z)
    """
    register_func("test.first", lambda x: x)
    with pytest.warns(match="it is checked when the program runs"):
        mod = module(before)
    made = LambdaLift()(mod)
    assert [len(made[name].params) for name in ("lifted_func_0",)] == [2]
    found = same_meaning(mod, made, X, np.ones(2, "float32"), Shape((3,)))
    assert isinstance(found, VMError)
    assert found.code == "RX0601"


def test_a_scalar_that_may_be_negative_is_captured_as_a_value():
    before = """
    @R.function
    def main(k: R.Prim(value="i")):
        i = T.int64()
        @R.function
        def add(y: R.Tensor(("n",), "float32")) -> R.Prim("int64"):
            n = T.int64()
            return R.prim_value(n + i)
        return add(R.const([1.0, 2.0], "float32"))
    """
    after = """
    @R.function(private=True)
    def lifted_func_0(y: R.Tensor(("n",), "float32"), i: R.Prim(value="j")) -> R.Prim("int64"):
        n, j = T.int64(), T.int64()
        return R.prim_value(n + j)

    @R.function
    def main(k: R.Prim(value="i")):
        i = T.int64()
        value = R.prim_value(i)
        add = R.make_closure(M.lifted_func_0, (value,))
        return R.invoke_pure_closure(
            add, (R.const([1.0, 2.0], "float32"),), sinfo_args=R.Prim("int64")
        )
    """
    assert check(before, after, -5) == -3


def test_a_shape_that_a_captured_variable_holds_is_checked_in_the_body():
    before = """
    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32"), s: R.Shape(ndim=1)) -> R.Object:
        z = R.match_cast(x, R.Tensor(s, "float32"))
        @R.function
        def double(y: R.Tensor(s, "float32")) -> R.Tensor(s, "float32"):
            w: R.Tensor(s, "float32") = R.add(y, y)
            return w
        a: R.Tensor(s, "float32") = double(z)
        return (a, double)
    """
    after = """
    @R.function(private=True)
    def lifted_func_0(
        y: R.Tensor(ndim=1, dtype="float32"), s: R.Shape(ndim=1)
    ) -> R.Tensor(ndim=1, dtype="float32"):
        y_1 = R.match_cast(y, R.Tensor(s, "float32"))
        w: R.Tensor(s, "float32") = R.add(y_1, y_1)
        result = R.match_cast(w, R.Tensor(s, "float32"))
        return result

    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32"), s: R.Shape(ndim=1)) -> R.Object:
        z = R.match_cast(x, R.Tensor(s, "float32"))
        double = R.make_closure(M.lifted_func_0, (s,))
        a: R.Tensor(s, "float32") = R.invoke_pure_closure(
            double, (z,), sinfo_args=R.Tensor(s, "float32")
        )
        return (a, double)
    """
    np.testing.assert_array_equal(check(before, after, X, Shape((3,)))[0], 2 * X)
    double = Interpreter(lifted(module(before))).main(X, Shape((3,)))[1]
    assert failure(lambda: double(np.ones(2, "float32"))).code == "RX0605"


# ---------------------------------------------------------------- functions in functions


def test_functions_in_functions_capture_from_both_levels():
    before = """
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        @R.function
        def outer(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            @R.function
            def inner(z: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
                return R.add(R.subtract(x, y), z)
            return inner(y)
        return outer(x)
    """
    after = """
    @R.function(private=True)
    def lifted_func_0(
        y: R.Tensor((3,), "float32"), x: R.Tensor((3,), "float32")
    ) -> R.Tensor((3,), "float32"):
        inner = R.make_closure(M.lifted_func_1, (x, y))
        return R.invoke_pure_closure(inner, (y,), sinfo_args=R.Tensor((3,), "float32"))

    @R.function(private=True)
    def lifted_func_1(
        z: R.Tensor((3,), "float32"), x: R.Tensor((3,), "float32"), y: R.Tensor((3,), "float32")
    ) -> R.Tensor((3,), "float32"):
        return R.add(R.subtract(x, y), z)

    @R.function
    def main(x: R.Tensor((3,), "float32")):
        outer = R.make_closure(M.lifted_func_0, (x,))
        return R.invoke_pure_closure(outer, (x,), sinfo_args=R.Tensor((3,), "float32"))
    """
    np.testing.assert_array_equal(check(before, after, X), X)


def test_a_function_calls_an_earlier_one_that_it_captures():
    before = """
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        @R.function
        def free(y: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
            return R.add(y, y)
        @R.function
        def bound(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            return R.add(y, x)
        @R.function
        def both(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            return free(bound(y))
        return both(x)
    """
    after = """
    @R.function(private=True)
    def lifted_func_0(y: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
        return R.add(y, y)

    @R.function(private=True)
    def lifted_func_1(
        y: R.Tensor(("n",), "float32"), x: R.Tensor(("n",), "float32")
    ) -> R.Tensor(("n",), "float32"):
        return R.add(y, x)

    @R.function(private=True)
    def lifted_func_2(
        y: R.Tensor(("n",), "float32"),
        bound: R.Callable((R.Tensor(("n",), "float32"),), R.Tensor(("n",), "float32")),
    ) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        a = R.invoke_pure_closure(bound, (y,), sinfo_args=R.Tensor((n,), "float32"))
        return M.lifted_func_0(a)

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        bound = R.make_closure(M.lifted_func_1, (x,))
        both = R.make_closure(M.lifted_func_2, (bound,))
        return R.invoke_pure_closure(both, (x,), sinfo_args=R.Tensor((n,), "float32"))
    """
    np.testing.assert_array_equal(check(before, after, X), 4 * X)


def test_a_function_that_calls_itself_calls_the_lifted_one():
    before = """
    @R.function
    def main(x: R.Tensor((3,), "float32"), i: R.Tensor((), "int64")):
        @R.function
        def loop(a: R.Tensor((3,), "float32"), i: R.Tensor((), "int64")) -> R.Tensor(
            (3,), "float32"
        ):
            if R.greater(i, R.const(0, "int64")):
                r = loop(R.add(a, x), R.subtract(i, R.const(1, "int64")))
            else:
                r = a
            return r
        return loop(x, i)
    """
    after = """
    @R.function(private=True)
    def lifted_func_0(
        a: R.Tensor((3,), "float32"), i: R.Tensor((), "int64"), x: R.Tensor((3,), "float32")
    ) -> R.Tensor((3,), "float32"):
        if R.greater(i, R.const(0, "int64")):
            r = M.lifted_func_0(R.add(a, x), R.subtract(i, R.const(1, "int64")), x)
        else:
            r = a
        return r

    @R.function
    def main(x: R.Tensor((3,), "float32"), i: R.Tensor((), "int64")):
        loop = R.make_closure(M.lifted_func_0, (x,))
        return R.invoke_pure_closure(loop, (x, i), sinfo_args=R.Tensor((3,), "float32"))
    """
    np.testing.assert_array_equal(check(before, after, X, np.array(4)), 5 * X)


def test_a_function_without_captures_that_mentions_itself_mentions_the_lifted_one():
    before = """
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        @R.function
        def again(y: R.Tensor((3,), "float32"), b: R.Tensor((), "bool")) -> R.Object:
            if b:
                r = (again, again(y, R.const(False)))
            else:
                r = (again, y)
            return r
        return again(x, R.const(True))
    """
    after = """
    @R.function(private=True)
    def lifted_func_0(y: R.Tensor((3,), "float32"), b: R.Tensor((), "bool")) -> R.Object:
        if b:
            r = (M.lifted_func_0, M.lifted_func_0(y, R.const(False)))
        else:
            r = (M.lifted_func_0, y)
        return r

    @R.function
    def main(x: R.Tensor((3,), "float32")):
        return M.lifted_func_0(x, R.const(True))
    """
    found = check(before, after, X)
    np.testing.assert_array_equal(found[1][1], X)


def test_a_function_that_mentions_itself_makes_the_closure_again():
    before = """
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        @R.function
        def again(y: R.Tensor(("k",), "float32")) -> R.Object:
            r = (again, x)
            return r
        return again(x)
    """
    after = """
    @R.function(private=True)
    def lifted_func_0(y: R.Tensor(("k",), "float32"), x: R.Tensor(("n",), "float32")) -> R.Object:
        again = R.make_closure(M.lifted_func_0, (x,))
        r = (again, x)
        return r

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        again = R.make_closure(M.lifted_func_0, (x,))
        return R.invoke_pure_closure(again, (x,), sinfo_args=R.Object)
    """
    assert isinstance(check(before, after, X)[0], Closure)


# ---------------------------------------------------------------- functions as values


def test_lifted_functions_stand_in_tuples_and_are_chosen():
    before = """
    @R.function
    def main(x: R.Tensor((3,), "float32"), flag: R.Tensor((), "bool")):
        @R.function
        def plus(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            return R.add(x, y)
        @R.function
        def minus(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            return R.negative(y)
        t = (plus, minus)
        if flag:
            f = minus
        else:
            f = plus
        g = t[0]
        return (f(x), g(x))
    """
    after = """
    @R.function(private=True)
    def lifted_func_0(
        y: R.Tensor((3,), "float32"), x: R.Tensor((3,), "float32")
    ) -> R.Tensor((3,), "float32"):
        return R.add(x, y)

    @R.function(private=True)
    def lifted_func_1(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        return R.negative(y)

    @R.function
    def main(x: R.Tensor((3,), "float32"), flag: R.Tensor((), "bool")):
        plus = R.make_closure(M.lifted_func_0, (x,))
        t = (plus, M.lifted_func_1)
        if flag:
            f = M.lifted_func_1
        else:
            f = plus
        g = t[0]
        return (f(x), g(x))
    """
    found = check(before, after, X, YES)
    np.testing.assert_array_equal(found, [-X, 2 * X])
    np.testing.assert_array_equal(check(before, after, X, ~YES), [2 * X, 2 * X])


def test_a_function_in_a_branch_is_lifted_out_of_it():
    before = """
    @R.function
    def main(x: R.Tensor((3,), "float32"), flag: R.Tensor((), "bool")):
        if flag:
            @R.function
            def double(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
                return R.add(y, y)
            r = double(x)
        else:
            r = x
        return r
    """
    after = """
    @R.function(private=True)
    def lifted_func_0(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        return R.add(y, y)

    @R.function
    def main(x: R.Tensor((3,), "float32"), flag: R.Tensor((), "bool")):
        if flag:
            r = M.lifted_func_0(x)
        else:
            r = x
        return r
    """
    np.testing.assert_array_equal(check(before, after, X, YES), 2 * X)


def test_functions_in_dataflow_blocks_and_their_outputs_are_lifted():
    before = """
    @R.function
    def main(x: R.Tensor((3,), "float32"), k: R.Prim(value="i")):
        i = T.int64()
        with R.dataflow():
            a = R.add(x, x)
            R.output(a)
        @R.function
        def double(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            return R.add(y, y)
        with R.dataflow():
            @R.function
            def minus(y: R.Tensor((3,), "float32")) -> R.Tuple(
                R.Tensor((3,), "float32"), R.Prim("int64")
            ):
                return (R.subtract(y, x), R.prim_value(i))
            b = minus(double(a))
            R.output(b, minus)
        return (b, minus)
    """
    after = """
    @R.function(private=True)
    def lifted_func_0(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        return R.add(y, y)

    @R.function(private=True)
    def lifted_func_1(
        y: R.Tensor((3,), "float32"), x: R.Tensor((3,), "float32"), i: R.Prim(value="i")
    ) -> R.Tuple(R.Tensor((3,), "float32"), R.Prim("int64")):
        i = T.int64()
        return (R.subtract(y, x), R.prim_value(i))

    @R.function
    def main(x: R.Tensor((3,), "float32"), k: R.Prim(value="i")):
        i = T.int64()
        with R.dataflow():
            a = R.add(x, x)
            value = R.prim_value(i)
            minus = R.make_closure(M.lifted_func_1, (x, value))
            b = R.invoke_pure_closure(
                minus,
                (M.lifted_func_0(a),),
                sinfo_args=R.Tuple(R.Tensor((3,), "float32"), R.Prim("int64")),
            )
            R.output(a, b, minus)
        return (b, minus)
    """
    (value, scalar), _ = check(before, after, X, -2)
    np.testing.assert_array_equal(value, 3 * X)
    assert scalar == -2


def test_a_closure_is_passed_to_a_function_that_asks_for_its_type():
    apply = """
    @R.function
    def apply(
        f: R.Callable((R.Tensor(("n",), "float32"),), R.Tensor(("n",), "float32")),
        x: R.Tensor(("n",), "float32"),
    ) -> R.Tensor(("n",), "float32"):
        return f(x)
    """
    before = """
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        @R.function
        def plus(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            return R.add(y, x)
        return M.apply(plus, x)
    """
    after = """
    @R.function(private=True)
    def lifted_func_0(
        y: R.Tensor(("n",), "float32"), x: R.Tensor(("n",), "float32")
    ) -> R.Tensor(("n",), "float32"):
        return R.add(y, x)

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        plus = R.make_closure(M.lifted_func_0, (x,))
        return M.apply(plus, x)
    """
    np.testing.assert_array_equal(check(apply + before, apply + after, X), 2 * X)


RETURNED = """
    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Callable(
        (R.Tensor(("n",), "float32"),), R.Tensor(("n",), "float32")
    ):
        n = T.int64()
        @R.function
        def double(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            z = R.add(y, y)
            return z
        return double
"""


def test_a_closure_is_returned_where_its_type_is_declared():
    after = """
    @R.function(private=True)
    def lifted_func_0(
        y: R.Tensor(("n",), "float32"), shape: R.Shape(["n"])
    ) -> R.Tensor(("n",), "float32"):
        z = R.add(y, y)
        return z

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Callable(
        (R.Tensor(("n",), "float32"),), R.Tensor(("n",), "float32")
    ):
        n = T.int64()
        double = R.make_closure(M.lifted_func_0, (R.shape([n]),))
        return double
    """
    assert isinstance(check(RETURNED, after, X), Closure)


@every_executor
def test_a_returned_closure_takes_what_it_took_and_has_the_type_that_it_had(load):
    before, after = (load(mod).main(X) for mod in (module(RETURNED), lifted(module(RETURNED))))
    for closure in (before, after):
        np.testing.assert_array_equal(closure(Y), 2 * Y)
        assert failure(lambda closure=closure: closure(np.ones(2, "float32"))).code == "RX0601"
    assert repr(after.info) == repr(before.info)


# ---------------------------------------------------------------- what is kept


def test_impure_functions_and_attributes_stay_what_they_are():
    before = """
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32"), b: R.Tensor((), "bool")):
        @R.function(pure=False)
        def check(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            R.func_attr({"global_symbol": "named", "kept": 1})
            R.assert_op(b)
            return y
        return check(x)
    """
    after = """
    @R.function(private=True, pure=False)
    def lifted_func_0(
        y: R.Tensor((3,), "float32"), b: R.Tensor((), "bool")
    ) -> R.Tensor((3,), "float32"):
        R.func_attr({"kept": 1})
        R.assert_op(b)
        return y

    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32"), b: R.Tensor((), "bool")):
        check = R.make_closure(M.lifted_func_0, (b,))
        return R.invoke_closure(check, (x,), sinfo_args=R.Tensor((3,), "float32"))
    """
    np.testing.assert_array_equal(check(before, after, X, YES), X)
    assert check(before, after, X, ~YES).code == "RX0611"


def test_names_of_the_module_are_not_taken():
    made = lifted(
        module("""
    @R.function
    def lifted_func_0(x: R.Tensor((3,), "float32")):
        @R.function
        def double(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            return R.add(y, y)
        return double(x)
    """)
    )
    assert [var.name_hint for var in made.functions] == ["lifted_func_0", "lifted_func_1"]
    assert made["lifted_func_1"].is_private


FAILING = """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor((3,), "float32")):
        @R.function
        def cast(z: R.Tensor((3,), "float32")) -> R.Tensor((2,), "float32"):
            a = R.match_cast(x, R.Tensor((2,), "float32"))
            return a
        return cast(y)
"""


@every_executor
def test_a_failure_names_the_line_that_it_named(load):
    errors = [failure(lambda mod=mod: load(mod).main(X, Y)) for mod in
              (module(FAILING), lifted(module(FAILING)))]  # fmt: skip
    assert [error.code for error in errors] == ["RX0605"] * 2
    assert errors[0].span.line == errors[1].span.line == 9


def test_a_module_without_local_functions_is_left_alone():
    mod = module("""
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        return x
    """)
    assert LambdaLift()(mod) is mod


def test_a_function_that_no_variable_is_bound_to_is_lifted_too():
    n = PrimVar("n", "int64")
    x, s = Var("x", TensorStructInfo((n,), "float32")), Var("s", ShapeStructInfo((n,)))
    inner = Function((s,), Tuple((s, x)))
    mod = IRModule({"main": Function((x,), Tuple((inner, x)), attrs={"global_symbol": "main"})})
    made = LambdaLift()(mod)
    assert_same(
        made,
        module("""
    @R.function(private=True)
    def lifted_func_0(s: R.Shape(["n"]), x: R.Tensor(("n",), "float32")):
        return (s, x)

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        f = R.make_closure(M.lifted_func_0, (x,))
        return (f, x)
    """),
    )
