"""Branches, recursion and closures, on every executor."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.runtime import Closure, Prim, register_func
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.end_to_end.executors import every_executor, failure


@I.ir_module
class Branches:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), flag: R.Tensor((), "bool")):
        if flag:
            a = R.add(x, x)
            y = R.multiply(a, a)
        else:
            y = R.negative(x)
        z = R.add(y, x)
        return z

    @R.function
    def by_prim(x: R.Tensor(("n",), "float32"), flag: R.Prim("bool")):
        if flag:
            y = x
        else:
            y = R.negative(x)
        return y

    @R.function
    def by_values(x: R.Tensor(("n",), "float32")):
        if R.greater(R.sum(x), R.const(0, "float32")):
            if R.greater(R.max(x), R.const(10, "float32")):
                y = R.const(2, "int64")
            else:
                y = R.const(1, "int64")
        else:
            y = R.const(0, "int64")
        return y

    @R.function
    def steps(x: R.Tensor((2,), "float32"), flag: R.Tensor((), "bool")):
        if flag:
            a = R.add(x, x)
            b = R.multiply(a, a)
            c = R.add(b, b)
            y = R.multiply(c, c)
        else:
            y = x
        p = R.add(y, x)
        q = R.subtract(y, x)
        r = R.multiply(y, x)
        return (p, q, r)


@every_executor
def test_the_branch_that_the_condition_chooses_gives_the_value(load):
    model = load(Branches)
    x = np.array([1, 2], "float32")
    np.testing.assert_array_equal(model.main(x, np.array(True)), [5, 18])
    np.testing.assert_array_equal(model.main(x, np.array(False)), [0, 0])


@every_executor
def test_a_prim_value_may_be_a_condition(load):
    model = load(Branches)
    x = np.array([1, 2], "float32")
    np.testing.assert_array_equal(model.by_prim(x, True), x)
    np.testing.assert_array_equal(model.by_prim(x, False), -x)


@every_executor
@pytest.mark.parametrize(("values", "expected"), [([-1.0], 0), ([1.0], 1), ([11.0, 1.0], 2)])
def test_branches_nest(load, values, expected):
    assert load(Branches).by_values(np.array(values, "float32")) == expected


@every_executor
def test_what_a_branch_computes_on_its_way_leaves_what_follows_alone(load):
    p, q, r = load(Branches).steps(np.array([1, 2], "float32"), np.array(True))
    assert (p.tolist(), q.tolist(), r.tolist()) == ([65, 1026], [63, 1022], [64, 2048])


@I.ir_module
class Recursion:
    @R.function
    def factorial(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Recursion
        if R.less_equal(n, R.const(1, "int64")):
            r = R.const(1, "int64")
        else:
            rest = cls.factorial(R.subtract(n, R.const(1, "int64")))
            r = R.multiply(n, rest)
        return r

    @R.function
    def even(n: R.Tensor((), "int64")) -> R.Tensor((), "bool"):
        cls = Recursion
        if R.equal(n, R.const(0, "int64")):
            r = R.const(True, "bool")
        else:
            r = cls.odd(R.subtract(n, R.const(1, "int64")))
        return r

    @R.function(private=True)
    def odd(n: R.Tensor((), "int64")) -> R.Tensor((), "bool"):
        cls = Recursion
        if R.equal(n, R.const(0, "int64")):
            r = R.const(False, "bool")
        else:
            r = cls.even(R.subtract(n, R.const(1, "int64")))
        return r

    @R.function
    def forever(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Recursion
        r = cls.forever(n)
        return r

    @R.function
    def local(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        step = R.const(2, "int64")

        @R.function
        def down(k: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
            if R.less_equal(k, R.const(0, "int64")):
                r = k
            else:
                r = down(R.subtract(k, step))
            return r

        result = down(n)
        return result


@every_executor
def test_a_function_may_call_itself(load):
    assert load(Recursion).factorial(np.array(10)) == 3628800


@every_executor
def test_functions_may_call_each_other(load):
    model = load(Recursion)
    assert model.even(np.array(10))
    assert not model.even(np.array(7))


@pytest.mark.slow
@every_executor
def test_recursion_is_not_bounded_by_the_stack_of_python(load):
    assert load(Recursion).even(np.array(3000))


@every_executor
def test_a_local_function_may_call_itself_and_what_it_captures(load):
    assert load(Recursion).local(np.array(7)) == -1


@every_executor
def test_recursion_without_end_is_an_error_and_the_machine_stays_usable(load):
    model = load(Recursion)
    owner = getattr(model, "call_depth_limit", None)
    assert owner is not None
    model.call_depth_limit = 50
    error = failure(lambda: model.forever(np.array(1)))
    assert error.code == "RX0609"
    assert "calls nest deeper than 50" in str(error)
    assert error.span.text == "cls.forever(n)"
    assert model.factorial(np.array(4)) == 24


@I.ir_module
class Closures:
    @R.function
    def captured(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        two = R.add(x, x)

        @R.function
        def shift(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            z = R.add(y, two)
            return z

        once = shift(x)
        twice = shift(once)
        return twice

    @R.function
    def shape_only(x: R.Tensor(("n",), "float32")) -> R.Shape(ndim=2):
        n = T.int64()

        @R.function
        def doubled(y: R.Tensor(("k",), "float32")) -> R.Shape(ndim=2):
            k = T.int64()
            s = R.shape([n * 2, k])
            return s

        r = doubled(R.concat((x, x)))
        return r

    @R.function
    def made(x: R.Tensor(("n",), "float32")) -> R.Object:
        n = T.int64()

        @R.function
        def add(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            z = R.add(x, y)
            return z

        return add

    @R.function
    def nested(x: R.Tensor((2,), "float32")):
        @R.function
        def outer(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            @R.function
            def inner(z: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
                a = R.add(x, y)
                b = R.add(a, z)
                return b

            r = inner(y)
            return r

        r = outer(R.add(x, x))
        return r

    @R.function
    def chosen(x: R.Tensor((2,), "float32"), flag: R.Tensor((), "bool")):
        @R.function
        def plus(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            z = R.add(x, y)
            return z

        @R.function
        def minus(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            z = R.subtract(x, y)
            return z

        if flag:
            f = plus
        else:
            f = minus
        r = f(R.const([1, 1], "float32"))
        return r

    @R.function(private=True)
    def double(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        z = R.add(y, y)
        return z

    @R.function
    def passed(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Closures
        pair = (cls.double, x)
        f = pair[0]
        r = cls.apply(f, x)
        return r

    @R.function
    def apply(
        f: R.Callable((R.Tensor((2,), "float32"),), R.Tensor((2,), "float32")),
        x: R.Tensor((2,), "float32"),
    ) -> R.Tensor((2,), "float32"):
        r = f(x)
        return r


@every_executor
def test_closures_capture_variables_and_shape_variables(load):
    model = load(Closures)
    x = np.array([1, 2, 3], "float32")
    np.testing.assert_array_equal(model.captured(x), 5 * x)
    assert tuple(model.shape_only(x)) == (6, 6)


@every_executor
def test_a_closure_that_is_returned_can_be_called_and_checks_the_shape_it_captured(load):
    add = load(Closures).made(np.array([1, 2, 3], "float32"))
    assert isinstance(add, Closure)
    np.testing.assert_array_equal(add(np.array([1, 1, 1], "float32")), [2, 3, 4])
    error = failure(lambda: add(np.ones(2, "float32")))
    assert error.code == "RX0601"
    assert error.diagnostic.message.endswith(".shape[0]` is 2; must be `n = 3`")


@every_executor
def test_functions_nest_are_chosen_and_are_passed(load):
    model = load(Closures)
    x = np.array([1, 2], "float32")
    np.testing.assert_array_equal(model.nested(x), 5 * x)
    np.testing.assert_array_equal(model.chosen(x, np.array(True)), x + 1)
    np.testing.assert_array_equal(model.chosen(x, np.array(False)), x - 1)
    np.testing.assert_array_equal(model.passed(x), 2 * x)


@I.ir_module
class ClosureTypes:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")) -> R.Object:
        @R.function
        def g(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            z = R.add(x, y)
            return z

        o = R.call_packed("test.identity", g, sinfo_args=R.Object)
        f = R.match_cast(o, R.Callable((R.Tensor((2,), "float32"),), R.Tensor((2,), "float32")))
        r = f(x)
        return r

    @R.function(pure=False)
    def wrong(x: R.Tensor((2,), "float32")) -> R.Object:
        @R.function
        def g(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            z = R.add(x, y)
            return z

        o = R.call_packed("test.identity", g, sinfo_args=R.Object)
        f = R.match_cast(o, R.Callable((R.Tensor((7,), "int8"), R.Object), R.Object))
        return f

    @R.function(pure=False)
    def packed(x: R.Tensor((2,), "float32")) -> R.Object:
        o = R.call_packed("test.identity", R.ExternFunc("test.identity"), sinfo_args=R.Object)
        f = R.match_cast(o, R.Callable((R.Tensor((2,), "float32"),), R.Tensor((2,), "float32")))
        return f


@every_executor
def test_a_closure_keeps_its_type_through_packed_functions(load):
    register_func("test.identity", lambda x: x)
    x = np.array([1, 2], "float32")
    np.testing.assert_array_equal(load(ClosureTypes).main(x), 2 * x)


@every_executor
@pytest.mark.parametrize("name", ["wrong", "packed"])
def test_a_closure_of_another_type_and_a_packed_function_are_no_such_closure(load, name):
    register_func("test.identity", lambda x: x)
    error = failure(lambda: load(ClosureTypes)[name](np.array([1, 2], "float32")))
    assert error.code == "RX0605"
    assert "a function of type" in str(error)


@I.ir_module
class PartialTypes:
    @R.function(private=True)
    def both(
        x: R.Tensor(("n", "k"), "float32"),
        y: R.Tensor(("n",), "float32"),
        rest: R.Tuple(R.Shape(["k"]), R.Prim("float32"), R.Object),
    ) -> R.Tensor(("n", "k"), "float32"):
        return x

    @R.function(pure=False)
    def fits(y: R.Tensor(("n",), "float32"), o: R.Object) -> R.Object:
        cls = PartialTypes
        f = R.make_closure(cls.both, (y, (R.shape([2]), R.prim_value(T.float32(1.5)), o)))
        g = R.call_packed("test.identity", f, sinfo_args=R.Object)
        matrix = R.Tensor((3, 2), "float32")
        h = R.match_cast(g, R.Callable((matrix,), matrix))
        return h(R.ones((3, 2), "float32"))

    @R.function(pure=False)
    def held(y: R.Tensor(("n",), "float32"), o: R.Object) -> R.Object:
        cls = PartialTypes
        rest = (y, (R.shape([2]), R.prim_value(T.float32(1.5)), o))
        f = R.make_closure(cls.both, rest)
        return f


@every_executor
def test_a_closure_has_the_type_of_what_is_left_of_its_function(load):
    register_func("test.identity", lambda x: x)
    model = load(PartialTypes)
    np.testing.assert_array_equal(model.fits(np.ones(3, "float32"), "any"), np.ones((3, 2)))
    error = failure(lambda: model.fits(np.ones(4, "float32"), "any"))
    assert error.code == "RX0605"
    assert 'its type is `R.Callable((R.Tensor((4, 2), "float32"),)' in str(error)


@every_executor
def test_a_closure_captures_the_fields_of_a_tuple_in_a_variable(load):
    closure = load(PartialTypes).held(np.ones(3, "float32"), "any")
    np.testing.assert_array_equal(closure(np.ones((3, 2), "float32")), np.ones((3, 2)))


@I.ir_module
class Generic:
    @R.function
    def apply(
        f: R.Callable((R.Tensor(("n",), "float32"),), R.Tensor(("n",), "float32")),
        x: R.Tensor(("n",), "float32"),
    ) -> R.Tensor(("n",), "float32"):
        return f(x)

    @R.function
    def double(y: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
        return R.add(y, y)

    @R.function
    def main(x: R.Tensor(("m",), "float32")):
        cls = Generic
        y = cls.apply(cls.double, x)
        return y


def test_a_function_of_any_size_is_passed_beside_what_says_the_size():
    result = Generic["main"].ret_struct_info
    assert result.dims[0] is Generic["main"].params[0].struct_info.dims[0]


@I.ir_module
class Scalars:
    @R.function
    def main(n: R.Prim(value="n"), x: R.Tensor(("n",), "float32")):
        n = T.int64()
        s = R.shape([n + 1, n // 2, 3])
        return s

    @R.function
    def narrow(k: R.Prim("int32")) -> R.Prim("int32"):
        return k

    @R.function
    def held(x: R.Tensor("float32", ndim=1)):
        with R.dataflow():
            s = R.shape_of(x)
            y = R.match_cast(x, R.Tensor(s, "float32"))
            z = R.match_cast(x, R.Tensor(s, "float32"))
            R.output(y, z)
        r = R.add(y, z)
        return r


@every_executor
def test_a_shape_that_only_a_dataflow_block_knows_is_forgotten_after_it(load):
    assert load(Scalars).held(np.array([1, 2], "float32")).tolist() == [2.0, 4.0]


@every_executor
def test_a_shape_variable_takes_no_negative_value(load):
    error = failure(lambda: load(Scalars).main(-1, np.zeros(0, "float32")))
    assert (error.code, error.argument) == ("RX0601", 0)
    assert "`n` is -1; must be at least 0 to be the value of `n`" in str(error)


@every_executor
def test_prim_values_determine_shape_variables(load):
    model = load(Scalars)
    assert tuple(model.main(5, np.zeros(5, "float32"))) == (6, 2, 3)
    assert model.narrow(Prim(7, "int32")) == Prim(7, "int32")
    error = failure(lambda: model.main(4, np.zeros(5, "float32")))
    assert error.code == "RX0601"
