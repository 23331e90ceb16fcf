"""Inlining into consumers and producers: before and after, and what is refused."""

from __future__ import annotations

from relaxscript.script import tir as T
from relaxscript.tir import Schedule

from .scheduled import body_of, chain, check, matmul, refused, stencil


def test_an_elementwise_block_is_written_where_it_is_read():
    sch = Schedule(chain)
    sch.compute_inline("A")
    sch.compute_inline("B")
    text = body_of(check(chain, sch))
    assert "Y[vi, vj] = (X[vi, vj] + 1.0) * 2.0 - (X[vi, vj] + 1.0)" in text
    assert "alloc_buffer" not in text
    block = sch.get(sch.get_block("C"))
    assert [region.buffer.name for region in block.reads] == ["X"]


def test_each_element_that_is_read_is_computed_with_its_own_indices():
    sch = Schedule(stencil)
    sch.compute_inline("A")
    text = body_of(check(stencil, sch))
    assert "X[vi] * X[vi] + X[vi + 1] * X[vi + 1] + X[vi + 2] * X[vi + 2]" in text


def test_a_block_is_inlined_after_its_loops_were_split_and_fused():
    sch = Schedule(chain)
    i, j = sch.get_loops("A")
    i_0, i_1 = sch.split(i, [None, 4])
    sch.fuse(i_1, j)
    sch.compute_inline("A")
    check(chain, sch)
    fused = Schedule(chain)
    outer = fused.fuse(*fused.get_loops("B"))
    fused.split(outer, [None, 7])
    fused.compute_inline("B")
    check(chain, fused)


def test_a_consumer_is_computed_by_its_producer():
    sch = Schedule(chain)
    sch.compute_inline("A")
    sch.reverse_compute_inline("C")
    text = body_of(check(chain, sch))
    assert 'T.block("B")' in text
    assert 'T.block("C")' not in text
    assert "Y[vi, vj] = (X[vi, vj] + 1.0) * 2.0 - (X[vi, vj] + 1.0)" in text


def test_sums_and_outputs_are_not_inlined():
    sch = Schedule(matmul)
    refused(sch, lambda: sch.compute_inline("C"), "sums up or keeps an order", "elementwise blocks")
    last = Schedule(chain)
    refused(
        last, lambda: last.compute_inline("C"),
        "`Y`, which exists outside of the scope, so it cannot be inlined",
    )  # fmt: skip


