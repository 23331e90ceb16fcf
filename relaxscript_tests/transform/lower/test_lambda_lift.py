"""LambdaLift: what local functions capture, before and after, and what running them gives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.interpreter import Interpreter
from relaxscript.ir.relax import Call, Var
from relaxscript.ir.walk import post_order
from relaxscript.runtime import Closure, Shape, register_func
from relaxscript.testing.compare import assert_same
from relaxscript.transform import LambdaLift
from relaxscript_tests.end_to_end.executors import failure
from relaxscript_tests.transform.lifting import X, Y, check, lifted, module, same_meaning

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
    def main_double(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        return R.add(y, y)

    @R.function
    def main(x: R.Tensor((3,), "float32")):
        return M.main_double(x)
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
    def main_minus(
        z: R.Tensor((3,), "float32"), x: R.Tensor((3,), "float32")
    ) -> R.Tensor((3,), "float32"):
        return R.subtract(z, x)

    @R.function
    def main(x: R.Tensor((3,), "float32"), y: R.Tensor((3,), "float32")):
        minus = R.make_closure(M.main_minus, (x,))
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
    def main_size(y: R.Tensor(("k",), "float32"), s: R.Shape(["n", "m"])) -> R.Shape(ndim=2):
        k, n, m = T.int64(), T.int64(), T.int64()
        return R.shape([n * k, m])

    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        size = R.make_closure(M.main_size, (R.shape([n, m]),))
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
    def main_add(
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
        add = R.make_closure(M.main_add, (x, z, R.shape([m])))
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
    def main_double(y: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        return R.add(y, y)

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        return M.main_double(M.main_double(x))
    """
    np.testing.assert_array_equal(check(before, after, X), 4 * X)


@pytest.mark.parametrize("argument", ["y", "z"])
def test_an_argument_that_may_be_of_another_size_is_checked_as_before(argument):
    register_func("test.same", lambda x: x, override=True)
    before = """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")) -> R.Object:
        n, m = T.int64(), T.int64()
        @R.function
        def double(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            return R.add(y, y)
        z = R.call_pure_packed("test.same", y, sinfo_args=R.Tensor("float32", ndim=1))
        return double(ARGUMENT)
    """.replace("ARGUMENT", argument)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is checked when the program runs
        mod = module(before)
    made = lifted(mod)
    assert len(made["main_double"].params) == 2
    found = same_meaning(mod, made, X, np.ones(2, "float32"))
    assert isinstance(found, VMError)
    assert (found.code, found.span.line) == ("RX0601", 12)


def test_a_scalar_is_captured_as_a_value():
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
    def main_add(y: R.Tensor(("n",), "float32"), i: R.Prim(value="j")) -> R.Prim("int64"):
        n, j = T.int64(), T.int64()
        return R.prim_value(n + j)

    @R.function
    def main(k: R.Prim(value="i")):
        i = T.int64()
        value = R.prim_value(i)
        add = R.make_closure(M.main_add, (value,))
        return R.invoke_pure_closure(
            add, (R.const([1.0, 2.0], "float32"),), sinfo_args=R.Prim("int64")
        )
    """
    assert check(before, after, 5) == 7


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
    def main_double(
        y: R.Tensor(ndim=1, dtype="float32"), s: R.Shape(ndim=1)
    ) -> R.Tensor(ndim=1, dtype="float32"):
        y_1 = R.match_cast(y, R.Tensor(s, "float32"))
        w: R.Tensor(s, "float32") = R.add(y_1, y_1)
        result = R.match_cast(w, R.Tensor(s, "float32"))
        return result

    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32"), s: R.Shape(ndim=1)) -> R.Object:
        z = R.match_cast(x, R.Tensor(s, "float32"))
        double = R.make_closure(M.main_double, (s,))
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
    def main_outer(
        y: R.Tensor((3,), "float32"), x: R.Tensor((3,), "float32")
    ) -> R.Tensor((3,), "float32"):
        inner = R.make_closure(M.main_outer_inner, (x, y))
        return R.invoke_pure_closure(inner, (y,), sinfo_args=R.Tensor((3,), "float32"))

    @R.function(private=True)
    def main_outer_inner(
        z: R.Tensor((3,), "float32"), x: R.Tensor((3,), "float32"), y: R.Tensor((3,), "float32")
    ) -> R.Tensor((3,), "float32"):
        return R.add(R.subtract(x, y), z)

    @R.function
    def main(x: R.Tensor((3,), "float32")):
        outer = R.make_closure(M.main_outer, (x,))
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
    def main_free(y: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
        return R.add(y, y)

    @R.function(private=True)
    def main_bound(
        y: R.Tensor(("n",), "float32"), x: R.Tensor(("n",), "float32")
    ) -> R.Tensor(("n",), "float32"):
        return R.add(y, x)

    @R.function(private=True)
    def main_both(
        y: R.Tensor(("n",), "float32"),
        bound: R.Callable((R.Tensor(("n",), "float32"),), R.Tensor(("n",), "float32")),
    ) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        a = R.invoke_pure_closure(bound, (y,), sinfo_args=R.Tensor((n,), "float32"))
        return M.main_free(a)

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        bound = R.make_closure(M.main_bound, (x,))
        both = R.make_closure(M.main_both, (bound,))
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
    def main_loop(
        a: R.Tensor((3,), "float32"), i: R.Tensor((), "int64"), x: R.Tensor((3,), "float32")
    ) -> R.Tensor((3,), "float32"):
        if R.greater(i, R.const(0, "int64")):
            r = M.main_loop(R.add(a, x), R.subtract(i, R.const(1, "int64")), x)
        else:
            r = a
        return r

    @R.function
    def main(x: R.Tensor((3,), "float32"), i: R.Tensor((), "int64")):
        loop = R.make_closure(M.main_loop, (x,))
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
    def main_again(y: R.Tensor((3,), "float32"), b: R.Tensor((), "bool")) -> R.Object:
        if b:
            r = (M.main_again, M.main_again(y, R.const(False)))
        else:
            r = (M.main_again, y)
        return r

    @R.function
    def main(x: R.Tensor((3,), "float32")):
        return M.main_again(x, R.const(True))
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
    def main_again(y: R.Tensor(("k",), "float32"), x: R.Tensor(("n",), "float32")) -> R.Object:
        again = R.make_closure(M.main_again, (x,))
        r = (again, x)
        return r

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        again = R.make_closure(M.main_again, (x,))
        return R.invoke_pure_closure(again, (x,), sinfo_args=R.Object)
    """
    assert isinstance(check(before, after, X)[0], Closure)


