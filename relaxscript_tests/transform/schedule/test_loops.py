"""Split, fuse and reorder: before and after, and what is refused."""

from __future__ import annotations

import pytest

from relaxscript.script import tir as T
from relaxscript.tir import Schedule, ScheduleError

from .scheduled import body_of, check, matmul, recurrence, refused, scale, stencil


def test_split_makes_loops_of_the_given_factors():
    sch = Schedule(matmul)
    i, _, _ = sch.get_loops("C")
    outer, inner = sch.split(i, factors=[3, 4])
    assert [sch.get(loop).extent.value for loop in (outer, inner)] == [3, 4]
    assert "vi = T.axis.spatial(12, i_0 * 4 + i_1)" in body_of(check(matmul, sch))
    assert "T.where" not in sch.mod.script()


def test_none_is_the_factor_that_is_needed():
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    sch.split(i, [None, 5])
    sch.split(j, [2, None, 4])
    sch.split(k, [None])
    text = body_of(check(matmul, sch))
    assert "for i_0, i_1, j_0, j_1, j_2, k_0 in T.grid(3, 5, 2, 2, 4, 8):" in text
    assert "T.where(i_0 * 5 + i_1 < 12)" in text


def test_a_symbolic_loop_gets_a_condition_unless_the_factors_divide_it():
    sch = Schedule(scale)
    i, j = sch.get_loops("scale")
    sch.split(i, [None, 4])
    text = body_of(check(scale, sch))
    assert "for i_0, i_1, j in T.grid((n + 3) // 4, T.int64(4), 6):" in text
    assert "T.where(i_0 * 4 + i_1 < n)" in text

    @T.prim_func
    def even(X: T.Buffer(("n", 8), "float32"), Y: T.Buffer(("n", 8), "float32")):
        n = T.int64()
        for i in range(n * 8):
            with T.block("b"):
                vi = T.axis.spatial(n * 8, i)
                Y[vi // 8, vi % 8] = X[vi // 8, vi % 8]

    sch = Schedule(even)
    sch.split(sch.get_loops("b")[0], [None, 4])
    assert "T.where" not in sch.mod.script()


def test_statements_without_a_block_are_guarded_by_a_branch():
    @T.prim_func
    def plain(X: T.Buffer((10,), "float32"), Y: T.Buffer((10,), "float32")):
        for i in range(10):
            with T.block("b"):
                vi = T.axis.spatial(10, i)
                Y[vi] = X[vi]
            X[i] = T.float32(0)

    sch = Schedule(plain)
    sch.split(sch.get_loops("b")[0], [None, 4])
    text = body_of(check(plain, sch))
    assert "if i_0 * 4 + i_1 < 10:" in text
    assert "T.where(i_0 * 4 + i_1 < 10)" in text


def test_a_loop_of_one_iteration_is_named_in_blocks_unless_it_is_asked_not_to_be():
    for kept in (True, False):
        sch = Schedule(matmul)
        sch.split(sch.get_loops("C")[0], [12, 1], preserve_unit_iters=kept)
        check(matmul, sch)
        assert ("i_1)" in sch.mod.script()) == kept


def test_factors_that_do_not_make_up_the_loop_are_refused():
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    refused(sch, lambda: sch.split(i, [2, 5]), "has 12 iterations, of which the factors make up 10")
    refused(sch, lambda: sch.split(i, [None, None]), "None for one of them at most")
    refused(sch, lambda: sch.split(i, []), "None for one of them at most")
    refused(sch, lambda: sch.split(i, [None, 0]), "a loop of 0 iterations is no part of another")
    refused(sch, lambda: sch.split(i, 4), "`factors` is a list of numbers, not")
    refused(sch, lambda: sch.split(i, [None, "4"]), "a factor is a number or None")
    refused(sch, lambda: sch.split(i, [None, 1.5]), "a factor is a number or None")
    refused(sch, lambda: sch.split(i, [None, T.float32(2)]), "a factor is an integer")
    refused(
        sch, lambda: sch.split(i, [None, 5], disable_predication=True),
        "is split into more iterations than it has", "has 12 iterations",
    )  # fmt: skip
    symbolic = Schedule(scale)
    n, _ = symbolic.get_loops("scale")
    refused(symbolic, lambda: symbolic.split(n, [8, 4]), "has n iterations")


def test_fuse_gives_the_parts_by_division():
    sch = Schedule(scale)
    sch.fuse(*sch.get_loops("scale"))
    text = body_of(check(scale, sch))
    assert "vi = T.axis.spatial(n, i_j_fused // 6)" in text
    assert 'vj = T.axis.spatial(6, T.Cast("int32", i_j_fused % 6))' in text


def test_what_is_split_and_fused_is_as_it_was():
    sch = Schedule(matmul)
    i, j, _ = sch.get_loops("C")
    sch.fuse(*sch.split(i, [3, 4]))
    sch.fuse(*sch.split(j, [None, 8]))
    text = body_of(check(matmul, sch))
    assert "for i_0_i_1_fused, j_0_j_1_fused, k in T.grid(12, 16, 8):" in text
    assert 'T.axis.remap("SSR", [i_0_i_1_fused, j_0_j_1_fused, k])' in text


def test_loops_that_start_elsewhere_are_split_and_fused():
    @T.prim_func
    def shifted(X: T.Buffer((9, 7), "float32")):
        for i in range(2, 9):
            for j in range(1, 6):
                with T.block("b"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    X[vi, vj] = X[vi, vj] + T.float32(1)

    sch = Schedule(shifted)
    i, j = sch.get_loops("b")
    _, inner = sch.split(i, [None, 3])
    sch.fuse(inner, j)
    check(shifted, sch)


@T.prim_func
def triangle(X: T.Buffer((6, 6), "float32")):
    for i in range(6):
        for j in range(i):
            with T.block("b"):
                vi = T.axis.spatial(6, i)
                vj = T.axis.spatial(6, j)
                X[vi, vj] = T.float32(0)


def test_loops_that_are_not_directly_in_each_other_are_not_fused():
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    refused(sch, lambda: sch.fuse(i, k), "the loop `k` is not all that is in the loop `i`")
    refused(sch, lambda: sch.fuse(j, i), "from the outermost to the innermost")
    refused(sch, lambda: sch.fuse(), "takes the loops that become one")
    sch.parallel(i)
    refused(sch, lambda: sch.fuse(i, j), "`i` is parallel, and `j` is serial")
    uneven = Schedule(triangle)
    outer, inner = uneven.get_loops("b")
    refused(
        uneven, lambda: uneven.fuse(outer, inner),
        "how often the loop `j` runs depends on `i`, so they cannot be fused",
    )  # fmt: skip


def test_reorder_puts_loops_into_the_places_of_all():
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    j_0, j_1 = sch.split(j, [None, 4])
    sch.reorder(k, i, j_1)
    text = body_of(check(matmul, sch))
    assert "for k, j_0, i, j_1 in T.grid(8, 4, 12, 4):" in text
    sch.reorder(j_0, k)
    assert "for j_0, k, i, j_1 in T.grid(4, 8, 12, 4):" in body_of(check(matmul, sch))


def test_an_order_that_a_dependence_forbids_is_refused_with_it():
    sch = Schedule(recurrence)
    i, j = sch.get_loops("step")
    error = refused(
        sch, lambda: sch.reorder(j, i),
        "iterations of `i` and `j` must keep their order: they share elements of `X`",
        "block `step` writes `X`", "the loop `i`",
    )  # fmt: skip
    span = error.diagnostics[0].span
    assert span is not None
    assert span.filename == __file__


def test_loops_of_one_sum_may_be_exchanged():
    @T.prim_func
    def total(X: T.Buffer((4, 6), "float32"), Y: T.Buffer((1,), "float32")):
        for i, j in T.grid(4, 6):
            with T.block("total"):
                vi, vj = T.axis.remap("RR", [i, j])
                with T.init():
                    Y[0] = T.float32(0)
                Y[0] = Y[0] + X[vi, vj]

    sch = Schedule(total)
    i, j = sch.get_loops("total")
    sch.reorder(j, i)
    check(total, sch)  # whole numbers are summed exactly


def test_a_sum_that_begins_at_the_end_of_its_loop_keeps_its_order():
    @T.prim_func
    def total(X: T.Buffer((4, 6), "float32"), Y: T.Buffer((1,), "float32")):
        for i, j in T.grid(4, 6):
            with T.block("total"):
                vi = T.axis.reduce(4, 3 - i)
                vj = T.axis.reduce(6, j)
                with T.init():
                    Y[0] = T.float32(0)
                Y[0] = Y[0] + X[vi, vj]

    sch = Schedule(total)
    i, j = sch.get_loops("total")
    refused(sch, lambda: sch.reorder(j, i), "must keep their order: they share elements of `Y`")


def test_loops_that_are_no_chain_are_not_reordered():
    sch = Schedule(stencil)
    (a,), (b,) = sch.get_loops("A"), sch.get_loops("B")
    refused(sch, lambda: sch.reorder(a, b), "or they are not in each other")
    refused(sch, lambda: sch.reorder(a, a), "the loop `i` is given twice")
    uneven = Schedule(triangle)
    i, j = uneven.get_loops("b")
    refused(uneven, lambda: uneven.reorder(j, i), "how often the loop `j` runs depends on `i`")


def test_a_parallel_loop_moves_only_where_its_iterations_stay_apart():
    @T.prim_func
    def diagonal(X: T.Buffer((20,), "int32")):
        for i, j in T.grid(4, 4):
            with T.block("b"):
                vi, vj = T.axis.remap("RS", [i, j])
                T.reads(X[vi + vj])
                X[vi + vj] = X[vi + vj] + vi

    sch = Schedule(diagonal)
    i, j = sch.get_loops("b")
    sch.parallel(j)
    refused(sch, lambda: sch.reorder(j, i), "the iterations of `j`, which is parallel, would not")


def test_loops_that_say_what_they_are_for_are_not_split():
    sch = Schedule(matmul)
    i, j, _ = sch.get_loops("C")
    sch.bind(i, "threadIdx.x")
    refused(sch, lambda: sch.split(i, [None, 2]), "`i` is bound to threads, so it cannot be split")
    sch.annotate(j, "hint", 1)
    refused(sch, lambda: sch.split(j, [None, 2]), "has the annotation `hint`", "unannotate")


def test_what_belongs_to_another_schedule_or_is_gone_is_told():
    sch, other = Schedule(matmul), Schedule(matmul)
    i, j, _ = sch.get_loops("C")
    refused(other, lambda: other.split(i, [None, 2]), "this loop belongs to another schedule")
    refused(other, lambda: other.get_loops(sch.get_block("C")), "this block belongs to another")
    sch.split(i, [None, 2])
    refused(sch, lambda: sch.unroll(i), "the loop `i` is no longer there")
    refused(sch, lambda: sch.unroll("i"), "a loop is wanted")
    refused(sch, lambda: sch.get_loops(j), "a block is wanted, not a loop")
    with pytest.raises(ScheduleError, match="takes a block or a loop, not"):
        sch.get("C")


def test_loops_bound_to_threads_stay_where_their_iterations_are_independent():
    @T.prim_func
    def diagonal(X: T.Buffer((6, 6), "int32")):
        for i, j in T.grid(5, 5):
            with T.block("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj] = X[vi + 1, vj + 1] * 2

    sch = Schedule(diagonal)
    i, j = sch.get_loops("b")
    sch.bind(j, "blockIdx.x")
    refused(sch, lambda: sch.reorder(j, i), "the iterations of `j`", "would not be independent")


def test_loops_bound_to_threads_of_one_block_may_be_moved_out_of_others_of_one_sum():
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    sch.decompose_reduction("C", i)
    sch.bind(k, "threadIdx.x")
    sch.reorder(k, j)
    names = [sch.get(loop).loop_var.name for loop in sch.get_loops("C_update")]
    assert names == ["i", "k", "j"]
