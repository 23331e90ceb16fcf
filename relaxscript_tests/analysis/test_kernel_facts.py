"""Facts of PrimFuncs: bytes and operations, counted by hand."""

from __future__ import annotations

import pytest

from relaxscript.analysis import OpPattern
from relaxscript.analysis.kernel_facts import KernelFacts, kernel_facts, reduced_axes
from relaxscript.arith import format_expr
from relaxscript.script import from_source
from relaxscript.transform import ApplyDefaultSchedule, LegalizeOps


def legal(params: str, value: str, name: str) -> KernelFacts:
    """The facts of the PrimFunc that an operator becomes."""
    mod = from_source(
        f"@I.ir_module\nclass M:\n    @R.function\n    def main({params}):\n"
        f"        n = T.int64()\n        return {value}\n"
    )
    return kernel_facts(LegalizeOps()(mod)[name])


def facts(params: str, body: str) -> KernelFacts:
    """The facts of a PrimFunc with this body."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return kernel_facts(
        from_source(f"@T.prim_func\ndef f({params}):\n    n = T.int64()\n{lines}\n")
    )


def said(found: KernelFacts) -> tuple[str, str, str]:
    read, written, flops = found.bytes_read, found.bytes_written, found.flops
    return format_expr(read), format_expr(written), format_expr(flops)


def test_a_product_multiplies_and_adds_for_each_step():
    params = 'x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 10), "float32")'
    found = legal(params, "R.matmul(x, w)", "matmul")
    # n·64 and 64·10 elements are read, n·10 written; 2·n·64·10 operations.
    assert said(found) == ("n * 256 + 2560", "n * 40", "n * 1280")
    assert found.pattern is OpPattern.OUT_ELEMWISE_FUSABLE


def test_a_softmax_is_six_operations_for_each_element():
    found = legal('x: R.Tensor(("n", 10), "float32")', "R.nn.softmax(x)", "softmax")
    # The largest, the difference, exp, the sum, its inverse, the product.
    assert said(found) == ("n * 40", "n * 40", "n * 60")


def test_a_function_and_an_arithmetic_operation_count_as_one_each():
    assert said(facts(
        'A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32")',
        "for i in range(n):\n    B[i] = T.exp(A[i]) * T.float32(2) + A[i]",
    )) == ("n * 4", "n * 4", "n * 3")  # fmt: skip


def test_an_operand_that_is_read_twice_counts_once():
    found = facts(
        'A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")',
        "for i, j in T.grid(4, 8):\n    B[i, j] = A[i, j] - A[i, 0]",
    )
    assert said(found) == ("128", "128", "32")


def test_what_is_read_of_a_slice_are_its_elements():
    found = legal(
        'x: R.Tensor((100, 8), "float32")',
        "R.strided_slice(x, axes=[0], begin=[0], end=[3])", "strided_slice",
    )  # fmt: skip
    assert said(found) == ("96", "96", "0")


def test_rows_that_indices_choose_count_as_they_are_read():
    found = legal(
        'x: R.Tensor((1000, 8), "float32"), i: R.Tensor((5,), "int64")',
        "R.take(x, i, axis=0)", "take",
    )  # fmt: skip
    assert said(found)[:2] == (str(5 * 8 * 4 + 5 * 8), "160")


def test_a_value_that_is_added_to_what_was_there_is_read():
    found = facts(
        'A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")',
        "for i in range(8):\n    B[i] = B[i] + A[i]",
    )
    assert said(found) == ("64", "32", "8")


def test_loops_whose_bounds_are_of_loops_count_as_often_as_they_run_at_most():
    found = facts(
        'A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32")',
        "for i in range(8):\n    for j in range(i + 1):\n        B[i, j] = A[i, j] * A[i, j]",
    )
    assert said(found)[2] == "64"


def test_the_branch_with_more_operations_counts():
    found = facts(
        'A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")',
        "for i in range(8):\n"
        "    if i < 4:\n        B[i] = A[i] + A[i]\n"
        "    else:\n        B[i] = A[i] * A[i] + A[i]",
    )
    assert said(found)[2] == "16"


def test_each_lane_of_a_vector_is_a_value():
    found = facts(
        'A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")',
        "for i in range(4):\n"
        "    B[T.Ramp(i * 4, 1, 4)] = A[T.Ramp(i * 4, 1, 4)] + A[T.Ramp(i * 4, 1, 4)]",
    )
    assert said(found) == ("64", "64", "16")


def test_a_scheduled_elementwise_function_does_what_the_plain_one_does():
    mod = from_source(
        "@I.ir_module\nclass M:\n    @R.function\n"
        '    def main(x: R.Tensor((64, 32), "float32")):\n        return R.exp(x) \n'
    )
    legal_module = LegalizeOps()(mod)
    plain, made = legal_module["exp"], ApplyDefaultSchedule()(legal_module)["exp"]
    assert "tir.is_scheduled" in made.attrs
    assert said(kernel_facts(made)) == said(kernel_facts(plain)) == ("8192", "8192", "2048")


@pytest.mark.parametrize(("value", "axes"), [
    ("R.sum(x, axis=0)", [("A", 0)]),
    ("R.sum(x, axis=[0, 2])", [("A", 0), ("A", 2)]),
    ("R.exp(x)", []),
])  # fmt: skip
def test_the_axes_of_a_reduction_are_those_of_its_operands(value, axes):
    mod = from_source(
        "@I.ir_module\nclass M:\n    @R.function\n"
        f'    def main(x: R.Tensor((2, 3, 4), "float32")):\n        return {value}\n'
    )
    made = LegalizeOps()(mod)
    name = "exp" if "exp" in value else "sum"
    assert reduced_axes(made[name]) == axes


CALLS = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def twice(A: T.Buffer(("k",), "float32"), B: T.Buffer(("k",), "float32")):
        k = T.int64()
        for i in range(k):
            B[i] = A[i] * T.float32(2)

    @T.prim_func
    def f(A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32")):
        n = T.int64()
        C = T.alloc_buffer((n,), "float32")
        M.twice(A.data, C.data)
        M.twice(C.data, B.data)
"""


def test_what_a_function_calls_counts_as_its_own():
    module = from_source(CALLS)
    assert said(kernel_facts(module["f"], module)) == ("n * 4", "n * 4", "n * 2")


def test_a_function_that_is_not_there_counts_once():
    assert said(kernel_facts(from_source(CALLS)["f"]))[2] == "2"


@pytest.mark.parametrize(("dtype", "itemsize"), [
    ("float64", 8), ("float32", 4), ("float16", 4), ("int64", 4),
])  # fmt: skip
def test_the_widest_float_that_is_computed_is_told(dtype, itemsize):
    found = legal(f'x: R.Tensor(("n",), "{dtype}")', "R.add(x, x)", "add")
    assert found.itemsize == itemsize