CALLED = """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Object):
        n = T.int64()
        @R.function
        def plus(z: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            return R.add(z, x)
        @R.function
        def same(z: R.Object) -> R.Object:
            return z
        @R.function
        def twice(z: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            return plus(plus(z))
        return (twice(x), same(y))
    """


def test_known_functions_are_called_directly_where_that_is_asked_for():
    mod = module(CALLED)
    made = LambdaLift(direct=True)(mod)
    assert_same(
        made,
        module("""
    @R.function(private=True)
    def main_plus(
        z: R.Tensor(("n",), "float32"), x: R.Tensor(("n",), "float32"), n1: R.Prim(value="n")
    ) -> R.Tensor(("n",), "float32"):
        R.func_attr({"relax.local_name": "main.plus", "relax.captured": 2})
        return R.add(z, x)

    @R.function(private=True)
    def main_same(z: R.Object) -> R.Object:
        R.func_attr({"relax.local_name": "main.same", "relax.captured": 0})
        return z

    @R.function(private=True)
    def main_twice(
        z: R.Tensor(("n",), "float32"), x: R.Tensor(("n",), "float32"),
        n1: R.Prim(value="n"),
    ) -> R.Tensor(("n",), "float32"):
        R.func_attr({"relax.local_name": "main.twice", "relax.captured": 2})
        gv = M.main_plus(z, x, n1)
        return M.main_plus(gv, x, n1)

    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Object):
        n = T.int64()
        n1 = R.prim_value(n)
        plus = R.make_closure(M.main_plus, (x, n1))
        same = M.main_same
        twice = R.make_closure(M.main_twice, (x, n1))
        gv = M.main_twice(x, x, n1)
        gv1 = M.main_same(y)
        return (gv, gv1)
    """),
    )
    same_meaning(mod, made, X, Y)


def test_a_call_that_cannot_succeed_still_fails_when_it_runs():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mod = module("""
    @R.function
    def main(
        x: R.Tensor(("n",), "float32"), y: R.Tensor((4,), "float32"), z: R.Tensor((5,), "float32")
    ):
        n = T.int64()
        @R.function
        def plus(
            a: R.Tensor((n,), "float32"), b: R.Tensor((n,), "float32")
        ) -> R.Tensor((n,), "float32"):
            c = R.add(a, x)
            return R.add(b, c)
        return plus(y, z)
    """)
    made = LambdaLift(direct=True)(mod)
    found = same_meaning(mod, made, X, np.ones(4, "float32"), np.ones(5, "float32"))
    assert isinstance(found, VMError)
    assert "`a.shape[0]` is 4; must be `n = 3`" in str(found)


def test_a_call_that_is_typed_anew_knows_the_dimensions_around_its_function():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mod = module("""
    @R.function
    def main(
        x: R.Tensor(("n",), "float32"), y: R.Tensor((4,), "float32"), z: R.Tensor((5,), "float32")
    ):
        n = T.int64()
        @R.function
        def plus(
            a: R.Tensor((n,), "float32"), b: R.Tensor((n,), "float32")
        ) -> R.Tensor((n,), "float32"):
            c = R.add(a, x)
            return R.add(b, c)
        gv = plus(y, z)
        return gv
    """)
    for node in post_order(mod["main"]):
        if isinstance(node, Call) and isinstance(node.op, Var):
            object.__setattr__(node, "known_info", None)
    made = LambdaLift(direct=True)(mod)
    found = same_meaning(mod, made, X, np.ones(4, "float32"), np.ones(5, "float32"))
    assert "`a.shape[0]` is 4; must be `n = 3`" in str(found)
