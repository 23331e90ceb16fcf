"""A loop as several one after the other: before and after, and what is refused."""

from __future__ import annotations

from relaxscript.script import tir as T
from relaxscript.tir import Schedule

from .scheduled import body_of, check, matmul, refused, scale, stencil


def test_parts_have_the_iterations_that_are_given_and_the_last_those_that_are_left():
    sch = Schedule(scale)
    _, j = sch.get_loops("scale")
    first, second, last = sch.loop_partition(j, factors=[1, 3])
    bounds = [(sch.get(x).min.value, sch.get(x).extent.value) for x in (first, second, last)]
    assert bounds == [(0, 1), (1, 3), (4, 2)]
    text = body_of(check(scale, sch))
    for name in ("scale_j0", "scale_j1", "scale_j2"):
        assert f'with T.block("{name}"):' in text
    assert "T.where" not in text


def test_none_is_as_many_iterations_as_are_left():
    sch = Schedule(scale)
    _, j = sch.get_loops("scale")
    parts = sch.loop_partition(j, [2, None, 1])
    assert [sch.get(x).extent.value for x in parts] == [2, 3, 1]
    check(scale, sch)


def test_factors_that_make_up_the_loop_leave_no_part_behind_them():
    sch = Schedule(scale)
    assert len(sch.loop_partition(sch.get_loops("scale")[1], [4, 2])) == 2
    check(scale, sch)


def test_a_symbolic_loop_is_its_whole_vectors_and_the_rest():
    sch = Schedule(scale)
    i, _ = sch.get_loops("scale")
    n = sch.get(i).extent
    whole, rest = sch.loop_partition(i, [n // 4 * 4])
    _, lanes = sch.split(whole, [None, 4])
    sch.vectorize(lanes)
    sch.split(rest, [None])
    text = body_of(check(scale, sch, sizes=(0, 3, 4, 9)))
    assert "for i0_0 in range(n // 4):" in text
    assert "for i1_0, j in T.grid(n % 4, 6):" in text
    assert "T.where" not in text


def test_the_loop_of_one_iteration_is_not_named_where_it_is_asked_not_to_be():
    for kept in (True, False):
        sch = Schedule(scale)
        sch.loop_partition(sch.get_loops("scale")[1], [1, 5], preserve_unit_iters=kept)
        assert ("T.axis.spatial(6, 0)" in body_of(check(scale, sch))) is not kept


def test_blocks_of_parts_are_scheduled_apart_from_each_other():
    sch = Schedule(scale)
    first, last = sch.loop_partition(sch.get_loops("scale")[1], [4])
    (block,) = sch.get_child_blocks(first)
    assert sch.get(block).name_hint == "scale_j0"
    sch.vectorize(first)
    sch.unroll(last)
    check(scale, sch)
    refused(sch, lambda: sch.get_block("scale"), "no block 'scale'", "`scale_j0`")


def test_a_part_is_partitioned_and_loops_start_where_they_are():
    @T.prim_func
    def shifted(X: T.Buffer((9,), "float32")):
        for i in range(2, 9):
            with T.block("b"):
                vi = T.axis.spatial(9, i)
                X[vi] = X[vi] + T.float32(1)

    sch = Schedule(shifted)
    _, last = sch.loop_partition(sch.get_loops("b")[0], [3])
    sch.loop_partition(last, [1])
    text = body_of(check(shifted, sch))
    for loop in ("for i0 in range(2, 5):", "for i10 in range(5, 6):", "for i11 in range(6, 9):"):
        assert loop in text


def test_iterations_keep_their_order():
    sch = Schedule(stencil)
    sch.compute_at("A", sch.get_loops("B")[0])
    sch.loop_partition(sch.get_loops("B")[0], [5])
    check(stencil, sch)


def test_a_sum_that_has_begun_is_partitioned():
    sch = Schedule(matmul)
    *_, k = sch.get_loops("C")
    refused(
        sch, lambda: sch.loop_partition(k, [5]),
        "the sum of `C` would begin in one part of the loop `k` and go on in another",
        "`sch.decompose_reduction` lets it begin before the loop",
    )  # fmt: skip
    sch.decompose_reduction("C", k)
    sch.loop_partition(k, [5])
    check(matmul, sch)


def test_a_sum_is_partitioned_over_its_results():
    sch = Schedule(matmul)
    sch.loop_partition(sch.get_loops("C")[1], [5])
    check(matmul, sch)


def test_memory_in_a_loop_is_that_of_each_part():
    @T.prim_func
    def inner(X: T.Buffer((6,), "float32"), Y: T.Buffer((6,), "float32")):
        for i in range(6):
            with T.block("b"):
                vi = T.axis.spatial(6, i)
                t = T.alloc_buffer((1,), "float32")
                with T.block("one"):
                    t[0] = T.float32(3)
                with T.block("two"):
                    Y[vi] = X[vi] * t[0]

    sch = Schedule(inner)
    sch.loop_partition(sch.get_loops("b")[0], [4])
    check(inner, sch)


def test_other_steps_see_that_a_part_may_have_no_iterations():
    sch = Schedule(scale)
    empty, whole = sch.loop_partition(sch.get_loops("scale")[1], [0, 6])
    for loop in (empty, whole):
        (block,) = sch.get_child_blocks(loop)
        refused(sch, lambda block=block: sch.cache_write(block, 0, "local"))
    sch.vectorize(empty)
    check(scale, sch)


def test_factors_that_are_no_parts_are_refused():
    sch = Schedule(scale)
    i, j = sch.get_loops("scale")
    refused(
        sch, lambda: sch.loop_partition(j, [4, 3]), "has 6 iterations, and the factors make up 7"
    )
    refused(sch, lambda: sch.loop_partition(i, [4]), "has n iterations, and the factors make up 4")
    refused(sch, lambda: sch.loop_partition(j, [None, None]), "None for one of them at most")
    refused(sch, lambda: sch.loop_partition(j, []), "None for one of them at most")
    refused(sch, lambda: sch.loop_partition(j, [-1]), "-1 iterations may be fewer than none")
    refused(sch, lambda: sch.loop_partition(j, 4), "`factors` is a list of numbers, not")
    refused(sch, lambda: sch.loop_partition(j, ["4"]), "a factor is a number or None")
    sch.bind(j, "threadIdx.x")
    refused(sch, lambda: sch.loop_partition(j, [4]), "so it cannot be partitioned")
