"""Nests that are arranged one by one: what they compute, and functions that are left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relaxscript.arith import simplify
from relaxscript.codegen.llvm import compile_prim_funcs
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import Call, FloorDiv, FloorMod, IntImm, PrimExpr, Var, const
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import Allocate, BufferStore, PrimFunc
from relaxscript.ir.walk import rewrite, walk
from relaxscript.script import from_source
from relaxscript.transform import ApplyDefaultSchedule
from relaxscript.transform.default_schedule import nests
from relaxscript.transform.default_schedule.processor import Processor, this_processor
from relaxscript_tests.transform.default_schedule.fused_programs import fused, only_prim_func
from relaxscript_tests.transform.default_schedule.row_functions import bits, prim_func
from relaxscript_tests.transform.default_schedule.same_results import (
    assert_same_on_fused_programs,
)

EIGHT = Processor(32, 16)


def by_nests(mod: IRModule, processor: Processor = EIGHT) -> PrimFunc:
    """The only function of a module nest by nest, as it is to be compiled."""

    def rule(func: PrimFunc, _: Processor) -> PrimFunc | None:
        return nests(func, processor)

    made = only_prim_func(ApplyDefaultSchedule(rule)(mod))
    assert made.attrs["relaxscript.schedule"] == "rule"
    return made


def tensor(name: str, *shape: int | str, dtype: str = "float32") -> str:
    dims = ", ".join(f'"{dim}"' if isinstance(dim, str) else str(dim) for dim in shape)
    return f'{name}: R.Tensor(({dims},), "{dtype}")'


def arrays_for(func: PrimFunc, sizes: dict[str, int]) -> list[Any]:
    """Random arrays for the parameters of a function."""
    generator = np.random.default_rng(len(sizes))
    made = []
    for param in func.params:
        buffer = func.buffer_map[param]
        shape = [size_of(dim, sizes) for dim in buffer.shape]
        drawn = np.asarray(generator.standard_normal(shape) * 3)
        made.append(drawn.astype(buffer.dtype.numpy))
    return made


def size_of(dim: PrimExpr, sizes: dict[str, int]) -> int:
    """A dimension, of which the variables are known."""
    known = rewrite(dim, lambda v: const(sizes[v.name], v.dtype) if isinstance(v, Var) else None)
    found = simplify(known)
    assert isinstance(found, IntImm)
    return found.value


def assert_same(before: PrimFunc, func: PrimFunc, sizes: dict[str, int], rtol: float) -> None:
    """Native code and evaluator give the same bits, which are near those of the plain loops."""
    kernel = compile_prim_funcs({"f": func})["f"]
    given = arrays_for(before, sizes)
    results = sum(p in stored_params(before) for p in before.params)
    outcomes = []
    for run in (kernel, lambda *a: evaluate(func, list(a)), lambda *a: evaluate(before, list(a))):
        made = [np.full_like(x, 7) for x in given[-results:]]
        run(*given[:-results], *made)
        outcomes.append(made)
    for found, expected, plain in zip(*outcomes, strict=True):
        assert bits(found) == bits(expected)
        if rtol == 0:
            assert bits(found) == bits(plain)
        np.testing.assert_allclose(found, plain, rtol=rtol, atol=rtol)


def stored_params(func: PrimFunc) -> list[Any]:
    stored = {node.buffer for node in walk(func.body) if isinstance(node, BufferStore)}
    return [p for p in func.params if func.buffer_map[p] in stored]


# With a tolerance of 0, each element is put together in the order of the plain loops.
X = tensor("x", "m", "n")
REDUCTIONS = [
    (X, "y = R.sum(x, axis=0)", 0),
    (X, "y = R.sum(x, axis=0, keepdims=True)", 0),
    (X, "y = R.mean(x, axis=0)", 0),
    (X, "y = R.max(x, axis=0)", 0),
    (X, "y = R.min(x, axis=0)", 0),
    (X, "y = R.prod(x, axis=0)", 0),
    (X, "y = R.variance(x, axis=0)", 0),
    (tensor("x", "m", "n", dtype="bool"), "y = R.any(x, axis=0)", 0),
    (tensor("x", "m", "n", dtype="bool"), "y = R.all(x, axis=0)", 0),
    (tensor("x", "m", "n", dtype="float64"), "y = R.sum(x, axis=0)", 0),
    (tensor("x", "m", "n", dtype="int64"), "y = R.sum(x, axis=0)", 0),
    (tensor("x", "m", "n", dtype="int8"), "y = R.max(x, axis=0)", 0),
    (tensor("x", "m", "n", dtype="float16"), "y = R.sum(x, axis=0)", 0),
    (X, "y = R.nn.softmax(x, axis=0)", 1e-6),
    (X, "y = R.nn.log_softmax(x, axis=0)", 1e-6),
    (tensor("x", 2, "m", "n"), "y = R.sum(x, axis=1)", 0),
    (tensor("x", 2, "m", "n"), "y = R.mean(x, axis=[0, 1])", 0),
    (tensor("x", 2, "m", "n"), "y = R.sum(x, axis=[0, 2])", 1e-6),
    (tensor("x", 2, "m", 3, "n"), "y = R.mean(x, axis=[0, 2, 3])", 1e-6),
    (tensor("x", 2, "m", 3, "n"), "y = R.max(x, axis=[1, 2])", 0),
    (
        ", ".join([tensor("x", 2, "m", "n"), tensor("g", "m"), tensor("b", "m")]),
        "y = R.nn.layer_norm(x, g, b, axes=[1])", 1e-5,
    ),
    (
        ", ".join([tensor("x", 2, "m", 3, "n"), *(tensor(k, "m") for k in "gbcd")]),
        "h = R.nn.batch_norm(x, g, b, c, d, axis=1)\ny = h[0]", 1e-5,
    ),
    (tensor("x", 1, 3, 9, 12), "y = R.nn.max_pool2d(x, pool_size=3, strides=2, padding=1)", 0),
    (tensor("x", 2, 3, 37), "y = R.nn.avg_pool1d(x, pool_size=2, strides=2)", 0),
    (
        ", ".join([tensor("x", 1, 4, 9, 40), tensor("w", 4, 1, 3, 3)]),
        "y = R.nn.conv2d(x, w, strides=2, groups=4)", 0,
    ),
    (tensor("x", "m", "n") + ", " + tensor("w", "n", "p"), "y = R.einsum((x, w), 'ij,jk->ik')", 0),
]  # fmt: skip


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
@pytest.mark.parametrize(("head", "body", "rtol"), REDUCTIONS)
def test_reductions_over_other_axes_compute_the_same(
    head: str, body: str, rtol: float, vector_bytes: int
):
    mod = fused(head, body)
    before = only_prim_func(mod)
    func = by_nests(mod, Processor(vector_bytes, 16))
    for m, n in ((1, 1), (3, 7), (5, 8), (2, 16), (4, 21), (2, 64), (1, 131)):
        assert_same(before, func, {"m": m, "n": n, "p": n + 1}, rtol)


@pytest.mark.parametrize("sizes", [(0, 3), (3, 0), (0, 20)])
def test_no_elements_give_the_first_value(sizes: tuple[int, int]):
    mod = fused(X, "y = R.sum(x, axis=0)")
    assert_same(only_prim_func(mod), by_nests(mod), {"m": sizes[0], "n": sizes[1]}, 0)


def test_results_are_put_together_side_by_side_in_the_order_of_the_loops():
    head = 'A: T.Buffer((5, 11), "float32"), B: T.Buffer((11,), "float32")'
    before = """
