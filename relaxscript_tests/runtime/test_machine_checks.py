"""Arguments, results and casts are checked while a program runs."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.runtime import (
    AnyCheck,
    DimBind,
    DimConst,
    DimExpr,
    DimLoad,
    Prim,
    PrimCheck,
    Shape,
    ShapeCheck,
    TensorCheck,
    TupleCheck,
    register_func,
    remove_global_func,
)
from relaxscript_tests.runtime.programs import calling, checked, line, machine


class TestChecks:
    def test_arguments_and_results_that_fit_pass(self):
        register_func("test.result", lambda w: w[: len(w) // 2])
        assert machine(checked).main(np.ones((2, 4), "f4"), np.ones(4, "f4")).shape == (2,)

    def test_a_wrong_argument_names_the_function_as_its_place(self):
        with pytest.raises(VMError, match=r"`w.shape\[0\]` is 5; must be `2") as info:
            machine(checked).main(np.ones((2, 4), "f4"), np.ones(5, "f4"))
        assert info.value.span == line(2)

    def test_a_wrong_result_names_the_return(self):
        register_func("test.result", lambda w: w)
        with pytest.raises(VMError) as info:
            machine(checked).main(np.ones((2, 4), "f4"), np.ones(4, "f4"))
        assert info.value.diagnostic.message == (
            "`shape[0]` of the result of `main` is 4; must be `n = 2` from `x.shape[0]`"
        )
        assert info.value.span == line(4)

    def test_what_a_call_returns_is_checked_where_that_is_asked_for(self):
        register_func("test.f", lambda x: x)
        vm = machine(calling("test.f", result=TensorCheck("float32", 1, (DimConst(2),))))
        assert vm.main(np.ones(2, "f4")).shape == (2,)
        with pytest.raises(
            VMError, match=r"`shape\[0\]` of the result of `test.f` is 3; must"
        ) as info:
            vm.main(np.ones(3, "f4"))
        assert info.value.span == line(3)

    def test_match_cast_binds_and_shapes_are_computed(self):
        def main(ib):
            with ib.function("main", 1, ["x"], heap_size=1):
                check = TensorCheck(dims=(DimBind(0, "m"),))
                args = [ib.vm_state(), ib.r(0), check, "the value of match_cast"]
                ib.emit_call("vm.builtin.match_cast", args, ib.r(1), span=line(5))
                dims = (DimLoad(0, "m"), DimExpr(lambda h: 7 - h[0], "7 - m"))
                ib.emit_call("vm.builtin.make_shape", [ib.vm_state(), dims], ib.r(2), span=line(6))
                ib.emit_ret(ib.r(2))

        vm = machine(main)
        assert vm.main(np.ones(3)) == Shape([3, 4])
        with pytest.raises(
            VMError, match="`ndim` of the value of match_cast is 2; must be 1"
        ) as info:
            vm.main(np.ones((2, 2)))
        assert info.value.span == line(5)
        with pytest.raises(VMError) as info:
            vm.main(np.ones(9))
        assert info.value.diagnostic.message == (
            "dimension 1 of a shape, `7 - m`, is -2 with `m = 9` from `shape[0]` of the value "
            "matched in line 5"
        )
        assert info.value.span == line(6)

    def test_a_call_inside_is_checked_and_blamed_on_the_call(self):
        def main(ib):
            with ib.function("outer", 1, ["y"], span=line(20)):
                ib.emit_call("main", [ib.r(0), ib.r(0)], ib.r(1), span=line(21))
                ib.emit_ret(ib.r(1))

        with pytest.raises(VMError, match=r"`x\.ndim` is 1; must be 2") as info:
            machine(checked, main).outer(np.ones(3, "f4"))
        assert info.value.span == line(21)

    def test_a_wrong_number_of_arguments_inside_is_reported(self):
        def main(ib):
            with ib.function("outer", 1, ["y"]):
                ib.emit_call("main", [ib.r(0)], ib.r(1), span=line(21))
                ib.emit_ret(ib.r(1))

        with pytest.raises(VMError, match=r"`main` takes 2 arguments \(x, w\), got 1"):
            machine(checked, main).outer(np.ones(3, "f4"))

    def test_arguments_of_users_are_converted(self):
        def main(ib):
            checks = [
                ShapeCheck(2),
                TupleCheck((PrimCheck("int32"), AnyCheck())),
                TensorCheck("float32", 0),
            ]
            with ib.function("main", 3, ["s", "t", "x"], param_checks=checks):
                args = [ib.r(0), ib.r(1), ib.r(2)]
                ib.emit_call("vm.builtin.make_tuple", args, ib.r(3))
                ib.emit_ret(ib.r(3))

        shape, fields, scalar = machine(main).main([2, 3], [np.int32(5), "s"], np.float32(1))
        assert repr(shape) == "Shape([2, 3])"
        assert fields == (Prim(5, "int32"), "s")
        assert scalar.shape == ()

    def test_an_argument_that_cannot_be_converted_is_named(self):
        vm = machine(checked)
        masked = np.ma.masked_array(np.ones((2, 4), "f4"))
        with pytest.raises(VMError, match="`x`: a masked array is no tensor"):
            vm.main(masked, np.ones(4, "f4"))


FLOATS = np.ones(3, "float32")
FAULTS = {
    "another dtype": (lambda x: x.astype("float64"), "is float64; must be float32"),
    "another shape": (
        lambda x: x[:2],
        r"`shape\[0\]` of the result of `test.f` is 2; must be `n = 3`",
    ),
    "another rank": (lambda x: x[None], "is 2; must be 1"),
    "a numpy scalar": (lambda x: np.float32(3), "is 0; must be 1"),
    "nothing": (lambda x: None, r"is None \(the null object\)"),
    "a list": (lambda x: [1.0, 2.0, 3.0], "is a list of 3"),
    "a number": (lambda x: 3.0, "is a float"),
    "a tuple": (lambda x: (x,), "is a tuple of 1"),
    "an array of objects": (lambda x: np.array([None] * 3), "is an array of shape"),
    "a masked array": (lambda x: np.ma.masked_array(x, x > 0), "is a masked array"),
    "a class": (lambda x: int, "is an object of class type"),
    "a generator": (lambda x: (i for i in x), "is an object of class generator"),
    "an exception": (lambda x: x.no_such_thing, "`test.f` raised AttributeError"),
    "another signature": (lambda: FLOATS, "`test.f` raised TypeError"),
    "its own removal": (lambda x: remove_global_func("test.f"), "is None"),
}
HARMLESS = {
    "a strided array": lambda x: np.ones(6, "float32")[::2],
    "a read-only array": lambda x: np.broadcast_to(np.float32(1), (3,)),
    "its argument": lambda x: x,
    "foreign byte order": lambda x: x.astype(">f4"),
}


class TestFaultsOfPackedFunctions:
    @staticmethod
    def main(ib):
        check = TensorCheck("float32", 1, (DimLoad(0, "n"),))
        checks = [TensorCheck("float32", 1, (DimBind(0, "n"),))]
        with ib.function("main", 1, ["x"], param_checks=checks, heap_size=1):
            ib.emit_call("test.f", [ib.r(0)], ib.r(1), result=check, span=line(3))
            ib.emit_ret(ib.r(1))

    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_fault_is_named_and_the_machine_goes_on(self, fault):
        vm = machine(self.main)
        function, message = FAULTS[fault]
        register_func("test.f", function)
        with pytest.raises(VMError, match=message) as info:
            vm.main(FLOATS)
        assert "`test.f`" in info.value.diagnostic.message
        assert info.value.span == line(3)
        register_func("test.f", np.copy, override=True)
        assert vm.main(FLOATS).tolist() == [1, 1, 1]

    @pytest.mark.parametrize("kind", HARMLESS)
    def test_unusual_arrays_are_no_fault(self, kind):
        register_func("test.f", HARMLESS[kind])
        result = machine(self.main).main(FLOATS)
        assert result.dtype == np.float32
        assert result.dtype.isnative
        assert result.tolist() == [1, 1, 1]