def test_a_block_of_several_statements_is_not_inlined():
    @T.prim_func
    def two(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
        A = T.alloc_buffer((4,))
        for i in range(4):
            with T.block("A"):
                vi = T.axis.spatial(4, i)
                A[vi] = X[vi]
                A[vi] = A[vi] * T.float32(2)
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                Y[vi] = A[vi]

    sch = Schedule(two)
    refused(sch, lambda: sch.compute_inline("A"), "`A` is more than one store")
    refused(sch, lambda: sch.reverse_compute_inline("B"), "`A` is more than one store")
    (i,) = sch.get_loops("B")
    refused(sch, lambda: sch.compute_at("A", i), "`A` is more than the store of one element")


def test_what_is_read_before_it_is_written_is_not_inlined():
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
    refused(
        sch, lambda: sch.compute_inline("A"),
        "the block `A` cannot be inlined: elements of `A` would change in between",
        "block `B` reads `A`",
    )  # fmt: skip


def test_what_is_overwritten_afterwards_is_not_inlined():
    @T.prim_func
    def late(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
        A = T.alloc_buffer((4,))
        for i in range(4):
            with T.block("A"):
                vi = T.axis.spatial(4, i)
                A[vi] = X[vi]
        for i in range(4):
            with T.block("clear"):
                vi = T.axis.spatial(4, i)
                X[vi] = T.float32(0)
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                Y[vi] = A[vi]

    sch = Schedule(late)
    refused(sch, lambda: sch.compute_inline("A"), "elements of `X` would change in between")
    (i,) = sch.get_loops("B")
    refused(sch, lambda: sch.compute_at("A", i), "cannot move: elements of `X` would change")
    (i,) = sch.get_loops("A")
    sch.reverse_compute_at("B", i)
    check(late, sch)


def test_a_buffer_with_other_writers_is_not_inlined():
    @T.prim_func
    def twice(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
        A = T.alloc_buffer((4,))
        for i in range(4):
            with T.block("A"):
                vi = T.axis.spatial(4, i)
                A[vi] = X[vi]
        for i in range(4):
            with T.block("change"):
                vi = T.axis.spatial(4, i)
                A[vi] = A[vi] + T.float32(1)
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                Y[vi] = A[vi]

    sch = Schedule(twice)
    refused(sch, lambda: sch.compute_inline("A"), "`A` is not written by the block `A` alone")
    refused(sch, lambda: sch.reverse_compute_inline("B"), "reads what 2 blocks write")
    refused(sch, lambda: sch.cache_write("A", 0, "local"), "`A` is written by other blocks too")
    (i,) = sch.get_loops("B")
    refused(sch, lambda: sch.compute_at("change", i), "changes elements that have values already")


def test_a_block_that_reads_what_it_writes_is_not_inlined():
    @T.prim_func
    def own(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
        A = T.alloc_buffer((4,))
        for i in range(4):
            with T.block("A"):
                vi = T.axis.spatial(4, i)
                A[vi] = X[vi] + A[0]
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                Y[vi] = A[vi]

    sch = Schedule(own)
    refused(sch, lambda: sch.compute_inline("A"), "the block `A` reads `A`, which it writes")


def test_a_block_that_computes_a_part_only_is_not_inlined():
    @T.prim_func
    def part(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):
        A = T.alloc_buffer((8,))
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                T.where(i < 5)
                A[vi] = X[vi]
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                Y[vi] = A[vi]

    sch = Schedule(part)
    refused(sch, lambda: sch.compute_inline("A"), "is not known to run once for each value of its")


def test_indices_that_are_not_axes_are_not_inlined():
    @T.prim_func
    def diagonal(X: T.Buffer((4, 4), "float32"), Y: T.Buffer((4, 4), "float32")):
        A = T.alloc_buffer((4, 4))
        B = T.alloc_buffer((4, 4))
        for i, j in T.grid(4, 4):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, (vi + vj) % 4] = X[vi, vj]
        for i, j in T.grid(4, 4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
        for i, j in T.grid(4, 4):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = B[vj, vj] + B[vi, vi]

    sch = Schedule(diagonal)
    refused(sch, lambda: sch.compute_inline("A"), "the indices of `A` in the block `A` are not its")
    refused(sch, lambda: sch.reverse_compute_inline("C"), "reads several elements of `B`")
    sch.compute_inline("B")
    check(diagonal, sch)

    @T.prim_func
    def column(X: T.Buffer((4, 4), "float32"), Y: T.Buffer((4,), "float32")):
        A = T.alloc_buffer((4, 1))
        for i, j in T.grid(4, 4):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, 0] = X[vi, vj]
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                Y[vi] = A[vi, 0]

    sch = Schedule(column)
    refused(sch, lambda: sch.compute_inline("A"), "the axis `vj` of the block `A` is no index of")


def test_a_consumer_of_a_part_or_beside_others_is_not_inlined():
    @T.prim_func
    def part(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):
        A = T.alloc_buffer((8,))
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[vi] = X[vi]
        for i in range(6):
            with T.block("B"):
                vi = T.axis.spatial(6, i)
                Y[vi] = A[vi]

    sch = Schedule(part)
    refused(
        sch, lambda: sch.reverse_compute_inline("B"), "`B` reads other elements of `A` than `A`"
    )
    (i,) = sch.get_loops("A")
    refused(sch, lambda: sch.reverse_compute_at("B", i), "`B` reads other elements of `A` than `A`")
    two = Schedule(chain)
    refused(two, lambda: two.reverse_compute_inline("B"), "`A` is read by other blocks too")


def test_a_consumer_that_would_go_past_a_dependence_is_not_inlined():
    @T.prim_func
    def between(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
        A = T.alloc_buffer((4,))
        for i in range(4):
            with T.block("A"):
                vi = T.axis.spatial(4, i)
                A[vi] = X[vi]
        for i in range(4):
            with T.block("clear"):
                vi = T.axis.spatial(4, i)
                Y[vi] = T.float32(0)
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                Y[vi] = A[vi]

    sch = Schedule(between)
    refused(
        sch, lambda: sch.reverse_compute_inline("B"),
        "the block `B` cannot be computed earlier: elements of `Y` would change in between",
    )  # fmt: skip
    (i,) = sch.get_loops("A")
    refused(sch, lambda: sch.reverse_compute_at("B", i), "elements of `Y` would change in between")

    @T.prim_func
    def shared(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
        A = T.alloc_buffer((4,))
        for i in range(4):
            with T.block("A"):
                vi = T.axis.spatial(4, i)
                A[vi] = X[vi] + Y[vi]
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                Y[vi] = A[vi]

    sch = Schedule(shared)
    refused(sch, lambda: sch.reverse_compute_inline("B"), "its producer uses `Y` too")


def test_a_consumer_that_reads_another_shape_is_computed_by_its_producer():
    @T.prim_func
    def reshaped(X: T.Buffer((6, 8), "float32"), W: T.Buffer((3, 2, 1), "float32"),
                 Y: T.Buffer((1, 3, 2, 8), "float32")):  # fmt: skip
        A = T.alloc_buffer((6, 8))
        for i, j in T.grid(6, 8):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = X[vi, vj] * T.float32(2)
        for o, i, j, k in T.grid(1, 3, 2, 8):
            with T.block("B"):
                vo, vi, vj, vk = T.axis.remap("SSSS", [o, i, j, k])
                Y[vo, vi, vj, vk] = A[vi * 2 + vj, vk] + W[vi, vj, vo]

    sch = Schedule(reshaped)
    sch.reverse_compute_inline("B")
    text = body_of(check(reshaped, sch))
    assert "Y[0, vi // 2, vi % 2, vj] = X[vi, vj] * 2.0 + W[vi // 2, vi % 2, 0]" in text


def test_a_consumer_that_reads_a_part_in_another_shape_is_not_inlined():
    @T.prim_func
    def part(X: T.Buffer((16,), "float32"), Y: T.Buffer((3, 4), "float32")):
        A = T.alloc_buffer((16,))
        for i in range(16):
            with T.block("A"):
                vi = T.axis.spatial(16, i)
                A[vi] = X[vi]
        for i, j in T.grid(3, 4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = A[vi * 4 + vj]

    sch = Schedule(part)
    refused(
        sch, lambda: sch.reverse_compute_inline("B"),
        "the indices of `A` in the block `B` are not its axes, each once",
    )  # fmt: skip
