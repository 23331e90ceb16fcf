"""Axes that are indexed as several: before, after, what stays, and views of parameters."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.errors import VMError
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.module import IRModule
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source
from relaxscript.transform import ApplyDefaultSchedule
from relaxscript.transform.default_schedule.split_axes import with_split_axes
from relaxscript.transform.default_schedule.wide_indices import with_wide_indices

from .test_distributed_loops import assert_arranged, function


def assert_becomes(head: str, before: str, new_head: str, after: str) -> None:
    given = with_wide_indices(function(head, before))
    text = given.script()
    made, conditions = with_split_axes(given)
    assert_structural_equal(made, with_wide_indices(function(new_head, after)))
    assert not conditions
    assert with_split_axes(made).func is made
    assert given.script() == text


def assert_stays(head: str, body: str) -> None:
    given = with_wide_indices(function(head, body))
    assert with_split_axes(given).func is given


def test_a_flat_index_is_one_for_each_loop():
    assert_becomes(
        'A: T.Buffer((60,), "float32"), C: T.Buffer((60,), "float32")',
        "for i, j in T.grid(5, 12):\n    C[i * 12 + j] = A[i * 12 + j] * T.float32(2)",
        'A: T.Buffer((5, 12), "float32"), C: T.Buffer((5, 12), "float32")',
        "for i, j in T.grid(5, 12):\n    C[i, j] = A[i, j] * T.float32(2)",
    )


@pytest.mark.parametrize(
    "index", ["(i * 4 + j) * 6 + k", "i * 24 + j * 6 + k", "k + 6 * (j + i * 4)"]
)
def test_a_flat_index_may_be_of_more_axes(index: str):
    assert_becomes(
        'C: T.Buffer((72,), "float32")',
        f"for i, j, k in T.grid(3, 4, 6):\n    C[{index}] = T.float32(1)",
        'C: T.Buffer((3, 4, 6), "float32")',
        "for i, j, k in T.grid(3, 4, 6):\n    C[i, j, k] = T.float32(1)",
    )


def test_windows_and_offsets_are_in_the_axis_in_which_they_are():
    assert_becomes(
        'X: T.Buffer((96,), "float32"), C: T.Buffer((60,), "float32")',
        "for y, x, r in T.grid(6, 10, 3):\n"
        "    C[y * 10 + x] = C[y * 10 + x] + X[(y + 1) * 12 + x + r] * X[y * 12 + 13]",
        'X: T.Buffer((8, 12), "float32"), C: T.Buffer((6, 10), "float32")',
        "for y, x, r in T.grid(6, 10, 3):\n"
        "    C[y, x] = C[y, x] + X[y + T.int64(1), x + r] * X[y + T.int64(1), T.int64(1)]",
    )


def test_tiles_are_axes_and_loops_over_all_of_them_are_loops_over_tiles():
    assert_becomes(
        'b: T.Buffer((32,), "float32"), C: T.Buffer((8, 32), "float32")',
        """
for i, j in T.grid(8, 32):
    C[i, j] = b[j]
for i, v, q in T.grid(8, 4, 8):
    C[i, v * 8 + q] = C[i, v * 8 + q] + b[v * 8 + q]
""",
        'b: T.Buffer((4, 8), "float32"), C: T.Buffer((8, 4, 8), "float32")',
        """
for i, j_outer, j_inner in T.grid(8, 4, 8):
    C[i, j_outer, j_inner] = b[j_outer, j_inner]
for i, v, q in T.grid(8, 4, 8):
    C[i, v, q] = C[i, v, q] + b[v, q]
""",
    )


def test_axes_of_blocks_are_several_as_their_loops_are():
    block = """
for t in range(60):
    with T.block("clear"):
        vt = T.axis.spatial(60, t)
        C[vt] = T.float32(0)
for i, j in T.grid(5, 12):
    with T.block("C"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi * 12 + vj] = C[vi * 12 + vj] + A[vi, vj]
"""
    head = 'A: T.Buffer((5, 12), "float32"), C: T.Buffer((60,), "float32")'
    text = with_split_axes(with_wide_indices(function(head, block))).func.script()
    assert 'vt_outer, vt_inner = T.axis.remap("SS", [t_outer, t_inner])' in text
    assert "C[vt_outer, vt_inner] = T.float32(0.0)" in text
    assert "C[vi, vj] = C[vi, vj] + A[vi, vj]" in text


FLAT = 'A: T.Buffer((60,), "float32"), C: T.Buffer((60,), "float32")'


@pytest.mark.parametrize(
    "body",
    [
        # Elements have several places, or are beyond a row.
        "for i, j in T.grid(4, 13):\n    C[i * 12 + j] = A[i]",
        "for i, j in T.grid(4, 12):\n    C[i * 12 + j + 3] = A[i]",
        # The axis is not made of such rows.
        "for i, j in T.grid(4, 13):\n    C[i * 13 + j] = A[i]",
        # Others are elsewhere.
        "for i, j in T.grid(5, 12):\n    C[i * 12 + j] = A[i]\n"
        "for t in range(50):\n    C[t] = A[t]",
        "for i, j in T.grid(5, 12):\n    C[i * 12 + j] = C[(i * j) % 60]",
        "for i, j in T.grid(5, 12):\n    C[i * 12 + j] = A[i]\n"
        "for t in T.parallel(60):\n    C[t] = A[t]",
        # There is one axis for a loop.
        "for i in range(60):\n    C[i] = A[i]",
    ],
)  # fmt: skip
def test_other_indices_stay(body: str):
    assert_stays(FLAT, body)


def test_functions_whose_buffers_may_overlap_stay():
    given = function(FLAT, "for i, j in T.grid(5, 12):\n    C[i * 12 + j] = A[i]", noalias=False)
    assert with_split_axes(given).func is given


def test_memory_that_two_buffers_share_stays():
    body = """
