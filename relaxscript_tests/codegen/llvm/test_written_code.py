"""PrimFuncs that a schedule has written: one module of LLVM, compiled as it is written."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func, compile_prim_funcs
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.ir.module import IRModule
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source
from relaxscript.tir.transform import VectorizeLoop

FUNCTIONS = """
@I.ir_module
class M:
    @T.prim_func
    def twice(A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32")):
        T.func_attr({"tir.noalias": True, "relaxscript.schedule": "elementwise"})
        n = T.int64()
        for i in range(n // 8):
            for j in T.vectorized(8):
                B[i * 8 + j] = A[i * 8 + j] + A[i * 8 + j]
        for i in range(n % 8):
            B[n // 8 * 8 + i] = A[n // 8 * 8 + i] + A[n // 8 * 8 + i]

    @T.prim_func
    def take(A: T.Buffer((4,), "float32"), P: T.Buffer((1,), "int32")):
        T.func_attr({"relaxscript.schedule": "plain"})
        A[0] = A[P[0]]

    @T.prim_func
    def calling(A: T.Buffer((4,), "float32"), P: T.Buffer((1,), "int32")):
        T.func_attr({"relaxscript.schedule": "plain"})
        M.take(A.data, P.data)

    @T.prim_func
    def other(A: T.Buffer((4,), "float32"), P: T.Buffer((1,), "int32")):
        A[1] = A[P[0]]
"""


def functions() -> tuple[IRModule, dict[str, PrimFunc]]:
    mod = from_source(FUNCTIONS)
    mod = VectorizeLoop()(mod)
    return mod, {var.name_hint: func for var, func in mod.functions.items()}


def test_functions_of_a_schedule_are_one_module_and_others_are_alone():
    mod, found = functions()
    kernels = compile_prim_funcs(found, module=mod)
    assert [*kernels] == [*found]
    assert kernels["twice"].llvm_ir is kernels["take"].llvm_ir is kernels["calling"].llvm_ir
    assert kernels["other"].llvm_ir == compile_prim_func(found["other"], "other").llvm_ir
    # A function that is an entry is called by others as it is.
    assert kernels["twice"].llvm_ir.count("define ") == 3


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 64, 1003])
def test_vectors_and_what_is_left_over_are_computed(size: int):
    mod, found = functions()
    a = np.arange(size, dtype="float32")
    b = np.zeros(size + 1, "float32")
    compile_prim_funcs(found, module=mod)["twice"](a, b[:size])
    np.testing.assert_array_equal(b[:size], a + a)
    assert b[size] == 0


def test_each_function_of_a_module_fails_by_its_own_name_and_place():
    mod, found = functions()
    kernels = compile_prim_funcs(found, module=mod)
    for name in ("take", "calling", "other"):
        with pytest.raises(
            VMError, match="index 9 is outside of dimension 0 of buffer `A`"
        ) as told:
            kernels[name](np.zeros(4, "float32"), np.array([9], "int32"))
        line = FUNCTIONS.splitlines()[told.value.span.line - 1]
        assert ("A[1]" if name == "other" else "A[0]") in line


def test_code_is_what_is_written_whatever_the_level():
    mod, found = functions()
    texts = {
        compile_prim_funcs(found, {"level": level}, mod)["twice"].optimised_ir for level in range(4)
    }
    (text,) = texts
    assert text.count("fadd <8 x float>") == 1


def test_an_expression_that_is_too_deep_is_refused_in_a_module_of_several():
    mod, found = functions()
    deep = found["take"]
    value = deep.body.value
    for _ in range(5000):
        value = value + value
    deep = deep.replace(body=deep.body.replace(value=value))
    with pytest.raises(DiagnosticError, match="nested too deeply to be compiled"):
        compile_prim_funcs({"deep": deep, "twice": found["twice"]}, module=mod)
