"""Programs of bytecode on the virtual machine: results, closures, threads, the interface."""

from __future__ import annotations

import operator
import threading

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.runtime import (
    Closure,
    PackedFunc,
    TupleCheck,
    VirtualMachine,
    VMInstrumentReturnKind,
    cpu,
    register_func,
)
from relaxscript_tests.runtime.programs import adder, calling, checked, line, machine

UNIT = TupleCheck()


class TestResults:
    def test_registered_functions_compute(self):
        def main(ib):
            with ib.function("main", 2, ["x", "y"]):
                ib.emit_call("test.add", [ib.r(0), ib.r(1)], ib.r(2))
                ib.emit_call("test.add", [ib.r(2), np.ones(2)], ib.r(2))
                ib.emit_ret(ib.r(2))

        vm = machine(main)
        x = np.array([1.0, 2.0])
        assert vm["main"](x, x).tolist() == [3.0, 5.0]
        assert vm.main(x, x).tolist() == [3.0, 5.0]
        assert vm.main(y=x, x=x).tolist() == [3.0, 5.0]

    def test_a_loop_runs_by_goto_and_if(self):
        def main(ib):  # adds `step` to x while x < 10
            with ib.function("main", 2, ["x", "step"]):
                ib.emit_call("test.less", [ib.r(0), ib.imm(10)], ib.r(2))
                ib.emit_if(ib.r(2), 3)
                ib.emit_call("test.add", [ib.r(0), ib.r(1)], ib.r(0))
                ib.emit_goto(-3)
                ib.emit_ret(ib.r(0))

        assert machine(main).main(np.array(1), np.array(4)) == 13
        assert machine(main).main(np.array(11), np.array(4)) == 11

    @pytest.mark.parametrize(
        ("condition", "result"),
        [(True, 1), (False, 2), (np.array(True), 1), (np.array(False), 2), (np.False_, 2)],
    )
    def test_a_condition_is_any_bool_scalar(self, condition, result):
        def main(ib):
            with ib.function("main", 1, ["c"]):
                ib.emit_if(ib.r(0), 3)
                ib.emit_call("vm.builtin.copy", [ib.imm(1)], ib.r(1))
                ib.emit_goto(2)
                ib.emit_call("vm.builtin.copy", [ib.imm(2)], ib.r(1))
                ib.emit_ret(ib.r(1))

        assert machine(main).main(condition) == result

    def test_functions_call_functions(self):
        def double(ib):
            with ib.function("double", 1, ["x"], public=False):
                ib.emit_call("test.add", [ib.r(0), ib.r(0)], ib.r(1))
                ib.emit_ret(ib.r(1))

        def main(ib):
            with ib.function("main", 1, ["x"]):
                ib.emit_call("double", [ib.r(0)], ib.r(1))
                ib.emit_call("double", [ib.r(1)], ib.r(1))
                ib.emit_call("test.add", [ib.r(1), ib.r(0)], ib.r(1))
                ib.emit_ret(ib.r(1))

        assert machine(double, main).main(np.array(3)) == 15

    def test_a_function_may_be_called_before_it_is_emitted(self):
        def later(ib):
            with ib.function("later", 1):
                ib.emit_ret(ib.r(0))

        assert machine(calling("later"), later).main(np.array(3)) == 3

    def test_recursion_computes(self):
        def total(ib):  # the sum of 0 .. n
            with ib.function("total", 1, ["n"]):
                ib.emit_call("test.less", [ib.r(0), ib.imm(1)], ib.r(1))
                ib.emit_if(ib.r(1), 2)
                ib.emit_ret(ib.r(0))
                ib.emit_call("test.add", [ib.r(0), ib.imm(-1)], ib.r(2))
                ib.emit_call("total", [ib.r(2)], ib.r(2))
                ib.emit_call("test.add", [ib.r(0), ib.r(2)], ib.r(2))
                ib.emit_ret(ib.r(2))

        assert machine(total).total(np.array(5000)) == 5000 * 5001 // 2

    def test_numpy_scalars_are_tensors_of_rank_0(self):
        register_func("test.sum", np.sum)
        result = machine(calling("test.sum")).main(np.ones(3, "float32"))
        assert (type(result), result.dtype, result.shape) == (np.ndarray, np.float32, ())

    def test_numpy_scalars_in_a_tuple_are_tensors_too(self):
        register_func("test.pair", lambda x: (np.sum(x), (x, np.max(x)), "s"))
        total, (same, largest), text = machine(calling("test.pair")).main(np.ones(3))
        assert [type(i) for i in (total, same, largest)] == [np.ndarray] * 3
        assert text == "s"

    def test_none_is_the_null_object_and_unit_where_that_is_asked_for(self):
        register_func("test.none", lambda x: None)
        assert machine(calling("test.none")).main(np.ones(1)) is None
        assert machine(calling("test.none", result=UNIT)).main(np.ones(1)) == ()

    def test_objects_are_passed_around_untouched(self):
        thing = {"a": [1]}
        register_func("test.same", lambda x: x, override=True)
        assert machine(calling("test.same")).main(thing) is thing

    def test_a_result_that_is_dropped_is_dropped(self):
        seen = []
        register_func("test.see", seen.append)

        def main(ib):
            with ib.function("main", 1):
                ib.emit_call("test.see", [ib.r(0)], ib.void_arg(), result=UNIT)
                ib.emit_call("test.see", [None])
                ib.emit_ret(ib.r(0))

        assert machine(main).main("x") == "x"
        assert seen == ["x", None]

    def test_externals_win_over_builtins_and_the_registry(self):
        externals = {"test.add": lambda x: "external", "vm.builtin.copy": lambda x: "mine"}
        assert machine(calling("test.add"), externals=externals).main(1) == "external"
        assert machine(calling("vm.builtin.copy"), externals=externals).main(1) == "mine"
        packed = {"test.add": PackedFunc("test.add", lambda x: "packed")}
        assert machine(calling("test.add"), externals=packed).main(1) == "packed"

    def test_a_packed_function_is_looked_up_at_each_call(self):
        vm = machine(calling("test.changing"))
        register_func("test.changing", lambda x: 1)
        assert vm.main(0) == 1
        register_func("test.changing", lambda x: 2, override=True)
        assert vm.main(0) == 2

    def test_a_packed_function_is_a_value(self):
        def main(ib):
            with ib.function("main", 1):
                ib.emit_call(
                    "vm.builtin.make_tuple", [ib.f("test.add"), ib.f("test.late")], ib.r(1)
                )
                ib.emit_ret(ib.r(1))

        vm = machine(main)
        register_func("test.late", len)
        add, late = vm.main(0)
        assert add.name == "test.add"
        assert vm.invoke_closure(late, [1, 2]) == 2

    def test_a_linked_function_is_a_value(self):
        def main(ib):
            with ib.function("main", 0):
                args = [ib.f("linked"), ib.f("closed"), ib.f("vm.builtin.copy")]
                ib.emit_call("vm.builtin.make_tuple", args, ib.r(0))
                ib.emit_ret(ib.r(0))

        closed = Closure("closed", max)
        linked, same, copy = machine(main, externals={"linked": len, "closed": closed}).main()
        assert linked.function is len
        assert same is closed
        assert copy("x") == "x"

    def test_constants_cannot_be_written_to_unless_made_anew(self):
        register_func("test.write", lambda x: operator.setitem(x, 0, 9))

        def main(fresh):
            def emit(ib):
                with ib.function("main", 0):
                    constant = ib.convert_constant(np.zeros(2))
                    name = "vm.builtin.constant" if fresh else "vm.builtin.copy"
                    ib.emit_call(name, [constant], ib.r(0))
                    ib.emit_call("test.write", [ib.r(0)])
                    ib.emit_ret(ib.r(0))

            return emit

        vm = machine(main(True))
        assert vm.main().tolist() == [9, 0]
        assert vm.main().tolist() == [9, 0]
        with pytest.raises(VMError, match="read-only"):
            machine(main(False)).main()


