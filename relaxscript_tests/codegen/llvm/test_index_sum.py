"""Indices of code that is compiled as it is written: what stays the same is before the loop."""

from __future__ import annotations

import re

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func, compile_prim_funcs
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import tir as T
from relaxscript_tests.prim_funcs import both


@T.prim_func
def rows(a: T.Buffer((5, 7, 6), "float32"), b: T.Buffer((7, 5, 6), "float32")) -> None:
    T.func_attr({"tir.noalias": True, "relaxscript.schedule": "by hand"})
    for i in range(5):
        for j in range(7):
            for k in range(2):
                for u in T.unroll(3):
                    b[j, i, k * 3 + u] = a[i, j, k * 3 + u] + a[i, 6 - j, 5 - (k * 3 + u)]


@T.prim_func
def open_rows(
    a: T.Buffer(("n", "m"), "float32"), at: T.Buffer((3,), "int32"), b: T.Buffer(("n",), "float32")
) -> None:
    T.func_attr({"tir.noalias": True, "relaxscript.schedule": "by hand"})
    n = T.int64()
    m = T.int64()
    for i in T.serial(n):
        b[i] = T.float32(0)
        for j in T.serial(m):
            if j % 2 == 0:
                b[i] = b[i] + a[i, j] * a[n - 1 - i, at[j % 3]]


def written(func: PrimFunc) -> str:
    """The text of a PrimFunc whose loops and addresses LLVM is to take as they are."""
    return compile_prim_funcs({"f": func})["f"].llvm_ir


def loops_of(text: str) -> list[list[str]]:
    """The lines of each block that begins with the counter of a loop."""
    blocks = re.split(r"^\w+:\n", text, flags=re.MULTILINE)
    return [block.splitlines() for block in blocks if " = phi i" in block]


def test_parts_of_an_address_are_computed_before_the_loops_that_do_not_change_them() -> None:
    *_, inner = loops_of(written(rows))
    # Of three variables the innermost loop multiplies its own one only, by 3 and by -1.
    products = [line for line in inner if " = mul " in line]
    assert [line.partition(" = ")[2].split(", ")[1] for line in products] == ["3"]


def test_elements_a_literal_apart_have_one_address_in_common() -> None:
    *_, inner = loops_of(written(rows))
    addresses = [line.partition(" = ")[2] for line in inner if "getelementptr" in line]
    literal = [line for line in addresses if re.search(r", i64 -?\d+$", line)]
    bases = {re.search(r"ptr (%\w+)", line)[1] for line in literal}  # type: ignore[index]
    assert (len(addresses) - len(literal), len(bases)) == (3, 3)


def test_code_that_llvm_optimises_has_its_indices_as_they_are() -> None:
    text = compile_prim_func(rows).llvm_ir
    assert "freeze" not in text
    assert "getelementptr inbounds" in text
    assert "freeze" in written(rows)


def test_all_orders_of_sums_give_the_same_elements(rng: np.random.Generator) -> None:
    a = rng.random((5, 7, 6), "float32")
    wanted = a.transpose(1, 0, 2) + a[:, ::-1, ::-1].transpose(1, 0, 2)
    for kernel in (compile_prim_funcs({"f": rows})["f"], compile_prim_func(rows)):
        b = np.zeros((7, 5, 6), "float32")
        kernel(a, b)
        assert np.array_equal(b, wanted)


@pytest.mark.parametrize(("n", "m"), [(0, 3), (1, 1), (4, 5), (3, 0)])
def test_dimensions_that_are_not_known_are_multiplied_before_the_loop(
    n: int, m: int, rng: np.random.Generator
) -> None:
    a = rng.random((n, m), "float32")
    at = np.zeros(3, "int32")
    wanted = np.zeros(n, "float32")
    for i in range(n):
        for j in range(0, m, 2):
            wanted[i] += a[i, j] * a[n - 1 - i, 0]
    b = np.ones(n, "float32")
    compile_prim_funcs({"f": open_rows})["f"](a, at, b)
    assert np.array_equal(b, wanted)


def test_an_index_outside_is_refused_in_any_loop() -> None:
    a, at, b = np.ones((2, 4), "float32"), np.array([0, 1, 9], "int32"), np.ones(2, "float32")
    with pytest.raises(Exception, match=r"index 9 is outside of dimension 1 of buffer `a`"):
        compile_prim_funcs({"f": open_rows})["f"](a, at, b)


@T.prim_func
def wrapping(a: T.Buffer((4,), "int64"), b: T.Buffer((4,), "int64")) -> None:
    T.func_attr({"relaxscript.schedule": "by hand"})
    for i in T.serial(4):
        step: T.int64 = a[i] * T.int64(4611686018427387904) - T.int64(3)
        b[i] = step * T.int64(4) + a[3 - i]


def test_integers_of_64_bits_wrap_around_in_any_order() -> None:
    a = np.array([1, -2, 3, 2**62], "int64")
    found = np.zeros(4, "int64")
    compile_prim_funcs({"f": wrapping})["f"](a, found)
    assert np.array_equal(found, both(wrapping, [a, np.zeros(4, "int64")])[1])
