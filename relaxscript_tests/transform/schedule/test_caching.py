"""Copies of what blocks read and write."""

from __future__ import annotations

from relaxscript.script import tir as T
from relaxscript.tir import Schedule

from .scheduled import body_of, chain, check, matmul, refused, scale


def test_a_buffer_is_copied_before_it_is_read():
    sch = Schedule(matmul)
    copy = sch.cache_read("C", 0, "shared")
    text = body_of(check(matmul, sch))
    assert 'A_shared = T.alloc_buffer((12, 8), scope="shared")' in text
    assert "A_shared[v0, v1] = A[v0, v1]" in text
    assert "C[vi, vj] = C[vi, vj] + A_shared[vi, vk] * B[vk, vj]" in text
    assert sch.get(copy).name_hint == "A_shared"
    i, _, _ = sch.get_loops("C")
    sch.compute_at(copy, i)
    check(matmul, sch)


def test_a_copy_is_made_where_the_buffer_is_written():
    sch = Schedule(chain)
    i, _ = sch.get_loops("A")
    sch.reverse_compute_at("B", i)
    sch.cache_read("B", 0, "local", consumer_blocks=["B"])
    text = body_of(check(chain, sch))
    assert "B[vi, vj] = A_local[vi, vj] * 2.0" in text
    assert "Y[vi, vj] = B[vi, vj] - A[vi, vj]" in text


def test_all_blocks_read_the_copy_unless_some_are_named():
    sch = Schedule(chain)
    sch.cache_read("B", 0, "local")
    assert "Y[vi, vj] = B[vi, vj] - A_local[vi, vj]" in body_of(check(chain, sch))
    some = Schedule(chain)
    some.cache_read("B", 0, "local", ["B"])
    assert "Y[vi, vj] = B[vi, vj] - A[vi, vj]" in body_of(check(chain, some))


def test_a_block_writes_a_buffer_that_is_copied_after():
    sch = Schedule(matmul)
    block = sch.get_block("C")
    copy = sch.cache_write(block, 0, "local")
    text = body_of(check(matmul, sch))
    assert "C_local[vi, vj] = C_local[vi, vj] + A[vi, vk] * B[vk, vj]" in text
    assert "C[v0, v1] = C_local[v0, v1]" in text
    assert sch.get(copy).name_hint == "C_local"
    assert len(sch.get_loops(block)) == 3
    named = Schedule(chain)
    named.cache_write("A", 0, "local", consumer_blocks=["B"])
    text = body_of(check(chain, named))
    assert "B[vi, vj] = A_local[vi, vj] * 2.0" in text
    assert "Y[vi, vj] = B[vi, vj] - A[vi, vj]" in text


def test_symbolic_sizes_are_copied_whole():
    sch = Schedule(scale)
    sch.cache_read("scale", 0, "global")
    sch.cache_write("scale", 0, "global")
    check(scale, sch, sizes=(0, 1, 6))


def test_buffers_are_numbered():
    sch = Schedule(matmul)
    refused(
        sch, lambda: sch.cache_read("C", 2, "shared"),
        "the block `C` reads 2 buffers, of which 2 is none", "0 is `A`, 1 is `B`",
    )  # fmt: skip
    refused(
        sch, lambda: sch.cache_write("C", "D", "shared"), "writes 1 buffer, of which 'D' is none"
    )
    sch.cache_read("C", "B", "shared")
    sch.cache_write("C", matmul.buffer_map[matmul.params[2]], "local")
    check(matmul, sch)


def test_a_block_that_changes_what_it_reads_has_no_copy_of_it():
    @T.prim_func
    def grow(X: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("grow"):
                vi = T.axis.spatial(4, i)
                X[vi] = X[vi] + T.float32(1)
        for i in range(4):
            with T.block("again"):
                vi = T.axis.spatial(4, i)
                X[vi] = X[vi] * T.float32(2)

    sch = Schedule(grow)
    refused(sch, lambda: sch.cache_read("grow", 0, "local"), "`X` cannot be copied before it is")
    refused(sch, lambda: sch.cache_write("grow", 0, "local"), "changes elements that have values")


def test_a_buffer_that_is_written_and_read_in_turn_is_not_copied():
    @T.prim_func
    def turns(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
        A = T.alloc_buffer((4,))
        for i in range(4):
            with T.block("A"):
                vi = T.axis.spatial(4, i)
                A[vi] = X[vi]
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                Y[vi] = A[vi]

    sch = Schedule(turns)
    refused(
        sch, lambda: sch.cache_write("A", 0, "local"),
        "`A` cannot be written to a cache: elements of `A` would change in between",
    )  # fmt: skip
    sch.cache_read("B", 0, "local")
    check(turns, sch)


def test_a_buffer_that_is_read_and_written_at_once_is_not_copied():
    @T.prim_func
    def both(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
        A = T.alloc_buffer((4,))
        for i in range(4):
            with T.block("A"):
                vi = T.axis.spatial(4, i)
                A[vi] = X[vi]
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                Y[vi] = A[vi]
        for i in range(4):
            with T.block("again"):
                vi = T.axis.spatial(4, i)
                A[vi] = X[vi] + T.float32(1)
        for i in range(4):
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                X[vi] = A[vi]

    sch = Schedule(both)
    refused(sch, lambda: sch.cache_read("B", 0, "local"), "`A` cannot be copied before it is read")

    @T.prim_func
    def branch(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
        A = T.alloc_buffer((4,))
        for i in range(4):
            if i < 3:
                with T.block("A"):
                    vi = T.axis.spatial(4, i)
                    A[vi] = X[vi]
                with T.block("B"):
                    vi = T.axis.spatial(4, i)
                    Y[vi] = A[vi]

    sch = Schedule(branch)
    refused(sch, lambda: sch.cache_read("B", 0, "local"), "there is no place after `A` is written")


def test_a_function_of_one_block_has_no_place_for_a_buffer():
    @T.prim_func
    def only(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
        with T.block("only"):
            T.reads(X[0:4])
            T.writes(Y[0:4])
            for i in range(4):
                Y[i] = X[i]

    sch = Schedule(only)
    refused(sch, lambda: sch.cache_read("only", 0, "local"), "there is no block around `only`")


def test_a_buffer_that_a_block_only_says_that_it_reads_has_no_copy():
    @T.prim_func
    def says(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                T.reads(X[vi])
                T.writes(Y[vi])
                Y[vi] = T.float32(3)

    sch = Schedule(says)
    refused(sch, lambda: sch.cache_read("b", 0, "local"), "the block `b` reads no element of `X`")