class TestClosures:
    def test_a_closure_remembers_what_it_captured(self):
        vm = machine(adder)
        add_two = vm.make(np.array(2))
        assert isinstance(add_two, Closure)
        assert add_two.info == "add's info"
        assert add_two(np.array(5)) == 7
        assert vm.invoke_closure(add_two, np.array(6)) == 8
        assert vm.apply(add_two, np.array(1)) == 3

    def test_a_closure_counts_the_arguments_it_still_wants(self):
        add_two = machine(adder).make(np.array(2))
        with pytest.raises(VMError, match=r"`add` takes 1 argument \(x\), got 2"):
            add_two(1, 2)

    def test_a_closure_of_another_machine_is_called_as_well(self):
        assert machine(adder).apply(machine(adder).make(np.array(2)), np.array(1)) == 3

    def test_closures_and_packed_functions_are_applied_alike(self):
        vm = machine(adder)
        assert vm.apply(PackedFunc("p", lambda x: np.sum(x)), np.ones(3)).shape == ()
        assert vm.apply(Closure("c", lambda x: x), 5) == 5

    def test_what_is_no_function_cannot_be_called(self):
        vm = machine(adder)
        with pytest.raises(VMError, match="an int cannot be called") as info:
            vm.apply(5, 1)
        assert info.value.span == line(12)
        with pytest.raises(VMError, match="an int cannot be called"):
            vm.invoke_closure(5)

    def test_what_a_value_raises_is_told_as_from_a_program(self):
        vm = machine(adder)
        for value in (PackedFunc("p", lambda x: x[5]), Closure("p", lambda x: x[5])):
            with pytest.raises(VMError, match="`p` raised IndexError") as info:
                vm.invoke_closure(value, np.ones(2))
            assert info.value.code == "RX0604"
        assert vm.invoke_closure(PackedFunc("p", np.float32), 5).shape == ()

    def test_a_public_function_is_a_value(self):
        vm = machine(adder, calling("test.add", 1))
        register_func("test.add", lambda x: x, override=True)
        assert vm.apply(vm["main"], 5) == 5

    def test_mutual_recursion_through_values_uses_no_python_stack(self):
        def down(ib):  # down(f, n) = n if n < 1 else f(f, n - 1)
            with ib.function("down", 2, ["f", "n"]):
                ib.emit_call("test.less", [ib.r(1), ib.imm(1)], ib.r(2))
                ib.emit_if(ib.r(2), 2)
                ib.emit_ret(ib.r(1))
                ib.emit_call("test.add", [ib.r(1), ib.imm(-1)], ib.r(2))
                ib.emit_call("vm.builtin.invoke_closure", [ib.r(0), ib.r(0), ib.r(2)], ib.r(2))
                ib.emit_ret(ib.r(2))

        vm = machine(down)
        assert vm.down(vm["down"], np.array(5000)) == 0


