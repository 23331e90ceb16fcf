"""Producers and consumers moved into loops: before and after, and what is refused."""

from __future__ import annotations

import pytest

from relaxscript import IRModule
from relaxscript.script import tir as T
from relaxscript.tir import Schedule, ScheduleError

from .scheduled import body_of, chain, check, matmul, refused, stencil


def test_a_producer_computes_what_an_iteration_reads():
    sch = Schedule(chain)
    sch.compute_inline("B")
    i, _ = sch.get_loops("C")
    sch.compute_at("A", i)
    text = body_of(check(chain, sch))
    assert text.index("for i in range(6):") < text.index("for ax0 in range(10):")
    assert "vi = T.axis.spatial(6, i)" in text or 'T.axis.remap("SS", [i, ax0])' in text


def test_a_producer_of_a_window_computes_some_elements_again():
    sch = Schedule(stencil)
    (i,) = sch.get_loops("B")
    outer, _ = sch.split(i, [None, 3])
    sch.compute_at("A", outer)
    text = body_of(check(stencil, sch))
    assert "for ax0 in range(5):" in text
    assert "T.where(i_0 * 3 + ax0 < 10)" in text
    sch.parallel(outer)
    check(stencil, sch)


@T.prim_func
def smooth(X: T.Buffer((10, 3), "float32"), Y: T.Buffer((8,), "float32")):
    A = T.alloc_buffer((10,), "float32")
    for i, k in T.grid(10, 3):
        with T.block("A"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                A[vi] = T.float32(0)
            A[vi] = A[vi] + X[vi, vk]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi] + A[vi + 2]


def test_a_loop_that_is_parallel_takes_in_no_sums_that_its_iterations_share():
    sch = Schedule(smooth)
    (i,) = sch.get_loops("B")
    outer, _ = sch.split(i, [None, 3])
    sch.parallel(outer)
    refused(
        sch, lambda: sch.compute_at("A", outer),
        "the iterations of the loop `i_0`, which is parallel, would not be independent",
        "take this step before the loop is made so",
    )  # fmt: skip
    serial = Schedule(smooth)
    (i,) = serial.get_loops("B")
    serial.compute_at("A", i)
    check(smooth, serial)


def test_iterations_that_use_what_others_compute_are_not_parallel():
    @T.prim_func
    def turns(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):
        A = T.alloc_buffer((8,))
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[vi] = X[vi]
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                Y[vi] = A[T.max(vi - 1, 0)]

    sch = Schedule(turns)
    (i,) = sch.get_loops("A")
    refused(sch, lambda: sch.parallel(i), "they share elements of `A`", "block `B` reads `A`")

    @T.prim_func
    def same(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):
        A = T.alloc_buffer((1,))
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[0] = X[vi]
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                Y[vi] = A[0]

    sch = Schedule(same)
    (i,) = sch.get_loops("A")
    refused(sch, lambda: sch.vectorize(i), "they share elements of `A`")


def test_a_consumer_uses_what_an_iteration_has_computed():
    sch = Schedule(matmul)
    copy = sch.cache_write("C", 0, "local")
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    j_0, j_1 = sch.split(j, [None, 8])
    sch.reorder(i, j_0, k, j_1)
    sch.reverse_compute_at(copy, j_0)
    text = body_of(check(matmul, sch))
    assert "for i, j_0 in T.grid(12, 2):" in text
    assert "v1 = T.axis.spatial(16, j_0 * 8 + ax0)" in text


def test_loops_of_one_iteration_stay_when_they_are_wanted():
    for kept in (False, True):
        sch = Schedule(chain)
        sch.compute_inline("B")
        i, j = sch.get_loops("C")
        sch.compute_at("A", j, preserve_unit_loops=kept)
        assert len(sch.get_loops("A")) == (4 if kept else 2)
        check(chain, sch)


