"""Functions as values: what they capture, who calls them and when, on every executor."""

from __future__ import annotations

import signal

import numpy as np
import pytest

from relaxscript.runtime import PackedFunc, Shape, register_func
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.end_to_end.executors import every_executor, failure


@pytest.fixture(autouse=True)
def _packed_functions():
    register_func("test.apply", lambda function, *args: function(*args))
    register_func("test.same", lambda value: value, override=True)

    @register_func("test.bump")
    def bump(x):
        x += 1


@I.ir_module
class Captures:
    @R.function(pure=False)
    def by_reference(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        @R.function
        def plus(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            return R.add(x, y)

        R.call_packed("test.bump", x, sinfo_args=R.Tuple())
        return plus(R.const([0, 10], "float32"))

    @R.function
    def levels(x: R.Tensor(("a",), "float32")):
        a = T.int64()

        @R.function
        def one(y: R.Tensor(("b",), "float32")) -> R.Shape(ndim=3):
            b = T.int64()

            @R.function
            def two(z: R.Tensor(("c",), "float32")) -> R.Shape(ndim=3):
                c = T.int64()
                s = R.shape([a, b + a, c * b])
                return s

            return two(R.concat((x, y)))

        return one(R.ones(R.shape([a + 1]), "float32"))

    @R.function
    def inner_calls_outer(n: R.Tensor((), "int64"), x: R.Tensor(("k",), "float32")) -> R.Tensor(
        "float32", ndim=1
    ):
        k = T.int64()

        @R.function
        def outer(i: R.Tensor((), "int64"), a: R.Tensor((k,), "float32")) -> R.Tensor(
            (k,), "float32"
        ):
            @R.function
            def inner(b: R.Tensor((k,), "float32")) -> R.Tensor((k,), "float32"):
                return outer(R.subtract(i, R.const(1, "int64")), R.add(b, x))

            if R.greater(i, R.const(0, "int64")):
                r = inner(a)
            else:
                r = a
            return r

        return outer(n, x)

    @R.function
    def adders(n: R.Tensor((), "int64")) -> R.Tuple(R.Object, R.Object):
        cls = Captures

        @R.function
        def add(x: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
            return R.add(x, n)

        if R.greater(n, R.const(0, "int64")):
            rest = cls.adders(R.subtract(n, R.const(1, "int64")))
            r = (add, rest)
        else:
            r = (add, R.tuple())
        return r

    @R.function
    def itself(x: R.Tensor((2,), "float32")) -> R.Tuple(R.Object, R.Tensor((2,), "float32")):
        @R.function
        def more(y: R.Tensor((2,), "float32")) -> R.Tuple(R.Object, R.Tensor((2,), "float32")):
            return (more, R.add(y, x))

        return more(x)


X = np.array([1, 2], "float32")


@every_executor
def test_a_captured_tensor_is_the_one_of_the_scope_around(load):
    x = X.copy()
    assert load(Captures).by_reference(x).tolist() == [2, 13]
    assert x.tolist() == [2, 3]


@every_executor
def test_shape_variables_are_captured_through_levels(load):
    assert load(Captures).levels(X) == Shape([2, 5, 15])


@every_executor
def test_a_function_inside_a_recursive_one_may_call_it(load):
    assert load(Captures).inner_calls_outer(np.array(3), X).tolist() == [4, 8]


@every_executor
def test_each_call_makes_a_closure_of_its_own(load):
    rest = load(Captures).adders(np.array(2))
    found = []
    while rest:
        add, rest = rest
        found.append(int(add(np.array(10))))
    assert found == [12, 11, 10]


@every_executor
def test_a_function_may_give_itself(load):
    more, x = load(Captures).itself(X)
    for _ in range(2):
        more, x = more(x)
    assert x.tolist() == [4, 8]


@I.ir_module
class Values:
    @T.prim_func
    def inc(a: T.Buffer((2,), "float32"), b: T.Buffer((2,), "float32")):
        for i in range(2):
            b[i] = a[i] + T.float32(1)

    @T.prim_func
    def dec(a: T.Buffer((2,), "float32"), b: T.Buffer((2,), "float32")):
        for i in range(2):
            b[i] = a[i] - T.float32(1)

    @R.function(pure=False)
    def prim_funcs(x: R.Tensor((2,), "float32"), flag: R.Tensor((), "bool")):
        cls = Values
        pair = (cls.inc, cls.dec)
        out = R.zeros((2,), "float32")
        if flag:
            f = pair[0]
        else:
            f = pair[1]
        f(x, out)
        return out

    @R.function(pure=False)
    def externs(x: R.Tensor((2,), "float32"), flag: R.Tensor((), "bool")):
        out = R.zeros((2,), "float32")
        if flag:
            f = R.ExternFunc("inc")
        else:
            f = R.ExternFunc("dec")
        f(x, out)
        pair = (f, out)
        g = pair[0]
        g(out, out)
        return out

    @R.function
    def by_symbol(x: R.Tensor((2,), "float32")):
        a = R.call_dps_packed("inc", (x,), out_sinfo=R.Tensor((2,), "float32"))
        f = R.ExternFunc("dec")
        b = R.call_dps_packed(f, (a,), out_sinfo=R.Tensor((2,), "float32"))
        return (a, b)

    @R.function(pure=False)
    def through_packed(x: R.Tensor((2,), "float32")):
        cls = Values
        y = R.zeros((2,), "float32")
        R.call_packed("test.apply", cls.inc, x, y, sinfo_args=R.Tuple())
        o = R.call_packed("test.same", cls.dec, sinfo_args=R.Object)
        f = R.match_cast(
            o,
            R.Callable(
                (R.Tensor((2,), "float32"), R.Tensor((2,), "float32")), R.Tuple(), purity=False
            ),
        )
        f(y, y)
        f(y, y)
        return (y, f)

    @R.function(pure=False)
    def purer(x: R.Tensor((2,), "float32")):
        cls = Values
        o = R.call_packed("test.same", cls.dec, sinfo_args=R.Object)
        f = R.match_cast(
            o, R.Callable((R.Tensor((2,), "float32"), R.Tensor((2,), "float32")), R.Tuple())
        )
        return x

    @R.function(pure=False)
    def callable_of(o: R.Object):
        f = R.match_cast(o, R.Callable)
        return f(R.const([1, 2], "float32"))

    @R.function(pure=False)
    def back_and_forth(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        @R.function(pure=False)
        def down(i: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
            if R.greater(i, R.const(0, "int64")):
                less = R.subtract(i, R.const(1, "int64"))
                r = R.call_packed("test.apply", down, less, sinfo_args=R.Tensor((), "int64"))
            else:
                r = i
            return r

        return down(n)


@every_executor
def test_prim_funcs_in_a_tuple_are_chosen_by_a_branch(load):
    model = load(Values)
    assert model.prim_funcs(X, np.array(True)).tolist() == [2, 3]
    assert model.prim_funcs(X, np.array(False)).tolist() == [0, 1]


@every_executor
def test_packed_functions_in_a_tuple_are_chosen_by_a_branch(load):
    model = load(Values)
    assert model.externs(X, np.array(True)).tolist() == [3, 4]
    assert model.externs(X, np.array(False)).tolist() == [-1, 0]


@every_executor
def test_a_prim_func_is_a_packed_function_by_its_symbol(load):
    a, b = load(Values).by_symbol(X)
    assert (a.tolist(), b.tolist()) == ([2, 3], [1, 2])


@every_executor
def test_a_prim_func_goes_through_packed_functions_and_to_the_user(load):
    y, dec = load(Values).through_packed(X)
    assert y.tolist() == [0, 1]
    out = np.zeros(2, "float32")
    assert dec(y, out) == ()
    assert out.tolist() == [-1, 0]


@every_executor
def test_a_function_with_effects_is_no_pure_function(load):
    error = failure(lambda: load(Values).purer(X))
    assert error.code == "RX0605"
    assert "does not fit: it is impure, not pure" in str(error)
    assert "purity=False" in str(error)


@every_executor
def test_a_callable_of_which_nothing_is_known_is_a_packed_function(load):
    model = load(Values)
    assert model.callable_of(PackedFunc("twice", lambda x: x + x)).tolist() == [2, 4]
    for other in (model.by_symbol, len, 3):
        error = failure(lambda other=other: model.callable_of(other))
        assert error.code == "RX0605"
        assert "; must be a packed function" in str(error)


@every_executor
def test_packed_functions_call_functions_that_call_packed_functions(load):
    model = load(Values)
    assert model.back_and_forth(np.array(5)) == 0
    error = failure(lambda: model.back_and_forth(np.array(5000)))
    assert error.code == "RX0609"
    assert "calls through packed functions nest deeper than Python allows" in str(error)
    assert model.back_and_forth(np.array(2)) == 0


@I.ir_module
class Order:
    @R.function(pure=False)
    def main(x: R.Tensor((), "float32")):
        a = R.add(
            R.call_packed("test.step", x, R.prim_value(1), sinfo_args=R.Tensor((), "float32")),
            R.multiply(
                R.call_packed("test.step", x, R.prim_value(2), sinfo_args=R.Tensor((), "float32")),
                R.call_packed("test.step", x, R.prim_value(3), sinfo_args=R.Tensor((), "float32")),
            ),
        )
        t = (
            R.call_packed("test.step", x, R.prim_value(4), sinfo_args=R.Tensor((), "float32")),
            R.call_packed("test.step", a, R.prim_value(5), sinfo_args=R.Tensor((), "float32")),
        )
        if R.greater(
            R.call_packed("test.step", x, R.prim_value(6), sinfo_args=R.Tensor((), "float32")),
            R.const(0, "float32"),
        ):
            r = R.call_packed("test.step", x, R.prim_value(7), sinfo_args=R.Tensor((), "float32"))
        else:
            r = R.call_packed("test.step", x, R.prim_value(8), sinfo_args=R.Tensor((), "float32"))
        return (t, r)

    @R.function(pure=False)
    def forever(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Order
        R.call_packed("test.interrupt", n, sinfo_args=R.Tuple())
        return cls.forever(R.add(n, R.const(1, "int64")))


@every_executor
@pytest.mark.parametrize(("x", "last"), [(3.0, 7), (-3.0, 8)])
def test_operands_are_evaluated_from_left_to_right_and_one_branch_only(load, x, last):
    steps = []
    register_func("test.step", lambda value, number: (steps.append(number), value)[1])
    (first, second), r = load(Order).main(np.array(x, "float32"))
    assert steps == [1, 2, 3, 4, 5, 6, last]
    assert (first, second, r) == (x, x + x * x, x)


@every_executor
def test_a_loop_without_end_is_interrupted_from_the_keyboard(load):
    reached = []

    @register_func("test.interrupt")
    def interrupt(n):
        reached.append(int(n))
        if n == 100:
            signal.raise_signal(signal.SIGINT)

    model = load(Order)
    with pytest.raises(KeyboardInterrupt):
        model.forever(np.array(0))
    assert reached[-1] == 100
    register_func("test.step", lambda value, number: value)
    assert model.main(np.array(1, "float32"))[1] == 1
