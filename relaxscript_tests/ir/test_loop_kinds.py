"""Kinds of loops and axes, by their names and by TVM's numbers."""

from __future__ import annotations

import pickle

import pytest

from relaxscript import ir, tir
from relaxscript.ir.structural_equality import assert_structural_equal

N = tir.Var("i", "int32")
NOTHING = tir.Evaluate(0)


def test_a_kind_of_loop_is_its_name_and_its_number():
    loop = tir.For(N, 0, 4, tir.ForKind.THREAD_BINDING, NOTHING)
    assert loop.kind == 4
    assert loop.kind == "thread_binding"
    assert loop.kind != 0
    assert {loop.kind: 1}["thread_binding"] == 1
    assert pickle.loads(pickle.dumps(loop)).kind == 4


@pytest.mark.parametrize("number", range(5))
def test_a_loop_may_be_made_by_the_number_of_its_kind(number):
    name = tir.ForKind.ALL[number]
    assert_structural_equal(tir.For(N, 0, 4, number, NOTHING), tir.For(N, 0, 4, str(name), NOTHING))


def test_an_axis_by_a_tuple_a_name_and_a_number():
    axis = tir.IterVar((0, 8), "v", 0)
    assert (axis.dom.extent.value, axis.var.name, axis.var.dtype) == (8, "v", "int32")
    assert axis.iter_type == tir.IterVar.DataPar == "spatial"
    assert tir.IterVar(ir.Range(0, 3), N, 2).iter_type == tir.IterVar.CommReduce == "reduce"
    assert tir.IterVar(None, N, tir.IterVar.ThreadIndex, "threadIdx.x").iter_type == "ThreadIndex"
    assert tir.IterVar.Opaque == tir.IterVar.DimInfo == "opaque"


def test_a_range_by_the_names_of_its_ends():
    assert_structural_equal(ir.Range(begin=2, end=6), ir.Range(min=2, extent=4))
    with pytest.raises(TypeError, match="unexpected keyword argument 'stop'"):
        ir.Range(begin=2, stop=6)


def test_a_block_needs_no_buffers_of_its_own():
    block = tir.Block([], [], [], "b", NOTHING, alloc_buffers=None, match_buffers=None)
    assert (block.alloc_buffers, block.match_buffers) == ((), ())


def test_a_type_says_the_data_type_of_a_variable():
    pointer = tir.PointerType(tir.PrimType("float32"), "shared")
    p = tir.Var("p", pointer)
    assert (p.dtype, p.type_annotation) == ("handle", pointer)
    assert tir.Var("n", tir.PrimType("int64")).dtype == "int64"


def test_a_public_prim_func_has_a_name():
    f = tir.PrimFunc([], NOTHING)
    assert f.with_attr("global_symbol", "main").__name__ == "main"
    with pytest.raises(AttributeError, match="a PrimFunc without `global_symbol` has no name"):
        f.__name__


def test_equality_of_scalars_has_the_names_of_tvm():
    assert isinstance(N == N, tir.EqualOp)
    assert isinstance(N != 3, tir.NotEqualOp)
    assert bool(N == N)
    assert not bool(N != N)