def test_symbolic_loops_take_in_blocks_with_a_condition():
    @T.prim_func
    def rows(X: T.Buffer(("n",), "float32"), Y: T.Buffer(("n",), "float32")):
        n = T.int64()
        A = T.alloc_buffer((n,))
        for i in range(n):
            with T.block("A"):
                vi = T.axis.spatial(n, i)
                A[vi] = X[vi] + T.float32(1)
        for i in range(n):
            with T.block("B"):
                vi = T.axis.spatial(n, i)
                Y[vi] = A[vi] * A[vi]

    sch = Schedule(rows)
    (i,) = sch.get_loops("B")
    outer, inner = sch.split(i, [None, 4])
    sch.compute_at("A", outer)
    sch.parallel(outer)
    sch.vectorize(inner)
    text = body_of(check(rows, sch, sizes=(0, 1, 4, 7)))
    assert text.count("T.where") == 2
    other = Schedule(rows)
    (i,) = other.get_loops("A")
    outer, _ = other.split(i, [None, 4])
    other.reverse_compute_at("B", outer)
    check(rows, other, sizes=(0, 1, 4, 7))


def test_elements_that_are_read_in_some_iterations_only_are_computed_where_they_are():
    @T.prim_func
    def shifted(X: T.Buffer((9,), "float32"), Y: T.Buffer((9,), "float32")):
        A = T.alloc_buffer((9,))
        for i in range(9):
            with T.block("A"):
                vi = T.axis.spatial(9, i)
                A[vi] = X[vi] * T.float32(2)
        for i in range(9):
            with T.block("B"):
                vi = T.axis.spatial(9, i)
                Y[vi] = T.if_then_else(vi >= 2, A[vi - 2], T.float32(0)) + A[8 - vi]

    sch = Schedule(shifted)
    outer, _ = sch.split(sch.get_loops("B")[0], [None, 2])
    sch.compute_at("A", outer)
    sch.parallel(outer)
    assert "+ ax0 >= 0)" in body_of(check(shifted, sch))


def test_a_block_is_put_where_the_index_says():
    sch = Schedule(chain)
    i, _ = sch.get_loops("C")
    sch.compute_at("B", i)
    early = sch.copy()
    early.compute_at("A", i, index=-2)
    check(chain, early)
    sch.compute_at("A", i, index=0)
    check(chain, sch)
    late = Schedule(chain)
    i, _ = late.get_loops("A")
    late.reverse_compute_at("B", i)
    late.reverse_compute_at("C", i, index=2)
    check(chain, late)
    other = Schedule(chain)
    i, _ = other.get_loops("C")
    refused(other, lambda: other.compute_at("B", i, index=1), "before statement 0 to 0 of the loop")
    refused(other, lambda: other.compute_at("B", i, index="last"), "not last")


def test_a_loop_must_be_around_all_that_reads():
    sch = Schedule(chain)
    i, _ = sch.get_loops("B")
    refused(
        sch, lambda: sch.compute_at("A", i), "`A` is read outside of the loop `i` too",
        "choose a loop that is around all that reads it",
    )  # fmt: skip


