"""Calls of packed functions and PrimFuncs, match_casts, tuples and constants, on every executor."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import RelaxWarning
from relaxscript.runtime import DeviceTensor, Prim, Shape, cpu, register_func
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.end_to_end.executors import every_executor, failure


@I.ir_module
class Packed:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        y = R.call_packed("test.double", x, sinfo_args=R.Tensor((n,), "float32"))
        return y

    @R.function
    def pure(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        with R.dataflow():
            y = R.call_pure_packed("test.double", x, sinfo_args=R.Tensor((n,), "float32"))
            z = R.add(y, x)
            R.output(z)
        return z

    @R.function
    def dps(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        y = R.call_dps_packed("test.double_into", (x,), out_sinfo=R.Tensor((n * 2,), "float32"))
        return y

    @R.function
    def two(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        y = R.call_dps_packed(
            "test.two_into",
            (x,),
            out_sinfo=[R.Tensor((n,), "float32"), R.Tensor((n, 1), "int64")],
        )
        a = y[0]
        b = y[1]
        return (b, a)

    @R.function(pure=False)
    def everything(x: R.Tensor((2,), "float32")) -> R.Object:
        r = R.call_packed(
            "test.seen",
            x,
            (x, R.shape([2, 3])),
            R.prim_value(5),
            R.prim_value(0.5),
            R.str("word"),
            R.dtype("int8"),
            sinfo_args=R.Object,
        )
        return r

    @R.function(pure=False)
    def nothing(x: R.Tensor((2,), "float32")) -> R.Tuple():
        r = R.call_packed("test.nothing", x, sinfo_args=R.Tuple())
        return r

    @R.function(pure=False)
    def null(x: R.Tensor((2,), "float32")) -> R.Object:
        r = R.call_packed("test.nothing", x, sinfo_args=R.Object)
        return r

    @R.function(pure=False)
    def printed(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        u = R.print(x, format="x is {}")
        return x

    @R.function(pure=False)
    def passed(x: R.Tensor((2,), "float32"), f: R.Callable) -> R.Object:
        r = f(x)
        return r


@every_executor
def test_packed_functions_are_called_in_all_ways(load):
    register_func("test.double", lambda x: 2 * x)

    @register_func("test.double_into")
    def double_into(x, out):
        out[...] = np.concatenate([x, x])

    @register_func("test.two_into")
    def two_into(x, a, b):
        a[...] = x + 1
        b[...] = 7

    model = load(Packed)
    x = np.array([1, 2, 3], "float32")
    np.testing.assert_array_equal(model.main(x), 2 * x)
    np.testing.assert_array_equal(model.pure(x), 3 * x)
    np.testing.assert_array_equal(model.dps(x), [1, 2, 3, 1, 2, 3])
    b, a = model.two(x)
    np.testing.assert_array_equal(a, x + 1)
    assert (b.shape, b.dtype) == ((3, 1), "int64")
    assert (b == 7).all()


@every_executor
def test_packed_functions_are_given_run_time_values(load):
    seen = []
    register_func("test.seen", lambda *args: seen.extend(args))
    x = np.array([1, 2], "float32")
    load(Packed).everything(x)
    tensor, pair, five, half, word, dtype = seen
    assert tensor is x
    assert pair[0] is x
    assert pair[1] == Shape([2, 3])
    assert (five, half, word, dtype) == (5, 0.5, "word", "int8")


@every_executor
def test_none_is_unit_where_unit_is_wanted_and_the_null_object_elsewhere(load):
    register_func("test.nothing", lambda x: None)
    model = load(Packed)
    x = np.zeros(2, "float32")
    assert model.nothing(x) == ()
    assert model.null(x) is None


@every_executor
def test_print_writes_to_standard_output(load, capsys):
    load(Packed).printed(np.array([1, 2], "float32"))
    assert capsys.readouterr().out == "x is [1. 2.]\n"


@every_executor
def test_python_functions_are_passed_as_packed_functions(load):
    result = load(Packed).passed(np.array([1, 2], "float32"), lambda x: x + 1)
    np.testing.assert_array_equal(result, [2, 3])


@I.ir_module
class Native:
    @T.prim_func
    def scale(a: T.Buffer(("n",), "float32"), k: T.int64, b: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            b[i] = a[i] * T.Cast("float32", k)

    @T.prim_func
    def split(
        a: T.Buffer((4,), "float32"), b: T.Buffer((2,), "float32"), c: T.Buffer((2,), "float32")
    ):
        for i in range(2):
            b[i] = a[i]
            c[i] = a[i + 2]

    @T.prim_func
    def bump(a: T.Buffer((2,), "float32")):
        for i in range(2):
            a[i] = a[i] + T.float32(1)

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Native
        y = R.call_tir(cls.scale, (x,), R.Tensor((n,), "float32"), tir_vars=R.shape([n]))
        return y

    @R.function
    def halves(x: R.Tensor((4,), "float32")):
        cls = Native
        y = R.call_tir(cls.split, (x,), [R.Tensor((2,), "float32"), R.Tensor((2,), "float32")])
        return y

    @R.function(pure=False)
    def direct(x: R.Tensor((2,), "float32")) -> R.Tuple():
        cls = Native
        u = cls.bump(x)
        return u

    @R.function(pure=False)
    def by_symbol(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        u = R.call_packed("bump", x, sinfo_args=R.Tuple())
        return x

    @R.function(pure=False)
    def as_value(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Native
        f = cls.bump
        u = f(x)
        v = f(x)
        return x

    @R.function(pure=False)
    def anything(x: R.Object, out: R.Object) -> R.Tuple():
        u = R.call_packed("scale", x, R.prim_value(3), out, sinfo_args=R.Tuple())
        return u


@every_executor
def test_a_prim_func_called_by_its_symbol_takes_tensors_wherever_they_are(load):
    x, out = np.array([1, 2], "float32"), DeviceTensor(np.zeros(2, "float32"), cpu(1))
    assert load(Native).anything(DeviceTensor(x, cpu(1)), out) == ()
    assert out.numpy().tolist() == [3.0, 6.0]


@every_executor
def test_integers_go_to_scalar_parameters_and_tensors_to_buffers(load):
    x = np.array([1, 2, 3], "float32")
    np.testing.assert_array_equal(load(Native).main(x), 3 * x)


@every_executor
def test_several_results_are_a_tuple(load):
    b, c = load(Native).halves(np.arange(4, dtype="float32"))
    np.testing.assert_array_equal(b, [0, 1])
    np.testing.assert_array_equal(c, [2, 3])


@every_executor
def test_a_prim_func_is_a_function_that_writes_and_returns_unit(load):
    model = load(Native)
    x = np.array([1, 2], "float32")
    result = model.direct(x)
    assert (type(result), len(result)) == (tuple, 0)
    np.testing.assert_array_equal(x, [2, 3])
    np.testing.assert_array_equal(model.by_symbol(x), [3, 4])
    np.testing.assert_array_equal(model.as_value(x), [5, 6])


@I.ir_module
class Casts:
    @R.function
    def main(x: R.Tensor("float32", ndim=2)):
        m = T.int64()
        k = T.int64()
        y = R.match_cast(x, R.Tensor((m, k), "float32"))
        s = R.shape([k, m * k])
        return (y, s)

    @R.function
    def branches(x: R.Object, flag: R.Tensor((), "bool")) -> R.Object:
        if flag:
            m = T.int64()
            a = R.match_cast(x, R.Tensor((m, 2), "float32"))
            r = R.shape([m])
        else:
            m = T.int64()
            b = R.match_cast(x, R.Shape([m, 2]))
            r = R.shape([m])
        return r

    @R.function
    def everything(x: R.Object) -> R.Object:
        n = T.int64()
        y = R.match_cast(
            x, R.Tuple(R.Tensor((n, n), "int8"), R.Prim(value=n), R.Shape([n * n]), R.Tuple())
        )
        r = y[0]
        return r

    @R.function
    def held(x: R.Object, s: R.Shape(ndim=2)) -> R.Tensor("float32", ndim=2):
        y = R.match_cast(x, R.Tensor(s, "float32"))
        return y


@every_executor
def test_a_variable_that_does_not_hold_what_it_promises_is_named_where_it_stands(load):
    with pytest.warns(RelaxWarning, match="checked when the program runs"):

        @I.ir_module
        class Promises:
            @R.function
            def main(x: R.Object) -> R.Tensor("float32", ndim=1):
                y = R.match_cast(x, R.Tensor("float32", ndim=1))
                z: R.Tensor((2,), "float32") = y
                return z

    error = failure(lambda: load(Promises).main(np.ones(3, "float32")))
    assert error.span.text == "z"
    assert "`z.shape[0]` is 3; must be 2" in str(error)


@every_executor
def test_match_cast_binds_shape_variables(load):
    y, s = load(Casts).main(np.ones((2, 3), "float32"))
    assert y.shape == (2, 3)
    assert s == Shape([3, 6])


@every_executor
def test_both_branches_may_bind_a_variable_of_one_name(load):
    model = load(Casts)
    assert model.branches(np.ones((5, 2), "float32"), np.array(True)) == Shape([5])
    assert model.branches(Shape([6, 2]), np.array(False)) == Shape([6])
    error = failure(lambda: model.branches(Shape([6, 3]), np.array(False)))
    assert error.code == "RX0605"
    assert "`x[1]` is 3; must be 2" in str(error)


@every_executor
def test_match_cast_looks_into_tuples(load):
    model = load(Casts)
    value = np.zeros((2, 2), "int8")
    assert model.everything((value, 2, Shape([4]), ())) is value
    for wrong in (
        (np.zeros((2, 3), "int8"), 2, Shape([4]), ()),
        (value, 3, Shape([4]), ()),
        (value, 2, Shape([5]), ()),
        (value, 2.0, Shape([4]), ()),
        (value, 2, Shape([4]), None),
        (value, Prim(2, "int32"), Shape([4]), ()),
        (value, 2, Shape([4])),
        value,
    ):
        assert failure(lambda given=wrong: model.everything(given)).code == "RX0605"


@every_executor
def test_a_shape_held_by_a_variable_is_checked(load):
    model = load(Casts)
    x = np.zeros((2, 3), "float32")
    assert model.held(x, Shape([2, 3])) is x
    error = failure(lambda: model.held(x, Shape([3, 2])))
    assert error.code == "RX0605"
    assert "`x.shape` is (2, 3); must be `s = (3, 2)`" in str(error)


@I.ir_module
class Constants:
    @T.prim_func(private=True)
    def spoil(a: T.Buffer((2,), "float32"), b: T.Buffer((2,), "float32")):
        for i in range(2):
            a[i] = a[i] + T.float32(1)
            b[i] = a[i]

    @R.function(pure=False)
    def main() -> R.Tensor((2,), "float32"):
        c = R.const([0.0, 0.0], "float32")
        d = R.const([0.0, 0.0], "float32")
        u = R.call_packed("test.spoil", c, sinfo_args=R.Tuple())
        y = R.add(c, d)
        return y

    @R.function
    def returned() -> R.Tensor((2,), "float32"):
        c = R.const([1.0, 2.0], "float32")
        return c

    @R.function
    def in_tuple():
        c = R.const([1.0, 2.0], "float32")
        t = (c, c)
        return t

    @R.function
    def by_prim_func() -> R.Tensor((2,), "float32"):
        cls = Constants
        c = R.const([0.0, 0.0], "float32")
        y = R.call_tir(cls.spoil, (c,), R.Tensor((2,), "float32"))
        return y


@every_executor
def test_a_constant_is_new_at_each_evaluation(load):
    @register_func("test.spoil")
    def spoil(x):
        x += 7

    model = load(Constants)
    for _ in range(2):
        np.testing.assert_array_equal(model.main(), [7, 7])
        np.testing.assert_array_equal(model.by_prim_func(), [1, 1])
        result = model.returned()
        np.testing.assert_array_equal(result, [1, 2])
        result += 1
        one, other = model.in_tuple()
        assert one is other
        np.testing.assert_array_equal(one, [1, 2])
        one += 1


@I.ir_module
class Adding:
    @T.prim_func
    def more(x: T.Buffer((64, 64), "float32"), y: T.Buffer((64, 64), "float32")):
        for i, j in T.grid(64, 64):
            y[i, j] = y[i, j] + x[i, j]

    @R.function
    def main(x: R.Tensor((64, 64), "float32")):
        cls = Adding
        with R.dataflow():
            a = R.exp(x)
            b = R.call_tir(cls.more, (a,), R.Tensor((64, 64), "float32"))
            c = R.call_tir(cls.more, (b,), R.Tensor((64, 64), "float32"))
            R.output(c)
        return c


@every_executor
def test_a_result_that_a_kernel_adds_to_begins_with_zeros(load):
    main = load(Adding).main
    for value in (3.0, 0.0):  # the second result may get the memory of the first
        x = np.full((64, 64), value, "float32")
        np.testing.assert_allclose(main(x), np.exp(x), rtol=1e-6)
