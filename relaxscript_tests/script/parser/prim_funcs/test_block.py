"""Blocks of PrimFuncs, as they are written and what they mean."""

from __future__ import annotations

from textwrap import indent

import pytest

from relaxscript.ir import prim, tir
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.tir import For
from relaxscript.script import from_source, tir as T
from relaxscript_tests.script.parser.reading import block_of, nodes, regions

# Programs are written as users write them, whatever a formatter would rather have.
# fmt: off


def test_axes_of_loops_have_their_ranges():
    @T.prim_func
    def f(x: T.Buffer(("n", 8), "float32")):
        n = T.int64()
        for i in range(n):
            for j in range(2, 8):
                with T.block("b"):
                    vi, vj = T.axis.remap("SR", [i, j])
                    x[vi, vj] = 0.0

    first, second = block_of(f, "b").iter_vars
    realize = nodes(f, tir.BlockRealize)[1]
    assert (first.iter_type, second.iter_type) == ("spatial", "reduce")
    assert (first.var.dtype, second.var.dtype) == ("int64", "int32")
    assert (int(second.dom.min), int(second.dom.extent)) == (2, 6)
    assert [v.name for v in realize.iter_values] == ["i", "j"]


def test_axes_with_domains_of_their_own():
    @T.prim_func
    def f(x: T.Buffer((16,), "float32"), n: T.int64):
        for i in range(4):
            with T.block("b"):
                a = T.axis.spatial(16, i * 4)
                b = T.axis.reduce((1, n), n - 1)
                c = T.axis.S(T.Range(2, 4), i)
                d = T.axis.scan(4, i)
                e = T.axis.opaque(4, i, dtype="int64")
                x[a] = 0.0

    axes = block_of(f, "b").iter_vars
    assert [a.iter_type for a in axes] == ["spatial", "reduce", "spatial", "scan", "opaque"]
    assert [a.var.dtype for a in axes] == ["int32", "int64", "int32", "int32", "int64"]
    assert structural_equal(axes[1].dom.extent, f.params[1] - 1)
    assert (int(axes[2].dom.min), int(axes[2].dom.extent)) == (2, 2)


def test_an_axis_may_take_the_name_of_its_loop_or_of_a_dimension():
    @T.prim_func
    def f(a: T.handle):
        k = T.int32()
        A = T.match_buffer(a, (k,))
        for i in range(k):
            with T.block():
                k = T.axis.remap("S", [i])
                A[k] = 0.0

    (axis,) = block_of(f, "").iter_vars
    assert nodes(f, tir.BufferStore)[0].indices == (axis.var,)


def test_what_a_block_says():
    @T.prim_func
    def f(x: T.Buffer((4, 8), "float32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.remap("S", [i])
                T.where(i < 3)
                T.reads(x[vi, 0:4], x[0, 2])
                T.writes([x])
                T.block_attr({"key": 1})
                B = T.alloc_buffer((2,), "int32", scope="local")
                with T.init():
                    x[vi, 0] = 0.0
                x[vi, 1] = 1.0

    block = block_of(f, "b")
    realize = nodes(f, tir.BlockRealize)[1]
    assert regions(block.reads) == ["x[vi, 0:+4]", "x[0, 2]"]
    assert regions(block.writes) == ["x[0:+4, 0:+8]"]
    assert dict(block.annotations) == {"key": 1}
    assert (block.alloc_buffers[0].name, block.alloc_buffers[0].scope) == ("B", "local")
    assert isinstance(block.init, tir.BufferStore)
    assert isinstance(realize.predicate, prim.LT)


def test_a_body_with_blocks_stands_in_a_root_block():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        B = T.alloc_buffer((4,), "float32")
        for i in range(4):
            with T.block("b"):
                vi = T.axis.remap("S", [i])
                B[vi] = x[vi]

    assert isinstance(f.body, tir.BlockRealize)
    root = f.body.block
    assert (root.name_hint, [b.name for b in root.alloc_buffers]) == ("root", ["B"])
    assert root.reads == root.writes == ()


ROOTS = ["", "with T.block('root'):", "with T.block():", "with T.block('all'):"]


@pytest.mark.parametrize("regions", ["", "T.reads()\nT.writes()\n", "T.reads([])\nT.writes([])\n"])
@pytest.mark.parametrize("root", ROOTS)
def test_a_root_block_may_be_written_or_left_out(root, regions):
    program = """
@T.prim_func
def f(a: T.handle, b: T.handle):
    A = T.match_buffer(a, (16, 16))
    B = T.match_buffer(b, (16, 16))
{}"""
    inner = """\
for i in range(16):
    with T.block("rows"):
        vi = T.axis.spatial(16, i)
        A0 = T.match_buffer(A[vi, 0:16], (16,))
        B0 = T.match_buffer(B[vi, 0:16], (16,))
        for j in range(16):
            with T.block("row"):
                vj = T.axis.spatial(16, j)
                B0[vj] = A0[vj] * 2.0
"""
    plain = from_source(program.format(indent(inner, "    ")))
    body = f"{root}\n{indent(regions + inner, '    ')}" if root else inner
    written = from_source(program.format(indent(body, "    ")))
    assert structural_equal(written, plain)
    assert structural_equal(from_source(written.script()), written)
    assert "T.reads(A[vi, 0:16])" in written.script()
    assert "T.writes(B0[vj])" in written.script()


def test_a_body_without_blocks_has_no_root_block():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in range(4):
            x[i] = 0.0

    assert isinstance(f.body, For)


def test_a_block_without_axes_around_everything_is_the_root():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        with T.block("whole"):
            for i in range(4):
                x[i] = 0.0

    assert f.body.block.name_hint == "whole"
    assert f.body.block.writes == ()


def test_a_block_with_axes_around_everything_stands_in_a_root_block():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        with T.block("b"):
            vi = T.axis.spatial(4, 0)
            x[vi] = 0.0

    assert f.body.block.name_hint == "root"
    assert regions(block_of(f, "b").writes) == ["x[vi]"]


def test_a_buffer_of_a_block_may_be_a_region_of_another():
    @T.prim_func
    def f(x: T.Buffer((4, 4), "float16")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.remap("S", [i])
                row = T.match_buffer(x[vi, 0:4], (4,))
                row[0] = T.float16(1)

    (match,) = block_of(f, "b").match_buffers
    assert (match.buffer.name, match.buffer.dtype) == ("row", "float16")
    assert regions((match.source,)) == ["x[vi, 0:+4]"]


def test_a_buffer_of_a_region_has_its_shape_where_none_is_named():
    @T.prim_func
    def f(x: T.Buffer((16, 64), "int32")):
        with T.block("b"):
            vi = T.axis.spatial(4, 0)
            part = T.match_buffer(x[vi:vi + 8, 32:64])
            whole = T.match_buffer(x)
            part[7, 31] = 1

    part, whole = block_of(f, "b").match_buffers
    assert [int(d) for d in part.buffer.shape] == [8, 32]
    assert part.buffer.dtype == "int32"
    assert [int(d) for d in whole.buffer.shape] == [16, 64]


def test_a_block_that_is_not_realized():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        with T.block("b", no_realize=True):
            x[0] = 0.0

    assert isinstance(f.body, tir.Block)
