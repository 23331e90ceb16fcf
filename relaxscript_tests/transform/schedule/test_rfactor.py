"""Partial sums: before and after, and what is refused."""

from __future__ import annotations

import pytest

from relaxscript.script import tir as T
from relaxscript.tir import Schedule

from .scheduled import body_of, check, matmul, refused


@T.prim_func
def total(X: T.Buffer((4, 30), "float32"), Y: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 30):
        with T.block("total"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(3)
            Y[vi] = Y[vi] + X[vi, vk]


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_each_iteration_gets_an_accumulator(axis):
    sch = Schedule(total)
    block = sch.get_block("total")
    i, k = sch.get_loops(block)
    k_0, k_1 = sch.split(k, [None, 8])
    partial = sch.rfactor(k_0, axis)
    text = body_of(check(total, sch))
    assert f"Y_rf = T.alloc_buffer({'(4, 4)'})" in text
    assert sch.get(partial).name_hint == "total_rf"
    assert sch.get(block).name_hint == "total"
    assert "Y[vi] = T.float32(3.0)" in text
    index = "vk_0, vi" if axis == 0 else "vi, vk_0"
    assert f"Y_rf[{index}] = Y_rf[{index}] + X[vi, vk_0 * 8 + vk_1]" in text
    assert f"Y[vi] = Y[vi] + Y_rf[{index}]" in text
    sch.parallel(k_0)
    check(total, sch)


def test_the_sum_of_a_product_has_vectors_of_partial_sums():
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    k_0, k_1 = sch.split(k, [None, 4])
    partial = sch.rfactor(k_1, 2)
    _, _, outer, inner = sch.get_loops(partial)
    sch.decompose_reduction(partial, outer)
    sch.vectorize(inner)
    check(matmul, sch)


@pytest.mark.parametrize("value", ["T.max(Y[vi], X[vi, vk])", "T.min(Y[vi], X[vi, vk])"])
@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_the_largest_and_the_least_are_found_in_parts(value, dtype):
    from relaxscript.script import from_source

    func = from_source(
        f"""
from relaxscript.script import tir as T
@T.prim_func
def main(X: T.Buffer((4, 30), "{dtype}"), Y: T.Buffer((4,), "{dtype}")):
    for i, k in T.grid(4, 30):
        with T.block("b"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.Cast("{dtype}", 0)
            Y[vi] = {value}
""",
        mode="python",
    )
    sch = Schedule(func)
    sch.rfactor(sch.get_loops("b")[1], 0)
    check(func, sch)


def test_products_are_made_in_parts():
    @T.prim_func
    def product(X: T.Buffer((6,), "int64"), Y: T.Buffer((1,), "int64")):
        for k in range(6):
            with T.block("b"):
                vk = T.axis.reduce(6, k)
                with T.init():
                    Y[0] = T.int64(1)
                Y[0] = X[vk] * Y[0]

    sch = Schedule(product)
    _, inner = sch.split(sch.get_loops("b")[0], [2, 3])
    sch.rfactor(inner, 1)
    check(product, sch)


def test_only_loops_of_one_sum_have_partial_sums():
    sch = Schedule(total)
    i, k = sch.get_loops("total")
    refused(sch, lambda: sch.rfactor(i, 0), "the loop `i` is not one over which the block `total`")
    refused(sch, lambda: sch.rfactor(k, 2), "`factor_axis` is a number from -2 to 1, not 2")
    refused(sch, lambda: sch.rfactor(k, "k"), "`factor_axis` is a number from -2 to 1, not 'k'")
    both = Schedule(total)
    fused = both.fuse(*both.get_loops("total"))
    refused(both, lambda: both.rfactor(fused, 0), "is not one over which the block `total` sums")
    init = Schedule(total)
    i, k = init.get_loops("total")
    init.decompose_reduction("total", k)
    refused(init, lambda: init.rfactor(k, 0), "`total_update` is not alone in its loops")
    refused(init, lambda: init.rfactor(i, 0), "there are 2 blocks in the loop `i`")


def test_a_sum_without_a_beginning_has_no_partial_sums():
    @T.prim_func
    def on(X: T.Buffer((4, 6), "float32"), Y: T.Buffer((4,), "float32")):
        for i, k in T.grid(4, 6):
            with T.block("on"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(Y[vi], X[vi, vk])
                Y[vi] = Y[vi] + X[vi, vk]

    sch = Schedule(on)
    _, k = sch.get_loops("on")
    refused(sch, lambda: sch.rfactor(k, 0), "is no sum, product, maximum or minimum that begins in")


def test_each_part_of_a_sum_must_have_a_term():
    @T.prim_func
    def symbolic(X: T.Buffer(("n",), "float32"), Y: T.Buffer((1,), "float32")):
        n = T.int64()
        for k in range(n):
            with T.block("b"):
                vk = T.axis.reduce(n, k)
                with T.init():
                    Y[0] = T.float32(0)
                Y[0] = Y[0] + X[vk]

    sch = Schedule(symbolic)
    outer, inner = sch.split(sch.get_loops("b")[0], [None, 8])
    refused(
        sch, lambda: sch.rfactor(inner, 0), "some iterations of the loop `k_1` may have no part"
    )
    sch.rfactor(outer, 0)
    check(symbolic, sch, sizes=(1, 8, 11))