for j, k in T.grid(11, 5):
    with T.block("B"):
        vj, vk = T.axis.remap("SR", [j, k])
        with T.init():
            B[vj] = T.float32(0)
        B[vj] = B[vj] + A[vk, vj]
"""
    block = """
with T.allocate([T.int64({size})], "float32", "global") as {name}_data:
    {name} = T.decl_buffer(({size},), data={name}_data)
    for u in T.unroll({count}):
        {name}[T.Ramp(u * 4, 1, 4)] = T.Broadcast(T.float32(0), 4)
    for k in range(5):
        for u in T.unroll({count}):
            {name}[T.Ramp(u * 4, 1, 4)] = (
                {name}[T.Ramp(u * 4, 1, 4)] + A[k, T.Ramp({first}, 1, 4)]
            )
    for u in T.unroll({count}):
        B[T.Ramp({first}, 1, 4)] = {name}[T.Ramp(u * 4, 1, 4)]
"""
    whole = block.format(name="a", size=8, count=2, first="i * 8 + (u * 4)").replace("\n", "\n    ")
    after = f"for i in range(1):{whole}\n" + block.format(
        name="b", size=4, count=1, first="7 + u * 4"
    )
    made = nests(prim_func(head, before), Processor(16, 4))
    assert_structural_equal(made, prim_func(head, after))


@pytest.mark.parametrize(
    "body", ["y = R.sum(x, axis=-1)", "y = R.nn.max_pool1d(x, pool_size=3, strides=3)"]
)
def test_what_vectors_cost_more_for_is_left_as_it_is(body: str):
    mod = fused(tensor("x", 5, 4, 3), body)
    assert nests(only_prim_func(mod), EIGHT) is None


def test_partial_results_of_columns_are_kept_in_registers():
    kernel = compile_prim_funcs({"f": by_nests(fused(X, "y = R.max(x, axis=0)"))})["f"]
    assert "alloca [64 x float]" in kernel.llvm_ir
    assert "alloca" not in kernel.optimised_ir


def test_a_sum_over_several_axes_of_which_one_is_the_last_has_a_bound():
    mod = fused(tensor("x", 3, 2, 40, dtype="float64"), "y = R.sum(x, axis=[0, 2])")
    x = np.random.default_rng(1).standard_normal((3, 2, 40))
    found = np.empty(2)
    compile_prim_funcs({"f": by_nests(mod)})["f"](x, found)
    exact = x.astype("longdouble").sum((0, 2))
    bound = np.finfo("float64").eps * 120 * np.abs(x.astype("longdouble")).sum((0, 2))
    assert (np.abs(found - exact) <= bound).all()


# ------------------------------------------------------------------ groups


GROUPS = [
    (
        tensor("x", 2, 6, "n", 8),
        "h = R.permute_dims(x, [0, 2, 1, 3])\ny = R.reshape(h, (2, n, 48))",
    ),
    (tensor("x", 3, 12), "h = R.reshape(x, (3, 3, 4))\ny = R.permute_dims(h, [1, 0, 2])"),
    (tensor("x", 5, 7, 40), "h = R.permute_dims(x, [1, 0, 2])\ny = R.reshape(h, (7, 200))"),
]


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
@pytest.mark.parametrize(("head", "body"), GROUPS)
def test_axes_that_are_put_together_are_copied_once(head: str, body: str, vector_bytes: int):
    mod = fused(head, body)
    func = by_nests(mod, Processor(vector_bytes, 16))
    assert not any(isinstance(node, (Allocate, FloorDiv, FloorMod)) for node in walk(func.body))
    for n in (1, 5):
        assert_same(only_prim_func(mod), func, {"n": n}, 0)


def test_a_row_of_groups_is_a_loop_over_groups_and_one_inside():
    head = 'A: T.Buffer((3, 8), "float32"), B: T.Buffer((24,), "float32")'
    before = """
