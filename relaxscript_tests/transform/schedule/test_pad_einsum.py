"""Sums of products over padded sizes."""

from __future__ import annotations

import pytest

from relaxscript.script import tir as T
from relaxscript.tir import Schedule

from .scheduled import body_of, chain, check, matmul, refused


@T.prim_func
def odd(
    A: T.Buffer((7, 5), "float32"), B: T.Buffer((5, 9), "float32"), C: T.Buffer((7, 9), "float32")
):
    for i, j, k in T.grid(7, 9, 5):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


def test_axes_get_multiples_as_sizes():
    sch = Schedule(odd)
    block = sch.get_block("C")
    sch.pad_einsum(block, [4, 8, 4])
    text = body_of(check(odd, sch))
    assert "A_pad = T.alloc_buffer((8, 8))" in text
    assert "T.if_then_else(v0 < 7 and v1 < 5, A[v0, v1], T.float32(0.0))" in text
    assert "for i, j, k in T.grid(8, 16, 8):" in text
    assert "C[v0, v1] = C_pad[v0, v1]" in text
    i, j, k = sch.get_loops(block)
    _, inner = sch.split(j, [None, 8])
    sch.reorder(k, inner)
    sch.vectorize(inner)
    check(odd, sch)
    assert "T.where" not in sch.mod.script()


def test_only_what_grows_is_copied():
    sch = Schedule(odd)
    sch.pad_einsum("C", [7, 3, 5])
    assert "pad" not in body_of(check(odd, sch))
    sch.pad_einsum("C", [1, 4, 1])
    text = body_of(check(odd, sch))
    assert "A_pad" not in text
    assert "B_pad = T.alloc_buffer((5, 12))" in text


def test_symbolic_sizes_are_padded():
    @T.prim_func
    def rows(
        A: T.Buffer(("n", 5), "float32"), B: T.Buffer((5, 6), "float32"),
        C: T.Buffer(("n", 6), "float32"),
    ):  # fmt: skip
        n = T.int64()
        for i, j, k in T.grid(n, 6, 5):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    sch = Schedule(rows)
    sch.pad_einsum("C", [8, 1, 2])
    check(rows, sch, sizes=(0, 3, 8))
    outer, inner = sch.split(sch.get_loops("C")[0], [None, 8])
    assert "T.where" not in sch.mod.script()
    check(rows, sch, sizes=(0, 3, 8))


def test_elementwise_products_are_padded():
    @T.prim_func
    def product(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                B[vi] = A[vi] * A[vi] * T.float32(2)

    sch = Schedule(product)
    sch.pad_einsum("B", [4])
    check(product, sch)


@pytest.mark.parametrize("padding", [[4, 4], 4, [4, 4, 0], [4, 4, "4"], [True, 1, 1]])
def test_each_axis_has_a_number(padding):
    sch = Schedule(odd)
    refused(sch, lambda: sch.pad_einsum("C", padding), "a number above 0 for each of the 3 axes")


def test_what_is_no_sum_of_products_is_not_padded():
    sch = Schedule(chain)
    refused(sch, lambda: sch.pad_einsum("A", [4, 4]), "is no sum of products of elements")

    @T.prim_func
    def highest(A: T.Buffer((7, 5), "float32"), B: T.Buffer((7,), "float32")):
        for i, k in T.grid(7, 5):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(-100)
                B[vi] = T.max(B[vi], A[vi, vk])

    sch = Schedule(highest)
    refused(sch, lambda: sch.pad_einsum("B", [1, 4]), "is no sum of products of elements")

    @T.prim_func
    def scaled(
        A: T.Buffer((7, 5), "float32"), S: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")
    ):
        for i, k in T.grid(7, 5):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk] * S[vi]

    sch = Schedule(scaled)
    refused(sch, lambda: sch.pad_einsum("B", [1, 4]), "cannot be padded with zeros")
    sch.pad_einsum("B", [4, 1])
    check(scaled, sch)


def test_a_block_is_padded_before_its_loops_change():
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    sch.split(k, [None, 4])
    refused(
        sch, lambda: sch.pad_einsum("C", [5, 5, 5]), "the axis `vk` of the block `C` is not one"
    )
    moved = Schedule(matmul)
    copy = moved.cache_read("C", 0, "local")
    moved.compute_at(copy, moved.get_loops("C")[0])
    refused(moved, lambda: moved.pad_einsum("C", [5, 5, 5]), "`C` is not alone in its loops")


def test_a_block_that_reads_a_part_is_not_padded():
    @T.prim_func
    def part(A: T.Buffer((7, 5), "float32"), B: T.Buffer((4,), "float32")):
        for i, k in T.grid(4, 5):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]

    sch = Schedule(part)
    refused(sch, lambda: sch.pad_einsum("B", [3, 1]), "does not go through all of `A`")
