"""Programs in which memory has two names or decides how loops run, or calls have effects."""

from __future__ import annotations

import pytest

from relaxscript.script import tir as T
from relaxscript.tir import Schedule

from .scheduled import check, refused


@T.prim_func
def named_twice(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
    A = T.alloc_buffer((4,))
    B = T.decl_buffer((4,), data=A.data)
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            A[vi] = X[vi]
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            Y[vi] = B[vi]


def test_memory_of_several_names_is_neither_inlined_nor_copied():
    sch = Schedule(named_twice)
    (i,) = sch.get_loops("B")
    for step in (
        lambda: sch.compute_inline("A"),
        lambda: sch.compute_at("A", i),
    ):
        refused(
            sch, step, "`A` is not written by the block `A` alone", "uses the memory of `A` too"
        )
    for step in (
        lambda: sch.cache_write("A", 0, "local"),
        lambda: sch.cache_read("B", 0, "local"),
    ):
        refused(sch, step, "so it has no copy")


def test_names_of_one_memory_share_its_elements():
    @T.prim_func
    def shift(X: T.Buffer((4,), "float32")):
        Y = T.decl_buffer((4,), data=X.data)
        for i in range(3):
            with T.block("b"):
                vi = T.axis.spatial(3, i)
                Y[vi + 1] = X[vi]

    sch = Schedule(shift)
    (i,) = sch.get_loops("b")
    refused(sch, lambda: sch.parallel(i), "they share elements of")


def test_loops_that_memory_decides_about_stay_as_they_are():
    @T.prim_func
    def shrink(X: T.Buffer((4,), "int32"), Y: T.Buffer((8, 4), "int32")):
        for i in range(T.min(X[0], 8)):
            for j in range(4):
                with T.block("b"):
                    vi = T.axis.spatial(8, i)
                    vj = T.axis.spatial(4, j)
                    T.reads(X[0:4])
                    T.writes(Y[vi, vj], X[0])
                    Y[vi, vj] = 1
                    X[0] = 2

    sch = Schedule(shrink)
    i, j = sch.get_loops("b")
    words = "how often the loop `i` runs is read from memory"
    refused(sch, lambda: sch.split(i, [None, 4]), words, "cannot be split")
    refused(sch, lambda: sch.fuse(i, j), words, "cannot be fused")
    refused(sch, lambda: sch.reorder(j, i), words, "cannot be reordered")
    sch.unroll(j)
    check(shrink, sch)


@T.prim_func
def local_value(X: T.Buffer((4,), "int32"), Y: T.Buffer((4,), "int32")):
    A = T.alloc_buffer((4,), "int32")
    for i in range(4):
        x: T.int32 = X[i] * 2
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            A[vi] = x
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            Y[vi] = A[vi]


def test_a_block_stays_where_its_variables_have_values():
    sch = Schedule(local_value)
    (a,), (b,) = sch.get_loops("A"), sch.get_loops("B")
    refused(sch, lambda: sch.compute_inline("A"), "a block would use `x` where it has no value")
    refused(sch, lambda: sch.compute_at("A", b), "a block would use `x` where it has no value")
    sch.reverse_compute_at("B", a)
    check(local_value, sch)


@pytest.mark.parametrize("step", ["compute_inline", "compute_at"])
def test_calls_with_effects_are_made_as_often_as_they_were(step):
    @T.prim_func
    def noisy(X: T.Buffer((4,), "int32"), Y: T.Buffer((4,), "int32")):
        A = T.alloc_buffer((4,), "int32")
        for i in range(4):
            with T.block("A"):
                vi = T.axis.spatial(4, i)
                A[vi] = T.call_extern("int32", "rand", X[vi])
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                Y[vi] = A[vi]

    sch = Schedule(noisy)
    loops = sch.get_loops("B") if step == "compute_at" else []
    refused(sch, lambda: getattr(sch, step)("A", *loops), "calls what may have effects")


def test_a_sum_where_an_element_says_so_begins_where_it_did():
    @T.prim_func
    def chosen(X: T.Buffer((4,), "int32"), Y: T.Buffer((1,), "int32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.reduce(4, i)
                T.where(X[i] > 0)
                with T.init():
                    Y[0] = 0
                Y[0] = Y[0] + X[vi]

    sch = Schedule(chosen)
    (i,) = sch.get_loops("b")
    refused(sch, lambda: sch.decompose_reduction("b", i), "is not told of elements and of the sum")


def test_very_many_iterations_are_counted_in_int64():
    @T.prim_func
    def many(X: T.Buffer((1,), "int32")):
        for i, j in T.grid(1 << 20, 1 << 20):
            with T.block("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.where(i < 0)
                X[0] = 1

    sch = Schedule(many)
    loop = sch.fuse(*sch.get_loops("b"))
    assert str(sch.get(loop).loop_var.dtype) == "int64"
    assert sch.get(loop).extent.value == 1 << 40