for i in range(24):
    B[i] = A[i // 8, i % 8]
"""
    after = """
for g, k in T.grid(3, 2):
    B[T.Ramp(g * 8 + k * 4, 1, 4)] = A[g, T.Ramp(k * 4, 1, 4)]
"""
    made = nests(prim_func(head, before), Processor(16, 4))
    assert_structural_equal(made, prim_func(head, after))


# ------------------------------------------------------------------ conditions


PIECES = [
    (tensor("x", 2, 3, 5, 9), "y = R.nn.pad(x, [0, 0, 0, 0, 1, 1, 1, 2])"),
    (tensor("x", 2, 3, 5, 9), "y = R.nn.pad(x, [1, 0, 0, 2, 0, 1, 9, 9], pad_value=3.5)"),
    (f"{tensor('x', 3, 8)}, {tensor('z', 2, 8)}", "y = R.concat((x, z), axis=0)"),
    (f"{tensor('x', 3, 8)}, {tensor('z', 3, 5)}", "y = R.concat((x, z), axis=1)"),
    (
        f"{tensor('x', 3, 1)}, {tensor('z', 3, 16)}, {tensor('w', 3, 4)}",
        "h = R.concat((x, z, w), axis=1)\ny = R.nn.relu(h)",
    ),
    (tensor("x", 1, 4, 9, 11), "y = R.nn.max_pool2d(x, pool_size=3, strides=1, padding=1)"),
    (
        tensor("x", 1, 9, 11, 4),
        "y = R.nn.max_pool2d(x, pool_size=3, strides=2, padding=1, layout='NHWC')",
    ),
    (
        tensor("x", 1, 9, 11, 6),
        "y = R.nn.avg_pool2d(x, pool_size=2, strides=2, ceil_mode=True, layout='NHWC')",
    ),
    (tensor("x", 2, 4, 13), "y = R.nn.avg_pool1d(x, pool_size=3, strides=1, padding=1)"),
    (tensor("x", 3, 20), "y = R.tile(x, (2, 3))"),
    (tensor("x", 3, 20), "y = R.roll(x, 3, axis=1)"),
    (tensor("x", 7, 20), "y = R.roll(x, [-3, 19], axis=[0, 1])"),
    (tensor("x", 4, 20), "h = R.roll(x, 5, axis=1)\ny = R.nn.relu(h)"),
    (tensor("x", 1, 2, 6, 20), "y = R.nn.pad(x, [0, 0, 0, 0, 1, 1, 2, 3], pad_mode='reflect')"),
    (
        f"{tensor('x', 1, 4, 9, 11)}, {tensor('w', 4, 1, 3, 3)}",
        "y = R.nn.conv2d(x, w, padding=1, groups=4)",
    ),
]


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
@pytest.mark.parametrize(("head", "body"), PIECES)
def test_what_depends_on_where_an_element_is_computes_the_same(
    head: str, body: str, vector_bytes: int
):
    mod = fused(head, body)
    func = by_nests(mod, Processor(vector_bytes, 16))
    assert not any(isinstance(node, Call) and "if_then" in str(node.op) for node in walk(func.body))
    assert_same(only_prim_func(mod), func, {}, 0)


@pytest.mark.parametrize(
    "condition", ["i >= 1 and i < 9", "1 <= i and 9 > i", "i > 0 and 8 >= i", "0 < i and i <= 8"]
)
def test_a_row_between_two_edges_is_three_loops(condition: str):
    head = 'A: T.Buffer((8,), "float32"), B: T.Buffer((10,), "float32")'
    before = f"""
for i in range(10):
    B[i] = T.if_then_else({condition}, A[i - 1], T.float32(0))
"""
    after = """
for i in range(1):
    B[i] = T.float32(0)
for i in range(2):
    B[T.Ramp(i * 4 + 1, 1, 4)] = A[T.Ramp(i * 4 + 1 - 1, 1, 4)]
for i in range(1):
    B[i + 1 + 8] = T.float32(0)
"""
    made = nests(prim_func(head, before), Processor(16))
    assert_structural_equal(from_source(made.script()), made)
    expected = prim_func(head, after)
    assert_same(prim_func(head, before), made, {}, 0)
    assert_same(expected, made, {}, 0)
    assert str(made.body).count("for ") == 3


def test_elements_that_are_read_round_and_round_are_a_loop_for_each_round():
    head = 'A: T.Buffer((8,), "float32"), B: T.Buffer((16,), "float32")'
    before = "for i in range(16):\n    B[i] = A[(i - 4) % 8]"
    after = """
for i in range(1):
    B[T.Ramp(i * 4, 1, 4)] = A[T.Ramp(i * 4 + 4, 1, 4)]
for i in range(2):
    B[T.Ramp(i * 4 + 4, 1, 4)] = A[T.Ramp(i * 4, 1, 4)]
for i in range(1):
    B[T.Ramp(i * 4 + 12, 1, 4)] = A[T.Ramp(i * 4, 1, 4)]
"""
    made = nests(prim_func(head, before), Processor(16))
    assert made is not None
    assert_same(prim_func(head, before), made, {}, 0)
    assert_same(prim_func(head, after), made, {}, 0)
    assert made.script().count("for ") == 3
    assert "%" not in made.script()


def test_a_size_that_is_not_known_splits_a_loop_where_it_is_inside():
    head = f"{tensor('x', 'm', 'n')}, {tensor('z', 'm', 'n')}"
    mod = fused(head, "y = R.concat((x, z), axis=0)")
    func = by_nests(mod)
    for m, n in ((0, 3), (1, 1), (3, 8), (2, 21)):
        assert_same(only_prim_func(mod), func, {"m": m, "n": n}, 0)


# ------------------------------------------------------------------ what is left alone

PLAIN = """
for j, k in T.grid(16, 5):
    with T.block("B"):
        vj, vk = T.axis.remap("SR", [j, k])
        with T.init():
            B[vj] = T.float32(0)
        B[vj] = {value}
{behind}
"""
HEAD = 'A: T.Buffer((5, 16), "float32"), B: T.Buffer((16,), "float32")'


@pytest.mark.parametrize(
    ("value", "behind"),
    [
        ("B[vj] - A[vk, vj]", ""),
        ("B[vj] + A[vk, vj * 3 % 17]", ""),  # fails
        ("B[vj] + A[vk, vj] * B[vj]", ""),
        ("B[vj] + A[vk, vj]", "for j in range(16):\n    B[j] = A[0, j]"),  # stored twice
        ("B[vj] + A[vk, vj]", "for j in range(16):\n    A[0, j] = B[j]"),  # read before
        ("B[vj] + T.if_then_else(vj < vk, A[vk, vj], A[vk, vj + 1])", ""),
    ],
)
def test_other_functions_are_left_as_they_are(value: str, behind: str):
    good = PLAIN.format(value="B[vj] + A[vk, vj]", behind="")
    assert nests(prim_func(HEAD, good), EIGHT) is not None
    assert nests(prim_func(HEAD, PLAIN.format(value=value, behind=behind)), EIGHT) is None


@pytest.mark.parametrize(
    "body",
    [
        "for j in range(8):\n    B[j] = T.float32(0)\n"  # only some begin with zero
        "for j, k in T.grid(16, 5):\n    B[j] = B[j] + A[k, j]",
        "for j, k in T.grid(16, 5):\n    B[j] = B[j] + A[k, j]",
        "for j in range(16):\n    B[j] = A[0, j]\n"
        "for j, k in T.grid(16, 5):\n    B[j] = B[j] + A[k, j]",
        "for j in range(16):\n    B[15 - j] = T.float32(0)\n"
        "for j, k in T.grid(16, 5):\n    B[j // 2] = B[j // 2] + A[k, j]",
        "while True:\n    T.evaluate(0)",
    ],
)
def test_reductions_that_begin_with_something_else_are_left_as_they_are(body: str):
    assert nests(prim_func(HEAD, body), EIGHT) is None


@pytest.mark.parametrize("value", ["{0} * T.float32(2)", "{0} + T.float32(2)", "T.float32(2)"])
def test_what_is_done_to_an_element_again_is_done_to_what_it_was(value: str):
    """A product with a number is no first value of the product behind it."""
    step = (
        f"for i, j in T.grid(T.int64(5), T.int64(16)):\n    A[i, j] = {value.format('A[i, j]')}\n"
    )
    given = prim_func(HEAD, step + step.replace(value.format("A[i, j]"), "A[i, j] * B[j]"))
    made = ApplyDefaultSchedule()(IRModule({"f": given}))["f"]
    arrays = [np.arange(1, 81, dtype="float32").reshape(5, 16), np.full(16, 3, "float32")]
    expected, found = ([array.copy() for array in arrays] for _ in range(2))
    evaluate(given, expected)
    compile_prim_funcs({"f": made})["f"](*found)
    assert bits(found[0]) == bits(expected[0])


def test_a_reduction_of_one_element_has_no_loops_to_arrange():
    text = """
@T.prim_func
def least(a: T.Buffer((1,), "uint8"), out: T.Buffer((), "uint8")):
    T.func_attr({"tir.noalias": True})
    with T.block("least"):
        with T.init():
            out[()] = T.uint8(255)
        out[()] = T.min(out[()], a[0])
"""
    assert nests(from_source(text), EIGHT) is None


def test_parameters_that_may_share_memory_are_left_as_they_are():
    good = PLAIN.format(value="B[vj] + A[vk, vj]", behind="")
    assert nests(prim_func(HEAD, good, noalias=False), EIGHT) is None


@pytest.mark.parametrize("vector_bytes", [16, 32])
def test_fused_programs_compute_the_same_nest_by_nest(vector_bytes: int):
    processor = Processor(vector_bytes, 16)
    assert_same_on_fused_programs(lambda func, _: nests(func, processor))


def test_this_processor_arranges_nests():
    assert by_nests(fused(X, "y = R.sum(x, axis=0)"), this_processor()) is not None


# ------------------------------------------------------------------ axes in another order

PERMUTED = [
    (tensor("x", "m", "n"), "y = R.permute_dims(x)"),
    (tensor("x", 2, "m", 3, "n"), "y = R.permute_dims(x, axes=[0, 2, 3, 1])"),
    (tensor("x", "m", 4, "n"), "y = R.permute_dims(x, axes=[2, 1, 0])"),
    (tensor("x", 32, 16), "y = R.permute_dims(x)"),
    (tensor("x", 2, 5, 33), "h = R.permute_dims(x, axes=[0, 2, 1])\ny = R.nn.relu(h)"),
    (tensor("x", 70, 9, dtype="int8"), "y = R.permute_dims(x)"),
    (tensor("x", 9, 20, dtype="float64"), "y = R.permute_dims(x)"),
    (f"{tensor('x', 'm', 'n')}, {tensor('z', 'n', 'm')}", "y = R.add(R.permute_dims(x), z)"),
]


@pytest.mark.parametrize(("head", "body"), PERMUTED)
def test_axes_in_another_order_are_copied_block_by_block(head: str, body: str):
    mod = fused(head, body)
    func = by_nests(mod)
    assert "_block" in func.script()
    for m, n in ((0, 3), (1, 1), (16, 32), (17, 15), (3, 50)):
        assert_same(only_prim_func(mod), func, {"m": m, "n": n}, 0)


def test_a_block_is_as_long_as_a_line_of_the_cache():
    head = 'A: T.Buffer((32, 16), "float32"), B: T.Buffer((16, 32), "float32")'
    before = "for i, j in T.grid(16, 32):\n    B[i, j] = A[j, i]"
    after = """
for a, b in T.grid(1, 2):
    for i in range(16):
        for j in T.unroll(16):
            B[a * 16 + i, b * 16 + j] = A[b * 16 + j, a * 16 + i]
"""
    made = nests(prim_func(head, before), EIGHT)
    assert_structural_equal(made, prim_func(head, after))
