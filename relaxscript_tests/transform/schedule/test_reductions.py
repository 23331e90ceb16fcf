"""The beginning of sums as blocks of their own, and the schedule of every course."""

from __future__ import annotations

from relaxscript.script import tir as T
from relaxscript.tir import Schedule

from .scheduled import body_of, check, matmul, refused


def test_a_sum_begins_in_a_block_before_its_loop():
    sch = Schedule(matmul)
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    init = sch.decompose_reduction(block, k)
    text = body_of(check(matmul, sch))
    assert sch.get(init).name_hint == "C_init"
    assert sch.get(block).name_hint == "C_update"
    assert text.index("C[vi, vj] = T.float32(0.0)") < text.index("for k in range(8):")
    assert "T.init" not in text


def test_the_loops_of_the_elements_are_made_again():
    sch = Schedule(matmul)
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    i_0, i_1 = sch.split(i, [None, 5])
    k_0, k_1 = sch.split(k, [None, 3])
    sch.reorder(i_0, k_0, i_1, k_1, j)
    init = sch.decompose_reduction(block, k_0)
    names = [sch.get(loop).loop_var.name for loop in sch.get_loops(init)]
    assert names == ["i_0", "i_1_init", "j_init"]
    text = body_of(check(matmul, sch))
    assert "T.where(i_0 * 5 + i_1_init < 12)" in text


def test_elements_that_are_vectors_begin_as_vectors():
    sch = Schedule(matmul)
    block = sch.get_block("C")
    _, j, k = sch.get_loops(block)
    sch.reorder(k, j)
    sch.vectorize(j)
    sch.decompose_reduction(block, k)
    assert "for j_init in T.vectorized(16):" in body_of(check(matmul, sch))


def test_the_matmul_of_every_course():
    sch = Schedule(matmul)
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    i_0, i_1 = sch.split(i, factors=[None, 5])
    j_0, j_1 = sch.split(j, factors=[None, 8])
    k_0, k_1 = sch.split(k, factors=[None, 4])
    sch.reorder(i_0, j_0, k_0, i_1, k_1, j_1)
    written = sch.cache_write(block, 0, "global")
    sch.reverse_compute_at(written, j_0)
    packed = sch.cache_read(block, 1, "global")
    sch.compute_at(packed, k_0)
    init = sch.decompose_reduction(block, k_0)
    sch.vectorize(j_1)
    sch.vectorize(sch.get_loops(init)[-1])
    sch.unroll(k_1)
    sch.parallel(i_0)
    text = body_of(check(matmul, sch))
    assert "for j_1 in T.vectorized(8):" in text
    assert "for i_0 in T.parallel(3):" in text


def test_a_loop_inside_of_the_sum_is_refused():
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    sch.reorder(k, i, j)
    refused(
        sch, lambda: sch.decompose_reduction("C", i),
        "the loop `k`, over which `C` sums, is outside of `i`", "choose the outermost",
    )  # fmt: skip
    fused = Schedule(matmul)
    i, j, k = fused.get_loops("C")
    both = fused.fuse(j, k)
    refused(fused, lambda: fused.decompose_reduction("C", both), "chooses elements too")


def test_a_block_without_init_or_a_loop_of_another_is_refused():
    sch = Schedule(matmul)
    block = sch.get_block("C")
    k = sch.get_loops(block)[2]
    init = sch.decompose_reduction(block, k)
    refused(sch, lambda: sch.decompose_reduction(block, k), "has no `T.init()`")
    other = Schedule(matmul)
    copy = other.cache_read("C", 0, "local")
    loop = other.get_loops(copy)[0]
    refused(other, lambda: other.decompose_reduction("C", loop), "is not around the block `C`")
    assert sch.get(init).init is None


def test_a_sum_whose_beginning_is_not_where_its_loops_begin_is_refused():
    @T.prim_func
    def down(X: T.Buffer((6,), "float32"), Y: T.Buffer((1,), "float32")):
        for i in range(6):
            with T.block("down"):
                vi = T.axis.reduce(6, 5 - i)
                with T.init():
                    Y[0] = T.float32(0)
                Y[0] = Y[0] + X[vi]

    sch = Schedule(down)
    (i,) = sch.get_loops("down")
    refused(sch, lambda: sch.decompose_reduction("down", i), "does not begin where its loops begin")

    @T.prim_func
    def again(X: T.Buffer((6,), "float32"), Y: T.Buffer((1,), "float32")):
        for i in range(6):
            with T.block("again"):
                vi = T.axis.reduce(3, i % 3)
                with T.init():
                    Y[0] = T.float32(0)
                Y[0] = Y[0] + X[vi]

    sch = Schedule(again)
    (i,) = sch.get_loops("again")
    refused(sch, lambda: sch.decompose_reduction("again", i), "elements of `Y` would change")

    @T.prim_func
    def guarded(X: T.Buffer((6,), "float32"), Y: T.Buffer((1,), "float32")):
        for i in range(6):
            with T.block("guarded"):
                vi = T.axis.reduce(6, i)
                T.where(i > 1)
                with T.init():
                    Y[0] = T.float32(0)
                Y[0] = Y[0] + X[vi]

    sch = Schedule(guarded)
    (i,) = sch.get_loops("guarded")
    refused(sch, lambda: sch.decompose_reduction("guarded", i), "elements of `Y` would change")

    @T.prim_func
    def corner(X: T.Buffer((4, 6), "float32"), Y: T.Buffer((4,), "float32")):
        for i, j in T.grid(4, 6):
            with T.block("corner"):
                vi, vj = T.axis.remap("SR", [i, j])
                T.where(i + j < 7)
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + X[vi, vj]

    sch = Schedule(corner)
    i, j = sch.get_loops("corner")
    refused(sch, lambda: sch.decompose_reduction("corner", i), "is not told of elements and of")
    sch.decompose_reduction("corner", j)
    check(corner, sch)


def test_others_that_write_the_sum_in_its_loop_are_refused():
    @T.prim_func
    def both(X: T.Buffer((4, 6), "float32"), Y: T.Buffer((4,), "float32")):
        for i, j in T.grid(4, 6):
            with T.block("sum"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + X[vi, vj]
            with T.block("double"):
                vi, vj = T.axis.remap("SR", [i, j])
                T.reads(Y[vi])
                T.writes(Y[vi])
                Y[vi] = Y[vi] * T.float32(2)

    sch = Schedule(both)
    i, j = sch.get_loops("sum")
    refused(sch, lambda: sch.decompose_reduction("sum", j), "cannot begin before the loop")


def test_a_branch_between_the_loop_and_the_sum_is_refused():
    @T.prim_func
    def branch(X: T.Buffer((4, 6), "float32"), Y: T.Buffer((4,), "float32")):
        for i, j in T.grid(4, 6):
            if i > 1:
                with T.block("sum"):
                    vi, vj = T.axis.remap("SR", [i, j])
                    with T.init():
                        Y[vi] = T.float32(0)
                    Y[vi] = Y[vi] + X[vi, vj]

    sch = Schedule(branch)
    i, j = sch.get_loops("sum")
    refused(sch, lambda: sch.decompose_reduction("sum", j), "more than loops between `j` and the")
