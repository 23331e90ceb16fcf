"""The texts of native code, by TVM's names."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import VMError
from relaxscript.script import ir as I, relax as R, tir as T


@I.ir_module
class Model:
    @T.prim_func
    def twice(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        return R.call_tir(Model.twice, (x,), out_sinfo=R.Tensor((4,), "float32"))


def test_the_code_of_a_program_is_a_module_that_it_imports():
    executable = rx.build(Model)
    [code] = executable.mod.imported_modules
    assert executable.mod is executable
    assert code.type_key == "llvm"
    assert repr(code) == "<native code of twice>"
    assert code.get_source() == code.get_source("ll") == executable.get_source()
    assert "@relaxscript_entry(" in code.get_source("ll")
    assert ".globl\trelaxscript_entry" in code.get_source("asm")
    assert code.get_source("s") == executable.get_source("asm")


def test_kernels_that_are_compiled_one_by_one_are_a_module_each():
    @I.ir_module
    class Two:
        twice = Model["twice"]

        @T.prim_func
        def thrice(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
            for i in range(4):
                with T.block("B"):
                    vi = T.axis.spatial(4, i)
                    B[vi] = A[vi] * T.float32(3)

    executable = rx.build(Two, target="llvm -opt-level=0")
    modules = executable.imported_modules
    assert sorted(name for code in modules for name in code.names) == ["thrice", "twice"]
    assert executable.get_source() == "\n".join(code.get_source() for code in modules)


def test_a_program_without_native_code_imports_no_module():
    executable = rx.build(Model, target="reference")
    assert executable.imported_modules == []
    assert executable.get_source() == ""
    np.testing.assert_array_equal(executable(np.ones(4, "float32")), np.full(4, 2))


def test_a_format_that_is_not_known_is_refused_with_those_that_are():
    [code] = rx.build(Model).imported_modules
    with pytest.raises(VMError, match="native code has no text in the format 'ptx'") as failed:
        code.get_source("ptx")
    assert 'formats: "ll", "s", "asm"' in str(failed.value)
    assert failed.value.code == "RX0608"
