"""Elements, offsets and addresses of buffers, in Python and in scripts."""

from __future__ import annotations

import pytest

from relaxscript import tir
from relaxscript.ir.structural_equality import assert_structural_equal, structural_equal
from relaxscript.script import from_source, tir as T

M, N = tir.Var("m", "int32"), tir.Var("n", "int32")
A = tir.decl_buffer((M, N), "float32")


def test_an_address_says_what_is_done_there():
    strided = tir.decl_buffer((M, N), "float32", strides=[N + 1, 1])
    pointer = strided.access_ptr("rw")
    assert pointer.op.name == "tir.tvm_access_ptr"
    assert pointer.args[0].dtype == strided.dtype
    assert structural_equal(pointer.args[3], (N + 1) * M)
    assert pointer.args[4].value == tir.Buffer.READ | tir.Buffer.WRITE == 3
    assert A.access_ptr("w").args[4].value == tir.Buffer.WRITE


def test_an_address_of_a_part():
    pointer = A.access_ptr("r", offset=100, extent=5)
    assert (pointer.args[2].value, pointer.args[3].value) == (100, 5)
    assert structural_equal(A.access_ptr("r", offset=2).args[3], M * N - 2)
    wide = tir.decl_buffer((8, 8)).access_ptr("r", content_lanes=4)
    assert (wide.args[0].dtype, wide.args[3].value) == ("float32x4", 16)
    assert tir.decl_buffer(()).access_ptr(tir.Buffer.READ).args[3].value == 1


def test_an_address_with_an_unknown_letter_is_refused():
    with pytest.raises(ValueError, match='`access_mask` is made of "r" and "w", not of "x"'):
        A.access_ptr("rx")


def test_loads_and_stores_of_vectors():
    load = A.vload([0, 4], "float32x4")
    assert (load.dtype, str(load.indices[1])) == ("float32x4", "T.Ramp(4, 1, 4)")
    assert A.vload([0, 4]).dtype == "float32"
    store = A.vstore([1, 0], load)
    assert (type(store).__name__, store.indices[1].dtype) == ("BufferStore", "int32x4")
    assert tir.decl_buffer((8,)).vstore(0, 1.0).value.dtype == "float32"


def test_offsets_count_elements_of_the_memory():
    i, j = tir.Var("i"), tir.Var("j")
    assert structural_equal(A.offset_of([i, j])[0], i * N + j)
    assert tir.decl_buffer((4, 8)).offset_of((1, 2))[0].value == 10
    strided = tir.decl_buffer((4, 8), strides=[16, 2], elem_offset=3)
    assert strided.offset_of((1, 2))[0].value == 23
    m = tir.Var("m", "int32")
    later = tir.decl_buffer((m, m), elem_offset=100)
    assert structural_equal(later.offset_of((2, 3))[0], 2 * m + 3 + 100)
    with pytest.raises(ValueError, match="has 2 dimensions, 1 indices are given"):
        A.offset_of([0])


def test_a_flat_buffer_has_one_dimension_for_each_group_of_axes():
    assert [d.value for d in tir.decl_buffer((4, 8, 2)).get_flattened_buffer().shape] == [64]
    assert [d.value for d in tir.decl_buffer(()).get_flattened_buffer().shape] == [1]
    parts = tir.decl_buffer((4, 8, 2), axis_separators=[1]).get_flattened_buffer()
    assert [d.value for d in parts.shape] == [4, 16]
    strided = tir.decl_buffer((4, 8), strides=[16, 1]).get_flattened_buffer()
    assert ([d.value for d in strided.shape], strided.strides) == ([64], ())


def test_scripts_have_them_too():
    @T.prim_func
    def f(x: T.Buffer((8, 8), "float32")):
        T.evaluate(T.call_extern("int32", "g", x.access_ptr("r", offset=3)))
        T.evaluate(T.Cast("int32", x.offset_of([1, 2])[0]))
        T.evaluate(x.WRITE)
        x.vstore([0, 0], x.vload([1, 4], "float32x4"))

    text = f.script()
    assert 'T.tvm_access_ptr(T.type_annotation("float32"), x.data, 3, T.int64(61), 1)' in text
    assert "x[0, T.Ramp(0, 1, 4)] = x[1, T.Ramp(4, 1, 4)]" in text
    assert_structural_equal(from_source(text), f)


def test_a_sequence_of_statements_has_items():
    first, second = tir.Evaluate(1), tir.Evaluate(2)
    both = tir.SeqStmt([first, second])
    assert both[0] is first
    assert both[-1] is second
    assert list(both) == [first, second]
    assert len(both) == 2


@pytest.mark.parametrize("scope", ["global", "shared"])
def test_the_scope_of_a_buffer_is_a_text_and_a_method(scope):
    script = f"""
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (4,), scope="{scope}")
    B = T.alloc_buffer((4,), scope="{scope}")
    B[0] = A[0]
"""
    f = from_source(script)
    made = tir.decl_buffer((4,), scope=scope)
    for buffer in (f.buffer_map[f.params[0]], f.body.block.alloc_buffers[0], made):
        assert buffer.scope == scope
        assert buffer.scope() == scope
        assert type(buffer.scope()) is str
    assert structural_equal(f, from_source(f.script()))
    assert from_source(f.script()).script() == f.script()
