"""Blocks whose code others may share are functions of the module, where their code allows that."""

from __future__ import annotations

import re

import numpy as np

import relaxscript as rx
from relaxscript.codegen.llvm import compile_prim_func, compile_prim_funcs
from relaxscript.codegen.llvm.kernel import is_scheduled
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.prim_funcs import both


def functions_of(text: str) -> list[str]:
    return re.findall(r"^define internal void @(relaxscript_shared\d+)\(", text, re.MULTILINE)


@T.prim_func
def sums(a: T.Buffer((6, 4), "float32"), b: T.Buffer((6, 4), "float32")) -> None:
    for i in range(3):
        with T.block("pair"):
            v = T.axis.opaque(6, i * 2)
            T.block_attr({"relaxscript.shared": True})
            for j in range(4):
                b[v, j] = a[v, j] + a[v + 1, j]
    for i in range(3):
        with T.block("pair_behind"):
            v = T.axis.opaque(6, i * 2)
            T.block_attr({"relaxscript.shared": True})
            for k in range(4):
                b[v, k] = a[v, k] + a[v + 1, k]


@T.prim_func
def failing(a: T.Buffer((6,), "float32"), at: T.int32, b: T.Buffer((6,), "float32")) -> None:
    for i in range(3):
        with T.block("moved"):
            v = T.axis.opaque(6, i)
            T.block_attr({"relaxscript.shared": True})
            b[v] = a[v + at]


def test_blocks_with_the_same_code_are_one_function() -> None:
    kernel = compile_prim_func(sums)
    assert len(functions_of(kernel.llvm_ir)) == 1
    assert kernel.llvm_ir.count("call void @relaxscript_shared0(") == 2


def test_a_shared_block_has_the_bits_of_the_evaluator() -> None:
    a = np.arange(24, dtype="float32").reshape(6, 4)
    both(sums, [a, np.zeros_like(a)])


def test_a_block_that_may_fail_stays_where_it_is_and_fails_as_the_evaluator_does() -> None:
    assert not functions_of(compile_prim_func(failing).llvm_ir)
    a = np.arange(6, dtype="float32")
    both(failing, [a, 3, np.zeros_like(a)])
    both(failing, [a, 4, np.zeros_like(a)])


def test_products_of_different_sizes_share_their_tile() -> None:
    n = R.dim("n")

    @I.ir_module
    class Products:
        @R.function
        def main(
            x: R.Tensor[R.f32, n, 256], y: R.Tensor[R.f32, 128, 512], w: R.Tensor[R.f32, 256, 512],
            v: R.Tensor[R.f32, 512, 300],
        ):  # fmt: skip
            with R.dataflow():
                a = R.matmul(x, w)
                b = R.matmul(a, v)
                c = R.matmul(y, v)
                R.output(b, c)
            return b, c

    lowered = rx.relax.get_pipeline("llvm")(Products)
    scheduled = {var.name_hint: func for var, func in lowered.functions.items() if is_native(func)}
    (text,) = {kernel.llvm_ir for kernel in compile_prim_funcs(scheduled, None, lowered).values()}
    assert len(functions_of(text)) == 1
    assert text.count("call void @relaxscript_shared0(") == 3


def is_native(func: object) -> bool:
    return isinstance(func, PrimFunc) and is_scheduled(func)


@T.prim_func
def planes(a: T.Buffer((6, "m", "k"), "float32"), b: T.Buffer((6, "m", "k"), "float32")) -> None:
    T.func_attr({"tir.noalias": True, "relaxscript.schedule": "by hand"})
    m = T.int64()
    k = T.int64()
    for i in T.serial(T.int64(6)):
        with T.block("plane"):
            v = T.axis.opaque(T.int64(6), i)
            T.block_attr({"relaxscript.shared": True})
            for j in T.serial(m):
                for c in T.serial(k):
                    b[v, j, c] = a[v, j, c] + a[v, j, c]


def test_a_shared_block_computes_before_its_own_loops_what_depends_on_sizes_only() -> None:
    text = compile_prim_funcs({"planes": planes})["planes"].llvm_ir
    assert len(functions_of(text)) == 1
    (passed,) = re.findall(r"call void @relaxscript_shared0\((.*)\)", text)
    names = [one.split()[1] for one in passed.split(", ")]
    # Sizes and pointers as the function around it has them, and the axis: no product of sizes.
    assert sorted(name for name in names if name[1] != "v") == ["%a0", "%a1", "%n0", "%n1"]
    assert len(names) == 5
