"""What programs compute, print and hand out: the same values of the same types everywhere."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from relaxscript.compiler import jit
from relaxscript.errors import VMError
from relaxscript.runtime import DeviceTensor, Prim, cpu, register_func
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.end_to_end.executors import EXECUTORS, every_executor, failure


@I.ir_module
class Model:
    @T.prim_func
    def half(x: T.Buffer(("n",), "float32"), y: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n // 2):
            y[i] = x[i]

    @T.prim_func
    def divides(x: T.Buffer(("n",), "int32"), y: T.Buffer(("n",), "int32")):
        n = T.int64()
        for i in range(n):
            y[i] = T.int32(6) // x[i]

    @R.function
    def scalars(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        a = R.prim_value(n - 5)
        b = R.prim_value(n > 3)
        c = R.prim_value(T.Cast("float32", n))
        d = R.prim_value(T.Cast("int32", n) - 7)
        return (a, b, c, d)

    @R.function
    def add(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
        z = R.add(x, y)
        return z

    @R.function
    def unwritten(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Model
        y = R.call_tir(cls.half, (x,), out_sinfo=R.Tensor((n,), "float32"))
        z = R.call_dps_packed("test.writes", (x,), out_sinfo=R.Tensor((n,), "float32"))
        return (y, z)

    @R.function
    def sixths(x: R.Tensor(("n",), "int32")):
        n = T.int64()
        cls = Model
        y = R.call_tir(cls.divides, (x,), out_sinfo=R.Tensor((n,), "int32"))
        return y

    @R.function(pure=False)
    def prints(x: R.Tensor((2,), "float32"), r: R.Tensor((), "float32")):
        n = R.prim_value(T.int32(7))
        a = R.print(x, r, n, R.shape([2, 3]), (x, R.str("s")))
        b = R.print(r, n, x, format="{:.2f} {:>3} {}")
        return R.tuple()

    @R.function(pure=False)
    def asserts(x: R.Tensor((), "bool")):
        u = R.assert_op(x, [R.const(1.5, "float32")], "it is {:.2f}")
        return u

    @R.function
    def remainder(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        return R.shape([n // (n - 2)])

    @R.function
    def captures(x: R.Tensor(("n",), "float32"), k: R.Tensor((), "int64")):
        n = T.int64()

        @R.function
        def loop(a: R.Tensor((n,), "float32"), i: R.Tensor((), "int64")) -> R.Tensor(
            (n,), "float32"
        ):
            if R.greater(i, R.const(0, "int64")):
                r = loop(R.add(a, x), R.subtract(i, R.const(1, "int64")))
            else:
                r = a
            return r

        y = loop(x, k)
        return (y, loop)

    @R.function
    def bound(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        @R.function
        def minus(a: R.Tensor((2,), "float32"), b: R.Tensor((2,), "float32")) -> R.Tensor(
            (2,), "float32"
        ):
            return R.subtract(a, b)

        f = R.make_closure(minus, (y,))
        z = R.invoke_pure_closure(f, (x,), sinfo_args=R.Tensor((2,), "float32"))
        return z

    @R.function
    def run(x: R.Tensor((2,), "float32")):
        return x

    @R.function
    def code(x: R.Tensor((2,), "float32")):
        return x

    @R.function
    def evaluate(x: R.Tensor((2,), "float32")):
        return x

    @R.function
    def _helper(x: R.Tensor((2,), "float32")):
        return x


X = np.arange(4, dtype="float32")


@every_executor
def test_scalars_may_be_negative_truths_and_of_any_data_type(load):
    assert load(Model).scalars(X) == (-1, True, Prim(4.0, "float32"), Prim(-3, "int32"))
    assert load(Model).scalars(X[:2])[1] is False


@every_executor
def test_what_a_callee_leaves_out_is_zero_on_every_run(load):
    register_func("test.writes", lambda x, y: None)
    half, nothing = load(Model).unwritten(X + 1)
    assert half.tolist() == [1.0, 2.0, 0.0, 0.0]
    assert nothing.tolist() == [0.0] * 4


@every_executor
def test_a_result_returned_instead_of_written_is_refused(load):
    model = load(Model)
    register_func("test.writes", lambda x, y: x + 1)
    error = failure(lambda: model.unwritten(X))
    assert error.code == "RX0605"
    assert "`test.writes` returned its result, but `R.call_dps_packed` has it written" in str(error)
    assert error.span.text.startswith("R.call_dps_packed")
    register_func("test.writes", lambda x, y: np.add(x, 1, out=y), override=True)
    assert model.unwritten(X)[1].tolist() == [1.0, 2.0, 3.0, 4.0]


@every_executor
def test_a_failing_prim_func_names_its_own_line_and_who_called_it(load):
    error = failure(lambda: load(Model).sixths(np.array([1, 0], "int32")))
    assert error.code == "RX0614"
    assert error.span.text == "T.int32(6) // x[i]"
    (note,) = error.diagnostic.notes
    assert note.startswith("called from `sixths` at ")


@every_executor
def test_printing_is_the_same_everywhere(load, capsys):
    load(Model).prints(np.array([1, 2], "float32"), np.array(0.1, "float32"))
    assert capsys.readouterr().out == "[1. 2.] 0.1 7 (2, 3) ([1. 2.], s)\n0.10   7 [1. 2.]\n"


@every_executor
def test_an_assertion_that_fails_has_its_code_and_message(load):
    model = load(Model)
    error = failure(lambda: model.asserts(np.array(False)))
    assert (error.code, error.span.text[:11]) == ("RX0611", "R.assert_op")
    assert error.diagnostic.message == "Assertion Failed: it is 1.50"
    assert model.asserts(np.array(True)) == ()


@every_executor
def test_a_returned_expression_that_fails_is_named(load):
    error = failure(lambda: load(Model).remainder(X[:2]))
    assert error.code == "RX0605"
    assert error.span.text == "R.shape([n // (n - 2)])"


@every_executor
def test_operators_run_where_their_operands_are(load):
    model = load(Model)
    there = DeviceTensor(X, cpu(1))
    result = model.add(there, there)
    assert (result.device, result.numpy().tolist()) == (cpu(1), [0.0, 2.0, 4.0, 6.0])
    error = failure(lambda: model.add(there, X))
    assert error.code == "RX0606"
    assert "`R.add` cannot take operands on several devices, cpu:1 and cpu:0" in str(error)


@every_executor
def test_a_local_function_is_named_with_the_function_around_it(load):
    _, loop = load(Model).captures(X, np.array(2))
    assert loop.name == "captures.loop"
    error = failure(lambda: loop(X[:2], np.array(1)))
    assert "`a.shape[0]` is 2; must be `n = 4`" in str(error)


@every_executor
def test_captured_arguments_are_the_last(load):
    z = load(Model).bound(X[:2], np.array([5, 7], "float32"))
    assert z.tolist() == [-5.0, -6.0]


@every_executor
@pytest.mark.parametrize("name", ["run", "code", "evaluate", "_helper"])
def test_functions_may_have_any_name_that_tvm_leaves_free(load, name):
    assert getattr(load(Model), name)(X[:2]).tolist() == [0.0, 1.0]


@pytest.mark.slow
@every_executor
def test_a_call_holds_nothing_when_it_is_over(load):
    model = load(Model)
    x = X.copy()
    given = weakref.ref(x)
    gc.collect()
    gc.disable()
    try:
        model.captures(x, np.array(2))
        with pytest.raises(VMError, match="RX0601"):
            model.captures(x, np.array(2.5))
        del x
        assert given() is None
    finally:
        gc.enable()


@I.ir_module
class PrimFuncs:
    @T.prim_func
    def scale(x: T.Buffer((2,), "float32"), k: T.int32, f: T.float32, y: T.Buffer((2,), "float32")):
        T.func_attr({"global_symbol": "scaled"})
        for i in range(2):
            y[i] = x[i] * T.Cast("float32", k) * f


@every_executor
@pytest.mark.parametrize(
    ("k", "f"), [(3, 2.0), (np.int32(3), np.float32(2)), (Prim(3, "int32"), Prim(2, "float32"))]
)
def test_prim_funcs_alone_are_called_by_their_symbols_with_numbers_of_any_kind(load, k, f):
    model = load(PrimFuncs)
    y = np.zeros(2, "float32")
    assert model.scaled(np.ones(2, "float32"), k, f, y) is None
    assert y.tolist() == [6.0, 6.0]


@every_executor
def test_prim_funcs_alone_name_their_place_for_arguments_that_do_not_fit(load):
    model = load(PrimFuncs)
    x = np.ones(2, "float32")
    error = failure(lambda: model.scaled(x, 1.5, 2.0, x))
    assert (error.code, error.span is not None) == ("RX0601", True)
    for args in ((), (x,), (x, 1, 2.0, x, x)):
        error = failure(lambda args=args: model.scaled(*args))
        assert error.code == "RX0602"
        assert f"takes 4 arguments (x, k, f, y), got {len(args)}" in str(error)
    with pytest.raises(AttributeError, match="there is no function `scale`"):
        _ = model.scale


def test_the_same_bits_twice_and_on_every_executor():
    results = [load(Model).add(X, X / 3).tobytes() for load in EXECUTORS.values() for _ in "ab"]
    assert len(set(results)) == 1


def test_reports_of_numpy_stay_as_users_set_them():
    seen = []

    def divides(x, y):
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            np.divide(x, 0, out=y)
        seen.append(np.geterr()["divide"])

    register_func("test.writes", divides)
    model = jit(Model)
    with np.errstate(divide="raise"):
        assert model.add(X, X).tolist() == [0.0, 2.0, 4.0, 6.0]
        assert np.geterr()["divide"] == "raise"
    model.unwritten(X + 1)
    assert seen == ["warn"]


@I.ir_module
class Unknown:
    @R.function
    def main(x: R.Tensor, y: R.Tensor(ndim=2), z: R.Tensor("float32")):
        a = R.add(x, y)
        b = R.matmul(a, R.permute_dims(y))
        c = R.sum(b, axis=[0])
        d = R.concat((R.flatten(x), R.flatten(y)))
        e = R.nn.relu(z)
        return (c, d, e, R.shape_of(x))

    @R.function
    def halves(x: R.Tensor(("n",), "float32")) -> R.Shape(ndim=1):
        n = T.int64()
        cls = Unknown
        if R.less(R.max(R.shape_to_tensor(R.shape([n]))), R.const(2, "int64")):
            r = R.shape([n])
        else:
            r = cls.halves(R.strided_slice(x, [0], [0], [n // 2]))
        return r


@every_executor
@pytest.mark.parametrize("dtype", ["float32", "int8", "uint64"])
def test_tensors_of_which_nothing_is_known_are_computed_with(load, dtype):
    x, y = np.ones((2, 3), dtype), np.full((2, 3), 2, dtype)
    c, d, e, shape = load(Unknown).main(x, y, -X)
    assert (c.dtype, c.tolist(), tuple(shape)) == (dtype, [36, 36], (2, 3))
    assert d.tolist() == [1] * 6 + [2] * 6
    assert e.tolist() == [0] * 4
    error = failure(lambda: load(Unknown).main(x, y.astype("float64"), X))
    assert (error.code, error.span.text) == ("RX0606", "R.add(x, y)")


@every_executor
def test_shape_variables_have_other_values_in_each_call(load):
    assert tuple(load(Unknown).halves(np.ones(9, "float32"))) == (1,)
