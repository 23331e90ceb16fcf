"""Blocks: axes, regions, init, and the root block that is not written."""

from __future__ import annotations

from relaxscript.ir import prim, tir
from relaxscript.ir.prim import BufferLoad, Var
from relaxscript.ir.tir import Block, BlockRealize, Buffer, BufferStore, MatchBufferRegion
from relaxscript.script.printer.module import script

from .programs import block_of, body_of, comes_back, int32, int64, loop, prim_func, region, text

A = Buffer("A", (64, 64), "float32")
B = Buffer("B", (64,), "float32")
i, k = Var("i"), Var("k")
vi, vk = Var("vi"), Var("vk")


def rooted(body: tir.Stmt, *allocated: Buffer) -> BlockRealize:
    return BlockRealize((), True, Block((), (), (), "root", body, alloc_buffers=allocated))


def row_sum() -> tir.Stmt:
    update = BufferStore(B, BufferLoad(B, (vi,)) + BufferLoad(A, (vi, vk)), (vi,))
    block = block_of(
        [(vi, int32(0), int32(64), "spatial", i), (vk, int32(0), int32(64), "reduce", k)],
        update, "sum", reads=[region(A, vi, vk)], writes=[region(B, vi)],
        init=BufferStore(B, prim.const(0.0), (vi,)),
    )  # fmt: skip
    return loop(i, 64, loop(k, 64, block))


def test_a_reduction_is_written_with_axes_regions_and_init():
    f = prim_func(rooted(row_sum()), A, B)
    assert body_of(f) == text("""
        for i, k in T.grid(64, 64):
            with T.block("sum"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, vk])
                T.writes(B[vi])
                with T.init():
                    B[vi] = T.float32(0.0)
                B[vi] = B[vi] + A[vi, vk]
    """)
    comes_back(f)


def test_axes_that_are_no_whole_loops_say_domain_and_value():
    wide = Var("vj", "int64")
    block = block_of(
        [(vi, int32(0), int32(16), "spatial", i + 1), (vk, int32(2), int32(6), "opaque", k),
         (wide, int64(0), int64(4), "scan", int64(1))],
        BufferStore(B, prim.const(0.0), (vi,)), writes=[region(B, vi)],
    )  # fmt: skip
    f = prim_func(rooted(loop(i, 63, loop(k, 64, block))), B)
    assert body_of(f) == text("""
        for i, k in T.grid(63, 64):
            with T.block("block"):
                vi = T.axis.spatial(16, i + 1)
                vk = T.axis.opaque((2, 8), k)
                vj = T.axis.scan(4, T.int64(1))
                T.reads()
                T.writes(B[vi])
                B[vi] = T.float32(0.0)
    """)
    comes_back(f)


def test_a_block_says_its_predicate_annotations_and_buffers():
    C, M = Buffer("C", (4,), "float32"), Buffer("M", (4,), "float32")
    source = region(A, vi, (int32(0), int32(4)))
    block = block_of(
        [(vi, int32(0), int32(64), "spatial", i)], BufferStore(C, BufferLoad(M, (int32(0),)),
            (int32(0),)),
        predicate=i < 3, reads=[region(A, vi, (vi, int32(4)))], annotations={"k": 1},
        alloc_buffers=[C], match_buffers=[MatchBufferRegion(M, source)],
    )  # fmt: skip
    f = prim_func(rooted(loop(i, 64, block)), A)
    assert body_of(f) == text("""
        for i in range(64):
            with T.block("block"):
                vi = T.axis.remap("S", [i])
                T.where(i < 3)
                T.reads(A[vi, vi:vi + 4])
                T.writes()
                T.block_attr({"k": 1})
                C = T.alloc_buffer((4,))
                M = T.match_buffer(A[vi, 0:4], (4,))
                C[0] = M[0]
    """)
    comes_back(f)


def test_buffers_of_the_root_block_are_allocated_in_the_function():
    f = prim_func(rooted(row_sum(), Buffer("C", (4,), "float32", scope="local")), A, B)
    assert body_of(f).startswith('C = T.alloc_buffer((4,), scope="local")\nfor i, k')
    comes_back(f)


def test_a_root_block_that_the_parser_would_not_make_is_written():
    store = BufferStore(B, prim.const(0.0), (int32(0),))
    f = prim_func(rooted(loop(i, 4, store)), B)
    assert body_of(f).startswith('with T.block("root"):\n    T.reads()\n    T.writes()\n    for i')
    comes_back(f)
    inner = block_of([], store, "inner", writes=[region(B, int32(0))])
    comes_back(prim_func(rooted(inner), B))


def test_a_block_as_the_whole_body_is_written():
    store = BufferStore(B, prim.const(0.0), (int32(0),))
    block = block_of([], store, "whole", writes=[region(B, int32(0))])
    comes_back(prim_func(block, B))
    assert 'with T.block("whole"):' in script(prim_func(block, B))


def test_a_block_may_stand_by_itself():
    store = BufferStore(B, prim.const(0.0), (vi,))
    block = block_of([(vi, int32(0), int32(64), "spatial", i)], store)
    assert script(block).startswith('with T.block("block"):\n    vi = T.axis.spatial(64, i)\n')
    assert script(block.block) == text("""
        with T.block("block", no_realize=True):
            vi = T.axis.spatial(64, 0)
            T.reads()
            T.writes()
            B[vi] = T.float32(0.0)
    """)
    comes_back(prim_func(block.block, B))
