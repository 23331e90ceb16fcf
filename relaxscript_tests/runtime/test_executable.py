"""Building executables, and how they show themselves."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.runtime import ExecBuilder, TupleCheck, VirtualMachine, VMFuncKind


@pytest.fixture
def builder():
    """A function that loops, calls, uses a constant, and one that is private."""
    ib = ExecBuilder()
    with ib.function("main", 2, ["x", "w"], heap_size=1):
        ib.emit_call("test.add", [ib.r(0), np.ones(2, "float32")], ib.r(2))
        ib.emit_if(ib.r(1), 3)
        ib.emit_call(
            "helper", [ib.vm_state(), None, ib.imm(-3), ib.f("test.add")], result=TupleCheck()
        )
        ib.emit_goto(-2)
        ib.emit_ret(ib.r(2))
    with ib.function("helper", 4, public=False, pure=False):
        ib.emit_ret(ib.r(0))
    return ib


def test_the_listing_shows_one_line_for_each_instruction(builder):
    assert builder.get().as_text() == (
        "@main(x, w) registers=3 heap=1\n"
        "  call  test.add                     in: %0, c[0]                 dst: %2\n"
        "  if    %1 else +3\n"
        "  call  helper                       in: vm, void, i-3, f[test.add] dst: _"
        "  is: the empty tuple\n"
        "  goto  -2\n"
        "  ret   %2\n"
        "\n"
        "@helper(arg0, arg1, arg2, arg3) private impure registers=4\n"
        "  ret   %0\n"
    )


def test_the_columns_of_a_listing_are_as_wide_as_the_longest_name():
    ib = ExecBuilder()
    with ib.function("main", 1, ["x"]):
        ib.emit_call("vm.builtin.copy", [ib.r(0)], ib.r(1))
        ib.emit_call("fused_add_relu_multiply_multiply1", [ib.r(1)], ib.r(2))
        ib.emit_ret(ib.r(2))
    assert ib.get().as_text() == (
        "@main(x) registers=3\n"
        "  call  vm.builtin.copy                   in: %0                       dst: %1\n"
        "  call  fused_add_relu_multiply_multiply1 in: %1                       dst: %2\n"
        "  ret   %2\n"
    )


def test_a_program_can_be_called_without_a_machine():
    ib = ExecBuilder()
    with ib.function("main", 1, ["x"]):
        ib.emit_ret(ib.r(0))
    with ib.function("other", 0):
        ib.emit_call("vm.builtin.copy", [ib.imm(2)], ib.r(0))
        ib.emit_ret(ib.r(0))
    executable = ib.get()
    assert executable.jit(force_recompile=True) is executable
    assert executable(5) == executable(x=5) == executable["main"](5) == 5
    assert executable["other"]() == 2
    with pytest.raises(VMError, match="there is no function `mian`"):
        executable["mian"]


def test_statistics_count_what_there_is(builder):
    assert builder.get().stats() == (
        "functions: 2 (main, helper)\n"
        "instructions: 6\n"
        "constants: 1 (8 bytes in tensors)\n"
        "packed functions: 1 (test.add)"
    )


def test_public_functions_are_listed(builder):
    executable = builder.get()
    assert executable.public_functions == ["main"]
    assert executable.has_function("main")
    assert not executable.has_function("helper")
    assert repr(executable) == "<Executable of main>"
    assert repr(ExecBuilder().get()) == "<Executable of no public function>"


def test_a_program_is_linked_without_changing_it(builder):
    first = builder.get({"a": len})
    second = first.link({"a": max, "b": min})
    assert first.externals == {"a": len}
    assert second.externals == {"a": max, "b": min}
    assert second.instructions is first.instructions
    assert second.has_function("main")


def test_constants_are_held_without_writing_rights(builder):
    array = np.ones(2)
    ib = ExecBuilder()
    ib.convert_constant(array)
    held = ib.get().constants[0]
    assert np.shares_memory(held, array)
    assert not held.flags.writeable
    assert array.flags.writeable
    ib.convert_constant((array, "s"))
    assert not ib.get().constants[1][0].flags.writeable


def test_jumps_are_patched_when_their_target_is_known():
    ib = ExecBuilder()
    with ib.function("main", 1):
        test = ib.position
        ib.emit_if(ib.r(0), 0)
        ib.emit_call("vm.builtin.copy", [ib.imm(1)], ib.r(1))
        leave = ib.position
        ib.emit_goto(0)
        ib.patch(test, ib.position - test)
        ib.emit_call("vm.builtin.copy", [ib.imm(2)], ib.r(1))
        ib.patch(leave, ib.position - leave)
        ib.emit_ret(ib.r(1))
    vm = VirtualMachine(ib.get())
    assert [vm.main(True), vm.main(False)] == [1, 2]


def test_a_declared_function_keeps_its_number():
    ib = ExecBuilder()
    ib.declare_function("later", VMFuncKind.VM_FUNC)
    ib.declare_function("later", VMFuncKind.VM_FUNC)
    with ib.function("later", 1):
        ib.emit_ret(ib.r(0))
    assert ib.get().function_index == {"later": 0}


def test_a_declared_function_that_is_never_emitted_is_malformed():
    ib = ExecBuilder()
    ib.declare_function("ghost", VMFuncKind.VM_FUNC)
    with pytest.raises(VMError, match="malformed bytecode in `ghost`: it has no instruction"):
        ib.get()


class TestMistakesOfTheBuilder:
    @pytest.fixture
    def ib(self):
        return ExecBuilder()

    def test_a_variable_outside_of_a_function(self, ib):
        with pytest.raises(VMError, match="the variable `x` is outside of every function"):
            ib.variable("x", ib.r(0), 0, 1)

    def test_an_instruction_outside_of_a_function(self, ib):
        with pytest.raises(VMError, match="is outside of every function"):
            ib.emit_goto(1)

    def test_a_function_inside_a_function(self, ib):
        with ib.function("a"):
            with pytest.raises(VMError, match="`b` cannot be emitted inside `a`"):
                with ib.function("b"):
                    pass
            ib.emit_call("p", [], ib.r(0))
            ib.emit_ret(ib.r(0))
        assert ib.get().public_functions == ["a"]

    def test_a_function_twice(self, ib):
        with ib.function("a", 1):
            ib.emit_ret(ib.r(0))
        with pytest.raises(VMError, match="the function `a` is emitted twice"):
            with ib.function("a", 1):
                pass

    def test_an_immediate_that_is_no_int(self, ib):
        with pytest.raises(VMError, match="an immediate is an int, got a float"):
            ib.imm(1.5)

    def test_a_result_that_goes_nowhere(self, ib):
        with ib.function("a", 1):
            with pytest.raises(VMError, match="a call of `p` can only write into a register"):
                ib.emit_call("p", [], ib.imm(1))
            with pytest.raises(VMError, match="a call of `p` can only write into a register"):
                ib.emit_call("p", [], ib.vm_state())

    def test_returning_or_testing_what_is_no_register(self, ib):
        with ib.function("a", 1):
            with pytest.raises(VMError, match="can only return a register"):
                ib.emit_ret(ib.imm(1))
            with pytest.raises(VMError, match="can only test a register"):
                ib.emit_if(True, 1)
            with pytest.raises(VMError, match="can only return a register"):
                ib.emit_ret(ib.void_arg())

    @pytest.mark.parametrize(
        ("emit", "message"),
        [
            (lambda ib: ib.r(1.5), "the number of a register is an int, got a float"),
            (lambda ib: ib.r(True), "the number of a register is an int, got a bool"),
            (lambda ib: ib.c("x"), "the number of a constant is an int, got a string"),
            (lambda ib: ib.imm(1 << 63), "an immediate has 64 bits, got 9223372036854775808"),
            (lambda ib: ib.f(3), "the name of a function is a string, got an int"),
            (lambda ib: ib.emit_call(3), "the name of a function is a string, got an int"),
            (lambda ib: ib.emit_call("p", 3), "arguments of a call come as a list, got an int"),
            (lambda ib: ib.emit_call("p", [], 3), "a call of `p` can only write into a register"),
            (lambda ib: ib.emit_goto(1.5), "an offset is an int, got a float"),
            (lambda ib: ib.emit_if(ib.r(0), "x"), "an offset is an int, got a string"),
            (lambda ib: ib.patch(99, 1), "there is no instruction at position 99"),
            (lambda ib: ib.patch("x", 1), "a position is an int, got a string"),
        ],
    )
    def test_operands_of_another_kind(self, ib, emit, message):
        with ib.function("a", 1):
            with pytest.raises(VMError) as caught:
                emit(ib)
            assert (caught.value.diagnostic.message, caught.value.code) == (message, "RX0612")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"func_name": 3}, "the name of a function is a string, got an int"),
            ({"num_inputs": "x"}, "the number of arguments is an int, got a string"),
            ({"num_inputs": -1}, "`a` cannot take -1 arguments"),
            ({"param_names": "xy"}, "names of parameters come as a list, got a string"),
        ],
    )
    def test_a_function_of_another_kind(self, ib, options, message):
        with pytest.raises(VMError) as caught:
            with ib.function(**{"func_name": "a", **options}):
                pass
        assert (caught.value.diagnostic.message, caught.value.code) == (message, "RX0612")

    def test_what_is_linked_can_be_called(self, ib):
        with pytest.raises(VMError, match="`p` is linked to an int, which cannot be called"):
            ib.get({"p": 3})

    def test_patching_what_is_no_jump(self, ib):
        with ib.function("a", 1):
            ib.emit_ret(ib.r(0))
        with pytest.raises(VMError, match="Ret is no jump"):
            ib.patch(0, 1)