class TestThreads:
    @staticmethod
    def outer(ib):
        with ib.function("outer", 1, ["k"]):
            ib.emit_call("test.tensors", [ib.r(0)], ib.r(1))
            ib.emit_call("vm.builtin.tuple_getitem", [ib.r(1), ib.imm(0)], ib.r(2))
            ib.emit_call("vm.builtin.tuple_getitem", [ib.r(1), ib.imm(1)], ib.r(3))
            ib.emit_call("main", [ib.r(2), ib.r(3)], ib.r(1))
            ib.emit_ret(ib.r(1))

    def test_one_machine_serves_many_threads(self):
        register_func("test.result", lambda w: w[: len(w) // 2])

        def tensors(k):
            if k % 7 == 6:
                raise ValueError(k)
            return np.ones((k, 4), "f4"), np.full(2 * k, k, "f4")

        register_func("test.tensors", tensors)
        vm = machine(checked, self.outer)
        wrong = []

        def outcome(k):
            try:
                return vm.outer(k).tolist()
            except VMError as error:
                return error.diagnostic.message

        def work(seed):
            for k in [(seed * 31 + i) % 20 for i in range(250)]:
                failure = f"`test.tensors` raised ValueError: {k}"
                if outcome(k) != (failure if k % 7 == 6 else [k] * k):
                    wrong.append(k)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []


class TestInterface:
    def test_calls_in_steps(self):
        vm = machine(calling("test.add", 2))
        vm.set_input("main", np.array(1), x1=np.array(2))
        vm.invoke_stateful("main")
        assert vm.get_outputs("main") == 3
        vm.set_input("main", np.array(1), np.array(1))
        with pytest.raises(VMError, match="`main` has no outputs; call `invoke_stateful` first"):
            vm.get_outputs("main")

    def test_arguments_of_calls_in_steps_are_checked_when_they_are_given(self):
        register_func("test.result", lambda w: w)
        vm = machine(checked)
        x, w = np.ones((2, 4), "float32"), np.ones(5, "float32")
        for store in (vm.set_input, lambda name, *args: vm.save_function(name, "saved", *args)):
            with pytest.raises(VMError, match=r"must be `2 \* n` with") as caught:
                store("main", x, w)
            assert (caught.value.code, caught.value.span) == ("RX0601", line(2))
            with pytest.raises(VMError, match="`main` takes 2 arguments"):
                store("main", x)
        assert not hasattr(vm, "saved")

    def test_what_is_no_name_is_refused(self):
        vm = machine(calling("test.add", 2))
        for name in (3, None, ["main"]):
            with pytest.raises(VMError, match="the name of a function is a string, got") as caught:
                vm[name]
            assert caught.value.code == "RX0607"

    @pytest.mark.parametrize("given", [5, ["cpu", None], {"cpu": 1}])
    def test_devices_are_named_by_texts(self, given):
        with pytest.raises(VMError, match="names no device"):
            machine(calling("test.add", 2), device=given)

    def test_names_that_tvm_leaves_free_are_names_of_functions(self):
        def named(name):
            def emit(ib):
                with ib.function(name, 1, ["x"]):
                    ib.emit_ret(ib.r(0))

            return emit

        names = ["run", "code", "enter", "closure", "profiles", "_helper"]
        vm = machine(*map(named, names))
        x = np.ones(1)
        assert all(getattr(vm, name)(x) is x for name in names)

    def test_calls_in_steps_want_their_order(self):
        vm = machine(calling("test.add", 2))
        with pytest.raises(VMError, match="`main` has no inputs; call `set_input` first"):
            vm.invoke_stateful("main")
        for call in (vm.set_input, vm.invoke_stateful, vm.get_outputs):
            with pytest.raises(VMError, match="there is no function `other`"):
                call("other")

    def test_a_function_is_saved_with_its_arguments(self):
        vm = machine(calling("test.add", 2))
        vm.save_function("main", "three", np.array(1), x1=np.array(2))
        vm.save_function("main", "nothing", 1, 2, include_return=False)
        assert vm["three"]() == 3
        assert vm.nothing() is None
        with pytest.raises(VMError, match="there is a function `three` already"):
            vm.save_function("main", "three")
        with pytest.raises(VMError, match="the name of a function is a string, got an int"):
            vm.save_function("main", 3, 1, 2)

    def test_an_instrument_sees_calls_before_and_after(self):
        seen = []

        def watch(func, name, before, result, *args):
            seen.append((name, before, result, args))

        vm = machine(calling("test.add", 2))
        vm.set_instrument(watch)
        assert vm.main(1, 2) == 3
        assert seen == [("test.add", True, None, (1, 2)), ("test.add", False, 3, (1, 2))]
        vm.set_instrument(None)
        vm.main(1, 2)
        assert len(seen) == 2

    def test_an_instrument_sees_builtins_and_values_that_are_called(self):
        seen = []
        register_func("test.watch", lambda func, name, before, *rest: seen.append(name))
        vm = machine(adder)
        vm.set_instrument("test.watch")
        vm.apply(vm.make(np.array(1)), np.array(2))
        vm.apply(PackedFunc("p", len), "abc")
        assert seen[::2] == ["vm.builtin.make_closure", "test.add", "p"]

    def test_an_instrument_may_skip_a_call(self):
        vm = machine(calling("test.add", 2))
        vm.set_instrument(lambda *args: VMInstrumentReturnKind.SKIP_RUN)
        assert vm.main(1, 2) is None

    def test_an_instrument_that_is_registered_may_skip_one_function_only(self):
        seen = []

        def skip(func, name, before, result, *args):
            seen.append((name, before))
            skipped = name == "test.effect" and before
            return VMInstrumentReturnKind.SKIP_RUN if skipped else None

        register_func("test.skip", skip)
        register_func("test.effect", lambda x: seen.append("ran"))

        def main(ib):
            with ib.function("main", 1):
                ib.emit_call("test.effect", [ib.r(0)])
                ib.emit_call("test.add", [ib.r(0), ib.r(0)], ib.r(1))
                ib.emit_ret(ib.r(1))

        vm = machine(main)
        vm.set_instrument("test.skip")
        assert vm.main(2) == 4
        assert seen == [
            ("test.effect", True), ("test.effect", False), ("test.add", True), ("test.add", False),
        ]  # fmt: skip

    @pytest.mark.parametrize("answer", [0, VMInstrumentReturnKind.NO_OP, np.int64(0)])
    def test_an_instrument_that_answers_no_op_observes(self, answer):
        vm = machine(calling("test.add", 2))
        vm.set_instrument(lambda *args: answer)
        assert vm.main(1, 2) == 3

    def test_an_instrument_that_is_not_registered_is_missing(self):
        with pytest.raises(VMError, match=r"no packed function `test\.nobody`"):
            machine(calling("test.add")).set_instrument("test.nobody")

    def test_an_instrument_must_be_callable(self):
        with pytest.raises(VMError, match="an int cannot be an instrument"):
            machine(calling("test.add")).set_instrument(5)

    def test_what_fails_before_a_measurement_is_named(self):
        register_func("test.prepare", lambda: 1 // 0)
        timed = machine(calling("test.add", 2)).time_evaluator("main", f_preproc="test.prepare")
        with pytest.raises(VMError, match=r"`test\.prepare` raised ZeroDivisionError") as info:
            timed(1, 2)
        assert info.value.code == "RX0604"

    def test_time_is_measured(self):
        calls = []
        register_func("test.prepare", lambda: calls.append("prepare"))
        register_func("test.count", lambda x: calls.append("run"))
        vm = machine(calling("test.count"))
        timed = vm.time_evaluator("main", cpu(), number=3, repeat=2, f_preproc="test.prepare")
        assert len(timed(1).results) == 2
        assert calls == ["run"] + (["prepare"] + ["run"] * 3) * 2

    def test_time_is_measured_of_a_call_with_stored_inputs(self):
        calls = []
        register_func("test.count", calls.append)
        vm = machine(calling("test.count"))
        vm.set_input("main", 1)
        assert len(vm.time_evaluator("invoke_stateful", number=3)("main").results) == 1
        assert calls == [1] * 4

    def test_time_is_measured_on_a_device_that_there_is(self):
        with pytest.raises(VMError, match="names no device"):
            machine(calling("test.add")).time_evaluator("main", 3)

    def test_a_machine_runs_executables_only(self):
        with pytest.raises(VMError, match="a virtual machine runs an Executable, got a string"):
            VirtualMachine("main")

    def test_devices_and_allocators_are_named_in_every_form(self):
        emit = calling("test.add")
        assert machine(emit).devices == (cpu(),)
        assert machine(emit, device="llvm:1").devices == (cpu(1), cpu())
        assert machine(emit, device=[cpu(), cpu(1)]).devices == (cpu(), cpu(1))
        assert machine(emit, memory_cfg={cpu(): "naive"}).memory_cfg == {cpu(): "naive"}
        with pytest.raises(
            VMError, match=r'memory_cfg is "naive", "pooled" or a dict .*, got \'big\''
        ):
            machine(emit, memory_cfg="big")

    def test_an_allocator_is_for_a_device_that_the_machine_has(self):
        emit = calling("test.add")
        vm = machine(emit, device="cpu:1", memory_cfg={"llvm:1": "naive"})
        assert vm.memory_cfg == {cpu(1): "naive"}
        with pytest.raises(VMError, match="names cpu:2, and the machine has cpu:1, cpu:0"):
            machine(emit, device=cpu(1), memory_cfg={cpu(2): "pooled"})
        with pytest.raises(VMError, match="an int names no device"):
            machine(emit, memory_cfg={3: "naive"})

    def test_a_machine_lists_its_functions(self):
        vm = machine(calling("test.add"))
        assert "main" in dir(vm)
        assert "main" in repr(vm)
        assert "main" in vm._repr_html_()
