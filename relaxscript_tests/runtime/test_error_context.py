"""Each kind of failure says what failed and where, and the machine is usable afterwards."""

from __future__ import annotations

import gc
import operator
import traceback
import weakref

import numpy as np
import pytest

from relaxscript.errors import InternalError, Source, VMError
from relaxscript.runtime import (
    register_func,
)
from relaxscript_tests.runtime.programs import calling, line, machine


class TestErrors:
    """Each kind of failure says what failed and where, and the machine is usable afterwards."""

    def test_a_packed_function_that_raises(self):
        def broken(x):
            raise ValueError("no good")

        register_func("test.broken", broken)
        with pytest.raises(VMError) as info:
            machine(calling("test.broken")).main(np.ones(1))
        error = info.value
        assert error.diagnostic.message == "`test.broken` raised ValueError: no good"
        assert (error.code, error.span) == ("RX0604", line(3))
        assert isinstance(error.__cause__, ValueError)
        assert "broken" in [f.name for f in traceback.extract_tb(error.__cause__.__traceback__)]

    def test_an_exception_without_text_is_named(self):
        register_func("test.broken", lambda x: next(iter(())))
        with pytest.raises(VMError, match=r"`test.broken` raised StopIteration \["):
            machine(calling("test.broken")).main(1)

    def test_a_linked_operator_that_raises_is_told_from_a_packed_function(self):
        def operator(x):
            raise ValueError("shapes differ")

        with pytest.raises(VMError, match=r"`relax.op` raised ValueError: shapes differ") as info:
            machine(calling("relax.op"), externals={"relax.op": operator}).main(1)
        assert (info.value.code, info.value.span) == ("RX0606", line(3))

    def test_running_out_of_memory_is_reported(self):
        def hungry(x):
            raise MemoryError("too much")

        register_func("test.hungry", hungry)
        with pytest.raises(VMError, match=r"`test.hungry` raised MemoryError: too much"):
            machine(calling("test.hungry")).main(1)

    @pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
    def test_interrupts_pass_through_untouched(self, kind):
        stop = kind("stop")

        def interrupted(x):
            raise stop

        register_func("test.stop", interrupted)
        vm = machine(calling("test.stop"))
        with pytest.raises(kind) as info:
            vm.main(1)
        assert info.value is stop
        register_func("test.stop", lambda x: x, override=True)
        assert vm.main(1) == 1

    def test_a_missing_packed_function_offers_the_nearest(self):
        vm = machine(calling("test.addd", 2))
        with pytest.raises(VMError, match=r"there is no packed function `test.addd`") as info:
            vm.main(1, 2)
        assert (info.value.code, info.value.span) == ("RX0603", line(3))
        assert "did you mean `test.add`?" in str(info.value)
        register_func("test.addd", operator.add)
        assert vm.main(1, 2) == 3

    def test_a_missing_function_in_a_branch_not_taken_is_no_error(self):
        def main(ib):
            with ib.function("main", 1):
                ib.emit_if(ib.r(0), 2)
                ib.emit_call("test.missing", [])
                ib.emit_ret(ib.r(0))

        assert machine(main).main(False) is False

    def test_internal_errors_are_not_blamed_on_the_user(self):
        def ours(x):
            raise InternalError("oops")

        with pytest.raises(InternalError, match="oops"):
            machine(calling("ours"), externals={"ours": ours}).main(1)

    def test_callers_are_named_from_the_inside_out(self):
        register_func("test.broken", lambda x: 1 / 0)

        def outer(ib):
            with ib.function("outer", 1):
                ib.emit_call("main", [ib.r(0)], ib.r(1), span=line(7))
                ib.emit_ret(ib.r(1))
            with ib.function("outermost", 1):
                ib.emit_call("outer", [ib.r(0)], ib.r(1))
                ib.emit_ret(ib.r(1))

        with pytest.raises(VMError) as info:
            machine(calling("test.broken"), outer).outermost(1)
        assert info.value.span == line(3)
        assert info.value.diagnostic.notes == (
            "in `main`",
            "called from `outer` at program.py:7",
            "called from `outermost`",
        )

    def test_a_caller_in_a_cell_is_named_with_the_number_of_the_cell(self):
        register_func("test.broken", lambda x: 1 / 0)

        def outer(ib):
            with ib.function("outer", 1):
                cell = Source("<In[2]>", "a\nb").between(2, 3)
                ib.emit_call("main", [ib.r(0)], ib.r(1), span=cell)
                ib.emit_ret(ib.r(1))

        with pytest.raises(VMError, match="called from `outer` at Cell In\\[2\\], line 2"):
            machine(calling("test.broken"), outer).outer(1)

    def test_an_error_from_a_nested_run_keeps_its_place(self):
        register_func("test.broken", lambda x: 1 / 0)
        inner = machine(calling("test.broken"))
        register_func("test.inner", lambda x: inner.main(x))

        def outer(ib):
            with ib.function("outer", 1):
                ib.emit_call("test.inner", [ib.r(0)], ib.r(1), span=line(7))
                ib.emit_ret(ib.r(1))

        with pytest.raises(VMError, match=r"`test.broken` raised ZeroDivisionError") as info:
            machine(outer).outer(1)
        assert info.value.span == line(3)
        assert info.value.diagnostic.notes == ("in `main`", "called from `outer` at program.py:7")

    @pytest.mark.parametrize("condition", [1, np.array([True]), np.array(1), None, "yes", ()])
    def test_a_condition_must_be_a_bool_scalar(self, condition):
        def main(ib):
            with ib.function("main", 1):
                ib.emit_if(ib.r(0), 1, span=line(8))
                ib.emit_ret(ib.r(0))

        with pytest.raises(VMError, match="the condition of an `if` must be a Bool scalar") as info:
            machine(main).main(condition)
        assert info.value.span == line(8)

    def test_a_recursion_without_end_stops_at_the_limit(self):
        def forever(ib):
            with ib.function("forever", 1):
                ib.emit_call("forever", [ib.r(0)], ib.r(1), span=line(5))
                ib.emit_ret(ib.r(1))
            with ib.function("fine", 1):
                ib.emit_ret(ib.r(0))

        vm = machine(forever)
        with pytest.raises(
            VMError, match="calls nest deeper than 10000; does the recursion"
        ) as info:
            vm.forever(1)
        assert info.value.code == "RX0609"
        assert len(info.value.diagnostic.notes) < 12
        assert "... 9993 more calls" in str(info.value)
        assert vm.fine(1) == 1
        vm.call_depth_limit = 3
        with pytest.raises(VMError, match="calls nest deeper than 3;"):
            vm.forever(1)

    def test_a_recursion_through_packed_functions_is_no_crash(self):
        vm = machine(calling("test.again"))
        register_func("test.again", lambda x: vm.main(x))
        with pytest.raises(VMError, match="nest deeper than Python allows") as info:
            vm.main(1)
        assert info.value.code == "RX0609"
        assert len(info.value.diagnostic.notes) < 20
        register_func("test.again", lambda x: x, override=True)
        assert vm.main(1) == 1

    def test_private_functions_cannot_be_called_from_outside(self):
        def secret(ib):
            with ib.function("secret", 0, public=False, span=line(2)):
                ib.emit_call("vm.builtin.null_value", [], ib.r(0))
                ib.emit_ret(ib.r(0))

        vm = machine(secret)
        with pytest.raises(VMError, match="`secret` is private: only functions of its module"):
            vm["secret"]
        with pytest.raises(AttributeError, match="`secret` is private"):
            vm.secret

    def test_a_function_that_does_not_exist_offers_the_nearest(self):
        vm = machine(calling("test.add"))
        with pytest.raises(VMError, match="there is no function `mian`") as info:
            vm["mian"]
        assert "did you mean `main`?" in str(info.value)
        assert "public functions: main" in str(info.value)
        with pytest.raises(AttributeError, match="there is no function `mian`"):
            vm.mian
        with pytest.raises(VMError, match=r"there is no function `test.add`"):
            vm["test.add"]

    def test_wrong_arguments_by_name_are_reported(self):
        vm = machine(calling("test.add", 2))
        with pytest.raises(VMError, match="`main` has no parameter `y`"):
            vm.main(1, y=2)
        with pytest.raises(VMError, match="`main` is given `x0` twice"):
            vm.main(1, x0=2)
        with pytest.raises(VMError, match=r"`main` takes 2 arguments \(x0, x1\), got 1"):
            vm.main(x1=2)
        with pytest.raises(VMError, match=r"`main` takes 2 arguments \(x0, x1\), got 4"):
            vm.main(1, 2, 3, 4)

    def test_two_parameters_of_one_name_are_given_by_position_only(self):
        def main(ib):
            with ib.function("main", 2, ["x", "x"]):
                ib.emit_ret(ib.r(0))

        vm = machine(main)
        assert vm.main(1, 2) == 1
        with pytest.raises(VMError, match=r"`main` takes 2 arguments \(x, x\), got 1"):
            vm.main(x=1)

    def test_a_misspelt_parameter_offers_the_nearest(self):
        def main(ib):
            with ib.function("main", 1, ["weight"]):
                ib.emit_ret(ib.r(0))

        with pytest.raises(VMError, match="`main` has no parameter `wieght`") as info:
            machine(main).main(wieght=2)
        assert "did you mean `weight`?" in str(info.value)

    @pytest.mark.slow
    def test_failed_calls_leave_no_tensor_behind(self):
        def broken(x):
            raise ValueError

        register_func("test.broken", broken)
        vm = machine(calling("test.broken"))
        array = np.ones(10)
        alive = weakref.ref(array)
        with pytest.raises(VMError, match=r"`test\.broken` raised ValueError"):
            vm.main(array)
        del array
        gc.collect()
        assert alive() is None