B = T.decl_buffer((60,), data=C.data)
for i, j in T.grid(5, 12):
    C[i * 12 + j] = B[i]
"""
    assert_stays(FLAT, body)


def test_an_index_that_is_outside_is_found_outside():
    body = "for i, j in T.grid(6, 12):\n    C[i * 12 + j] = A[T.Cast('int32', A[i]) * 12 + j]"
    head = FLAT.replace("C: T.Buffer((60,)", "C: T.Buffer((72,)")
    func = function(head, body)
    made = ApplyDefaultSchedule()(IRModule({"main": func}))["main"]
    a = np.full(60, 5, "float32")
    for one in (func, made):
        for run in (lambda *args, f=one: evaluate(f, args), compile_prim_func(one)):
            with pytest.raises(VMError, match="index 60 is outside"):
                run(a, np.zeros(72, "float32"))


PRODUCT = """
for i, j in T.grid(m, n):
    C[i * n + j] = T.float32(0)
    for p in range(k):
        C[i * n + j] = C[i * n + j] + A[i * k + p] * B[p * n + j]
"""


def flat_product(head: str, sizes: str = "") -> PrimFunc:
    lines = f"""
T.func_attr({{'tir.noalias': True}})
{sizes}
A = T.match_buffer(a, (m * k,), "float32")
B = T.match_buffer(b, (k * n,), "float32")
C = T.match_buffer(c, (m * n,), "float32")
{PRODUCT}
"""
    body = "".join(f"    {line}\n" for line in lines.splitlines())
    return from_source(
        f"@T.prim_func\ndef main({head}, a: T.handle, b: T.handle, c: T.handle):\n{body}"
    )


def test_sizes_that_are_dimensions_need_no_condition():
    head = 'X: T.Buffer(("m", "n"), "float32"), Y: T.Buffer(("k",), "float32")'
    func = flat_product(head, "m = T.int64()\nn = T.int64()\nk = T.int64()")
    made, conditions = with_split_axes(func)
    assert not conditions
    assert [len(buffer.shape) for buffer in made.buffer_map.values()] == [2, 1, 2, 2, 2]


@pytest.mark.parametrize(
    ("m", "n", "k"), [(5, 7, 9), (1, 3, 8), (20, 40, 3), (4, 3, 0), (-2, -3, -5), (-2, -3, 0)]
)
def test_sizes_that_are_parameters_may_be_negative(m: int, n: int, k: int):
    func = flat_product("m: T.int64, n: T.int64, k: T.int64")
    assert {str(c) for c in with_split_axes(func).conditions} == {f"{v} >= 0" for v in "mnk"}
    made = ApplyDefaultSchedule()(IRModule({"main": func}))["main"]
    assert made.attrs.get("relaxscript.schedule") == "product"
    assert_structural_equal(from_source(made.script()), made)
    rng = np.random.default_rng(5)
    given = [rng.integers(-3, 4, size).astype("float32") for size in (m * k, k * n, m * n)]
    expected = [array.copy() for array in given]
    evaluate(func, [m, n, k, *expected])
    for run in (lambda *args: evaluate(made, args), compile_prim_func(made)):
        arrays = [array.copy() for array in given]
        run(m, n, k, *arrays)
        assert all(map(np.array_equal, arrays, expected))


HEADS = ", ".join(f'{name}: T.Buffer((576,), "float32")' for name in "ABC")


@pytest.mark.parametrize(
    ("rule", "body"),
    [
        ("product", PRODUCT.replace("m, n", "24, 24").replace("(k)", "(24)")
         .replace("* n", "* 24").replace("* k", "* 24")),
        ("product", "for t in range(576):\n    C[t] = T.float32(0)\n"
         "for i, k, j in T.grid(24, 24, 24):\n"
         "    C[i * 24 + j] = C[i * 24 + j] + A[i * 24 + k] * B[k * 24 + j]"),
        ("nests", "for u, v, p, q in T.grid(3, 3, 8, 8):\n"
         "    C[(u * 8 + p) * 24 + v * 8 + q] = T.float32(0)\n    for k in range(24):\n"
         "        C[(u * 8 + p) * 24 + v * 8 + q] = C[(u * 8 + p) * 24 + v * 8 + q]"
         " + A[(u * 8 + p) * 24 + k] * B[k * 24 + v * 8 + q]"),
        ("nests", "for i, j in T.grid(24, 24):\n    C[i * 24 + j] = A[j * 24 + i]"),
        ("elementwise", "for i, j in T.grid(24, 24):\n    C[i * 24 + j] = A[i * 24 + j] * B[j]"),
        ("rows", "s = T.alloc_buffer((24,))\nfor i in range(24):\n    s[i] = T.float32(0)\n"
         "    for j in range(24):\n        s[i] = s[i] + A[i * 24 + j]\n"
         "    for j in range(24):\n        C[i * 24 + j] = A[i * 24 + j] - s[i]"),
    ],
)  # fmt: skip
def test_functions_of_flat_indices_are_arranged(rule: str, body: str):
    assert_arranged(function(HEADS, body), rule)
