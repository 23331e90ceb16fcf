"""Run time: what the specification says of checks where TVM does otherwise.

Source: spec "Evaluating MatchCast", "Checking Structural Information at the Start and End of a
Function", "Notable Operators".
"""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as relax
from relaxscript.runtime import Prim, Shape, register_func
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.end_to_end.executors import every_executor, failure

from .told import warned

PAIR = np.ones(2, "float32")


@pytest.fixture(autouse=True)
def _packed_functions():
    register_func("spec.other", lambda x: np.ones((3, 1), "int8"))
    register_func("spec.nothing", lambda *args: None)


# ---------------------------------------------------------------- match_cast


@I.ir_module
class Casts:
    @R.function
    def to_a_shape_that_a_variable_holds(x: R.Tensor, s: R.Shape):
        y = R.match_cast(x, R.Tensor(s, "float32"))
        return y

    @R.function
    def to_a_shape_that_is_used_twice(x: R.Tensor, y: R.Object, s: R.Shape(ndim=2)):
        a = R.match_cast(x, R.Tensor(s, "float32"))
        b = R.match_cast(y, R.Tuple(R.Tensor(s, "float32"), R.Tensor(s)))
        return R.add(a, b[0])

    @R.function
    def to_float32(x: R.Object):
        y = R.match_cast(x, R.Prim("float32"))
        return y

    @R.function
    def to_int64(x: R.Object):
        y = R.match_cast(x, R.Prim("int64"))
        return y

    @R.function
    def to_shape_and_number(x: R.Object):
        n = T.int64()
        y = R.match_cast(x, R.Tuple(R.Shape([n]), R.Prim(value=n)))
        return y

    @R.function
    def from_number_to_shape(x: R.Object):
        n = T.int64()
        y = R.match_cast(x, R.Tuple(R.Prim(value=n), R.Tensor((n * 2,))))
        s = R.shape([n + 1])
        return s


@I.ir_module
class OnDevices:
    I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("llvm", 1)]})

    @R.function
    def to_device(x: R.Object):
        y = R.match_cast(x, R.Tuple(R.Tensor((2,), "float32", "llvm:1")))
        return y

    @R.function
    def takes_on_device(x: R.Tensor((2,), "float32", "llvm:1")):
        return x


@every_executor
def test_a_cast_compares_with_the_shape_that_a_variable_holds(load):
    program, x = load(Casts), np.ones((2, 3), "float32")
    assert program.to_a_shape_that_a_variable_holds(x, Shape([2, 3])) is x
    for other in (Shape([3, 2]), Shape([2]), Shape([2, 3, 1]), Shape([])):
        error = failure(lambda s=other: program.to_a_shape_that_a_variable_holds(x, s))
        assert f"`x.shape` is (2, 3); must be `s = {tuple(other)}`" in str(error)
    twice = program.to_a_shape_that_is_used_twice
    assert twice(x, (x, x), Shape([2, 3])).tolist() == (x + x).tolist()
    assert "`y[1].ndim` is 1; must be 2" in str(failure(lambda: twice(x, (x, PAIR), Shape([2, 3]))))


@every_executor
@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("to_float32", Prim(5.0, "float32"), [5, 5.0, True, np.float32(5), Prim(5.0, "float16")]),
        ("to_int64", 5, [True, 5.0, 5.5, np.array(5), Prim(5, "int32"), Shape([5])]),
    ],
)
def test_a_scalar_is_of_the_data_type_that_is_asked_for(load, name, right, wrong):
    program = load(Casts)
    assert program[name](right) == right
    for value in wrong:
        assert failure(lambda value=value: program[name](value)).diagnostic.code == "RX0605"


@every_executor
def test_a_scalar_binds_a_dimension_and_is_compared_with_one(load):
    program = load(Casts)
    assert program.to_shape_and_number((Shape([3]), 3)) == (Shape([3]), 3)
    error = failure(lambda: program.to_shape_and_number((Shape([3]), 4)))
    assert "`x[1]` is 4; must be `n = 3`" in str(error)
    assert program.from_number_to_shape((2, np.ones(4))) == Shape([3])
    error = failure(lambda: program.from_number_to_shape((2, np.ones(5))))
    assert "`x[1].shape[0]` is 5; must be `n * 2` with `n = 2`" in str(error)


@every_executor
def test_a_tensor_is_on_the_device_that_is_asked_for(load):
    program = load(OnDevices)
    there = relax.nd.array(PAIR, relax.cpu(1))
    assert program.to_device((there,))[0] is there
    assert program.takes_on_device(there) is there
    for call in (lambda: program.to_device((PAIR,)), lambda: program.takes_on_device(PAIR)):
        assert "is on cpu:0; must be on cpu:1" in str(failure(call))


# ---------------------------------------------------------------- what functions of others give


@I.ir_module
class Outside:
    @R.function
    def pure(x: R.Tensor((2,), "float32")):
        y = R.call_pure_packed("spec.other", x, sinfo_args=R.Tensor((2,), "float32"))
        return y

    @R.function(pure=False)
    def impure(x: R.Tensor((2,), "float32")):
        y = R.call_packed("spec.other", x, sinfo_args=R.Tensor((2,), "float32"))
        return y

    @R.function(pure=False)
    def unused(x: R.Tensor((2,), "float32")):
        y = R.call_packed("spec.other", x, sinfo_args=R.Tuple(R.Tensor, R.Tensor))
        return x

    @R.function
    def writes_nothing(x: R.Tensor((2,), "float32")):
        y = R.call_dps_packed("spec.nothing", x, out_sinfo=R.Tensor((2,), "float32"))
        return y

    @R.function(pure=False)
    def null_and_unit(x: R.Object):
        null = R.call_packed("spec.nothing", x, sinfo_args=R.Object)
        unit = R.call_packed("spec.nothing", x, sinfo_args=R.Tuple())
        return (null, unit, R.null_value())


@every_executor
@pytest.mark.parametrize("name", ["pure", "impure", "unused"])
def test_what_a_packed_function_gives_is_what_the_call_says(load, name):
    error = failure(lambda: load(Outside)[name](PAIR))
    assert "the result of `spec.other`" in str(error)


@every_executor
def test_what_a_packed_function_does_not_write_is_not_what_was_in_memory_before(load):
    assert load(Outside).writes_nothing(PAIR).tolist() == [0, 0]


@every_executor
def test_nothing_is_the_null_object_and_unit_where_unit_is_expected(load):
    assert load(Outside).null_and_unit(PAIR) == (None, (), None)


SIZES = """
    @I.ir_module
    class M:
        @T.prim_func
        def copy(a: T.Buffer((2,), "float32"), b: T.Buffer((2,), "float32")):
            for i in range(2):
                b[i] = a[i]

        @R.function
        def main(x: R.Tensor((2,), "float32"), s: R.Shape(["n"])):
            n = T.int64()
            y = R.call_tir(M.copy, (x,), out_sinfo=R.Tensor((n,), "float32"))
            return y
    """


@every_executor
def test_results_of_a_prim_func_have_the_size_that_it_writes(load):
    program = load(warned(SIZES))
    assert program.main(PAIR, Shape([2])).tolist() == [1, 1]
    assert "`b` of `copy` is 3, not 2" in str(failure(lambda: program.main(PAIR, Shape([3]))))