def test_a_block_does_not_move_where_it_is_or_has_no_place():
    sch = Schedule(chain)
    i, _ = sch.get_loops("A")
    refused(sch, lambda: sch.compute_at("A", i), "the block `A` is in the loop `i` already")
    last = sch.get_loops("C")[0]
    refused(sch, lambda: sch.reverse_compute_at("C", last), "in the loop `i` already")
    refused(
        sch, lambda: sch.compute_at("C", i),
        "`Y`, which exists outside of the scope, so it cannot be computed there",
    )  # fmt: skip
    refused(sch, lambda: sch.reverse_compute_at("A", last), "nothing in the loop `i` computes what")

    @T.prim_func
    def nested(X: T.Buffer((4, 4), "float32"), Y: T.Buffer((4, 4), "float32")):
        A = T.alloc_buffer((4, 4))
        for i in range(4):
            with T.block("outer"):
                vo = T.axis.spatial(4, i)
                for j in range(4):
                    with T.block("A"):
                        vi = T.axis.spatial(4, vo)
                        vj = T.axis.spatial(4, j)
                        A[vi, vj] = X[vi, vj]
        for i, j in T.grid(4, 4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = A[vi, vj]

    inner = Schedule(nested)
    i, j = inner.get_loops("B")
    refused(inner, lambda: inner.compute_at("A", i), "is not in the scope of the block `A`")
    inner.reorder(j, i)
    inner.vectorize(inner.get_loops("A")[0])
    check(nested, inner)


def test_unknown_elements_and_unused_buffers_have_no_loop():
    @T.prim_func
    def gather(P: T.Buffer((4,), "int32"), X: T.Buffer((4,), "int32"), Y: T.Buffer((4,), "int32")):
        A = T.alloc_buffer((4,), "int32")
        B = T.alloc_buffer((4,), "int32")
        for i in range(4):
            with T.block("A"):
                vi = T.axis.spatial(4, i)
                A[vi] = X[vi]
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = X[vi]
        for i in range(4):
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                Y[vi] = A[T.max(0, T.min(P[vi], 3))]

    sch = Schedule(gather)
    (i,) = sch.get_loops("C")
    refused(
        sch, lambda: sch.compute_at("A", i),
        "the elements of `A` that an iteration of `i` reads are not known",
    )  # fmt: skip
    refused(sch, lambda: sch.compute_at("B", i), "that an iteration of `i` reads are not known")
    (a,) = sch.get_loops("A")
    refused(sch, lambda: sch.reverse_compute_at("C", a), "or not read by the axes of `C`")
    sch.compute_inline("A")
    sch.compute_inline("B")
    check(gather, sch)


def test_a_sum_is_not_moved_to_a_part_of_what_it_sums():
    @T.prim_func
    def total(X: T.Buffer((4, 6), "float32"), Y: T.Buffer((4,), "float32")):
        A = T.alloc_buffer((4, 6))
        for i, j in T.grid(4, 6):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = X[vi, vj] * T.float32(2)
        for i, j in T.grid(4, 6):
            with T.block("total"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + A[vi, vj]

    sch = Schedule(total)
    i, j = sch.get_loops("A")
    refused(sch, lambda: sch.reverse_compute_at("total", j), "sums over `vj`", "`sch.compute_at`")
    i, j = sch.get_loops("total")
    sch.compute_at("A", i)
    check(total, sch)


def test_a_consumer_does_not_use_sums_that_are_not_finished():
    sch = Schedule(matmul)
    copy = sch.cache_write("C", 0, "local")
    i, j, k = sch.get_loops("C")
    sch.reorder(k, i, j)
    refused(
        sch, lambda: sch.reverse_compute_at(copy, j),
        "the block `C_local` cannot move: elements of `C_local` would change in between",
    )  # fmt: skip


def test_what_is_read_before_it_is_written_does_not_move():
    @T.prim_func
    def early(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
        A = T.alloc_buffer((4,))
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                Y[vi] = A[vi]
        for i in range(4):
            with T.block("A"):
                vi = T.axis.spatial(4, i)
                A[vi] = X[vi]

    sch = Schedule(early)
    (i,) = sch.get_loops("B")
    refused(sch, lambda: sch.compute_at("A", i), "the block `A` cannot move: elements of `A` would")


def test_axes_that_keep_an_order_do_not_move():
    @T.prim_func
    def scan(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
        A = T.alloc_buffer((4,))
        for i in range(4):
            with T.block("A"):
                vi = T.axis.opaque(4, i)
                A[vi] = X[vi]
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                Y[vi] = A[vi]

    sch = Schedule(scan)
    (i,) = sch.get_loops("B")
    refused(sch, lambda: sch.compute_at("A", i), "the axis `vi` of the block `A` keeps an order")


def test_a_loop_of_another_function_is_not_taken():
    sch = Schedule(IRModule({"first": chain, "second": stencil}))
    i, _ = sch.get_loops(sch.get_block("C", "first"))
    block = sch.get_block("A", "second")
    before = str(sch.trace)
    with pytest.raises(ScheduleError, match="the loop and the block are of several functions"):
        sch.compute_at(block, i)
    assert str(sch.trace) == before
